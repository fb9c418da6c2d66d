"""The executor on the driver of libcuda.c. test_cuda.py runs this file in a process of its own, where that driver is the only one."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import re
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from runtime_fixtures import SCALED_RELU, affine_manifest

import convoy_runtime
from convoy.artifact import HostTensor, write_artifact
from convoy.cli.main import main as convoy
from convoy_runtime import (
    ArgumentError,
    ArtifactError,
    ConvoyRuntimeError,
    CudaError,
    CudnnError,
    DeviceError,
    ExecutionError,
    PlanError,
    WeightsError,
)
from convoy_runtime.__main__ import main
from convoy_runtime._native import load_native
from convoy_runtime.arrays import view
from convoy_runtime.artifact import WEIGHTS, open_artifact
from convoy_runtime.cuda import forms, memory
from convoy_runtime.cuda.capture import Stopwatch
from convoy_runtime.cuda.device_properties import main as describe
from convoy_runtime.cuda.executor import CudaProgram
from convoy_runtime.cuda.memory import Allocation, DeviceArray
from convoy_runtime.cuda.options import PlanOptions
from convoy_runtime.cuda.streams import Order
from convoy_runtime.inspection import offline_planner
from convoy_runtime.manifest import Call, Cudnn, Graph, GraphTensor, TensorSpec
from convoy_runtime.profile import Timing

PTX = b"// kernels\n.visible .entry scaled_relu(\n.visible .entry trap(\n"
SPEC = TensorSpec("x", (2, 3), "float32")
W = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
X = np.array([[1, 2, 3], [-4, 5, 6]], np.float32)
FAKE = ctypes.CDLL("libcuda.so.1")


def reference(x: np.ndarray, w: np.ndarray = W) -> np.ndarray:
    return np.maximum(x * (w * 2), 0)


@pytest.fixture
def artifact(tmp_path: Path, compile_c: Callable[..., bytes]) -> Callable[..., Path]:
    """Writes the artifact of program.c, compiled with the flags given."""

    def write(*flags: str, ptx: bytes = PTX, kernel: str = "scaled_relu", weights: bool = True, arena: int = 24) -> Path:
        manifest = affine_manifest(
            target="cuda",
            inputs=(SPEC,),
            outputs=(TensorSpec("y", (2, 3), "float32"),),
            weights=(TensorSpec("w", (2, 3), "float32"),),
            prepared=(TensorSpec("w2", (2, 3), "float32"),),
            arena_bytes=arena,
            kernels=(replace(SCALED_RELU, name=kernel),),
            cudnn=Cudnn(91900, 90000, "float32"),
        )
        members = {"native.so": compile_c("fake_gpu/program.c", *flags), "kernels.ptx": ptx}
        write_artifact(tmp_path / "model", manifest, members, {"w2": HostTensor("float32", W * 2)} if weights else None)
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
    return DeviceArray(TensorSpec("", array.shape, array.dtype.name), allocation.pointer, 0, allocation, lambda _: None)


def peek(array: Any) -> np.ndarray:
    """What is in the fake device's memory now, which is host memory."""
    return np.ctypeslib.as_array((ctypes.c_float * 6).from_address(array.pointer)).reshape(2, 3).copy()


def stream(program: CudaProgram) -> int:
    with program._device.current():
        return int(program._driver.call("cuStreamCreate", 1))


def wait(program: CudaProgram, handle: int) -> None:
    with program._device.current():
        program._driver.call("cuStreamSynchronize", handle)


def test_host_arrays(program: CudaProgram) -> None:
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    np.testing.assert_array_equal(program.run_numpy(np.asfortranarray(-X))[0], reference(-X))
    assert program.device == "cuda:0 (Fake GPU 0)"
    assert program.plans == ()


def test_the_parts_of_a_load(program: CudaProgram) -> None:
    assert list(program.timings) == [
        "rest", "opening", "hashing", "native library", "imports", "driver", "context", "cuDNN handle", "kernels", "first run", "capture",
        "weights", "upload",
    ]  # fmt: skip


def test_one_graph_is_launched_a_call(program: CudaProgram) -> None:
    before = FAKE.fake_launches()
    program.run_numpy(X)
    program.run_numpy(X)
    assert FAKE.fake_launches() == before + 2


def test_results_are_enqueued_fresh_and_in_order(program: CudaProgram) -> None:
    x, double = upload(program, X), upload(program, X * 2)
    first, second = program(x), program(double)
    assert isinstance(first, DeviceArray)
    assert not np.array_equal(peek(first), reference(X))
    program.synchronize()
    np.testing.assert_array_equal(peek(first), reference(X))
    np.testing.assert_array_equal(peek(second), reference(X * 2))


def test_streams_follow_one_another(program: CudaProgram) -> None:
    one, other = stream(program), stream(program)
    x, double = upload(program, X), upload(program, X * 2)
    first, second = program(x, stream=one), program(double, stream=other)
    assert not np.array_equal(peek(first), reference(X))
    wait(program, other)
    np.testing.assert_array_equal(peek(second), reference(X * 2))
    # Only `other` was waited for, and it had to wait for `one`.
    np.testing.assert_array_equal(peek(first), reference(X))


def test_memory_of_results_comes_back_to_its_stream(program: CudaProgram) -> None:
    x = upload(program, X)
    result = program(x)
    address = result.pointer
    del result
    gc.collect()
    assert program(x, stream=stream(program)).pointer != address
    assert program(x).pointer == address


def test_run_into(program: CudaProgram) -> None:
    x, target = upload(program, X), upload(program, np.zeros((2, 3), np.float32))
    program.run_into([target], [x])
    program.synchronize()
    np.testing.assert_array_equal(peek(target), reference(X))
    with pytest.raises(ArgumentError, match="outputs: wrong number: expected 1"):
        program.run_into([], [upload(program, X)])


def test_static_buffers(program: CudaProgram) -> None:
    (x,), (y,) = program.static_inputs, program.static_outputs
    peeked = np.ctypeslib.as_array((ctypes.c_float * 6).from_address(x.pointer))
    peeked[:] = X.reshape(-1)
    handle = stream(program)
    program.replay(handle)
    wait(program, handle)
    np.testing.assert_array_equal(peek(y), reference(X))
    assert repr(y) == "<DeviceArray float32[2, 3] on cuda:0>"


