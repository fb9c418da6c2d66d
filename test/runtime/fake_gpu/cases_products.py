"""The calls of cuBLASLt for each form of a product: types, sizes, epilogues. Matrices are those of
the transposed product."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from fake_gpu.cases_cublaslt import SHAPES, cublaslt, fields  # noqa: F401
from fake_gpu.fixtures import conv_manifest

from convoy_runtime.cuda.cublaslt.enums import Reduction
from convoy_runtime.cuda.cublaslt.library import CublasLt
from convoy_runtime.cuda.cublaslt.matmul import Product, create_handle
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.manifest import Graph

ODD = ((1, 3, 5), (1, 5, 7), (1, 1, 7), (1, 3, 7))
Run = Callable[..., str]


def graph_of(shapes: Sequence[Any], types: Sequence[str], **matmul: Any) -> Graph:
    made = fields(shapes, **matmul)
    tensors = tuple(
        type(each)(each.uid, each.role, each.shape, each.strides, dtype)
        for each, dtype in zip(made["tensors"], types, strict=True)
    )
    return conv_manifest(**{**made, "tensors": tensors}).graphs[0]


@pytest.fixture
def run(cublaslt: ctypes.CDLL) -> Run:  # noqa: F811
    """Runs a product, and returns what cuBLASLt got."""

    def one(graph: Graph, *, tf32: bool = True) -> str:
        device = Device(open_driver(), 0)
        assert graph.matmul is not None
        assert graph.matmul.problem(graph.tensors) is None
        with device.current(), ExitStack() as stack:
            library = CublasLt(cublaslt)
            product = Product(library, create_handle(library, stack), graph, stack, tf32=tf32)
            (algorithm,) = product.algorithms(1, 0, Reduction(7))
            assert product.check(algorithm.data) == algorithm
            memory = [Allocation(device, 1 << 12) for _ in graph.tensors]
            product.run(
                algorithm, [each.pointer for each in memory], 0, 0, what="graph", location=None
            )
            device.driver.call("cuStreamSynchronize", 0)
        assert (cublaslt.fake_alive(), cublaslt.fake_handles()) == (0, 0)
        return bytes(cublaslt.fake_last()).decode()

    return one


@pytest.mark.parametrize(
    ("types", "tf32", "compute", "type_", "result"),
    [
        (["float16"] * 3, True, 68, 2, 2),
        (["bfloat16"] * 3, True, 68, 14, 14),
        (["float16", "float16", "float32"], True, 68, 2, 0),
        (["float32"] * 3, True, 77, 0, 0),
        (["float32"] * 3, False, 68, 0, 0),
    ],
)
def test_types(
    run: Run, types: list[str], tf32: bool, compute: int, type_: int, result: int
) -> None:
    graph = graph_of((ODD[0], ODD[1], ODD[3]), types, bias=None, activation="none")
    expected = f"{compute} 1 {type_}:7x5:7:1:0 {type_}:5x3:5:1:0 {result}:7x3:7:1:0 0"
    assert run(graph, tf32=tf32) == expected


@pytest.mark.parametrize(
    ("activation", "bias", "epilogue"),
    [
        ("none", None, 1),
        ("none", 2, 4),
        ("relu", None, 2),
        ("relu", 2, 6),
        ("gelu_tanh", None, 32),
        ("gelu_tanh", 2, 36),
    ],
)
def test_epilogues(run: Run, activation: str, bias: int | None, epilogue: int) -> None:
    shapes = ODD if bias is not None else (ODD[0], ODD[1], ODD[3])
    graph = graph_of(shapes, ["float16"] * len(shapes), bias=bias, activation=activation)
    assert run(graph).split()[1] == str(epilogue)


def test_residual_is_added_to_the_product(run: Run) -> None:
    shapes = (*ODD[:3], ODD[3], ODD[3])
    graph = graph_of(shapes, ["float16"] * 5, residual=3)
    assert run(graph) == "68 6 2:7x5:7:1:0 2:5x3:5:1:0 2:7x3:7:1:0 1"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (4, 4, "2:7x5:7:4:35 2:5x3:5:4:15 2:7x3:7:4:21"),
        (4, 1, "2:7x5:7:4:0 2:5x3:5:4:15 2:7x3:7:4:21"),
        (1, 4, "2:7x5:7:4:35 2:5x3:5:4:0 2:7x3:7:4:21"),
    ],
)
def test_batches(run: Run, left: int, right: int, expected: str) -> None:
    graph = graph_of(((left, 3, 5), (right, 5, 7), (1, 1, 7), (4, 3, 7)), ["float16"] * 4)
    assert run(graph) == f"68 6 {expected} 0"


def test_sides_may_be_in_any_order(run: Run) -> None:
    left, right, bias, result = ODD
    graph = graph_of((bias, right, left, result), ["float16"] * 4)
    swapped = type(graph.matmul)(2, 1, "relu", 0)  # type: ignore[call-arg, misc]
    graph = type(graph)(
        graph.name, graph.symbol, graph.ops, graph.location, graph.tensors, matmul=swapped
    )
    assert run(graph) == "68 6 2:7x5:7:1:0 2:5x3:5:1:0 2:7x3:7:1:0 0"
