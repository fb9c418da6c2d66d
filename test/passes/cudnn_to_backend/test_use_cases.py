"""The three use cases of chapter 9.3 of cuDNN's reference: their calls in order, with numbers
copied by hand from cudnn_graph.h.

Omissions and misprints of the chapter are noted at their places. Destroying comes after the
chapter's calls, because the chapter omits it.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Iterator
from ctypes import c_int64, c_void_p
from pathlib import Path
from typing import Any

import pytest

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.library import Cudnn

INPUTS = Path(__file__).parent / "Inputs"

# Kinds of descriptors, then attribute types.
CONVOLUTION, ENGINE, ENGINECFG, ENGINEHEUR, PLAN, KNOB_CHOICE, KNOB_INFO = 1, 2, 3, 4, 5, 7, 8
FORWARD, GRAPH, PACK, TENSOR = 10, 15, 16, 17
HANDLE, DATA_TYPE, INT64, FLOAT, VOID_PTR, CONVOLUTION_MODE, HEUR_MODE, KNOB_TYPE, DESCRIPTOR = (
    0,
    1,
    3,
    4,
    6,
    7,
    8,
    9,
    15,
)

N, G, C, D, H, W = 2, 3, 4, 5, 6, 7
K, T, R, S = 8, 2, 3, 4
O, P, Q = D - T + 1, H - R + 1, W - S + 1  # noqa: E741


def packed(*dims: int) -> list[int]:
    strides = [1]
    for dim in reversed(dims[1:]):
        strides.insert(0, strides[0] * dim)
    return strides


def i64(*numbers: int) -> tuple[int, int, bytes]:
    return INT64, len(numbers), struct.pack(f"<{len(numbers)}q", *numbers)


def enum(kind: int, number: int) -> tuple[int, int, bytes]:
    return kind, 1, struct.pack("<i", number)


def f32(value: float) -> tuple[int, int, bytes]:
    return FLOAT, 1, struct.pack("<f", value)


def refs(*descriptors: int) -> tuple[int, int, tuple[int, ...]]:
    return DESCRIPTOR, len(descriptors), descriptors


def pointers(*addresses: int) -> tuple[int, int, bytes]:
    return VOID_PTR, len(addresses), struct.pack(f"<{len(addresses)}Q", *addresses)


def plain(calls: list[tuple[str, Any]]) -> list[tuple[Any, ...]]:
    """Calls in the form ("set", descriptor, attribute, type, count, elements) etc."""
    found: list[tuple[Any, ...]] = []
    for name, what in calls:
        if name == "set":
            found.append(
                (name, what.descriptor, what.attribute, what.type, what.count, what.elements)
            )
        elif name == "get":
            found.append((name, what.descriptor, what.attribute, what.type, what.count))
        else:
            found.append((name, what))
    return found


def sets(descriptor: int, *pairs: tuple[int, tuple[int, int, Any]]) -> list[tuple[Any, ...]]:
    return [("set", descriptor, attribute, *value) for attribute, value in pairs]


HANDLE_ADDRESS = 0x1234_5678_9ABC
HANDLE_VALUE = (HANDLE, 1, struct.pack("<Q", HANDLE_ADDRESS))


def grouped_convolution(
    x: list[int], w: list[int], y: list[int], uids: tuple[int, int, int]
) -> list[tuple[Any, ...]]:
    """9.3.1, with the dims of the tensors. Descriptors 0 to 5 are x, w, y, the operator, the
    operation and the graph."""
    calls: list[tuple[Any, ...]] = []
    for number, (dims, uid) in enumerate(zip((x, w, y), uids, strict=True)):
        calls += [
            ("create", TENSOR),
            *sets(
                number,
                (901, enum(DATA_TYPE, 0)),  # CUDNN_DATA_FLOAT
                (902, i64(*dims)),
                (903, i64(*packed(*dims))),
                (906, i64(uid)),
                (900, i64(4)),
            ),
            ("finalize", number),
        ]
    calls += [
        ("create", CONVOLUTION),
        *sets(
            3,
            (106, i64(3)),
            (100, enum(DATA_TYPE, 0)),
            (101, enum(CONVOLUTION_MODE, 0)),  # CUDNN_CONVOLUTION
            (105, i64(0, 0, 0)),
            (104, i64(0, 0, 0)),
            (102, i64(1, 1, 1)),
            (103, i64(1, 1, 1)),
        ),
        ("finalize", 3),
        ("create", FORWARD),
        # The chapter passes alpha and beta by value, with their dtype as the type; the call expects
        # addresses and CUDNN_TYPE_FLOAT.
        *sets(
            4,
            (704, refs(0)),
            (703, refs(1)),
            (705, refs(2)),
            (702, refs(3)),
            (700, f32(1.0)),
            (701, f32(0.5)),
        ),
        ("finalize", 4),
        ("create", GRAPH),
        *sets(5, (801, refs(4)), (800, HANDLE_VALUE)),
        ("finalize", 5),
    ]
    return calls


@pytest.fixture(scope="module")
def library(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    return build_library((INPUTS / "use-cases.mlir").read_text())


def test_grouped_convolution(library: ctypes.CDLL, recorder: type) -> None:
    """9.3.1: tensors of six dims, e.g. [n, g, c, d, h, w]."""
    record = recorder()
    assert record.build(library, "grouped_convolution", HANDLE_ADDRESS) == 0
    assert record.errors == []
    dims = [N, G, C, D, H, W], [G, K, C, T, R, S], [N, G, K, O, P, Q]
    expected = grouped_convolution(*dims, (ord("x"), ord("w"), ord("y")))
    assert plain(record.calls)[: len(expected)] == expected
    assert plain(record.calls)[len(expected) :] == [
        ("destroy", number) for number in (4, 3, 2, 1, 0)
    ]
    assert record.result == 5


def test_engine_configuration(library: ctypes.CDLL, recorder: type) -> None:
    """9.3.2: engine 0 of a graph, no knobs. The chapter omits the creation of the configuration."""
    record, result = recorder(), c_void_p(1)
    graph = record.give(GRAPH)
    assert record.call(library, "engine_configuration", None, [graph], [result]) == 0
    assert record.errors == []
    expected = [
        ("create", ENGINE),
        *sets(1, (1300, refs(0)), (1301, i64(0))),
        ("finalize", 1),
        ("create", ENGINECFG),
        *sets(2, (300, refs(1))),
        ("finalize", 2),
    ]
    assert plain(record.calls)[: len(expected)] == expected
    assert plain(record.calls)[len(expected) :] == [("destroy", 1)]
    assert record.number_of(result) == 2
    assert record.alive == {0, 2}


def test_engine_configuration_with_a_knob(library: ctypes.CDLL, recorder: type) -> None:
    """9.3.2, with its optional query of the engine's knobs; one is read and set to its maximum."""
    record, result, maximum = (
        recorder(answers={1200: enum(KNOB_TYPE, 17)[2], 1201: i64(31)[2]}),
        c_void_p(1),
        c_int64(),
    )
    graph = record.give(GRAPH)
    kind = ctypes.c_int32()
    assert (
        record.call(
            library, "engine_configuration_with_a_knob", None, [graph], [result, kind, maximum]
        )
        == 0
    )
    assert record.errors == []
    assert plain(record.calls) == [
        ("create", ENGINE),
        *sets(1, (1300, refs(0)), (1301, i64(0))),
        ("finalize", 1),
        ("create", KNOB_INFO),
        ("get", 1, 1302, DESCRIPTOR, 1),
        ("get", 2, 1200, KNOB_TYPE, 1),
        ("get", 2, 1201, INT64, 1),
        ("create", KNOB_CHOICE),
        *sets(3, (600, enum(KNOB_TYPE, 17)), (601, i64(31))),
        ("finalize", 3),
        ("create", ENGINECFG),
        *sets(4, (300, refs(1)), (302, refs(3))),
        ("finalize", 4),
        ("destroy", 3),
        ("destroy", 2),
        ("destroy", 1),
    ]
    assert (kind.value, maximum.value) == (17, 31)
    assert record.number_of(result) == 4


