# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The records of kernels that compute a cuDNN graph: part of a graph's record."""

# No `from __future__ import annotations`: `records` reads annotations.

from collections.abc import Sequence
from dataclasses import field
from math import prod

from .json_object import COUNT, COUNTS, FLAG, INT32, SHAPE, SYMBOL, TEXT, matching
from .manifest_tensors import GraphTensor
from .record_fields import OMITTED, about
from .value_types import value_type

__all__ = ["GraphKernel", "KernelTensorMap", "kernel_member"]


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
