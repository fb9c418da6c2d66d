"""NVIDIA's assembler takes the PTX of every kind of kernel, for the oldest and the newest architectures that it runs on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "test" / "passes" / "host" / "gpu-map-kernels.mlir"
PIPELINE = (
    "builtin.module(func.func(convoy-expand-math),add-runtime-argument,host-map-kernels,"
    "gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),gpu-module-to-binary{format=isa})"
)


def find_ptxas() -> str | None:
    found = shutil.which("ptxas")
    return found or next((str(path) for path in sorted(Path("/usr/local").glob("cuda*/bin/ptxas"))), None)


def texts() -> list[str]:
    """The modules of the test of kernels, by what lit splits on."""
    return [part for part in KERNELS.read_text().split("// -----\n") if 'tcp.target = "cuda"' in part]


def ptx_of(text: str) -> str:
    opt = ROOT / "build" / "bin" / "convoy-opt"
    if not opt.exists():
        pytest.skip(f"{opt} is not built")
    done = subprocess.run([opt, f"-pass-pipeline={PIPELINE}"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', done.stdout)
    assert found is not None or "gpu.binary" not in done.stdout
    if found is None:
        return ""
    return re.sub(r"\\([0-9A-F]{2})", lambda byte: chr(int(byte[1], 16)), found[1]).replace("\\\\", "\\").rstrip("\0")


@pytest.mark.parametrize("number", range(len(texts())))
def test_ptxas(number: int, tmp_path: Path) -> None:
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("ptxas is in neither PATH nor /usr/local/cuda*/bin")
    ptx = ptx_of(texts()[number])
    if not ptx:
        assert "@plain" in texts()[number]  # the one module without kernels
        return
    (tmp_path / "kernels.ptx").write_text(ptx)
    for architecture in ("sm_80", "sm_90", "sm_100"):
        done = subprocess.run(
            [ptxas, "-arch", architecture, "-o", "/dev/null", tmp_path / "kernels.ptx"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{architecture}: {done.stderr}"
