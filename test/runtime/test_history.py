"""What tuning skips because it was slow for similar graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime.cuda.cudnn.configs import EngineSupport
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.tuning.candidates import Candidate
from convoy_runtime.cuda.tuning.history import History
from convoy_runtime.manifest import Graph, GraphAlternative, GraphTensor, Products
from convoy_runtime.plan_report import PlanReport

GRAPH = conv_graph()


class FakePlan(Plan):
    """A plan that has only a report."""

    def __init__(self, report: PlanReport) -> None:
        object.__setattr__(self, "report", report)

    def enqueue(self, *_: object, **__: object) -> None:
        raise NotImplementedError

    code = property(lambda self: self)

    def text(self) -> str:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def candidate(
    engine: int | None,
    microseconds: float | None,
    *notes: str,
    single: bool = False,
    rank: int = 0,
    source: str = "engines",
    alternative: str | None = None,
    kernel: str | None = None,
) -> Candidate:
    report = PlanReport(
        "conv", "", engine, {}, notes, (), 0, source, rank, (),
        alternative=alternative, kernel=kernel,
    )  # fmt: skip
    return Candidate(FakePlan(report), microseconds=microseconds, single=single)


def left_out(history: History, graph: Graph = GRAPH) -> set[int]:
    return set(history.slow_engines(graph))


def test_engine_that_was_slow_for_other_graphs_is_skipped() -> None:
    history = History()
    fast = candidate(0, 20.0, "TENSOR_CORE")
    # Up to 100 us of a single run may be host time. The reference, 1, is never skipped.
    history.note(
        GRAPH,
        [
            fast,
            candidate(1, 4000.0),
            candidate(2, 200.0, "TENSOR_CORE"),
            candidate(3, 299.0, "TENSOR_CORE", single=True),
            candidate(4, 80.0, "TENSOR_CORE"),
            candidate(5, 50.0, "TENSOR_CORE"),
            candidate(6, None, "TENSOR_CORE"),
            candidate(None, 500.0),
        ],
    )
    assert left_out(history) == {2}
    told = "took at least {} times as long as the best plan for {}"
    assert history.slow_engines(GRAPH)[2] == told.format("10.00", "a similar graph")
    others = [
        candidate(3, 180.0, "TENSOR_CORE", single=True),
        candidate(4, 90.0, "TENSOR_CORE"),
        candidate(5, 50.0, "TENSOR_CORE"),
    ]
    history.note(GRAPH, [fast, *others])
    assert left_out(history) == {2, 3, 4}
    assert history.slow_engines(GRAPH)[3] == told.format("4.00", "2 similar graphs")
    history.note(GRAPH, [fast, *others])
    assert left_out(history) == {2, 3, 4, 5}
    # Of several plans the best one counts. One graph for which an engine is not slow is enough.
    history.note(
        GRAPH, [fast, candidate(4, 900.0, "TENSOR_CORE"), candidate(4, 30.0, "TENSOR_CORE")]
    )
    assert left_out(history) == {2, 3, 5}


def test_engine_that_was_slow_for_other_sizes_of_the_operation_is_skipped() -> None:
    filters = GRAPH.tensors[1]

    def sized(size: int, filters: GraphTensor = filters, *more: str) -> Graph:
        """A graph of another kind, by the size of its result."""
        image, _, bias, result = GRAPH.tensors
        result = replace(result, shape=(1, 64, size, size))
        return replace(GRAPH, ops=("convolution", *more), tensors=(image, filters, bias, result))

    history = History()
    fast = candidate(0, 10.0, "TENSOR_CORE")
    others = [candidate(3, 40.0, "TENSOR_CORE"), candidate(4, 39.0, "TENSOR_CORE")]
    for size in (7, 28, 112):
        assert left_out(history, sized(448, filters, "relu")) == set()
        # The exact engine, 1, is the reference.
        history.note(sized(size), [fast, candidate(1, 90.0), *others])
    assert left_out(history, sized(448, filters, "relu")) == {3}
    # Other windows, and grouped convolutions.
    assert left_out(history, sized(448, replace(filters, shape=(64, 64, 1, 1)))) == set()
    assert left_out(history, sized(448, replace(filters, shape=(64, 8, 3, 3)))) == set()
    # One graph for which it is not slow is enough.
    history.note(sized(896), [fast, candidate(3, 30.0, "TENSOR_CORE")])
    assert left_out(history, sized(448)) == set()


def test_what_was_slow_for_graphs_with_the_same_result_is_skipped() -> None:
    def graph(channels: int, size: int = 56) -> Graph:
        image, filters, bias, result = GRAPH.tensors
        image = replace(image, shape=(1, channels, size, size))
        filters = replace(filters, shape=(64, channels, *filters.shape[2:]))
        result = replace(result, shape=(1, 64, size, size))
        return replace(GRAPH, tensors=(image, filters, bias, result))

    def kernel(variant: str, microseconds: float) -> Candidate:
        return candidate(None, microseconds, kernel=variant)

    history = History()
    variants = ["wide", "tall", "small"]
    # 1 is the reference.
    found = [candidate(1, 90.0), candidate(3, 20.0, "TENSOR_CORE")]
    found += [candidate(4, 14.0, "TENSOR_CORE"), candidate(5, 12.0, "TENSOR_CORE")]
    history.note(
        graph(64), [*found, kernel("wide", 10.0), kernel("tall", 20.0), kernel("small", 13.0)]
    )
    assert set(history.slow_engines(graph(96), variants)) == {3}
    assert history.slow_kernels(graph(96), variants) == {
        "tall": "took at least 2.00 times as long as the best plan for a similar graph"
    }
    # Another result, and graphs without the kernel that was the fastest.
    assert history.slow_kernels(graph(96, 57), variants) == {}
    assert history.slow_kernels(graph(96), ["tall", "small"]) == {}
    # The first one is what a load without tuning may run.
    assert history.slow_kernels(graph(96), ["tall", "wide"]) == {}
    assert left_out(history, graph(96)) == set()
    history.note(graph(96), [*found, kernel("wide", 10.0), kernel("small", 13.0)])
    assert set(history.slow_engines(graph(128), variants)) == {3, 4}
    assert set(history.slow_kernels(graph(128), variants)) == {"tall", "small"}
    for channels in (128, 160):
        assert 5 not in history.slow_engines(graph(channels), variants)
        history.note(graph(channels), [*found, kernel("wide", 10.0)])
    assert set(history.slow_engines(graph(192), variants)) == {3, 4, 5}


def test_an_exact_engine_that_would_take_long_is_skipped() -> None:
    def conv(flops: int) -> Graph:
        return replace(GRAPH, products=Products(flops, "float16"))

    history = History()
    fast = candidate(4, 20.0, "TENSOR_CORE")
    # 1000 FLOPs a microsecond, as a candidate and as the reference only.
    history.note(conv(1_000_000), [fast, candidate(1, 1000.0)], [candidate(2, 2000.0)])
    assert history.exact_milliseconds(conv(49_000_000)) == {2: 98.0}
    assert history.exact_milliseconds(conv(90_000_000)) == {1: 90.0, 2: 180.0}
    assert history.slow_engines(conv(90_000_000)) == {
        1: "would take 90 ms, at its highest speed in similar graphs",
        2: "would take 180 ms, at its highest speed in similar graphs",
    }
    # Without products, or with other operations, nothing is known.
    assert history.exact_milliseconds(GRAPH) == {}
    assert history.exact_milliseconds(replace(conv(90_000_000), ops=("matmul",))) == {}
    # The highest speed counts.
    history.note(conv(2_000_000), [fast, candidate(1, 1000.0)])
    assert history.exact_milliseconds(conv(90_000_000)) == {2: 180.0}
    # An engine that was not slow for one graph may be the best one for another.
    history.note(conv(1_000_000), [fast, candidate(2, 199.0)])
    assert history.exact_milliseconds(conv(900_000_000)) == {1: 450.0}


def test_engines_that_were_never_nearly_best_are_skipped_after_more_graphs() -> None:
    history = History()
    others = [candidate(3, 16.0, "TENSOR_CORE"), candidate(4, 14.0, "TENSOR_CORE")]
    for count in range(6):
        assert left_out(history) == set(), count
        history.note(GRAPH, [candidate(0, 10.0, "TENSOR_CORE"), candidate(1, 90.0), *others])
    assert left_out(history) == {3}


def test_heuristics_that_were_slow_for_other_graphs_are_not_asked() -> None:
    history = History()
    kernel = candidate(None, 10.0, source="kernels")

    def note(*microseconds: float, count: int) -> None:
        plans = [
            candidate(place, each, rank=place, source="A")
            for place, each in enumerate(microseconds)
        ]
        for _ in range(count):
            history.note(GRAPH, [kernel, candidate(9, 10.0, source="engines"), *plans])

    note(13.0, 12.5, count=5)
    assert history.source_reason(GRAPH, "A") is None
    note(13.0, 12.5, count=1)
    assert history.source_reason(GRAPH, "A") == (
        "took at least 1.25 times as long as the best plan for 6 similar graphs"
    )
    assert history.source_reason(GRAPH, "engines") is None
    assert history.source_reason(conv_graph("float32"), "A") is None
    # One graph for which it is nearly as fast is enough.
    note(13.0, 12.0, count=1)
    assert history.source_reason(GRAPH, "A") is None


def test_heuristics_are_cut_after_the_plans_that_were_best() -> None:
    history = History()

    def note(*microseconds: float) -> None:
        # Ranks have gaps where the options reject a plan.
        history.note(
            GRAPH,
            [
                candidate(place, each, rank=2 * place, source="A")
                for place, each in enumerate(microseconds)
            ],
        )

    note(10.0, 9.9, 12.0, 13.0, 13.0, 13.0)
    note(10.0, 9.0, 12.0, 13.0, 13.0, 13.0)
    assert history.limit(GRAPH, "A", 8) == 8
    note(10.0, 11.0, 12.0, 13.0, 13.0, 13.0)
    # The second one was best, and two more are tried.
    assert history.limit(GRAPH, "A", 8) == 4
    assert history.limit(GRAPH, "A", 2) == 2
    assert history.limit(GRAPH, "B", 8) == history.limit(conv_graph("float32"), "A", 8) == 8
    note(10.0, 11.0, 12.0, 8.0)
    assert history.limit(GRAPH, "A", 8) == 6


def test_alternative_that_was_slow_for_other_graphs_is_skipped() -> None:
    history = History()
    split, other = (GraphAlternative(0, name, ()) for name in ("conv | bias", "conv | relu"))
    best = [candidate(0, 20.0), candidate(1, 30.0), candidate(2, None)]

    def note(microseconds: float | None, *, single: bool = False) -> None:
        composed = candidate(None, microseconds, single=single, alternative=split.name)
        history.note_alternatives(GRAPH, best, [composed])

    note(None)
    note(24.0)
    assert history.alternative_reason(GRAPH, split) is None
    note(123.0, single=True)
    assert history.alternative_reason(GRAPH, split) == (
        "took at least 1.15 times as long as the best plan for 2 similar graphs"
    )
    assert history.alternative_reason(GRAPH, other) is None
    # It may be faster after all where it was only a little slower.
    history.note_alternative(GRAPH, split.name, 1.1)
    assert history.alternative_reason(GRAPH, split) is None
    history.note_alternative(GRAPH, split.name, 1.1)
    assert history.alternative_reason(GRAPH, split) is not None
    history.note_alternative(GRAPH, split.name, 0.9)
    assert history.alternative_reason(GRAPH, split) is None


def sized(x: tuple[int, ...], filters: tuple[int, ...], y: tuple[int, ...]) -> Graph:
    parts = zip(
        GRAPH.tensors, ((1, 64, *x), (64, 64, *filters), (1, 64, 1, 1), (1, 64, *y)), strict=True
    )
    return replace(GRAPH, tensors=tuple(replace(tensor, shape=shape) for tensor, shape in parts))


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (sized((28, 28), (3, 3), (28, 28)), True),
        (sized((14, 14), (3, 3), (14, 14)), False),
        (sized((28, 28), (1, 1), (28, 28)), False),
        (sized((56, 56), (3, 3), (28, 28)), False),
        (replace(GRAPH, ops=("convolution",)), False),
        (conv_graph("float32"), False),
    ],
    ids=["size", "magnitude", "filters", "strides", "operations", "types"],
)
def test_graphs_of_the_same_kind(other: Graph, alike: bool) -> None:
    history = History()
    history.note(GRAPH, [candidate(0, 20.0, "TENSOR_CORE"), candidate(1, 9000.0, "TENSOR_CORE")])
    assert left_out(history) == {1}
    assert left_out(history, other) == ({1} if alike else set())


def test_engines_are_compared_with_one_that_ran_for_most_graphs() -> None:
    history = History()
    fast = candidate(0, 20.0, "TENSOR_CORE")
    history.note(GRAPH, [fast, candidate(1, 2100.0), candidate(2, 9100.0), candidate(3, 1100.0)])
    for _ in range(2):
        history.note(GRAPH, [fast, candidate(1, 2100.0), candidate(2, 9100.0)])
    history.note(GRAPH, [fast, candidate(3, 1100.0)])
    # 3 is faster, but ran for two graphs of four; 1 ran for three.
    assert left_out(history) == {2, 3}


def test_nothing_ran() -> None:
    history = History()
    for _ in range(2):
        history.note(GRAPH, [candidate(0, None), candidate(None, None)])
    assert left_out(history) == set()
    assert history.limit(GRAPH, "engines", 8) == 8


def with_channels(channels: int) -> Graph:
    """The convolution of an input with another number of channels."""
    x, filters, *rest = GRAPH.tensors
    images, _, *size = x.shape
    wider = [
        replace(x, shape=(images, channels, *size)),
        replace(filters, shape=(filters.shape[0], channels, *filters.shape[2:])),
    ]
    return replace(GRAPH, tensors=(*wider, *rest))


def test_alternative_that_was_hardly_slower_is_measured() -> None:
    history, split = History(), GraphAlternative(0, "conv | bias", ())
    for _ in range(5):
        history.note_alternative(GRAPH, split.name, 1.04)
    assert history.alternative_reason(GRAPH, split) is None


@pytest.mark.parametrize(("dtype", "skips"), [("bfloat16", True), ("float32", False)])
def test_alternatives_in_narrow_types_that_never_win_are_skipped(dtype: str, skips: bool) -> None:
    history = History()

    def graph(channels: int) -> Graph:
        found = with_channels(channels)
        *rest, result = found.tensors
        return replace(found, tensors=(*rest, replace(result, dtype=dtype)))

    def reason(first: str) -> str | None:
        return history.alternative_reason(graph(8), GraphAlternative(0, f"{first} | bias", ()))

    def note(slowdown: float, count: int) -> None:
        for place in range(count):
            history.note_alternative(graph(1 << place), "conv2d | relu", slowdown)

    note(1.01, 9)
    assert reason("conv2d") is None
    note(1.01, 1)
    expected = "10 alternatives of the program with its first step were all slower"
    assert reason("conv2d") == (expected if skips else None)
    assert reason("matmul") is None
    # An alternative that ties with the best plan may be faster for another graph.
    note(1.0, 1)
    assert reason("conv2d") is None


def test_alternatives_in_narrow_types_that_are_much_slower_are_skipped_sooner() -> None:
    history = History()
    split = GraphAlternative(0, "conv2d | relu", ())
    for place in range(4):
        assert history.alternative_reason(GRAPH, split) is None
        history.note_alternative(with_channels(8 << place), split.name, 1.15)
    assert history.alternative_reason(GRAPH, split) == (
        "4 alternatives of the program with its first step were all slower"
    )


@pytest.mark.parametrize(("channels", "alike"), [(64, True), (72, True), (128, False)])
def test_alternatives_are_compared_for_graphs_of_the_same_size(channels: int, alike: bool) -> None:
    history, split = History(), GraphAlternative(0, "conv | bias", ())
    for _ in range(2):
        history.note_alternative(GRAPH, split.name, 1.5)
    found = history.alternative_reason(with_channels(channels), split)
    assert (found is not None) is alike


def test_engines_that_supported_no_similar_graph_are_not_asked() -> None:
    history = History()
    for _ in range(2):
        history.note_support(GRAPH, EngineSupport(asked={1: False, 2: False, 3: True}))
    assert history.support(GRAPH).skipped == set()
    history.note_support(GRAPH, EngineSupport(asked={1: False, 2: True}))
    assert history.support(GRAPH).skipped == {1}
    # Engine 2 supported a graph once, so later rejections do not exclude it.
    for _ in range(3):
        history.note_support(GRAPH, EngineSupport(frozenset({1}), {2: False, 3: False}))
    assert history.support(GRAPH).skipped == {1}
    assert history.support(with_channels(128)).skipped == {1}
    # Other engines may support other alignments and other operations.
    assert history.support(with_channels(72)).skipped == set()
    assert history.support(replace(GRAPH, ops=("convolution",))).skipped == set()


def test_engines_that_compile_a_kernel_or_are_for_other_gpus_are_asked_once() -> None:
    history = History()
    history.note_support(GRAPH, EngineSupport(asked={1: True, 2: True}, unsuited={2}))
    assert history.support(GRAPH).skipped == {2}
    assert history.support(with_channels(3)).skipped == {2}
    assert history.support(replace(GRAPH, ops=("convolution",))).skipped == set()
    assert history.support(conv_graph("float32")).skipped == set()
