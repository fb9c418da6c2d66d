# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programmatic dependent launch of the artifact's kernels.

Between two dependent kernels of a CUDA graph the GPU is idle for about a microsecond. With the
launch attribute PROGRAMMATIC_STREAM_SERIALIZATION, the blocks of a kernel are launched once all
blocks of the previous kernel have exited, and `griddepcontrol.wait` (PTX ISA) blocks until the
previous kernel has completed and its writes are visible.

Artifacts have PTX for older GPUs as well, which lack the instruction. Therefore it is inserted when
the PTX is loaded, as the first instruction of each kernel. No thread accesses memory before it, and
none exits without it, so that a kernel completes after all kernels before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Final

from .device import Device, Driver

__all__ = ["has_dependent_launch", "launch_dependent", "wait_first"]

#: The compute capability and the version of PTX that introduced `griddepcontrol`.
_CAPABILITY: Final = 90
_PTX_VERSION: Final = (7, 8)

_VERSION: Final = re.compile(rb"^\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_TARGET: Final = re.compile(rb"^\.target\s+sm_(\d+)", re.MULTILINE)
#: A kernel up to the start of its body. Its parameters and directives have no braces.
_KERNEL: Final = re.compile(rb"^[^\n/]*\.entry\b[^{]*\{", re.MULTILINE)


def has_dependent_launch(device: Device) -> bool:
    """Returns whether a GPU supports programmatic dependent launch."""
    return device.capability >= _CAPABILITY


def wait_first(text: bytes) -> bytes:
    """Returns PTX, for sm_90 or newer, whose kernels first wait for the previous kernel.

    Args:
        text: PTX for any architecture.
    """
    text = _VERSION.sub(_version, text, count=1)
    text = _TARGET.sub(_target, text, count=1)
    return _KERNEL.sub(rb"\g<0>\n\tgriddepcontrol.wait;", text)


def _version(match: re.Match[bytes]) -> bytes:
    return b".version %d.%d" % max((int(match[1]), int(match[2])), _PTX_VERSION)


def _target(match: re.Match[bytes]) -> bytes:
    return b".target sm_%d" % max(int(match[1]), _CAPABILITY)


def launch_dependent(
    driver: Driver,
    function: Any,
    grid: Sequence[int],
    block: Sequence[int],
    shared_bytes: int,
    stream: int,
    arguments: int,
) -> None:
    """Enqueues a kernel that waits first (`wait_first`).

    Args:
        driver: The CUDA driver.
        function: The CUfunction.
        grid: The number of blocks in each dimension.
        block: The number of threads of a block in each dimension.
        shared_bytes: The dynamic shared memory in bytes.
        stream: The handle of the stream.
        arguments: The host address of the addresses of the kernel's arguments.

    Raises:
        CudaError: The driver rejects the launch.
    """
    module = driver.module
    config = module.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes, config.hStream = shared_bytes, module.CUstream(stream)
    config.attrs, config.numAttrs = [_serialization(module)], 1
    driver.call("cuLaunchKernelEx", config, function, arguments, 0)


@cache
def _serialization(module: ModuleType) -> Any:
    attribute = module.CUlaunchAttribute()
    attribute.id = module.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    return attribute
