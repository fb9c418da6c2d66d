# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensor maps: arguments of kernels that describe matrices for the tensor memory accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convoy_runtime.dtypes import DTYPES

from .device import Driver

__all__ = ["tensor_map"]

_TYPES = {"float16": "FLOAT16", "bfloat16": "BFLOAT16"}


def tensor_map(
    driver: Driver, address: int, dtype: str, shape: Sequence[int], box: Sequence[int]
) -> Any:
    """Describes a packed matrix that a kernel copies in boxes (cuTensorMapEncodeTiled). Rows of a
    box are swizzled in 128 bytes, and elements outside of the matrix are zeros.

    Args:
        driver: The CUDA driver.
        address: The device address of the matrix, a multiple of 16.
        dtype: torch's name of its element type: float16 or bfloat16.
        shape: Its rows and columns.
        box: Rows and columns of a box.

    Returns:
        The CUtensorMap. `getPtr()` is the address of its 128 bytes on the host.

    Raises:
        CudaError: The driver refuses the sizes.
    """
    module = driver.module
    kind = getattr(module.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[dtype]}")
    width = module.cuuint64_t
    steps = [width(shape[1] * DTYPES[dtype].bytes)]
    return driver.call(
        "cuTensorMapEncodeTiled",
        kind,
        len(shape),
        address,
        [width(size) for size in reversed(shape)],
        steps,
        [module.cuuint32_t(size) for size in reversed(box)],
        [module.cuuint32_t(1)] * len(shape),
        module.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        module.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        module.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        module.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