def test_execution_plan(library: ctypes.CDLL, recorder: type) -> None:
    """9.3.3, first step: a plan and its workspace size."""
    record, result, workspace = recorder(answers={402: i64(4096)[2]}), c_void_p(1), c_int64(-1)
    configuration = record.give(ENGINECFG)
    assert record.call(library, "execution_plan", None, [configuration], [result, workspace]) == 0
    assert record.errors == []
    assert plain(record.calls) == [
        ("create", PLAN),
        *sets(1, (401, refs(0))),
        ("finalize", 1),
        ("get", 1, 402, INT64, 1),
    ]
    assert record.number_of(result) == 1
    assert workspace.value == 4096


def test_execution(library: ctypes.CDLL, recorder: type) -> None:
    """9.3.3, the other steps: a variant pack and its execution."""
    record = recorder()
    plan = record.give(PLAN)
    x, w, y, workspace = 0x1000, 0x2000, 0x3000, 0x4000
    assert record.call(library, "execution", HANDLE_ADDRESS, [plan, x, w, y, workspace], []) == 0
    assert record.errors == []
    assert plain(record.calls) == [
        ("create", PACK),
        *sets(
            1,
            (1001, pointers(x, w, y)),
            (1000, i64(ord("x"), ord("w"), ord("y"))),
            (1003, pointers(workspace)),
        ),
        ("finalize", 1),
        ("execute", (HANDLE_ADDRESS, 0, 1)),
        ("destroy", 1),
    ]
    assert record.alive == {0}


