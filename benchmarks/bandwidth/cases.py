# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that are bound by memory: elementwise chains, reductions, norms and moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["CASES", "COPIES", "COPY", "INDEX", "MEGABYTES", "Case", "copy_key"]

Shape = tuple[int, ...]

#: The file with the cases of a folder: key to name, dtype, MB of the first input, and the bytes
#: that are read and written.
INDEX: Final = "cases.json"
#: The sizes of a case's first input in MB (2**20 bytes).
MEGABYTES: Final = (8, 64)
#: The sizes of a copy's input in MB: half of what a case moves lies between two of them.
COPIES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Case:
    """A function.

    Attributes:
        function: The function, of tensors of the same dtype.
        shapes: Returns the shapes of its arguments for a number of elements of the first one.
        channels_last: Whether arguments of four dims are in channels-last order.
    """

    function: Callable[..., Tensor]
    shapes: Callable[[int], tuple[Shape, ...]]
    channels_last: bool = False

    def arguments(self, elements: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
        """Returns arguments of zeros, the first with this number of elements."""
        tensors = (torch.zeros(shape, dtype=dtype) for shape in self.shapes(elements))
        return tuple(
            each.to(memory_format=torch.channels_last)
            if self.channels_last and each.ndim == 4
            else each
            for each in tensors
        )

    def module(self) -> nn.Module:
        """Returns the function as a module."""
        return _Module(self.function)


def copy_key(megabytes: int) -> str:
    """Returns the name of the artifact that copies a tensor of this size."""
    return f"copy-{megabytes}"


class _Module(nn.Module):
    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *arguments: Tensor) -> Tensor:
        return self._function(*arguments)


