"""The enums of the dialect have the enumerators and numbers of Descriptors.def."""

from __future__ import annotations

import pytest

from tools.cudnn_ops import enum_cases
from tools.descriptors import read_table

TABLE = read_table()
ENUMS = {kind.name: cases for kind in TABLE.types if (cases := enum_cases(kind.ctype))}


def test_enums_are_found() -> None:
    assert len(ENUMS) > 10


@pytest.mark.parametrize("name", ENUMS)
def test_cases_equal_the_table(name: str) -> None:
    """The dialect may also have enumerators that the table leaves out, with a reason."""
    listed = {each.name: each.number for each in TABLE.of_type(name)}
    cases = ENUMS[name]
    assert {case: number for case, number in cases.items() if case in listed} == listed
    left_out = tuple(each.cname.lower() for each in TABLE.left_out)
    for case in cases.keys() - listed.keys():
        assert any(cname.endswith(f"_{case}") for cname in left_out), case
    assert len(set(cases.values())) == len(cases)
