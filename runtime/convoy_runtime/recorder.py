# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Records the cuDNN calls of a graph's build function. cuDNN is not needed: the function gets a
table of recording entry points."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from ._abi import ABI_VERSION, ConvoyCudnn
from .attribute_types import DESCRIPTOR, ELEMENT_BYTES, HANDLE
from .errors import ConvoyRuntimeError
from .value_types import value_type

__all__ = ["Call", "RecordedDescriptor", "Recording", "RecordingError", "Setting", "record"]


class RecordingError(ConvoyRuntimeError):
    """The build function failed, or set an attribute of an unknown type."""


@value_type(frozen=True, slots=True)
class Setting:
    """A cudnnBackendSetAttribute.

    Attributes:
        type: The cudnnBackendAttributeType_t.
        count: The number of elements.
        data: The raw bytes of the elements. For descriptors, their indices into
            `Recording.descriptors`; empty for a handle, whose value depends on the process.
    """

    type: int
    count: int
    data: bytes | tuple[int, ...]


@dataclass(slots=True)
class RecordedDescriptor:
    """A descriptor.

    Attributes:
        kind: The cudnnBackendDescriptorType_t.
        settings: cudnnBackendAttributeName_t to setting, in the order of the calls.
        finalized: Whether cudnnBackendFinalize was called.
    """

    kind: int
    settings: dict[int, Setting] = field(default_factory=dict)
    finalized: bool = False


@value_type(frozen=True, slots=True)
class Call:
    """A call. `name` is "create", "set" or "finalize", and `descriptor` the index of its
    descriptor. A set also has the attribute and the setting."""

    name: str
    descriptor: int
    attribute: int = -1
    setting: Setting | None = None


@value_type(frozen=True, slots=True)
class Recording:
    """The descriptors in the order of creation, and the calls in order. `result` is the index of
    the operation graph."""

    descriptors: tuple[RecordedDescriptor, ...]
    result: int
    calls: tuple[Call, ...] = ()


def record(build: Any) -> Recording:
    """Runs a build function without cuDNN.

    Args:
        build: The function, an `_abi.BUILD_GRAPH`.

    Returns:
        The recorded calls.

    Raises:
        RecordingError: The function failed, or set an attribute of an unknown type.
    """
    descriptors: list[RecordedDescriptor] = []
    calls: list[Call] = []
    problems: list[str] = []

    # A descriptor is its index plus one, because generated code treats a null descriptor as an
    # error.
    def place(descriptor: int | None) -> int:
        if not descriptor or descriptor > len(descriptors):
            problems.append(f"{descriptor} is not a created descriptor")
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
        if kind not in ELEMENT_BYTES:
            problems.append(
                f"attribute {attribute} has elements of type {kind}, whose size is unknown"
            )
        if problems:
            return 1
        data: bytes | tuple[int, ...] = b""
        if kind == DESCRIPTOR and elements:
            data = tuple(place(each) for each in (ctypes.c_void_p * count).from_address(elements))
        elif kind != HANDLE and elements:
            data = ctypes.string_at(elements, count * ELEMENT_BYTES[kind])
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
