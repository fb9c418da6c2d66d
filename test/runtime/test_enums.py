"""The runtime's enums match the list of descriptors."""

from __future__ import annotations

from tools.descriptors import read_table
from tools.write_enums import PATH, text_of


def test_file_equals_the_generator_output() -> None:
    assert PATH.read_text() == text_of(read_table()), "run `python -m tools.write_enums`"
