"""Every number of Descriptors.def is the one of cuDNN's own header."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_SIZES = {"HANDLE": 8, "BOOLEAN": 1, "INT64": 8, "FLOAT": 4, "DOUBLE": 8, "BACKEND_DESCRIPTOR": 8}


@pytest.fixture(scope="module")
def header() -> dict[str, int]:
    """Enumerators of cudnn_graph.h of the nvidia-cudnn wheel, name to number."""
    spec = find_spec("nvidia.cudnn")
    folders = [Path(each) for each in spec.submodule_search_locations] if spec and spec.submodule_search_locations else []
    found = next((each / "include/cudnn_graph.h" for each in folders if (each / "include/cudnn_graph.h").exists()), None)
    if found is None:
        pytest.skip("no header of cuDNN: pip install --no-deps nvidia-cudnn-cu13==9.19.0.56")
    text = found.read_text()
    return {name: int(number) for name, number in re.findall(r"\b(CUDNN_\w+)(?:\s+CUDNN_DEPRECATED_ENUM)?\s*=\s*(\d+)", text)}


def _rows(macro: str) -> list[list[str]]:
    text = (_ROOT / "dialect/cudnn_backend/Descriptors.def").read_text()
    rows = [[part.strip() for part in body.split(",")] for body in re.findall(rf"^{macro}\(([^)]*)\)", text, re.MULTILINE)]
    assert rows, f"no {macro} found"
    return rows


def test_types(header: dict[str, int]) -> None:
    for _, cname, number, size in _rows("BACKEND_TYPE"):
        assert header[cname] == int(number), cname
        assert int(size) == _SIZES.get(cname.removeprefix("CUDNN_TYPE_"), 4), cname


def test_enumerators(header: dict[str, int]) -> None:
    types = {row[0] for row in _rows("BACKEND_TYPE")}
    for kind, name, cname, number, since in _rows("BACKEND_ENUM"):
        assert header[cname] == int(number), cname
        assert cname.lower().endswith(name), cname
        assert kind in types
        assert 90000 <= int(since) <= 91900, cname


def test_descriptors(header: dict[str, int]) -> None:
    for kind, number, _ in _rows("BACKEND_DESCRIPTOR"):
        assert header[f"CUDNN_BACKEND_{kind.upper()}_DESCRIPTOR"] == int(number), kind


def test_attributes(header: dict[str, int]) -> None:
    kinds = {row[0] for row in _rows("BACKEND_DESCRIPTOR")}
    types = {row[0] for row in _rows("BACKEND_TYPE")}
    rows = _rows("BACKEND_ATTRIBUTE")
    assert max(Counter(row[1] for row in rows).values()) == 1
    for kind, name, number, kind_of_value, alternative, count, need, element, since in rows:
        assert header[f"CUDNN_ATTR_{name.upper()}"] == int(number), name
        assert kind in kinds
        assert kind_of_value in types
        assert alternative in types | {"none"}
        assert count in {"one", "dims", "spatial", "many"}
        assert need in {"required", "optional"}
        assert (element != "none") == (kind_of_value == "descriptor"), name
        assert element in kinds | {"operation", "none"}
        assert 90000 <= int(since) <= 91900, name
    # Attributes of one descriptor lie together, as the look-up wants.
    order = [row[0] for row in rows]
    assert len([1 for before, after in pairwise(order) if before != after]) + 1 == len(set(order)) == len(kinds)


def test_the_reference_s_required_attributes() -> None:
    """What cuDNN's reference calls required, for the descriptors that its chapter 9 describes; the handle has since become optional."""
    required = {row[1] for row in _rows("BACKEND_ATTRIBUTE") if row[6] == "required"}
    for kind, names in {
        "tensor": "unique_id data_type byte_alignment dimensions strides",
        "convolution": "comp_type conv_mode dilations filter_strides pre_paddings post_paddings",
        "operation_convolution_forward": "alpha beta conv_desc w x y",
        "operation_convolution_bwd_data": "alpha beta conv_desc w dx dy",
        "operation_convolution_bwd_filter": "alpha beta conv_desc dw x dy",
        "operation_pointwise": "pw_descriptor xdesc",
        "operationgraph": "ops",
    }.items():
        assert {f"{kind}_{name}" for name in names.split()} <= required, kind
