"""The stages of a graph's candidates: plans that cuDNN compiles are measured where kernels leave
something to gain."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime.cuda.tuning.levels import TUNE_LEVELS
from convoy_runtime.cuda.tuning.lower_bounds import Speeds, memory_microseconds
from convoy_runtime.cuda.tuning.stages import is_enough, is_probably_enough, stages
from convoy_runtime.manifest import GraphKernel, Products

QUICK = TUNE_LEVELS["quick"]
KERNEL = GraphKernel("conv_fast", "fast", grid=1, block=32, shared_bytes=0, chip="sm_80")
PLAN = conv_graph()
PREFERRED = replace(PLAN, preference="kernel", kernels=(KERNEL,))
PREFERRED_PRODUCTS = replace(PREFERRED, products=Products(3_000_000, "float16"))
#: A transfer of all tensors of the graph takes ten microseconds.
SPEEDS = Speeds(memory=sum(each.bytes for each in PLAN.tensors) / 10.0, cache=inf, cache_bytes=0)


def test_plans_that_compile_are_measured_later_where_a_kernel_is_preferred() -> None:
    first, later = stages(QUICK, PREFERRED, has_operations=True)
    assert [source for source, _ in first] == ["kernels", "precompiled", "cublaslt"]
    assert later == [("A", 4)]


def test_other_graphs_have_one_stage() -> None:
    first, later = stages(QUICK, PLAN, has_operations=True)
    assert [source for source, _ in first] == ["A", "precompiled", "kernels", "cublaslt"]
    assert later == []
    # Levels that measure everything.
    first, later = stages(TUNE_LEVELS["full"], PREFERRED, has_operations=True)
    assert first[0] == ("kernels", TUNE_LEVELS["full"].kernels)
    assert [source for source, _ in first][1:] == ["A", "B", "FALLBACK", "engines", "cublaslt"]
    assert later == []
    # A step without products, which only engines that compile a kernel run, as the last resort.
    step = QUICK.of_step(PLAN)
    first, later = stages(step, replace(PLAN, products=None), has_operations=True)
    assert ([source for source, _ in first], later) == (["kernels", "cublaslt"], [])
    first, later = stages(step, PREFERRED_PRODUCTS, has_operations=True)
    assert [source for source, _ in first] == ["kernels", "A", "cublaslt"]
    # Graphs that cuDNN does not run.
    only = replace(PREFERRED, preference="only_kernel", symbol=None)
    first, later = stages(QUICK, only, has_operations=False)
    assert ([source for source, _ in first], later) == (["kernels", "cublaslt"], [])


def test_short_kernels_and_those_near_the_peak_bandwidth_are_enough() -> None:
    assert memory_microseconds(PLAN, SPEEDS) == pytest.approx(10.0)
    assert is_enough(PLAN, 12.4, SPEEDS)
    assert not is_enough(PLAN, 12.6, SPEEDS)
    fast = replace(SPEEDS, memory=1000 * SPEEDS.memory)
    assert is_enough(PLAN, 6.0, fast)
    assert not is_enough(PLAN, 6.1, fast)
    # A GPU whose bandwidth is unknown.
    assert not is_enough(PLAN, 6.1, replace(SPEEDS, memory=inf))


def test_kernels_and_cublaslt_are_enough_for_products_near_the_peak() -> None:
    product = replace(
        PREFERRED, ops=("matmul",), preference="plan", products=Products(3, "float16")
    )
    first, later = stages(QUICK, product, has_operations=True)
    assert [source for source, _ in first] == ["kernels", "precompiled", "cublaslt"]
    assert later == [("A", 4)]
    # Transfers take ten microseconds: three times that, and a launch.
    assert is_enough(product, 36.0, SPEEDS)
    assert not is_enough(product, 36.1, SPEEDS)
    assert is_probably_enough(QUICK, product, SPEEDS)
    others = [
        replace(product, kernels=()),
        replace(product, ops=("convolution",)),
        replace(product, tensors=tuple(replace(each, dtype="float32") for each in product.tensors)),
    ]
    for other in others:
        assert stages(QUICK, other, has_operations=True)[1] == []
        assert not is_enough(other, 36.0, SPEEDS)
    assert stages(TUNE_LEVELS["full"], product, has_operations=True)[1] == []


def test_kernels_are_enough_for_depthwise_convolutions_and_means() -> None:
    image, filters, bias, result = PLAN.tensors
    depthwise = replace(
        PREFERRED, tensors=(image, replace(filters, shape=(64, 1, 3, 3)), bias, result)
    )
    mean = replace(
        PREFERRED, ops=("avgpool_include_padding",), preference="plan", tensors=(image, result)
    )
    for graph in (depthwise, mean):
        first, later = stages(QUICK, graph, has_operations=True)
        assert [source for source, _ in first] == ["kernels", "precompiled", "cublaslt"]
        assert later == [("A", 4)]
        enough = 6.0 + 3 * memory_microseconds(graph, SPEEDS)
        assert is_enough(graph, enough, SPEEDS)
        assert not is_enough(graph, enough + 0.1, SPEEDS)
        assert is_probably_enough(QUICK, graph, SPEEDS)
        without = replace(graph, kernels=(), preference="plan")
        assert stages(QUICK, without, has_operations=True)[1] == []
    # Several filters for each channel, and groups of two channels.
    for shape in ((128, 1, 3, 3), (64, 2, 3, 3)):
        other = replace(depthwise, tensors=(image, replace(filters, shape=shape), bias, result))
        assert not is_enough(other, 20.0, SPEEDS)
        assert not is_probably_enough(QUICK, other, SPEEDS)


def test_small_graphs_probably_need_no_second_stage() -> None:
    fast = replace(SPEEDS, memory=10 * SPEEDS.memory)
    assert is_probably_enough(QUICK, PREFERRED, fast)
    assert not is_probably_enough(QUICK, PREFERRED, SPEEDS)
    assert not is_probably_enough(QUICK, PLAN, fast)
    # Products whose operands are small.
    at_peak = replace(fast, products=1_000_001.0)
    assert is_probably_enough(QUICK, PREFERRED_PRODUCTS, at_peak)
    slower = replace(fast, products=1_000_000.0)
    assert not is_probably_enough(QUICK, PREFERRED_PRODUCTS, slower)
