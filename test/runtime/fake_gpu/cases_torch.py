"""Tensors of a fake torch of a few lines of Python, on the fake driver of libcuda.c."""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import pytest
from fake_gpu.fixtures import X, hook_driver, peek, reference, stream, upload, wait

from convoy_runtime import ArgumentError
from convoy_runtime.cuda.driver import memory
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.cuda.program.executor import CudaProgram


@pytest.mark.parametrize("packed", [True, False])
def test_torch_in_torch_out(
    program: CudaProgram, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
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
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: current)  # type: ignore[attr-defined]
    torch.cuda = types.SimpleNamespace(ExternalStream=lambda handle, device: handle)  # type: ignore[attr-defined]
    torch.float32 = "torch.float32"  # type: ignore[attr-defined]
    torch.device = lambda kind, index: f"{kind}:{index}"  # type: ignore[attr-defined]
    torch.empty_strided = lambda shape, strides, dtype, device: Tensor(  # type: ignore[attr-defined]
        upload(program, np.zeros(shape, np.float32))
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    x = Tensor(upload(program, X), packed=packed)
    copied = [] if packed else ["contiguous", ("dlpack", -1)]
    y = program(x)
    assert isinstance(y, Tensor)
    # torch does not have to wait for anything on its own stream.
    assert log == [("dlpack", -1), *copied]
    wait(program, current)
    np.testing.assert_array_equal(peek(y.array), reference(X))
    # On another stream torch has to wait, and to keep the memory alive for it.
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
    """Creates the input X as a tensor of the fake torch. `exported` are the streams passed to
    DLPack."""
    torch = types.ModuleType("torch")
    current = stream(program)

    class Tensor:
        shape, dtype, layout, device = (2, 3), "torch.float32", "strided", "cuda:0"
        packed, requires_grad, negative = True, False, False
        exported: ClassVar[list[object]] = []

        def __init__(self, array: DeviceArray) -> None:
            self.array, self.stream = array, current

        def is_contiguous(self) -> bool:
            return self.packed

        def is_neg(self) -> bool:
            return self.negative

        def data_ptr(self) -> int:
            return self.array.pointer

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, stream: int | None = None) -> object:
            self.exported.append(stream)
            return self.array.__dlpack__()

        def record_stream(self, stream: object) -> None:
            pass

    Tensor.__module__ = "torch"
    torch.Tensor, torch.strided, torch.float32 = Tensor, "strided", "torch.float32"  # type: ignore[attr-defined]
    output = Tensor(upload(program, np.zeros((2, 3), np.float32)))
    torch.device = lambda kind, index: f"{kind}:{index}"  # type: ignore[attr-defined]

    def empty_strided(
        shape: tuple[int, ...], strides: tuple[int, ...], *, dtype: str, device: str
    ) -> Tensor:
        assert (shape, strides, dtype, device) == ((2, 3), (3, 1), "torch.float32", "cuda:0")
        return output

    class TensorGuards:
        def __init__(self, *tensors: Tensor, **sizes: None) -> None:
            assert sizes == {"dynamic_dims_sizes": None, "dynamic_dims_strides": None}
            self.kinds = [kind(tensor) for tensor in tensors]

        def check(self, *tensors: Tensor) -> bool:
            return self.kinds == [kind(tensor) for tensor in tensors]

    kind = attrgetter("shape", "dtype", "layout", "device", "requires_grad", "packed", "negative")
    torch.empty_strided = empty_strided  # type: ignore[attr-defined]
    torch._C = types.SimpleNamespace(  # type: ignore[attr-defined]
        _cuda_getCurrentRawStream=lambda index: current,
        _dynamo=types.SimpleNamespace(guards=types.SimpleNamespace(TensorGuards=TensorGuards)),
    )
    torch.cuda = types.SimpleNamespace(ExternalStream=lambda handle, device: handle)  # type: ignore[attr-defined]
    torch.from_dlpack = lambda array: (Tensor(array), array.__dlpack__(stream=current))[0]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)

    def make(**changes: Any) -> Any:
        tensor = Tensor(upload(program, X))
        for name, value in changes.items():
            setattr(tensor, name, value)
        return tensor

    return make


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("changes", "plain"),
    [
        ({}, True),
        ({"shape": (3, 2)}, False),
        ({"dtype": "torch.float16"}, False),
        ({"device": "cpu"}, False),
        ({"device": "cuda:1"}, False),
        ({"packed": False}, False),
        ({"requires_grad": True}, False),
        ({"layout": "sparse"}, False),
    ],
)
def test_packed_torch_tensors_bypass_dlpack(
    program: CudaProgram,
    torch_tensor: Callable[..., Any],
    changes: dict[str, Any],
    plain: bool,
    known: bool,
) -> None:
    """Also after a call with another tensor, which later ones are compared with."""
    if known:
        program(torch_tensor())
    x = torch_tensor(**changes)
    x.exported.clear()
    y = program(x)
    assert x.exported == ([] if plain else [-1])
    wait(program, x.stream)
    np.testing.assert_array_equal(peek(y.array), reference(X))
    # Another stream than torch's has to wait for torch, which DLPack does.
    other = stream(program)
    program(x, stream=other)
    assert x.exported[-1] == other