def test_dlpack_of_device_arrays(program: CudaProgram) -> None:
    before = len(memory._exported)
    x = upload(program, X)
    array = program(x)
    # Taking an array with a stream makes that stream wait for the run.
    consumer = stream(program)
    borrowed = view(array, "y", stream=consumer)
    assert (borrowed.shape, borrowed.strides, borrowed.dtype, borrowed.device) == ((2, 3), (3, 1), "float32", (2, 0))
    assert borrowed.pointer == array.pointer
    wait(program, consumer)
    np.testing.assert_array_equal(peek(array), reference(X))
    assert len(memory._exported) == before + 1
    del borrowed
    gc.collect()
    assert len(memory._exported) == before
    # A consumer that takes the capsule renames it and calls the deleter itself.
    capsule = array.__dlpack__()
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    managed = memory._DLManagedTensor.from_address(address(capsule, b"dltensor"))
    used = ctypes.create_string_buffer(b"used_dltensor")
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), used)
    del capsule
    gc.collect()
    assert len(memory._exported) == before + 1
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
    assert len(memory._exported) == before


def test_memory_goes_with_its_last_user(artifact: Callable[..., Path]) -> None:
    gc.collect()
    before = FAKE.fake_allocated()
    program = convoy_runtime.load(artifact())
    assert isinstance(program, CudaProgram)
    result, static = program(upload(program, X)), program.static_outputs
    program.close()
    program.close()
    np.testing.assert_array_equal(peek(result), reference(X))
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program(upload(program, X))
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        _ = program.static_inputs
    gc.collect()
    assert FAKE.fake_allocated() > before
    del static, result
    gc.collect()
    assert FAKE.fake_allocated() == before
    # A program that nobody closed is closed with its last reference.
    program = convoy_runtime.load(artifact())
    assert FAKE.fake_allocated() > before
    del program
    gc.collect()
    assert FAKE.fake_allocated() == before


@pytest.mark.parametrize("packed", [True, False])
def test_torch_in_torch_out(program: CudaProgram, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    torch = types.ModuleType("torch")
    current = stream(program)
    log: list[object] = []

    class Tensor:
        def __init__(self, array: DeviceArray, *, packed: bool = True) -> None:
            self.array, self.packed = array, packed

        def data_ptr(self) -> int:
            return self.array.pointer

        def contiguous(self) -> Tensor:
            log.append("contiguous")
            return Tensor(self.array)

        def record_stream(self, stream: object) -> None:
            log.append(("record", stream))

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, stream: int | None = None) -> object:
            log.append(("dlpack", stream))
            capsule = self.array.__dlpack__()
            if not self.packed:
                memory._exported[list(memory._exported)[-1]][2][:] = (1, 2)
            return capsule

    Tensor.__module__ = "torch"
    torch.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        current_stream=lambda index: types.SimpleNamespace(cuda_stream=current), ExternalStream=lambda handle, device: handle
    )
    torch.float32 = "torch.float32"  # type: ignore[attr-defined]
    torch.empty = lambda shape, dtype, device: Tensor(upload(program, np.zeros(shape, np.float32)))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    x = Tensor(upload(program, X), packed=packed)
    copied = [] if packed else ["contiguous", ("dlpack", -1)]
    y = program(x)
    assert isinstance(y, Tensor)
    # On torch's own stream torch has nothing to wait for.
    assert log == [("dlpack", -1), *copied]
    wait(program, current)
    np.testing.assert_array_equal(peek(y.array), reference(X))
    # On another one torch has to wait, and to keep the memory for it.
    log.clear()
    other = stream(program)
    program(x, stream=other)
    copied = [] if packed else ["contiguous", ("record", other), ("dlpack", other)]
    assert log == [("dlpack", other), *copied, ("record", other)]
    log.clear()
    program(x, stream=0)
    assert log[0] == ("dlpack", 1)


