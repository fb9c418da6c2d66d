# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torchvision's ops as loops over their results, and as ops of PyTorch where torchvision is not
installed."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

__all__ = ["define_ops", "deform_conv2d", "roi_align"]


def _bilinear(image: Tensor, y: float, x: float) -> Tensor:
    """[C, H, W] between pixels; zeros are around the image."""
    total = image.new_zeros(image.shape[0])
    for row, column in itertools.product((0, 1), (0, 1)):
        at_y, at_x = math.floor(y) + row, math.floor(x) + column
        if 0 <= at_y < image.shape[1] and 0 <= at_x < image.shape[2]:
            weight = (1 - abs(y - at_y)) * (1 - abs(x - at_x))
            total += weight * image[:, at_y, at_x]
    return total


def deform_conv2d(
    x: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,
    stride_h: int, stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int,
    groups: int, offset_groups: int, use_mask: bool,
) -> Tensor:  # fmt: skip
    """torchvision::deform_conv2d."""
    outputs, per_group, rows, columns = weight.shape
    channels = x.shape[1]
    result = bias[None, :, None, None].repeat(x.shape[0], 1, *offset.shape[2:])
    for n, p, q, r, s, part in itertools.product(
        range(x.shape[0]), *map(range, offset.shape[2:]), range(rows), range(columns),
        range(offset_groups),
    ):  # fmt: skip
        tap = part * rows * columns + r * columns + s
        y = p * stride_h - pad_h + r * dilation_h + float(offset[n, 2 * tap, p, q])
        z = q * stride_w - pad_w + s * dilation_w + float(offset[n, 2 * tap + 1, p, q])
        size = channels // offset_groups
        value = _bilinear(x[n, part * size : (part + 1) * size], y, z)
        if use_mask:
            value = value * mask[n, tap, p, q]
        for k, channel in itertools.product(range(outputs), range(size)):
            group, at = divmod(part * size + channel, per_group)
            if group == k // (outputs // groups):
                result[n, k, p, q] += weight[k, at, r, s] * value[channel]
    return result


def roi_align(
    x: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    sampling_ratio: int, aligned: bool,
) -> Tensor:  # fmt: skip
    """torchvision::roi_align."""
    sizes, shift = x.shape[2:], 0.5 if aligned else 0.0
    result = x.new_zeros(rois.shape[0], x.shape[1], pooled_height, pooled_width)
    for k, (image, x1, y1, x2, y2) in enumerate(rois.tolist()):
        starts = [each * spatial_scale - shift for each in (y1, x1)]
        extents = [(b - a) * spatial_scale for a, b in ((y1, y2), (x1, x2))]
        if not aligned:
            extents = [max(each, 1.0) for each in extents]
        bins = [extents[0] / pooled_height, extents[1] / pooled_width]
        counts = [sampling_ratio if sampling_ratio > 0 else math.ceil(each) for each in bins]
        for p, q in itertools.product(range(pooled_height), range(pooled_width)):
            total = x.new_zeros(x.shape[1])
            for i, j in itertools.product(*map(range, counts)):
                at = [
                    starts[dim] + cell * bins[dim] + (number + 0.5) * bins[dim] / counts[dim]
                    for dim, (cell, number) in enumerate(((p, i), (q, j)))
                ]
                if all(-1 <= each <= size for each, size in zip(at, sizes, strict=True)):
                    inside = [min(max(a, 0.0), s - 1) for a, s in zip(at, sizes, strict=True)]
                    total += _bilinear(x[int(image)], *inside)
            result[k, :, p, q] = total / max(counts[0] * counts[1], 1)
    return result


_SCHEMAS = {
    "deform_conv2d": "(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
    "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
    "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
    "roi_align": "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
}


def _fake_deform_conv2d(x: Tensor, weight: Tensor, offset: Tensor, *_: object) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0], *offset.shape[2:])


def _fake_roi_align(
    x: Tensor, rois: Tensor, scale: float, height: int, width: int, *_: object
) -> Tensor:
    return x.new_empty(rois.shape[0], x.shape[1], height, width)


_KERNELS = {
    "deform_conv2d": (deform_conv2d, _fake_deform_conv2d),
    "roi_align": (roi_align, _fake_roi_align),
}


def define_ops() -> list[torch.library.Library]:
    """Defines the ops of torchvision that are missing. They exist while the result does."""
    missing = [name for name in _SCHEMAS if not hasattr(torch.ops.torchvision, name)]
    if not missing:
        return []
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in missing:
        kernel, fake = _KERNELS[name]
        library.define(name + _SCHEMAS[name])
        library.impl(name, kernel, "CPU")
        torch.library.register_fake(f"torchvision::{name}", fake, lib=library)
    return [library]
