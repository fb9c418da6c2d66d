"""A reference interpreter: executes `tcp` modules with PyTorch in float64, independently of the
compiler.

Takes the generic form of the `tcp` phase, one or several `func.func`. Each op follows its
definition in docs/architecture.md. Integers and bools keep their dtype. `tcp.cast` to a narrower
float rounds to it and continues in float64.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_mlir import ir

__all__ = ["run_text"]

_DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i1": torch.bool,
}


#: Ops whose operands and attributes do not determine the result's shape.
_TAKES_SHAPE = (
    "tcp.reshape",
    "tcp.broadcast",
    "tcp.iota",
    "tcp.conv_backward_data",
    "tcp.conv_backward_filter",
    "tcp.max_pool_backward",
)


def run_text(
    text: str, inputs: Sequence[Tensor], weights: Mapping[str, Tensor], function: str = "main"
) -> list[Tensor]:
    """The results of `function`. `inputs` are for the arguments with `tcp.input`, `weights` for
    those with `tcp.weight` (or `tcp.prepared`). Checks the shape and dtype of every argument and of
    every result of an op."""
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        for op in module.body.operations:
            if (
                op.operation.name == "func.func"
                and op.operation.attributes["sym_name"].value == function
            ):
                return _run(op.operation, inputs, weights)
    msg = f"expected a function @{function}, got none"
    raise ValueError(msg)


def _run(
    function: ir.Operation, inputs: Sequence[Tensor], weights: Mapping[str, Tensor]
) -> list[Tensor]:
    block = function.regions[0].blocks[0]
    values: dict[ir.Value, Tensor] = {}
    remaining = list(inputs)
    for value, attributes in zip(block.arguments, function.attributes["arg_attrs"], strict=True):
        if "tcp.input" in attributes:
            tensor = remaining.pop(0)
        else:
            tensor = weights[
                attributes["tcp.weight" if "tcp.weight" in attributes else "tcp.prepared"].value
            ]
        _check(f"argument {value.get_name()}", value.type, tensor, exact=True)
        values[value] = _wide(tensor)
    assert not remaining, f"expected {len(inputs) - len(remaining)} inputs, got {len(inputs)}"
    return _block(block, values)


def _block(block: ir.Block, values: dict[ir.Value, Tensor]) -> list[Tensor]:
    for view in block.operations:
        op = view.operation
        operands = [values[operand] for operand in op.operands]
        if op.name in ("func.return", "tcp.yield"):
            return operands
        if op.name == "tcp.isolated_group":
            body = op.regions[0].blocks[0]
            results = _block(body, dict(zip(body.arguments, operands, strict=True)))
        elif op.name == "tcp.scan":
            results = _scan(op, operands)
        else:
            results = [_execute(op, operands)]
        for value, tensor in zip(op.results, results, strict=True):
            _check(op.name, value.type, tensor, exact=False)
            values[value] = tensor
    msg = "expected a terminator, got none"
    raise ValueError(msg)


def _scan(op: ir.Operation, operands: list[Tensor]) -> list[Tensor]:
    """Runs the body step by step."""
    body = op.regions[0].blocks[0]
    carried, sliced, _ = op.attributes["operandSegmentSizes"]
    trips = op.attributes["trips"].value
    state, rest = operands[:carried], operands[carried:]
    outputs: list[list[Tensor]] = []
    steps = range(trips)
    for index in reversed(steps) if "reverse" in op.attributes else steps:
        elements = [each[index] for each in rest[:sliced]]
        arguments = [*state, *elements, *rest[sliced:]]
        results = _block(body, dict(zip(body.arguments, arguments, strict=True)))
        state = results[:carried]
        outputs.append(results[carried:])
    if "reverse" in op.attributes:
        outputs.reverse()
    return [*state, *(torch.stack(each) for each in zip(*outputs, strict=True))]


def _wide(tensor: Tensor) -> Tensor:
    return tensor.detach().to(torch.float64) if tensor.dtype.is_floating_point else tensor.detach()


def _check(what: str, kind: ir.Type, tensor: Tensor, *, exact: bool) -> None:
    ranked = ir.RankedTensorType(kind)
    dtype = _DTYPES[str(ranked.element_type)]
    wanted = dtype if exact or not dtype.is_floating_point else torch.float64
    assert list(tensor.shape) == list(ranked.shape), (
        f"{what}: expected shape {list(ranked.shape)}, got {list(tensor.shape)}"
    )
    assert tensor.dtype == wanted, f"{what}: expected {wanted}, got {tensor.dtype}"


#: Ops whose operands may differ in type.
_MIXED = (
    "tcp.cast",
    "tcp.select",
    "tcp.index_select",
    "tcp.gather",
    "tcp.scatter",
    "tcp.max_pool_backward",
)


def _execute(op: ir.Operation, operands: list[Tensor]) -> Tensor:
    if op.name == "arith.constant":
        return _constant(op)
    kinds = [ir.RankedTensorType(value.type).element_type for value in op.operands]
    if op.name not in _MIXED and kinds:
        assert len({str(kind) for kind in kinds}) == 1, (
            f"{op.name}: expected operands of one dtype, got {kinds}"
        )
    attributes = {attribute.name: _python(attribute.attr) for attribute in _named(op)}
    result = ir.RankedTensorType(op.results[0].type)
    if op.name == "tcp.cast":
        return _wide(operands[0].to(_DTYPES[str(result.element_type)]))
    if op.name in _TAKES_SHAPE:
        attributes["shape"] = list(result.shape)
    return _OPS[op.name.removeprefix("tcp.")](*operands, **attributes)


def _named(op: ir.Operation) -> list[Any]:
    attributes = op.attributes
    return [attributes[index] for index in range(len(attributes))]


def _python(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.UnitAttr):
        return True
    if isinstance(attribute, (ir.DenseI64ArrayAttr, ir.DenseF64ArrayAttr)):
        return list(attribute)
    return attribute.value


def _constant(op: ir.Operation) -> Tensor:
    value = op.attributes["value"]
    kind = ir.RankedTensorType(op.results[0].type)
    dtype = _DTYPES[str(kind.element_type)]
    if not value.is_splat:
        return _wide(torch.tensor(list(value), dtype=dtype).reshape(list(kind.shape)))
    return _wide(torch.full(list(kind.shape), value.get_splat_value().value, dtype=dtype))


# The ops


def _clamp(x: Tensor, min_float: float | None = None, max_float: float | None = None) -> Tensor:
    return torch.clamp(x, min_float, max_float)


def _polynomial(x: Tensor, coefficients: list[float]) -> Tensor:
    return sum((c * x**index for index, c in enumerate(coefficients)), torch.zeros_like(x))


def _compare(a: Tensor, b: Tensor, predicate: str) -> Tensor:
    _same_rank(a, b)
    return getattr(torch, predicate)(a, b)


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    def run(a: Tensor, b: Tensor) -> Tensor:
        _same_rank(a, b)
        return function(a, b)

    return run


def _div(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype.is_floating_point:
        return a / b
    return torch.where(b == 0, 0, torch.div(a, torch.where(b == 0, 1, b), rounding_mode="trunc"))


def _same_rank(*operands: Tensor) -> None:
    assert len({operand.dim() for operand in operands}) == 1, "expected operands of equal rank"


def _select(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    _same_rank(condition, a, b)
    assert a.dtype == b.dtype
    return torch.where(condition, a, b)


def _pairs(pad: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(pad[::2], pad[1::2], strict=True))


def _pad_spatial(x: Tensor, pad: Sequence[int], value: float) -> Tensor:
    """Pads the last dims; F.pad lists them backwards."""
    return F.pad(x, [number for pair in reversed(_pairs(pad)) for number in pair], value=value)


def _to_first(x: Tensor, channels_last: bool) -> Tensor:
    return x.movedim(-1, 1) if channels_last else x


def _to_last(x: Tensor, channels_last: bool) -> Tensor:
    return x.movedim(1, -1) if channels_last else x


def _conv(
    x: Tensor,
    w: Tensor,
    stride: list[int],
    pad: list[int],
    dilation: list[int],
    groups: int = 1,
    channels_last: bool = False,
) -> Tensor:
    run = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[len(stride)]
    padded = _pad_spatial(_to_first(x, channels_last), pad, 0.0)
    y = run(padded, _to_first(w, channels_last), stride=stride, dilation=dilation, groups=groups)
    return _to_last(y, channels_last)


def _conv_transpose(
    x: Tensor,
    w: Tensor,
    stride: list[int],
    pad: list[int],
    output_pad: list[int],
    dilation: list[int],
    groups: int = 1,
) -> Tensor:
    """By definition: spreads x by the stride, then each input element adds its weighted kernel;
    padding cuts the borders."""
    run = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}[len(stride)]
    full = run(x, w, stride=stride, dilation=dilation, groups=groups)
    full = _pad_spatial(full, [number for more in output_pad for number in (0, more)], 0.0)
    return _pad_spatial(full, [-number for number in pad], 0.0)


def _conv_gradient(which: int, a: Tensor, b: Tensor, shape: list[int], **window: Any) -> Tensor:
    """The gradient of `_conv` with respect to operand `which`. `_conv` is linear in it, so its
    value does not matter."""
    at = torch.zeros(shape, dtype=a.dtype, requires_grad=True)
    operands, gradient = ((at, b), a) if which == 0 else ((a, at), b)
    with torch.enable_grad():
        y = _conv(*operands, **window)
    (result,) = torch.autograd.grad(y, at, gradient)
    return result


def _unfold(
    x: Tensor, window: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Tensor:
    """Windows as the last dim: N x C x out... x elements."""
    rank = len(window)
    for dim in range(rank):
        span = dilation[dim] * (window[dim] - 1) + 1
        x = x.unfold(2 + dim, span, stride[dim])[..., :: dilation[dim]]
    return x.flatten(-rank)


def _max_pool(
    x: Tensor,
    kernel: list[int],
    stride: list[int],
    pad: list[int],
    dilation: list[int],
    channels_last: bool = False,
) -> Tensor:
    low = -math.inf if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
    x = _pad_spatial(_to_first(x, channels_last), pad, low)
    return _to_last(_unfold(x, kernel, stride, dilation).amax(-1), channels_last)


def _max_pool_indices(
    x: Tensor,
    maxima: Tensor,
    kernel: list[int],
    stride: list[int],
    pad: list[int],
    dilation: list[int],
    channels_last: bool = False,
) -> Tensor:
    """The first element that equals the maximum, or the last NaN."""
    x, maxima = _to_first(x, channels_last), _to_first(maxima, channels_last)
    sizes = x.shape[2:]
    places = torch.arange(math.prod(sizes)).reshape(1, 1, *sizes).expand(x.shape)
    values = _unfold(_pad_spatial(x, pad, -math.inf), kernel, stride, dilation)
    places = _unfold(_pad_spatial(places, pad, -1), kernel, stride, dilation)
    equal = (values == maxima[..., None]) & (places >= 0)
    first = torch.where(equal, places, places.max() + 1).amin(-1)
    last = torch.where(values.isnan(), places, -1).amax(-1)
    return _to_last(torch.where(maxima.isnan(), last, first), channels_last)


def _max_pool_backward(
    gradient: Tensor, indices: Tensor, shape: list[int], channels_last: bool = False, **_: Any
) -> Tensor:
    """Indices are those of a pooling, so each is inside its window."""
    gradient, indices = _to_first(gradient, channels_last), _to_first(indices, channels_last)
    whole = _to_first(gradient.new_zeros(shape), channels_last)
    flat = gradient.new_zeros(*whole.shape[:2], math.prod(whole.shape[2:]))
    flat = flat.scatter_add(2, indices.flatten(2), gradient.flatten(2))
    return _to_last(flat.reshape(whole.shape), channels_last)


def _avg_pool(
    x: Tensor,
    kernel: list[int],
    stride: list[int],
    pad: list[int],
    ceil_pad: list[int],
    count_include_pad: bool = False,
    divisor: int | None = None,
    channels_last: bool = False,
) -> Tensor:
    x = _to_first(x, channels_last)
    ones = [1] * len(kernel)
    ceil = [number for more in ceil_pad for number in (0, more)]
    total = _unfold(_pad_spatial(_pad_spatial(x, pad, 0.0), ceil, 0.0), kernel, stride, ones).sum(
        -1
    )
    counted = _pad_spatial(torch.ones_like(x), pad, 1.0 if count_include_pad else 0.0)
    count = _unfold(_pad_spatial(counted, ceil, 0.0), kernel, stride, ones).sum(-1)
    return _to_last(total / (count if divisor is None else divisor), channels_last)


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    _same_rank(a, b)
    assert a.dim() >= 2
    return torch.matmul(a, b)


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float,
    causal: bool = False,
    softcap: float | None = None,
    window: int | None = None,
) -> Tensor:
    """One head of k and v after the other, with the heads of q that share it."""
    shared = q.shape[1] // k.shape[1]
    heads = []
    for head in range(q.shape[1]):
        scores = q[:, head] @ k[:, head // shared].mT * scale
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        if mask is not None:
            scores = scores + mask.expand(-1, q.shape[1], -1, -1)[:, head]
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
        if window is not None:
            below = torch.ones(scores.shape[-2:]).tril(-window).bool()
            scores = scores.masked_fill(below, -math.inf)
        weights = torch.softmax(scores, -1).masked_fill((scores == -math.inf).all(-1, True), 0)
        heads.append(weights @ v[:, head // shared])
    return torch.stack(heads, 1)


def _layer_norm(x: Tensor, dims: list[int], epsilon: float) -> Tensor:
    mean = x.mean(dims, keepdim=True)
    var = ((x - mean) ** 2).mean(dims, keepdim=True)
    return (x - mean) / torch.sqrt(var + epsilon)


def _slice(x: Tensor, starts: list[int], sizes: list[int], strides: list[int]) -> Tensor:
    for dim, (start, size, stride) in enumerate(zip(starts, sizes, strides, strict=True)):
        assert 0 <= start <= start + (size - 1) * stride < x.shape[dim], (
            "expected a slice within its operand"
        )
        x = x.index_select(dim, start + stride * torch.arange(size))
    return x


def _pad(x: Tensor, low: list[int], high: list[int], interior: list[int], value: float) -> Tensor:
    fill = value if x.dtype.is_floating_point else int(value)
    for dim, (before, after, between) in enumerate(zip(low, high, interior, strict=True)):
        shape = [*x.shape]
        shape[dim] = shape[dim] + (shape[dim] - 1) * between
        spread = torch.full(shape, fill, dtype=x.dtype)
        spread.index_copy_(dim, torch.arange(x.shape[dim]) * (between + 1), x)
        edges = [0, 0] * (x.dim() - 1 - dim) + [before, after]
        x = F.pad(spread, edges, value=fill)
    return x


def _filled(x: Tensor, valid: Tensor) -> Tensor:
    """The values for indices out of range."""
    if x.dtype == torch.bool:
        return x & valid
    fill = math.nan if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
    return torch.where(valid, x, torch.tensor(fill, dtype=x.dtype))


def _index_select(x: Tensor, indices: Tensor, dim: int, *, in_bounds: bool = False) -> Tensor:
    valid = (indices >= 0) & (indices < x.shape[dim])
    assert not in_bounds or valid.all()
    flat = torch.where(valid, indices, 0).long().reshape(-1)
    shape = (*x.shape[:dim], *indices.shape, *x.shape[dim + 1 :])
    last = valid.reshape(valid.shape + (1,) * (x.dim() - 1 - dim))
    return _filled(x.index_select(dim, flat).reshape(shape), last)


def _gather(x: Tensor, indices: Tensor, dim: int) -> Tensor:
    valid = (indices >= 0) & (indices < x.shape[dim])
    return _filled(x.gather(dim, torch.where(valid, indices, 0).long()), valid)


def _scatter(x: Tensor, indices: Tensor, updates: Tensor, dim: int, kind: str) -> Tensor:
    """One update at a time, in row-major order."""
    combine: Callable[[Tensor, Tensor], Tensor] = {
        "set": lambda old, new: new,
        "add": lambda old, new: old | new if old.dtype == torch.bool else old + new,
        "mul": lambda old, new: old * new,
        "max": torch.maximum,
        "min": torch.minimum,
    }[kind]
    y = x.clone()
    indices = indices.expand(updates.shape)
    for place in itertools.product(*map(range, updates.shape)):
        index = int(indices[place])
        if 0 <= index < x.shape[dim]:
            target = (*place[:dim], index, *place[dim + 1 :])
            y[target] = combine(y[target], updates[place])
    return y


_OPS: dict[str, Callable[..., Tensor]] = {
    **{
        name: getattr(torch, name)
        for name in (
            "abs",
            "ceil",
            "cos",
            "erf",
            "exp",
            "expm1",
            "floor",
            "log",
            "neg",
            "reciprocal",
            "round",
            "rsqrt",
            "sigmoid",
        )
    },
    **{name: getattr(torch, name) for name in ("sin", "sqrt", "tanh")},
    **{
        name: _binary(getattr(torch, name))
        for name in ("add", "sub", "mul", "maximum", "minimum", "pow", "gcd", "copysign")
    },
    **{
        f"bitwise_{name}": _binary(getattr(torch, f"bitwise_{name}"))
        for name in ("and", "or", "xor")
    },
    "div": _binary(_div),
    "silu": lambda x: x * torch.sigmoid(x),
    "gelu": lambda x, approximate: F.gelu(x, approximate=approximate),
    "elu": lambda x, alpha: torch.where(x > 0, x, alpha * torch.expm1(x)),
    "leaky_relu": lambda x, negative_slope: torch.where(x > 0, x, negative_slope * x),
    "clamp": _clamp,
    "polynomial": _polynomial,
    "compare": _compare,
    "select": _select,
    "conv1d": _conv,
    "conv2d": _conv,
    "conv3d": _conv,
    "conv_transpose": _conv_transpose,
    "conv_backward_data": functools.partial(_conv_gradient, 0),
    "conv_backward_filter": functools.partial(_conv_gradient, 1),
    "matmul": _matmul,
    "attention": _attention,
    "max_pool": _max_pool,
    "max_pool_indices": _max_pool_indices,
    "max_pool_backward": _max_pool_backward,
    "avg_pool": _avg_pool,
    "reduce_sum": lambda x, dims: x.sum(dims, keepdim=True, dtype=x.dtype),
    "reduce_mean": lambda x, dims: x.mean(dims, keepdim=True),
    "reduce_max": lambda x, dims: x.amax(dims, keepdim=True),
    "softmax": lambda x, dim: torch.softmax(x, dim),
    "cumsum": lambda x, dim: x.cumsum(dim, dtype=x.dtype),
    "cumprod": lambda x, dim: x.cumprod(dim, dtype=x.dtype),
    "layer_norm": _layer_norm,
    "reshape": lambda x, shape: x.reshape(shape),
    "iota": lambda dim, shape: (
        torch.arange(shape[dim])
        .reshape([shape[dim] if i == dim else 1 for i in range(len(shape))])
        .expand(shape)
    ),
    "broadcast": lambda x, shape: (
        x.expand(shape) if x.dim() == len(shape) else _raise_rank(x, shape)
    ),
    "transpose": lambda x, perm: x.permute(perm),
    "slice": _slice,
    "concat": lambda *parts, dim: torch.cat(parts, dim),
    "pad": _pad,
    "index_select": _index_select,
    "gather": _gather,
    "argsort": lambda x, descending=False: x.argsort(dim=-1, descending=descending, stable=True),
    "scatter": _scatter,
    "shift_left": _binary(torch.bitwise_left_shift),
    "shift_right": _binary(torch.bitwise_right_shift),
    "reverse": lambda x, dims: x.flip(dims),
}


def _raise_rank(x: Tensor, shape: list[int]) -> Tensor:
    msg = f"tcp.broadcast: expected equal ranks, got {x.dim()} and {len(shape)}"
    raise AssertionError(msg)
