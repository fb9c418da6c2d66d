"""Driver calls of runs, on the fake driver of libcuda.c: in the caller's capture, from several
threads, of several programs and on several devices."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, SPEC, X, hook_driver, peek, reference, stream, upload, wait

import convoy_runtime
from convoy_runtime.cuda.driver import host_memory
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.driver.host_memory import HostMemory
from convoy_runtime.cuda.driver.memory import Allocation, DeviceArray
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.errors import CudaError

#: The driver functions that enqueue a run, without allocating or waiting: events order the streams.
RUN = {
    "cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuStreamIsCapturing",
    "cuStreamWaitEvent", "cuEventRecord", "cuGraphLaunch", "cuGraphNodeSetEnabled",
    "cuGraphExecKernelNodeSetParams", "cuLaunchKernel",
}  # fmt: skip


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of calls of each driver function."""
    counter: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        counter[name] += 1
        return function(*arguments)

    hook_driver(monkeypatch, counted)
    return counter


def test_a_run_allocates_nothing_and_waits_for_nothing(
    artifact: Callable[..., Path], called: Counter[str]
) -> None:
    program = convoy_runtime.load(artifact())
    assert isinstance(program, CudaProgram)
    one, other = stream(program), stream(program)
    x, y = upload(program, X), upload(program, X)
    for handle in (one, other):
        program(x, stream=handle)
    called.clear()
    for handle in (one, other, other, one):
        program(x, stream=handle)
        program.run_into([y], [x], stream=handle)
        program.replay(handle)
    assert called.keys() <= RUN
    # The kernel for the output of each call with arrays, and the one for inputs on or off between
    # calls and replays; a stream waits if the last run was on another one.
    names = "cuGraphLaunch", "cuLaunchKernel", "cuGraphNodeSetEnabled", "cuStreamWaitEvent"
    assert [called[name] for name in names] == [12, 8, 7, 3]
    assert called["cuGraphExecKernelNodeSetParams"] == 0
    # Memory for inputs, and for results.
    for locked in (2, 0):
        called.clear()
        program.run_numpy(X)
        assert called["cuStreamSynchronize"] == 1
        assert (called["cuMemHostAlloc"], called["cuMemAlloc"]) == (locked, 0)
    program.close()
    assert called["cuMemFreeHost"] == 2