@pytest.mark.parametrize("interceptor", ["mode", "transform"])
def test_results_are_imported_while_calls_are_intercepted(
    program: CudaProgram, torch_tensor: Callable[..., Any], interceptor: str
) -> None:
    """`torch.empty_strided` would make a tensor without memory, or one of a traced graph."""
    active: list[str] = []
    inside = sys.modules["torch"]._C
    inside._len_torch_dispatch_stack = lambda: active.count("mode")
    inside._functorch = types.SimpleNamespace(
        peek_interpreter_stack=lambda: object() if "transform" in active else None
    )
    x = torch_tensor()
    plain = program(x)
    active.append(interceptor)
    y = program(x)
    wait(program, x.stream)
    assert type(y) is type(plain)
    assert y.array is not plain.array
    np.testing.assert_array_equal(peek(y.array), reference(X))
    active.clear()
    assert program(x).array is plain.array


def test_negative_view_is_refused(program: CudaProgram, torch_tensor: Callable[..., Any]) -> None:
    program(torch_tensor())
    with pytest.raises(ArgumentError, match="input 'x': has torch's negative bit"):
        program(torch_tensor(negative=True))


def test_tensor_of_a_tracer_is_refused(
    program: CudaProgram, torch_tensor: Callable[..., Any]
) -> None:
    program(torch_tensor())
    x = torch_tensor()
    x.array = types.SimpleNamespace(pointer=0, __dlpack__=upload(program, X).__dlpack__)
    program(x)
    assert x.exported


def test_results_are_allocated_after_the_launch(
    program: CudaProgram, torch_tensor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the device does not wait for the allocation. If it fails, the run is complete, and its
    results are dropped."""
    x, names = torch_tensor(), list[str]()
    empty_strided = sys.modules["torch"].empty_strided

    def record(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        names.append(name)
        return function(*arguments)

    def failing(*arguments: Any, **keywords: Any) -> Any:
        names.append("empty_strided")
        raise RuntimeError("out of memory")

    hook_driver(monkeypatch, record)
    monkeypatch.setattr(sys.modules["torch"], "empty_strided", failing)
    with pytest.raises(RuntimeError, match="out of memory"):
        program(x)
    after = names[names.index("cuGraphLaunch") :]
    # The event orders runs on other streams after this one.
    assert after[:3] == ["cuGraphLaunch", "empty_strided", "cuEventRecord"]
    monkeypatch.setattr(sys.modules["torch"], "empty_strided", empty_strided)
    y = program(x)
    wait(program, x.stream)
    np.testing.assert_array_equal(peek(y.array), reference(X))


def test_torch_without_cuda(program: CudaProgram, torch_tensor: Callable[..., Any]) -> None:
    """Its tensors are on the host, which the error says."""
    x = torch_tensor()
    del sys.modules["torch"]._C._cuda_getCurrentRawStream
    with pytest.raises(ArgumentError, match="input 'x'"):
        program(type("Tensor", (np.ndarray,), {"__module__": "torch"})((2, 3), np.float32))
    assert program(x) is not None


def test_function_calls_of_a_run(program: CudaProgram, torch_tensor: Callable[..., Any]) -> None:
    """Unlike times, counts are the same on a busy machine."""
    x, events = torch_tensor(), list[str]()
    program._runs._poisoned.clear()

    def record(frame: types.FrameType, event: str, argument: object) -> None:
        # Not those of the fake torch, and of what other tests hook.
        if "convoy_runtime" in frame.f_code.co_filename:
            events.append(event)

    def calls(run: Callable[[], object]) -> int:
        run()
        wait(program, x.stream)
        events.clear()
        sys.setprofile(record)
        try:
            run()
        finally:
            sys.setprofile(None)
        wait(program, x.stream)
        return events.count("call") + events.count("c_call")

    with program._device.current():
        replay, run = calls(lambda: program.replay(x.stream)), calls(lambda: program(x))
    assert replay <= 22
    assert run <= 34


def test_host_time_of_a_run(program: CudaProgram, torch_tensor: Callable[..., Any]) -> None:
    """In units of one driver call. The fastest of many short rounds counts, also for the unit,
    because on a busy core everything takes twice as long. Typical values: 13 to 14 for `replay`,
    and 29 to 31 for `program(x)`."""
    x = torch_tensor()
    program._runs._poisoned.clear()
    call = program._driver.call

    def fastest(run: Callable[[], object]) -> float:
        rounds = []
        for _ in range(160):
            begin = time.thread_time()
            for _ in range(200):
                run()
            rounds.append(time.thread_time() - begin)
            wait(program, x.stream)
        return min(rounds)

    with program._device.current():
        unit = fastest(lambda: call("cuCtxGetCurrent"))
        replay, run = fastest(lambda: program.replay(x.stream)), fastest(lambda: program(x))
    assert replay < 21 * unit
    assert run < 45 * unit
