"""Replicas on the two devices of libcuda.c."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, W, X, hook_driver, reference

from benchmarks.serving import replicas as benchmark
from convoy_runtime import ConvoyRuntimeWarning, CudaError, DeviceError, Replicas
from convoy_runtime.cuda.program.executor import CudaProgram

NAMES = ("cuda:0 (Fake GPU 0)", "cuda:1 (Fake GPU 1)")
ILLEGAL_ADDRESS = 700


@pytest.fixture(autouse=True)
def sticky(monkeypatch: pytest.MonkeyPatch) -> Iterator[ctypes.Array[ctypes.c_int]]:
    """What all calls of each device return, reset at the end."""
    monkeypatch.setenv("FAKE_DEVICES", "2")
    errors = (ctypes.c_int * 2).in_dll(FAKE, "fake_sticky")
    yield errors
    errors[:] = [0, 0]


class Holding:
    """Holds the first run of each device until both run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.devices: list[str] = []
        barrier, run = threading.Barrier(2), CudaProgram.run_numpy

        def hold(program: CudaProgram, *arrays: Any, **given: Any) -> Any:
            if program.device not in self.devices:
                self.devices.append(program.device)
                barrier.wait(20)
            return run(program, *arrays, **given)

        monkeypatch.setattr(CudaProgram, "run_numpy", hold)


def test_all_devices_run(artifact: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = artifact()
    opened: list[object] = []
    from convoy_runtime import loader

    open_file = loader.open_file
    monkeypatch.setattr(
        loader, "open_file", lambda *args, **given: opened.append(args) or open_file(*args, **given)
    )
    with Replicas(path) as replicas:
        assert replicas.devices == NAMES
        assert len(opened) == 1, "the file is read once"
        holding = Holding(monkeypatch)
        futures = [replicas.submit(X * np.float32(factor)) for factor in range(2, 10)]
        for factor, future in enumerate(futures, 2):
            np.testing.assert_array_equal(future.result(20), reference(X * np.float32(factor)))
        assert sorted(holding.devices) == list(NAMES)
        replicas.load_weights({"w": W * 3})
        for program in replicas._programs:
            np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X, W * 3))
    with Replicas(path, [1]) as replicas:
        assert replicas.devices == NAMES[1:]


def test_a_failed_device_is_taken_out(
    artifact: Callable[..., Path], sticky: ctypes.Array[ctypes.c_int]
) -> None:
    replicas = Replicas(artifact(), ["cuda:1", "cuda:0"])
    sticky[1] = ILLEGAL_ADDRESS
    outcomes: list[BaseException | None] = []

    def run() -> None:
        while not replicas.failures:
            outcomes.extend([each.exception(20) for each in [replicas.submit(X) for _ in range(9)]])

    with pytest.warns(ConvoyRuntimeWarning, match=r"cuda:1 \(Fake GPU 1\) failed and is removed"):
        run()
    failed = [error for error in outcomes if error is not None]
    assert len(failed) == 1, "the other device runs all other calls"
    assert isinstance(failed[0], CudaError)
    assert failed[0].name == "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert failed[0].__notes__ == ["the device was taken out, because all its later calls fail"]
    assert replicas.devices == NAMES[:1]
    assert replicas.failures == {NAMES[1]: failed[0]}
    replicas.load_weights({"w": W * 2})
    np.testing.assert_array_equal(replicas(X), reference(X, W * 2))
    replicas.close()


def test_no_device_is_left(
    artifact: Callable[..., Path], sticky: ctypes.Array[ctypes.c_int]
) -> None:
    replicas = Replicas(artifact(), most_waiting=100)
    sticky[:] = [ILLEGAL_ADDRESS] * 2
    futures: list[Future[Any]] = []

    def run() -> None:
        with contextlib.suppress(DeviceError):
            while True:
                futures.append(replicas.submit(X))

    with pytest.warns(ConvoyRuntimeWarning, match="is removed"):
        run()
    errors = [future.exception(20) for future in futures]
    lost = [error for error in errors if not isinstance(error, CudaError)]
    assert len(errors) - len(lost) == 2, "each device fails once"
    for error in lost:
        assert isinstance(error, DeviceError)
    with pytest.raises(DeviceError, match="no device of .* is left:\n  cuda:.*\n  cuda:") as raised:
        replicas(X)
    assert raised.value.hint == "start a new process, which can use the devices again"
    assert replicas.devices == ()
    replicas.close()


def test_other_errors_keep_the_device(
    artifact: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """E.g. too little memory."""
    with Replicas(artifact(), ["cuda:0"]) as replicas:

        def fail(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
            if name == "cuGraphLaunch":
                raise CudaError(call=name, name="CUDA_ERROR_OUT_OF_MEMORY", description="none")
            return function(*arguments)

        hook_driver(monkeypatch, fail)
        with pytest.raises(CudaError, match="OUT_OF_MEMORY"):
            replicas(X)
        monkeypatch.undo()
        np.testing.assert_array_equal(replicas(X), reference(X))
        assert replicas.devices == NAMES[:1]


def test_a_load_that_fails_closes_the_others(artifact: Callable[..., Path]) -> None:
    path = artifact()
    before = FAKE.fake_streams()
    with pytest.raises(DeviceError, match="cuda:2: expected a GPU below 2"):
        Replicas(path, [0, 1, 2])
    assert FAKE.fake_streams() == before


def test_benchmark(artifact: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of one device and of both, with arrays on the host and on the devices."""
    flags = ["--devices", "cuda:0", "cuda:1", "--seconds", "0.05", "--rounds", "1"]
    assert benchmark.main([str(artifact()), *flags]) == 0
    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.splitlines()[2:]]
    both = "cuda:0, cuda:1"
    assert rows == [
        ["| host", "cuda:0"],
        ["| host", both],
        ["| device", "cuda:0"],
        ["| device", both],
    ]
