"""Lifetimes on the host: native libraries, their threads and descriptors, and their use in forked
children."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, ROOT, Gate, Thread, affine_manifest, in_child, reference

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import Program, _native
from convoy_runtime.manifest import TensorSpec

X = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)
LONG = np.arange(4096, dtype=np.float32)


@pytest.fixture(scope="session")
def loops_so(compile_c: Callable[..., bytes]) -> bytes:
    """The library of loops.c, which has a pool of threads."""
    return compile_c("loops.c", str(ROOT / "runtime/support/convoy_support.c"))


@pytest.fixture
def loops(tmp_path: Path, loops_so: bytes) -> Callable[[int], Path]:
    """Writes an artifact of loops.c. Each native library has distinct contents: bytes after the
    last section of an ELF file are ignored."""

    def write(number: int) -> Path:
        spec = TensorSpec("x", (4096,), "float32")
        manifest = affine_manifest(
            inputs=(spec,),
            outputs=(spec,),
            weights=(),
            prepared=(),
            arena_bytes=0,
            prepare_arena_bytes=0,
        )
        path = tmp_path / f"loops{number}"
        write_artifact(path, manifest, {"native.so": loops_so + number.to_bytes(4, "little")})
        return path

    return write


def libraries() -> int:
    """Number of native libraries that this process has mapped."""
    return len(
        {
            line.split()[4]
            for line in Path("/proc/self/maps").read_text().splitlines()
            if "memfd:convoy-native" in line
        }
    )


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_library_is_unloaded_with_its_last_program(affine: Path, gated: Path, gate: Gate) -> None:
    gc.collect()
    before, opened = libraries(), descriptors()
    first, second = convoy_runtime.load(affine), convoy_runtime.load(affine)
    # The library of both; files are in memory.
    assert (libraries(), descriptors()) == (before + 1, opened + 1)
    first.close()
    y = second(X)
    second.close()
    assert (libraries(), descriptors()) == (before, opened)
    np.testing.assert_array_equal(y, reference(X))
    # A program that was not closed, whose last reference is held by a run.
    program = convoy_runtime.load(gated)
    running = Thread(lambda call=program.__call__: call(X))  # type: ignore[misc]
    gate.wait()
    del program
    assert libraries() == before + 1
    gate.open()
    running.join(10)
    np.testing.assert_array_equal(running.result, reference(X))
    del running
    gc.collect()
    assert (libraries(), descriptors()) == (before, opened)


def test_mismatched_library_is_unloaded(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    gc.collect()
    before = libraries()
    write_artifact(
        tmp_path / "a", affine_manifest(), {"native.so": compile_c("affine.c", "-DABI=99")}
    )
    for _ in range(3):
        with pytest.raises(convoy_runtime.ArtifactError, match="another ABI"):
            convoy_runtime.load(tmp_path / "a")
    gc.collect()
    assert libraries() == before


def test_library_that_stays_loaded_keeps_its_descriptor(
    tmp_path: Path, compile_c: Callable[..., bytes]
) -> None:
    """Otherwise the dynamic linker would confuse it with another library of the same path."""
    gc.collect()
    write_artifact(
        tmp_path / "stays",
        affine_manifest(),
        {"native.so": compile_c("affine.c", "-Wl,-z,nodelete")},
        PREPARED,
    )
    write_artifact(
        tmp_path / "fails",
        affine_manifest(weights=(), prepared=()),
        {"native.so": compile_c("fail.c")},
    )
    before = libraries()
    for _ in range(2):
        with convoy_runtime.load(tmp_path / "stays") as program:
            np.testing.assert_array_equal(program(X), reference(X))
        with pytest.raises(convoy_runtime.ExecutionError, match="convoy_main returned status 41"):
            convoy_runtime.load(tmp_path / "fails")(X)
    gc.collect()
    assert libraries() == before + 2


def test_all_libraries_share_one_thread_pool(
    loops: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVOY_NUM_THREADS", "4")
    monkeypatch.setattr(
        _native, "_threads", None
    )  # a separate pool, whatever other tests have loaded
    gc.collect()
    before, mapped = threads(), libraries()
    programs = [convoy_runtime.load(loops(number)) for number in range(12)]
    for program in programs:
        np.testing.assert_array_equal(program(LONG), LONG + 1)
    assert (threads(), libraries()) == (before + 3, mapped + 12)
    # The first library owns the threads, so it stays loaded as long as another one that uses them.
    for left in reversed(range(12)):
        programs[11 - left].close()
        for program in programs[12 - left :]:
            np.testing.assert_array_equal(program(LONG), LONG + 1)
        assert (threads(), libraries()) == (
            (before + 3, mapped + left + 1) if left else (before, mapped)
        )


def test_concurrent_loops_of_several_programs(
    loops: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One program uses the threads, and the others run their loops on the calling thread: results
    are equal."""
    monkeypatch.setenv("CONVOY_NUM_THREADS", "3")
    monkeypatch.setattr(_native, "_threads", None)
    programs = [convoy_runtime.load(loops(number)) for number in range(4)]

    def work(program: Program) -> bool:
        return all(np.array_equal(program(LONG * step), LONG * step + 1) for step in range(300))

    running = [Thread(lambda program=program: work(program)) for program in programs]  # type: ignore[misc]
    for thread in running:
        thread.join(60)
    assert [thread.result for thread in running] == [True] * 4
    for program in programs:
        program.close()


