"""Alternatives of graphs in manifest.json: what is written is what is read, and every fault is named."""

from __future__ import annotations

import json
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
    GraphAlternative,
    GraphKernel,
    GraphStep,
    GraphTemporary,
    GraphTensor,
    Manifest,
)
from convoy_runtime.manifest_reader import read_manifest


def graph(name: str, *sizes: int, **changes: Any) -> Graph:
    """The last tensor is written."""
    roles = ["input"] * (len(sizes) - 1) + ["output"]
    tensors = [
        GraphTensor(uid, role, (1, size), (size, 1), "float16") for uid, (size, role) in enumerate(zip(sizes, roles, strict=True), 1)
    ]
    return Graph(name, f"{name}_build", (name,), "m.py:1", tuple(tensors), **changes)


#: x, w, b, y: first x and w, then the result with b; or all in one, with zeros in place of b.
SPLIT = GraphAlternative("conv | bias", (GraphStep(1, (0, 1, 4)), GraphStep(2, (4, 2, 3))), (GraphTemporary(16),))
ZEROS = GraphAlternative("conv+bias", (GraphStep(0, (0, 1, 4, 3)),), (GraphTemporary(4, zeros=True),))
KERNEL = GraphKernel("k", "1", grid=1, block=1, shared_bytes=0, chip="sm_80")
MANIFEST = affine_manifest(
    target="cuda",
    files={"native.so": FileEntry("0" * 64, 1), "kernels/k.ptx": FileEntry("1" * 64, 1)},
    graphs=(
        graph("whole", 8, 4, 2, 8, alternatives=(SPLIT, ZEROS)),
        graph("conv", 8, 4, 8),
        graph("bias", 8, 2, 8),
        replace(graph("stem", 8, 8), symbol=None, preference="only_kernel", kernels=(KERNEL,)),
    ),
    calls=(Call(0, "m.py:1"),),
    cudnn=Cudnn(91900, 90000, "float16"),
)


def test_round_trip() -> None:
    assert read_manifest(MANIFEST.to_json()) == MANIFEST


def put(path: str, value: Any) -> Callable[[Manifest], str]:
    """The manifest's text with one field of the first alternative changed."""

    def change(manifest: Manifest) -> str:
        tree = json.loads(manifest.to_json())
        *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
        place = tree["graphs"][0]["alternatives"][0]
        for parent in parents:
            place = place[parent]
        if value is ...:
            del place[last]
        else:
            place[last] = value
        return json.dumps(tree)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("name", "conv+bias"), "[1].name: 'conv+bias' is there twice"),
        (put("name", 1), "[0].name: expected a string, got 1"),
        (put("cost", 1), "[0].cost: is no field of this format version, got 1"),
        (put("temporaries", ...), "[0].temporaries: is missing, expected a list of objects"),
        (put("temporaries.0.zeros", 0), "[0].temporaries[0].zeros: expected true or false, got 0"),
        (put("temporaries.0.bytes", -1), "[0].temporaries[0].bytes: expected an integer of at least 0, got -1"),
        (put("steps.0.tensors", [0, "1", 4]), '[0].steps[0].tensors: expected a list of integers of at least 0, got [0, "1", 4]'),
        (put("steps.0.graph", 4), "[0].steps[0].graph: expected less than 4, the number of graphs, got 4"),
        (put("steps.0.graph", 3), "[0].steps[0].graph: expected a graph that cuDNN runs, got stem, which only a kernel runs"),
        (put("steps.0.tensors", [0, 1]), "[0].steps[0].tensors: expected 3 tensors for conv, got 2"),
        (put("steps.0.tensors", [0, 1, 5]), "[0].steps[0].tensors: expected less than 5, the number of tensors and temporaries, got 5"),
        (put("steps.0.tensors", [0, 2, 4]), "[0].steps[0].tensors: expected 8 bytes of float16 for tensor 2, got 4 bytes of float16 at 2"),
        (put("temporaries.0.bytes", 15), "[0].steps[0].tensors: expected 16 bytes of float16 for tensor 3, got 15 bytes at 4"),
        (put("steps.0.tensors", [4, 1, 3]), "[0].steps[0].tensors: expected something that is computed by then, got 4"),
        (put("steps.0.tensors", [3, 1, 4]), "[0].steps[0].tensors: expected something that is computed by then, got 3"),
        (put("steps.0.tensors", [0, 1, 0]), "[0].steps[0].tensors: expected a result or a temporary that nothing has written yet, got 0"),
        (
            put("temporaries.0.zeros", True),
            "[0].steps[0].tensors: expected a result or a temporary that nothing has written yet, got 4",
        ),
        (put("steps.1.tensors", [0, 2, 4]), "[0].steps[1].tensors: expected a result or a temporary that nothing has written yet, got 4"),
        (put("steps", []), "[0].steps: expected every result to be written, got none that writes tensor 4"),
    ],
)
def test_every_fault_is_named(change: Callable[[Manifest], str], message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read_manifest(change(MANIFEST), path="model.convoy")
    assert str(caught.value) == f"model.convoy: manifest.json: graphs[0].alternatives{message}"


def test_types_agree_and_a_step_writes_a_tensor_once() -> None:
    other = replace(MANIFEST.graphs[1], tensors=(replace(MANIFEST.graphs[1].tensors[0], dtype="bfloat16"), *MANIFEST.graphs[1].tensors[1:]))
    with pytest.raises(ArtifactError, match="expected 16 bytes of bfloat16 for tensor 1, got 16 bytes of float16 at 0"):
        read_manifest(replace(MANIFEST, graphs=(MANIFEST.graphs[0], other, *MANIFEST.graphs[2:])).to_json())
    twice = replace(MANIFEST.graphs[1], tensors=(*MANIFEST.graphs[1].tensors, replace(MANIFEST.graphs[1].tensors[2], uid=4)))
    whole = replace(MANIFEST.graphs[0], alternatives=(replace(SPLIT, steps=(GraphStep(1, (0, 1, 4, 4)), SPLIT.steps[1])),))
    with pytest.raises(ArtifactError, match="a temporary that nothing has written yet, got 4"):
        read_manifest(replace(MANIFEST, graphs=(whole, twice, *MANIFEST.graphs[2:])).to_json())
