"""Concurrent calls and memset nodes, in captures of the fake driver of libcuda.c."""

from __future__ import annotations

import ctypes
import gc
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, TENSORS, branches_manifest, zeros

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import ArtifactError
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.graphs import arena_gaps, arrangement, forms
from convoy_runtime.cuda.graphs.capture import Stopwatch, capture
from convoy_runtime.cuda.graphs.dependencies import CaptureDependencyRewriter
from convoy_runtime.cuda.graphs.streams import Order, serial_order
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.inspection import program_calls
from convoy_runtime.manifest import Call, Graph, Step
from convoy_runtime.opening import open_artifact


@pytest.fixture
def branches(tmp_path: Path, compile_c: Callable[..., bytes]) -> Callable[..., Path]:
    """An artifact of branches.c."""
    manifest = branches_manifest(
        graphs=(
            Graph("conv", "conv_build", ("convolution", "add", "relu"), "model.py:9", TENSORS),
        ),
        calls=tuple(Call(0, f"model.py:{line}") for line in range(12, 17)),
    )

    def write(*flags: str, **changes: Any) -> Path:
        write_artifact(
            tmp_path / "branches",
            replace(manifest, **changes),
            {"native.so": compile_c("fake_gpu/branches.c", *flags)},
            zeros(manifest),
        )
        return tmp_path / "branches"

    return write


def launched_microseconds(program: CudaProgram) -> float:
    """The duration of one replay: one microsecond per node on the longest path of the graph."""
    with program._device.current():
        stream = program._loaded.stream
        return Stopwatch(program._driver, stream).once(program._loaded.capture())


def runs_right(program: CudaProgram) -> bool:
    """Whether both outputs are twice the input, so that nothing remains of an earlier run."""
    images = [np.full(8, value, np.float16) for value in (3, 7)]
    return all((output == image).all() for image in images for output in program.run_numpy(image))


def test_concurrent_calls(
    branches: Callable[..., Path], fake_cudnn: ctypes.CDLL, tmp_path: Path
) -> None:
    fake_cudnn.fake_offer(2)
    gc.collect()
    before, graphs = FAKE.fake_allocated(), FAKE.fake_graphs()
    path = branches()
    # Without measurements: the calls write less than the GPU holds at a time, so they may run
    # concurrently.
    with convoy_runtime.load(path, plan_cache=False, poison=True) as program:
        assert isinstance(program, CudaProgram)
        assert program.form == "small calls side by side, cleared once"
        assert runs_right(program)
        # A call is two copies, and a memset that one at the start replaces. The longest path is
        # four calls and the copy of their result.
        assert launched_microseconds(program) == pytest.approx(10)
    messages: list[str] = []
    with convoy_runtime.load(
        path, plan_cache=tmp_path, tune="quick", progress=lambda what, *_: messages.append(what)
    ) as program:
        assert isinstance(program, CudaProgram)
        assert program.form == "small calls side by side, cleared once"
        assert runs_right(program)
        members = program.plan_members()
    assert messages[-2:] == [
        "program with calls one after another, cleared once",
        "program with small calls side by side, cleared once",
    ]
    # The measured form is stored and is a member of the artifact, next to the plan.
    assert len(members) == 2
    executed = fake_cudnn.fake_executed()
    with convoy_runtime.load(path, plan_cache=tmp_path) as program:
        assert program.form == "small calls side by side, cleared once"  # type: ignore[attr-defined]
    # It runs once and is captured twice: to find the plans that clear memory, and in its form.
    assert fake_cudnn.fake_executed() == executed + 15
    tuned = tmp_path / "tuned"
    artifact = open_artifact(path)
    write_artifact(
        tuned,
        artifact.manifest,
        {"native.so": bytes(artifact.members["native.so"]), **members},
        artifact.weights(),
    )
    with convoy_runtime.load(tuned, plan_cache=False) as program:
        assert program.form == "small calls side by side, cleared once"  # type: ignore[attr-defined]
        assert runs_right(program)  # type: ignore[arg-type]
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)
    assert (FAKE.fake_allocated(), FAKE.fake_graphs()) == (before, graphs)


