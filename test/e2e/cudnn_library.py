"""Finalizes operation graphs with the real libcudnn on a machine without a GPU."""

from __future__ import annotations

import ctypes

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime._native import load_native
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.manifest import Graph

__all__ = ["finalize_graph"]


def finalize_graph(cudnn: Cudnn, native: bytes, graph: Graph) -> None:
    """Runs the graph's build function, if it has one, on the real library without a handle; fails
    with cuDNN's own message."""
    if graph.symbol is None:
        return
    failures: list[str] = []

    def report(status: int, call: bytes, location: bytes) -> None:
        failures.append(
            str(cudnn.error(status, f"{graph.name}: {call.decode()}", location.decode()))
        )

    callback = ConvoyCudnn.REPORT(report)
    table = cudnn.table(callback)
    result = ctypes.c_void_p()
    status = load_native(native).builder(graph.symbol)(
        ctypes.byref(table), None, ctypes.byref(result)
    )
    assert status == 0, failures
    cudnn.call("cudnnBackendDestroyDescriptor", result)
