"""What `convoy-fuse-reads` fuses has the same results, bit for bit. It applies to `cuda`, so the
test runs the passes before it for `cuda`, and the result on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from op_cases import Function
from torch import Tensor, nn

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module

_PASSES = (
    "--tcp-sink-reshapes",
    "--convert-tcp-to-linalg",
    "--convoy-fuse-elementwise",
    "--convoy-fuse-reads",
    "--lower-affine",
    "--canonicalize",
    "--convoy-expand-math",
)


def _windows(x: Tensor) -> Tensor:
    rolled = torch.roll(x, (-1, -2), (1, 2)).reshape(2, 2, 3, 2, 3, 4)
    return rolled.permute(0, 1, 3, 2, 4, 5).reshape(8, 9, 4)


def _image(x: Tensor) -> Tensor:
    image = x.reshape(2, 2, 2, 3, 3, 4).permute(0, 1, 3, 2, 4, 5).reshape(2, 6, 6, 4)
    return torch.roll(image, (1, 2), (1, 2)) + x.reshape(2, 6, 6, 4)


def _merge(x: Tensor) -> Tensor:
    return torch.cat([x[:, i::2, j::2] for j in range(2) for i in range(2)], -1)


def _rotary(x: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * 2 + torch.cat([-second, first], -1) * 3


def _nested(x: Tensor) -> Tensor:
    for shift in (1, 2, 3):
        x = torch.cat([x[:, :, shift:], x[:, :, :shift]], 2)
    return x.flip(1)


def _twice(x: Tensor) -> tuple[Tensor, Tensor]:
    """A slice that two concats read."""
    part = x[:, 1:]
    return torch.cat([part, x], 1), torch.cat([x, part], 1)


def _positions(x: Tensor) -> Tensor:
    """Relative positions that are added to a part of the scores, as in MViT."""
    scores = x.reshape(2, 9, 16).clone()
    height, width = scores[:, 0, :6].reshape(2, 2, 3), scores[0, 1:5, :5]
    rows = height[:, :, None, :, None] + width[None, None, :, None, :]
    scores[:, 1:, 1:] += rows.reshape(2, 8, 15)
    return scores


def _resize(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, (9, 11), mode="bilinear")


def _shrink(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, (3, 2), mode="bilinear", align_corners=True)


def _cube(x: Tensor) -> Tensor:
    """The first of three interpolations stays."""
    return nn.functional.interpolate(x[None], scale_factor=2, mode="trilinear")


_FUNCTIONS = {
    _resize: 1,
    _shrink: 1,
    _cube: 2,
    _positions: 1,
    _windows: 1,
    _image: 1,
    _merge: 1,
    _rotary: 1,
    _nested: 1,
    _twice: 2,
}


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_results_are_the_same(function, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    shape = (8, 9, 4) if function is _image else (2, 6, 6, 4)
    inputs = (torch.randn(shape, dtype=torch.float16),)
    options = convoy.CompileOptions(target="cpu")
    imported = import_module(Function(function).eval(), inputs)
    plain = compile_imported(imported, options)
    normalized = plain.phases["normalize"].replace('tcp.target = "cpu"', 'tcp.target = "cuda"')
    text = convoy_opt(normalized, *_PASSES).replace('tcp.target = "cuda"', 'tcp.target = "cpu"')
    assert text.count("linalg.generic") == _FUNCTIONS[function]
    fused = compile_imported(replace(imported, text=text), options, phase="linalg").load()
    expected, got = plain.load()(*inputs), fused(*inputs)
    pairs = zip(expected, got, strict=True) if isinstance(got, tuple) else [(expected, got)]
    for one, other in pairs:
        assert torch.equal(one, other)
