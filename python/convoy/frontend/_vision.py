# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torchvision's ops that read feature maps at computed places, as in detectors: their kernels are
written for each device, so they are computed by PyTorch's ops here."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["deform_conv2d", "roi_align", "vision_decompositions"]

#: The most samples of a bin whose weight for one row of a feature map is not zero, and one more at
#: each end for rounding: more than half a row is between two samples.
_NEAR = 6


def vision_decompositions() -> dict[Any, Any]:
    """The decompositions of torchvision's ops, if it is imported."""
    rules = {"deform_conv2d": deform_conv2d, "roi_align": roi_align}
    ops = {name: getattr(torch.ops.torchvision, name, None) for name in rules}
    return {op.default: rules[name] for name, op in ops.items() if op is not None}


def deform_conv2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> torch.Tensor:
    """torchvision.ops.deform_conv2d: a convolution whose taps are moved, and read between pixels.

    Args:
        x: [N, C, H, W].
        weight: [M, C / groups, R, S].
        offset: [N, offset_groups * R * S * 2, P, Q]: by how many rows and columns taps are moved.
        mask: [N, offset_groups * R * S, P, Q]: factors of the taps.
        bias: [M].
        stride_h: The stride of rows, and `stride_w` of columns.
        stride_w: See above.
        pad_h: The rows of zeros at either end, and `pad_w` the columns.
        pad_w: See above.
        dilation_h: The distance of taps in rows, and `dilation_w` in columns.
        dilation_w: See above.
        groups: The groups of the convolution.
        offset_groups: The groups of channels with equal offsets.
        use_mask: Whether there are factors.

    Returns:
        [N, M, P, Q].
    """
    batch, channels, height, width = x.shape
    rows, columns = weight.shape[2:]
    out_rows, out_columns = offset.shape[2:]
    taps, images = rows * columns, batch * offset_groups
    moved = offset.reshape(images, rows, columns, 2, out_rows, out_columns)

    def places(count: int, taps: int, stride: int, pad: int, dilation: int) -> torch.Tensor:
        """Where the taps are without offsets: [taps, count]."""
        at = torch.arange(count, device=x.device) * stride - pad
        return at + torch.arange(taps, device=x.device)[:, None] * dilation

    down = places(out_rows, rows, stride_h, pad_h, dilation_h).to(x.dtype)
    across = places(out_columns, columns, stride_w, pad_w, dilation_w).to(x.dtype)
    y = moved[:, :, :, 0] + down[:, None, :, None]
    z = moved[:, :, :, 1] + across[:, None, :]
    image = x.reshape(images, channels // offset_groups, height * width)
    read = torch.zeros((), dtype=x.dtype, device=x.device)
    for row, row_weight in _neighbors(y, height):
        for column, column_weight in _neighbors(z, width):
            place = (row * width + column).reshape(images, 1, -1)
            value = image.gather(2, place.expand(-1, image.shape[1], -1))
            read = read + value * (row_weight * column_weight).reshape(images, 1, -1)
    if use_mask:
        factor = mask.reshape(images, 1, -1)
        read = read * factor
    # One column for each place, with the taps of all channels.
    read = read.reshape(batch, groups, channels // groups * taps, out_rows * out_columns)
    product = weight.reshape(groups, weight.shape[0] // groups, -1) @ read
    return product.reshape(batch, -1, out_rows, out_columns) + bias[:, None, None]


def _neighbors(at: torch.Tensor, size: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The two pixels next to a place and their weights, 0 for those outside of an image."""
    low = torch.floor(at)
    found = []
    for place, weight in ((low, low + 1 - at), (low + 1, at - low)):
        inside = (place >= 0) & (place <= size - 1)
        found.append(
            (torch.where(inside, place, 0).to(torch.int64), torch.where(inside, weight, 0))
        )
    return found


def roi_align(
    x: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    """torchvision.ops.roi_align: means of samples between pixels, in the bins of boxes.

    Args:
        x: [N, C, H, W].
        rois: [K, 5]: the number of the image, x1, y1, x2, y2.
        spatial_scale: The factor of the coordinates.
        pooled_height: The rows of bins of a box, and `pooled_width` the columns.
        pooled_width: See above.
        sampling_ratio: The rows and columns of samples of a bin. If it is not positive, those of a
            box are the rows and columns of pixels in its bin, rounded up.
        aligned: Whether the center of the first pixel is at 0.5.

    Returns:
        [K, C, pooled_height, pooled_width].
    """
    shift = 0.5 if aligned else 0.0
    image = rois[:, 0].to(torch.int64)
    axes = []
    # The columns of y1 and y2, x1 and x2.
    for (first, last), size, bins in (
        ((2, 4), x.shape[2], pooled_height),
        ((1, 3), x.shape[3], pooled_width),
    ):
        start, end = (rois[:, at] * spatial_scale - shift for at in (first, last))
        extent = end - start if aligned else (end - start).clamp(min=1.0)
        axes.append((start, extent / bins, size, bins))
    if sampling_ratio > 0:
        return _mean_of_samples(x, image, axes, sampling_ratio)
    # The means along either axis are products with matrices of weights.
    down, across = (_weights_of_pixels(*axis) for axis in axes)
    batch, channels, height, width = x.shape
    of_image = torch.arange(batch, device=x.device) == image[:, None]
    down = torch.where(of_image[:, None, :, None], down[:, :, None], 0.0)
    down = down.reshape(-1, batch * height)
    rows = down @ x.transpose(1, 2).reshape(batch * height, channels * width)
    rows = rows.reshape(-1, pooled_height * channels, width)
    pooled = (rows @ across.mT).reshape(-1, pooled_height, channels, pooled_width)
    return pooled.transpose(1, 2)


_Axis = tuple[torch.Tensor, torch.Tensor, int, int]


def _mean_of_samples(
    x: torch.Tensor, image: torch.Tensor, axes: list[_Axis], samples: int
) -> torch.Tensor:
    """Reads the four pixels around each sample."""
    taps = []
    for start, extent, size, bins in axes:
        within = (torch.arange(samples, device=x.device) + 0.5).to(x.dtype)
        first = start[:, None] + torch.arange(bins, device=x.device) * extent[:, None]
        at = first[:, :, None] + within * extent[:, None, None] / samples
        inside, at = _limited(at, size)
        low = at.to(torch.int64)
        high = (low + 1).clamp(max=size - 1)
        part = at - low
        # [boxes, bins * samples]
        taps.append(
            [
                (pixel.flatten(1), torch.where(inside, weight, 0.0).flatten(1))
                for pixel, weight in ((low, 1 - part), (high, part))
            ]
        )
    batch, channels, height, width = x.shape
    pixels = x.permute(0, 2, 3, 1).reshape(batch * height * width, channels)
    read = torch.zeros((), dtype=x.dtype, device=x.device)
    for row, row_weight in taps[0]:
        for column, column_weight in taps[1]:
            place = (image[:, None] * height + row)[:, :, None] * width + column[:, None]
            weight = row_weight[:, :, None] * column_weight[:, None]
            read = read + pixels[place] * weight[..., None]
    rows, columns = (axis[3] for axis in axes)
    read = read.reshape(-1, rows, samples, columns, samples, channels)
    return read.mean((2, 4)).permute(0, 3, 1, 2)


def _limited(at: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Whether samples count: at most one pixel outside; and where they read."""
    return (at >= -1) & (at <= size), at.clamp(0, size - 1)


def _weights_of_pixels(
    start: torch.Tensor, extent: torch.Tensor, size: int, bins: int
) -> torch.Tensor:
    """The weight of each pixel in the mean of a bin: [boxes, bins, size]. A bin has as many samples
    as pixels, rounded up."""
    start, extent = start[:, None, None, None], extent[:, None, None, None]
    samples = torch.ceil(extent)
    distance = torch.where(samples > 0, extent / samples, 1.0)
    pixel = torch.arange(size, device=start.device)[:, None]
    first = start + torch.arange(bins, device=start.device)[:, None, None] * extent
    # The samples whose distance from the pixel is less than 1.
    near = torch.floor((pixel - 1 - first) / distance - 0.5).clamp(min=0.0)
    number = near + torch.arange(_NEAR, device=start.device)
    inside, at = _limited(first + (number + 0.5) * distance, size)
    inside = inside & (number >= 0) & (number < samples)
    weight = torch.where(inside, (1 - (at - pixel).abs()).clamp(min=0.0), 0.0)
    return weight.sum(-1) / samples.squeeze(-1).clamp(min=1.0)
