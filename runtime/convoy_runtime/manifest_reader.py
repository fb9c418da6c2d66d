# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads manifest.json strictly, with the checks of `manifest` and those across records."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .json_object import COUNT, LARGEST, Document, JsonObject, choice, shown
from .manifest import (
    ABI_VERSION,
    ALTERNATIVES,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    FileEntry,
    Graph,
    Manifest,
    TensorSpec,
    kernel_member,
)
from .manifest_structure import Node
from .records import record_of

__all__ = [
    "check_members",
    "check_tensors",
    "check_versions",
    "read_manifest",
    "read_manifest_tree",
]

#: The alignment of buffers in an arena, in bytes.
_ALIGNMENT = 256
#: ASCII characters with no special meaning to file systems and shells.
_MEMBER = re.compile(r"[A-Za-z0-9_.-]{1,255}(?:/[A-Za-z0-9_.-]{1,255})*", re.ASCII)


def read_manifest(text: str | bytes, *, path: object = None) -> Manifest:
    """Reads and checks manifest.json.

    Args:
        text: The text of the member.
        path: The artifact, for messages.

    Returns:
        The manifest.

    Raises:
        ArtifactError: The text is invalid, or is of another version.
    """
    return read_manifest_tree(Document(path, MANIFEST).parse(text), path=path)


def read_manifest_tree(tree: Any, *, path: object = None) -> Manifest:
    """Reads and checks the JSON value of manifest.json. Errors as `read_manifest`."""
    document = Document(path, MANIFEST)
    check_versions(tree, FORMAT, document)
    manifest = record_of(Manifest).read(tree, "", document)
    check_tensors(manifest.graphs, document)
    _check(manifest, document)
    return manifest


def check_versions(tree: Any, expected_format: str, document: Document) -> None:
    """Checks the format, then the versions, before the fields of this version. Raises
    ArtifactError."""
    source = JsonObject(tree, "", document)
    source.take("format", choice(expected_format))
    for key, ours, other in (
        ("format_version", FORMAT_VERSION, "format"),
        ("abi_version", ABI_VERSION, "ABI"),
    ):
        got = source.take(key, COUNT)
        if got != ours:
            what = "newer: update convoy" if got > ours else "older: compile the model again"
            raise source.error(
                key,
                (
                    f"this runtime reads {other} version {ours}, the artifact is {what}; "
                    f"expected {ours}"
                ),
                got,
            )


def check_tensors(graphs: Sequence[Graph], document: Document) -> None:
    """Checks the strides of the graphs' tensors, and matrix products. Raises ArtifactError."""
    for number, graph in enumerate(graphs):
        for index, tensor in enumerate(graph.tensors):
            if len(tensor.strides) != len(tensor.shape):
                expected = f"{len(tensor.shape)} integers"
            elif tensor.bytes > LARGEST:
                expected = "a tensor of less than 2**63 bytes"
            else:
                continue
            raise document.error(
                f"graphs[{number}].tensors[{index}].strides",
                f"expected {expected}, got {shown(tensor.strides)}",
            )
        if graph.matmul is not None and (problem := graph.matmul.problem(graph.tensors)):
            raise document.error(f"graphs[{number}].matmul", problem)


def _check_structure(name: str, nodes: Sequence[Node], tensors: int, document: Document) -> None:
    """Checks that a structure is one tree with a number of tensors, and that its keys and constants
    are JSON texts."""
    if not nodes:
        return
    open_items = 1
    for index, node in enumerate(nodes):
        if open_items == 0:
            raise document.error(f"{name}[{index}]", "expected the end of the structure")
        open_items += node.items - 1
        texts = node.keys if node.kind == "dict" else ()
        for text in (*texts, *((node.value,) if node.kind == "constant" else ())):
            try:
                value = json.loads(text)
            except ValueError:
                value = []
            if isinstance(value, (list, dict)):
                expected = "a number, a string, true, false or null as JSON"
                raise document.error(f"{name}[{index}]", f"expected {expected}, got {shown(text)}")
    if open_items:
        raise document.error(name, f"expected {open_items} more items")
    found = sum(node.kind == "tensor" for node in nodes)
    if found != tensors:
        raise document.error(name, f"expected {tensors} tensors, got {found}")
    if name == "arguments" and (
        [node.kind for node in nodes[:2]] != ["tuple", "tuple"] or nodes[0].items != 2
    ):
        raise document.error(name, "expected a tuple of a tuple and a dict")


def _check_strides(spec: TensorSpec, name: str, may_permute: bool, document: Document) -> None:
    """Checks that a tensor with strides is dense, and an input or output."""
    if not may_permute:
        expected = "no strides, because weights are packed row-major"
    elif spec.order is None:
        expected = f"the strides of a dense tensor of shape {list(spec.shape)}"
    else:
        return
    raise document.error(f"{name}.strides", f"expected {expected}, got {shown(spec.strides)}")


