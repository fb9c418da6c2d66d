"""Every GPU architecture and every CPU that the options accept compiles, and all others are
refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn

import convoy
from convoy import _convoy
from convoy.cli.main import main
from convoy.compiler import compile_imported
from convoy.frontend import ImportedModule, import_module
from convoy_runtime.ptx_members import unpack_ptx

ROOT = Path(__file__).resolve().parents[2]
TINY = f"{ROOT}/test/cli/Inputs/tiny.py"
#: All architectures from sm_80 on that LLVM 22 and CUDA 13 have.
CHIPS = (
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_88",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
)
NO_CHIPS = (
    "sm_60",
    "sm_75",
    "sm_79",
    "sm_9000",
    "sm_90a",
    "sm_100f",
    "sm_101",
    "90",
    "compute_90",
    "SM_90",
    "sm_",
    "",
    "native",
)
NO_CPUS = (
    "nonsense",
    "",
    "i386",
    "znver9",
    "x86-64-v5",
    "cortex-a72",
    "+avx2",
    "x86-64-v3 dtype=f16",
    "a'b",
    "µ",
)


@cache
def _model() -> ImportedModule:
    """A model with every kind of kernel: a stem, convolutions small enough for hand-written
    kernels, a mean over images, a product of few rows, and generated kernels."""
    torch.manual_seed(0)
    layers = (
        nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.Conv2d(64, 64, 3,
        padding=1), nn.ReLU(), nn.Conv2d(64, 256, 1),
        nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 64), nn.Softmax(1),
    )  # fmt: skip
    return import_module(nn.Sequential(*layers).eval(), (torch.randn(1, 3, 64, 64),))


def _accepted(message: str) -> list[str]:
    found = re.search(r"one of (.*), but got", message)
    assert found is not None, message
    return re.split(r"[, ]+", found[1])


def _refusal(**options: str) -> str:
    with pytest.raises(ValueError, match=r"^expected ") as caught:
        _convoy.check_options(list(options.items()))
    return str(caught.value)


def _ptx(members: Mapping[str, bytes]) -> dict[str, str]:
    texts = {"kernels.ptx": members["kernels.ptx"].decode()}
    for name, content in members.items():
        if name.endswith(".ptx.gz"):
            texts[name] = unpack_ptx(content, name).decode()
    return texts


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("chip", CHIPS)
def test_accepted_chip_compiles(chip: str, dtype: str, tmp_path: Path) -> None:
    options = convoy.CompileOptions(target="cuda", chip=chip, dtype=dtype, weights=False)
    kernels = _ptx(compile_imported(_model(), options).members)
    assert len(kernels) > 4, "expected kernels of graphs and kernels.ptx"
    assert f".target {chip}\n" in kernels["kernels.ptx"]
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("LLVM compiled the kernels; ptxas, which would assemble them, is not in PATH")
    # LLVM does not check the library's inline assembly. NVIDIA's assembler checks whether the
    # architecture supports it.
    for name, text in kernels.items():
        target = re.search(r"\.target (\w+)", text)
        assert target is not None
        (tmp_path / "k.ptx").write_text(text)
        command = [ptxas, "-O0", "-arch", target[1], "-o", "/dev/null", str(tmp_path / "k.ptx")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name}: {done.stderr}"


def test_accepted_chips_are_listed() -> None:
    assert _accepted(_refusal(chip="none")) == list(CHIPS)


@pytest.mark.parametrize("chip", NO_CHIPS)
def test_unknown_chip_is_refused(
    chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (
        "expected chip to be an architecture that the kernels can be compiled for, one of "
        "sm_80, sm_86, "
    )
    with pytest.raises(ValueError, match=f"^{expected}"):
        convoy.compile(nn.ReLU().eval(), (torch.ones(1),), target="cpu", chip=chip)
    out = tmp_path / "x.convoy"
    assert (
        main(["compile", f"{TINY}:tiny", "--target", "cuda", "--chip", chip, "-o", str(out)]) == 1
    )
    assert capsys.readouterr().err.startswith(f"convoy: error: {expected}")
    assert not out.exists()


def test_every_accepted_cpu_compiles() -> None:
    cpus = _accepted(_refusal(cpu="none"))
    assert {"x86-64", "x86-64-v4", "znver5", "sapphirerapids"} <= set(cpus)
    imported = import_module(
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).eval(), (torch.randn(1, 3, 8, 8),)
    )
    for cpu in (*cpus, "native"):
        manifest = compile_imported(
            imported, convoy.CompileOptions(target="cpu", cpu=cpu, weights=False)
        ).manifest
        assert manifest.host.cpu == cpu or cpu == "native"


@pytest.mark.parametrize("cpu", NO_CPUS)
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_unknown_cpu_is_refused(
    cpu: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = "expected cpu to be 'native' or one of nocona core2 "
    with pytest.raises(ValueError, match=f"^{expected}.*, but got '{re.escape(cpu)}'$"):
        convoy.CompileOptions(target=target, cpu=cpu)
    out = tmp_path / "x.convoy"
    assert main(["compile", f"{TINY}:tiny", "--target", target, "--cpu", cpu, "-o", str(out)]) == 1
    assert capsys.readouterr().err.startswith(f"convoy: error: {expected}")
    assert not out.exists()


def test_path_with_spaces_is_one_option(tmp_path: Path) -> None:
    table = tmp_path / "a table.json"
    table.write_text((ROOT / "passes" / "fusion" / "support_table.json").read_text())
    compile_imported(
        _model(), convoy.CompileOptions(target="cuda", support_table=table, weights=False)
    )
