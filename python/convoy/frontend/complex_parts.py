# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Complex numbers: conversions from and to real tensors, constants, and the ops that are linear,
which compute the real and the imaginary part separately."""

from __future__ import annotations

from typing import Any

import torch

from convoy.frontend._complex_rules import (
    Complex,
    ComplexCall,
    imag_of,
    parts_of,
    real_dtype,
    rule,
)

__all__: list[str] = []

#: Op to its arguments that have values; all others, e.g. indices and conditions, are real.
_LINEAR = {
    "self": (
        "_unsafe_index",
        "alias",
        "clone",
        "constant_pad_nd",
        "contiguous",
        "cumsum",
        "detach",
        "diag_embed",
        "diagonal",
        "diagonal_copy",
        "expand",
        "expand_copy",
        "flip",
        "gather",
        "index",
        "index_select",
        "lift_fresh",
        "lift_fresh_copy",
        "mean",
        "neg",
        "pad",
        "permute",
        "permute_copy",
        "repeat",
        "roll",
        "select",
        "select_copy",
        "slice",
        "slice_copy",
        "split",
        "split_with_sizes",
        "squeeze",
        "squeeze_copy",
        "sum",
        "t",
        "transpose",
        "transpose_copy",
        "tril",
        "triu",
        "unbind",
        "unfold",
        "unfold_copy",
        "unsqueeze",
        "unsqueeze_copy",
    ),
    "weight": ("embedding",),
    "tensors": ("cat", "stack"),
    "self src": (
        "copy",
        "diagonal_scatter",
        "scatter_add",
        "select_scatter",
        "slice_scatter",
    ),
    "self source": ("index_add", "index_copy"),
    "self values": ("index_put", "_unsafe_index_put"),
    "self value": ("fill", "masked_fill", "index_fill"),
    "self other": ("where",),
}


def _linear(names: tuple[str, ...]) -> Any:
    def function(call: ComplexCall) -> Any:
        """The op on the real parts, and the op on the imaginary parts."""
        values = {name: call[name] for name in names}
        re = call.run(**{name: _each(_real, value) for name, value in values.items()})
        if not any(_has_imag(value) for value in values.values()):
            return _pairs(re, None)
        return _pairs(re, call.run(**{name: _each(imag_of, v) for name, v in values.items()}))

    return function


def _each(function: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not isinstance(value, Complex):
        return [function(item) for item in value]
    return function(value)


def _real(value: Any) -> Any:
    re = parts_of(value).re
    return 0 if re is None else re


def _has_imag(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(parts_of(item).im is not None for item in items)


def _pairs(re: Any, im: Any) -> Any:
    if isinstance(re, torch.Tensor):
        return Complex(re, im)
    return [Complex(a, b) for a, b in zip(re, im or [None] * len(re), strict=True)]


for _names, _ops in _LINEAR.items():
    rule(*_ops)(_linear(tuple(_names.split())))


@rule("view", "_unsafe_view", "reshape", "view_copy", "_reshape_copy", "flatten", "unflatten")
def view(call: ComplexCall) -> Any:
    """A reshape, because the parts may have other strides than the complex tensor. A view as
    another dtype joins or separates the parts."""
    x, shape = call["self"], call.result.shape
    if call.target is not torch.ops.aten.view.dtype:
        re, im = x
        return Complex(re.reshape(shape), None if im is None else im.reshape(shape))
    if isinstance(x, Complex):
        joined = torch.stack([x.re, imag_of(x)], -1).reshape(shape)
        return joined if not call.result.is_complex() else x
    pairs = x.reshape(*shape, 2)
    return Complex(pairs.select(-1, 0), pairs.select(-1, 1))


@rule("view_as_real", "view_as_real_copy")
def view_as_real(call: ComplexCall) -> torch.Tensor:
    x = call["self"]
    return torch.stack([x.re, imag_of(x)], -1)


@rule("view_as_complex", "view_as_complex_copy")
def view_as_complex(call: ComplexCall) -> Complex:
    x = call["self"]
    return Complex(x.select(-1, 0), x.select(-1, 1))


@rule("complex")
def make_complex(call: ComplexCall) -> Complex:
    return Complex(call["real"], call["imag"])


@rule("polar")
def polar(call: ComplexCall) -> Complex:
    size, angle = call["abs"], call["angle"]
    return Complex(size * torch.cos(angle), size * torch.sin(angle))


@rule("real")
def real(call: ComplexCall) -> torch.Tensor:
    re: torch.Tensor = call["self"].re
    return re


@rule("imag")
def imag(call: ComplexCall) -> torch.Tensor:
    im: torch.Tensor = imag_of(call["self"])
    return im


@rule("_conj", "_conj_copy", "_conj_physical", "conj_physical", "conj")
def conj(call: ComplexCall) -> Complex:
    re, im = call["self"]
    return Complex(re, None if im is None else -im)


@rule("resolve_conj", "resolve_neg")
def same(call: ComplexCall) -> Complex:
    x: Complex = call["self"]
    return x


@rule("_to_copy", "to")
def to_copy(call: ComplexCall) -> Any:
    """A cast to a real dtype drops the imaginary part, as in PyTorch."""
    re, im = parts_of(call["self"])
    dtype = real_dtype(call.result.dtype)
    if not call.result.is_complex():
        return re.to(dtype)
    return Complex(re.to(dtype), None if im is None else im.to(dtype))


@rule(
    "full",
    "full_like",
    "new_full",
    "zeros",
    "zeros_like",
    "new_zeros",
    "ones",
    "ones_like",
    "new_ones",
    "scalar_tensor",
)
def filled(call: ComplexCall) -> Any:
    name = call.target._opname
    value = call.arguments.get("fill_value", call.arguments.get("s", float("ones" in name)))
    result = call.result

    def part(number: Any) -> torch.Tensor | None:
        if number is None:
            return None
        return torch.full(
            result.shape, number, dtype=real_dtype(result.dtype), device=result.device
        )

    if not result.is_complex():
        return part(value)
    re, im = parts_of(value)
    return Complex(part(re or 0), part(im))


@rule("isnan", "isinf")
def is_either(call: ComplexCall) -> torch.Tensor:
    re, im = call["self"]
    first: torch.Tensor = call.run(self=re)
    return first if im is None else first | call.run(self=im)


@rule("eq", "ne")
def equal(call: ComplexCall) -> torch.Tensor:
    """Both parts are equal, or one of them is not."""
    a, b = (parts_of(call[name]) for name in ("self", "other"))
    zeros = [0 if each is None else each for each in (a.re, b.re, a.im, b.im)]
    if call.target._opname == "eq":
        return torch.logical_and(_is(zeros[0], zeros[1]), _is(zeros[2], zeros[3]))
    return torch.logical_not(torch.logical_and(_is(zeros[0], zeros[1]), _is(zeros[2], zeros[3])))


def _is(a: Any, b: Any) -> torch.Tensor:
    if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor):
        return torch.full((), a == b, dtype=torch.bool)
    return torch.eq(a, b) if isinstance(a, torch.Tensor) else torch.eq(b, a)
