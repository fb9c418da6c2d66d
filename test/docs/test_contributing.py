"""CONTRIBUTING.md names files that exist, and sorts its glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
#: A path below a folder of the tree, without placeholders and patterns.
PATHS = sorted(
    set(
        re.findall(
            r"`((?:benchmarks|cmake|dialect|docs|examples|passes|python|runtime|test|tools)/[\w./-]+)`",
            TEXT,
        )
    )
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_glossary_is_sorted_and_says_each_word_once() -> None:
    words = re.findall(r"^\| ([\w -]+) \|", TEXT.split("## Glossary")[1], re.MULTILINE)
    words.remove("word")
    assert len(words) > 20
    assert words == sorted(set(words))
