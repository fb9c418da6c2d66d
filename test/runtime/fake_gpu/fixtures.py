"""Fixtures of the cases, as a pytest plugin: artifacts for the driver of libcuda.c and the cuDNN of
libcudnn.c, and access to device memory."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_fixtures import SCALED_RELU, affine_manifest

import convoy_runtime
from convoy.artifact import HostTensor, write_artifact
from convoy_runtime._native import load_native
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.cuda.driver.device import open_driver
from convoy_runtime.cuda.driver.memory import Allocation, DeviceArray
from convoy_runtime.cuda.plans.fingerprint import fingerprint
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.errors import CudaError
from convoy_runtime.manifest import (
    Call,
    Cudnn,
    Graph,
    GraphTensor,
    Manifest,
    Products,
    Step,
    TensorSpec,
)
from convoy_runtime.opening import open_artifact

PTX = b"// kernels\n.visible .entry scaled_relu(\n.visible .entry trap(\n"
SPEC = TensorSpec("x", (2, 3), "float32")
W = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
X = np.array([[1, 2, 3], [-4, 5, 6]], np.float32)
FAKE = ctypes.CDLL("libcuda.so.1")


def reference(x: np.ndarray, w: np.ndarray = W) -> np.ndarray:
    return np.maximum(x * (w * 2), 0)


@pytest.fixture
def artifact(tmp_path: Path, compile_c: Callable[..., bytes]) -> Callable[..., Path]:
    """Writes the artifact of program.c, compiled with the given flags."""

    def write(
        *flags: str,
        ptx: bytes = PTX,
        kernel: str = "scaled_relu",
        weights: bool = True,
        arena: int = 24,
        offsets: tuple[int, ...] = (),
        spec: TensorSpec = SPEC,
    ) -> Path:
        manifest = affine_manifest(
            target="cuda",
            inputs=(spec,),
            outputs=(replace(spec, name="y"),),
            weights=(TensorSpec("w", (2, 3), "float32"),),
            prepared=(TensorSpec("w2", (2, 3), "float32"),),
            arena_bytes=arena,
            output_offsets=offsets,
            kernels=(replace(SCALED_RELU, name=kernel),),
            cudnn=Cudnn(91900, 90000, "float32"),
        )
        members = {
            "native.so": compile_c("fake_gpu/program.c", f"-DARENA={arena}", *flags),
            "kernels.ptx": ptx,
        }
        write_artifact(
            tmp_path / "model",
            manifest,
            members,
            {"w2": HostTensor("float32", W * 2)} if weights else None,
        )
        return tmp_path / "model"

    return write


@pytest.fixture
def program(artifact: Callable[..., Path]) -> Iterator[CudaProgram]:
    with convoy_runtime.load(artifact(), poison=True) as loaded:
        assert isinstance(loaded, CudaProgram)
        yield loaded


def upload(program: CudaProgram, array: np.ndarray) -> DeviceArray:
    allocation = Allocation(program._device, array.nbytes)
    with program._device.current():
        program._driver.call("cuMemcpyHtoD", allocation.pointer, array.ctypes.data, array.nbytes)
    return DeviceArray(
        TensorSpec("", array.shape, array.dtype.name),
        allocation.pointer,
        0,
        allocation,
        lambda _: None,
    )


def peek(array: Any) -> np.ndarray:
    """The current contents of the fake device's memory, which is host memory."""
    return (
        np.ctypeslib.as_array((ctypes.c_float * 6).from_address(array.pointer)).reshape(2, 3).copy()
    )


#: The functions of the driver that native code of a program calls.
_NATIVE = {
    "cuStreamIsCapturing", "cuMemsetD8Async", "cuMemsetD2D8Async", "cuMemcpyAsync",
    "cuMemcpy2DAsync", "cuGraphLaunch", "cuEventRecord", "cuGraphExecKernelNodeSetParams",
    "cuGraphNodeSetEnabled",
}  # fmt: skip
_OBSERVER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
_observers: list[Any] = []


class _Hooked:
    """The functions of the driver, each of which is called by a hook; those that native code calls
    are observed."""

    def __init__(self, module: Any, hook: Callable[..., Any]) -> None:
        self._module, self._hook = module, hook

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if not name.startswith("cu") or name in _NATIVE:
            return found
        return partial(self._hook, name, found)


