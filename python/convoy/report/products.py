"""What the products of a cuDNN graph compute: convolutions and matmuls. Everything else is counted by its bytes alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convoy.graphs import OperationGraph
    from convoy.graphs.model import Node

__all__ = ["Products", "products_of"]

#: The kind of arithmetic of a product, by the data type of its first input. Of FLOAT it depends on whether TF32 is allowed.
_RATES = {"HALF": "float16", "BFLOAT16": "bfloat16", "DOUBLE": "float64", "INT8": "int8", "INT8x4": "int8", "INT8x32": "int8"}


@dataclass(frozen=True, slots=True)
class Products:
    """`flops` of all products, a multiply-add as two, None when there are none; `rate` is the kind of arithmetic of the first one, None
    when there is none or its data type has no row in `peaks`."""

    flops: int | None
    rate: str | None


def products_of(graph: OperationGraph, *, allow_tf32: bool) -> Products:
    """The products of `graph`; `allow_tf32` is the model's."""
    total, rate = 0, None
    for node in graph.nodes:
        flops = _flops(node, {port: graph.tensors[uid].dims for port, uid in {**node.inputs, **node.outputs}.items()})
        if flops is None:
            continue
        if not total:
            kind = graph.tensors[next(iter(node.inputs.values()))].data_type
            float32 = "tf32" if allow_tf32 else "float32"
            rate = float32 if kind == "FLOAT" else "float8" if kind.startswith("FP8") else _RATES.get(kind)
        total += flops
    return Products(total or None, rate)


def _flops(node: Node, dims: dict[str, tuple[int, ...]]) -> int | None:
    """A multiply-add for each element of the result and each one it is a sum over."""
    match node.tag:
        case "CONV_FPROP":
            return 2 * prod(dims["Y"]) * prod(dims["W"][1:])
        case "CONV_DGRAD":
            return 2 * prod(dims["DY"]) * prod(dims["W"][1:])
        case "CONV_WGRAD":
            return 2 * prod(dims["DY"]) * prod(dims["DW"][1:])
        case "MATMUL":
            return 2 * prod(dims["C"]) * dims["A"][-1]
        case _:
            return None
