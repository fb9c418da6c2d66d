"""Builds kernels of runtime/device with the instructions of a GPU emulated on the host."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

DEVICE = Path(__file__).parents[3] / "runtime/device"
_EMULATION = Path(__file__).parent / "emulation"


def build(folder: Path, kernels: Iterable[Path], source: str) -> ctypes.CDLL:
    """Compiles and loads kernels. Skips the test if there is no clang++.

    Args:
        folder: An empty folder. The files are copied there: kernels include the headers that are
            beside them, which are those of the emulation.
        kernels: The files of DEVICE.
        source: The file of the emulation that includes the kernel.
    """
    compiler = next((name for name in ("clang++-22", "clang++") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no clang++")
    for path in (*kernels, *_EMULATION.iterdir()):
        shutil.copy(path, folder)
    library = folder / "emulation.so"
    # Kernels move numbers as words. Without constant sizes loops are not unrolled.
    flags = ["-O1", "-std=c++20", "-fno-strict-aliasing"]
    flags += ["-Wall", "-Wextra", "-Werror", "-Wno-pass-failed"]
    sources = [folder / source, folder / "grid.cpp"]
    subprocess.run([compiler, *flags, *sources, "-fPIC", "-shared", "-o", library], check=True)
    return ctypes.CDLL(str(library))