@pytest.fixture
def torch_tensor(program: CudaProgram, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Makes the input X as a tensor of a torch that is a few lines of Python. `asked` are the streams that DLPack was told."""
    torch = types.ModuleType("torch")
    current = types.SimpleNamespace(cuda_stream=stream(program))

    class Tensor:
        shape, dtype, layout, is_cuda, requires_grad = (2, 3), "torch.float32", "strided", True, False
        index, packed, negative = 0, True, False
        asked: ClassVar[list[object]] = []

        def __init__(self, array: DeviceArray) -> None:
            self.array, self.stream = array, current.cuda_stream

        def get_device(self) -> int:
            return self.index

        def is_contiguous(self) -> bool:
            return self.packed

        def is_neg(self) -> bool:
            return self.negative

        def data_ptr(self) -> int:
            return self.array.pointer

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, stream: int | None = None) -> object:
            self.asked.append(stream)
            return self.array.__dlpack__()

        def record_stream(self, stream: object) -> None:
            pass

    Tensor.__module__ = "torch"
    torch.Tensor, torch.strided, torch.float32 = Tensor, "strided", "torch.float32"  # type: ignore[attr-defined]
    output = Tensor(upload(program, np.zeros((2, 3), np.float32)))
    torch.empty = lambda shape, dtype, device: output  # type: ignore[attr-defined]
    torch.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        current_stream=lambda index: current, ExternalStream=lambda handle, device: handle
    )
    monkeypatch.setitem(sys.modules, "torch", torch)

    def make(**changes: Any) -> Any:
        tensor = Tensor(upload(program, X))
        for name, value in changes.items():
            setattr(tensor, name, value)
        return tensor

    return make


@pytest.mark.parametrize(
    ("changes", "plain"),
    [
        ({}, True),
        ({"shape": (3, 2)}, False),
        ({"dtype": "torch.float16"}, False),
        ({"is_cuda": False}, False),
        ({"index": 1}, False),
        ({"packed": False}, False),
        ({"requires_grad": True}, False),
        ({"negative": True}, False),
        ({"layout": "sparse"}, False),
    ],
)
def test_plain_torch_tensors_need_no_dlpack(
    program: CudaProgram, torch_tensor: Callable[..., Any], changes: dict[str, Any], plain: bool
) -> None:
    x = torch_tensor(**changes)
    y = program(x)
    assert x.asked == ([] if plain else [-1])
    wait(program, x.stream)
    np.testing.assert_array_equal(peek(y.array), reference(X))
    # Another stream than torch's has to wait for torch, which DLPack sees to.
    other = stream(program)
    program(x, stream=other)
    assert x.asked[-1] == other


def test_what_a_run_costs_the_host(program: CudaProgram, torch_tensor: Callable[..., Any]) -> None:
    """Microseconds above the launch alone, the best of many short rounds: 4 and 10 on a slow core."""
    x = torch_tensor()
    program._poison = False
    handle, launch, instance = x.stream, program._driver.module.cuGraphLaunch, program._loaded.captured.instance

    def best(run: Callable[[], object]) -> float:
        times = []
        for _ in range(40):
            begin = time.thread_time()
            for _ in range(200):
                run()
            times.append((time.thread_time() - begin) / 200 * 1e6)
            wait(program, handle)
        return min(times)

    with program._device.current():
        alone = best(lambda: launch(instance, handle))
        assert best(lambda: program.replay(handle)) - alone < 10
        assert best(lambda: program(x)) - alone < 25


def test_wrong_arguments(program: CudaProgram) -> None:
    with pytest.raises(ArgumentError, match=r"input 'x': wrong device: expected cuda:0, got cpu; move it there first, or call run_numpy"):
        program(X)
    elsewhere = upload(program, X)
    elsewhere._index = 1
    with pytest.raises(ArgumentError, match=r"input 'x': wrong device: expected cuda:0, got cuda:1"):
        program(elsewhere)
    with pytest.raises(ArgumentError, match=r"input 'x': wrong dtype: expected float32, got int32"):
        program(upload(program, X.astype(np.int32)))
    with pytest.raises(ArgumentError, match=r"input 'x': wrong shape: expected \[2, 3\], got \[3, 2\]"):
        program(upload(program, X.reshape(3, 2)))
    with pytest.raises(ArgumentError, match="inputs: wrong number"):
        program()
    with pytest.raises(ArgumentError, match=r"input 'x': wrong device: expected cpu, got cuda:0"):
        program.run_numpy(upload(program, X))  # type: ignore[arg-type]


def test_a_strided_array_of_an_unknown_library(program: CudaProgram) -> None:
    class Strided(DeviceArray):
        def __dlpack__(self, **_: Any) -> Any:
            capsule = super().__dlpack__()
            memory._exported[list(memory._exported)[-1]][2][:] = (1, 2)
            return capsule

    x = upload(program, X)
    strided = Strided(SPEC, x.pointer, 0, x, lambda _: None)
    with pytest.raises(ArgumentError, match=r"input 'x': is not packed row-major, and its library is not known: got strides \[1, 2\]"):
        program(strided)
    with pytest.raises(ArgumentError, match=r"output 'y': is not packed row-major: got strides \[1, 2\]"):
        program.run_into([strided], [x])


def test_weights(program: CudaProgram, artifact: Callable[..., Path]) -> None:
    pointers = list(program._loaded.prepared)
    x = upload(program, X)
    result = program(x)
    program.load_weights({"w": W * 3})
    # The run that was under way had the old ones; the graph that was captured has the new ones.
    np.testing.assert_array_equal(peek(result), reference(X))
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X, W * 3))
    assert pointers == program._loaded.prepared
    with pytest.raises(WeightsError, match="w: missing"):
        program.load_weights({})
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X, W * 3))
    bare = convoy_runtime.load(artifact(weights=False))
    assert isinstance(bare, CudaProgram)
    with pytest.raises(WeightsError, match="was compiled without weights: call program.load_weights"):
        bare(upload(bare, X))
    with pytest.raises(WeightsError, match="was compiled without weights"):
        bare.replay()
    bare.load_weights({"w": W})
    np.testing.assert_array_equal(bare.run_numpy(X)[0], reference(X))


def test_poison(artifact: Callable[..., Path]) -> None:
    y = convoy_runtime.load(artifact("-DBYTES=20"), poison=True).run_numpy(X)[0]
    assert np.isnan(y[1, 2])
    np.testing.assert_array_equal(y.reshape(-1)[:5], reference(X).reshape(-1)[:5])


def test_much_shared_memory_is_asked_for(artifact: Callable[..., Path]) -> None:
    np.testing.assert_array_equal(convoy_runtime.load(artifact("-DSHARED=200000")).run_numpy(X)[0], reference(X))
    with pytest.raises(CudaError, match="cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE"):
        convoy_runtime.load(artifact("-DSHARED=300000"))


@pytest.mark.parametrize(
    ("flags", "changes", "error", "message"),
    [
        (["-DKERNEL=1"], {}, ArtifactError, "native.so: convoy_main launches kernel 1 of 1"),
        (["-DCALL=0"], {}, ArtifactError, "native.so: convoy_main runs call 0 of 0"),
        (["-DSTATUS=5"], {}, ExecutionError, "convoy_main returned status 5"),
        (["-DBYTES=1000000"], {}, CudaError, r"cuMemcpyDtoDAsync failed: CUDA_ERROR_INVALID_VALUE \(described\)"),
        ([], {"kernel": "trap"}, CudaError, "cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
        ([], {"ptx": b"junk"}, CudaError, r"cuModuleLoadData failed: CUDA_ERROR_INVALID_PTX .*\n  hint: the driver does not take this PTX"),
        ([], {"kernel": "other"}, ArtifactError, r"kernels\.ptx: kernel other of model\.py:3 is not there"),
        ([], {"arena": 1 << 40}, CudaError, r"cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY .*\n  hint: the GPU's memory is full"),
    ],
)
def test_what_goes_wrong_while_loading(
    artifact: Callable[..., Path], flags: list[str], changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    gc.collect()
    before = FAKE.fake_allocated()
    with pytest.raises(error, match=message):
        convoy_runtime.load(artifact(*flags, **changes))
    if changes.get("kernel") == "trap":
        # A real device stays unusable after this, and so does this one.
        ctypes.c_int.in_dll(FAKE, "fake_sticky").value = 0
    gc.collect()
    assert FAKE.fake_allocated() == before


def test_devices(artifact: Callable[..., Path]) -> None:
    with pytest.raises(DeviceError, match="cuda:3: expected a GPU below 1, the number of those visible, got 3"):
        convoy_runtime.load(artifact(), device=3)
    with pytest.raises(DeviceError, match="was compiled for cuda and cannot run on cpu"):
        convoy_runtime.load(artifact(), device="cpu")
    assert convoy_runtime.load(artifact(), device="cuda").device.startswith("cuda:0")  # type: ignore[attr-defined]


def test_the_command(artifact: Callable[..., Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convoy_runtime.__main__._ROUND_SECONDS", 0.001)
    assert main([str(artifact()), "--run", "--bench", "--plans", "--no-tf32", "--device", "cuda:0"]) == 0
    printed = capsys.readouterr().out
    assert "output y: float32[2, 3]" in printed
    assert re.search(r"[\d.]+ us a replay of the CUDA graph, median of 7 rounds of \d+", printed)
    assert re.search(r"\n[\d.]+ us of the host's time for each, until it is enqueued", printed)


@pytest.fixture
def conv(tmp_path: Path, compile_c: Callable[..., bytes]) -> Path:
    """An artifact of conv.c: one graph, called once."""
    x, w, b = (TensorSpec(name, shape, "float16") for name, shape in (("x", (1, 64, 56, 56)), ("w", (64, 64, 3, 3)), ("b", (64,))))
    tensors = tuple(GraphTensor(uid, "output" if uid == 4 else "input", (1, 8), (8, 1), "float16") for uid in (1, 2, 3, 4))
    manifest = affine_manifest(
        target="cuda",
        inputs=(x,),
        outputs=(replace(x, name="y"),),
        weights=(w, b),
        prepared=(w, b),
        arena_bytes=0,
        graphs=(Graph("conv", "conv_build", ("convolution", "add", "relu"), "model.py:9", tensors),),
        calls=(Call(0, "model.py:12"),),
        cudnn=Cudnn(91900, 90000, "float16"),
    )
    weights = {spec.name: HostTensor("float16", np.zeros(spec.shape, np.float16)) for spec in (w, b)}
    write_artifact(tmp_path / "conv", manifest, {"native.so": compile_c("conv.c")}, weights)
    return tmp_path / "conv"


@pytest.fixture
def cudnn(monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    """The cuDNN of libcudnn.c, which test_cuda.py puts beside the driver."""
    (path,) = (Path(folder) / "libcudnn.so.9" for folder in os.environ["LD_LIBRARY_PATH"].split(":"))
    monkeypatch.setenv("CONVOY_CUDNN", str(path))
    return ctypes.CDLL(str(path))


def test_graphs(conv: Path, cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    cache = tmp_path / "cache"
    program = convoy_runtime.load(conv, plan_cache=cache, progress=lambda *step: told.append(step), poison=True)
    assert isinstance(program, CudaProgram)
    assert told == [("plan of conv", 0, 1)]
    (report,) = program.plans
    assert (report.engine, report.heuristic, report.rank, report.workspace_bytes, report.origin) == (41, "A", 1, 512, "heuristics")
    assert report.rejected == ("A[0] engine 40 {}: CUDNN_STATUS_NOT_SUPPORTED: as told",)
    assert {"cuDNN library", "cuBLASLt library", "plans"} < program.timings.keys()
    # Once before the capture, once for it; the run itself only replays.
    assert cudnn.fake_executed() == 2
    x = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
    (y,) = program.run_numpy(x)
    np.testing.assert_array_equal(y.reshape(-1)[:8], x.reshape(-1)[:8])
    assert np.isnan(y.reshape(-1)[8:]).all()
    assert cudnn.fake_executed() == 2
    assert cudnn.fake_handles() == 1
    program.close()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)
    with convoy_runtime.load(conv, plan_cache=cache) as again:
        assert again.plans[0].origin == "stored plan"  # type: ignore[attr-defined]
    with convoy_runtime.load(conv, plan_cache=False) as again:
        assert again.plans[0].origin == "heuristics"  # type: ignore[attr-defined]
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)


def test_a_fresh_process_says_where_its_start_went(conv: Path, cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    """benchmarks/first_result.py, on an artifact with its plans inside."""
    with convoy_runtime.load(conv, plan_cache=tmp_path / "cache") as program:
        assert isinstance(program, CudaProgram)
        plans = program.plan_members()
    opened = open_artifact(conv)
    members = {name: bytes(content) for name, content in opened.members.items() if name == "native.so"}
    write_artifact(tmp_path / "model.convoy", opened.manifest, {**members, **plans}, opened.weights())
    np.save(tmp_path / "image.npy", np.ones((1, 64, 56, 56), np.float16))
    command = [sys.executable, "-m", "benchmarks.first_result", "convoy", str(tmp_path), repr(time.perf_counter()), "tf32"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    said = json.loads(done.stdout)
    assert list(said["steps"]) == ["Python", "numpy", "convoy_runtime", "load", "run"]
    assert all(0 < seconds < 60 for seconds in said["steps"].values())
    assert sum(said["load"].values()) <= said["steps"]["load"]
    assert (said["nvrtc"], said["plans"]) == (False, {"plan in the artifact": 1})
    assert np.load(tmp_path / "convoy.npy").shape == (1, 64, 56, 56)


def test_graphs_that_fail(conv: Path, cudnn: ctypes.CDLL) -> None:
    cudnn.fake_fail(5000)
    with pytest.raises(CudnnError, match=r"model\.py:12: cudnnBackendExecute \(graph conv, call 0\) failed: CUDNN_STATUS_EXECUTION_FAILED"):
        convoy_runtime.load(conv, plan_cache=False)
    cudnn.fake_fail(0)
    with pytest.raises(PlanError, match=r"model\.py:9: graph conv: no execution plan, of 2 candidates"):
        convoy_runtime.load(conv, plan_cache=False, options=PlanOptions(max_workspace_bytes=100))
    gc.collect()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)


def test_tuning(conv: Path, cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cudnn.fake_offer(6)

    def load(**options: Any) -> CudaProgram:
        program = convoy_runtime.load(conv, plan_cache=cache, **options)
        assert isinstance(program, CudaProgram)
        return program

    told: list[str] = []
    with load(tune="quick", progress=lambda what, *_: told.append(what)) as program:
        (report,) = program.plans
        x = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
        np.testing.assert_array_equal(program.run_numpy(x)[0].reshape(-1)[:8], x.reshape(-1)[:8])
    assert (report.engine, report.origin, report.tuned) == (41, "tuning", "quick")
    found = {trial.engine: trial.reason for trial in report.trials}
    assert list(found) == [41, 42, 43, 44, 45]
    assert report.trials[0].microseconds == pytest.approx(3)
    assert report.trials[1].microseconds == pytest.approx(7)
    assert (found[41], found[42]) == (None, None)
    assert re.fullmatch(r"output 0 differs from that of the median of 3 plans, by .* of the largest value", found[43] or "")
    assert report.reference == "the median of 3 plans"
    assert found[44] == "writes behind tensor 4"
    assert found[45] == "CUDNN_STATUS_EXECUTION_FAILED: as told"
    assert str(report.trials[0]) == "engine 41 {}: 3.00 us"
    assert told == ["plan of conv", *(f"plan {count} of conv" for count in range(1, 6)), "timing 5 plans of conv"]

    # What was tuned is not tuned again, and is what an untuned load takes.
    for level in ("quick", "off"):
        before = cudnn.fake_executed()
        with load(tune=level) as program:
            (again,) = program.plans
        assert again == replace(report, origin="stored plan")
        assert cudnn.fake_executed() == before + 2
    # More work finds the engines that no heuristic offers; of two that are equal the first one stays.
    with load(tune="full") as program:
        (full,) = program.plans
    assert (full.engine, full.heuristic, full.rank, full.tuned) == (46, "engines", 46, "full")
    with load(tune="quick") as program:
        assert program.plans[0].engine == 46
    with pytest.raises(ArgumentError, match="tune: unknown level: expected off, quick or full, got 'slow'"):
        load(tune="slow")
    gc.collect()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)


@pytest.mark.parametrize(
    ("engine", "reference"),
    [
        (42, "engine 42, which adds up in float32"),
        # Nobody agrees with it: who is right is for the others to say.
        (43, "the median of 3 plans"),
        # It writes more than it may.
        (44, "the median of 3 plans"),
        # It compiles.
        (46, "the median of 3 plans"),
    ],
)
def test_what_results_are_compared_with(conv: Path, cudnn: ctypes.CDLL, engine: int, reference: str) -> None:
    cudnn.fake_offer(6)
    cudnn.fake_exact(engine)
    try:
        with convoy_runtime.load(conv, plan_cache=False, tune="quick") as program:
            (report,) = program.plans  # type: ignore[attr-defined]
    finally:
        cudnn.fake_exact(0)
    assert (report.reference, report.engine) == (reference, 41)
    (wrong,) = (trial.reason for trial in report.trials if trial.engine == 43)
    assert re.fullmatch(rf"output 0 differs from that of {reference}, by .* of the largest value", wrong or "")


def test_two_plans_that_differ(conv: Path, cudnn: ctypes.CDLL) -> None:
    """One of them is wrong; a median could not tell which."""
    cudnn.fake_exact(42)
    cudnn.fake_offer(6)
    try:
        with convoy_runtime.load(conv, plan_cache=False, tune="quick", options=PlanOptions(engines=(41, 43))) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
    finally:
        cudnn.fake_exact(0)
    assert {trial.engine: trial.reason is None for trial in report.trials} == {41: True, 43: False}
    gc.collect()
    assert cudnn.fake_alive() == 0


def test_a_build_that_ends_its_process(conv: Path, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    cudnn.fake_offer(2)
    monkeypatch.setenv("FAKE_DIES", "46")
    told: list[str] = []
    with convoy_runtime.load(conv, plan_cache=False, tune="full", progress=lambda what, *_: told.append(what)) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert report.engine == 47
    assert "engines[46] engine 46 {}: the process that built it ended: SIGABRT" in report.rejected
    assert [each for each in told if "compiled" in each] == ["1 of 2 plans of conv compiled", "2 of 2 plans of conv compiled"]


def test_an_interrupt_while_processes_build(conv: Path, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    cudnn.fake_offer(2)
    started: list[Any] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        return started[-1]

    def interrupt(what: str, *_: int) -> None:
        if "compiled" in what:
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(KeyboardInterrupt):
        convoy_runtime.load(conv, plan_cache=False, tune="full", progress=interrupt)
    assert started
    assert all(process.poll() is not None for process in started)
    gc.collect()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)


def test_plans_in_the_artifact(
    conv: Path, cudnn: ctypes.CDLL, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    cudnn.fake_offer(6)
    with pytest.raises(PlanError, match=r"model\.py:9: graph conv: .*\n  no plan is stored for this graph, .*\n  hint: `convoy tune`"):
        convoy_runtime.load(conv, strict=True)
    tuned = tmp_path / "tuned"
    assert convoy(["tune", str(conv), "-o", str(tuned)]) == 0
    printed = capsys.readouterr()
    assert re.search(r"conv +41 +3\.00 +3\.00 +5 +tuning\n1 graphs in .* s\n.*tuned: plans for cuda:0", printed.out)
    assert "timing 5 plans of conv (1 of 1)" in printed.err

    # Where it is loaded, nothing is searched: not in the cache, not by heuristics.
    with convoy_runtime.load(tuned, plan_cache=False, strict=True) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert (report.engine, report.origin, report.tuned) == (41, "plan in the artifact", "quick")
    # A plan that more work went into is preferred, wherever it is.
    with convoy_runtime.load(conv, tune="full"):
        pass
    with convoy_runtime.load(tuned) as program:
        assert program.plans[0].origin == "stored plan"  # type: ignore[attr-defined]
        assert program.plans[0].tuned == "full"  # type: ignore[attr-defined]
    # Other options are another question.
    with pytest.raises(PlanError, match="expected one made with these options, got one made with others"):
        convoy_runtime.load(tuned, strict=True, options=PlanOptions(deterministic=True))
    assert convoy(["tune", str(tuned), "--deterministic", "-q"]) == 0
    assert capsys.readouterr().out == ""
    with convoy_runtime.load(tuned, plan_cache=False, strict=True, options=PlanOptions(deterministic=True)) as program:
        assert program.plans[0].origin == "plan in the artifact"  # type: ignore[attr-defined]
    assert convoy(["tune", str(conv), "-o", str(tmp_path)]) == 1
    assert "expected a file in a folder that exists and can be written to" in capsys.readouterr().err
    gc.collect()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)


@pytest.fixture
def little_memory(cudnn: ctypes.CDLL) -> Iterator[None]:
    """A GPU that allocates 2 MiB at a time, and an engine 41 that wants 4."""
    cudnn.fake_offer(6)
    cudnn.fake_workspace(ctypes.c_int64(4 << 20))
    FAKE.fake_largest(ctypes.c_long(2 << 20))
    yield
    FAKE.fake_largest(ctypes.c_long(1 << 30))
    cudnn.fake_workspace(ctypes.c_int64(512))
    cudnn.fake_offer(2)


@pytest.mark.usefixtures("little_memory")
def test_workspaces_that_there_is_no_memory_for(conv: Path, cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    reason = "workspace of 4194304 bytes cannot be allocated: the GPU's memory is full"
    for _ in range(2):
        with convoy_runtime.load(conv, plan_cache=tmp_path) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
        assert (report.engine, report.origin) == (42, "heuristics")
        assert report.rejected[0] == f"stored plan: {reason}"
        assert report.rejected[-1] == f"A[1] engine 41 {{}}: {reason}"
    # There may be more memory another time: the better plan stays stored.
    FAKE.fake_largest(ctypes.c_long(1 << 30))
    with convoy_runtime.load(conv, plan_cache=tmp_path) as program:
        assert program.plans[0].engine == 41  # type: ignore[attr-defined]
    FAKE.fake_largest(ctypes.c_long(2 << 20))
    with pytest.raises(PlanError, match=rf"stored plan: {reason}"):
        convoy_runtime.load(conv, plan_cache=tmp_path, strict=True)
    with pytest.raises(PlanError, match=rf"of 6 candidates:\n.*\n  A\[1\] engine 41 {{}}: {reason}"):
        convoy_runtime.load(conv, plan_cache=False, options=PlanOptions(heuristics=("A",), engines=(40, 41)))


@pytest.mark.usefixtures("little_memory")
def test_tuning_with_little_memory(conv: Path, cudnn: ctypes.CDLL) -> None:
    gc.collect()
    before = FAKE.fake_allocated()
    with convoy_runtime.load(conv, plan_cache=False, tune="full") as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert report.engine == 46
    found = {trial.engine: trial.reason for trial in report.trials}
    assert found[41] == "workspace of 4194304 bytes cannot be allocated: the GPU's memory is full"
    # Where no tensor fits, no plan is at fault.
    FAKE.fake_largest(ctypes.c_long(1000))
    with pytest.raises(CudaError, match="cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY"):
        convoy_runtime.load(conv, plan_cache=False, tune="quick")
    gc.collect()
    assert (cudnn.fake_alive(), FAKE.fake_allocated()) == (0, before)


@pytest.fixture
def branches(tmp_path: Path, compile_c: Callable[..., bytes]) -> Callable[..., Path]:
    """An artifact of branches.c."""
    x, w, b = (TensorSpec(name, (8,), "float16") for name in ("x", "w", "b"))
    tensors = tuple(GraphTensor(uid, "output" if uid == 4 else "input", (1, 8), (8, 1), "float16") for uid in (1, 2, 3, 4))
    manifest = affine_manifest(
        target="cuda",
        inputs=(x,),
        outputs=(replace(x, name="y"), replace(x, name="z")),
        weights=(w, b),
        prepared=(w, b),
        arena_bytes=1024,
        graphs=(Graph("conv", "conv_build", ("convolution", "add", "relu"), "model.py:9", tensors),),
        calls=tuple(Call(0, f"model.py:{line}") for line in range(12, 17)),
        cudnn=Cudnn(91900, 90000, "float16"),
    )
    weights = {spec.name: HostTensor("float16", np.zeros(spec.shape, np.float16)) for spec in (w, b)}

    def write(*flags: str) -> Path:
        write_artifact(tmp_path / "branches", manifest, {"native.so": compile_c("fake_gpu/branches.c", *flags)}, weights)
        return tmp_path / "branches"

    return write


def launched_microseconds(program: CudaProgram) -> float:
    """How long one replay takes: as many microseconds as there are nodes on the longest way through the graph."""
    with program._device.current():
        stream = program._loaded.stream
        return Stopwatch(program._driver, stream).once(program._loaded.captured)


def runs_right(program: CudaProgram) -> bool:
    """Whether both outputs are the input, twice, so that nothing is left of an earlier run."""
    images = [np.full(8, value, np.float16) for value in (3, 7)]
    return all((output == image).all() for image in images for output in program.run_numpy(image))


def test_calls_side_by_side(branches: Callable[..., Path], cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    cudnn.fake_offer(2)
    gc.collect()
    before, graphs = FAKE.fake_allocated(), FAKE.fake_graphs()
    path = branches()
    # Never measured: they write less than the GPU holds at a time, so they may run side by side.
    with convoy_runtime.load(path, plan_cache=False, poison=True) as program:
        assert isinstance(program, CudaProgram)
        assert program.form == "small calls side by side"
        assert runs_right(program)
        # A call is a memset and two copies; the longest way is four calls and the copy of their result.
        assert launched_microseconds(program) == pytest.approx(13)
    told: list[str] = []
    with convoy_runtime.load(path, plan_cache=tmp_path, tune="quick", progress=lambda what, *_: told.append(what)) as program:
        assert isinstance(program, CudaProgram)
        assert program.form == "small calls side by side, cleared once"
        assert runs_right(program)
        # One memset instead of five, of which four were on the way.
        assert launched_microseconds(program) == pytest.approx(10)
        members = program.plan_members()
    assert told[-2:] == ["program with calls one after another, cleared once", "program with small calls side by side, cleared once"]
    # What was measured is known the next time, and is a member of the artifact, beside the plan.
    assert len(members) == 2
    executed = cudnn.fake_executed()
    with convoy_runtime.load(path, plan_cache=tmp_path) as program:
        assert program.form == "small calls side by side, cleared once"  # type: ignore[attr-defined]
    assert cudnn.fake_executed() == executed + 20
    tuned = tmp_path / "tuned"
    artifact = open_artifact(path)
    write_artifact(tuned, artifact.manifest, {"native.so": bytes(artifact.members["native.so"]), **members}, artifact.weights())
    with convoy_runtime.load(tuned, plan_cache=False) as program:
        assert program.form == "small calls side by side, cleared once"  # type: ignore[attr-defined]
        assert runs_right(program)  # type: ignore[arg-type]
    gc.collect()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)
    assert (FAKE.fake_allocated(), FAKE.fake_graphs()) == (before, graphs)


def test_a_missing_dependency_shows(branches: Callable[..., Path], cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    cudnn.fake_offer(2)
    path = branches()
    right = forms.order_of

    def wrong(*arguments: Any, lanes: int) -> Order:
        order = right(*arguments, lanes=lanes)
        return replace(order, after=(*order.after[:2], (), *order.after[3:]))

    monkeypatch.setattr(forms, "order_of", wrong)
    with convoy_runtime.load(path, plan_cache=False) as program:
        assert not runs_right(program)  # type: ignore[arg-type]
    # Measured, it is not faster but wrong.
    with convoy_runtime.load(path, plan_cache=False, tune="quick") as program:
        assert program.form == "calls one after another, cleared once"  # type: ignore[attr-defined]
        assert runs_right(program)  # type: ignore[arg-type]


def test_calls_side_by_side_want_more_memory(branches: Callable[..., Path], cudnn: ctypes.CDLL) -> None:
    cudnn.fake_offer(2)
    path = branches()
    # Two branches need two workspaces, one after another one; all tensors together take less.
    cudnn.fake_workspace(ctypes.c_int64(2048))
    FAKE.fake_largest(ctypes.c_long(3072))
    try:
        with convoy_runtime.load(path, plan_cache=False) as program:
            assert program.form == "calls one after another"  # type: ignore[attr-defined]
            assert program.plans[0].engine == 41  # type: ignore[attr-defined]
            assert runs_right(program)  # type: ignore[arg-type]
    finally:
        FAKE.fake_largest(ctypes.c_long(1 << 30))
        cudnn.fake_workspace(ctypes.c_int64(512))


def test_a_capture_that_fails_leaves_nothing(conv: Path, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    """41 and 46 are equally fast: they are decided between in the whole program, where the second capture fails."""
    cudnn.fake_offer(2)
    gc.collect()
    graphs, captures = FAKE.fake_graphs(), list[int]()
    right = forms.ProgramCapture.capture

    def capture(*arguments: Any) -> Any:
        captures.append(0)
        if len(captures) == 2:
            raise KeyboardInterrupt
        return right(*arguments)

    monkeypatch.setattr(forms.ProgramCapture, "capture", capture)
    monkeypatch.setattr("convoy_runtime.cuda.tuner._CLOSE", 10.0)
    with pytest.raises(KeyboardInterrupt):
        convoy_runtime.load(conv, plan_cache=False, tune="full")
    gc.collect()
    assert (len(captures), FAKE.fake_graphs(), cudnn.fake_alive()) == (2, graphs, 0)


@pytest.mark.parametrize("form", [{"branches": "most", "clear_once": False}, {"branches": "all"}, None])
def test_a_form_that_cannot_be_read(branches: Callable[..., Path], cudnn: ctypes.CDLL, tmp_path: Path, form: object) -> None:
    cudnn.fake_offer(2)
    path = branches()
    with convoy_runtime.load(path, plan_cache=tmp_path, tune="quick"):
        pass
    for file in (tmp_path / "plans").iterdir():
        content = json.loads(file.read_text())
        for record in content["records"]:
            if "form" in record["report"]:
                record["report"]["form"] = form
        file.write_text(json.dumps(content))
    with convoy_runtime.load(path, plan_cache=tmp_path) as program:
        assert program.form == "small calls side by side"  # type: ignore[attr-defined]


def test_tuning_that_finds_nothing(conv: Path, cudnn: ctypes.CDLL) -> None:
    cudnn.fake_offer(2)
    cudnn.fake_fail(5000)
    with pytest.raises(PlanError, match=r"no execution plan, of 6 candidates:\n.*\n  engine 41 {}: CUDNN_STATUS_EXECUTION_FAILED"):
        convoy_runtime.load(conv, plan_cache=False, tune="quick")
    cudnn.fake_fail(0)
    with pytest.raises(PlanError, match="of 6 candidates:(\n.*)*workspace of 512 bytes is over the limit of 100"):
        convoy_runtime.load(conv, plan_cache=False, tune="quick", options=PlanOptions(max_workspace_bytes=100))
    gc.collect()
    assert (cudnn.fake_alive(), cudnn.fake_handles()) == (0, 0)


def test_profile(program: CudaProgram, conv: Path, cudnn: ctypes.CDLL) -> None:
    told: list[tuple[str, int, int]] = []
    before = FAKE.fake_allocated()
    profile = program.profile(lambda *step: told.append(step))
    assert told == [("timing scaled_relu", 0, 2), ("timing a copy", 1, 2)]
    # A microsecond a thing that is done: one kernel, one copy.
    assert [replace(timing, microseconds=None) for timing in profile.timings] == [
        Timing("kernel", 0, 0, None),
        Timing("copy", 0, 48, None),
    ]
    assert [timing.microseconds for timing in profile.timings] == pytest.approx([1.0, 1.0], rel=1e-4)
    assert profile.replay_microseconds == pytest.approx(2.0, rel=1e-4)
    assert profile.form == "calls one after another"
    gpu = profile.gpu
    assert (gpu.name, gpu.compute_capability, gpu.multiprocessors, gpu.clock_khz) == ("Fake GPU 0", (9, 0), 1, 1_000_000)
    assert (gpu.memory_clock_khz, gpu.memory_bus_bits, gpu.l2_bytes, gpu.driver, gpu.cudnn) == (2_000_000, 512, 100, 13000, 0)
    # 800 bytes are read and written in a microsecond.
    assert gpu.copy_bytes_per_second == pytest.approx(1.6e9, rel=1e-4)
    gc.collect()
    assert FAKE.fake_allocated() == before
    # The weights are still those of the model.
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    with convoy_runtime.load(conv, plan_cache=False) as graphs:
        assert isinstance(graphs, CudaProgram)
        profile = graphs.profile()
    assert [(timing.kind, timing.index) for timing in profile.timings] == [("graph", 0)]
    assert [profile.timings[0].microseconds, profile.replay_microseconds] == pytest.approx([3.0, 3.0], rel=1e-4)
    assert profile.gpu.cudnn == 91900


def test_profile_without_weights(artifact: Callable[..., Path]) -> None:
    """Times do not need them; runs do."""
    with convoy_runtime.load(artifact(weights=False)) as bare:
        assert isinstance(bare, CudaProgram)
        assert len(bare.profile().timings) == 2
        with pytest.raises(WeightsError, match="was compiled without weights"):
            bare.replay()


def test_plans_made_offline(conv: Path, cudnn: ctypes.CDLL, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A GPU says what it is, plans are made from that elsewhere, and the GPU starts with them; what it tunes takes their place."""
    describe()
    described = tmp_path / "fake-cudnn9.19.json"
    described.write_text(capsys.readouterr().out)
    opened = open_artifact(conv)
    native = load_native(opened.members["native.so"])
    plans = offline_planner(str(described)).plan(opened.manifest, native)
    assert plans.gpu == "Fake GPU 0"
    members = {name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS}
    planned = tmp_path / "planned.convoy"
    write_artifact(planned, opened.manifest, {**members, **plans.members}, opened.weights())
    cudnn.fake_offer(6)
    with convoy_runtime.load(planned, plan_cache=False, strict=True) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert (report.engine, report.origin, report.tuned) == (41, "offline plan in the artifact", "offline")
    with convoy_runtime.load(planned, plan_cache=False, tune="quick") as program:
        (report,) = program.plans  # type: ignore[attr-defined]
        measured = program.plan_members()  # type: ignore[attr-defined]
    assert (report.origin, report.tuned) == ("tuning", "quick")
    assert measured.keys() >= plans.members.keys()
    described.write_text(described.read_text().replace("Fake GPU 0", "NVIDIA H200"))
    other = offline_planner(str(described)).plan(opened.manifest, native)
    write_artifact(planned, opened.manifest, {**members, **other.members}, opened.weights())
    with convoy_runtime.load(planned, plan_cache=False) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert report.origin == "heuristics"
    assert report.rejected[0] == "plan in the artifact: expected one for Fake GPU 0, got one for NVIDIA H200"


def test_explain_measured(
    conv: Path, cudnn: ctypes.CDLL, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    cudnn.fake_offer(6)
    tuned = tmp_path / "conv.convoy"
    assert convoy(["tune", str(conv), "-q", "-o", str(tuned)]) == 0
    page, kept = tmp_path / "page.html", tmp_path / "report.json"
    assert convoy(["explain", str(tuned), "--measured", "--html", str(page), "--json", str(kept)]) == 0
    printed = capsys.readouterr()
    assert "timing conv (1 of 1)" in printed.err
    assert "conv.convoy measured on Fake GPU 0 (driver 13.0, cuDNN 9.19.0)" in printed.out
    assert "one replay 3.00 us (calls one after another)" in printed.out
    assert "1 call, each alone with cold caches: 3.00 us together; the roofline allows" in printed.out
    assert re.search(r"^0 +3\.00 .* 41 +compute +conv +convolution \+ add \+ relu +model\.py:12$", printed.out, re.MULTILINE)
    assert "3.00 us  engine 41 {} workspace 512 bytes (chosen, cuDNN's first)" in printed.out
    assert "7.00 us  engine 42 {} workspace 512 bytes\n" in printed.out
    assert "not engine 43 {}: output 0 differs from that of the median of 3 plans" in printed.out
    # What cuDNN refuses says why.
    assert "not A[0] engine 40 {}: CUDNN_STATUS_NOT_SUPPORTED: as told" in printed.out
    # The file says all of it again, where no GPU is.
    again = tmp_path / "again.html"
    assert convoy(["explain", str(kept), "--html", str(again)]) == 0
    assert capsys.readouterr().out == printed.out
    assert again.read_text() == page.read_text()
    assert "CUDNN_STATUS_NOT_SUPPORTED: as told" in page.read_text()


def test_explain_what_tuning_left(
    conv: Path, cudnn: ctypes.CDLL, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    cudnn.fake_offer(6)
    tuned = tmp_path / "conv.convoy"
    assert convoy(["tune", str(conv), "-q", "-o", str(tuned)]) == 0
    assert convoy(["explain", str(tuned), "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["times"], report["steps"][0]["microseconds"]) == ("tuning", pytest.approx(3.0, rel=1e-4))
    assert convoy(["explain", str(tuned)]) == 0
    printed = capsys.readouterr().out
    assert "groups, in the order in which they run" in printed
    assert "for Fake GPU 0, cuDNN 9.19.0, driver 13.0" in printed
    assert "7.00 us  engine 42 {} workspace 512 bytes" in printed
