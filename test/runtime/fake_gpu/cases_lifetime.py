"""Lifetime of programs on the fake driver of libcuda.c: `close` during runs of other threads and of
the same one, repeated loads, forked children."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, W, X, hook_driver, peek, reference, upload
from runtime_fixtures import Thread, in_child

import convoy_runtime
from convoy_runtime import ConvoyRuntimeError, DeviceError, Program
from convoy_runtime.cuda.driver import device as driver_device
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.cuda.program.executor import CudaProgram


def alive() -> dict[str, int]:
    """The objects that exist on the device now."""
    gc.collect()
    return {
        kind: getattr(FAKE, f"fake_{kind}")()
        for kind in ("allocated", "locked", "graphs", "streams", "events", "modules")
    }


@pytest.fixture
def loaded(artifact: Callable[..., Path]) -> Callable[[], CudaProgram]:
    path = artifact()

    def load() -> CudaProgram:
        program = convoy_runtime.load(path)
        assert isinstance(program, CudaProgram)
        return program

    return load


def test_close_during_runs_and_load_weights(loaded: Callable[[], CudaProgram]) -> None:
    """Each call returns a correct result or raises that the program is closed."""
    before, early = alive(), FAKE.fake_early()
    results = [reference(X, W * factor) for factor in (1, 2)]

    def until_closed(function: Callable[[], object]) -> object:
        try:
            while True:
                function()
        except ConvoyRuntimeError as error:
            return str(error)

    for round_number in range(10):
        program = loaded()

        def run(program: Program = program) -> None:
            (y,) = program.run_numpy(X)
            assert any(np.array_equal(y, each) for each in results)

        def look(program: CudaProgram = program) -> None:
            assert (len(program.static_inputs), program.plans, program.form) == (
                1,
                (),
                "calls one after another",
            )
            program.synchronize()

        def replace_weights(program: Program = program) -> None:
            for factor in (2, 1):
                program.load_weights({"w": W * factor})

        running = [
            Thread(lambda each=each: until_closed(each))
            for each in (run, run, look, replace_weights)
        ]  # type: ignore[misc]
        threading.Event().wait(0.002 * (round_number % 4))
        closing = [Thread(program.close) for _ in range(2)]
        for thread in (*closing, *running):
            thread.join(20)
            assert not thread.is_alive()
            assert thread.error is None
        assert all(str(thread.result).endswith("is closed") for thread in running)
        del program, run, look, replace_weights, running, closing, thread
    assert (alive(), FAKE.fake_early()) == (before, early)


@pytest.mark.parametrize(
    "name", ["cuStreamIsCapturing", "cuMemcpyAsync", "cuGraphLaunch", "cuEventRecord"]
)
def test_close_within_a_run_of_the_same_thread(
    loaded: Callable[[], CudaProgram], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E.g. by a signal handler or a finalizer: the run completes first, and then everything is
    released."""
    before, early = alive(), FAKE.fake_early()
    program, calls = loaded(), list[str]()

    def closing(called: str, function: Callable[..., Any], *arguments: Any) -> Any:
        if called == name and not calls:
            calls.append(called)
            program.close()
            with pytest.raises(ConvoyRuntimeError, match="is closed"):
                program.run_numpy(X)
        return function(*arguments)

    hook_driver(monkeypatch, closing)
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    assert calls == [name]
    assert (alive(), FAKE.fake_early()) == (before, early)
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program.run_numpy(X)


def test_close_while_an_input_is_borrowed(loaded: Callable[[], CudaProgram]) -> None:
    class Closing(DeviceArray):
        def __dlpack__(self, **arguments: Any) -> Any:
            program.close()
            return super().__dlpack__(**arguments)

    before = alive()
    program = loaded()
    x = upload(program, X)
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program(Closing(program.inputs[0], x.pointer, 0, x, lambda _: None))
    del x
    assert alive() == before


def test_program_is_closed_with_its_last_reference(loaded: Callable[[], CudaProgram]) -> None:
    before = alive()
    gc.disable()
    try:
        program = loaded()
        program.run_numpy(X)
        del program
        assert FAKE.fake_allocated() == before["allocated"]
    finally:
        gc.enable()


