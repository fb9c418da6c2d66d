"""What a graph's build function says to cuDNN, written down. No cuDNN is needed: the function gets
a table of entry points that record."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from ._abi import ABI_VERSION, ConvoyCudnn
from .errors import ConvoyRuntimeError
from .value_types import value_type

__all__ = ["Call", "RecordedDescriptor", "Recording", "RecordingError", "Setting", "record"]

_HANDLE, _DESCRIPTOR = 0, 15
#: Bytes of an element by cudnnBackendAttributeType_t; all other types up to _LAST_TYPE are enums of
#: 4 bytes.
_BYTES = {_HANDLE: 8, 2: 1, 3: 8, 5: 8, 6: 8, _DESCRIPTOR: 8, 24: 1, 26: 16}
_LAST_TYPE = 30


class RecordingError(ConvoyRuntimeError):
    """The build function failed, or said something whose size is not known here."""


@value_type(frozen=True, slots=True)
class Setting:
    """One cudnnBackendSetAttribute. `data` are the raw bytes of `count` elements of the
    cudnnBackendAttributeType_t `type`; for descriptors their places in Recording.descriptors; for a
    handle, which is of its process, nothing."""

    type: int
    count: int
    data: bytes | tuple[int, ...]


@dataclass(slots=True)
class RecordedDescriptor:
    """A descriptor of the cudnnBackendDescriptorType_t `kind`, and what was set on it by
    cudnnBackendAttributeName_t, in that order."""

    kind: int
    settings: dict[int, Setting] = field(default_factory=dict)
    finalized: bool = False


@value_type(frozen=True, slots=True)
class Call:
    """A call as it was made: `name` is create, set or finalize, `descriptor` the place of what it
    was made on; a set has the rest."""

    name: str
    descriptor: int
    attribute: int = -1
    setting: Setting | None = None


@value_type(frozen=True, slots=True)
class Recording:
    """Every descriptor in the order of creation, every call in its order; `result` is the place of
    the operation graph."""

    descriptors: tuple[RecordedDescriptor, ...]
    result: int
    calls: tuple[Call, ...] = ()


def record(build: Any) -> Recording:
    """Runs a graph's build function (`_abi.BUILD_GRAPH`) without cuDNN. Raises RecordingError."""
    descriptors: list[RecordedDescriptor] = []
    calls: list[Call] = []
    problems: list[str] = []

    # Descriptors are handed out as their place plus one: a null descriptor is an error to generated
    # code.
    def place(descriptor: int | None) -> int:
        if not descriptor or descriptor > len(descriptors):
            problems.append(f"{descriptor} is no descriptor that was created")
            return -1
        return descriptor - 1

    def create(kind: int, result: Any) -> int:
        calls.append(Call("create", len(descriptors)))
        descriptors.append(RecordedDescriptor(kind))
        result[0] = len(descriptors)
        return 0

    def set_attribute(
        descriptor: int | None, attribute: int, kind: int, count: int, elements: int | None
    ) -> int:
        target = place(descriptor)
        if not 0 <= kind <= _LAST_TYPE:
            problems.append(
                f"attribute {attribute} has elements of type {kind}, whose size is not known"
            )
        if problems:
            return 1
        data: bytes | tuple[int, ...] = b""
        if kind == _DESCRIPTOR and elements:
            data = tuple(place(each) for each in (ctypes.c_void_p * count).from_address(elements))
        elif kind != _HANDLE and elements:
            data = ctypes.string_at(elements, count * _BYTES.get(kind, 4))
        setting = Setting(kind, count, data)
        descriptors[target].settings[attribute] = setting
        calls.append(Call("set", target, attribute, setting))
        return 0

    def finalize(descriptor: int | None) -> int:
        target = place(descriptor)
        if problems:
            return 1
        descriptors[target].finalized = True
        calls.append(Call("finalize", target))
        return 0

    def report(status: int, call: bytes, location: bytes) -> None:
        problems.append(f"{call.decode(errors='replace')} at {location.decode(errors='replace')}")

    table = ConvoyCudnn(
        ABI_VERSION,
        0,
        ConvoyCudnn.CREATE(create),
        ConvoyCudnn.SET(set_attribute),
        ConvoyCudnn.FINALIZE(finalize),
        ConvoyCudnn.DESTROY(lambda _: 0),
        ConvoyCudnn.REPORT(report),
    )
    result = ctypes.c_void_p()
    status = build(ctypes.byref(table), None, ctypes.byref(result))
    if status or problems:
        raise RecordingError("; ".join(problems) or f"the build function returned {status}")
    return Recording(tuple(descriptors), place(result.value), tuple(calls))
