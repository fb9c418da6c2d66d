"""The runtime's numbers of cuDNN's API match the list of descriptors."""

from __future__ import annotations

import pytest

from tools.descriptors import read_table
from tools.write_enums import files

FILES = {path.name: (path, text) for path, text in files(read_table()).items()}


@pytest.mark.parametrize("name", FILES)
def test_file_equals_the_generator_output(name: str) -> None:
    path, text = FILES[name]
    assert path.read_text() == text, "run `python -m tools.write_enums`"
