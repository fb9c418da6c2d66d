# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The sources of a graph's candidates, in stages: where the artifact's kernels are expected to be
the fastest, they are measured first, with the engines that compile nothing. The heuristics' plans,
which cuDNN compiles for a second each, are built only if these leave something to gain."""

from __future__ import annotations

from typing import Final, TypeAlias

from convoy_runtime.cuda.cudnn.enums import HeurMode
from convoy_runtime.manifest import Graph

from .levels import Level
from .lower_bounds import Speeds, least_microseconds, memory_microseconds

__all__ = ["Sources", "is_enough", "is_probably_enough", "stages"]

#: Sources of candidates (`Planner.candidates`) and the largest number of plans of each.
Sources: TypeAlias = list[tuple[str, int]]

#: Below this time a kernel is not far from an empty one. On an H100, kernels of the artifact were
#: preferred for 429 graphs of 17 models and took at most 6 us; engines would have saved 0.9 of
#: 1368 us.
_SHORT_MICROSECONDS: Final = 6.0
#: A kernel that takes at most this multiple of its transfers at peak bandwidth cannot be improved
#: much: copies reach 80 to 90 % of the peak.
_NEAR_PEAK: Final = 1.25


def stages(level: Level, graph: Graph, *, has_operations: bool) -> tuple[Sources, Sources]:
    """Returns the sources to measure, and those to measure after them unless `is_enough`.

    Args:
        level: The tuning level.
        graph: The graph.
        has_operations: Whether cuDNN has plans for the graph.

    Returns:
        Both stages. Kernels come before or after plans of cuDNN, as in a load without tuning, and
        cuBLASLt last. So the first candidate is what such a load runs.
    """
    kernels, engines = [("kernels", level.kernels)], list(level.sources) if has_operations else []
    if level.last_resort is not None and graph.products is None:
        # Only engines that compile a kernel run it, unless an artifact's kernel does.
        engines = []
    last = [("cublaslt", level.cublaslt)]
    if graph.preference == "plan":
        return [*engines, *kernels, *last], []
    if not level.gives_up or level.last_resort is not None:
        return [*kernels, *engines, *last], []
    heuristics = [each for each in engines if each[0] in HeurMode.__members__]
    at_once = [each for each in engines if each not in heuristics]
    return [*kernels, *at_once, *last], heuristics


def is_enough(graph: Graph, microseconds: float, speeds: Speeds) -> bool:
    """Whether a candidate that takes `microseconds` leaves nothing to gain by the second stage."""
    bound = memory_microseconds(graph, speeds)
    return microseconds <= max(_SHORT_MICROSECONDS, _NEAR_PEAK * bound)


def is_probably_enough(level: Level, graph: Graph, speeds: Speeds) -> bool:
    """Whether the second stage of a graph will probably not be measured."""
    _, later = stages(level, graph, has_operations=True)
    return bool(later) and least_microseconds(graph, speeds) < _SHORT_MICROSECONDS / 2
