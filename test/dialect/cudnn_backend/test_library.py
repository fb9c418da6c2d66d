"""The real cuDNN accepts exactly the attribute types that Descriptors.def lists. No GPU is
needed."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p

import pytest

from convoy_runtime.cuda.cudnn.library import Cudnn
from tools.descriptors import Attribute, read_table

TABLE = read_table()
KINDS = {each.kind: each.number for each in TABLE.descriptors}
NUMBERS = {each.name: each.number for each in TABLE.types}
TENSOR = KINDS["tensor"]
ROOM = 4096

#: What cuDNN accepts beyond the list: for a number one C type suffices, and text is passed by its
#: address under any name.
ALSO = {
    "operation_convolution_forward_alpha": {"int32"},
    "operation_convolution_forward_beta": {"int32"},
    "matmul_padding_value": {"int32", "int64"},
    "deviceprop_json_representation": set(NUMBERS),
    "kernel_cache_json_representation": set(NUMBERS),
}
#: cuDNN dereferences these at once: they hold finalized descriptors, a handle or text, which the
#: use cases and the planner set.
FOLLOWED = {
    "handle",
    "operationgraph",
    "engine",
    "enginecfg",
    "knob_choice",
    "deviceprop",
    "kernel_cache",
    "operation",
}
#: These depend on another attribute of their descriptor. cuDNN also ends the process on a
#: heuristics query for a finalized graph if there is no cuBLASLt.
LATER = {"engine", "enginecfg", "engineheur"}


def _covered() -> list[Attribute]:
    def settable(each: Attribute) -> bool:
        plain = each.type not in FOLLOWED and each.element not in FOLLOWED
        return (
            each.need not in ("read_only", "reserved")
            and plain
            and each.name != "execution_plan_json_representation"
        )

    return [each for each in TABLE.attributes if settable(each) and each.kind not in LATER]


def _create(cudnn: Cudnn, kind: int) -> c_void_p:
    pointer = c_void_p()
    cudnn.call("cudnnBackendCreateDescriptor", kind, ctypes.byref(pointer))
    return pointer


def _takes(cudnn: Cudnn, attribute: Attribute, type_number: int, tensor: c_void_p) -> bool:
    """Whether cuDNN accepts one element of a type: zeros, or a tensor."""
    descriptor = _create(cudnn, KINDS[attribute.kind])
    room = ctypes.create_string_buffer(ROOM)
    if type_number == NUMBERS["descriptor"]:
        ctypes.cast(room, ctypes.POINTER(c_void_p))[0] = tensor.value
    status = cudnn.library.cudnnBackendSetAttribute(
        descriptor, c_int32(attribute.number), c_int32(type_number), c_int64(1), room
    )
    cudnn.last_error()
    cudnn.library.cudnnBackendDestroyDescriptor(descriptor)
    return bool(status == 0)


def test_most_attributes_are_covered() -> None:
    assert len(_covered()) > 230


@pytest.mark.parametrize("attribute", _covered(), ids=lambda each: each.name)
def test_accepted_types(cudnn: Cudnn, attribute: Attribute) -> None:
    tensor = _create(cudnn, TENSOR)
    expected = {attribute.type, attribute.alternative} - {"none"}
    # An operation that expects another kind of descriptor than a tensor is given a tensor here; it
    # may refuse it only when it is finalized.
    candidates = {
        name: number
        for name, number in NUMBERS.items()
        if name != "descriptor" or "descriptor" in expected
    }
    taken = {
        name for name, number in candidates.items() if _takes(cudnn, attribute, number, tensor)
    }
    assert taken - ALSO.get(attribute.name, set()) == expected - ALSO.get(attribute.name, set())
    assert expected <= taken


def test_reserved_descriptor_kind_is_refused(cudnn: Cudnn) -> None:
    pointer = c_void_p()
    number = KINDS["intermediate_info"]
    assert cudnn.library.cudnnBackendCreateDescriptor(c_int32(number), ctypes.byref(pointer)) != 0
