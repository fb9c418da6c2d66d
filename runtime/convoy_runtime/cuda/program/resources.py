# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The plan store of a program, and its driver and cuDNN objects, which are destroyed with the stack
that they are created on."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convoy_runtime._native import MEMBER
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.driver.device import Device, Driver
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.store import PlanStore, Scope
from convoy_runtime.errors import CudaError
from convoy_runtime.manifest import Manifest
from convoy_runtime.timings import part

if TYPE_CHECKING:
    from convoy_runtime.cuda.plans.build_pool import BuildPool

__all__ = [
    "build_pool",
    "call_quietly",
    "create_stream",
    "open_cudnn_handle",
    "open_store",
]

# CUstream_flags.
_STREAM_NON_BLOCKING = 1


def create_stream(driver: Driver, stack: contextlib.ExitStack) -> int:
    """Returns the handle of a new stream."""
    stream = int(driver.call("cuStreamCreate", _STREAM_NON_BLOCKING))
    stack.callback(call_quietly, driver, "cuStreamDestroy", stream)
    return stream


@part("cuDNN handle")
def open_cudnn_handle(
    manifest: Manifest, stream: int, stack: contextlib.ExitStack
) -> tuple[Cudnn | None, int | None]:
    """Returns cuDNN and a handle that works on `stream`; None for both if the program has no
    graphs. Raises DeviceError, CudnnError."""
    if not manifest.calls or manifest.cudnn is None:
        return None, None
    cudnn = open_cudnn(manifest.cudnn.minimum)
    pointer = ctypes.c_void_p()
    cudnn.call("cudnnCreate", ctypes.byref(pointer))
    handle = pointer.value or 0
    stack.callback(cudnn.library.cudnnDestroy, handle)
    cudnn.call("cudnnSetStream", handle, stream)
    return cudnn, handle


@contextlib.contextmanager
def build_pool(
    artifact: Artifact, device: Device, cudnn: Cudnn, tune: str
) -> Iterator[BuildPool | None]:
    """Yields the processes that build plans for tuning at the level `tune`; None if it is off."""
    if tune == "off":
        yield None
        return
    # Imported here, because a load without tuning does not need it.
    from convoy_runtime.cuda.cudnn.device_properties import read_properties
    from convoy_runtime.cuda.plans.build_pool import BuildPool
    from convoy_runtime.cuda.tuning.levels import TUNE_LEVELS

    cores = max(1, int(TUNE_LEVELS[tune].pool * len(os.sched_getaffinity(0))))
    pool = BuildPool(
        bytes(artifact.members[MEMBER]),
        cudnn.path,
        properties=read_properties(cudnn, device.index),
        device=device.index,
        processes=cores,
    )
    try:
        yield pool
    finally:
        pool.close()


def open_store(artifact: Artifact, device: Device, options: LoadOptions) -> PlanStore | None:
    """Returns the plan store for this GPU, driver and cuDNN, with the plans of the artifact and the
    cache folder; None if the program has no graphs."""
    place, manifest = options.plan_cache, artifact.manifest
    if not manifest.calls or manifest.cudnn is None:
        return None
    folder = (
        None if place is False else PlanStore.default_folder() if place is True else Path(place)
    )
    cudnn = open_cudnn(manifest.cudnn.minimum)
    return PlanStore(
        folder,
        Scope(device.name, cudnn.version, device.driver.call("cuDriverGetVersion")),
        artifact.members,
        fresh=options.ignores_stored_plans,
    )


def call_quietly(driver: Driver, name: str, argument: Any) -> None:
    """Calls the driver for clean-up. Ignores errors of earlier work on the device, so that they do
    not hide the first one."""
    with contextlib.suppress(CudaError):
        driver.call(name, argument)
