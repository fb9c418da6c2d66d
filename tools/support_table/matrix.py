# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The matrix: the groups about which cuDNN is queried, and the cell of the support table for which
each is evidence.

A cell is an anchor, a role, a dtype, a layout, a rank and a kind of channel groups. A row spans
cells. The graphs of a cell differ in the sizes of images and windows, strides, alignment of
channels, and the other roles of the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from .groups import ROLES, Shape, graph_of_group

__all__ = [
    "ALIGNMENTS",
    "DTYPES",
    "EPILOGUES",
    "PROLOGUES",
    "Case",
    "Cell",
    "cells_of",
    "group_cases",
    "group_of",
]

DTYPES = {"f16": 2, "bf16": 2, "f32": 4}
#: Alignments of a group's channels in bytes. Larger ones are not queried, because buffers have no
#: larger alignment.
ALIGNMENTS = (1, 2, 4, 8, 16)
EPILOGUES = tuple(name for name, role in ROLES.items() if role.position == "epilogue")
#: Roles of operations on the second operand of an operation after the anchor.
OPERANDS = tuple(
    name for name, role in ROLES.items() if role.position == "operand" and not role.extent
)
#: Roles that networks have before an anchor.
PROLOGUES = tuple(
    f"prologue_{role}"
    for role in (
        "relu", "relu_clip", "clamp", "leaky_relu", "elu", "gelu", "gelu_approx_tanh", "swish",
        "sigmoid", "tanh", "abs", "neg", "exp", "sqrt", "erf", "bias", "scale", "residual",
        "product", "gate", "mul_virtual",
    )
)  # fmt: skip

_CONVS = {"conv1d": (64,), "conv2d": (16, 16), "conv3d": (4, 8, 8)}
_GROUPS = {"none": 1, "grouped": 4, "depthwise": 64}
_MATMULS = {2: (9,), 3: (4, 8), 4: (2, 3, 8)}
_POOLS = {3: (32,), 4: (16, 16), 5: (4, 8, 8)}
#: Roles that are queried with each shape and alignment.
_COMMON = ("bias", "relu", "residual")
_COMMON_PROLOGUES = ("prologue_relu", "prologue_scale", "prologue_bias", "prologue_residual")
#: Roles that follow a bias in many networks, and are also queried in that form.
_AFTER_BIAS = (
    *_COMMON[1:], "relu_clip", "leaky_relu", "elu", "gelu", "gelu_approx_tanh", "swish", "sigmoid",
    "tanh", "scale", "gate", "product", "mul_virtual", "add_scalar", "mul_scalar", "div_scalar",
    "cast",
)  # fmt: skip
#: Longer chains that networks have after an anchor, in both orders if both occur.
CHAINS = (
    ("bias", "residual", "relu"), ("residual", "bias", "relu"), ("residual", "relu"), ("bias",
    "relu", "residual"),
    ("scale", "bias", "relu"), ("scale", "bias", "residual", "relu"), ("bias", "swish", "residual"),
    ("bias", "gate", "residual"),
    ("bias", "product", "residual"), ("bias", "relu", "relu_clip"), ("bias", "gelu", "residual",
    "relu"), ("scale", "bias", "leaky_relu"),
)  # fmt: skip


class Cell(NamedTuple):
    """A query to the support table, except the alignment of channels."""

    anchor: str
    role: str
    dtype: str
    layout: str
    rank: int
    channel_groups: str


@dataclass(frozen=True)
class Case:
    """One graph of the matrix.

    Args:
        key: Its symbol.
        pattern: The names of its roles.
        cells: The cells of its anchor and of each role.
        cell: The cell for which it is evidence. Graphs that only combine roles have none.
        channel_bytes: The size of a group's channels in bytes.
        text: The `cudnn.graph`.
        is_group: Whether grouping forms such graphs, and the compiler reads the rows about them.
    """

    key: str
    pattern: str
    cells: tuple[Cell, ...]
    cell: Cell | None
    channel_bytes: int
    text: str
    is_group: bool = True

    @property
    def dtype(self) -> str:
        """The element type of the anchor's operands."""
        return self.cells[0].dtype


