# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads graphs that cudnn-frontend serialized: the JSON of `str(graph)`, or the bytes of
`graph.serialize()`.

Reading is strict: an unknown field is an error. Fields of a built plan and cuDNN's own data do not
belong to the graph; `read_serialized` returns their names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from convoy.graphs import ubjson
from convoy.graphs.attention_composite import (
    ATTENTION,
    expand_attention,
    is_composite,
    scale_tensor,
)
from convoy.graphs.frontend_checks import is_int, is_ints, read_float
from convoy.graphs.frontend_inspect import from_inspection, is_inspection
from convoy.graphs.frontend_json import JSON_VERSION
from convoy.graphs.frontend_tensors import other_values, read_tensors
from convoy.graphs.kind import Kind
from convoy.graphs.kinds import BY_TAG
from convoy.graphs.model import PEER_STATS, GraphError, Node, OperationGraph, Tensor

__all__ = ["read_serialized"]

#: Fields of the graph's identity and of a built plan, which are ignored.
_NOT_THE_GRAPH = {"gid", "cudnn_backend_version", "cudnn_frontend_version"}
_PLAN = {"cudnn_backend_data", "variant_pack_uids", "behavior_notes", "fe_workspace_size"}
#: Work of cudnn-frontend around the operation graph, which cudnn IR cannot express: an error unless
#: empty.
_AROUND = {
    "workspace_modifications",
    "aligned_operands",
    "variant_pack_replacements",
    "tensors_to_dump",
}
#: Operations and flags of later versions than the dialect's, and the first cuDNN with each.
_LATER = {
    "SLICE": "9.22",
    "TRANSPOSE": "9.22",
    "MOE_GROUPED_MATMUL_BWD": "9.22",
    "DIAGONAL_BAND_MASK": "9.21",
}
_OVERRIDE_SHAPE = "9.21"
_IR_VERSION = "9.19"
_ENUMERATOR = re.compile(r"[A-Z][A-Z0-9_]*")
_GRAPH = {"json_version", "context", "nodes", "tensors"}


def read_serialized(data: bytes, name: str) -> tuple[OperationGraph, list[str]]:
    """Reads a serialized graph.

    Args:
        data: The content of the file.
        name: The name of the graph if the data has none.

    Returns:
        The graph, and the names of the fields of a plan.

    Raises:
        GraphError: Parts of the data are unknown or invalid; lists all of them.
    """
    document = _parse(data, name)
    problems: list[str] = []
    if is_inspection(document):
        document = from_inspection(document, problems)
    document = _with_peer_statistics(document)
    version = document.get("json_version")
    if version != JSON_VERSION:
        raise GraphError(
            name, [f"expected cudnn-frontend's json_version {JSON_VERSION!r}, got {version!r}"]
        )
    known = _GRAPH | _NOT_THE_GRAPH | _PLAN | _AROUND | {"pass_by_values"}
    problems += [f"the field {key!r} is unknown" for key in document if key not in known]
    problems += [
        f"expected nothing in {key!r}, got {document[key]}"
        for key in sorted(_AROUND & document.keys())
        if document[key]
    ]
    context = _context(document.get("context"), problems)
    tensors = read_tensors(document.get("tensors"), problems)
    problems += other_values(document, tensors)
    nodes = document.get("nodes")
    if not isinstance(nodes, list):
        problems.append(f"expected a list of nodes, got {nodes!r}")
        nodes = []
    # Includes tensors that are rejected above.
    uids = {
        each["uid"]
        for each in document.get("tensors") or ()
        if isinstance(each, dict) and is_int(each.get("uid"))
    }
    read: list[Node] = []
    for place, each in enumerate(nodes):
        read += _nodes(each, place, context, tensors, uids, problems)
    ordered = _ordered(read, problems) if not problems else ()
    if problems:
        raise GraphError(f"{name} cannot be imported", problems)
    graph = OperationGraph(
        context.get("name") or name,
        tensors,
        ordered,
        dynamic_shape=bool(context.get("is_dynamic_shape_enabled")),
    )
    carveout = ["sm_count"] * (context.get("sm_count", -1) != -1)
    return graph, sorted([*(_PLAN & document.keys()), *carveout])


