"""The rows of `kernels` in the support table agree with the kernels: every graph that only they accept
gets a kernel."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tools.convoy_opt import convoy_opt
from tools.support_table.__main__ import TABLE
from tools.support_table.groups import ROLES, Shape
from tools.support_table.library import refusals
from tools.support_table.matrix import Case, group_of

KERNELS = json.loads(TABLE.read_text())["kernels"]
#: The roles of a hard swish, which the kernel computes with its numbers only. Graphs of these tests
#: have other ones; test/passes/group/depthwise.mlir has the function.
HARD_SWISH = ("add_scalar", "relu_clip", "mul_virtual", "div_scalar")
CHAINS = [
    (anchor, dtype, tuple(part for part in (*after.split("+"), role) if part))
    for row in KERNELS
    for anchor in row["anchors"]
    for dtype in row["dtypes"]
    for after in row["after"]
    for role in row["roles"]
    if role != "+".join(HARD_SWISH)
]


def _only_kernel(case: Case) -> Case:
    """Returns the case with its graph marked `only_kernel`."""
    head, separator, body = case.text.partition(" {\n")
    marked = f'{head} attributes {{cudnn.preference = "only_kernel"}}{separator}{body}'
    return replace(case, text=marked)


def _depthwise(
    dtype: str,
    after: tuple[str, ...],
    *,
    anchor: str = "conv2d",
    channels: int = 64,
    filters: int = 1,
    **sizes: Any,
) -> Case:
    shape = Shape(
        dtype=dtype,
        spatial=(9,) * int(anchor[4]),
        channels=channels,
        groups=channels,
        outputs=filters * channels,
    )
    return group_of(anchor, replace(shape, **sizes), after=after)


@pytest.mark.parametrize(("anchor", "dtype", "after"), sorted(set(CHAINS)), ids=str)
def test_marked_graphs_are_accepted(anchor: str, dtype: str, after: tuple[str, ...]) -> None:
    assert not refusals([_only_kernel(_depthwise(dtype, after, anchor=anchor))])


def test_rows_add_graphs() -> None:
    """Each role of each row needs the row and the mark, at least after some of its roles: cuDNN has
    engines for relu after a bias, for example."""
    for row in KERNELS:
        for role, anchor in itertools.product(row["roles"], row["anchors"]):
            if role == "+".join(HARD_SWISH):
                continue
            cases = [
                _depthwise(dtype, (*filter(None, after.split("+")), role), anchor=anchor)
                for dtype in row["dtypes"]
                for after in row["after"]
            ]
            assert refusals(cases), (role, anchor, row)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (_depthwise("bf16", ("bias", "relu_clip"), kernel=23, spatial=(30, 30)), "529 taps"),
        (_depthwise("bf16", ("bias", "relu_clip"), filters=2), "two filters per channel"),
        (_depthwise("bf16", ("relu_clip", "bias")), "an order that the kernel does not have"),
        (_depthwise("f32", ("bias", "tanh")), "tanh in f32"),
        (_depthwise("f16", ("bias", *HARD_SWISH)), "other numbers than those of a hard swish"),
        (_depthwise("f32", ("gelu",), anchor="conv1d"), "GELU in f32"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_others_are_refused(case: Case, reason: str) -> None:
    assert refusals([_only_kernel(case)]), reason


def _random_graph(random: Random) -> Case:
    """Draws a depthwise convolution of any sizes, with any epilogue."""
    roles = sorted({role for _, _, after in CHAINS for role in after})
    assert set(roles) <= set(ROLES)
    anchor, dtype, after = random.choice(CHAINS)
    if random.random() < 0.5:
        after = tuple(random.choices(roles, k=random.randint(0, 4)))
    sizes, most_taps = {
        "conv1d": ([1, 2, 7, 33, 257, 1000], 80),
        "conv2d": ([1, 2, 7, 14, 33, 112, 257], 22),
        "conv3d": ([1, 2, 7, 14, 33], 8),
    }[anchor]
    return _depthwise(
        dtype,
        after,
        anchor=anchor,
        channels=random.choice([2, 3, 5, 8, 10, 12, 66, 96, 144, 1000, 1032]),
        filters=random.choice([1, 1, 1, 2]),
        spatial=tuple(random.choices(sizes, k=int(anchor[4]))),
        kernel=random.randint(1, most_taps),
        stride=random.randint(1, 3),
        dilation=random.randint(1, 3),
        batch=random.choice([1, 2, 32]),
    )


def test_accepted_graphs_have_kernels() -> None:
    random = Random(0)
    cases = list({case.key: case for case in (_random_graph(random) for _ in range(160))}.values())
    without_mark = refusals(cases)
    marked = [_only_kernel(case) for case in cases if case.key in without_mark]
    refused = refusals(marked)
    chosen = [case for case in marked if case.key not in refused]
    assert len(chosen) > 40
    text = convoy_opt("\n".join(case.text for case in chosen), "--cudnn-attach-kernels").stdout
    assert text.count("cudnn.kernels = [") == len(chosen)
