"""`close`, `load_weights` and `run_into` on the host, during runs of other threads and within a
run."""

from __future__ import annotations

import copy
import pickle
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import B, Gate, S, Thread, W, affine_manifest, reference

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import ArgumentError, ConvoyRuntimeError, Program
from convoy_runtime.manifest import TensorSpec

X = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)


def test_close_waits_for_the_runs_of_other_threads(gated: Path, gate: Gate) -> None:
    program = convoy_runtime.load(gated)
    runs = [Thread(lambda: program(X)) for _ in range(2)]
    gate.wait()
    gate.wait()
    closers = [Thread(program.close) for _ in range(2)]
    while not program.closed:
        time.sleep(0.001)
    # Other calls are refused immediately.
    with pytest.raises(ConvoyRuntimeError, match=r"the program .*gated is closed"):
        program(X)
    gate.open()
    time.sleep(0.2)
    assert all(closer.is_alive() for closer in closers)
    gate.open()
    for thread in (*closers, *runs):
        thread.join(10)
        assert not thread.is_alive()
    for run in runs:
        np.testing.assert_array_equal(run.result, reference(X))


class Closing:
    """An array that calls a function when it is accessed."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function

    def __dlpack__(self, **_: object) -> object:
        self._function()
        return X.copy().__dlpack__()


def test_close_within_a_call_of_the_same_thread(affine: Path) -> None:
    program = convoy_runtime.load(affine)
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program(Closing(program.close))
    program = convoy_runtime.load(affine)
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program.run_into([np.zeros((2, 3), np.float32)], [Closing(program.close)])


def test_close_during_runs_and_load_weights(affine: Path) -> None:
    """Each call returns a correct result or raises that the program is closed; in particular
    nothing crashes."""
    wrong: list[object] = []

    def work(program: Program) -> None:
        try:
            while True:
                y = program(X)
                if not any(np.array_equal(y, reference(X, w=W * factor)) for factor in (1, 2)):
                    wrong.append(y)
        except ConvoyRuntimeError as error:
            if "is closed" not in str(error):
                wrong.append(error)

    def replace_weights(program: Program) -> None:
        try:
            while True:
                for factor in (2, 1):
                    program.load_weights({"w": W * factor, "s": S, "b": B})
        except ConvoyRuntimeError as error:
            if "is closed" not in str(error):
                wrong.append(error)

    for round_number in range(30):
        program = convoy_runtime.load(affine)
        running = [Thread(lambda program=program: work(program)) for _ in range(3)] + [
            Thread(lambda program=program: replace_weights(program))
        ]  # type: ignore[misc]
        time.sleep(0.001 * (round_number % 5))
        program.close()
        for thread in running:
            thread.join(10)
            assert thread.error is None
            assert not thread.is_alive()
    assert not wrong


def test_load_weights_does_not_reopen_a_program_closed_meanwhile(
    gated: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFFINE_GATE", "prepare")
    program = convoy_runtime.load(gated)
    loading = Thread(lambda: program.load_weights({"w": W, "s": S, "b": B}))
    gate.wait()
    program.close()
    gate.open()
    loading.join(10)
    assert isinstance(loading.error, ConvoyRuntimeError)
    assert "is closed" in str(loading.error)
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program(X)


def test_signal_handler_may_run_and_close_the_program(affine: Path) -> None:
    """At any point between two Python instructions, so also during a run of the same thread."""
    program, calls = convoy_runtime.load(affine, poison=True), 0

    def handler(*_: object) -> None:
        nonlocal calls
        calls += 1
        if not program.closed:
            np.testing.assert_array_equal(program(X), reference(X))
        # Another call may have counted during the run.
        if calls >= 500:
            program.close()

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)

    def run() -> None:
        while True:
            np.testing.assert_array_equal(program(X), reference(X))

    try:
        with pytest.raises(ConvoyRuntimeError, match="is closed"):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls >= 500


def test_overlapping_outputs_are_refused(
    affine: Path, tmp_path: Path, compile_c: Callable[..., bytes]
) -> None:
    memory = np.zeros(64, np.float32)
    memory = memory[-(memory.ctypes.data // 4) % 16 :]
    for poison in (False, True):
        program = convoy_runtime.load(affine, poison=poison)
        # An output may overlap an input, which is read first.
        x = memory[:6].reshape(2, 3)
        x[:] = X
        program.run_into([x], [x])
        np.testing.assert_array_equal(x, reference(X))
    spec = TensorSpec("x", (3,), "float32")
    outputs = (TensorSpec("y", (3,), "float32"), TensorSpec("z", (3,), "float32"))
    manifest = affine_manifest(
        inputs=(spec,),
        outputs=outputs,
        weights=(),
        prepared=(),
        arena_bytes=0,
        prepare_arena_bytes=0,
    )
    write_artifact(tmp_path / "pair", manifest, {"native.so": compile_c("pair.c")})
    program = convoy_runtime.load(tmp_path / "pair", poison=True)
    memory[:] = range(len(memory))
    program.run_into([memory[1:4], memory[4:7]], [memory[2:5]])
    np.testing.assert_array_equal(memory[:8], [0, 2, 3, 4, -2, -3, -4, 7])
    with pytest.raises(
        ArgumentError, match="output 'y': overlaps output 'z': expected arrays that share no memory"
    ):
        program.run_into([memory[2:5], memory[:3]], [X[0]])


@pytest.mark.parametrize("copy_it", [copy.copy, copy.deepcopy, pickle.dumps])
def test_programs_are_not_copied(affine: Path, copy_it: Callable[[object], object]) -> None:
    """A copy would close the original's code."""
    with convoy_runtime.load(affine) as program, convoy_runtime.Replicas(affine) as replicas:
        for each in (program, replicas):
            with pytest.raises(
                TypeError, match="cannot be copied or pickled, because it owns native"
            ):
                copy_it(each)
        np.testing.assert_array_equal(program(X), reference(X))
