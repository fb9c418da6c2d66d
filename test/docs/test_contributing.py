"""The files in CONTRIBUTING.md exist, and its glossary is sorted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
#: Paths below a folder of the repository, without placeholders and patterns.
PATHS = sorted(
    set(
        re.findall(
            r"`((?:benchmarks|cmake|dialect|docs|examples|passes|python|runtime|test|tools)/[\w./-]+)`",
            TEXT,
        )
    )
)


@pytest.mark.parametrize("path", PATHS)
def test_path_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_glossary_is_sorted_and_without_duplicates() -> None:
    terms = re.findall(r"^\| ([\w -]+) \|", TEXT.split("## Glossary")[1], re.MULTILINE)
    terms.remove("word")
    assert len(terms) > 20
    assert terms == sorted(set(terms))