def test_memory_of_results_is_used_again(
    artifact: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But only once no array refers to it. Further results are copied to other memory."""
    before = FAKE.fake_locked()
    program = convoy_runtime.load(artifact())
    inputs = [X + place for place in range(7)]
    expected = [program.run_numpy(x)[0].copy() for x in inputs]
    results = [program.run_numpy(x)[0] for x in inputs]
    np.testing.assert_array_equal(results, expected)
    assert len({each.ctypes.data for each in results}) == len(results)
    # Four results, and the inputs with the outputs of the others.
    assert FAKE.fake_locked() - before == 5
    place, view = results[1].ctypes.data, results[2][:1]
    del results[1:3]
    (again,) = program.run_numpy(inputs[0])
    assert again.ctypes.data == place
    np.testing.assert_array_equal(again, expected[0])
    np.testing.assert_array_equal(view, expected[2][:1])
    program.close()
    np.testing.assert_array_equal(results[0], expected[0])
    del results, again, view, program
    gc.collect()
    assert FAKE.fake_locked() == before
    # A large result is always copied.
    monkeypatch.setattr(host_memory, "_MOST_RESULT_BYTES", 8)
    with convoy_runtime.load(artifact()) as program:
        np.testing.assert_array_equal(program.run_numpy(inputs[3])[0], expected[3])
        assert FAKE.fake_locked() - before == 1


def test_too_little_host_memory() -> None:
    memory = HostMemory(Device(open_driver(), 0))
    with pytest.raises(
        CudaError,
        match=r"cuMemHostAlloc failed: CUDA_ERROR_OUT_OF_MEMORY .*, for \d{13} bytes of page-locked",
    ):
        memory.arrays([replace(SPEC, shape=(1 << 40,))])
    (small,) = memory.arrays([SPEC])
    assert small.shape == SPEC.shape


def test_run_within_a_capture_of_the_caller(program: CudaProgram, called: Counter[str]) -> None:
    """Captured twice, with the caller's work in between; everything runs when the caller's graph is
    launched, not before. Events, which order other runs, do not become part of it."""
    call, module = program._driver.call, program._driver.module
    x, between, y = (upload(program, array) for array in (X, np.zeros_like(X), np.zeros_like(X)))
    side = stream(program)
    # The last run was on another stream, which a capture cannot wait for.
    program(upload(program, X * 7))
    launches = FAKE.fake_launches()
    with program._device.current():
        call(
            "cuStreamBeginCapture",
            side,
            module.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        )
        called.clear()
        program.run_into([between], [x], stream=side)
        call("cuMemcpyDtoDAsync", program.static_inputs[0].pointer, between.pointer, X.nbytes, side)
        program.replay(side)
        call("cuMemcpyDtoDAsync", y.pointer, program.static_outputs[0].pointer, X.nbytes, side)
        assert called["cuGraphAddChildGraphNode"] == 2
        assert (called["cuEventRecord"], called["cuStreamWaitEvent"]) == (0, 0)
        graph = call("cuStreamEndCapture", side)
        instance = call("cuGraphInstantiate", graph, 0)
        assert FAKE.fake_launches() == launches
        program.synchronize()
        np.testing.assert_array_equal(peek(y), np.zeros_like(X))
        call("cuGraphLaunch", instance, side)
        wait(program, side)
        np.testing.assert_array_equal(peek(between), reference(X))
        np.testing.assert_array_equal(peek(y), reference(reference(X)))
        # The caller's graph is a copy, so it survives a run of the program.
        np.testing.assert_array_equal(program.run_numpy(-X)[0], reference(-X))
        call("cuGraphLaunch", instance, side)
        wait(program, side)
        np.testing.assert_array_equal(peek(y), reference(reference(X)))
        for name, what in (("cuGraphExecDestroy", instance), ("cuGraphDestroy", graph)):
            call(name, what)


def together(*actions: Callable[[], None]) -> None:
    """Runs each function in a separate thread, all at once. Raises the first exception."""
    barrier, errors = threading.Barrier(len(actions)), list[BaseException]()

    def run(action: Callable[[], None]) -> None:
        barrier.wait()
        try:
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_one_program_in_several_threads(program: CudaProgram) -> None:
    def runs(factor: int) -> Callable[[], None]:
        def run() -> None:
            for _ in range(20):
                np.testing.assert_array_equal(
                    program.run_numpy(X * factor)[0], reference(X * factor)
                )

        return run

    together(*(runs(factor) for factor in range(-2, 3)))


def test_several_programs_in_several_threads(
    conv: Path, artifact: Callable[..., Path], fake_cudnn: ctypes.CDLL, tmp_path: Path
) -> None:
    """Loaded, tuned and run at the same time, with one store; each program has its own cuDNN
    handle."""
    fake_cudnn.fake_offer(6)
    plain, programs = artifact(), list[Any]()
    image = np.arange(64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)

    def run_conv() -> None:
        programs.append(convoy_runtime.load(conv, plan_cache=tmp_path / "cache", tune="quick"))
        for _ in range(5):
            np.testing.assert_array_equal(
                programs[-1].run_numpy(image)[0].reshape(-1)[:8], image.reshape(-1)[:8]
            )

    def run_plain() -> None:
        with convoy_runtime.load(plain) as program:
            for factor in range(1, 6):
                np.testing.assert_array_equal(
                    program.run_numpy(X * factor)[0], reference(X * factor)
                )

    together(run_conv, run_plain, run_conv, run_plain)
    assert {program.plans[0].engine for program in programs} == {41}
    assert fake_cudnn.fake_handles() == 2
    for program in programs:
        program.close()
    del program
    programs.clear()
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


def test_several_devices(
    conv: Path,
    artifact: Callable[..., Path],
    fake_cudnn: ctypes.CDLL,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory, streams and handles belong to the program's device, whatever the thread's current
    device is; plans are keyed by the name of a device."""
    monkeypatch.setenv("FAKE_DEVICES", "2")
    path, cache = artifact(), tmp_path / "cache"
    programs = [convoy_runtime.load(path, device=index) for index in (0, 1)]
    assert [program.device for program in programs] == [
        "cuda:0 (Fake GPU 0)",
        "cuda:1 (Fake GPU 1)",
    ]  # type: ignore[attr-defined]
    with Device(open_driver(), 0).current():
        # On another device than the thread's current one, and alternating.
        for factor in (1, 2, 3):
            for program in programs:
                np.testing.assert_array_equal(
                    program.run_numpy(X * factor)[0], reference(X * factor)
                )
        second = programs[1]
        assert isinstance(second, CudaProgram)
        with second._device.current():
            memory = Allocation(second._device, X.nbytes)
            open_driver().call("cuMemcpyHtoD", memory.pointer, X.ctypes.data, X.nbytes)
        result = second(DeviceArray(SPEC, memory.pointer, 1, memory, lambda _: None))
        second.synchronize()
        np.testing.assert_array_equal(peek(result), reference(X))
        assert result.__dlpack_device__() == (2, 1)
        with pytest.raises(
            convoy_runtime.ArgumentError,
            match=r"input 'x': wrong device: expected cuda:1, got cuda:0",
        ):
            second(upload(programs[0], X))  # type: ignore[arg-type]
    for program in programs:
        program.close()
    loaded = [
        convoy_runtime.load(conv, device=index, plan_cache=cache, tune="quick") for index in (0, 1)
    ]
    assert fake_cudnn.fake_handles() == 2
    assert [program.plans[0].origin for program in loaded] == ["tuning", "tuning"]  # type: ignore[attr-defined]
    for program in loaded:
        program.close()
    again = convoy_runtime.load(conv, device=1, plan_cache=cache, strict=True)
    assert again.plans[0].origin == "stored plan"  # type: ignore[attr-defined]
    again.close()
    with pytest.raises(convoy_runtime.DeviceError, match="cuda:2: expected a GPU below 2"):
        convoy_runtime.load(path, device=2)


@pytest.mark.parametrize(("major", "launches"), [(8, 0), (9, 3)])
def test_dependent_launch(
    artifact: Callable[..., Path], called: Counter[str], major: int, launches: int
) -> None:
    """The fake driver rejects it for a kernel that does not wait. Of the kernel in the first run
    and in the capture, and of the copy of the input."""
    FAKE.fake_attribute(75, major)
    try:
        with convoy_runtime.load(artifact()) as program:
            np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    finally:
        FAKE.fake_attribute(75, 9)
    assert called["cuLaunchKernelEx"] == launches
