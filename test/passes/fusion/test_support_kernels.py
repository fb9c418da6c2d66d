"""The rows of `kernels` in the support table agree with the kernels: every graph that only they accept
gets a kernel."""

from __future__ import annotations

import json
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings

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
    (dtype, tuple(part for part in (*after.split("+"), role) if part))
    for row in KERNELS
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
    dtype: str, after: tuple[str, ...], *, channels: int = 64, filters: int = 1, **sizes: int
) -> Case:
    shape = Shape(dtype=dtype, channels=channels, groups=channels, outputs=filters * channels)
    return group_of("conv2d", replace(shape, **sizes), after=after)


@pytest.mark.parametrize(("dtype", "after"), sorted(set(CHAINS)), ids=str)
def test_marked_graphs_are_accepted(dtype: str, after: tuple[str, ...]) -> None:
    assert not refusals([_only_kernel(_depthwise(dtype, after))])


def test_rows_add_graphs() -> None:
    """Each role of each row needs the row and the mark, at least after some of its roles: cuDNN has
    engines for relu after a bias, for example."""
    for row in KERNELS:
        for role in row["roles"]:
            if role == "+".join(HARD_SWISH):
                continue
            cases = [
                _depthwise(dtype, (*filter(None, after.split("+")), role))
                for dtype in row["dtypes"]
                for after in row["after"]
            ]
            assert refusals(cases), (role, row)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (_depthwise("bf16", ("bias", "relu_clip"), kernel=13), "a window of 13"),
        (_depthwise("bf16", ("bias", "relu_clip"), filters=2), "two filters per channel"),
        (_depthwise("bf16", ("relu_clip", "bias")), "an order that the kernel does not have"),
        (_depthwise("f32", ("bias", "tanh")), "tanh in f32"),
        (_depthwise("f16", ("bias", *HARD_SWISH)), "other numbers than those of a hard swish"),
        (group_of("conv1d", Shape(spatial=(40,), groups=64), after=("leaky_relu",)), "one dim"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_others_are_refused(case: Case, reason: str) -> None:
    assert refusals([_only_kernel(case)]), reason


@st.composite
def _random_graph(draw: st.DrawFn) -> Case:
    """Draws a depthwise convolution of any sizes, with any epilogue."""
    roles = sorted({role for _, after in CHAINS for role in after})
    assert set(roles) <= set(ROLES)
    dtype, after = draw(
        st.one_of(
            st.sampled_from(CHAINS),
            st.tuples(
                st.sampled_from(["f16", "bf16", "f32"]),
                st.lists(st.sampled_from(roles), max_size=4).map(tuple),
            ),
        )
    )
    return _depthwise(
        dtype,
        after,
        channels=draw(st.sampled_from([2, 3, 5, 8, 10, 12, 66, 96, 144, 1000, 1032])),
        filters=draw(st.sampled_from([1, 1, 1, 2])),
        spatial=draw(st.tuples(*2 * [st.sampled_from([1, 2, 7, 14, 33, 112, 257])])),
        kernel=draw(st.integers(1, 13)),
        stride=draw(st.integers(1, 3)),
        dilation=draw(st.integers(1, 3)),
        batch=draw(st.sampled_from([1, 2, 32])),
    )


@settings(
    max_examples=1,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(_random_graph(), min_size=80, max_size=80, unique_by=lambda case: case.key))
def test_accepted_graphs_have_kernels(cases: list[Case]) -> None:
    without_mark = refusals(cases)
    marked = [_only_kernel(case) for case in cases if case.key in without_mark]
    refused = refusals(marked)
    chosen = [case for case in marked if case.key not in refused]
    assert len(chosen) > 10
    text = convoy_opt("\n".join(case.text for case in chosen), "--cudnn-attach-kernels").stdout
    assert text.count("cudnn.kernels = [") == len(chosen)
