# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the torch.compile backend did with each graph."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

__all__ = ["GraphReport", "PartReport", "add_report", "reports", "reset", "summary"]


@dataclass
class PartReport:
    """A compiled part of a graph.

    Attributes:
        name: The name of the part.
        ops: The number of aten ops.
        flops: Floating-point operations of convolutions and products, as
            `torch.utils.flop_counter` counts them.
        target: "cpu" or "cuda".
        cached: Whether the artifact came from the cache.
        seconds: The time to compile and load it.
    """

    name: str
    ops: int
    flops: int
    target: str
    cached: bool
    seconds: float


@dataclass
class GraphReport:
    """A graph of torch.compile for one set of shapes.

    Attributes:
        name: "inference", "forward" or "backward", and a number.
        ops: The number of aten ops.
        flops: Floating-point operations of all ops.
        parts: The parts that Convoy compiled.
        left: Op and reason to the number of ops that run by the fallback.
    """

    name: str
    ops: int = 0
    flops: int = 0
    parts: list[PartReport] = field(default_factory=list)
    left: dict[tuple[str, str], int] = field(default_factory=dict)

    def __str__(self) -> str:
        compiled = sum(part.ops for part in self.parts)
        flops = sum(part.flops for part in self.parts)
        share = f", {100 * flops / self.flops:.1f} % of the FLOPs" if self.flops else ""
        lines = [
            f"{self.name}: {compiled} of {self.ops} ops compiled by Convoy in "
            f"{len(self.parts)} parts{share}"
        ]
        for part in self.parts:
            how = "from the cache" if part.cached else "compiled"
            lines.append(
                f"  {part.name}: {part.ops} ops, {part.flops / 1e9:.3g} GFLOP, {part.target}, "
                f"{how} in {part.seconds:.2f} s"
            )
        for (op, reason), count in sorted(self.left.items()):
            lines.append(f"  not compiled: {op} ({count}): {reason}")
        return "\n".join(lines)


_reports: list[GraphReport] = []
_lock = threading.Lock()


def add_report(kind: str) -> GraphReport:
    """Adds a report.

    Args:
        kind: "inference", "forward" or "backward".

    Returns:
        The report, to be filled.
    """
    with _lock:
        report = GraphReport(f"{kind} graph {len(_reports)}")
        _reports.append(report)
    return report


def reports() -> list[GraphReport]:
    """The report of each graph since the start of the process or the last `reset`."""
    with _lock:
        return list(_reports)


def summary() -> str:
    """The reports as text: how many ops are compiled, their share of the FLOPs, and which ops are
    not, with reasons."""
    found = reports()
    return "\n".join(map(str, found)) if found else "no graph was compiled"


def reset() -> None:
    """Forgets the reports. Compiled graphs stay; `torch.compiler.reset()` drops them."""
    with _lock:
        _reports.clear()