_GIVEN = {
    "engine_configuration": [GRAPH],
    "engine_configuration_with_a_knob": [GRAPH],
    "execution_plan": [ENGINECFG],
    "execution": [PLAN],
}


@pytest.mark.parametrize("name", _GIVEN)
def test_every_call_may_fail(library: ctypes.CDLL, recorder: type, name: str) -> None:
    """The caller's descriptors are kept, those created here are destroyed, and every result
    descriptor is null."""
    answers = {402: i64(1)[2], 1200: enum(KNOB_TYPE, 17)[2], 1201: i64(31)[2]}
    whole = recorder(answers=answers)

    def run(record: Any) -> tuple[int, list[Any]]:
        given = [record.give(kind) for kind in _GIVEN[name]]
        results = (
            []
            if name == "execution"
            else [c_void_p(1), c_int64(), c_int64()][
                : 3 if "knob" in name else 2 if "plan" in name else 1
            ]
        )
        return record.call(
            library, name, 7, [*given, *([1, 2, 3, 4] if name == "execution" else [])], results
        ), results

    assert run(whole)[0] == 0
    for number, (call_name, _) in enumerate(whole.calls):
        record = recorder(fail_at=number, status=2000 + number, answers=answers)
        status, results = run(record)
        assert status == 2000 + number
        assert record.errors == []
        assert record.alive == set(range(len(_GIVEN[name])))
        assert record.error_texts == [f"no {call_name}"]
        assert len(record.reports) == 1
        assert re.fullmatch(r"<stdin>:\d+", record.reports[0][2])
        assert all(result.value is None for result in results if isinstance(result, c_void_p))


_GRAPH = """
!x = !cudnn.tensor_desc<2x12x5x6x7xf32, alignment = 4>
!w = !cudnn.tensor_desc<24x4x2x3x4xf32, alignment = 4>
!y = !cudnn.tensor_desc<2x24x4x4x4xf32, alignment = 4>
cudnn.graph @grouped(%x: !x, %w: !w) -> !y {
  %y = cudnn.convolution(%x, %w) kind = convolution type = f32 beta = 0.5 spatial_stride = [1, 1, 1] pre_padding = [0, 0, 0]
      post_padding = [0, 0, 0] dilation = [1, 1, 1] : !x, !w -> !y
  cudnn.return %y : !y
}
"""


