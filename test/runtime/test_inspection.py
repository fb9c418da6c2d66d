"""Inspecting an artifact runs none of its code. The library here creates a file as soon as it is
loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from runtime_fixtures import PREPARED, affine_manifest, conv_graph

from convoy.artifact import write_artifact
from convoy.cli.main import main as convoy
from convoy_runtime import ConvoyRuntimeError, load
from convoy_runtime.__main__ import main as convoy_runtime
from convoy_runtime.inspection import merge_plans, program_calls, shipped_plans
from convoy_runtime.manifest import Call, Cudnn, Step
from convoy_runtime.opening import open_artifact


@pytest.fixture
def marked(tmp_path: Path, compile_c: Callable[..., bytes]) -> tuple[Path, Path]:
    """An artifact for cuda with a graph and a plan, and the file that its code creates."""
    mark, path = tmp_path / "mark", tmp_path / "model.convoy"
    manifest = affine_manifest(
        target="cuda", graphs=(conv_graph(),), calls=(Call(0, "model.py:12"),), steps=(Step("call",
        0), Step("copy", 64)),
        cudnn=Cudnn(91900, 90000, "float16"),
    )  # fmt: skip
    members = {"native.so": compile_c("conv.c", f'-DMARK="{mark}"'), "plans/x.json": b"{}"}
    write_artifact(path, manifest, members, PREPARED)
    return path, mark


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", "FILE"],
        ["inspect", "FILE", "--digest"],
        ["inspect", "FILE", "--manifest"],
        ["inspect", "FILE", "--ptx"],
        ["inspect", "FILE", "--as", "json"],
        ["inspect", "FILE", "--as", "dot", "--graph", "conv_bias_relu"],
        ["inspect", "FILE", "--as", "cudnn"],
        ["explain", "FILE"],
        ["explain", "FILE", "--json", "OUT/report.json"],
        ["explain", "FILE", "--html", "OUT/report.html"],
        ["merge", "OUT/store", "FILE"],
        ["python -m convoy_runtime", "FILE", "--info"],
    ],
    ids=" ".join,
)
def test_inspecting_commands_run_no_code(
    marked: tuple[Path, Path], tmp_path: Path, command: list[str]
) -> None:
    path, mark = marked
    command = [
        str(path) if word == "FILE" else word.replace("OUT", str(tmp_path)) for word in command
    ]
    if command[0].startswith("python"):
        assert convoy_runtime(command[1:]) == 0
    else:
        assert convoy(command) == (1 if "--as" in command else 0)
    assert not mark.exists()


def test_inspecting_functions_run_no_code(marked: tuple[Path, Path], tmp_path: Path) -> None:
    path, mark = marked
    artifact = open_artifact(path)
    assert [
        (each.kind, each.index, each.bytes, each.after) for each in program_calls(artifact)
    ] == [
        ("graph", 0, 0, ()),
        ("copy", 0, 128, (0,)),
    ]
    assert shipped_plans(artifact) == []
    merge_plans(tmp_path / "store", [path])
    assert not mark.exists()


def test_commands_that_run_code_need_a_flag(
    marked: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path, mark = marked
    assert convoy(["inspect", str(path), "--as", "json"]) == 1
    assert (
        "--as runs native code of the artifact with your permissions: pass --run-native"
    ) in capsys.readouterr().err
    assert convoy(["inspect", str(path), "--run-native"]) == 1
    assert "--run-native requires --as" in capsys.readouterr().err
    assert not mark.exists()
    assert convoy(["inspect", str(path), "--as", "json", "--run-native"]) == 0
    assert mark.exists()


def test_digest_mismatch_is_refused_before_the_library_is_loaded(
    marked: tuple[Path, Path], compile_c: Callable[..., bytes]
) -> None:
    path, mark = marked
    opened = open_artifact(path)
    other = replace(opened.manifest, producer={"convoy": "another"})
    write_artifact(
        path,
        other,
        {
            name: bytes(content)
            for name, content in opened.members.items()
            if name != "weights.safetensors"
        },
        PREPARED,
    )
    with pytest.raises(ConvoyRuntimeError, match="does not match the given digest"):
        load(path, digest=opened.digest)
    for command in (
        ["run", str(path)],
        ["bench", str(path)],
        ["tune", str(path)],
        ["explain", str(path), "--measured"],
    ):
        with contextlib.suppress(SystemExit):
            assert convoy([*command, "--digest", opened.digest]) != 0
    assert not mark.exists()


def test_digest_is_printed(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = open_artifact(affine).digest
    assert convoy(["inspect", str(affine), "--digest"]) == 0
    assert capsys.readouterr().out == f"{digest}\n"
    assert convoy(["inspect", str(affine)]) == 0
    assert digest in capsys.readouterr().out
    assert convoy_runtime([str(affine), "--info"]) == 0
    assert f"\ndigest {digest}\n" in capsys.readouterr().out
    assert convoy(["run", str(affine), "--digest", digest]) == 0
    assert convoy(["explain", str(affine), "--digest", "sha256:1"]) == 1
    assert "is not the digest of an artifact" in capsys.readouterr().err
