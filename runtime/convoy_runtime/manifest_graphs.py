# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The records of cuDNN graphs: part of the manifest, and the content of alternatives.json."""

# No `from __future__ import annotations`: `records` reads annotations.

import json
from dataclasses import field
from functools import cache

from .dtypes import DTYPES
from .json_object import (
    COUNT,
    COUNTS,
    DTYPE,
    FLAG,
    SHA256,
    SYMBOL,
    TEXT,
    TEXTS,
    Kind,
    matching,
)
from .manifest_kernels import GraphKernel
from .manifest_matmul import Matmul
from .manifest_tensors import GraphTensor
from .record_fields import OMITTED, OPTIONAL, Given, Presence, about
from .records import record_of
from .value_types import value_type

__all__ = [
    "Graph",
    "GraphAlternative",
    "GraphAlternatives",
    "GraphConstant",
    "GraphStep",
    "GraphTemporary",
    "Products",
]


@cache
def _hex(digits: int) -> Kind[str]:
    return matching(f"[0-9a-f]{{{digits}}}", f"{digits} hexadecimal digits")


def _preference(*choices: str) -> Kind[str]:
    return Kind(lambda value: value if value in choices else None, f"one of {', '.join(choices)}")


_PREFERENCES = _preference("kernel", "plan", "only_kernel")
_ONLY_PLAN = _preference("plan")


@value_type(frozen=True, slots=True)
class GraphConstant:
    """A scalar that cuDNN reads from host memory."""

    uid: int = field(metadata=about("cuDNN's unique ID.", COUNT))
    dtype: str = field(metadata=about("torch's name of its type.", DTYPE))
    bytes: str = field(
        metadata=about(
            "Its bytes in memory order, two digits per byte.",
            Given("dtype", lambda dtype: _hex(2 * DTYPES[dtype].bytes), "hexadecimal digits"),
        )
    )


@value_type(frozen=True, slots=True)
class GraphStep:
    """A step of an alternative: a run of another graph."""

    graph: int = field(
        metadata=about(
            "An index into `Manifest.graphs` followed by `GraphAlternatives.graphs`.", COUNT
        )
    )
    tensors: tuple[int, ...] = field(
        metadata=about(
            "For each tensor of that graph, an index into the tensors of the computed graph "
            "followed by the temporaries of the alternative. Types and sizes match.",
            COUNTS,
        )
    )


@value_type(frozen=True, slots=True)
class GraphTemporary:
    """Memory that the steps of an alternative share. One step writes it before later ones read it,
    or with `zeros` no step writes it."""

    bytes: int = field(metadata=about("Its size.", COUNT))
    zeros: bool = field(default=False, metadata=about("Whether it holds zeros.", FLAG))


@value_type(frozen=True, slots=True)
class GraphAlternative:
    """An alternative of a graph: other graphs, run one after another. Together the steps write
    every result of the graph exactly once."""

    graph: int = field(
        metadata=about("The computed graph, an index into `Manifest.graphs`.", COUNT)
    )
    name: str = field(metadata=about("The ops of each step, e.g. `conv2d+bias | relu`.", TEXT))
    steps: tuple[GraphStep, ...] = field(metadata=about("The steps in order."))
    temporaries: tuple[GraphTemporary, ...] = field(
        default=(), metadata=about("The memory that the steps share.")
    )


@value_type(frozen=True, slots=True)
class Products:
    """The arithmetic of a graph's convolutions and matrix products."""

    flops: int = field(metadata=about("FLOPs per run; a multiply-add counts as two.", COUNT))
    dtype: str = field(
        metadata=about(
            "The operand type of the first one. May be a type of cuDNN that no input or output of "
            "a program has, e.g. `float8_e4m3fn`.",
            TEXT,
        )
    )


@value_type(frozen=True, slots=True)
class Graph:
    """A cuDNN operation graph."""

    name: str = field(metadata=about("The name of the graph.", TEXT))
    symbol: str | None = field(
        metadata=about(
            "The build function in native.so; null if the graph is never passed to cuDNN.",
            SYMBOL,
            Presence(
                "unless `preference` is `only_kernel`",
                field="preference",
                values=("kernel", "plan"),
                null=True,
            ),
        )
    )
    ops: tuple[str, ...] = field(metadata=about("The ops of the group.", TEXTS))
    location: str = field(metadata=about("The line of the model.", TEXT))
    tensors: tuple[GraphTensor, ...] = field(
        metadata=about(
            "The operands, then the results, in the order of the pointers of `execute_graph`."
        )
    )
    constants: tuple[GraphConstant, ...] = field(
        default=(), metadata=about("The scalars.", presence=OMITTED)
    )
    kernels: tuple[GraphKernel, ...] = field(
        default=(), metadata=about("Kernels that compute the graph.", presence=OMITTED)
    )
    preference: str = field(
        default="plan",
        metadata=about(
            "The choice without tuning: `kernel`, the first kernel; `plan`, cuDNN's first plan; "
            "`only_kernel`, a kernel because cuDNN is not used. `plan` if there are no kernels.",
            Given(
                "kernels",
                lambda kernels: _PREFERENCES if kernels else _ONLY_PLAN,
                _PREFERENCES.expected,
            ),
            OPTIONAL,
        ),
    )
    alternatives: tuple[str, ...] = field(
        default=(),
        metadata=about(
            "The names of the graph's alternatives in alternatives.json, in order.", TEXTS, OMITTED
        ),
    )
    products: Products | None = field(
        default=None,
        metadata=about("The arithmetic of convolutions and matrix products.", presence=OMITTED),
    )
    matmul: Matmul | None = field(
        default=None,
        metadata=about(
            "The whole graph as a matrix product, if cuBLASLt can compute it.", presence=OMITTED
        ),
    )
    fingerprint: str | None = field(
        default=None,
        metadata=about(
            "A SHA-256 of everything that the build function passes to cuDNN, the key of the "
            "graph's plans. If absent, the runtime computes it by running the function. Invalid "
            "without `symbol`.",
            Given("symbol", lambda symbol: SHA256 if symbol is not None else None, SHA256.expected),
            OMITTED,
        ),
    )


@value_type(frozen=True, slots=True)
class GraphAlternatives:
    """The content of alternatives.json. It is parsed only when tuning or a plan needs an
    alternative."""

    graphs: tuple[Graph, ...] = field(
        default=(), metadata=about("Graphs that are only steps of alternatives.")
    )
    alternatives: tuple[GraphAlternative, ...] = field(
        default=(), metadata=about("The alternatives of the manifest's graphs.")
    )

    def of(self, graph: int) -> tuple[GraphAlternative, ...]:
        """The alternatives of `Manifest.graphs[graph]`, in order."""
        return tuple(each for each in self.alternatives if each.graph == graph)

    def to_json(self) -> str:
        """The text of alternatives.json. The inverse of
        `manifest_alternatives.read_alternatives`."""
        tree = record_of(GraphAlternatives).tree(self)
        return json.dumps(tree, separators=(",", ":")) + "\n"
