# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Descriptions of GPUs, for planning on machines without them.

`devices/` holds one file per GPU and cuDNN version, e.g. h200-cudnn9.19.json: the value of
CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION as that cuDNN read it from the GPU. The format belongs to
cuDNN and changes between versions.
"""

from __future__ import annotations

import re
from pathlib import Path

from convoy_runtime.errors import CudnnError, DeviceError

from .enums import Attribute, Descriptor, Type
from .library import BackendDescriptor, Cudnn, version_text

__all__ = ["device_file", "device_of", "device_properties"]

_FOLDER = Path(__file__).parent / "devices"
_FILE = re.compile(r"(.+)-cudnn(\d+)\.(\d+)\.json")


def device_file(device: str, version: int) -> Path:
    """Returns the file of a GPU's properties.

    Args:
        device: A file, or the name of a file in `devices/`, e.g. h200.
        version: The version of cuDNN, e.g. 91900. If there is no file for it, the newest older
            version is used, else any version.

    Raises:
        DeviceError: There is no such file.
    """
    if (path := Path(device)).is_file():
        return path
    matches = [(match, file) for file in _FOLDER.iterdir() if (match := _FILE.fullmatch(file.name))]
    made = {
        file: int(match[2]) * 10000 + int(match[3]) * 100
        for match, file in matches
        if match[1] == device
    }
    if not made:
        known = ", ".join(sorted({match[1] for match, _ in matches}))
        raise DeviceError(problem=f"device properties: expected {known} or a file, got {device}")
    return max(made, key=lambda file: (made[file] <= version, made[file]))


def device_properties(cudnn: Cudnn, path: Path) -> BackendDescriptor:
    """Returns the descriptor of the GPU that a file describes. Raises DeviceError if this cuDNN
    does not accept the file."""
    try:
        text = path.read_text()
    except OSError as error:
        raise DeviceError(
            problem=f"device properties: {path} cannot be read: {error.strerror}"
        ) from error
    try:
        return device_of(cudnn, text)
    except CudnnError as error:
        problem = f"device properties: cuDNN {version_text(cudnn.version)} rejects {path}: {error}"
        hint = (
            "the format of this file changes between versions: use the cuDNN version that read "
            "it from the GPU"
        )
        raise DeviceError(problem=problem, hint=hint) from error


def device_of(cudnn: Cudnn, text: str) -> BackendDescriptor:
    """Returns the descriptor of the GPU that JSON describes. Raises CudnnError if this cuDNN does
    not accept the JSON."""
    descriptor = cudnn.create(Descriptor.DEVICEPROP)
    try:
        return descriptor.set(
            Attribute.DEVICEPROP_JSON_REPRESENTATION, Type.CHAR, text.strip().encode() + b"\0"
        ).finalize()
    except CudnnError:
        descriptor.close()
        raise
