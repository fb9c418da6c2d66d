# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random inputs, for a program that is run without input files."""

from __future__ import annotations

import numpy as np

from .dtypes import DTYPES
from .manifest import TensorSpec

__all__ = ["random_array"]


def random_array(spec: TensorSpec, seed: int = 0) -> np.ndarray:
    """A random array.

    Args:
        spec: Its shape and dtype.
        seed: The seed of numpy's generator.

    Returns:
        Normally distributed floats, or integers and booleans of 0 and 1; bfloat16 as uint16.
    """
    generator = np.random.default_rng(seed)
    if spec.dtype == "bfloat16":
        bits = generator.standard_normal(spec.shape, dtype=np.float32).view(np.uint32) >> 16
        return np.asarray(bits, dtype=np.uint16)
    if spec.dtype.startswith("float"):
        return np.asarray(generator.standard_normal(spec.shape)).astype(DTYPES[spec.dtype].storage)
    return np.asarray(generator.integers(0, 2, spec.shape)).astype(DTYPES[spec.dtype].storage)
