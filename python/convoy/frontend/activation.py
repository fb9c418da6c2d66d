# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Activations. Those without a `tcp` op are expanded by their definition in torch.nn.functional."""

from __future__ import annotations

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of, wrapped_number
from convoy.frontend._expression import Expression
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import dtype_name

__all__: list[str] = []


@converts("aten.relu")
def relu(b: Builder, call: Call) -> ir.Value:
    return b.clamp(call.args[0], 0, None)


@converts("aten.relu6")
def relu6(b: Builder, call: Call) -> ir.Value:
    return b.clamp(call.args[0], 0, 6)


@converts("aten.hardtanh")
def hardtanh(b: Builder, call: Call) -> ir.Value:
    x, low, high = call.args
    return b.clamp(x, low, high)


@converts("aten.clamp")
def clamp(b: Builder, call: Call) -> ir.Value:
    x, low, high = call.args
    return b.clamp(b.cast(x, call.result.dtype), low, high)


@converts("aten.clamp_min", "aten.clamp_max")
def clamp_one_side(b: Builder, call: Call) -> ir.Value:
    x, bound = call.args
    x = b.cast(x, call.result.dtype)
    return b.clamp(x, bound, None) if call.name == "aten.clamp_min" else b.clamp(x, None, bound)


@converts("aten.clamp.Tensor", "aten.clamp_min.Tensor", "aten.clamp_max.Tensor")
def clamp_tensor(b: Builder, call: Call) -> ir.Value:
    """max with the low bound, then min with the high one, in Torch's order."""
    dtype = call.result.dtype
    x, *bounds = call.args
    x = b.cast(x, dtype)
    low, high = (
        bounds
        if len(bounds) == 2
        else (bounds[0], None)
        if call.name == "aten.clamp_min.Tensor"
        else (None, bounds[0])
    )
    if low is not None:
        x = b.binary(tcp.MaximumOp, x, b.cast(low, dtype))
    if high is not None:
        x = b.binary(tcp.MinimumOp, x, b.cast(high, dtype))
    return x


@converts("aten.hardsigmoid")
def hardsigmoid(b: Builder, call: Call) -> ir.Value:
    """clamp(x + 3, 0, 6) / 6."""
    return b.binary_scalar(tcp.DivOp, b.clamp(b.binary_scalar(tcp.AddOp, call.args[0], 3), 0, 6), 6)


@converts("aten.hardswish")
def hardswish(b: Builder, call: Call) -> ir.Value:
    """x * clamp(x + 3, 0, 6) / 6."""
    x = call.args[0]
    gate = b.clamp(b.binary_scalar(tcp.AddOp, x, 3), 0, 6)
    return b.binary_scalar(tcp.DivOp, b.binary(tcp.MulOp, x, gate), 6)


@converts("aten.gelu")
def gelu(b: Builder, call: Call) -> ir.Value:
    x, approximate = call.args
    return b.unary(tcp.GeluOp, x, approximate=approximate)


@converts("aten.leaky_relu")
def leaky_relu(b: Builder, call: Call) -> ir.Value:
    x, slope = call.args
    return b.unary(tcp.LeakyReluOp, x, negative_slope=float(slope))


@converts("aten.elu")
def elu(b: Builder, call: Call) -> ir.Value:
    """tcp.elu if input_scale is 1, else scale * (max(x, 0) + alpha * expm1(min(x, 0) *
    input_scale))."""
    x, alpha, scale, input_scale = call.args
    if input_scale == 1:
        y = b.unary(tcp.EluOp, x, alpha=float(alpha))
        return y if scale == 1 else b.binary_scalar(tcp.MulOp, y, scale)
    grown = b.unary(tcp.Expm1Op, b.binary_scalar(tcp.MulOp, b.clamp(x, None, 0), input_scale))
    below = b.binary_scalar(tcp.MulOp, grown, alpha)
    return b.binary_scalar(tcp.MulOp, b.binary(tcp.AddOp, b.clamp(x, 0, None), below), scale)


@converts("aten.selu")
def selu(b: Builder, call: Call) -> ir.Value:
    """scale * elu(x, alpha), with the two constants of the SELU paper."""
    y = b.unary(tcp.EluOp, call.args[0], alpha=1.6732632423543772848170429916717)
    return b.binary_scalar(tcp.MulOp, y, 1.0507009873554804934193349852946)


@converts("aten.celu")
def celu(b: Builder, call: Call) -> ir.Value:
    """max(x, 0) + alpha * expm1(min(x, 0) / alpha)."""
    x, alpha = call.args
    grown = b.unary(tcp.Expm1Op, b.binary_scalar(tcp.DivOp, b.clamp(x, None, 0), alpha))
    below = b.binary_scalar(tcp.MulOp, grown, alpha)
    return b.binary(tcp.AddOp, b.clamp(x, 0, None), below)


