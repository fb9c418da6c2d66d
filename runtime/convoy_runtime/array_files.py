# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Input arrays in .npy files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .errors import ArgumentError

__all__ = ["read_array"]


def read_array(path: str | os.PathLike[str]) -> np.ndarray:
    """Reads a .npy file. Nothing is unpickled.

    Args:
        path: The file.

    Returns:
        The array.

    Raises:
        ArgumentError: It is no .npy file, is truncated, or holds Python objects.
        OSError: It cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError:
        raise
    # numpy evaluates the header as an expression, which fails in many ways.
    except Exception as error:
        problem = f"is not a .npy file with numbers: {error or type(error).__name__}"
        raise ArgumentError(argument=os.fspath(path), problem=problem) from error
