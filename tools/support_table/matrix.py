"""The matrix: every group that cuDNN is asked about, and which cell of the support table each is
evidence for.

A cell is an anchor, a role, a dtype, a layout, a rank and a kind of channel groups; what a table's
row spans. Inside a cell graphs differ in what rows do not tell apart: sizes of images and windows,
strides, alignment of channels, what else is in the group.
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
#: Bytes that the channels of a group may be a multiple of; more is not asked for, as no buffer is
#: aligned to more.
ALIGNMENTS = (1, 2, 4, 8, 16)
EPILOGUES = tuple(name for name, role in ROLES.items() if role.position == "epilogue")
#: Operations on the second operand of one after the anchor.
OPERANDS = tuple(
    name for name, role in ROLES.items() if role.position == "operand" and not role.extent
)
#: Those that networks have before an anchor.
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
#: Roles that are asked about with each shape and alignment.
_COMMON = ("bias", "relu", "residual")
_COMMON_PROLOGUES = ("prologue_relu", "prologue_scale", "prologue_bias", "prologue_residual")
#: Roles that follow a bias in many networks, and are asked about in that form too.
_AFTER_BIAS = (
    *_COMMON[1:], "relu_clip", "leaky_relu", "elu", "gelu", "gelu_approx_tanh", "swish", "sigmoid",
    "tanh", "scale", "gate", "product", "mul_virtual", "add_scalar", "mul_scalar", "div_scalar",
    "cast",
)  # fmt: skip
#: What networks put after an anchor, beyond one op or a bias and one op; in both orders where the
#: order is the user's.
CHAINS = (
    ("bias", "residual", "relu"), ("residual", "bias", "relu"), ("residual", "relu"), ("bias",
    "relu", "residual"),
    ("scale", "bias", "relu"), ("scale", "bias", "residual", "relu"), ("bias", "swish", "residual"),
    ("bias", "gate", "residual"),
    ("bias", "product", "residual"), ("bias", "relu", "relu_clip"), ("bias", "gelu", "residual",
    "relu"), ("scale", "bias", "leaky_relu"),
)  # fmt: skip


class Cell(NamedTuple):
    """What one question to the support table names, the alignment of channels apart."""

    anchor: str
    role: str
    dtype: str
    layout: str
    rank: int
    channel_groups: str


@dataclass(frozen=True)
class Case:
    """One graph to ask about.

    Args:
        key: Its name.
        pattern: Its roles.
        cells: The questions that it asks the table: its anchor, then each role.
        cell: What it is evidence for; graphs that combine roles which have cells of their own are
            evidence for none.
        channel_bytes: Bytes of one group's channels.
        text: A `cudnn.graph`.
        is_group: Whether the compiler forms such graphs, and reads the rows about them.
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
        return self.cells[0].dtype


def cells_of(
    anchor: str, shape: Shape, before: tuple[str, ...], after: tuple[str, ...]
) -> tuple[Cell, ...]:
    """The questions that a group asks the table: its anchor, then each role."""
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
    """The case of one group; `role` is the one that it is evidence for."""
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
    """`shape` with channels of a group that are a multiple of so many bytes and no more."""
    for size in sizes:
        count = size // DTYPES[shape.dtype]
        if count and shape.groups in (1, 4):
            yield replace(
                shape, channels=count * 5 * shape.groups if shape.groups > 1 else 64 + count
            )


def _shapes(base: Shape) -> Iterator[Shape]:
    """What a network may do with a convolution."""
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
    """A role alone, then beside the others that are nearly always there."""
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
            # Of two values, where the first one reads the anchor's result itself.
            yield group_of(anchor, shape, (), ("sigmoid", role), role=role)
        if role in _AFTER_BIAS:
            yield group_of(anchor, shape, (), ("bias", role), role=role)
        if role in _AFTER_BIAS and ROLES[role].extent == "virtual":
            yield group_of(anchor, shape, (), ("bias", "sigmoid", role), role=role)


def _aligned(anchor: str, base: Shape, role: str) -> Iterator[Case]:
    """A role with channels of each alignment that decides: all for what is common, else the odd
    ones of an epilogue."""
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
    """Every group of the matrix, each once."""
    found: dict[str, Case] = {}
    for cases in (_convolutions(), _products(), _pools()):
        for case in cases:
            # Two ways to one group: the one that is evidence stays.
            if case.key not in found or found[case.key].cell is None:
                found[case.key] = case
    return list(found.values())
