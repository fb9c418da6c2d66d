# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Convolutions in all forms of aten.convolution: 1-D to 3-D, grouped, dilated, transposed with
output padding, padding as numbers or 'same' and 'valid', with or without a batch dim, with or
without a bias. Their gradients, with respect to input, weight and bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, Missing, converts
from convoy.frontend._types import TensorType

__all__ = ["interleave", "per_dim"]

_NOT_COMPUTED = Missing("expected use of the gradients in output_mask only, got use of another")
_CONV = {1: tcp.Conv1dOp, 2: tcp.Conv2dOp, 3: tcp.Conv3dOp}


def per_dim(values: Any, rank: int) -> list[int]:
    """Expands a number, or a list of one or `rank` numbers, to `rank` numbers."""
    numbers = [values] if isinstance(values, int) else list(values)
    return numbers * rank if len(numbers) == 1 else numbers


def interleave(low: Sequence[int], high: Sequence[int]) -> list[int]:
    """The `pad` attribute of convolutions and pools: low, then high, for each spatial dim."""
    return [pad for pair in zip(low, high, strict=True) for pad in pair]


@converts("aten.conv1d", "aten.conv2d", "aten.conv3d")
def conv(b: Builder, call: Call) -> ir.Value:
    x, weight, bias, stride, padding, dilation, groups = call.args
    return _conv(b, call.result, x, weight, bias, stride, padding, dilation, groups)


@converts("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding")
def conv_padding_string(b: Builder, call: Call) -> ir.Value:
    """'same' is dilation * (kernel - 1) in total; if odd, the high side gets one more."""
    x, weight, bias, stride, padding, dilation, groups = call.args
    kernel = type_of(weight).shape[2:]
    rank = len(kernel)
    total = [0] * rank
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(per_dim(dilation, rank), kernel, strict=True)]
    pad = interleave([t // 2 for t in total], [t - t // 2 for t in total])
    return _conv(b, call.result, x, weight, bias, stride, pad, dilation, groups, interleaved=True)


@converts("aten.conv_tbc")
def conv_tbc(b: Builder, call: Call) -> ir.Value:
    """A 1-D convolution of steps x batch x channels, whose filters are window x input x output."""
    x, weight, bias, pad = call.args
    length, batch, channels = call.result.shape
    y = _conv(
        b,
        TensorType((batch, channels, length), call.result.dtype),
        b.transpose(x, (1, 2, 0)),
        b.transpose(weight, (2, 1, 0)),
        bias,
        stride=1,
        padding=pad,
        dilation=1,
        groups=1,
    )
    return b.transpose(y, (2, 0, 1))


@converts("aten.conv_transpose1d", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(b: Builder, call: Call) -> ir.Value:
    x, weight, bias, stride, padding, output_padding, groups, dilation = call.args
    return _conv_transpose(
        b, call.result, x, weight, bias, stride, padding, output_padding, dilation, groups
    )


@converts("aten.convolution", "aten._convolution")
def convolution(b: Builder, call: Call) -> ir.Value:
    x, weight, bias, stride, padding, dilation, transposed, output_padding, groups = call.args[:9]
    if transposed:
        return _conv_transpose(
            b, call.result, x, weight, bias, stride, padding, output_padding, dilation, groups
        )
    return _conv(b, call.result, x, weight, bias, stride, padding, dilation, groups)


def _conv(
    b: Builder,
    result: TensorType,
    x: ir.Value,
    weight: ir.Value,
    bias: ir.Value | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    *,
    interleaved: bool = False,
) -> ir.Value:
    rank = type_of(weight).rank - 2
    batched = _batched(result, rank)
    pad = padding if interleaved else interleave(per_dim(padding, rank), per_dim(padding, rank))
    y = b.emit(
        _CONV[rank],
        batched,
        b.with_rank(x, rank + 2),
        weight,
        stride=per_dim(stride, rank),
        pad=pad,
        dilation=per_dim(dilation, rank),
        groups=groups,
    )
    return b.reshape(_add_bias(b, y, bias), result.shape)


def _conv_transpose(
    b: Builder,
    result: TensorType,
    x: ir.Value,
    weight: ir.Value,
    bias: ir.Value | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
) -> ir.Value:
    rank = type_of(weight).rank - 2
    pad = per_dim(padding, rank)
    y = b.emit(
        tcp.ConvTransposeOp,
        _batched(result, rank),
        b.with_rank(x, rank + 2),
        weight,
        stride=per_dim(stride, rank),
        pad=interleave(pad, pad),
        output_pad=per_dim(output_padding, rank),
        dilation=per_dim(dilation, rank),
        groups=groups,
    )
    return b.reshape(_add_bias(b, y, bias), result.shape)


@converts("aten.convolution_backward")
def convolution_backward(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    """The gradients that `output_mask` selects; Torch returns None in place of the others."""
    gradient, x, weight, _, stride, padding, dilation, transposed, output_pad, groups, mask = (
        call.args
    )
    rank = type_of(weight).rank - 2
    pad = per_dim(padding, rank)
    window: dict[str, Any] = {
        "stride": per_dim(stride, rank),
        "pad": interleave(pad, pad),
        "dilation": per_dim(dilation, rank),
        "groups": groups,
    }
    results: list[ir.Value | Missing] = [_NOT_COMPUTED] * 3
    if transposed:
        # A transposed convolution is the gradient of a convolution from `gradient` to `x`. With
        # output padding of a stride or more that convolution would have further windows.
        for i, (extra, step) in enumerate(
            zip(per_dim(output_pad, rank), per_dim(stride, rank), strict=True)
        ):
            if extra >= step:
                cropped = max(extra - pad[i], 0)
                window["pad"][2 * i + 1] = max(pad[i] - extra, 0)
                size = type_of(gradient).shape[i + 2] - cropped
                gradient = b.slice(gradient, i + 2, 0, size)
        if mask[0]:
            results[0] = b.emit(_CONV[rank], type_of(x), gradient, weight, **window)
        if mask[1]:
            results[1] = b.emit(tcp.ConvBackwardFilterOp, type_of(weight), gradient, x, **window)
    else:
        if mask[0]:
            results[0] = b.emit(tcp.ConvBackwardDataOp, type_of(x), gradient, weight, **window)
        if mask[1]:
            results[1] = b.emit(tcp.ConvBackwardFilterOp, type_of(weight), x, gradient, **window)
    if mask[2]:
        gradient = call.args[0]
        dims = [dim for dim in range(rank + 2) if dim != 1]
        total = b.reduce(tcp.ReduceSumOp, gradient, dims)
        results[2] = b.reshape(total, (type_of(gradient).shape[1],))
    return results


def _batched(result: TensorType, rank: int) -> TensorType:
    """The result type with a batch dim, which is optional in Torch and required in `tcp`."""
    return result if result.rank == rank + 2 else TensorType((1, *result.shape), result.dtype)


def _add_bias(b: Builder, y: ir.Value, bias: ir.Value | None) -> ir.Value:
    if bias is None:
        return y
    kind = type_of(y)
    return b.binary(tcp.AddOp, y, b.reshape(bias, (1, kind.shape[1], *(1,) * (kind.rank - 2))))
