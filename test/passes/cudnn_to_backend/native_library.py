"""Compiles functions of backend calls to native libraries with convoy-opt, mlir-translate and
clang."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.convoy_opt import convoy_opt

__all__ = ["compile_calls"]

_ROOT = Path(__file__).resolve().parents[3]
_LLVM = Path("/usr/lib/llvm-22/bin")


def compile_calls(text: str, path: Path, *flags: str) -> None:
    """Lowers a module's text with `flags`, then with convert-cudnn-backend-to-llvm, and compiles it
    to the library `path`, which exports its functions."""
    lowered = convoy_opt(text, *flags, "--convert-cudnn-backend-to-llvm").stdout
    assert "cudnn." not in lowered.replace('"cudnn.', ""), "a cudnn op remains"
    translate = shutil.which("mlir-translate-22") or str(_LLVM / "mlir-translate")
    clang = shutil.which("clang-22") or str(_LLVM / "clang")
    calls = _ROOT / "runtime/support/convoy_calls.c"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "module.ll"
        subprocess.run(
            [translate, "--mlir-to-llvmir", "-o", source], input=lowered, text=True, check=True
        )
        subprocess.run(
            [clang, "-w", "-O1", "-shared", "-fPIC", "-fuse-ld=lld", source, calls, "-o", path],
            check=True,
        )
