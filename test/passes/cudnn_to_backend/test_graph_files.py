"""Every graph in the files of Inputs/graphs: the real cuDNN finalizes it, and every call of its
builder fails once. Then nothing leaks or crashes, and the caller gets the failed call, its source
line and the reason. A graph that is added there is tested here."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from convoy_runtime._abi import BUILD_GRAPH, ConvoyCudnn
from convoy_runtime.cuda.cudnn.library import Cudnn
from tools.cudnn_ops import lowered_names, lowered_operations

GRAPHS = Path(__file__).parent / "Inputs/graphs"
FLAGS = ("--convert-cudnn-graphs-to-backend=minimum-version=91900",)
NAMES = {
    "create": "cudnnBackendCreateDescriptor(CUDNN_BACKEND_",
    "set": "cudnnBackendSetAttribute(CUDNN_ATTR_",
    "finalize": "cudnnBackendFinalize(CUDNN_BACKEND_",
    "destroy": "cudnnBackendDestroyDescriptor(CUDNN_BACKEND_",
}
TENSOR, GRAPH = 17, 15
MODULES = {path.name: path.read_text() for path in sorted(GRAPHS.glob("*.mlir"))}
CASES = [
    (module, name)
    for module, text in MODULES.items()
    for name in re.findall(r"^cudnn\.graph @(\w+)", text, re.MULTILINE)
]
#: Number of failed calls, for the last test.
failed: list[int] = []


@pytest.fixture(scope="module")
def library_of(build_library: Callable[..., ctypes.CDLL]) -> Callable[[str], ctypes.CDLL]:
    return cache(lambda module: build_library(MODULES[module], *FLAGS))


def _lines(module: str, name: str) -> tuple[int, set[int], set[int]]:
    """Lines of a graph: its first one, those where an op begins, and all of them."""
    text = MODULES[module]
    start = text.index(f"cudnn.graph @{name}(")
    first = 1 + text.count("\n", 0, start)
    body = text[start : text.index("\n}", start)].split("\n")
    ops = {
        first + at
        for at, line in enumerate(body)
        if at and re.match(r"\s+%[\w:, %]+ = cudnn\.", line)
    }
    return first, ops, set(range(first, first + len(body)))


def _allowed(call: str, kind: int, place: tuple[int, set[int], set[int]]) -> set[int]:
    """Possible source lines of a call on a descriptor of this kind: the graph itself and the final
    destruction have the graph's first line."""
    first, ops, lines = place
    return {first} if kind == GRAPH or call == "destroy" else lines if kind == TENSOR else ops


@pytest.mark.parametrize(("module", "name"), CASES, ids=[name for _, name in CASES])
def test_every_call_may_fail(
    library_of: Callable[[str], ctypes.CDLL], recorder: type, module: str, name: str
) -> None:
    library, symbol, place = library_of(module), f"{name}_build", _lines(module, name)
    whole = recorder()
    assert whole.build(library, symbol, handle=1) == 0
    assert whole.errors == []
    assert whole.alive == {whole.result}
    assert len(whole.calls) > 15
    for number, (call_name, what) in enumerate(whole.calls):
        record = recorder(fail_at=number, status=2000 + number)
        assert record.build(library, symbol, handle=1) == 2000 + number
        assert record.errors == []
        assert record.calls[:number] == whole.calls[:number]
        # One report before the clean-up, while cuDNN still has its message; then only destruction,
        # each descriptor once, in reverse order.
        ((status, call, location),) = record.reports
        assert status == 2000 + number
        assert record.error_texts == [f"no {call_name}"]
        assert call.startswith(NAMES[call_name])
        kind = (
            what
            if call_name == "create"
            else whole.kinds[what.descriptor if call_name == "set" else what]
        )
        file, _, line = location.partition(":")
        assert file == "<stdin>"
        assert int(line) in _allowed(call_name, kind, place), (call, location)
        after = record.calls[number + 1 :]
        assert all(each == "destroy" for each, _ in after)
        assert [what for _, what in after] == sorted((what for _, what in after), reverse=True)
        assert record.alive == set()
        assert sorted(record.destroyed) == list(range(len(record.kinds)))
        assert record.result is None
        failed.append(number)


@pytest.mark.parametrize(("module", "name"), CASES, ids=[name for _, name in CASES])
def test_cudnn_finalizes(
    cudnn: Cudnn, library_of: Callable[[str], ctypes.CDLL], module: str, name: str
) -> None:
    failures: list[str] = []
    report = ConvoyCudnn.REPORT(
        lambda status, call, location: failures.append(
            str(cudnn.error(status, call.decode(), location.decode()))
        )
    )
    table, result = cudnn.table(report), ctypes.c_void_p()
    status = BUILD_GRAPH((f"{name}_build", library_of(module)))(
        ctypes.byref(table), None, ctypes.byref(result)
    )
    assert (status, failures) == (0, [])
    cudnn.call("cudnnBackendDestroyDescriptor", result)


def test_every_lowering_is_covered_by_the_graphs(convoy_opt: Callable[..., str]) -> None:
    """The operations lowered by the sources, listed by tools.cudnn_ops, equal those that the
    compiler writes for these graphs."""
    assert len({name for _, name in CASES}) == len(CASES)
    text = "\n".join(MODULES.values())
    missing = [op for op in lowered_operations() if not re.search(rf"= cudnn\.{op}\b", text)]
    assert not missing, f"no graph in {GRAPHS} has {missing}"
    built = "\n".join(convoy_opt(module, *FLAGS) for module in MODULES.values())
    kinds, attributes = lowered_names()
    assert set(re.findall(r"cudnn_backend\.create <(\w+)>", built)) == kinds
    written = set(re.findall(r"cudnn_backend\.set %\w+, <(\w+)>", built))
    assert written <= attributes
    assert not attributes - written, f"no graph in {GRAPHS} sets these attributes"


def test_count(request: pytest.FixtureRequest) -> None:
    """Runs last: reports the number of failed calls."""
    if len(CASES) == sum(
        each.name.startswith("test_every_call_may_fail") for each in request.session.items
    ):
        print(f"{len(failed)} calls of {len(CASES)} graphs failed in turn")
        assert len(failed) > 1500
