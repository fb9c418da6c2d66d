"""The use cases 9.3.1 to 9.3.3 of cuDNN's reference on a GPU: functions of `cudnn_backend` build
the graph of a grouped convolution, choose an engine, build the plan and execute it. The result is
compared with the definition in float64.

`python test/gpu/test_use_cases.py FOLDER` compiles the functions and stores the tensors, and pytest
reads FOLDER from the environment variable CONVOY_USE_CASES; that side needs no compiler.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from ctypes import byref, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_kernels import compare, gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
CALLS = ROOT / "test/passes/cudnn_to_backend"
LIBRARY, TENSORS = "use-cases.so", "use-cases.npz"
#: [n, g, c, d, h, w], [g, k, c, t, r, s] and [n, g, k, o, p, q] of the IR.
SHAPES = (2, 3, 4, 5, 6, 7), (3, 8, 4, 2, 3, 4), (2, 3, 8, 4, 4, 4)
#: The factors of the convolution and of the previous contents of y.
ALPHA, BETA = 1.0, 0.5
#: Products of float32 may be rounded to TF32.
TOLERANCE = 5e-3


def convolved(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """alpha * conv(x, w) + beta * y in float64. CUDNN_CONVOLUTION flips the window."""
    windows = np.lib.stride_tricks.sliding_window_view(
        x.astype(np.float64), w.shape[3:], axis=(3, 4, 5)
    )
    flipped = w[..., ::-1, ::-1, ::-1].astype(np.float64)
    return ALPHA * np.einsum("ngcopqtrs,gkctrs->ngkopq", windows, flipped) + BETA * y


def write(folder: Path) -> None:
    """Compiles the functions, and stores x, w, y and the expected result."""
    from native_library import compile_calls

    folder.mkdir(parents=True, exist_ok=True)
    compile_calls((CALLS / "Inputs/use-cases.mlir").read_text(), folder / LIBRARY)
    rng = np.random.default_rng(0)
    x, w, y = (rng.standard_normal(shape).astype(np.float32) for shape in SHAPES)
    np.savez(folder / TENSORS, x=x, w=w, y=y, expected=convolved(x, w, y))


class Calls:
    """The functions of the IR, with the installed cuDNN and a handle for the GPU."""

    def __init__(self, path: Path) -> None:
        from convoy_runtime._abi import ConvoyCudnn
        from convoy_runtime.cuda.cudnn.loading import open_cudnn

        self.library = ctypes.CDLL(str(path))
        self.cudnn = open_cudnn()
        self.cudnn.require_cublaslt()
        self.failures: list[str] = []
        self.made: list[c_void_p] = []
        self._report = ConvoyCudnn.REPORT(self._failed)
        self._table = self.cudnn.table(self._report)
        self.handle = c_void_p()
        self.cudnn.call("cudnnCreate", byref(self.handle))

    def _failed(self, status: int, call: bytes, location: bytes) -> None:
        self.failures.append(str(self.cudnn.error(status, call.decode(), location.decode())))

    def __call__(self, name: str, arguments: list[Any], results: list[Any]) -> None:
        """Calls a function; the descriptors that it returns are destroyed at the end."""
        function = getattr(self.library, name)
        function.restype = c_int32
        status = function(
            byref(self._table),
            self.handle,
            *(c_void_p(getattr(each, "value", each)) for each in arguments),
            *map(byref, results),
        )
        assert status == 0, (name, self.failures)
        self.made += [each for each in results if isinstance(each, c_void_p)]

    def close(self) -> None:
        for descriptor in reversed(self.made):
            self.cudnn.call("cudnnBackendDestroyDescriptor", descriptor)
        self.cudnn.call("cudnnDestroy", self.handle)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("CONVOY_USE_CASES")
    if given:
        return Path(given)
    sys.path.insert(0, str(CALLS))
    made = tmp_path_factory.mktemp("use-cases")
    write(made)
    return made


@pytest.fixture
def calls(gpu: None, folder: Path) -> Iterator[Calls]:  # noqa: F811
    from convoy_runtime.cuda.driver.device import Device, open_driver

    with Device(open_driver(), 0).current():
        made = Calls(folder / LIBRARY)
        yield made
        made.close()


def run(calls: Calls, folder: Path, graph_name: str, configuration: str) -> np.ndarray:
    """Runs the four functions, and returns y."""
    from convoy_runtime.cuda.driver.device import Device, open_driver
    from convoy_runtime.cuda.driver.memory import Allocation

    driver = open_driver()
    device = Device(driver, 0)
    graph, engine_configuration, plan = c_void_p(), c_void_p(), c_void_p()
    count, workspace = c_int64(-1), c_int64(-1)
    calls(graph_name, [], [graph])
    if configuration == "heuristic_configuration":
        calls(configuration, [graph], [engine_configuration, count])
        assert count.value >= 1
    else:
        calls(configuration, [graph], [engine_configuration])
    calls("execution_plan", [engine_configuration], [plan, workspace])
    assert workspace.value >= 0

    stored = np.load(folder / TENSORS)
    tensors = [np.ascontiguousarray(stored[name]) for name in ("x", "w", "y")]
    memory = [Allocation(device, each.nbytes) for each in tensors]
    scratch = Allocation(device, max(workspace.value, 1))
    for allocation, array in zip(memory, tensors, strict=True):
        driver.call("cuMemcpyHtoD", allocation.pointer, array.ctypes.data, array.nbytes)
    pointers = [allocation.pointer for allocation in memory]
    calls("execution", [plan, *pointers, scratch.pointer], [])
    # The kernel and the copy are on the default stream, in this order.
    result = np.full(SHAPES[2], np.nan, np.float32)
    driver.call("cuMemcpyDtoHAsync", result.ctypes.data, pointers[2], result.nbytes, 0)
    driver.call("cuStreamSynchronize", 0)
    return result


@pytest.mark.skipif(
    "CONVOY_USE_CASES" not in os.environ and not (ROOT / "build/bin/convoy-opt").exists(),
    reason="CONVOY_USE_CASES names no folder of compiled functions",
)
@pytest.mark.parametrize("configuration", ["engine_configuration", "heuristic_configuration"])
@pytest.mark.parametrize("graph", ["grouped_convolution", "grouped_convolution_of_five_dims"])
def test_use_cases(calls: Calls, folder: Path, graph: str, configuration: str) -> None:
    compare(
        run(calls, folder, graph, configuration), np.load(folder / TENSORS)["expected"], TOLERANCE
    )


def test_reference_has_the_window_flipped() -> None:
    """The expected result is the sum over the window, written out for one element."""
    rng = np.random.default_rng(1)
    x, w, y = (rng.standard_normal(shape).astype(np.float32) for shape in SHAPES)
    n, g, k, o, p, q = 1, 2, 5, 3, 2, 1
    total = sum(
        float(x[n, g, c, o + 1 - t, p + 2 - r, q + 3 - s]) * float(w[g, k, c, t, r, s])
        for c in range(4)
        for t in range(2)
        for r in range(3)
        for s in range(4)
    )
    expected = ALPHA * total + BETA * float(y[n, g, k, o, p, q])
    assert abs(convolved(x, w, y)[n, g, k, o, p, q] - expected) < 1e-9


if __name__ == "__main__":
    sys.path.insert(0, str(CALLS))
    write(Path(sys.argv[1]))
