# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The records of what `convoy_main` runs: calls of graphs, generated kernels and copies."""

# No `from __future__ import annotations`: `records` reads annotations.

from dataclasses import field

from .json_object import COUNT, TEXT, choice
from .record_fields import Tag, about
from .value_types import value_type

__all__ = ["STEPS", "Call", "Kernel", "KernelArgument", "OutsideOp", "Step"]

#: Kinds of steps.
STEPS = ("call", "kernel", "copy")


@value_type(frozen=True, slots=True)
class Call:
    """A call site of a graph in `convoy_main`."""

    graph: int = field(metadata=about("An index into `Manifest.graphs`.", COUNT))
    location: str = field(metadata=about("The line of the model.", TEXT))


@value_type(frozen=True, slots=True)
class Step:
    """A runtime call of `convoy_main`, in JSON one field: `{"call": 0}`."""

    kind: str = field(metadata=about("The name of the JSON field.", Tag(STEPS)))
    number: int = field(
        metadata=about(
            "With `call` or `kernel` an index into `Manifest.calls` or `Manifest.kernels`, with "
            "`copy` the size in bytes.",
            COUNT,
        )
    )


@value_type(frozen=True, slots=True)
class KernelArgument:
    """A pointer argument of a kernel."""

    role: str = field(
        metadata=about("How the kernel accesses the memory.", choice("input", "output", "inout"))
    )
    bytes: int = field(metadata=about("The size of the memory.", COUNT))


@value_type(frozen=True, slots=True)
class Kernel:
    """A generated kernel."""

    name: str = field(metadata=about("Its entry in kernels.ptx.", TEXT))
    location: str = field(metadata=about("The line of the model.", TEXT))
    bytes: int = field(
        metadata=about(
            "The bytes that it reads and writes, each element once. It may use a part of an "
            "argument.",
            COUNT,
        )
    )
    arguments: tuple[KernelArgument, ...] = field(metadata=about("The pointers."))


@value_type(frozen=True, slots=True)
class OutsideOp:
    """An op in no cuDNN graph, which `convoy explain` prints."""

    op: str = field(metadata=about("Its name.", TEXT))
    location: str = field(metadata=about("The line of the model.", TEXT))
    reason: str = field(metadata=about("Why it is in no graph.", TEXT))
