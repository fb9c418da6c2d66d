# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What to measure of a model with dynamic sizes, and what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Figures", "Plan", "Row"]


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        folder: The folder of `benchmarks.dynamic.build`.
        tune: The level of tuning.
        rounds: The number of rounds, of which each figure is the median.
        calls: The number of calls of random batches.
        turns: How often these calls of the dynamic artifact are measured by the host's clock.
        most: The largest batch; None for all.
        peers: Whether torch.compile(dynamic=True) is measured as well.
    """

    folder: Path
    tune: str = "off"
    rounds: int = 9
    calls: int = 0
    turns: int = 1
    most: int | None = None
    peers: bool = False


@dataclass
class Row:
    """One size.

    Attributes:
        point: The value of each symbol.
        ms: Runner to the time of a call. "static" is the static artifact; between points, "next
            point" is a call of the next point's size.
        ratio: The time of the dynamic artifact over that of "static" or "next point".
        error: The largest difference from PyTorch in relation to the largest number.
    """

    point: dict[str, int]
    ms: dict[str, float]
    ratio: float
    error: float

    @property
    def is_point(self) -> bool:
        """Whether it is a point of the artifact."""
        return "static" in self.ms

    def __str__(self) -> str:
        text = " ".join(f"{name}={value}" for name, value in self.point.items())
        shown = ", ".join(f"{name} {each:.3f} ms" for name, each in self.ms.items())
        first = "static" if self.is_point else "next point"
        return f"{text}: {shown}; {self.ratio:.3f} of {first}, error {self.error:.1e}"


@dataclass
class Figures:
    """The figures of one model.

    Attributes:
        name: The model.
        rows: The sizes.
        load_seconds: The time of the load, with weights.
        bytes: Size of the dynamic artifact and of the largest static one, both without weights, and
            of the prepared weights.
        percentiles: "dynamic", "static" for static artifacts of the next points and "replay" for
            the launches of their CUDA graphs alone, by the host's clock, and each of them with
            ", GPU time", to the percentiles of calls of random batches, in relation to the median
            of the call's size. "the host alone": those of a fixed piece of work of the host. With
            several turns, "dynamic" and "the host alone" of each, with the number of the turn.
        choice_microseconds: The time to choose the program of a call.
        failures: Peer to its error.
    """

    name: str
    rows: list[Row] = field(default_factory=list)
    load_seconds: float = 0.0
    bytes: dict[str, int] = field(default_factory=dict)
    percentiles: dict[str, dict[str, float]] = field(default_factory=dict)
    choice_microseconds: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Returns the figures as JSON values."""
        return asdict(self)
