"""The real libcudnn finalizes what the builders create, without a GPU and without a handle: every
kind of graph, every dtype."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest
from cudnn_graphs import all_graphs

from convoy_runtime._abi import BUILD_GRAPH, ConvoyCudnn
from convoy_runtime.cuda.cudnn.library import Cudnn

FLAGS = ("--convert-cudnn-graphs-to-backend=minimum-version=91900",)
ALL = all_graphs()


@pytest.fixture(scope="session")
def library(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    """One library with every graph."""
    text = "".join(body.replace(f'@"{name}"(', f'@"{key}"(') for key, (name, body) in ALL.items())
    return build_library(text, *FLAGS)


@pytest.mark.parametrize("key", ALL)
def test_cudnn_finalizes(cudnn: Cudnn, library: ctypes.CDLL, key: str) -> None:
    failures: list[str] = []

    @ConvoyCudnn.REPORT
    def report(status: int, call: bytes, location: bytes) -> None:
        failures.append(str(cudnn.error(status, call.decode(), location.decode())))

    table = cudnn.table(report)
    result = ctypes.c_void_p()
    status = BUILD_GRAPH((f"{key}_build", library))(ctypes.byref(table), None, ctypes.byref(result))
    assert status == 0, failures
    assert failures == []
    # The operations of the graph are destroyed, and the graph still has them.
    count, written = ctypes.c_int64(), ctypes.c_int64()
    engine_global_count, int64 = 802, 3
    cudnn.call(
        "cudnnBackendGetAttribute",
        result,
        engine_global_count,
        int64,
        1,
        ctypes.byref(written),
        ctypes.byref(count),
    )
    assert count.value > 0
    cudnn.call("cudnnBackendDestroyDescriptor", result)


def test_refusal_is_reported(cudnn: Cudnn, build_library: Callable[..., ctypes.CDLL]) -> None:
    """An error of cuDNN is returned as its status, its call and the source line; no graph is
    returned."""
    text = """
cudnn_backend.func @bad_build(%handle) {
  %t = cudnn_backend.create <tensor>
  cudnn_backend.set %t, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %t, <tensor_dimensions>, [1, 2, 0] : <tensor>
  cudnn_backend.set %t, <tensor_strides>, [2, 1, 1] : <tensor>
  cudnn_backend.set %t, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %t, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %t : <tensor>
  %matmul = cudnn_backend.create <matmul>
  cudnn_backend.set %matmul, <matmul_comp_type>, float : <matmul>
  cudnn_backend.finalize %matmul : <matmul>
  %op = cudnn_backend.create <operation_matmul>
  cudnn_backend.set %op, <operation_matmul_desc>, %matmul : <operation_matmul>, !cudnn_backend.descriptor<matmul>
  cudnn_backend.set %op, <operation_matmul_adesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_matmul_bdesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_matmul_cdesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.finalize %op : <operation_matmul>
  %graph = cudnn_backend.create <operationgraph>
  cudnn_backend.set %graph, <operationgraph_ops>, %op : <operationgraph>, !cudnn_backend.descriptor<operation_matmul>
  cudnn_backend.finalize %graph : <operationgraph>
  cudnn_backend.destroy %op : <operation_matmul>
  cudnn_backend.destroy %matmul : <matmul>
  cudnn_backend.destroy %t : <tensor>
  cudnn_backend.return %graph : <operationgraph>
}"""
    reports: list[tuple[int, str, str]] = []
    report = ConvoyCudnn.REPORT(
        lambda status, call, location: reports.append((status, call.decode(), location.decode()))
    )
    table = cudnn.table(report)
    result = ctypes.c_void_p(1)
    status = BUILD_GRAPH(("bad_build", build_library(text)))(
        ctypes.byref(table), None, ctypes.byref(result)
    )
    assert 2000 <= status < 3000, "CUDNN_STATUS_BAD_PARAM and its kinds"
    assert result.value is None
    ((reported, call, location),) = reports
    assert reported == status
    assert call.startswith("cudnnBackend")
    assert location.startswith("<stdin>:")