def hook_driver(monkeypatch: pytest.MonkeyPatch, hook: Callable[..., Any]) -> None:
    """Calls `hook` instead of the functions of the driver, with the name of the function, the
    function and its arguments. It returns or raises what the function would. For functions that
    native code calls, it has no arguments, and a function that returns no error."""
    driver = open_driver()
    hooked = _Hooked(driver.module, hook)

    def observe(name: bytes) -> int:
        if driver.module is not hooked:
            return 0
        try:
            return int(hook(name.decode(), lambda: (0,))[0])
        except CudaError as error:
            return int(getattr(hooked.CUresult, error.name))

    monkeypatch.setattr(driver, "module", hooked)
    # The driver keeps its address.
    _observers.append(observer := _OBSERVER(observe))
    FAKE.fake_observe(observer)


def stream(program: CudaProgram) -> int:
    with program._device.current():
        return int(program._driver.call("cuStreamCreate", 1))


def wait(program: CudaProgram, handle: int) -> None:
    with program._device.current():
        program._driver.call("cuStreamSynchronize", handle)


#: The tensors of a graph that the fake cuDNN supports: three operands and a result.
TENSORS = tuple(
    GraphTensor(uid, "output" if uid == 4 else "input", (1, 8), (8, 1), "float16")
    for uid in (1, 2, 3, 4)
)


def conv_manifest(**changes: Any) -> Manifest:
    """The manifest of conv.c: one graph, called once; `changes` are fields of the graph."""
    x, w, b = (
        TensorSpec(name, shape, "float16")
        for name, shape in (("x", (1, 64, 56, 56)), ("w", (64, 64, 3, 3)), ("b", (64,)))
    )
    products = Products(2 * 64 * 56 * 56 * 64 * 3 * 3, "float16")
    graph = Graph(
        "conv",
        "conv_build",
        ("convolution", "add", "relu"),
        "model.py:9",
        TENSORS,
        products=products,
    )
    return affine_manifest(
        target="cuda",
        inputs=(x,),
        outputs=(replace(x, name="y"),),
        weights=(w, b),
        prepared=(w, b),
        arena_bytes=0,
        graphs=(replace(graph, **changes),),
        calls=(Call(0, "model.py:12"),),
        cudnn=Cudnn(91900, 90000, "float16"),
    )


def branches_manifest(*, graphs: tuple[Graph, ...], calls: tuple[Call, ...]) -> Manifest:
    """The manifest of branches.c, which makes five calls."""
    x, w, b = (TensorSpec(name, (8,), "float16") for name in ("x", "w", "b"))
    return affine_manifest(
        target="cuda",
        inputs=(x,),
        outputs=(replace(x, name="y"), replace(x, name="z")),
        weights=(w, b),
        prepared=(w, b),
        arena_bytes=1024,
        graphs=graphs,
        calls=calls,
        cudnn=Cudnn(91900, 90000, "float16"),
    )


def zeros(manifest: Manifest) -> dict[str, HostTensor]:
    """The prepared weights of conv.c and branches.c."""
    return {
        spec.name: HostTensor("float16", np.zeros(spec.shape, np.float16))
        for spec in manifest.prepared
    }


def as_compiled(path: Path) -> Path:
    """The artifact with the fields that the compiler writes: the fingerprints of its graphs, and
    its steps, which are the calls of the manifest."""
    opened = open_artifact(path)
    native = load_native(opened.members["native.so"])
    graphs = tuple(
        replace(each, fingerprint=each.symbol and fingerprint(native.builder(each.symbol)))
        for each in opened.manifest.graphs
    )
    steps = tuple(Step("call", place) for place in range(len(opened.manifest.calls)))
    members = {name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS}
    write_artifact(
        path, replace(opened.manifest, graphs=graphs, steps=steps), members, opened.weights()
    )
    return path


@pytest.fixture
def conv(tmp_path: Path, compile_c: Callable[..., bytes]) -> Path:
    """An artifact of conv.c: one graph, called once."""
    manifest = conv_manifest()
    write_artifact(tmp_path / "conv", manifest, {"native.so": compile_c("conv.c")}, zeros(manifest))
    return tmp_path / "conv"


@pytest.fixture
def fake_cudnn(monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    """The cuDNN of libcudnn.c, which test_cuda.py puts next to the driver."""
    (path,) = (
        Path(folder) / "libcudnn.so.9" for folder in os.environ["LD_LIBRARY_PATH"].split(":")
    )
    monkeypatch.setenv("CONVOY_CUDNN", str(path))
    return ctypes.CDLL(str(path))
