# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The sources of a graph's candidates, in stages: where the artifact's kernels are expected to be
the fastest (`is_left_to_kernels`), they are measured first, with cuBLASLt and the engines that
compile nothing. The heuristics' plans, which cuDNN compiles for a second each, are built only if
these leave something to gain."""

from __future__ import annotations

from typing import Final, TypeAlias

from convoy_runtime.cuda.cudnn.enums import HeurMode
from convoy_runtime.manifest import Graph

from .levels import Level, is_narrow
from .lower_bounds import Speeds, least_microseconds, memory_microseconds

__all__ = ["Sources", "is_enough", "is_left_to_kernels", "is_probably_enough", "stages"]

#: Sources of candidates (`Planner.candidates`) and the largest number of plans of each.
Sources: TypeAlias = list[tuple[str, int]]

#: Below this time a kernel is not far from an empty one. On an H100, kernels of the artifact were
#: preferred for 429 graphs of 17 models and took at most 6 us; engines would have saved 0.9 of
#: 1368 us.
_SHORT_MICROSECONDS: Final = 6.0
#: A kernel that takes at most this multiple of its transfers at peak bandwidth cannot be improved
#: much: copies reach 80 to 90 % of the peak.
_NEAR_PEAK: Final = 1.25
#: A graph of `is_left_to_kernels` that takes at most this multiple of its transfers or products at
#: the peak, and a launch, is near what cuDNN's compiled plans reach. Measured on an H200 in
#: float16. They would have saved 3.3 to 3.8 of 1,410 us in 96 matrix products of 19 programs, and
#: 0.1 of 417 us in 24 depthwise convolutions and 12 means of five programs. Kernels and cuBLASLt
#: took 1.1 to 5 times the bound for products, at most 2.8 times for those of more than 10 us; at
#: most 2.7 times and a launch for the others. Swin tiny has 60 plans less to compile, EfficientNet
#: v2 S 12 of 34.
_NEAR_KERNELS_PEAK: Final = 3.0


def stages(level: Level, graph: Graph, *, has_operations: bool) -> tuple[Sources, Sources]:
    """Returns the sources to measure, and those to measure after them unless `is_enough`.

    Args:
        level: The tuning level.
        graph: The graph.
        has_operations: Whether cuDNN has plans for the graph.

    Returns:
        Both stages. Kernels come before or after plans of cuDNN, as in a load without tuning, and
        cuBLASLt last. So the first candidate is what such a load runs, except for
        `is_left_to_kernels`.
    """
    kernels, engines = [("kernels", level.kernels)], list(level.sources) if has_operations else []
    if level.last_resort is not None and graph.products is None:
        # Only engines that compile a kernel run it, unless an artifact's kernel does.
        engines = []
    last = [("cublaslt", level.cublaslt)]
    prefers_plan = graph.preference == "plan"
    in_stages = level.gives_up and level.last_resort is None
    if not in_stages or (prefers_plan and not is_left_to_kernels(graph)):
        return [*engines, *kernels, *last] if prefers_plan else [*kernels, *engines, *last], []
    heuristics = [each for each in engines if each[0] in HeurMode.__members__]
    at_once = [each for each in engines if each not in heuristics]
    return [*kernels, *at_once, *last], heuristics


def is_left_to_kernels(graph: Graph) -> bool:
    """Returns whether kernels of the artifact run `graph`, and cuDNN's compiled plans are rarely
    faster: a narrow matrix product, depthwise convolution or mean, with its epilogue."""
    if not graph.kernels or not is_narrow(graph):
        return False
    operation, operand = graph.ops[0], graph.tensors[0]
    if operation == "convolution":
        filters, channels, *_ = graph.tensors[1].shape
        return channels == 1 and filters == operand.shape[1]
    return operation == "matmul" or operation.startswith("avgpool")


def is_enough(graph: Graph, microseconds: float, speeds: Speeds) -> bool:
    """Whether a candidate that takes `microseconds` leaves nothing to gain by the second stage."""
    enough = max(_SHORT_MICROSECONDS, _NEAR_PEAK * memory_microseconds(graph, speeds))
    if is_left_to_kernels(graph):
        least = least_microseconds(graph, speeds)
        enough = max(enough, _SHORT_MICROSECONDS + _NEAR_KERNELS_PEAK * least)
    return microseconds <= enough


def is_probably_enough(level: Level, graph: Graph, speeds: Speeds) -> bool:
    """Whether the second stage of a graph will probably not be measured."""
    _, later = stages(level, graph, has_operations=True)
    if is_left_to_kernels(graph):
        return bool(later)
    return bool(later) and least_microseconds(graph, speeds) < _SHORT_MICROSECONDS / 2