#: Loads, runs and closes the artifacts in argv[2:] alternately, argv[1] times in all. Prints the
#: increase in mappings and in kilobytes of memory since a tenth of that; descriptors, threads and
#: libraries are as many as before the first.
ROUNDS = """
import gc, itertools, os, sys
import numpy as np
import convoy_runtime

def left():
    gc.collect()
    maps = open("/proc/self/maps").read()
    rss = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), maps.count("\\n"), maps.count("convoy-native"), rss

start = left()
rounds, paths = int(sys.argv[1]), itertools.cycle(sys.argv[2:])
for number in range(rounds):
    with convoy_runtime.load(next(paths)) as program:
        x = [np.ones(spec.shape, spec.dtype) for spec in program.inputs]
        result = program(*x)
    assert (result == result.flat[0]).all() or result.shape == (2, 3)
    if number == rounds // 10:
        early = left()
end = left()
assert end[:2] == start[:2] and end[3] == 0, (start, end)
print(end[2] - early[2], end[4] - early[4])
"""


def _rounds(count: int, *paths: Path) -> tuple[int, int]:
    command = [sys.executable, "-c", ROUNDS, str(count), *map(str, paths)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "CONVOY_NUM_THREADS": "4"},
    )
    assert done.returncode == 0, done.stderr
    mappings, kilobytes = map(int, done.stdout.split())
    return mappings, kilobytes


def test_a_thousand_loads_of_one_artifact_leak_nothing(
    affine: Path, loops: Callable[[int], Path]
) -> None:
    for path in (affine, loops(0)):
        mappings, kilobytes = _rounds(1000, path)
        assert mappings <= 4
        assert kilobytes <= 1024


def test_a_thousand_loads_of_many_artifacts_leak_nothing(loops: Callable[[int], Path]) -> None:
    mappings, kilobytes = _rounds(1000, *(loops(number) for number in range(50)))
    assert mappings <= 4
    assert kilobytes <= 1024


def test_forked_child_loads_runs_and_closes(affine: Path, loops: Callable[[int], Path]) -> None:
    gc.collect()
    before = libraries()
    program, other = convoy_runtime.load(affine), convoy_runtime.load(loops(0))
    other(LONG)

    def use() -> None:
        np.testing.assert_array_equal(program(X), reference(X))
        np.testing.assert_array_equal(other(LONG), LONG + 1)
        with convoy_runtime.load(loops(1)) as fresh:
            np.testing.assert_array_equal(fresh(LONG), LONG + 1)
        program.close()
        other.close()
        assert libraries() == before
        # The threads belong to all programs of the process, those of other tests included.
        assert threads() == 1 or before

    in_child(use)
    # The parent's programs are not affected.
    np.testing.assert_array_equal(program(X), reference(X))
    np.testing.assert_array_equal(other(LONG), LONG + 1)


def test_fork_while_other_threads_load_and_run(
    gated: Path, affine: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = convoy_runtime.load(gated)
    running = Thread(lambda: program(X))
    gate.wait()

    def use() -> None:
        os.environ["AFFINE_GATE"] = ""
        np.testing.assert_array_equal(program(X), reference(X))
        program.close()  # The run of the thread that does not exist here is not waited for.
        with convoy_runtime.load(affine) as fresh:
            np.testing.assert_array_equal(fresh(X), reference(X))

    with _native._lock:
        in_child(use)
    gate.open()
    running.join(10)
    np.testing.assert_array_equal(running.result, reference(X))


def test_fork_during_loops(loops: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVOY_NUM_THREADS", "3")
    monkeypatch.setattr(_native, "_threads", None)
    program, stop = convoy_runtime.load(loops(0)), threading.Event()

    def work() -> None:
        while not stop.is_set():
            np.testing.assert_array_equal(program(LONG), LONG + 1)

    def use() -> None:
        several = [Thread(lambda: program(LONG)) for _ in range(4)]
        for thread in several:
            thread.join()
            np.testing.assert_array_equal(thread.result, LONG + 1)

    running = [Thread(work) for _ in range(2)]
    try:
        for _ in range(40):
            in_child(use)
    finally:
        stop.set()
    for thread in running:
        thread.join(10)
        assert thread.error is None


def _twice(program: Program, factor: int) -> bool:
    return np.array_equal(program(LONG * factor), LONG * factor + 1)


def _load_twice(path: str, factor: int) -> bool:
    with convoy_runtime.load(path) as program:
        return _twice(program, factor)


_inherited: list[Program] = []


def _inherited_twice(factor: int) -> bool:
    return _twice(_inherited[0], factor)


def test_multiprocessing_workers(loops: Callable[[int], Path]) -> None:
    path = loops(0)
    _inherited[:] = [convoy_runtime.load(path)]
    assert _inherited_twice(1)
    try:
        with multiprocessing.get_context("fork").Pool(3) as pool:
            assert pool.map_async(_inherited_twice, range(20)).get(60) == [True] * 20
            assert (
                pool.starmap_async(_load_twice, [(str(path), factor) for factor in range(20)]).get(
                    60
                )
                == [True] * 20
            )
    finally:
        _inherited.clear()
