"""The calls of `convoy_main` to the runtime. cuDNN and the driver only record calls here."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from runtime_fixtures import affine_manifest

from convoy_runtime import ArtifactError, CudnnError
from convoy_runtime._native import load_native
from convoy_runtime.cuda.cudnn.enums import Attribute, Descriptor, Type
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.graphs.calls import Calls, Trace, TracedCall
from convoy_runtime.cuda.graphs.streams import Access
from convoy_runtime.cuda.plans.plan import CudnnPlan, Queue, _variant_pack
from convoy_runtime.errors import DeviceError
from convoy_runtime.manifest import (
    Call,
    Cudnn,
    Graph,
    GraphConstant,
    GraphTensor,
    Kernel,
    KernelArgument,
    Manifest,
)
from convoy_runtime.plan_report import PlanReport

TENSOR = ((1, 2), (2, 1), "float16")
TENSORS = tuple(
    GraphTensor(uid, "output" if uid == 9 else "input", *TENSOR) for uid in (4, 7, 8, 9)
)
MANIFEST = affine_manifest(
    target="cuda",
    graphs=(
        Graph("other", "other_build", (), "", ()),
        Graph("conv", "conv_build", (), "model.py:9", TENSORS),
    ),
    calls=(Call(1, "model.py:12"),),
    cudnn=Cudnn(91900, 90000, "float16"),
)
INPUTS, PREPARED, OUTPUTS, ARENA, WORKSPACE, HANDLE, PLAN = (
    [0x100],
    [0x200, 0x300],
    [0x400],
    0x500,
    0x600,
    0x700,
    0x800,
)


class FakeDescriptor:
    def __init__(self, kind: Descriptor, pointer: int) -> None:
        self.kind, self.pointer, self.attributes, self.state = kind, pointer, {}, "open"

    def set(self, attribute: Attribute, kind: Type, values: Any) -> None:
        self.attributes[attribute.name] = (kind.name, list(values))

    def finalize(self) -> None:
        self.state = "final"

    def close(self) -> None:
        self.state = "closed"


class FakeCudnn:
    """Records descriptors and calls; the next execute raises `failure`."""

    def __init__(self) -> None:
        self.made: list[FakeDescriptor] = []
        self.called: list[tuple[Any, ...]] = []
        self.failure: BaseException | None = None

    def create(self, kind: Descriptor) -> FakeDescriptor:
        self.made.append(FakeDescriptor(kind, 0x1000 + len(self.made)))
        return self.made[-1]

    def call(self, name: str, *arguments: Any, what: str, location: str) -> None:
        if self.failure is not None:
            raise self.failure
        self.called.append((name, *arguments, what, location))


def calls(cudnn: Any, manifest: Manifest = MANIFEST) -> Calls:
    report = PlanReport("conv", "", 0, {}, (), (), 0, "A", 0, ())
    plans = {1: CudnnPlan(report, FakeDescriptor(Descriptor.EXECUTION_PLAN, PLAN))}  # type: ignore[arg-type]
    return Calls(manifest, Queue(None, 0, cudnn, HANDLE), plans, [], [WORKSPACE])  # type: ignore[arg-type]


def run(made: Calls, native: Any, outputs: list[int] = OUTPUTS) -> None:
    made.run(native, INPUTS, PREPARED, outputs, ARENA)


@pytest.fixture
def native(compile_c: Callable[..., bytes]) -> Any:
    return load_native(compile_c("conv.c"))


def test_graph_runs_on_its_plan(native: Any) -> None:
    cudnn = FakeCudnn()
    made = calls(cudnn)
    run(made, native)
    (pack,) = cudnn.made
    assert (pack.kind, pack.state) == (Descriptor.VARIANT_PACK, "closed")
    assert pack.attributes == {
        "VARIANT_PACK_UNIQUE_IDS": ("INT64", [4, 7, 8, 9]),
        "VARIANT_PACK_DATA_POINTERS": ("VOID_PTR", [*INPUTS, *PREPARED, *OUTPUTS]),
        "VARIANT_PACK_WORKSPACE": ("VOID_PTR", [WORKSPACE]),
    }
    assert cudnn.called == [
        ("cudnnBackendExecute", HANDLE, PLAN, pack.pointer, "graph conv, call 0", "model.py:12")
    ]
    run(made, native, [0x900])
    assert cudnn.made[1].attributes["VARIANT_PACK_DATA_POINTERS"][1][-1] == 0x900


def test_memory_accesses_of_graph_calls(native: Any) -> None:
    trace = Trace(MANIFEST)
    trace.run(native, INPUTS, PREPARED, OUTPUTS, ARENA)
    assert trace.graphs == [1]
    assert trace.calls == [TracedCall("graph", 0)]
    # (1, 2) x float16, strides (2, 1).
    assert trace.accesses == [
        Access(((0x100, 0x104), (0x200, 0x204), (0x300, 0x304)), ((0x400, 0x404),))
    ]


def test_memory_accesses_of_kernels_and_copies(compile_c: Callable[..., bytes]) -> None:
    native = load_native(compile_c("fake_gpu/program.c"))
    arguments = tuple(KernelArgument(role, 24) for role in ("input", "inout", "output"))
    manifest = replace(MANIFEST, kernels=(Kernel("scaled_relu", "", 72, arguments),))
    trace = Trace(manifest)
    trace.run(native, INPUTS, PREPARED, OUTPUTS, ARENA)
    x, w, y, arena = (
        (pointer, pointer + 24) for pointer in (INPUTS[0], PREPARED[0], OUTPUTS[0], ARENA)
    )
    assert trace.graphs == [None, None]
    assert trace.calls == [
        TracedCall("kernel", 0, ((3, 1, 1), (2, 1, 1), 0)),
        TracedCall("copy", 0, bytes=48),
    ]
    assert trace.accesses == [Access((x, w), (w, arena)), Access((arena,), (y,))]
    fewer = Trace(replace(manifest, kernels=(Kernel("scaled_relu", "", 72, arguments[:2]),)))
    with pytest.raises(
        ArtifactError,
        match=(
            r"native\.so: convoy_main passes 3 pointers to kernel scaled_relu, which has 2 "
            r"arguments"
        ),
    ):
        fewer.run(native, INPUTS, PREPARED, OUTPUTS, ARENA)


def test_hook_runs_around_each_call(native: Any) -> None:
    cudnn, events = FakeCudnn(), list[tuple[str, int, int]]()

    class Hook:
        def before(self, index: int) -> None:
            events.append(("before", index, len(cudnn.called)))

        def between(self) -> None:
            events.append(("between", -1, len(cudnn.called)))

        def after(self, index: int) -> None:
            events.append(("after", index, len(cudnn.called)))

    report = PlanReport("conv", "", 0, {}, (), (), 0, "A", 0, ())
    plans = {1: CudnnPlan(report, FakeDescriptor(Descriptor.EXECUTION_PLAN, PLAN))}  # type: ignore[arg-type]
    run(Calls(MANIFEST, Queue(None, 0, cudnn, HANDLE), plans, [], [WORKSPACE], Hook()), native)  # type: ignore[arg-type]
    assert events == [("before", 0, 0), ("after", 0, 1)]


def test_constants_of_a_graph_are_read_from_the_host(native: Any) -> None:
    numbers = (
        GraphConstant(10, "float32", "0000c03f"),
        GraphConstant(11, "int64", "0700000000000000"),
    )
    other, conv = MANIFEST.graphs
    cudnn = FakeCudnn()
    made = calls(cudnn, replace(MANIFEST, graphs=(other, replace(conv, constants=numbers))))
    run(made, native)
    _, uids = cudnn.made[0].attributes["VARIANT_PACK_UNIQUE_IDS"]
    assert uids == [4, 7, 8, 9, 10, 11]
    _, pointers = cudnn.made[0].attributes["VARIANT_PACK_DATA_POINTERS"]
    assert pointers[:4] == [*INPUTS, *PREPARED, *OUTPUTS]
    assert ctypes.c_float.from_address(pointers[4]).value == 1.5
    assert ctypes.c_int64.from_address(pointers[5]).value == 7


@pytest.mark.parametrize(
    "error",
    [CudnnError(call="c", status=5000, name="N"), KeyboardInterrupt(), ZeroDivisionError("z")],
)
def test_exception_of_a_callback_is_raised(native: Any, error: BaseException) -> None:
    cudnn = FakeCudnn()
    made = calls(cudnn)
    cudnn.failure = error
    with pytest.raises(type(error)) as caught:
        run(made, native)
    assert caught.value is error
    cudnn.failure = None
    run(made, native)
    assert len(cudnn.called) == 1


def test_mismatch_of_native_code_and_manifest(native: Any, compile_c: Callable[..., bytes]) -> None:
    beyond = load_native(compile_c("conv.c", "-DCALL=3"))
    with pytest.raises(ArtifactError, match=r"native\.so: convoy_main runs call 3 of 1"):
        run(calls(FakeCudnn()), beyond)
    fewer = affine_manifest(graphs=(MANIFEST.graphs[0],), calls=(Call(0, ""),))
    with pytest.raises(
        ArtifactError, match="call 0 passes 4 pointers to graph other, which has 0 tensors"
    ):
        run(calls(FakeCudnn(), fewer), native)


def test_cudnn_finalizes_the_variant_pack() -> None:
    try:
        cudnn = open_cudnn()
    except DeviceError as error:
        pytest.skip(str(error))
    pack = _variant_pack(cudnn, MANIFEST.graphs[1], (0x100, 0x200, 0x300, 0x400), WORKSPACE)
    # Finalized inside; its contents cannot be read back.
    assert pack.pointer
    pack.close()
    pack.close()
    assert pack.pointer == 0
    with pytest.raises(
        CudnnError, match=r"cudnnBackendFinalize \(VARIANT_PACK\) failed: CUDNN_STATUS_BAD_PARAM"
    ):
        pack.finalize()
