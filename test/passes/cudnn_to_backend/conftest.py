"""Fixtures that build native libraries from graphs, and a stand-in for cuDNN that records its
calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_int64, c_void_p
from dataclasses import dataclass, field
from typing import Any

import native_library
import pytest

from convoy_runtime._abi import ConvoyCudnn

#: Bytes per element, by CUDNN_TYPE_... number, from the C types in cuDNN's reference; all others
#: are C enums.
_SIZES = {0: 8, 2: 1, 3: 8, 4: 4, 5: 8, 6: 8, 15: 8, 23: 4, 24: 1, 26: 16}
_TYPES = 31
_DESCRIPTOR = 15
_HANDLE = 0


@dataclass(frozen=True)
class Set:
    """A cudnnBackendSetAttribute call: `elements` are the raw bytes, or for descriptors their
    numbers in creation order."""

    descriptor: int
    attribute: int
    type: int
    count: int
    elements: bytes | tuple[int, ...]


@dataclass(frozen=True)
class Get:
    """A cudnnBackendGetAttribute call for `count` elements; for descriptors, the numbers of the
    ones to fill in."""

    descriptor: int
    attribute: int
    type: int
    count: int
    elements: tuple[int, ...] = ()


@dataclass
class Recorder:
    """Stands in for cuDNN. Descriptors are numbered from 0 in creation order. The call `fail_at`,
    counted from 0, fails with `status`. `answers` are the bytes that reading an attribute returns,
    by its number. Like cuDNN, it keeps one message about the last error, which the next successful
    call clears."""

    fail_at: int | None = None
    status: int = 2003
    answers: dict[int, bytes] = field(default_factory=dict)
    calls: list[tuple[str, object]] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    alive: set[int] = field(default_factory=set)
    finalized: set[int] = field(default_factory=set)
    destroyed: list[int] = field(default_factory=list)
    reports: list[tuple[int, str, str]] = field(default_factory=list)
    last_error: str = ""
    error_texts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    result: int | None = None

    # Addresses that no payload contains by chance.
    _BASE = 0x7E57_0000_0000

    def _number(self, pointer: int | None) -> int:
        number = ((pointer or 0) - self._BASE) // 64
        if not pointer or (pointer - self._BASE) % 64 or number not in self.alive:
            self.errors.append(
                f"call {len(self.calls)} was given {pointer!r}, which is no descriptor "
                "that is alive"
            )
        return number

    def _done(self, name: str, what: object) -> int:
        self.calls.append((name, what))
        fails = self.fail_at == len(self.calls) - 1
        self.last_error = f"no {name}" if fails else ""
        return self.status if fails else 0

    def _create(self, kind: int, out: ctypes._Pointer[c_void_p]) -> int:
        status = self._done("create", kind)
        if status == 0:
            number = len(self.kinds)
            self.kinds.append(kind)
            self.alive.add(number)
            out[0] = self._BASE + 64 * number
        return status

    def _set(self, descriptor: int, attribute: int, kind: int, count: int, elements: int) -> int:
        number = self._number(descriptor)
        assert kind < _TYPES
        if number in self.finalized:
            self.errors.append(
                f"attribute {attribute} is set after descriptor {number} was finalized"
            )
        data: bytes | tuple[int, ...] = ctypes.string_at(elements, count * _SIZES.get(kind, 4))
        if kind == _DESCRIPTOR:
            data = tuple(
                self._number(pointer) for pointer in (c_void_p * count).from_address(elements)
            )
        return self._done("set", Set(number, attribute, kind, count, data))

    def _finalize(self, descriptor: int) -> int:
        number = self._number(descriptor)
        self.finalized.add(number)
        return self._done("finalize", number)

    def _destroy(self, descriptor: int) -> int:
        number = self._number(descriptor)
        self.alive.discard(number)
        self.destroyed.append(number)
        return self._done("destroy", number)

    def _get(
        self,
        descriptor: int,
        attribute: int,
        kind: int,
        count: int,
        written: ctypes._Pointer[c_int64],
        elements: int,
    ) -> int:
        number = self._number(descriptor)
        if number not in self.finalized:
            self.errors.append(
                f"attribute {attribute} is read before descriptor {number} is finalized"
            )
        filled: tuple[int, ...] = ()
        if kind == _DESCRIPTOR:
            filled = tuple(
                self._number(pointer) for pointer in (c_void_p * count).from_address(elements)
            )
            self.finalized.update(filled)
            written[0] = count
        else:
            size = _SIZES.get(kind, 4)
            ctypes.memmove(elements, self.answers[attribute][: count * size], count * size)
        return self._done("get", Get(number, attribute, kind, count, filled))

    def _execute(self, handle: int | None, plan: int, pack: int) -> int:
        numbers = self._number(plan), self._number(pack)
        if not self.finalized.issuperset(numbers):
            self.errors.append(f"descriptors {numbers} are executed before they are finalized")
        return self._done("execute", (handle, *numbers))

    def _report(self, status: int, call: bytes, location: bytes) -> None:
        self.reports.append((status, call.decode(), location.decode()))
        self.error_texts.append(self.last_error)

    def give(self, kind: int) -> int:
        """The address of a new finalized descriptor that the caller owns."""
        number = len(self.kinds)
        self.kinds.append(kind)
        self.alive.add(number)
        self.finalized.add(number)
        return self._BASE + 64 * number

    def build(self, library: ctypes.CDLL, symbol: str, handle: int | None = None) -> int:
        """Calls the build function of a graph and returns its status; `result` is the number of the
        graph, or None."""
        result = c_void_p(0xDEAD)
        status = self.call(library, symbol, handle, [], [result])
        self.result = self.number_of(result)
        return status

    def number_of(self, result: c_void_p) -> int | None:
        """The number of a returned descriptor."""
        return None if result.value is None else (result.value - self._BASE) // 64

    def call(
        self,
        library: ctypes.CDLL,
        symbol: str,
        handle: int | None,
        arguments: list[int],
        results: list[Any],
    ) -> int:
        """Calls a function of backend calls with addresses as arguments, and returns its status."""
        table = ConvoyCudnn(
            abi_version=3,
            create_descriptor=ConvoyCudnn.CREATE(self._create),
            set_attribute=ConvoyCudnn.SET(self._set),
            finalize=ConvoyCudnn.FINALIZE(self._finalize),
            destroy_descriptor=ConvoyCudnn.DESTROY(self._destroy),
            report=ConvoyCudnn.REPORT(self._report),
            get_attribute=ConvoyCudnn.GET(self._get),
            execute=ConvoyCudnn.EXECUTE(self._execute),
        )
        places = [ctypes.cast(ctypes.byref(result), c_void_p) for result in results]
        signature = ctypes.CFUNCTYPE(
            c_int32,
            ctypes.POINTER(ConvoyCudnn),
            c_void_p,
            *[c_void_p] * (len(arguments) + len(results)),
        )
        status = signature((symbol, library))(ctypes.byref(table), handle, *arguments, *places)
        return int(c_int32(status).value)

    def sets_of(self, descriptor: int) -> dict[int, tuple[int, int, bytes | tuple[int, ...]]]:
        """The attributes of a descriptor: number to (type, count, elements)."""
        sets = [
            what
            for name, what in self.calls
            if isinstance(what, Set) and what.descriptor == descriptor
        ]
        assert len({each.attribute for each in sets}) == len(sets), "an attribute is set twice"
        return {each.attribute: (each.type, each.count, each.elements) for each in sets}

    def kind(self, kind: int) -> list[int]:
        """The numbers of the descriptors of one kind."""
        return [number for number, each in enumerate(self.kinds) if each == kind]


@pytest.fixture(scope="session")
def build_library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ctypes.CDLL]:
    """Compiles a module's text after lowering it with `flags`, and loads the result."""

    def build(text: str, *flags: str) -> ctypes.CDLL:
        path = tmp_path_factory.mktemp("library") / "module.so"
        native_library.compile_calls(text, path, *flags)
        return ctypes.CDLL(str(path))

    return build


@pytest.fixture
def recorder() -> type[Recorder]:
    return Recorder
