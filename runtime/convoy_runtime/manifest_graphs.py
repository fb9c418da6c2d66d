# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The records of cuDNN graphs: part of the manifest, and the content of alternatives.json."""

# No `from __future__ import annotations`: `records` reads annotations.

import json
from collections.abc import Sequence
from dataclasses import field
from functools import cache
from math import prod

from .dtypes import DTYPES
from .json_object import (
    COUNT,
    COUNTS,
    DTYPE,
    FLAG,
    INT32,
    SHA256,
    SHAPE,
    SYMBOL,
    TEXT,
    TEXTS,
    Kind,
    matching,
)
from .manifest_matmul import Matmul
from .manifest_tensors import GraphTensor
from .records import OMITTED, OPTIONAL, Given, Presence, about, record_of
from .value_types import value_type

__all__ = [
    "Graph",
    "GraphAlternative",
    "GraphAlternatives",
    "GraphConstant",
    "GraphKernel",
    "GraphStep",
    "GraphTemporary",
    "GraphTensor",
    "KernelTensorMap",
    "Products",
    "kernel_member",
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


def kernel_member(name: str) -> str:
    """The member of an artifact with the PTX of a graph's kernel (`ptx_members`)."""
    return f"kernels/{name}.ptx.gz"


@value_type(frozen=True, slots=True)
class KernelTensorMap:
    """A tensor that a kernel copies to shared memory in boxes, or images whose windows it copies.
    A row of a box has 128 bytes, which are swizzled."""

    tensor: int = field(
        metadata=about("An index into `Graph.tensors`; a packed tensor of 16-bit floats.", COUNT)
    )
    shape: tuple[int, ...] = field(
        metadata=about(
            "The sizes of two or three dims, into which the tensor is reshaped; or of images: "
            "number, depth if there are three spatial dims, height, width, number of groups of "
            "channels if windows have those of one group, and channels (of a group).",
            SHAPE,
        )
    )
    box: tuple[int, ...] = field(
        metadata=about("The sizes of a box; or pixels and channels of windows.", SHAPE)
    )
    low: tuple[int, ...] = field(
        default=(),
        metadata=about(
            "For windows, the padding before the image in each spatial dim, two or three.",
            COUNTS,
            OMITTED,
        ),
    )
    high: tuple[int, ...] = field(
        default=(),
        metadata=about("For windows, the padding after it.", COUNTS, OMITTED),
    )
    reach: tuple[int, ...] = field(
        default=(),
        metadata=about(
            "For windows, the distance of the last tap from the first one.", COUNTS, OMITTED
        ),
    )
    strides: tuple[int, ...] = field(
        default=(),
        metadata=about("The distance of neighboring windows; empty for boxes.", COUNTS, OMITTED),
    )

    @property
    def has_groups(self) -> bool:
        """Whether windows have the channels of one group."""
        return bool(self.strides) and len(self.shape) == len(self.strides) + 3

    def problem(self, tensors: Sequence[GraphTensor]) -> str | None:
        """Returns what is wrong with the map for a graph with `tensors`; None if nothing is."""
        if self.tensor >= len(tensors):
            return f"expected a tensor below {len(tensors)}, got {self.tensor}"
        tensor = tensors[self.tensor]
        if tensor.dtype not in ("float16", "bfloat16"):
            return f"expected a tensor of 16-bit floats, got {tensor.dtype}"
        windows = (self.low, self.high, self.reach, self.strides)
        spatial = len(self.strides)
        if spatial not in (0, 2, 3) or any(len(each) != spatial for each in windows):
            return "expected low, high, reach and strides of two or three spatial dims, or none"
        # A tensor map has at most five dims.
        ranks = {0: (2, 3), 2: (4, 5), 3: (5,)}[spatial]
        if (
            len(self.shape) not in ranks
            or prod(self.shape) * 2 != tensor.bytes
            or self.shape[-1] % 8
        ):
            what = f"images over {spatial} dims" if spatial else "a matrix or three dims"
            return (
                f"expected {what} of {tensor.bytes} bytes with rows of a multiple of 16, got "
                f"{list(self.shape)}"
            )
        rank = 2 if spatial else len(self.shape)
        if (
            len(self.box) != rank
            or not 0 < self.box[0] <= 256
            or self.box[-1] != 64
            or any(size != 1 for size in self.box[1:-1])
        ):
            return f"expected a box of at most 256 x 64, got {list(self.box)}"
        # The bounds of cuTensorMapEncodeIm2col for tensor maps of four and of five dims.
        bound = 128 if len(self.shape) == 4 else 16
        for low, high, reach, stride in zip(*windows, strict=True):
            if (
                low > bound
                or not -bound <= high - reach < bound
                or reach >= 2 * bound
                or not 0 < stride <= 8
            ):
                return (
                    f"expected at most {bound} of padding, a reach below {2 * bound}, less than "
                    f"{bound} between the padding and the reach, and strides from 1 to 8, got "
                    f"{low}, {high}, {reach} and {stride}"
                )
        return None


@value_type(frozen=True, slots=True)
class GraphKernel:
    """A kernel that computes a graph. Its arguments are pointers to the graph's tensors, then its
    tensor maps, then with `launches` the number of the launch."""

    name: str = field(
        metadata=about("The entry point in the member `kernels/<name>.ptx.gz`.", SYMBOL)
    )
    variant: str = field(
        metadata=about(
            "Identifies the kernel among those of the graph. Equal in every artifact with an equal "
            "graph.",
            TEXT,
        )
    )
    grid: int = field(metadata=about("The number of blocks.", INT32))
    block: int = field(metadata=about("The number of threads per block.", INT32))
    shared_bytes: int = field(metadata=about("The size of dynamic shared memory.", INT32))
    chip: str = field(
        metadata=about(
            "The oldest architecture that runs it or, with a suffix as in `sm_90a`, the only one.",
            matching(r"sm_[1-9]\d+a?", "an architecture, e.g. sm_90"),
        )
    )
    tf32: bool = field(
        default=False, metadata=about("Whether it rounds float32 factors to TF32.", FLAG)
    )
    tensor_maps: tuple[KernelTensorMap, ...] = field(
        default=(), metadata=about("The matrices that it copies in boxes.", presence=OMITTED)
    )
    launches: int = field(
        default=0,
        metadata=about(
            "The number of launches, one after another, that compute the graph together. 0 for one "
            "launch, without the argument.",
            INT32,
            OMITTED,
        ),
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