def _check_offsets(manifest: Manifest, document: Document) -> None:
    """Checks that the outputs are next to each other in the arena."""
    offsets, outputs, name = manifest.output_offsets, manifest.outputs, "output_offsets"
    if not offsets:
        return
    if manifest.target != "cuda":
        raise document.error(name, f"expected none for target {manifest.target}, got {offsets[0]}")
    if len(offsets) != len(outputs):
        problem = f"expected a number for each of {len(outputs)} outputs, got {len(offsets)}"
        raise document.error(name, problem)
    end = 0
    for index in sorted(range(len(offsets)), key=lambda each: (offsets[each], outputs[each].bytes)):
        last = manifest.arena_bytes - outputs[index].bytes
        if offsets[index] % _ALIGNMENT or not end <= offsets[index] <= last:
            problem = (
                f"expected a multiple of {_ALIGNMENT} from {end}, the end of the output before it, "
                f"to {last}, where it ends with the arena, got {offsets[index]}"
            )
            raise document.error(f"{name}[{index}]", problem)
        end = offsets[index] + outputs[index].bytes


def _check_gaps(manifest: Manifest, document: Document) -> None:
    """Checks that the gaps are in the arena."""
    offsets, sizes = manifest.gap_offsets, manifest.gap_bytes
    if len(offsets) != len(sizes):
        problem = f"expected a number for each of {len(offsets)} gap_offsets, got {len(sizes)}"
        raise document.error("gap_bytes", problem)
    for index, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        last = manifest.arena_bytes - size
        if offset % _ALIGNMENT or offset > last:
            problem = (
                f"expected a multiple of {_ALIGNMENT} up to {last}, where the gap ends with the "
                f"arena, got {offset}"
            )
            raise document.error(f"gap_offsets[{index}]", problem)


def _check(manifest: Manifest, document: Document) -> None:
    """Checks across fields: names are unique, indices are in range, required members are listed."""
    for name in ("inputs", "outputs", "weights", "prepared"):
        seen: set[str] = set()
        for index, spec in enumerate(getattr(manifest, name)):
            if spec.name in seen:
                raise document.error(f"{name}[{index}].name", f"duplicate name {spec.name!r}")
            seen.add(spec.name)
            if spec.strides:
                _check_strides(spec, f"{name}[{index}]", name in ("inputs", "outputs"), document)
    for name, tensors in (("arguments", manifest.inputs), ("results", manifest.outputs)):
        _check_structure(name, getattr(manifest, name), len(tensors), document)
    for index, graph in enumerate(manifest.graphs):
        twice = next(
            (name for name in graph.alternatives if graph.alternatives.count(name) > 1), None
        )
        if twice is not None:
            raise document.error(f"graphs[{index}].alternatives", f"duplicate name {twice!r}")
        for place, kernel in enumerate(graph.kernels):
            for number, each in enumerate(kernel.tensor_maps):
                if (problem := each.problem(graph.tensors)) is not None:
                    name = f"graphs[{index}].kernels[{place}].tensor_maps[{number}]"
                    raise document.error(name, problem)
    for index, call in enumerate(manifest.calls):
        if call.graph >= len(manifest.graphs):
            problem = (
                f"expected less than {len(manifest.graphs)}, the number of graphs, got {call.graph}"
            )
            raise document.error(f"calls[{index}].graph", problem)
    for index, step in enumerate(manifest.steps):
        listed = {"call": manifest.calls, "kernel": manifest.kernels}.get(step.kind)
        if listed is not None and step.number >= len(listed):
            problem = (
                f"expected less than {len(listed)}, the number of {step.kind}s, got {step.number}"
            )
            raise document.error(f"steps[{index}].{step.kind}", problem)
    for name in ("live", "gap_offsets", "gap_bytes"):
        values = getattr(manifest, name)
        if values and len(values) != len(manifest.steps):
            problem = (
                f"expected a number for each of {len(manifest.steps)} steps, got {len(values)}"
            )
            raise document.error(name, problem)
    _check_gaps(manifest, document)
    _check_offsets(manifest, document)
    weights = {spec.name for spec in manifest.weights}
    for key, names in (("constants", manifest.constants), ("aliases", manifest.aliases.values())):
        for name in names:
            if name not in weights:
                raise document.error(key, f"expected names of weights, got {name!r}")
    needed = [
        "native.so",
        *(["constants.safetensors"] if manifest.constants else []),
        *(["kernels.ptx"] if manifest.kernels else []),
    ]
    needed += [kernel_member(kernel.name) for graph in manifest.graphs for kernel in graph.kernels]
    needed += [ALTERNATIVES] if any(graph.alternatives for graph in manifest.graphs) else []
    check_members(manifest.files, needed, document)


def check_members(
    files: Mapping[str, FileEntry], needed: Sequence[str], document: Document
) -> None:
    """Checks the names of members, and that required ones are listed. Raises ArtifactError."""
    for member in files:
        if (
            _MEMBER.fullmatch(member) is None
            or member == MANIFEST
            or {".", ".."} & set(member.split("/"))
        ):
            raise document.error(
                "files", f"expected names of members, e.g. plans/x.json, got {member!r}"
            )
    for member in needed:
        if member not in files:
            raise document.error(
                "files", f"expected an entry for {member}, got {', '.join(files) or 'none'}"
            )