def test_garbage_collection_during_a_capture(
    loaded: Callable[[], CudaProgram],
    artifact: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The collector finds a program that was not closed, while the same thread captures another
    one."""
    before = alive()
    lost = loaded()
    lost.run_numpy(X)
    cycle: list[Any] = [lost, lost.static_inputs]
    cycle.append(cycle)
    del lost, cycle
    found: list[Any] = []

    def collecting(called: str, function: Callable[..., Any], *arguments: Any) -> Any:
        result = function(*arguments)
        if called == "cuStreamBeginCapture":
            found.append(gc.collect())
        return result

    hook_driver(monkeypatch, collecting)
    with pytest.MonkeyPatch.context() as patch, loaded() as program:
        patch.setattr("sys.unraisablehook", found.append)
        np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    assert found
    assert alive() == before


def test_output_that_overlaps_an_input(loaded: Callable[[], CudaProgram]) -> None:
    program = loaded()
    x = upload(program, X)
    program.run_into([x], [x])
    program.synchronize()
    np.testing.assert_array_equal(peek(x), reference(X))
    program.close()


def test_repeated_loads_leak_nothing(
    artifact: Callable[..., Path], conv: Path, fake_cudnn: ctypes.CDLL
) -> None:
    paths = artifact(), conv
    x = np.zeros((1, 64, 56, 56), np.float16)

    def rounds(count: int) -> None:
        for number in range(count):
            with convoy_runtime.load(paths[number % 2]) as program:
                program.run_numpy(x if number % 2 else X)

    rounds(4)
    before = (
        alive(),
        fake_cudnn.fake_handles(),
        fake_cudnn.fake_alive(),
        len(list(Path("/proc/self/fd").iterdir())),
    )
    rounds(300)
    assert (
        alive(),
        fake_cudnn.fake_handles(),
        fake_cudnn.fake_alive(),
        len(list(Path("/proc/self/fd").iterdir())),
    ) == before


FORKED = (
    r"forked from one that had initialized CUDA, which does not work here\n  hint: "
    r"start the process with the method spawn"
)


def test_forked_child_is_refused(
    artifact: Callable[..., Path], conv: Path, fake_cudnn: ctypes.CDLL
) -> None:
    """The fake driver ends the process if any of its functions is called there."""
    path = artifact()
    program, graphs = convoy_runtime.load(path), convoy_runtime.load(conv)
    assert isinstance(program, CudaProgram)
    x = upload(program, X)
    held: list[Any] = [program(x), program.static_inputs]

    def use() -> None:
        for call in (
            lambda: program(x),
            lambda: program.run_into([x], [x]),
            lambda: program.run_numpy(X),
            program.replay,
            program.synchronize,
            program.profile,
            program.plan_members,
            lambda: program.load_weights({"w": W}),
            held[0].__dlpack__,
            lambda: graphs.run_numpy(X),
            lambda: convoy_runtime.load(path),
        ):
            with pytest.raises(DeviceError, match=FORKED):
                call()
        program.close()
        assert program.closed
        held.clear()
        gc.collect()

    forks, done = threading.Event(), threading.Event()

    def hold() -> None:
        with program._lock:
            forks.set()
            done.wait()

    holding = Thread(hold)
    forks.wait()
    in_child(use)  # The thread that holds the lock does not exist there.
    done.set()
    holding.join()

    def drop() -> None:
        nonlocal program, graphs, x
        del program, graphs, x
        held.clear()
        gc.collect()

    in_child(drop)
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    program.close()
    graphs.close()


def test_forked_child_is_refused_if_another_library_uses_cuda(
    artifact: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = artifact()
    FAKE.cuInit(0)
    monkeypatch.setattr(driver_device, "_driver", None)

    def use() -> None:
        assert not driver_device.forked()
        with pytest.raises(
            DeviceError,
            match=(
                "cuInit failed: CUDA_ERROR_NOT_INITIALIZED .*\n  hint: CUDA does not work in "
                "a process forked from one"
            ),
        ):
            convoy_runtime.load(path)

    in_child(use)
