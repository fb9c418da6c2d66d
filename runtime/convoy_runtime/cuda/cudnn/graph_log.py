# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finalizes a graph, so that cuDNN logs it. No GPU is needed.

    CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGINFO_DBG=1 CUDNN_LOGDEST_DBG=FILE \\
        python -m convoy_runtime.cuda.cudnn.graph_log LIBRARY SYMBOL

cuDNN reads these variables once, when it is loaded. A process that has loaded cuDNN therefore needs
another process for this.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime._native import load_native
from convoy_runtime.errors import ConvoyRuntimeError

from .loading import open_cudnn

__all__ = ["main"]


def main(library: str, symbol: str) -> None:
    """Builds and destroys the graph of the build function `symbol` in the native library `library`.
    Raises DeviceError, CudnnError."""
    cudnn = open_cudnn()
    errors: list[ConvoyRuntimeError] = []

    def report(status: int, call: bytes, location: bytes) -> None:
        errors.append(
            cudnn.error(status, call.decode(errors="replace"), location.decode(errors="replace"))
        )

    callback = ConvoyCudnn.REPORT(report)
    graph = ctypes.c_void_p()
    status = load_native(Path(library).read_bytes(), path=library).builder(symbol)(
        ctypes.byref(cudnn.table(callback)), None, ctypes.byref(graph)
    )
    if status:
        raise errors[0] if errors else cudnn.error(status, symbol)
    cudnn.call("cudnnBackendDestroyDescriptor", graph)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ConvoyRuntimeError as error:
        sys.exit(str(error))
