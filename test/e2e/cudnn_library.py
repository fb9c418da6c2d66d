"""The real libcudnn on a machine with no GPU: enough of it to finalize operation graphs."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

from convoy_runtime import _abi
from convoy_runtime._native import load_native
from convoy_runtime.manifest import Graph

__all__ = ["finalize_graph", "load_cudnn"]


def load_cudnn() -> ctypes.CDLL:
    """libcudnn_graph of the nvidia-cudnn wheel."""
    spec = importlib.util.find_spec("nvidia.cudnn")
    assert spec is not None and spec.submodule_search_locations, "the tests need the nvidia-cudnn-cu13 wheel: make test installs it"
    folder = Path(next(iter(spec.submodule_search_locations))) / "lib"
    return ctypes.CDLL(str(folder / "libcudnn.so.9"))


def finalize_graph(cudnn: ctypes.CDLL, native: bytes, graph: Graph) -> None:
    """Runs the graph's build function against the real library with no handle; fails with cuDNN's own text."""
    failures: list[str] = []

    @_abi.CUDNN_REPORT
    def report(status: int, call: bytes, location: bytes) -> None:
        text = ctypes.create_string_buffer(4096)
        cudnn.cudnnGetLastErrorString(text, ctypes.c_size_t(len(text)))
        failures.append(f"{graph.name}: {call.decode()} at {location.decode()}: status {status}: {text.value.decode(errors='replace')}")

    table = _abi.cudnn_table(cudnn, report)
    result = ctypes.c_void_p()
    status = load_native(native).builder(graph.symbol)(ctypes.byref(table), None, ctypes.byref(result))
    assert status == 0, failures
    assert result.value
    assert cudnn.cudnnBackendDestroyDescriptor(result) == 0
