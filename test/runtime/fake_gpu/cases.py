"""The executor on the fake driver of libcuda.c. test_cuda.py runs each file of cases in a process
that has only that driver."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, SPEC, W, X, peek, reference, stream, upload, wait

import convoy_runtime
from convoy_runtime import (
    ArgumentError,
    ArtifactError,
    ConvoyRuntimeError,
    CudaError,
    DeviceError,
    ExecutionError,
    WeightsError,
)
from convoy_runtime.__main__ import main
from convoy_runtime.arrays import view
from convoy_runtime.cuda.driver import memory
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.cuda.program.executor import CudaProgram


def test_host_arrays(program: CudaProgram) -> None:
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    np.testing.assert_array_equal(program.run_numpy(np.asfortranarray(-X))[0], reference(-X))
    assert program.device == "cuda:0 (Fake GPU 0)"
    assert program.plans == ()


def test_timings_of_a_load(program: CudaProgram) -> None:
    assert list(program.timings) == [
        "rest", "opening", "hashing", "imports", "native library", "driver", "context",
        "cuDNN handle", "kernels", "first run", "capture",
        "weights", "upload",
    ]  # fmt: skip


def test_each_call_launches_one_graph(program: CudaProgram) -> None:
    before = FAKE.fake_launches()
    program.run_numpy(X)
    program.run_numpy(X)
    assert FAKE.fake_launches() == before + 2


def test_results_are_fresh_and_in_stream_order(program: CudaProgram) -> None:
    x, double = upload(program, X), upload(program, X * 2)
    first, second = program(x), program(double)
    assert isinstance(first, DeviceArray)
    assert not np.array_equal(peek(first), reference(X))
    program.synchronize()
    np.testing.assert_array_equal(peek(first), reference(X))
    np.testing.assert_array_equal(peek(second), reference(X * 2))


def test_runs_on_different_streams_are_ordered(program: CudaProgram) -> None:
    one, other = stream(program), stream(program)
    x, double = upload(program, X), upload(program, X * 2)
    first, second = program(x, stream=one), program(double, stream=other)
    assert not np.array_equal(peek(first), reference(X))
    wait(program, other)
    np.testing.assert_array_equal(peek(second), reference(X * 2))
    # Only `other` was synchronized, and it had to wait for `one`.
    np.testing.assert_array_equal(peek(first), reference(X))


def test_result_memory_returns_to_its_stream(program: CudaProgram) -> None:
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


def test_outputs_in_the_arena(artifact: Callable[..., Path]) -> None:
    with convoy_runtime.load(artifact(arena=512, offsets=(256,)), poison=True) as program:
        assert isinstance(program, CudaProgram)
        (x,), (y,) = program.static_inputs, program.static_outputs
        # The input and the prepared weight, which are 24 bytes, and the arena with the output.
        assert program.device_bytes == 256 + 256 + 512
        assert y.pointer == x.pointer + 256 + 256
        np.testing.assert_array_equal(peek(program(upload(program, X))), reference(X))
        np.testing.assert_array_equal(peek(y), reference(X))
        np.testing.assert_array_equal(program.run_numpy(-X)[0], reference(-X))


def test_dlpack_of_device_arrays(program: CudaProgram) -> None:
    before = len(memory._exported)
    x = upload(program, X)
    array = program(x)
    # Exporting an array with a stream makes that stream wait for the run.
    consumer = stream(program)
    borrowed = view(array, "y", stream=consumer)
    assert (borrowed.shape, borrowed.strides, borrowed.dtype, borrowed.device) == (
        (2, 3),
        (3, 1),
        "float32",
        (2, 0),
    )
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


def test_memory_is_freed_with_its_last_user(artifact: Callable[..., Path]) -> None:
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
    # A program that was not closed is closed with its last reference.
    program = convoy_runtime.load(artifact())
    assert FAKE.fake_allocated() > before
    del program
    gc.collect()
    assert FAKE.fake_allocated() == before


def test_wrong_arguments(program: CudaProgram) -> None:
    with pytest.raises(
        ArgumentError,
        match=(
            r"input 'x': wrong device: expected cuda:0, got cpu; move it there first, or call "
            r"run_numpy"
        ),
    ):
        program(X)
    elsewhere = upload(program, X)
    elsewhere._index = 1
    with pytest.raises(
        ArgumentError, match=r"input 'x': wrong device: expected cuda:0, got cuda:1"
    ):
        program(elsewhere)
    with pytest.raises(ArgumentError, match=r"input 'x': wrong dtype: expected float32, got int32"):
        program(upload(program, X.astype(np.int32)))
    with pytest.raises(
        ArgumentError, match=r"input 'x': wrong shape: expected \[2, 3\], got \[3, 2\]"
    ):
        program(upload(program, X.reshape(3, 2)))
    with pytest.raises(ArgumentError, match="inputs: wrong number"):
        program()
    with pytest.raises(ArgumentError, match=r"input 'x': wrong device: expected cpu, got cuda:0"):
        program.run_numpy(upload(program, X))  # type: ignore[arg-type]


def test_strided_array_of_an_unknown_library_is_refused(program: CudaProgram) -> None:
    class Strided(DeviceArray):
        def __dlpack__(self, **_: Any) -> Any:
            capsule = super().__dlpack__()
            memory._exported[list(memory._exported)[-1]][2][:] = (1, 2)
            return capsule

    x = upload(program, X)
    strided = Strided(SPEC, x.pointer, 0, x, lambda _: None)
    with pytest.raises(
        ArgumentError,
        match=(
            r"input 'x': wrong strides, and its library is unknown: expected \[3, 1\], got "
            r"\[1, 2\]"
        ),
    ):
        program(strided)
    with pytest.raises(
        ArgumentError, match=r"output 'y': wrong strides: expected \[3, 1\], got \[1, 2\]"
    ):
        program.run_into([strided], [x])


def test_weights(program: CudaProgram, artifact: Callable[..., Path]) -> None:
    pointers = list(program._loaded.buffers.arguments.prepared)
    x = upload(program, X)
    result = program(x)
    program.load_weights({"w": W * 3})
    # The run in progress used the old weights; the captured graph uses the new ones.
    np.testing.assert_array_equal(peek(result), reference(X))
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X, W * 3))
    assert pointers == program._loaded.buffers.arguments.prepared
    with pytest.raises(WeightsError, match="w: missing"):
        program.load_weights({})
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X, W * 3))
    bare = convoy_runtime.load(artifact(weights=False))
    assert isinstance(bare, CudaProgram)
    with pytest.raises(
        WeightsError, match="was compiled without weights: call program.load_weights"
    ):
        bare(upload(bare, X))
    with pytest.raises(WeightsError, match="was compiled without weights"):
        bare.replay()
    bare.load_weights({"w": W})
    np.testing.assert_array_equal(bare.run_numpy(X)[0], reference(X))


def test_poison(artifact: Callable[..., Path]) -> None:
    y = convoy_runtime.load(artifact("-DBYTES=20"), poison=True).run_numpy(X)[0]
    assert np.isnan(y[1, 2])
    np.testing.assert_array_equal(y.reshape(-1)[:5], reference(X).reshape(-1)[:5])


def test_large_shared_memory_is_requested(artifact: Callable[..., Path]) -> None:
    np.testing.assert_array_equal(
        convoy_runtime.load(artifact("-DSHARED=200000")).run_numpy(X)[0], reference(X)
    )
    with pytest.raises(CudaError, match="cuFuncSetAttribute failed: CUDA_ERROR_INVALID_VALUE"):
        convoy_runtime.load(artifact("-DSHARED=300000"))


@pytest.mark.parametrize(
    ("flags", "changes", "error", "message"),
    [
        (["-DKERNEL=1"], {}, ArtifactError, "native.so: convoy_main launches kernel 1 of 1"),
        (["-DCALL=0"], {}, ArtifactError, "native.so: convoy_main runs call 0 of 0"),
        (["-DSTATUS=5"], {}, ExecutionError, "convoy_main returned status 5"),
        (
            ["-Dconvoy_begin_run=other"],
            {},
            ArtifactError,
            "native.so: the library does not export convoy_begin_run",
        ),
        (
            ["-DBYTES=1000000"],
            {},
            CudaError,
            r"cuMemcpyDtoDAsync failed: CUDA_ERROR_INVALID_VALUE \(described\)",
        ),
        (
            [],
            {"kernel": "trap"},
            CudaError,
            "cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS",
        ),
        (
            [],
            {"ptx": b"junk"},
            CudaError,
            (
                r"cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX .*\n  the driver's "
                r"compiler, for sm_90: ptxas .*\n.*\n  hint: the driver"
            ),
        ),
        (
            [],
            {"kernel": "other"},
            ArtifactError,
            r"kernels\.ptx: kernel other of model\.py:3 is missing",
        ),
        (
            [],
            {"arena": 1 << 40},
            CudaError,
            (
                r"cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY .*, for \d{13} bytes\)\n  hint: "
                r"the GPU's memory is full"
            ),
        ),
    ],
)
def test_errors_while_loading(
    artifact: Callable[..., Path],
    flags: list[str],
    changes: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    gc.collect()
    before = FAKE.fake_allocated()
    with pytest.raises(error, match=message):
        convoy_runtime.load(artifact(*flags, **changes))
    if changes.get("kernel") == "trap":
        # A real device is unusable after this error, and so is this one.
        (ctypes.c_int * 2).in_dll(FAKE, "fake_sticky")[0] = 0
    gc.collect()
    assert FAKE.fake_allocated() == before


def test_devices(artifact: Callable[..., Path]) -> None:
    with pytest.raises(
        DeviceError, match="cuda:3: expected a GPU below 1, the number of those visible, got 3"
    ):
        convoy_runtime.load(artifact(), device=3)
    with pytest.raises(DeviceError, match="was compiled for cuda and cannot run on cpu"):
        convoy_runtime.load(artifact(), device="cpu")
    assert convoy_runtime.load(artifact(), device="cuda").device.startswith("cuda:0")  # type: ignore[attr-defined]


def test_command_line(
    artifact: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("convoy_runtime.replays._ROUND_SECONDS", 0.001)
    assert (
        main([str(artifact()), "--run", "--bench", "--plans", "--no-tf32", "--device", "cuda:0"])
        == 0
    )
    printed = capsys.readouterr().out
    assert "output y: float32[2, 3]" in printed
    assert re.search(r"[\d.]+ us a replay of the CUDA graph, median of 7 rounds of \d+", printed)
    assert re.search(r"\n[\d.]+ us of host time to enqueue each", printed)