def _with_peer_statistics(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document with the tensors in nodes, which cudnn-frontend writes only there, as
    tensors of the graph and of ports."""
    nodes, tensors = document.get("nodes"), document.get("tensors")
    if not isinstance(nodes, list) or not isinstance(tensors, list):
        return document
    found: list[Any] = []
    others: list[Any] = []
    for node in nodes:
        peers = node.get("peer_stats") if isinstance(node, dict) else None
        ports = node.get("inputs") if isinstance(node, dict) else None
        if (
            not isinstance(peers, list)
            or not isinstance(ports, dict)
            or not all(isinstance(each, dict) and is_int(each.get("uid")) for each in peers)
        ):
            found.append(node)
            continue
        others += peers
        ports = ports | {f"{PEER_STATS}{place}": each["uid"] for place, each in enumerate(peers)}
        found.append({**node, "inputs": ports, "peer_stats": []})
    known = {each.get("uid") for each in tensors if isinstance(each, dict)}
    new = [each for each in others if each["uid"] not in known]
    return {**document, "nodes": found, "tensors": [*tensors, *new]}


def _parse(data: bytes, name: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        try:
            document = ubjson.loads(data)
        except ubjson.UbjsonError as error:
            raise GraphError(
                name,
                [
                    (
                        "expected JSON of str(graph) or bytes of graph.serialize(), got "
                        f"neither: {error}"
                    )
                ],
            ) from None
    if not isinstance(document, dict):
        raise GraphError(name, [f"expected an object, got {type(document).__name__}"])
    return document


def _context(context: Any, problems: list[str]) -> dict[str, Any]:
    if not isinstance(context, dict):
        problems.append(f"expected an object as the context, got {context!r}")
        return {}
    flags = {"is_dynamic_shape_enabled", "is_override_shape_enabled"}
    known = {"compute_data_type", "intermediate_data_type", "io_data_type", "name", "sm_count"}
    for key, value in context.items():
        if key in flags and not isinstance(value, bool):
            problems.append(f"expected {key} to be true or false in the context, got {value!r}")
        elif key not in flags | known:
            problems.append(f"the field {key!r} of the context is unknown")
    if context.get("is_override_shape_enabled") is True:
        problems.append(f"is_override_shape_enabled {_later(_OVERRIDE_SHAPE)}")
    if not is_int(context.get("sm_count", -1)):
        problems.append(f"expected sm_count to be an integer, got {context['sm_count']!r}")
    if not isinstance(context.get("name", ""), str):
        problems.append(f"expected a name as text, got {context['name']!r}")
    return context


def _later(version: str) -> str:
    """Describes what cudnn IR lacks because it is newer."""
    return f"requires cuDNN {version}; cudnn IR has the operations of cuDNN {_IR_VERSION}"


def _nodes(
    entry: Any,
    place: int,
    context: Mapping[str, Any],
    tensors: dict[int, Tensor],
    uids: set[int],
    problems: list[str],
) -> list[Node]:
    """Reads a node, which may become several operations, and tensors between them."""
    attention = isinstance(entry, dict) and entry.get("tag") in ATTENTION
    sides = [entry.get(side) for side in ("inputs", "outputs")] if attention else []
    if tensors and sides and all(isinstance(side, dict) for side in sides):
        entry = scale_tensor(entry, tensors, problems)
        if is_composite(entry):
            what = f"node {place} ({entry['tag']})"
            return expand_attention(entry, what, context, tensors, problems)
        if entry["tag"] == "SDPA":
            entry = {**entry, "implementation": "UNIFIED"}
        uids = uids | tensors.keys()
    node = _node(entry, place, context, uids, problems)
    return [] if node is None else [node]


def _node(
    entry: Any, place: int, context: Mapping[str, Any], uids: set[int], problems: list[str]
) -> Node | None:
    tag = entry.get("tag") if isinstance(entry, dict) else None
    if isinstance(tag, str) and tag in _LATER:
        problems.append(f"node {place}: {tag} {_later(_LATER[tag])}")
        return None
    if not isinstance(tag, str) or tag not in BY_TAG:
        problems.append(
            f"node {place}: {tag if isinstance(tag, str) else repr(entry)} has no "
            "operation in cudnn IR"
        )
        return None
    kind = BY_TAG[tag]
    if kind.foreign:
        problems.append(
            f"node {place}: {tag} is not an operation that cudnn-frontend prints in a known form"
        )
        return None
    what = f"node {place} ({tag})"
    keys = dict.fromkeys(
        (
            *(key for name, key in kind.attributes.items() if name not in kind.chosen_by),
            *kind.defaults,
        )
    )
    before = len(problems)
    known = {
        "tag",
        "name",
        "compute_data_type",
        "inputs",
        "outputs",
        *keys,
        *kind.present,
        *kind.only,
        *kind.hints,
    }
    problems += [
        f"{what}: the field {key!r} is unknown"
        for key, value in entry.items()
        if key not in known and value is not None
    ]
    attributes = {}
    for key in keys:
        if key not in entry and key not in kind.defaults:
            problems.append(f"{what}: expected {key!r}, got nothing")
        value = entry.get(key, kind.defaults.get(key))
        if key in kind.floats:
            value = read_float(value, f"{what}: {key}", problems)
        elif value is not None and (wrong := _wrong(key, value)):
            problems.append(f"{what}: expected {key} to be {wrong}, got {value!r}")
        attributes[key] = value
    problems += [
        (
            f"{what}: expected {key} = {value!r}, got {entry[key]!r}, for which cudnn-frontend "
            "builds other operations"
        )
        for key, value in kind.only.items()
        if entry.get(key) not in (None, value)
    ]
    ports = [
        _ports(entry.get(side), f"{what}: {side}", names, uids, problems)
        for side, names in _sides(kind, entry)
    ]
    for key, port in kind.present.items():
        attributes[key] = any(port in side for side in ports)
        if bool(entry.get(key)) != attributes[key]:
            problems.append(
                f"{what}: expected {key} = {attributes[key]}, as {port} has "
                f"{'a' if attributes[key] else 'no'} tensor"
            )
    compute = (
        (entry.get("compute_data_type") or context.get("compute_data_type"))
        if kind.compute or kind.computes
        else ""
    )
    if not isinstance(compute, str):
        problems.append(f"{what}: expected a compute type, got {compute!r}")
    elif kind.computes and compute != kind.computes:
        problems.append(f"{what}: expected the compute type {kind.computes}, got {compute}")
    if len(problems) != before:
        return None
    return Node(
        tag,
        str(compute) if kind.compute else "",
        ports[0],
        ports[1],
        attributes,
        name=str(entry.get("name") or ""),
    )


def _wrong(key: str, value: Any) -> str:
    """The expected form of a value, or an empty string if it has that form. Valid values are later
    printed verbatim."""
    if key in (
        "mode",
        "math_mode",
        "resample_mode",
        "padding_mode",
        "reshape_mode",
        "forward_phase",
    ):
        return "" if isinstance(value, str) and _ENUMERATOR.fullmatch(value) else "an enumerator"
    if key in ("is_deterministic", "is_negative_scale"):
        return "" if isinstance(value, bool) else "true or false"
    if key == "block_size" and is_int(value):
        return ""
    if key in ("axis", "in_place_index", "top_k"):
        return "" if is_int(value) else "an integer"
    if key == "padding_value":
        return "" if is_int(value) or isinstance(value, float) else "a number"
    return "" if is_ints(value) else "a list of integers"


def _sides(
    kind: Kind, entry: Mapping[str, Any]
) -> tuple[tuple[str, list[str]], tuple[str, list[str]]]:
    inputs = list(dict.fromkeys(kind.inputs.values()))
    if "peer_stats" in kind.defaults and isinstance(entry.get("inputs"), dict):
        inputs += [port for port in entry["inputs"] if str(port).startswith(PEER_STATS)]
    if kind.listed and isinstance(entry.get("inputs"), dict):
        inputs = [str(number) for number in range(len(entry["inputs"]))]
    return ("inputs", inputs), ("outputs", list(dict.fromkeys(kind.outputs.values())))


def _ports(
    entry: Any, what: str, names: list[str], uids: set[int], problems: list[str]
) -> dict[str, int]:
    if not isinstance(entry, dict):
        problems.append(f"{what}: expected an object, got {entry!r}")
        return {}
    for port, uid in entry.items():
        if port not in names:
            problems.append(f"{what}: the port {port!r} is unknown")
        elif not is_int(uid) or uid not in uids:
            problems.append(f"{what}: expected the uid of a tensor at {port}, got {uid!r}")
    return {port: entry[port] for port in names if port in entry}


def _ordered(nodes: list[Node], problems: list[str]) -> tuple[Node, ...]:
    """Sorts the nodes topologically, otherwise stably."""
    writers: dict[int, Node] = {}
    for node in nodes:
        for uid in node.outputs.values():
            if uid in writers:
                problems.append(f"tensor {uid} is written by two nodes")
            writers[uid] = node
    ordered: list[Node] = []
    left, done = list(nodes), set[int]()
    while left:
        ready = next(
            (
                node
                for node in left
                if all(uid in done or uid not in writers for uid in node.inputs.values())
            ),
            None,
        )
        if ready is None:
            problems.append(
                f"{', '.join(node.name or node.tag for node in left)}: depend on each other in a "
                "cycle"
            )
            break
        left.remove(ready)
        ordered.append(ready)
        done.update(ready.outputs.values())
    return tuple(ordered)
