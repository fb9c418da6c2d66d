# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensor maps: arguments of kernels that describe tensors for the tensor memory accelerator."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from operator import mul
from types import ModuleType
from typing import Any

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest_kernels import KernelTensorMap

from .device import Driver

__all__ = ["tensor_map"]

_TYPES = {"float16": "FLOAT16", "bfloat16": "BFLOAT16"}


def tensor_map(driver: Driver, address: int, dtype: str, described: KernelTensorMap) -> Any:
    """Describes a packed tensor that a kernel copies in boxes (cuTensorMapEncodeTiled), or images
    whose windows it copies (cuTensorMapEncodeIm2col). Rows of a box are swizzled in 128 bytes, and
    elements outside of the tensor are zeros.

    Args:
        driver: The CUDA driver.
        address: The device address of the tensor, a multiple of 16.
        dtype: torch's name of its element type: float16 or bfloat16.
        described: Its sizes, and those of a box or of the windows.

    Returns:
        The CUtensorMap. `getPtr()` is the address of its 128 bytes on the host.

    Raises:
        CudaError: The driver refuses the sizes.
    """
    name, kind, rank, rest = _constants(driver.module, dtype, described)
    return driver.call(name, kind, rank, address, *rest)


@lru_cache(maxsize=4096)
def _constants(
    module: ModuleType, dtype: str, described: KernelTensorMap
) -> tuple[str, Any, int, tuple[Any, ...]]:
    """Returns the function of the driver, its arguments before the address, and those after it.
    Tuning and captures launch a kernel on many addresses; to make these takes 12 us."""
    count, distance = module.cuuint32_t, module.cuuint64_t
    kind = getattr(module.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[dtype]}")
    # The driver lists dims from the innermost one on.
    sizes = list(described.shape[::-1])
    pitches = list(accumulate(sizes[:-1], mul, initial=DTYPES[dtype].bytes))
    first = [-low for low in described.low[::-1]]
    ends = zip(described.high[::-1], described.reach[::-1], strict=True)
    last = [high - reach for high, reach in ends]
    steps = list(described.strides[::-1])
    if described.has_groups:
        # The last dim is that of groups, so that elements outside of a group are zeros. The images
        # are one more spatial dim.
        sizes.append(sizes.pop(1))
        pitches.append(pitches.pop(1))
        first.append(0)
        last.append(0)
        steps.append(1)
    tensor = [distance(size) for size in sizes], [distance(pitch) for pitch in pitches[1:]]
    modes = (
        module.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        module.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        module.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        module.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if not described.strides:
        box = [count(size) for size in described.box[::-1]]
        tiled = (*tensor, box, [count(1)] * len(box), *modes)
        return "cuTensorMapEncodeTiled", kind, len(sizes), tiled
    pixels, channels = described.box
    strides = [count(step) for step in (1, *steps, 1)]
    windows = (*tensor, first, last, channels, pixels, strides, *modes)
    return "cuTensorMapEncodeIm2col", kind, len(sizes), windows
