"""The record of a matrix product in the manifest: its sizes, and every fault."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from runtime_fixtures import affine_manifest

from convoy_runtime import ArtifactError
from convoy_runtime.manifest import (
    Call,
    Cudnn,
    FileEntry,
    Graph,
    GraphTensor,
    Manifest,
    Matmul,
    TensorSpec,
)
from convoy_runtime.manifest_reader import read_manifest


def tensor(role: str, *shape: int, dtype: str = "float16") -> GraphTensor:
    strides = (shape[1] * shape[2], shape[2], 1)
    return GraphTensor(len(shape), role, shape, strides, dtype)


TENSORS = (
    tensor("input", 1, 1, 7),
    tensor("input", 1, 5, 7),
    tensor("input", 2, 3, 5),
    tensor("input", 2, 3, 7),
    tensor("output", 2, 3, 7),
)
MATMUL = Matmul(left=2, right=1, activation="relu", bias=0, residual=3)


def manifest(tensors: tuple[GraphTensor, ...] = TENSORS, matmul: Matmul = MATMUL) -> Manifest:
    graph = Graph("g", "g_build", ("matmul",), "m.py:1", tensors, matmul=matmul)
    return affine_manifest(
        target="cuda",
        inputs=(TensorSpec("x", (1,), "float16"),),
        files={"native.so": FileEntry("0" * 64, 1)},
        graphs=(graph,),
        calls=(Call(0, "m.py:1"),),
        cudnn=Cudnn(91900, 90000, "float16"),
    )


@pytest.mark.parametrize(
    ("tensors", "matmul"),
    [
        (TENSORS, MATMUL),
        (TENSORS[1:3] + TENSORS[4:], Matmul(1, 0, "none")),
        (
            (*TENSORS[1:3], replace(TENSORS[4], dtype="float32")),
            Matmul(1, 0, "gelu_tanh"),
        ),
    ],
)
def test_round_trip(tensors: tuple[GraphTensor, ...], matmul: Matmul) -> None:
    made = manifest(tensors, matmul)
    assert read_manifest(made.to_json()) == made
    assert matmul.sizes(tensors) == (2, 3, 5, 7)


def test_a_factor_may_be_the_residual() -> None:
    square = tensor("input", 1, 7, 7)
    tensors = (square, square, replace(square, role="output"))
    assert Matmul(0, 1, "none", residual=0).problem(tensors) is None


def test_dims_of_size_1_have_any_stride() -> None:
    bias = replace(TENSORS[0], strides=(1000, 3, 1))
    assert MATMUL.problem((bias, *TENSORS[1:])) is None


def test_absent_numbers_may_be_null() -> None:
    tree = json.loads(manifest(TENSORS[1:3] + TENSORS[4:], Matmul(1, 0, "none")).to_json())
    assert tree["graphs"][0]["matmul"]["bias"] is None
    del tree["graphs"][0]["matmul"]["bias"]
    assert read_manifest(json.dumps(tree)).graphs[0].matmul == Matmul(1, 0, "none")


def in_tensor(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda graph: graph["tensors"][place].update(changes)


def in_matmul(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda graph: graph["matmul"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_matmul(left=5), ": expected all operands of the graph, [0, 1, 2, 3], got "
         "[5, 1, 0, 3]"),
        (in_matmul(bias=None), ": expected all operands of the graph, [0, 1, 2, 3], got "
         "[2, 1, 3]"),
        (in_matmul(left=-1), ".left: expected an integer from 0 to 2**63 - 1, got -1"),
        (in_matmul(activation="tanh"), '.activation: expected "none", "relu" or "gelu_tanh", got '
         '"tanh"'),
        (in_tensor(3, role="output"), ": expected a graph with one result"),
        (in_tensor(4, role="input"), ": expected a graph with one result"),
        (in_tensor(1, strides=[35, 1, 5]), ": expected packed matrices with a batch dim, got "
         "tensor 1 of shape [1, 5, 7] with strides [35, 1, 5]"),
        (in_tensor(0, shape=[1, 7], strides=[7, 1]), ": expected packed matrices with a batch "
         "dim, got tensor 0 of shape [1, 7] with strides [7, 1]"),
        (in_tensor(2, shape=[2, 0, 5], strides=[0, 5, 1]), ": expected packed matrices with a "
         "batch dim, got tensor 2 of shape [2, 0, 5] with strides [0, 5, 1]"),
        (in_tensor(0, shape=[1, 1, 6], strides=[6, 6, 1]), ": expected tensor 0 of shape "
         "[1, 1, 7], got [1, 1, 6]"),
        (in_tensor(1, shape=[3, 5, 7]), ": expected tensor 1 of shape [2, 5, 7], got [3, 5, 7]"),
        (in_tensor(3, shape=[1, 3, 7]), ": expected tensor 3 of shape [2, 3, 7], got [1, 3, 7]"),
        (in_tensor(1, dtype="bfloat16"), ": expected tensor 1 of float16, got bfloat16"),
        (in_tensor(0, dtype="float32"), ": expected tensor 0 of float16, got float32"),
        (in_tensor(4, dtype="float32"), ": expected tensor 0 of float32, got float16"),
        (in_tensor(4, dtype="bfloat16"), ": expected factors and result of floats, got float16 "
         "and bfloat16"),
        (in_tensor(2, dtype="float64"), ": expected factors and result of floats, got float64 "
         "and float16"),
    ],
)  # fmt: skip
def test_every_fault_is_named(change: Callable[[dict[str, Any]], None], message: str) -> None:
    tree = json.loads(manifest().to_json())
    change(tree["graphs"][0])
    with pytest.raises(ArtifactError, match=re.escape(f"graphs[0].matmul{message}")):
        read_manifest(json.dumps(tree))
