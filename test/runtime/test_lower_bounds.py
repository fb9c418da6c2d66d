"""Lower bounds of an alternative's time, compared with a simulated GPU that has only memory and a
cache."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, prod
from statistics import mean
from typing import Any

import pytest

from convoy_runtime.cuda.tuning.lower_bounds import LowerBound, Speeds, speeds_of
from convoy_runtime.manifest import Graph, GraphAlternative, GraphStep, GraphTemporary, GraphTensor

#: Size of a cache line in bytes.
LINE = 32


def tensor(role: str, *shape: int) -> GraphTensor:
    strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return GraphTensor(1, role, shape, strides, "float16")


def graph(*tensors: GraphTensor) -> Graph:
    return Graph("step", "step_build", ("some",), "model.py:9", tensors)


def split(
    stride: int, batch: int, channels: int, size: int
) -> tuple[GraphAlternative, list[Graph]]:
    """A convolution of 1 x 1 with this stride, then the sum of its result and another tensor: x, w,
    r, y and a temporary."""
    x = tensor("input", batch, channels, size * stride, size * stride)
    y = tensor("output", batch, channels, size, size)
    operand = tensor("input", *y.shape)
    steps = (GraphStep(0, (0, 1, 4)), GraphStep(1, (4, 2, 3)))
    alternative = GraphAlternative(0, "conv | add", steps, (GraphTemporary(y.bytes),))
    return alternative, [
        graph(x, tensor("input", channels, channels, 1, 1), y),
        graph(operand, operand, y),
    ]


@dataclass
class Gpu:
    """Memory behind a write-back LRU cache. Counts the bytes that are read from and written to
    memory."""

    capacity: int
    moved: int = 0

    def __post_init__(self) -> None:
        self.lines: OrderedDict[object, bool] = OrderedDict()

    def touch(self, line: object, *, write: bool) -> None:
        if line not in self.lines:
            self.moved += 0 if write else LINE
        self.lines[line] = write or self.lines.get(line, False)
        self.lines.move_to_end(line)
        while len(self.lines) * LINE > self.capacity:
            self.moved += LINE if self.lines.popitem(last=False)[1] else 0


def lines(name: object, size: int) -> Iterator[object]:
    return ((name, at) for at in range(size // LINE))


def run(
    gpu: Gpu, step: Graph, names: list[object], speeds: Speeds, order: random.Random, stride: int
) -> float:
    """Microseconds of a step on these tensors: the bytes that it moves at those speeds, in any
    order."""
    gpu.moved = 0
    touched: list[tuple[object, bool]] = []
    for name, each in zip(names, step.tensors, strict=True):
        # A strided convolution skips rows and columns.
        skipped = (
            stride**2
            if each.role == "input"
            and each.shape[2:] != step.tensors[-1].shape[2:]
            and each.shape[2] > 1
            else 1
        )
        touched += [(line, each.role == "output") for line in lines(name, each.bytes // skipped)]
    order.shuffle(touched)
    for line, write in touched:
        gpu.touch(line, write=write)
    directions = [LINE * sum(write is each for _, write in touched) for each in (False, True)]
    return max(gpu.moved / speeds.memory, max(directions) / speeds.cache)


@pytest.mark.parametrize("seed", range(40))
def test_no_alternative_is_faster_than_its_bound(seed: int) -> None:
    """With any cache and any initial contents of it."""
    order = random.Random(seed)
    stride = order.choice((1, 1, 2))
    alternative, graphs = split(
        stride, order.choice((1, 2, 8)), order.choice((16, 32)), order.choice((4, 8))
    )
    whole = sum(each.bytes for each in graphs[0].tensors)
    speeds = Speeds(
        order.uniform(1, 10),
        order.uniform(5, 100),
        order.choice((0, whole // 10, whole // 2, 2 * whole)),
    )
    bound = LowerBound(alternative, graphs, 4, speeds)
    gpu = Gpu(speeds.cache_bytes)
    for line in [line for name in range(5) for line in lines(name, whole)]:
        gpu.touch(line, write=False)
    taken = [
        run(gpu, each, list(step.tensors), speeds, order, stride)
        for each, step in zip(graphs, alternative.steps, strict=True)
    ]
    assert bound.microseconds() <= sum(taken)
    if speeds.cache_bytes == 0 and stride == 1:
        # Such a cache holds nothing, so all bytes come from memory.
        assert sum(taken) == pytest.approx(bound.microseconds())


@pytest.mark.parametrize("seed", range(20))
def test_bound_with_measured_steps(seed: int) -> None:
    """Each step is measured repeatedly on memory that is not in the cache, like the alternative;
    only temporaries may be in the cache."""
    order = random.Random(seed)
    alternative, graphs = split(
        1, order.choice((1, 4)), order.choice((16, 32)), order.choice((4, 8))
    )
    whole = sum(each.bytes for each in graphs[0].tensors)
    speeds = Speeds(
        order.uniform(1, 10),
        order.uniform(20, 100),
        order.choice((0, whole // 10, whole // 2, 2 * whole)),
    )
    places = range(len(graphs))
    runs = 16 + 8 * -(-speeds.cache_bytes // whole)

    def steady(*steps: int, fresh: bool) -> float:
        """The mean of many runs of these steps, each on new tensors; with `fresh`, temporaries are
        new as well."""
        gpu, taken = Gpu(speeds.cache_bytes), list[float]()
        for turn in range(runs):
            names = [
                [
                    (place, turn if fresh or place < 4 else 0)
                    for place in alternative.steps[step].tensors
                ]
                for step in steps
            ]
            taken.append(
                sum(
                    run(gpu, graphs[step], list(each), speeds, order, 1)
                    for step, each in zip(steps, names, strict=True)
                )
            )
        return mean(taken[runs // 2 :])

    alone = {place: steady(place, fresh=True) for place in places}
    bound = LowerBound(alternative, graphs, 4, speeds)
    together = steady(*places, fresh=False)
    assert (
        bound.microseconds()
        <= bound.microseconds({1: alone[1]})
        <= bound.microseconds(alone)
        <= together * 1.01
    )


def test_counted_bytes() -> None:
    alternative, graphs = split(2, 8, 32, 8)
    result = 8 * 32 * 64 * 2
    # Two results, three operands of the size of the result (without the elements that the
    # convolution may skip), and its weights.
    bound = LowerBound(alternative, graphs, 4, Speeds(1.0, inf, 0))
    assert bound.bytes == 2 * result + 2 * result + 32 * 32 * 2
    assert bound.microseconds() == bound.bytes
    # Each step starts with its operands in the cache and leaves its results there.
    assert LowerBound(alternative, graphs, 4, Speeds(1.0, inf, result)).microseconds() == result
    assert LowerBound(alternative, graphs, 4, Speeds(1.0, inf, 10 * result)).microseconds() == 0
    # The two directions of the cache do not slow each other down.
    assert (
        LowerBound(alternative, graphs, 4, Speeds(inf, 1.0, 0)).microseconds()
        == result + 2 * result
    )
    # Strided and broadcast elements count as many times as they exist.
    apart = GraphTensor(1, "input", (8, 32, 8, 8), (64 * 32 * 64, 64, 8, 1), "float16")
    broadcast = GraphTensor(1, "input", (8, 32, 8, 8), (0, 0, 0, 0), "float16")
    step = GraphAlternative(0, "add", (GraphStep(0, (0, 1, 2)),))
    assert (
        LowerBound(
            step, [graph(apart, broadcast, graphs[1].tensors[-1])], 3, Speeds(1.0, inf, 0)
        ).bytes
        == 2 * result + 2
    )


def test_speeds() -> None:
    class FakeDevice:
        def __init__(self, **attributes: int) -> None:
            self.attributes = attributes

        def attribute(self, name: str) -> int:
            return self.attributes[name]

    h200: dict[str, Any] = {
        "MEMORY_CLOCK_RATE": 3201000, "GLOBAL_MEMORY_BUS_WIDTH": 6016, "CLOCK_RATE": 1980000,
        "MULTIPROCESSOR_COUNT": 132,
        "L2_CACHE_SIZE": 62914560,
    }  # fmt: skip
    speeds = speeds_of(FakeDevice(**h200))  # type: ignore[arg-type]
    assert speeds.memory == pytest.approx(4.814e6, rel=1e-3)
    assert speeds.cache == pytest.approx(16.7e6, rel=1e-2)
    assert speeds.cache_bytes == 62914560
    unknown = speeds_of(FakeDevice(**{**h200, "MEMORY_CLOCK_RATE": 0, "CLOCK_RATE": 0}))  # type: ignore[arg-type]
    assert (unknown.memory, unknown.cache) == (inf, inf)
