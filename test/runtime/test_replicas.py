"""Replicas on the host: order, the bounded queue, errors of calls, and closing."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import B, Gate, S, Thread, W, in_child, reference

import convoy_runtime
from convoy_runtime import ArgumentError, ConvoyRuntimeError, DeviceError, Replicas, WeightsError
from convoy_runtime.cpu import CpuProgram

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def test_results_belong_to_their_futures(affine: Path) -> None:
    with Replicas(affine, ["cpu"] * 3) as replicas:
        assert replicas.devices == ("cpu",) * 3
        futures = [replicas.submit(X * factor) for factor in range(50)]
        for factor, future in enumerate(futures):
            np.testing.assert_array_equal(future.result(20), reference(X * np.float32(factor)))
        np.testing.assert_array_equal(replicas(X), reference(X))
    assert not any(thread.is_alive() for thread in replicas._threads)


def test_weights_are_shared(affine: Path, affine_bare: Path) -> None:
    with Replicas(affine, ["cpu"] * 2) as replicas:
        addresses = []
        for program in replicas._programs:
            assert isinstance(program, CpuProgram)
            assert program._code is not None
            addresses.append([array.ctypes.data for array in program._code[2]])
        assert addresses[0] == addresses[1]
    weights = {"w": W, "s": S, "b": B}
    with Replicas(affine_bare, ["cpu"] * 2) as replicas:
        with pytest.raises(WeightsError, match="was compiled without weights"):
            replicas(X)
        with pytest.raises(WeightsError, match="1 weights do not match"):
            replicas.load_weights({"w": W, "s": S})
        replicas.load_weights({**weights, "w": W * 2})
        for each in [replicas.submit(X) for _ in range(8)]:
            np.testing.assert_array_equal(each.result(20), reference(X, W * 2))
    with Replicas(affine_bare, weights=weights) as replicas:
        assert replicas.devices == ("cpu",)
        np.testing.assert_array_equal(replicas(X), reference(X))


def test_the_error_of_a_call_is_in_its_future(affine: Path) -> None:
    with Replicas(affine) as replicas:
        good, bad = replicas.submit(X), replicas.submit(X[:1])
        last = replicas.submit(X)
        with pytest.raises(ArgumentError, match="input 'x': wrong shape"):
            bad.result(20)
        for future in (good, last):
            np.testing.assert_array_equal(future.result(20), reference(X))
        assert replicas.devices == ("cpu",)
        assert replicas.failures == {}


def test_devices_are_kept_busy_and_the_queue_is_bounded(gated: Path, gate: Gate) -> None:
    replicas = Replicas(gated, ["cpu"] * 2, most_waiting=1)
    running = [replicas.submit(X) for _ in range(2)]
    gate.wait()
    gate.wait()  # both programs run
    waiting = replicas.submit(X)
    blocked = Thread(lambda: replicas.submit(X).result(20))
    blocked.join(0.1)
    assert blocked.is_alive()
    assert not any(future.done() for future in (*running, waiting))
    for _ in range(4):
        gate.open()
    blocked.join(20)
    assert blocked.error is None
    np.testing.assert_array_equal(blocked.result, reference(X))
    for future in (*running, waiting):
        np.testing.assert_array_equal(future.result(20), reference(X))
    replicas.close()


def test_close_drains(gated: Path, gate: Gate) -> None:
    replicas = Replicas(gated, most_waiting=2)
    futures = [replicas.submit(X) for _ in range(3)]
    gate.wait()
    blocked = Thread(lambda: replicas.submit(X))
    assert futures[2].cancel()
    closing = Thread(replicas.close)
    blocked.join(20)
    # A cancelled call makes no room until a thread has seen it.
    assert isinstance(blocked.error, ConvoyRuntimeError)
    assert closing.is_alive()
    gate.open()
    gate.open()
    closing.join(20)
    assert not closing.is_alive()
    for future in futures[:2]:
        np.testing.assert_array_equal(future.result(0), reference(X))
    with pytest.raises(CancelledError):
        futures[2].result(0)
    with pytest.raises(ConvoyRuntimeError, match=r"the replicas of .*gated are closed"):
        replicas.submit(X)
    replicas.close()


def test_nothing_of_a_call_stays_alive(affine: Path) -> None:
    with Replicas(affine) as replicas:
        x = X.copy()
        future = replicas.submit(x)
        future.result(20)
        alive = weakref.ref(future)
        del future
        for _ in range(1000):
            gc.collect()
            if alive() is None:
                break
            replicas._threads[0].join(0.01)
        assert alive() is None


def test_arguments(affine: Path) -> None:
    for devices, message in (
        ([], "devices: is empty: expected at least one device"),
        (["gpu"], "device: unknown name"),
    ):
        with pytest.raises(ArgumentError, match=message):
            Replicas(affine, devices)
    with pytest.raises(ArgumentError, match="most_waiting: out of range: expected at least 1"):
        Replicas(affine, most_waiting=0)
    with pytest.raises(DeviceError, match="was compiled for cpu and cannot run on cuda"):
        Replicas(affine, ["cpu", "cuda:0"])


def test_a_forked_child_refuses(affine: Path) -> None:
    replicas = Replicas(affine)

    def child() -> None:
        for call in (lambda: replicas.submit(X), lambda: replicas.load_weights({})):
            with pytest.raises(ConvoyRuntimeError, match="was forked from the one that made"):
                call()
        replicas.close()
        with Replicas(affine) as own:
            np.testing.assert_array_equal(own(X), reference(X))

    in_child(child)
    np.testing.assert_array_equal(replicas(X), reference(X))
    replicas.close()


def test_dynamic_sizes(tmp_path: Path) -> None:
    """Calls of any declared size, also between points."""
    torch = pytest.importorskip("torch")

    import convoy

    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval()
    shapes = ({0: torch.export.Dim("batch", min=1, max=4)},)
    path = tmp_path / "dynamic.convoy"
    convoy.compile(
        module, (torch.ones(2, 8),), target="cpu", dynamic_shapes=shapes, points={"batch": [1, 4]}
    ).save(path)
    with Replicas(path, ["cpu"] * 2) as replicas, torch.no_grad():
        given = [torch.randn(rows, 8) for rows in (1, 3, 4, 2) * 4]
        futures = [replicas.submit(each) for each in given]
        for x, future in zip(given, futures, strict=True):
            assert isinstance(future.result(20), np.ndarray)
            np.testing.assert_allclose(future.result(), module(x).numpy(), atol=1e-5)
        with pytest.raises(ArgumentError, match="batch is not in its range"):
            replicas(torch.randn(5, 8))
    assert convoy_runtime.Replicas is Replicas
