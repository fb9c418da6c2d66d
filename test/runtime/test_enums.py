"""The runtime's enums are what the list of descriptors says."""

from __future__ import annotations

from tools.descriptors import read_table
from tools.write_enums import PATH, text_of


def test_the_file_is_what_the_generator_writes() -> None:
    assert PATH.read_text() == text_of(read_table()), "run `python -m tools.write_enums`"