def _normalized(calls: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Between creation and finalization attributes may be set in any order, and setting a default
    equals not setting it."""
    virtual_is_false = (907, 2, 1, b"\0")
    found: list[tuple[Any, ...]] = []
    pending: list[tuple[Any, ...]] = []
    for call in calls:
        if call[0] == "set":
            pending += [call] if call[2:] != virtual_is_false else []
            continue
        found += sorted(pending, key=lambda each: each[2])
        pending = []
        found.append(call)
    return found


def test_grouped_convolution_of_six_dims_as_a_graph(
    build_library: Callable[..., ctypes.CDLL], recorder: type
) -> None:
    """9.3.1 literally, with its uids, written as a graph and lowered."""
    library = build_library(
        (INPUTS / "graphs/tensors.mlir").read_text(), "--convert-cudnn-graphs-to-backend"
    )
    record = recorder()
    assert record.build(library, "group_dim_build", HANDLE_ADDRESS) == 0
    assert record.errors == []
    expected = grouped_convolution(
        [N, G, C, D, H, W], [G, K, C, T, R, S], [N, G, K, O, P, Q], (ord("x"), ord("w"), ord("y"))
    )
    assert _normalized(plain(record.calls))[: len(expected)] == _normalized(expected)


def test_grouped_convolution_as_a_graph(
    build_library: Callable[..., ctypes.CDLL], recorder: type
) -> None:
    """9.3.1 in its compatible form, with the groups within the channels, written as a graph and
    lowered."""
    library = build_library(_GRAPH, "--convert-cudnn-graphs-to-backend")
    record = recorder()
    assert record.build(library, "grouped_build", HANDLE_ADDRESS) == 0
    assert record.errors == []
    # The uids of a graph without explicit ones: operands, then results.
    expected = grouped_convolution(
        [N, G * C, D, H, W], [G * K, C, T, R, S], [N, G * K, O, P, Q], (1, 2, 3)
    )
    assert _normalized(plain(record.calls))[: len(expected)] == _normalized(expected)
    assert [name for name, *_ in plain(record.calls)[-5:]] == ["destroy"] * 5
    assert record.result == 5


_ENGINES = """
cudnn_backend.func @engines(%handle, %graph: !cudnn_backend.descriptor<operationgraph>) {
  %count = cudnn_backend.get %graph, <operationgraph_engine_global_count> : <operationgraph> -> i64
  cudnn_backend.return %count : i64
}
"""


class Real:
    """The functions on the real cuDNN, without a handle. Keeps the returned descriptors."""

    def __init__(self, cudnn: Cudnn) -> None:
        self.cudnn, self.failures = cudnn, []
        self.made: list[c_void_p] = []
        self._report = ConvoyCudnn.REPORT(self._failed)
        self._table = cudnn.table(self._report)

    def _failed(self, status: int, call: bytes, location: bytes) -> None:
        self.failures.append(str(self.cudnn.error(status, call.decode(), location.decode())))

    def call(
        self, library: ctypes.CDLL, name: str, arguments: list[Any], results: list[Any]
    ) -> int:
        signature = ctypes.CFUNCTYPE(
            ctypes.c_int32,
            ctypes.POINTER(ConvoyCudnn),
            c_void_p,
            *[c_void_p] * len(arguments),
            *[ctypes.POINTER(type(each)) for each in results],
        )
        self.failures.clear()
        status = signature((name, library))(
            ctypes.byref(self._table), None, *arguments, *map(ctypes.byref, results)
        )
        self.made += [each for each in results if isinstance(each, c_void_p)]
        return status

    def close(self) -> None:
        for descriptor in reversed(self.made):
            self.cudnn.call("cudnnBackendDestroyDescriptor", descriptor)


@pytest.fixture
def real(cudnn: Cudnn) -> Iterator[Real]:
    made = Real(cudnn)
    yield made
    made.close()


_GRAPHS = ("grouped_convolution", "grouped_convolution_of_five_dims")


@pytest.mark.parametrize("name", _GRAPHS)
def test_cudnn_finalizes_the_graph(
    real: Real, library: ctypes.CDLL, build_library: Callable[..., ctypes.CDLL], name: str
) -> None:
    """9.3.1 on the real cuDNN, without a GPU and without a handle, and the number of engines that
    9.3.2 chooses from."""
    graph, count = c_void_p(), c_int64(-1)
    assert real.call(library, name, [], [graph]) == 0, real.failures
    assert real.call(build_library(_ENGINES), "engines", [graph], [count]) == 0, real.failures
    assert count.value > 0


def test_an_engine_configuration_requires_a_device(real: Real, library: ctypes.CDLL) -> None:
    """9.3.2 without a GPU stops at the engine configuration. The engine itself is finalized."""
    graph, configuration = c_void_p(), c_void_p()
    assert real.call(library, "grouped_convolution", [], [graph]) == 0, real.failures
    assert real.call(library, "engine_configuration", [graph], [configuration]) == 3000
    (failure,) = real.failures
    assert "cudnnBackendFinalize(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)" in failure
    assert "CUDNN_STATUS_NOT_SUPPORTED (3000)" in failure
    real.made.remove(configuration)  # null


@pytest.mark.parametrize("name", _GRAPHS)
def test_cudnn_finalizes_the_plan_for_a_described_gpu(
    real: Real, library: ctypes.CDLL, cublaslt: None, name: str
) -> None:
    """9.3.2 and the first step of 9.3.3 without a GPU: engine 0 has a plan for an H200."""
    if real.cudnn.version != 91900:
        pytest.skip(f"the description of the GPU is that of cuDNN 9.19, not {real.cudnn.version}")
    device = device_properties(real.cudnn, device_file("h200", real.cudnn.version))
    graph, configuration, plan, workspace = c_void_p(), c_void_p(), c_void_p(), c_int64(-1)
    assert real.call(library, name, [], [graph]) == 0, real.failures
    arguments = [graph, c_void_p(device.pointer)]
    status = real.call(library, "engine_configuration_for_device", arguments, [configuration])
    assert status == 0, real.failures
    arguments[0] = configuration
    status = real.call(library, "execution_plan_for_device", arguments, [plan, workspace])
    assert status == 0, real.failures
    assert workspace.value >= 0
    device.close()


def test_heuristic_configuration(library: ctypes.CDLL, recorder: type) -> None:
    """In place of 9.3.2: cuDNN fills the configuration, which is then finalized."""
    record, result, count = recorder(), c_void_p(1), c_int64(-1)
    graph = record.give(GRAPH)
    assert record.call(library, "heuristic_configuration", None, [graph], [result, count]) == 0
    assert record.errors == []
    assert plain(record.calls) == [
        ("create", ENGINEHEUR),
        *sets(1, (201, refs(0)), (200, enum(HEUR_MODE, 3))),
        ("finalize", 1),
        ("create", ENGINECFG),
        ("get", 1, 202, DESCRIPTOR, 1),
        ("destroy", 1),
    ]
    assert (record.number_of(result), count.value) == (2, 1)
    assert record.alive == {0, 2}
