"""What a fuzzer reports to run.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """The result of one fuzzer.

    Attributes:
        count: cases that ran, failures included.
        failures: the kept file of each failure, one a failure; empty where none failed.
        summary: lines of text about the run: how many cases were refused and why, where the time
            went. Printed as they are.
    """

    count: int
    failures: tuple[Path, ...]
    summary: tuple[str, ...]