def _rows(width: int, *others: Shape) -> Callable[[int], tuple[Shape, ...]]:
    """Rows of `width` elements, and other arguments."""
    return lambda elements: ((elements // width, width), *others)


def _alike(count: int, width: int = 1024) -> Callable[[int], tuple[Shape, ...]]:
    return lambda elements: ((elements // width, width),) * count


def _images(channels: int, side: int, *others: Shape) -> Callable[[int], tuple[Shape, ...]]:
    return lambda elements: (
        (elements // (channels * side * side), channels, side, side),
        *others,
    )


def _shuffled(x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    return x.view(n, 4, c // 4, h, w).transpose(1, 2).reshape(n, c, h, w)


def _rms_norm(x: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
    total = (x + residual).float()
    scale = torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6)
    return (total * scale).to(x.dtype) * weight


COPY: Final = Case(torch.clone, lambda elements: ((elements,),))
CASES: Final = {
    "scale, shift, relu": Case(lambda x: F.relu(x * 1.5 + 0.5), _alike(1)),
    "gelu, sum": Case(lambda x, y: F.gelu(x) + y, _alike(2)),
    "swish, product": Case(lambda x, y: F.silu(x) * y, _alike(2)),
    "cast": Case(
        lambda x: x.to(torch.float16 if x.dtype == torch.float32 else torch.float32), _alike(1)
    ),
    "bias of channels": Case(lambda x, b: x + b[:, None, None], _images(64, 32, (64,))),
    "hard swish, channels last": Case(F.hardswish, _images(64, 32), channels_last=True),
    "sum of rows": Case(lambda x: x.sum(-1), _rows(1024)),
    "sum of short rows": Case(lambda x: x.sum(-1), _rows(64)),
    "sum of 16 rows": Case(lambda x: x.sum(-1), lambda elements: ((16, elements // 16),)),
    "sum of columns": Case(lambda x: x.sum(0), _rows(1024)),
    "sum": Case(torch.sum, _rows(1024)),
    "mean of images": Case(lambda x: x.mean((2, 3)), _images(256, 32)),
    "mean of images, channels last": Case(
        lambda x: x.mean((2, 3)), _images(256, 32), channels_last=True
    ),
    "largest channel": Case(lambda x: x.amax(1), _images(64, 32)),
    "index of the largest": Case(lambda x: x.argmax(-1), _rows(1024)),
    "layer norm of 768": Case(
        lambda x, w, b: F.layer_norm(x, (768,), w, b),
        lambda elements: ((elements // 768, 768), (768,), (768,)),
    ),
    "layer norm of 16384": Case(
        lambda x, w, b: F.layer_norm(x, (16384,), w, b), _rows(16384, (16384,), (16384,))
    ),
    "layer norm of 4096": Case(
        lambda x, w, b: F.layer_norm(x, (4096,), w, b), _rows(4096, (4096,), (4096,))
    ),
    "layer norm of 16 rows": Case(
        lambda x: F.layer_norm(x, x.shape[1:]), lambda elements: ((16, elements // 16),)
    ),
    "sum, RMS norm of 4096": Case(
        _rms_norm, lambda elements: ((elements // 4096, 4096), (elements // 4096, 4096), (4096,))
    ),
    "group norm of one image": Case(
        lambda x, w, b: F.group_norm(x, 32, w, b),
        lambda elements: ((1, elements // 4096, 64, 64), (elements // 4096,), (elements // 4096,)),
    ),
    "group norm, swish, channels last": Case(
        lambda x, w, b: F.silu(F.group_norm(x, 32, w, b)),
        _images(256, 32, (256,), (256,)),
        channels_last=True,
    ),
    "group norm of 16 channels each": Case(
        lambda x, w, b: F.group_norm(x, 16, w, b),
        _images(256, 16, (256,), (256,)),
        channels_last=True,
    ),
    "instance norm": Case(F.instance_norm, _images(64, 64)),
    "softmax of 128": Case(lambda x: x.softmax(-1), _rows(128)),
    "softmax of 1024": Case(lambda x: x.softmax(-1), _rows(1024)),
    "softmax of 16 rows": Case(lambda x: x.softmax(-1), lambda elements: ((16, elements // 16),)),
    "softmax of 64 channels": Case(lambda x: x.softmax(1), _images(64, 32)),
    "softmax of 256 channels": Case(lambda x: x.softmax(1), _images(256, 32)),
    "nearest, 2x, channels last": Case(
        lambda x: F.interpolate(x, scale_factor=2), _images(64, 32), channels_last=True
    ),
    "log softmax of 32768": Case(lambda x: x.log_softmax(-1), _rows(32768)),
    "transposed": Case(lambda x: x.t().contiguous(), _rows(1024)),
    "channels last": Case(lambda x: x.permute(0, 2, 3, 1).contiguous(), _images(64, 32)),
    "channels first": Case(
        lambda x: x.permute(0, 3, 1, 2).contiguous(),
        lambda elements: ((elements // (32 * 32 * 64), 32, 32, 64),),
    ),
    "heads": Case(
        lambda x: x.transpose(1, 2).contiguous(),
        lambda elements: ((elements // (128 * 12 * 64), 128, 12, 64),),
    ),
    "concat": Case(lambda x, y: torch.cat([x, y], 1), _alike(2)),
    "relu, concat": Case(lambda x, y: torch.cat([F.relu(x), y * 2], 1), _alike(2)),
    "gated linear unit": Case(lambda x: F.glu(x, -1), _rows(1024)),
    "channel shuffle": Case(_shuffled, _images(64, 32)),
    "padded": Case(lambda x: F.pad(x, (1, 1, 1, 1)), _images(64, 32)),
    "flipped": Case(lambda x: x.flip(-1), _rows(1024)),
    "rolled": Case(lambda x: x.roll((3, 3), (2, 3)), _images(64, 32)),
    "nearest, 2x": Case(lambda x: F.interpolate(x, scale_factor=2), _images(64, 32)),
    "bilinear, 2x, channels last": Case(
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        _images(64, 32),
        channels_last=True,
    ),
    "largest of windows, channels last": Case(
        lambda x: F.max_pool2d(x, 3, 2, 1), _images(64, 32), channels_last=True
    ),
    "mean of windows": Case(lambda x: F.avg_pool2d(x, 2), _images(64, 32)),
    "mean of overlapping windows": Case(lambda x: F.avg_pool2d(x, 3, 1, 1), _images(64, 32)),
    "running sum of rows": Case(lambda x: x.cumsum(-1), _rows(1024)),
}