@converts("aten.softplus")
def softplus(b: Builder, call: Call) -> ir.Value:
    """log(1 + exp(beta x)) / beta. Torch returns x where beta x > threshold."""
    x, beta, threshold = call.args
    kind = type_of(x)
    z = x if beta == 1 else b.binary_scalar(tcp.MulOp, x, beta)
    soft = _softplus(b, z)
    if beta != 1:
        soft = b.binary_scalar(tcp.DivOp, soft, beta)
    return b.select(
        b.compare("gt", z, b.scalar(wrapped_number(threshold, kind.dtype), kind.dtype, kind.rank)),
        x,
        soft,
    )


@converts("aten.log_sigmoid")
def log_sigmoid(b: Builder, call: Call) -> ir.Value:
    """-softplus(-x)."""
    return b.unary(tcp.NegOp, _softplus(b, b.unary(tcp.NegOp, call.args[0])))


def _softplus(b: Builder, z: ir.Value) -> ir.Value:
    """max(z, 0) + log(1 + t) with t = exp(-|z|), which does not overflow. The logarithm is 2
    artanh(s) with s = t / (t + 2) <= 1/3 by its series: 1 + t has few digits of a small t, and the
    result is t where z is far below 0."""
    x = Expression(b, z)
    t = (-x.abs()).exp()
    s = t / (t + 2.0)
    terms = 17 if x.dtype == torch.float64 else 7
    log = s * (s * s).polynomial([2 / (2 * power + 1) for power in range(terms)])
    return b.binary(tcp.AddOp, b.clamp(z, 0, None), log.value)


@converts("aten.mish")
def mish(b: Builder, call: Call) -> ir.Value:
    """x * tanh(log(1 + exp(x))). The tangent is s / (s + u) with t = exp(-|x|): for negative x, s
    is t^2 + 2 t and u is 2; otherwise, both divided by exp(2 x), s is 1 + 2 t and u is 2 t^2."""
    x = Expression(b, call.args[0])
    t = (-x.abs()).exp()
    is_negative = x < 0.0
    s = (t * (t + 2.0)).where(is_negative, 2.0 * t + 1.0)
    u = (2.0 * t * t).replaced(is_negative, 2.0)
    return (x * s / (s + u)).value


@converts("aten.prelu")
def prelu(b: Builder, call: Call) -> ir.Value:
    """x where x > 0, else weight * x. The weight has one element, or one per channel (dim 1)."""
    x, weight = call.args
    kind, size = type_of(x), type_of(weight)
    if call.name == "aten.prelu" and kind.rank != 1:
        channels = (1, size.shape[0] if size.shape else 1, *(1,) * (kind.rank - 2))
        weight = b.reshape(weight, channels if kind.rank else ())
    positive = b.compare("gt", x, b.scalar(0, kind.dtype, kind.rank))
    return b.select(positive, x, b.binary(tcp.MulOp, x, weight))


@converts("aten.threshold")
def threshold(b: Builder, call: Call) -> ir.Value:
    """PyTorch compares with the limit in float32, not rounded to float16 or bfloat16. NaN is not
    replaced."""
    x, limit, value = call.args
    kind, wide = type_of(x), b.wide(x)
    below = b.compare("le", wide, b.scalar(limit, type_of(wide).dtype, kind.rank))
    return b.select(below, b.scalar(value, kind.dtype, kind.rank), x)


@converts("aten.threshold_backward")
def threshold_backward(b: Builder, call: Call) -> ir.Value:
    """The gradient where x > threshold, else 0. If the dtypes differ, PyTorch promotes them, but
    torch.export records the gradient's dtype for this and the following ops."""
    gradient, x, limit = call.args
    kind, dtype = type_of(x), call.result.dtype
    if kind.dtype != type_of(gradient).dtype:
        got = f"{dtype_name(type_of(gradient).dtype)} and {dtype_name(kind.dtype)}"
        msg = (
            f"expected a gradient and a tensor of one dtype, got {got}, for which the result type "
            "of torch.export differs from PyTorch's"
        )
        raise Unsupported(msg)
    wide = b.wide(x)
    at_most = b.compare("le", wide, b.scalar(limit, type_of(wide).dtype, kind.rank))
    return b.select(at_most, b.scalar(0, dtype, call.result.rank), gradient)


@converts("aten.hardshrink", "aten.softshrink")
def shrink(b: Builder, call: Call) -> ir.Value:
    """Zero within [-limit, limit]; outside, x (hard) or x moved towards zero by limit (soft)."""
    x, limit = call.args
    kind = type_of(x)
    if call.name == "aten.softshrink":
        above = b.clamp(b.binary_scalar(tcp.SubOp, x, limit), 0, None)
        return b.binary(tcp.AddOp, above, b.clamp(b.binary_scalar(tcp.AddOp, x, limit), None, 0))
    outside = b.compare("gt", b.unary(tcp.AbsOp, x), b.scalar(limit, kind.dtype, kind.rank))
    return b.select(outside, x, b.scalar(0, kind.dtype, kind.rank))
