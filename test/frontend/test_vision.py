# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torchvision's ops at computed places, compared with loops, and in models."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import torch
import vision_reference
from frontend_checks import check
from op_cases import Function

from convoy.frontend._refused import reason_of
from convoy.frontend._vision import deform_conv2d, roi_align


@pytest.fixture(autouse=True)
def _ops() -> Iterator[None]:
    torch.manual_seed(0)
    library = vision_reference.define_ops()
    yield
    for each in library:
        each._destroy()


def _boxes(count: int, images: int, size: float, *, smallest: float = 0.0) -> torch.Tensor:
    """Boxes that also reach out of the images."""
    first = torch.rand(count, 2, dtype=torch.float64) * size * 1.4 - size * 0.2
    extent = torch.rand(count, 2, dtype=torch.float64) * size * 1.3 + smallest
    return torch.cat([torch.randint(0, images, (count, 1)), first, first + extent], 1)


@pytest.mark.parametrize(
    ("size", "ratio"), list(itertools.product([(1, 5), (9, 7)], [-1, 0, 1, 3])), ids=str
)
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align(size: tuple[int, int], ratio: int, aligned: bool) -> None:
    x = torch.randn(2, 3, *size, dtype=torch.float64)
    # Extents below zero have no samples of their own number.
    boxes = _boxes(12, 2, max(size) * 2.0, smallest=-2.0 if ratio > 0 else 0.0)
    for height, width in ((1, 1), (3, 2)):
        arguments = (x, boxes, 0.5, height, width, ratio, aligned)
        torch.testing.assert_close(roi_align(*arguments), vision_reference.roi_align(*arguments))


@pytest.mark.parametrize(
    ("groups", "offset_groups", "stride", "pad", "dilation", "use_mask"),
    [(1, 1, 1, 1, 1, True), (2, 1, 2, 0, 1, False), (1, 2, 1, 2, 2, True), (2, 2, 2, 1, 1, False)],
)
def test_deform_conv2d(
    groups: int, offset_groups: int, stride: int, pad: int, dilation: int, use_mask: bool
) -> None:
    x, kernel = torch.randn(2, 4, 5, 6, dtype=torch.float64), (3, 2)
    weight = torch.randn(2, 4 // groups, *kernel, dtype=torch.float64)
    out = [
        (each + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
        for each, taps in zip(x.shape[2:], kernel, strict=True)
    ]
    offset = 2 * torch.randn(2, offset_groups * 12, *out, dtype=torch.float64)
    mask = torch.rand(2, offset_groups * 6, *out, dtype=torch.float64) if use_mask else x[:, :1]
    sizes = (stride, stride, pad, pad, dilation, dilation, groups, offset_groups, use_mask)
    arguments = (x, weight, offset, mask, torch.randn(2, dtype=torch.float64), *sizes)
    expected = vision_reference.deform_conv2d(*arguments)
    torch.testing.assert_close(deform_conv2d(*arguments), expected)


@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align_of_torchvision(ratio: int) -> None:
    module = Function(
        lambda x, boxes: torch.ops.torchvision.roi_align(x, boxes, 0.5, 3, 2, ratio, True)
    )
    check(module, torch.randn(2, 3, 6, 5), _boxes(4, 2, 12.0).float(), tolerance=1e-5)


def test_deform_conv2d_of_torchvision() -> None:
    def run(x: torch.Tensor, weight: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
        sizes = (1, 1, 1, 1, 1, 1, 1, 1, False)
        mask, bias = x.new_zeros(1, 1), x.new_ones(2)
        return torch.ops.torchvision.deform_conv2d(x, weight, offset, mask, bias, *sizes)

    inputs = (torch.randn(1, 2, 4, 5), torch.randn(2, 2, 3, 3), torch.randn(1, 18, 4, 5))
    check(Function(run), *inputs, tolerance=1e-5)


def test_boxes_are_not_selected() -> None:
    """How many boxes non-maximum suppression keeps depends on their values."""
    assert "depends on the values of a tensor" in reason_of("torchvision.nms")
