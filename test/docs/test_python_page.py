"""The blocks of docs/python.md run in order and print the shown text."""

from __future__ import annotations

from pages import run_page


def test_page_runs() -> None:
    run_page("python.md")
