"""The result that a fuzzer returns to run.py."""

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
        count: Cases that ran, failures included.
        failures: The kept file of each failure; empty if there were none.
        summary: Lines of text about the run: how many cases were refused and why, and the time of
            each part. Printed as they are.
    """

    count: int
    failures: tuple[Path, ...]
    summary: tuple[str, ...]
