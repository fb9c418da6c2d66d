"""alternatives.json: round trip, and an error for every fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runtime_fixtures import affine_manifest

from convoy.artifact import write_artifact
from convoy_runtime import ArtifactError
from convoy_runtime.manifest import (
    Call,
    Cudnn,
    FileEntry,
    Graph,
    GraphAlternative,
    GraphAlternatives,
    GraphKernel,
    GraphStep,
    GraphTemporary,
    GraphTensor,
)
from convoy_runtime.manifest_alternatives import read_alternatives
from convoy_runtime.manifest_reader import read_manifest
from convoy_runtime.opening import open_artifact


def graph(name: str, *sizes: int, **changes: Any) -> Graph:
    """A graph whose last tensor is its output."""
    roles = ["input"] * (len(sizes) - 1) + ["output"]
    tensors = [
        GraphTensor(uid, role, (1, size), (size, 1), "float16")
        for uid, (size, role) in enumerate(zip(sizes, roles, strict=True), 1)
    ]
    return Graph(name, f"{name}_build", (name,), "m.py:1", tuple(tensors), **changes)


#: x, w, b, y: first x and w, then the result with b; or all in one step, with zeros in place of b.
SPLIT = GraphAlternative(
    0, "conv | bias", (GraphStep(2, (0, 1, 4)), GraphStep(3, (4, 2, 3))), (GraphTemporary(16),)
)
ZEROS = GraphAlternative(
    0, "conv+bias", (GraphStep(0, (0, 1, 4, 3)),), (GraphTemporary(4, zeros=True),)
)
KERNEL = GraphKernel("k", "1", grid=1, block=1, shared_bytes=0, chip="sm_80")
MANIFEST = affine_manifest(
    target="cuda",
    files={
        name: FileEntry("0" * 64, 1)
        for name in ("native.so", "kernels/k.ptx.gz", "alternatives.json")
    },
    graphs=(
        graph("whole", 8, 4, 2, 8, alternatives=(SPLIT.name, ZEROS.name)),
        replace(graph("stem", 8, 8), symbol=None, preference="only_kernel", kernels=(KERNEL,)),
    ),
    calls=(Call(0, "m.py:1"),),
    cudnn=Cudnn(91900, 90000, "float16"),
)
OFFERED = GraphAlternatives((graph("conv", 8, 4, 8), graph("bias", 8, 2, 8)), (SPLIT, ZEROS))


def read(text: str) -> GraphAlternatives:
    return read_alternatives(text, MANIFEST, path="model.convoy")


def test_round_trip() -> None:
    assert read_manifest(MANIFEST.to_json()) == MANIFEST
    assert read(OFFERED.to_json()) == OFFERED
    assert (OFFERED.of(0), OFFERED.of(1)) == ((SPLIT, ZEROS), ())


def put(path: str, value: Any) -> Callable[[], str]:
    """The text with one field changed."""

    def change() -> str:
        tree = place = json.loads(OFFERED.to_json())
        *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
        for parent in parents:
            place = place[parent]
        if value is ...:
            del place[last]
        else:
            place[last] = value
        return json.dumps(tree)

    return change


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("name", 1, ".name: expected a string without control characters, got 1"),
        ("graph", -1, ".graph: expected an integer from 0 to 2**63 - 1, got -1"),
        ("graph", 2, ".graph: expected less than 2, the number of graphs in manifest.json, got 2"),
        ("cost", 1, ".cost: is not a field of this format version, got 1"),
        ("temporaries", ..., ".temporaries: is missing, expected a list of objects"),
        ("temporaries.0.zeros", 0, ".temporaries[0].zeros: expected true or false, got 0"),
        (
            "temporaries.0.bytes",
            -1,
            ".temporaries[0].bytes: expected an integer from 0 to 2**63 - 1, got -1",
        ),
        (
            "steps.0.tensors",
            [0, "1", 4],
            '.steps[0].tensors: expected a list of integers from 0 to 2**63 - 1, got [0, "1", 4]',
        ),
        ("steps.0.graph", 4, ".steps[0].graph: expected less than 4, the number of graphs, got 4"),
        (
            "steps.0.graph",
            1,
            ".steps[0].graph: expected a graph that cuDNN runs, got stem, which only a kernel runs",
        ),
        ("steps.0.tensors", [0, 1], ".steps[0].tensors: expected 3 tensors for conv, got 2"),
        (
            "steps.0.tensors",
            [0, 1, 5],
            ".steps[0].tensors: expected less than 5, the number of tensors and temporaries, got 5",
        ),
        (
            "steps.0.tensors",
            [0, 2, 4],
            (
                ".steps[0].tensors: expected 8 bytes of float16 for tensor 2, got 4 bytes of "
                "float16 at 2"
            ),
        ),
        (
            "temporaries.0.bytes",
            15,
            ".steps[0].tensors: expected 16 bytes of float16 for tensor 3, got 15 bytes at 4",
        ),
        (
            "steps.0.tensors",
            [4, 1, 3],
            ".steps[0].tensors: expected a tensor that a previous step computes, got 4",
        ),
        (
            "steps.0.tensors",
            [3, 1, 4],
            ".steps[0].tensors: expected a tensor that a previous step computes, got 3",
        ),
        (
            "steps.0.tensors",
            [0, 1, 0],
            (
                ".steps[0].tensors: expected a result or a temporary that no step has "
                "written yet, got 0"
            ),
        ),
        (
            "temporaries.0.zeros",
            True,
            (
                ".steps[0].tensors: expected a result or a temporary that no step has "
                "written yet, got 4"
            ),
        ),
        (
            "steps.1.tensors",
            [0, 2, 4],
            (
                ".steps[1].tensors: expected a result or a temporary that no step has "
                "written yet, got 4"
            ),
        ),
        ("steps", [], ".steps: expected every result to be written, but no step writes tensor 4"),
    ],
)
def test_every_fault_is_named(path: str, value: Any, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read(put(f"alternatives.0.{path}", value)())
    assert str(caught.value) == f"model.convoy: alternatives.json: alternatives[0]{message}"


AS_MANIFEST = (
    "alternatives: expected conv | bias, conv+bias for graph whole, as in manifest.json, got"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: "),
        ("[]", "top level: expected an object, got []"),
        (put("graphs", ...)(), "graphs: is missing, expected a list of objects"),
        (put("format", 6)(), "format: is not a field of this format version, got 6"),
        (
            put("graphs.0.symbol", "system(1)")(),
            'graphs[0].symbol: expected a C identifier, got "system(1)"',
        ),
        (
            put("graphs.1.alternatives", ["x"])(),
            "graphs[1].alternatives: expected none for a graph that is only a step, got x",
        ),
        (put("alternatives.0.name", "x")(), f"{AS_MANIFEST} x, conv+bias"),
        (put("alternatives.1.name", "conv | bias")(), f"{AS_MANIFEST} conv | bias, conv | bias"),
        (put("alternatives", [])(), f"{AS_MANIFEST} none"),
        (put("alternatives.0.graph", 1)(), f"{AS_MANIFEST} conv+bias"),
    ],
)
def test_file_must_match_the_manifest(text: str, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read(text)
    assert str(caught.value).startswith(f"model.convoy: alternatives.json: {message}")


def test_graph_without_alternatives() -> None:
    manifest = replace(
        MANIFEST, graphs=(replace(MANIFEST.graphs[0], alternatives=()), MANIFEST.graphs[1])
    )
    with pytest.raises(
        ArtifactError,
        match="expected none for graph whole, as in manifest.json, got conv | bias, conv+bias",
    ):
        read_alternatives(OFFERED.to_json(), manifest)


def test_manifest_lists_the_alternatives() -> None:
    twice = replace(MANIFEST.graphs[0], alternatives=(SPLIT.name, SPLIT.name))
    with pytest.raises(
        ArtifactError,
        match=r"manifest.json: graphs\[0\].alternatives: duplicate name 'conv | bias'",
    ):
        read_manifest(
            replace(MANIFEST, graphs=(twice, MANIFEST.graphs[1])).to_json(), path="model.convoy"
        )
    files = {name: entry for name, entry in MANIFEST.files.items() if name != "alternatives.json"}
    with pytest.raises(
        ArtifactError,
        match=r"files: expected an entry for alternatives.json, got native.so, kernels/k.ptx.gz",
    ):
        read_manifest(replace(MANIFEST, files=files).to_json())


def test_types_match_and_each_tensor_is_written_once() -> None:
    conv, bias = OFFERED.graphs
    other = replace(conv, tensors=(replace(conv.tensors[0], dtype="bfloat16"), *conv.tensors[1:]))
    with pytest.raises(
        ArtifactError,
        match="expected 16 bytes of bfloat16 for tensor 1, got 16 bytes of float16 at 0",
    ):
        read(replace(OFFERED, graphs=(other, bias)).to_json())
    twice = replace(conv, tensors=(*conv.tensors, replace(conv.tensors[2], uid=4)))
    split = replace(SPLIT, steps=(GraphStep(2, (0, 1, 4, 4)), SPLIT.steps[1]))
    with pytest.raises(ArtifactError, match="a temporary that no step has written yet, got 4"):
        read(replace(OFFERED, graphs=(twice, bias), alternatives=(split, ZEROS)).to_json())


def test_alternatives_of_an_artifact(tmp_path: Path) -> None:
    """The file is hashed when the artifact is opened, and parsed on access; invalid contents are
    not written."""
    members = {
        "native.so": b"code",
        "kernels/k.ptx.gz": b"ptx",
        "alternatives.json": OFFERED.to_json().encode(),
    }
    write_artifact(tmp_path / "model.convoy", MANIFEST, members)
    artifact = open_artifact(tmp_path / "model.convoy")
    assert artifact.manifest.graphs == MANIFEST.graphs
    assert artifact.alternatives() == OFFERED
    assert artifact.alternatives() is artifact.alternatives()
    whole = (tmp_path / "model.convoy").read_bytes()
    place = whole.index(members["alternatives.json"])
    (tmp_path / "model.convoy").write_bytes(whole[:place] + b"[" + whole[place + 1 :])
    with pytest.raises(ArtifactError, match=r"alternatives\.json: is damaged"):
        open_artifact(tmp_path / "model.convoy")
    with pytest.raises(
        ArtifactError, match=r"other: alternatives\.json: top level: expected an object, got \[\]"
    ):
        write_artifact(tmp_path / "other", MANIFEST, {**members, "alternatives.json": b"[]"})
    assert not (tmp_path / "other").exists()
    # An artifact without alternatives has no such member.
    plain = tuple(replace(graph, alternatives=()) for graph in MANIFEST.graphs)
    write_artifact(
        tmp_path / "plain",
        replace(MANIFEST, graphs=plain),
        {name: members[name] for name in ("native.so", "kernels/k.ptx.gz")},
    )
    assert open_artifact(tmp_path / "plain").alternatives() == GraphAlternatives()
