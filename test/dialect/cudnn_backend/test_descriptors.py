"""Descriptors.def equals cudnn_graph.h, cuDNN's own header."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tools.descriptors import Header, Table, find_header, read_header, read_table

_SIZES = {
    "cudnnHandle_t": 8,
    "cudnnBackendDescriptor_t": 8,
    "void *": 8,
    "int64_t": 8,
    "double": 8,
    "float": 4,
    "int32_t": 4,
}
_SIZES |= {"bool": 1, "char": 1, "cudnnFraction_t": 16}


@pytest.fixture(scope="module")
def table() -> Table:
    return read_table()


@pytest.fixture(scope="module")
def header() -> Header:
    """The enums of cudnn_graph.h of the nvidia-cudnn wheel."""
    found = find_header()
    if found is None:
        pytest.skip("no header of cuDNN: pip install --no-deps nvidia-cudnn-cu13==9.19.0.56")
    return read_header(found)


def test_types(table: Table, header: Header) -> None:
    assert {each.cname: each.number for each in table.types} == header[
        "cudnnBackendAttributeType_t"
    ]
    for each in table.types:
        assert each.ctype in _SIZES or each.ctype in header, each
        assert each.size == _SIZES.get(each.ctype, 4), "a C enum has four bytes"


def test_enumerators(table: Table, header: Header) -> None:
    """Every enumerator that an attribute may hold is listed with its number, or omitted with a
    reason."""
    left_out = {each.cname: each.reason for each in table.left_out}
    assert len(left_out) == len(table.left_out)
    known: set[str] = set()
    for kind in table.types:
        if kind.ctype in _SIZES or kind.name == "attrib_name":
            assert not table.of_type(kind.name)
            continue
        there = header[kind.ctype]
        known |= set(there)
        here = {each.cname: each.number for each in table.of_type(kind.name)}
        assert here, kind
        assert here == {
            cname: number for cname, number in there.items() if cname not in left_out
        }, kind
    assert set(left_out) <= known, "an omitted enumerator is not in the header"
    assert all(len(reason) > 10 for reason in left_out.values())
    for each in table.enumerators:
        assert each.cname.lower().endswith(each.name), each
        assert 90000 <= each.since <= 91900, each


def test_descriptors(table: Table, header: Header) -> None:
    assert {each.cname: each.number for each in table.descriptors} == header[
        "cudnnBackendDescriptorType_t"
    ]
    assert all(90000 <= each.since <= 91900 for each in table.descriptors)


def test_attributes(table: Table, header: Header) -> None:
    assert {each.cname: each.number for each in table.attributes} == header[
        "cudnnBackendAttributeName_t"
    ]
    assert max(Counter(each.name for each in table.attributes).values()) == 1
    kinds = {each.kind: each for each in table.descriptors}
    types = {each.name for each in table.types}
    for each in table.attributes:
        assert each.kind in kinds
        assert each.type in types
        assert each.alternative in types | {"none"}
        assert each.count in {"one", "dims", "spatial", "many", "any"}
        assert each.need in {"required", "optional", "either", "read_only", "reserved"}
        assert (each.element != "none") == ("descriptor" in (each.type, each.alternative)), each
        assert each.element in set(kinds) | {"operation", "none"}
        assert each.initial == "none" or each.need == "optional", (
            "what must be set has no initial value"
        )
        assert kinds[each.kind].since <= each.since <= 91900, each
        enumerators = {word.name for word in table.of_type(each.type)}
        assert not enumerators or each.initial in enumerators | {"none"}, each
    # Attributes of one descriptor are contiguous, as the look-up requires.
    order = [each.kind for each in table.attributes]
    assert (
        len([1 for before, after in pairwise(order) if before != after]) + 1
        == len(set(order))
        == len(kinds)
    )


#: The attributes that cuDNN's reference required for the descriptors in its chapter 9. Since then
#: the handle and the knob choices have become optional. A plan needs an engine configuration unless
#: it is created from JSON.
_REQUIRED = {
    "convolution": "comp_type conv_mode dilations filter_strides pre_paddings post_paddings",
    "engine": "operation_graph global_index",
    "enginecfg": "engine",
    "engineheur": "operation_graph mode",
    "execution_plan": "engine_config",
    "intermediate_info": "",
    "knob_choice": "knob_type knob_value",
    "knob_info": "",
    "layout_info": "",
    "operation_convolution_backward_data": "alpha beta conv_desc w dx dy",
    "operation_convolution_backward_filter": "alpha beta conv_desc dw x dy",
    "operation_convolution_forward": "alpha beta conv_desc w x y",
    "operation_gen_stats": "mode math_prec xdesc sumdesc sqsumdesc",
    "operation_pointwise": "pw_descriptor xdesc ydesc",
    "operationgraph": "ops",
    "tensor": "unique_id data_type byte_alignment dimensions strides",
    "variant_pack": "unique_ids data_pointers workspace",
}
_READ_ONLY = {
    "engine": "knob_info numerical_note layout_info",
    "enginecfg": "intermediate_info",
    "engineheur": "results",
    "execution_plan": "workspace_size",
    "intermediate_info": "unique_id size dependent_data_uids",
    "knob_info": "type maximum_value minimum_value stride",
    "layout_info": "tensor_uid types",
    "operationgraph": "engine_global_count",
}
_PREFIXES = {
    "operation_convolution_backward_data": "operation_convolution_bwd_data",
    "operation_convolution_backward_filter": "operation_convolution_bwd_filter",
    "operation_gen_stats": "operation_genstats",
}


def test_required_attributes_of_the_reference(table: Table) -> None:
    need = {each.name: each.need for each in table.attributes}
    assert len(_REQUIRED) == 17
    assert set(_REQUIRED) <= {each.kind for each in table.descriptors}
    for kinds, needs in (
        (_REQUIRED, {"required", "either"}),
        (_READ_ONLY, {"read_only", "reserved"}),
    ):
        for kind, names in kinds.items():
            for name in names.split():
                assert need[f"{_PREFIXES.get(kind, kind)}_{name}"] in needs, (kind, name)
