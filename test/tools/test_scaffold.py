"""Skeletons that tools/scaffold.py writes into a copy of the repository."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.lint import llvm_version
from tools.scaffold import FOLDERS, ROOT, main

PARTS = (
    "dialect",
    "passes",
    "python/convoy/frontend",
    "runtime/device",
    "test/dialect/tcp",
    "test/passes/kernels",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part)
    for folder in FOLDERS.values():
        (tmp_path / "test/passes" / folder).mkdir(parents=True)
    return tmp_path


def _tool(name: str) -> str:
    version = llvm_version()
    for found in (f"/usr/lib/llvm-{version}/bin/{name}", shutil.which(f"{name}-{version}")):
        if found is not None and Path(found).is_file():
            return found
    pytest.skip(f"no {name} of LLVM {version}")


def _tblgen(tree: Path, file: str, *flags: str) -> str:
    include = f"/usr/lib/llvm-{llvm_version()}/include"
    command = [_tool("mlir-tblgen"), *flags, file, "-I", include, "-I", "."]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _check_format(tree: Path, paths: list[str]) -> None:
    shutil.copy(ROOT / ".clang-format", tree)
    code = [path for path in paths if path.endswith((".cpp", ".h", ".cu"))]
    command = [_tool("clang-format"), "--dry-run", "--Werror", *code]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _written(capsys: pytest.CaptureFixture[str]) -> list[str]:
    printed = capsys.readouterr().out
    written, _, remaining = printed.partition("remaining:")
    assert remaining.strip()
    return re.findall(r"^  (\S+)$", written, re.MULTILINE)


@pytest.mark.parametrize("family", ["elementwise", "linear", "pooling", "reduction", "shape"])
def test_op_skeleton(tree: Path, family: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", "new_op", "--family", family], tree) == 0
    paths = _written(capsys)
    assert f"dialect/tcp/Tcp{family.title()}Ops.td" in paths
    assert "class NewOpOp " in _tblgen(tree, "dialect/tcp/TcpOps.td", "--gen-op-decls")
    assert "## tcp.new_op" in re.sub(
        r"[`(].*", "", _tblgen(tree, "dialect/tcp/TcpOps.td", "--gen-op-doc").replace("`tcp", "tcp")
    )
    _check_format(tree, paths)
    for path in paths:
        text = (tree / path).read_text()
        assert "new_op" in text
        assert "@{" not in text
        if path.endswith(".py"):
            ast.parse(text)


@pytest.mark.parametrize("phase", FOLDERS)
def test_pass_skeleton(tree: Path, phase: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pass", "try-new-pass", "--phase", phase], tree) == 0
    paths = _written(capsys)
    folder = FOLDERS[phase]
    assert f"passes/{folder}/TryNewPass.cpp" in paths
    declared = _tblgen(tree, "passes/Passes.td", "--gen-pass-decls", "--name=Convoy")
    assert "createTryNewPassPass()" in declared
    declarations = (tree / "passes/Passes.td").read_text()
    order = re.findall(r"^//===-- (\w+) -|^def (TryNewPassPass)", declarations, re.MULTILINE)
    index = order.index(("", "TryNewPassPass"))
    assert order[index - 1] == (phase, "")
    pipeline = (tree / "passes/pipeline/Pipeline.cpp").read_text()
    body = re.search(rf"^static void populate_{phase}\(.*?^}}", pipeline, re.MULTILINE | re.DOTALL)
    assert body is not None
    assert body[0].endswith("  pm.addPass(createTryNewPassPass());\n}")
    lists = (tree / f"passes/{folder}/CMakeLists.txt").read_text()
    assert re.search(r"^convoy_library\(\w+ TryNewPass.cpp\s", lists, re.MULTILINE)
    _check_format(tree, paths)


def test_kernel_skeleton(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "wide_sum"], tree) == 0
    paths = _written(capsys)
    assert {"runtime/device/wide_sum.cu", "passes/kernels/WideSumKernels.cpp"} <= set(paths)
    assert "struct WideSumArguments {" in (tree / "runtime/device/kernel_abi.h").read_text()
    lists = (tree / "passes/kernels/CMakeLists.txt").read_text()
    assert re.search(r"^foreach\(part .* wide_sum\)$", lists, re.MULTILINE)
    assert re.search(r"^convoy_library\(ConvoyKernels .*WideSumKernels.cpp ", lists, re.MULTILINE)
    attach = (tree / "passes/kernels/AttachKernels.cpp").read_text()
    assert "{cudnn::ReductionOp::getOperationName(), offerWideSum}," in attach
    _check_format(tree, paths)
    clang = _tool("clang")
    flags = [
        "-x",
        "cuda",
        "--cuda-device-only",
        "--cuda-gpu-arch=sm_80",
        "-nocudainc",
        "-nocudalib",
    ]
    flags += ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    flags += ["-Wno-unknown-cuda-version"]
    command = [clang, *flags, "runtime/device/wide_sum.cu"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["op", "tanh"], 'expected a new name, but dialect/tcp/TcpElementwiseOps.td has "tanh"'),
        (["op", "NewOp"], "expected a name in snake_case, but got NewOp"),
        (
            ["pass", "plan-arena", "--phase", "plan"],
            "expected a new name, but passes/Passes.td has",
        ),
        (
            ["pass", "new_pass", "--phase", "plan"],
            "expected a name in kebab-case, but got new_pass",
        ),
        (["kernel", "mean"], "expected a new name, but runtime/device/mean.cu exists"),
        (
            ["kernel", "wide", "--anchor", "MatmulOp"],
            "expected a new name, but passes/kernels/AttachKernels.cpp has {cudnn::MatmulOp::",
        ),
    ],
)
def test_existing_or_invalid_name_is_refused(
    tree: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert main(arguments, tree) == 1
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
