# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs `convoy-opt` of the build. The environment variable CONVOY_OPT overrides its path."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["convoy_opt", "convoy_opt_path"]

_ROOT = Path(__file__).parents[1]


def convoy_opt_path() -> Path:
    """The path of the program, which may not be built. Other tools of the build are beside it."""
    return Path(os.environ.get("CONVOY_OPT", _ROOT / "build/bin/convoy-opt"))


def convoy_opt(text: str, *flags: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs convoy-opt.

    Args:
        text: MLIR, the standard input.
        flags: The command line.
        check: Whether a failure is an error.

    Returns:
        The completed process.

    Raises:
        RuntimeError: convoy-opt fails, and `check` is set.
    """
    done = subprocess.run(
        [convoy_opt_path(), "-", *flags], input=text, capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        message = f"convoy-opt {' '.join(flags)} failed:\n{done.stderr[-4000:]}"
        raise RuntimeError(message)
    return done
