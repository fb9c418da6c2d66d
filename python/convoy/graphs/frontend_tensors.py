# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The tensors of cudnn-frontend's serialized graphs, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.graphs.frontend_checks import is_int, is_ints, read_float
from convoy.graphs.frontend_json import FLOAT_SCALARS, SCALAR_TYPES, scalar_json
from convoy.graphs.model import DEFAULT_ALIGNMENT, Tensor

__all__ = ["other_values", "read_tensors"]


def read_tensors(entries: Any, problems: list[str]) -> dict[int, Tensor]:
    """Reads the tensors of a serialized graph.

    Args:
        entries: The JSON value.
        problems: Receives a message for each invalid tensor.

    Returns:
        uid to tensor, without invalid ones.
    """
    if not isinstance(entries, list):
        problems.append(f"expected a list of tensors, got {entries!r}")
        return {}
    found: dict[int, Tensor] = {}
    for entry in entries:
        tensor = _tensor(entry, problems)
        if tensor is None:
            continue
        if tensor.uid in found:
            problems.append(f"duplicate tensor {tensor.uid}")
        found[tensor.uid] = tensor
    for tensor in found.values():
        if tensor.ragged_offset is not None and tensor.ragged_offset not in found:
            problems.append(
                f"tensor {tensor.uid}: its ragged offset, tensor {tensor.ragged_offset}, is missing"
            )
    return found


def _tensor(entry: Any, problems: list[str]) -> Tensor | None:
    if not isinstance(entry, dict) or not is_int(entry.get("uid")):
        problems.append(f"expected a tensor with a uid, got {entry!r}")
        return None
    what = f"tensor {entry['uid']}"
    known = {
        "uid", "name", "dim", "stride", "data_type", "is_virtual", "is_pass_by_value",
        "pass_by_value", "reordering_type",
        "ragged_offset_uid", "ragged_offset_name", "alignment",
    }  # fmt: skip
    before = len(problems)
    problems += [f"{what}: the field {key!r} is unknown" for key in entry if key not in known]
    dims: Any = entry.get("dim")
    strides: Any = entry.get("stride")
    if not is_ints(dims) or not is_ints(strides) or len(dims) != len(strides):
        problems.append(f"{what}: expected as many strides as dims, got {dims!r} and {strides!r}")
    elif not dims:
        problems.append(
            f"{what}: expected dims, got none: call graph.validate() before the graph is printed"
        )
    if not isinstance(entry.get("data_type"), str):
        problems.append(
            f"{what}: expected a data type, got {entry.get('data_type')!r}: call "
            "graph.validate() before the graph is printed"
        )
    for key in ("is_virtual", "is_pass_by_value"):
        if not isinstance(entry.get(key, False), bool):
            problems.append(f"{what}: expected {key} to be true or false, got {entry[key]!r}")
    alignment = entry.get("alignment", DEFAULT_ALIGNMENT)
    if not is_int(alignment):
        problems.append(f"{what}: expected an alignment in bytes, got {alignment!r}")
    ragged_offset = entry.get("ragged_offset_uid")
    if ragged_offset is not None and not is_int(ragged_offset):
        problems.append(f"{what}: expected the uid of its ragged offset, got {ragged_offset!r}")
    value = _scalar(entry, what, problems)
    if len(problems) != before:
        return None
    return Tensor(
        uid=entry["uid"],
        dims=tuple(dims),
        strides=tuple(strides),
        data_type=entry["data_type"],
        virtual=entry.get("is_virtual", False),
        by_value=entry.get("is_pass_by_value", False),
        alignment=alignment,
        reordering=entry.get("reordering_type") or "NONE",
        ragged_offset=ragged_offset,
        value=value,
        name=str(entry.get("name") or ""),
    )


def other_values(document: Mapping[str, Any], tensors: Mapping[int, Tensor]) -> list[str]:
    """Checks a plan's list of the values of by-value tensors. Returns a message for each value that
    differs from that of the tensor."""
    given = document.get("pass_by_values") or {}
    if not isinstance(given, dict):
        return [f"expected an object as 'pass_by_values', got {given!r}"]
    own = {
        str(uid): scalar_json(each.data_type, each.value)
        for uid, each in tensors.items()
        if each.value is not None
    }
    return [
        f"tensor {uid}: expected its own value in 'pass_by_values', got {value!r}"
        for uid, value in given.items()
        if value != own.get(uid)
    ]


def _scalar(entry: Mapping[str, Any], what: str, problems: list[str]) -> float | int | None:
    """The value of a by-value tensor, or None."""
    scalar = entry.get("pass_by_value")
    if scalar is None:
        return None
    if (
        not entry.get("is_pass_by_value")
        or not isinstance(scalar, dict)
        or scalar.keys() != {"index", "value"}
    ):
        problems.append(
            f"{what}: expected the index of a type and a value of a by-value tensor, got {scalar!r}"
        )
        return None
    data_type, value = entry.get("data_type"), scalar["value"]
    if data_type not in SCALAR_TYPES or scalar["index"] != SCALAR_TYPES.index(data_type):
        problems.append(
            f"{what}: expected a number of the tensor's type, {data_type}, got the type "
            f"with index {scalar['index']!r}"
        )
    if data_type in FLOAT_SCALARS:
        return read_float(value, f"{what}: pass_by_value", problems)
    if not (is_int(value) or (data_type == "DOUBLE" and isinstance(value, float))):
        problems.append(f"{what}: expected a number, got {value!r}")
        return None
    return float(value) if data_type == "DOUBLE" else int(value)
