"""NVIDIA's assembler accepts the PTX of every kind of kernel, for the oldest and the newest
architectures that it supports."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from op_cases import Function
from torch import Tensor, float16, zeros
from torch.nn.functional import layer_norm

from convoy.frontend import import_module
from tools.convoy_opt import convoy_opt

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "test" / "passes" / "gpu_codegen" / "gpu-map-kernels.mlir"
PIPELINE = (
    "builtin.module(func.func(convoy-expand-math),add-runtime-argument,gpu-map-kernels,"
    "gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),gpu-module-to-binary{format=isa})"
)


def find_ptxas() -> str | None:
    found = shutil.which("ptxas")
    return found or next(
        (str(path) for path in sorted(Path("/usr/local").glob("cuda*/bin/ptxas"))), None
    )


def texts() -> list[str]:
    """The modules of the kernel tests, split as lit does."""
    return [
        part for part in KERNELS.read_text().split("// -----\n") if 'tcp.target = "cuda"' in part
    ]


#: Graphs with hand-written kernels, and the pipeline that compiles each to PTX.
GRAPHS = (
    "conv-ptx.mlir", "conv-wgmma-ptx.mlir", "conv1x1-wgmma-ptx.mlir", "matmul-ptx.mlir",
    "mean-ptx.mlir", "stem.mlir", "stem-wgmma.mlir",
)  # fmt: skip
GRAPH_PIPELINE = "builtin.module(convert-tcp-to-cudnn,cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)"


def ptx_of(text: str, pipeline: str = PIPELINE) -> list[str]:
    opt = ROOT / "build" / "bin" / "convoy-opt"
    if not opt.exists():
        pytest.skip(f"{opt} is not built")
    done = subprocess.run(
        [opt, f"-pass-pipeline={pipeline}"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', done.stdout)
    assert found or "gpu.binary" not in done.stdout
    return [
        re.sub(r"\\([0-9A-F]{2})", lambda byte: chr(int(byte[1], 16)), each)
        .replace("\\\\", "\\")
        .rstrip("\0")
        for each in found
    ]


def assemble(ptx: str, architecture: str, tmp_path: Path) -> str:
    """The output of ptxas for the PTX; fails if ptxas does."""
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("ptxas is in neither PATH nor /usr/local/cuda*/bin")
    (tmp_path / "kernels.ptx").write_text(ptx)
    done = subprocess.run(
        [ptxas, "-v", "-arch", architecture, "-o", "/dev/null", tmp_path / "kernels.ptx"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{architecture}: {done.stderr}"
    return done.stderr


@pytest.mark.parametrize("number", range(len(texts())))
def test_ptxas_accepts_generated_kernels(number: int, tmp_path: Path) -> None:
    kernels = ptx_of(texts()[number])
    if not kernels:
        assert "@plain" in texts()[number]  # The one module without kernels.
        return
    (ptx,) = kernels
    for architecture in ("sm_80", "sm_90", "sm_100"):
        assemble(ptx, architecture, tmp_path)


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_kernels_do_not_spill(name: str, tmp_path: Path) -> None:
    kernels = ptx_of((ROOT / "test" / "passes" / "kernels" / name).read_text(), GRAPH_PIPELINE)
    assert kernels
    for ptx in kernels:
        output = assemble(ptx, "sm_90a" if ".target sm_90a" in ptx else "sm_90", tmp_path)
        assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in output, output


def _normalize(x: Tensor, *scales: Tensor) -> Tensor:
    return layer_norm(x, x.shape[1:], *scales)


#: Functions of long rows, of which registers keep two elements each, and vectors that they read.
ROWS: dict[str, tuple[Callable[..., Tensor], int]] = {
    "softmax": (lambda x: x.softmax(-1), 0),
    "log softmax": (lambda x: x.log_softmax(-1), 0),
    "norm": (_normalize, 0),
    "norm with weights": (_normalize, 2),
}
KERNEL_PIPELINE = "builtin.module(gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)"


@pytest.mark.parametrize("name", ROWS)
def test_packed_rows_do_not_spill(name: str, tmp_path: Path) -> None:
    function, vectors = ROWS[name]
    length = 32768
    inputs = [zeros(256, length, dtype=float16), *[zeros(length, dtype=float16)] * vectors]
    text = import_module(Function(function).eval(), tuple(inputs)).text
    (ptx,) = ptx_of(
        convoy_opt(text, "--convoy-pipeline=to=host target=cuda").stdout, KERNEL_PIPELINE
    )
    assert ".minnctapersm 2" in ptx
    for architecture in ("sm_80", "sm_90"):
        output = assemble(ptx, architecture, tmp_path)
        assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in output, output
