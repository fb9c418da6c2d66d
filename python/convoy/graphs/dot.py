# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints an OperationGraph for Graphviz:
`convoy inspect FILE --graph NAME --as dot | dot -Tsvg -o graph.svg`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convoy.graphs.model import DEFAULT_ALIGNMENT, Node, OperationGraph, Tensor

__all__ = ["graph_dot"]


def graph_dot(graph: OperationGraph) -> str:
    """Prints operations as rounded boxes and tensors as plain boxes, dashed if virtual. Edges are
    labeled with ports."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: OperationGraph) -> Iterator[str]:
    yield f"digraph {_quoted(graph.name)} {{"
    yield '  node [shape=box, fontname="Helvetica", fontsize=10];'
    yield '  edge [fontname="Helvetica", fontsize=9];'
    for uid, tensor in sorted(graph.tensors.items()):
        style = "dashed" if tensor.virtual else "solid"
        yield f"  t{uid} [style={style}, label={_quoted(_tensor_label(tensor))}];"
    for place, node in enumerate(graph.nodes):
        yield (
            f'  n{place} [style="rounded,filled", fillcolor="#dceefb", '
            f"label={_quoted(_node_label(node))}];"
        )
        for port, uid in node.inputs.items():
            yield f"  t{uid} -> n{place} [label={_quoted(port)}];"
        for port, uid in node.outputs.items():
            yield f"  n{place} -> t{uid} [label={_quoted(port)}];"
    for uid, tensor in sorted(graph.tensors.items()):
        if tensor.ragged_offset is not None:
            yield f'  t{tensor.ragged_offset} -> t{uid} [style=dotted, label="ragged offset"];'
    yield "}"


def _tensor_label(tensor: Tensor) -> str:
    lines = [
        f"{tensor.name or f't{tensor.uid}'} (uid {tensor.uid})",
        f"{tensor.data_type} {'x'.join(map(str, tensor.dims))}",
    ]
    lines.append(f"strides {', '.join(map(str, tensor.strides))}")
    words = ["virtual"] * tensor.virtual + [
        "by value" if tensor.value is None else f"value {tensor.value}"
    ] * tensor.by_value
    words += [f"alignment {tensor.alignment}"] * (tensor.alignment != DEFAULT_ALIGNMENT)
    words += [f"{tensor.vector_count} of dim {tensor.vectorized_dimension} as a vector"] * (
        tensor.vector_count != 1
    )
    words += [f"reordering {tensor.reordering}"] * (tensor.reordering != "NONE")
    return "\n".join([*lines, ", ".join(words)] if words else lines)


def _node_label(node: Node) -> str:
    attributes = {
        key: value for key, value in {**node.attributes, **node.beyond}.items() if value is not None
    }
    mode = attributes.pop("mode", None)
    head = f"{node.tag} {mode}" if mode else node.tag
    return "\n".join(
        [
            head,
            *([f"compute type {node.compute}"] if node.compute else []),
            *(f"{key} = {_text(value)}" for key, value in attributes.items()),
        ]
    )


def _text(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _quoted(text: str) -> str:
    """A quoted string of the dot language, with backslashes escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{"".join(each if each.isprintable() else "?" for each in escaped)}"'