def cells_of(
    anchor: str, shape: Shape, before: tuple[str, ...], after: tuple[str, ...]
) -> tuple[Cell, ...]:
    """Returns the cells of a group.

    Args:
        anchor: The name of the anchor.
        shape: Its sizes, types and layout.
        before: The roles before the anchor, without `prologue_`.
        after: The roles after the anchor.

    Returns:
        The cells of the anchor and of each role.
    """
    kind = ""
    rank = len(shape.spatial) + 2 + (anchor == "conv1d")
    if anchor.startswith("conv"):
        kind = (
            "none"
            if shape.groups == 1
            else "depthwise"
            if shape.groups == shape.channels
            else "grouped"
        )
    elif anchor == "matmul":
        rank = max(3, len(shape.spatial) + 1)
    roles = ("anchor", *(f"prologue_{role}" for role in before), *after)
    return tuple(Cell(anchor, role, shape.dtype, shape.layout, rank, kind) for role in roles)


def group_of(
    anchor: str,
    shape: Shape,
    before: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
    role: str | None = None,
) -> Case:
    """Returns the case of a group.

    Args:
        anchor: The name of the anchor.
        shape: Its sizes, types and layout.
        before: The roles before the anchor, without `prologue_`.
        after: The roles after the anchor.
        role: The role for which the case is evidence.

    Returns:
        The case.
    """
    pattern = "+".join((*before, anchor, *after))
    cells = cells_of(anchor, shape, before, after)
    base = Shape()
    names = {
        "c": "channels",
        "k": "outputs",
        "w": "kernel",
        "s": "stride",
        "d": "dilation",
        "b": "batch",
        "of_": "broadcast",
    }
    varied = [
        f"{short}{getattr(shape, name)}"
        for short, name in names.items()
        if getattr(shape, name) != getattr(base, name)
    ]
    layout = {"channels_last": "last", "channels_first": "first", "row_major": "rows"}[shape.layout]
    sizes = "x".join(map(str, shape.spatial))
    groups = [f"g{shape.groups}"] if shape.groups > 1 else []
    key = re.sub(
        r"\W", "_", f"{pattern}__{'_'.join([shape.dtype, layout, sizes, *groups, *varied])}"
    )
    cell = next((cell for cell in cells if cell.role == role), None)
    inner = shape.channels // shape.groups * DTYPES[shape.dtype]
    return Case(key, pattern, cells, cell, inner, graph_of_group(key, anchor, shape, before, after))


def _uneven(shape: Shape, sizes: tuple[int, ...] = (8, 4, 2)) -> Iterator[Shape]:
    """Returns `shape` with channels whose alignment is exactly each of `sizes`, in bytes."""
    for size in sizes:
        count = size // DTYPES[shape.dtype]
        if count and shape.groups in (1, 4):
            yield replace(
                shape, channels=count * 5 * shape.groups if shape.groups > 1 else 64 + count
            )


def _shapes(base: Shape) -> Iterator[Shape]:
    """Returns `base` with windows, strides, batches and channels that networks have."""
    yield base
    changes: tuple[dict[str, Any], ...] = (
        {"kernel": 1},
        {"kernel": 7, "stride": 2},
        {"stride": 2},
        {"dilation": 2},
        {"batch": 1},
        {"kernel": 1, "stride": 2},
    )
    for change in changes:
        yield replace(base, **change)
    if base.groups == 1:
        for channels, outputs in ((3, 64), (4, 64), (8, 64), (64, 10), (64, 1000), (256, 66)):
            yield replace(base, channels=channels, outputs=outputs)
    elif base.groups == 4:
        yield replace(base, groups=16)
        yield replace(base, channels=12, outputs=12)
    else:
        yield replace(base, outputs=2 * base.outputs)


def _with_role(anchor: str, shape: Shape, role: str) -> Iterator[Case]:
    """Returns a role alone, and with other roles that networks usually have."""
    if role == "anchor":
        yield group_of(anchor, shape, role=role)
    elif role.startswith("prologue_"):
        before: tuple[str, ...] = (role.removeprefix("prologue_"),)
        if ROLES[role].extent == "virtual":
            before = ("tanh", *before)
        yield group_of(anchor, shape, before, role=role)
        if role in _COMMON_PROLOGUES:
            yield group_of(anchor, shape, before, ("bias", "relu"), role=role)
    elif role.startswith("operand_"):
        for reader in ("product", "residual", "gate"):
            yield group_of(anchor, shape, (), (role, reader), role=role)
        yield group_of(anchor, shape, (), ("bias", role, "product"), role=role)
    else:
        yield group_of(anchor, shape, (), (role,), role=role)
        if ROLES[role].extent == "virtual":
            # Its operands are the anchor's result and the sigmoid of it.
            yield group_of(anchor, shape, (), ("sigmoid", role), role=role)
        if role in _AFTER_BIAS:
            yield group_of(anchor, shape, (), ("bias", role), role=role)
        if role in _AFTER_BIAS and ROLES[role].extent == "virtual":
            yield group_of(anchor, shape, (), ("bias", "sigmoid", role), role=role)