def test_form_is_in_the_artifact_without_a_cache(
    branches: Callable[..., Path], fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_offer(2)
    with convoy_runtime.load(branches(), plan_cache=False, tune="quick") as program:
        assert isinstance(program, CudaProgram)
        members = program.plan_members()
    assert sum(b'"form"' in content for content in members.values()) == 1


def test_profile_has_the_dependencies_of_each_call(
    branches: Callable[..., Path], fake_cudnn: ctypes.CDLL
) -> None:
    """Five graphs, then two copies. An artifact that is not loaded has no branches."""
    fake_cudnn.fake_offer(2)
    path = branches(
        steps=(*(Step("call", call) for call in range(5)), Step("copy", 16), Step("copy", 16))
    )
    with convoy_runtime.load(path, plan_cache=False) as program:
        assert isinstance(program, CudaProgram)
        profile = program.profile()
    assert profile.form == "small calls side by side, cleared once"
    assert [timing.after for timing in profile.timings] == [
        (),
        (0,),
        (1,),
        (0,),
        (2, 3),
        (4,),
        (3,),
    ]
    calls = program_calls(open_artifact(path))
    assert [timing.after for timing in calls] == [(), (0,), (1,), (2,), (3,), (4,), (5,)]
    assert [(each.kind, each.index, each.bytes) for each in calls] == [
        (each.kind, each.index, each.bytes) for each in profile.timings
    ]


def test_steps_of_the_manifest_match_the_program(
    branches: Callable[..., Path], fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_offer(2)
    with pytest.raises(
        ArtifactError,
        match=(
            r"manifest\.json: steps: differs from the calls of convoy_main in native\.so: "
            r"expected call 0, call 1"
        ),
    ):
        convoy_runtime.load(branches(steps=(Step("call", 0),)), plan_cache=False)
    with pytest.raises(
        ArtifactError, match="steps: is missing, expected the calls of the program in order"
    ):
        program_calls(open_artifact(branches()))


@pytest.mark.parametrize("tune", ["off", "quick"])
def test_memory_is_initialized_before_the_first_run(
    branches: Callable[..., Path],
    fake_cudnn: ctypes.CDLL,
    monkeypatch: pytest.MonkeyPatch,
    tune: str,
) -> None:
    """Fresh memory may hold anything, and as an index it could trap. So it first holds zeros, or
    random numbers when tuning."""
    fake_cudnn.fake_offer(2)
    found: list[bytes] = []
    right = forms.ProgramCapture._warm_up

    def warm_up(self: forms.ProgramCapture, *arguments: Any) -> None:
        self._queue.driver.call("cuStreamSynchronize", self._queue.stream)
        found.append(ctypes.string_at(self._arguments.inputs[0], 16))
        right(self, *arguments)

    monkeypatch.setattr(forms.ProgramCapture, "_warm_up", warm_up)
    with convoy_runtime.load(branches(), plan_cache=False, tune=tune) as program:  # type: ignore[arg-type]
        assert isinstance(program, CudaProgram)
        assert ctypes.string_at(program._loaded.buffers.arguments.inputs[0], 16) == bytes(16)
    assert found
    assert all(
        (value == bytes(16)) == (tune == "off") and value != bytes([0x7F] * 16) for value in found
    )


def test_missing_dependency_is_detected(
    branches: Callable[..., Path], fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cudnn.fake_offer(2)
    path = branches()
    right = arrangement.order_of

    def wrong(*arguments: Any, lanes: int) -> Order:
        order = right(*arguments, lanes=lanes)
        return replace(order, after=(*order.after[:2], (), *order.after[3:]))

    monkeypatch.setattr(arrangement, "order_of", wrong)
    with convoy_runtime.load(path, plan_cache=False) as program:
        assert not runs_right(program)  # type: ignore[arg-type]
    # With measurements, the form is not faster but wrong.
    with convoy_runtime.load(path, plan_cache=False, tune="quick") as program:
        assert program.form == "calls one after another, cleared once"  # type: ignore[attr-defined]
        assert runs_right(program)  # type: ignore[arg-type]


def test_concurrent_calls_need_more_memory(
    branches: Callable[..., Path], fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_offer(2)
    path = branches()
    # Two branches need two workspaces, one after the other; all tensors together need less.
    fake_cudnn.fake_workspace(ctypes.c_int64(2048))
    FAKE.fake_largest(ctypes.c_long(3072))
    try:
        with convoy_runtime.load(path, plan_cache=False) as program:
            assert program.form == "calls one after another"  # type: ignore[attr-defined]
            assert program.plans[0].engine == 41  # type: ignore[attr-defined]
            assert runs_right(program)  # type: ignore[arg-type]
    finally:
        FAKE.fake_largest(ctypes.c_long(1 << 30))
        fake_cudnn.fake_workspace(ctypes.c_int64(512))


def store_form(path: Path, cache: Path, form: object) -> None:
    """Tunes an artifact, and replaces the form in the cache."""
    with convoy_runtime.load(path, plan_cache=cache, tune="quick"):
        pass
    for file in (cache / "plans").iterdir():
        content = json.loads(file.read_text())
        for record in content["records"]:
            if "form" in record["report"]:
                record["report"]["form"] = form
        file.write_text(json.dumps(content))


def arena_with_gaps(sizes: list[int]) -> dict[str, Any]:
    """The fields of a manifest whose arena has 512 bytes that no call uses behind the slots."""
    steps = (*(Step("call", call) for call in range(5)), Step("copy", 16), Step("copy", 16))
    return {
        "steps": steps,
        "arena_bytes": 1536,
        "gap_offsets": (1024,) * 7,
        "gap_bytes": tuple(sizes),
    }


@pytest.mark.parametrize(
    ("branches_form", "gaps", "workspaces"),
    [
        ("none", [512] * 7, []),
        # Calls 1 and 2 may run beside call 3, which therefore has memory of its own.
        ("all", [512] * 7, [3]),
        # The workspace does not fit in two calls, which share memory, in two lanes.
        ("none", [512, 256, 512, 256, 512, 0, 0], [1]),
        ("all", [512, 256, 512, 256, 512, 0, 0], [1, 3]),
    ],
)
def test_workspaces_in_the_arena(
    branches: Callable[..., Path],
    fake_cudnn: ctypes.CDLL,
    tmp_path: Path,
    branches_form: str,
    gaps: list[int],
    workspaces: list[int],
) -> None:
    fake_cudnn.fake_offer(2)
    path = branches("-DARENA=1536", **arena_with_gaps(gaps))
    store_form(path, tmp_path, {"branches": branches_form, "clear_once": False})
    with convoy_runtime.load(path, plan_cache=tmp_path, poison=True) as program:
        assert isinstance(program, CudaProgram)
        assert runs_right(program)
        assert program._loaded.buffers.program_memory.workspace.size == 512 * len(workspaces)


def test_large_workspaces_in_the_arena(
    branches: Callable[..., Path],
    fake_cudnn: ctypes.CDLL,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All calls have the same workspace, and therefore wait for each other."""
    fake_cudnn.fake_offer(2)
    monkeypatch.setattr(arena_gaps, "LARGE_WORKSPACE", 0)
    path = branches("-DARENA=1536", **arena_with_gaps([512] * 7))
    store_form(path, tmp_path, {"branches": "all", "clear_once": False})
    with convoy_runtime.load(path, plan_cache=tmp_path, poison=True) as program:
        assert isinstance(program, CudaProgram)
        assert program.form == "calls side by side"
        assert runs_right(program)
        assert program._loaded.buffers.program_memory.workspace.size == 0
        # A call takes 3 microseconds, a copy 1. Without waits, calls 1 and 2 are beside call 3.
        assert launched_microseconds(program) == pytest.approx(16)


@pytest.mark.parametrize(
    ("form", "microseconds", "expected_form"),
    [
        ({"branches": "none", "clear_once": False}, 17, "calls one after another"),
        ({"branches": "none", "clear_once": True}, 13, "calls one after another, cleared once"),
        ({"branches": "small", "clear_once": False}, 13, "small calls side by side"),
        ({"branches": "all", "clear_once": False}, 13, "calls side by side"),
        # There is no other form.
        ({"branches": "most", "clear_once": False}, 10, "small calls side by side, cleared once"),
        ({"branches": "all"}, 10, "small calls side by side, cleared once"),
        (None, 10, "small calls side by side, cleared once"),
    ],
)
def test_stored_forms(
    branches: Callable[..., Path],
    fake_cudnn: ctypes.CDLL,
    tmp_path: Path,
    form: object,
    microseconds: int,
    expected_form: str,
) -> None:
    fake_cudnn.fake_offer(2)
    path = branches()
    store_form(path, tmp_path, form)
    with convoy_runtime.load(path, plan_cache=tmp_path) as program:
        assert isinstance(program, CudaProgram)
        assert program.form == expected_form
        assert runs_right(program)
        assert launched_microseconds(program) == pytest.approx(microseconds)


def test_removable_memset_nodes(program: CudaProgram) -> None:
    """Six calls: zeros first, twice zeros first, zeros after a copy, other bytes, zeros elsewhere,
    and zeros after a copy of an earlier step."""
    driver = program._driver
    with program._device.current():
        handle = int(driver.call("cuStreamCreate", 1))
        memory = Allocation(program._device, 2048)
        driver.call("cuMemsetD8Async", memory.pointer, 9, 2048, handle)
        ones = memory.pointer + 1792
        driver.call("cuMemsetD8Async", ones, 1, 16, handle)
        regions = [memory.pointer + 256 * call for call in range(6)]

        def memset(pointer: int, value: int = 0, size: int = 16) -> None:
            driver.call("cuMemsetD8Async", pointer, value, size, handle)

        def copy(pointer: int) -> None:
            driver.call("cuMemcpyDtoDAsync", pointer, ones, 16, handle)

        rewriter = CaptureDependencyRewriter(driver, handle, serial_order(6))
        calls: list[Callable[[int], object]] = [
            lambda at: (memset(at), copy(at + 32)),
            lambda at: (memset(at), memset(at + 16), copy(at + 32)),
            lambda at: (copy(at + 32), memset(at + 40)),
            lambda at: (memset(at, 5), copy(at + 32)),
            lambda at: (memset(at + 248), copy(at + 32)),
            lambda at: (
                copy(at + 32),
                rewriter.between(),
                memset(at),
                copy(at + 48),
                memset(at + 64),
            ),
        ]
        found: list[list[Any]] = []

        def enqueue() -> None:
            memset(memory.pointer, size=512)
            rewriter.start()
            for index, (call, region) in enumerate(zip(calls, regions, strict=False)):
                rewriter.before(index)
                call(region)
                rewriter.after(index)

        def edit(graph: Any) -> None:
            for index in range(len(calls)):
                found.append(rewriter.clears(index, (regions[index], regions[index] + 256)))
                rewriter.remove(graph, found[-1])

        captured = capture(driver, handle, enqueue, edit=edit)
        assert [len(nodes) for nodes in rewriter.nodes] == [2, 3, 2, 2, 2, 4]
        assert [len(nodes) for nodes in found] == [1, 2, 0, 0, 0, 1]
        watch = Stopwatch(driver, handle)
        # One memset, and a chain of the remaining nodes.
        assert watch.once(captured) == pytest.approx(1 + 15 - 4)
        watch.close()
        captured.close()
    content = np.ctypeslib.as_array((ctypes.c_uint8 * 1536).from_address(memory.pointer)).reshape(
        6, 256
    )
    for row, expected in zip(content[:2, :48], ([0] * 32 + [1] * 16,) * 2, strict=True):
        assert row.tolist() == expected
    assert content[2, 32:56].tolist() == [1] * 8 + [0] * 16
    assert content[3, :16].tolist() == [5] * 16
    assert content[5, 8:80:16].tolist() == [9, 9, 1, 1, 0]
