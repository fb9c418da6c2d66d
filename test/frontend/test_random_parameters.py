"""Convolutions, pools, slices and pads with parameters from hypothesis, compared with PyTorch in
float64. One import has several examples, because an export has a fixed cost."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from frontend_checks import check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_cases import Function, Together, gradients
from torch import Tensor, nn

_SETTINGS = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _numbers(rank: int, low: int, high: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.integers(low, high)] * rank)


@st.composite
def _convs(draw: st.DrawFn) -> tuple[nn.Module, Tensor]:
    rank, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel, stride, dilation = (
        draw(_numbers(rank, 1, 3)),
        draw(_numbers(rank, 1, 3)),
        draw(_numbers(rank, 1, 2)),
    )
    channels, filters = groups * draw(st.integers(1, 2)), groups * draw(st.integers(1, 3))
    size = draw(_numbers(rank, 5, 7))
    shared = {"groups": groups, "dilation": dilation, "bias": draw(st.booleans())}
    if draw(st.booleans()):
        padding = tuple(
            min(p, d * (k - 1))
            for p, d, k in zip(draw(_numbers(rank, 0, 2)), dilation, kernel, strict=True)
        )
        extra = tuple(
            draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True)
        )
        make = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[rank - 1]
        module: nn.Module = make(channels, filters, kernel, stride, padding, extra, **shared)
    else:
        make_conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[rank - 1]
        if draw(st.booleans()):
            module = make_conv(channels, filters, kernel, 1, "same", **shared)
        else:
            module = make_conv(
                channels, filters, kernel, stride, draw(_numbers(rank, 0, 3)), **shared
            )
    return module, torch.randn(2, channels, *size)


@st.composite
def _pools(draw: st.DrawFn) -> tuple[nn.Module, Tensor]:
    rank = draw(st.integers(1, 3))
    kernel, stride = draw(_numbers(rank, 1, 4)), draw(_numbers(rank, 1, 4))
    padding = tuple(min(p, k // 2) for p, k in zip(draw(_numbers(rank, 0, 2)), kernel, strict=True))
    ceil = draw(st.booleans())
    x = torch.randn(1, 2, *draw(_numbers(rank, 7, 9)))
    kind = draw(st.sampled_from(["max", "avg", "adaptive"]))
    if kind == "max":
        return (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)[rank - 1](
            kernel, stride, padding, draw(_numbers(rank, 1, 2)), ceil_mode=ceil
        ), x
    if kind == "avg":
        return (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)[rank - 1](
            kernel, stride, padding, ceil, draw(st.booleans())
        ), x
    return (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)[rank - 1](kernel), x


@st.composite
def _slices(draw: st.DrawFn) -> tuple[nn.Module, Tensor]:
    x = torch.randn(draw(_numbers(3, 3, 6)))
    index = []
    for size in x.shape:
        bounds = [draw(st.one_of(st.none(), st.integers(-2 * size, 2 * size))) for _ in range(2)]
        item = slice(*bounds, draw(st.integers(1, 3)))
        index.append(item if range(size)[item] else slice(None))
    pads = draw(_numbers(6, -1, 3))
    mode = draw(st.sampled_from(["constant", "replicate"]))

    def run(y: Tensor) -> Tensor:
        z = y[tuple(index)]
        padded = (
            F.pad(y[None, None], pads, mode=mode)
            if mode == "replicate"
            else F.pad(y, pads, value=0.5)
        )
        return z.sum() + padded.flip(-1) if z.numel() else padded

    return Function(run), x


def _check(examples: list[tuple[nn.Module, Tensor]]) -> None:
    check(
        Together([module for module, _ in examples], [1] * len(examples)),
        *[x for _, x in examples],
        tolerance=1e-9,
    )


@_SETTINGS
@given(st.lists(_convs(), min_size=10, max_size=10))
def test_convolutions(examples: list[tuple[nn.Module, Tensor]]) -> None:
    _check(examples)


def _gradients(example: tuple[nn.Module, Tensor]) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The gradients of a module with respect to its input and its parameters."""
    module, x = example
    names = [name for name, _ in module.named_parameters()]

    def run(value: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(
            module, dict(zip(names, parameters, strict=True)), (value,)
        )

    return gradients(run, x, *(each.detach() for each in module.parameters()))


def _check_gradients(examples: list[tuple[nn.Module, Tensor]]) -> None:
    built = [_gradients(example) for example in examples]
    check(
        Together([module for module, _ in built], [len(inputs) for _, inputs in built]),
        *[x for _, inputs in built for x in inputs],
        tolerance=1e-9,
    )


@_SETTINGS
@given(st.lists(_convs(), min_size=10, max_size=10))
def test_gradients_of_convolutions(examples: list[tuple[nn.Module, Tensor]]) -> None:
    _check_gradients(examples)


@_SETTINGS
@given(st.lists(_pools(), min_size=10, max_size=10))
def test_pools(examples: list[tuple[nn.Module, Tensor]]) -> None:
    _check(examples)


@_SETTINGS
@given(st.lists(_pools(), min_size=10, max_size=10))
def test_gradients_of_pools(examples: list[tuple[nn.Module, Tensor]]) -> None:
    _check_gradients(examples)


@_SETTINGS
@given(st.lists(_slices(), min_size=10, max_size=10))
def test_slices_and_pads(examples: list[tuple[nn.Module, Tensor]]) -> None:
    _check(examples)