def _aligned(anchor: str, base: Shape, role: str) -> Iterator[Case]:
    """Returns a role with channels of other alignments: all of them for common roles, small
    ones for other epilogues."""
    sizes: tuple[int, ...] = (
        (4, 2) if base.groups > 1 else (2,) if DTYPES[base.dtype] == 2 else (4,)
    )
    if role in ("anchor", *_COMMON, *_COMMON_PROLOGUES):
        sizes = (8, 4, 2)
    elif role.startswith(("prologue_", "operand_")):
        return
    for shape in _uneven(base, sizes):
        yield next(_with_role(anchor, shape, role))
    if role.endswith("_broadcast") and base.groups == 1:
        yield from _with_role(anchor, replace(base, broadcast="images"), role)


def _convolutions() -> Iterator[Case]:
    for (anchor, spatial), (kind, groups), dtype in product(
        _CONVS.items(), _GROUPS.items(), DTYPES
    ):
        base = Shape(dtype=dtype, spatial=spatial, groups=groups)
        for role in ("anchor", *EPILOGUES, *OPERANDS, *PROLOGUES):
            if kind == "depthwise" and role not in (
                "anchor",
                *_COMMON,
                *_AFTER_BIAS,
                *_COMMON_PROLOGUES,
            ):
                continue
            everything = role in ("anchor", *_COMMON) and (anchor == "conv2d" or role == "anchor")
            for shape in _shapes(base) if everything else (base,):
                yield from _with_role(anchor, shape, role)
            yield from _aligned(anchor, base, role)
        for chain in CHAINS:
            yield group_of(anchor, base, (), chain, role=chain[-1])
        yield group_of(anchor, base, ("relu",), CHAINS[0])
        yield group_of(anchor, base, ("scale", "bias", "relu"), ("bias", "relu"))
        if kind == "none":
            first = replace(base, layout="channels_first")
            for role in ("anchor", *_COMMON, "prologue_relu"):
                yield from _with_role(anchor, first, role)


def _products() -> Iterator[Case]:
    for (rank, rows), dtype in product(_MATMULS.items(), DTYPES):
        base = Shape(dtype=dtype, layout="row_major", spatial=rows, outputs=32)
        for role in (
            ("anchor", *EPILOGUES, *OPERANDS, *PROLOGUES)
            if rank < 4
            else ("anchor", *_COMMON, "prologue_relu")
        ):
            yield from _with_role("matmul", base, role)
            yield from _aligned("matmul", base, role)
            if role in ("anchor", *_COMMON, *_COMMON_PROLOGUES):
                yield from _with_role("matmul", replace(base, outputs=33), role)
        if rank == 2:
            yield from _with_role(
                "matmul", replace(base, spatial=(1,), channels=2048, outputs=1000), "bias"
            )
        for chain in CHAINS if rank == 3 else ():
            yield group_of("matmul", base, (), chain, role=chain[-1])


def _pools() -> Iterator[Case]:
    for anchor, (_, spatial), dtype, layout in product(
        ("max_pool", "avg_pool", "mean"), _POOLS.items(), DTYPES, ("last", "first")
    ):
        base = Shape(dtype=dtype, layout=f"channels_{layout}", spatial=spatial, kernel=2, stride=2)
        wider = (
            () if anchor == "mean" else (replace(base, kernel=3), replace(base, kernel=3, stride=1))
        )
        for shape in (base, *wider, *_uneven(base), replace(base, batch=1)):
            yield from _with_role(anchor, shape, "anchor")


def group_cases() -> list[Case]:
    """Returns every group of the matrix once."""
    found: dict[str, Case] = {}
    for cases in (_convolutions(), _products(), _pools()):
        for case in cases:
            # If a group occurs twice, the case that is evidence is kept.
            if case.key not in found or found[case.key].cell is None:
                found[case.key] = case
    return list(found.values())
