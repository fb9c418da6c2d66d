# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints cuDNN's description of a GPU, for planning on machines without it.

    python -m convoy_runtime.cuda.cudnn.device_properties [N] > NAME-cudnnVERSION.json

`convoy compile --plan-for NAME-cudnnVERSION.json` accepts the file on any machine with the same
cuDNN.
"""

from __future__ import annotations

import sys

from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.errors import ConvoyRuntimeError

from .enums import Attribute, Descriptor, Type
from .library import Cudnn
from .loading import open_cudnn

__all__ = ["main", "read_properties"]


def read_properties(cudnn: Cudnn, index: int) -> str:
    """Returns the JSON of GPU `index` (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION). Raises
    CudnnError."""
    descriptor = cudnn.create(Descriptor.DEVICEPROP)
    try:
        descriptor.set(Attribute.DEVICEPROP_DEVICE_ID, Type.INT32, [index]).finalize()
        return descriptor.get_text(Attribute.DEVICEPROP_JSON_REPRESENTATION)
    finally:
        descriptor.close()


def main(index: str = "0") -> None:
    """Prints the properties of GPU `index`. Raises DeviceError."""
    # The device is opened first: the driver's errors distinguish a missing driver from a missing
    # GPU, and cuDNN's do not.
    device = Device(open_driver(), int(index))
    with device.current():
        print(read_properties(open_cudnn(), device.index))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (ConvoyRuntimeError, ValueError) as error:
        sys.exit(str(error))
