# ruff: noqa: B008, getattr in a default binds the loop variable
"""Small models with their inputs, at least one per op: for the frontend's tests, and for reuse by
tests of the compiler.

`cases()` returns them by name. Each is a module (possibly with parameters) and its inputs, created
from a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from bounded_cases import BOUNDED_CASES
from byte_cases import BYTE_CASES
from complex_cases import COMPLEX_CASES
from float_cases import FLOAT_CASES
from index_cases import INDEX_CASES
from inlined_cases import INLINED_CASES
from recurrent_cases import RECURRENT_CASES
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx

__all__ = ["CASES", "CHUNK", "ROUNDED", "Function", "Together", "build", "build_chunk", "gradients"]

Case = tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, ...]]]
CASES: dict[str, Case] = {}

#: Number of cases that `build_chunk` puts into one module.
CHUNK = 40
#: Cases that compute in a narrower type than float32.
ROUNDED = {
    "exp_half",
    "add_half_float",
    "conv2d_half",
    "batch_norm2d_half",
    "to_half",
    "to_bfloat16",
    "rms_norm_half",
    "renorm_half",
}


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


class Together(nn.Module):
    """Several modules in one: its inputs are theirs in order (`counts` for each), and so are its
    outputs."""

    def __init__(self, modules: Sequence[nn.Module], counts: Sequence[int]) -> None:
        super().__init__()
        self.each = nn.ModuleList(modules)
        self.counts = list(counts)

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        outputs: list[Tensor] = []
        start = 0
        for module, count in zip(self.each, self.counts, strict=True):
            result = module(*inputs[start : start + count])
            outputs += result if isinstance(result, (list, tuple)) else [result]
            start += count
        return tuple(outputs)


def build(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The module, in evaluation mode, and its inputs."""
    module, inputs = CASES[name]
    torch.manual_seed(0)
    built = module().eval()
    for item in built.modules():
        if isinstance(item, nn.modules.batchnorm._NormBase) and item.running_mean is not None:
            nn.init.uniform_(item.running_mean, -0.5, 0.5)
            nn.init.uniform_(item.running_var, 0.5, 2.0)
        if (
            isinstance(item, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm))
            and item.weight is not None
        ):
            nn.init.uniform_(item.weight, -1.0, 1.0)
            if item.bias is not None:
                nn.init.uniform_(item.bias, -1.0, 1.0)
    return built, inputs()


def build_chunk(
    index: int,
) -> tuple[Together, tuple[Tensor, ...], list[tuple[nn.Module, tuple[Tensor, ...]]]]:
    """Cases from `index` * CHUNK on as one module, because an export and a compilation have a fixed
    cost: the module, its inputs, and the individual cases."""
    built = [build(name) for name in list(CASES)[index * CHUNK : (index + 1) * CHUNK]]
    together = Together(
        [module for module, _ in built], [len(inputs) for _, inputs in built]
    ).eval()
    return together, tuple(x for _, inputs in built for x in inputs), built


def _add(name: str, module: nn.Module | Callable[..., Any], *inputs: Any) -> None:
    """Inputs are shapes (filled with normal random numbers) or tensors."""
    assert name not in CASES, name

    def make() -> tuple[Tensor, ...]:
        return tuple(value if isinstance(value, Tensor) else torch.randn(value) for value in inputs)

    CASES[name] = (module if isinstance(module, type) else (lambda: _module(module)), make)


def _module(item: Any) -> nn.Module:
    return item() if getattr(item, "makes_module", False) else Function(item)


def gradients(
    function: Callable[..., Tensor], *inputs: Tensor
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The gradients of a function as a module of aten ops, and its inputs: the gradient of the
    function's result, and the function's inputs."""

    def run(gradient: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        _, backward = torch.func.vjp(function, *values)
        return tuple(backward(gradient))

    gradient = torch.randn(function(*inputs).shape)
    return make_fx(run)(gradient, *inputs).eval(), (gradient, *inputs)


def _gradients(name: str, function: Callable[..., Tensor], *inputs: Any) -> None:
    """The gradients of a function. Inputs are as for `_add`."""
    _add(f"gradients_{name}", function, *inputs)
    _, make = CASES.pop(f"gradients_{name}")
    CASES[f"gradients_{name}"] = (
        lambda: gradients(function, *make())[0],
        lambda: gradients(function, *make())[1],
    )


def _nn(name: str, make: Callable[[], nn.Module], *inputs: Any) -> None:
    def maker() -> nn.Module:
        return make()

    maker.makes_module = True
    _add(name, maker, *inputs)


_INTS = torch.tensor([[3, -4, 5], [0, 7, -2]])
_BOOLS = torch.tensor([[True, False, True], [False, False, True]])
_POSITIVE = torch.rand(2, 3, generator=torch.Generator().manual_seed(1)) + 0.5
_IMAGE = torch.rand(1, 2, 8, 7, generator=torch.Generator().manual_seed(1))
_EDGES = torch.tensor([[-7.5, -3.0, -0.5, 0.0], [0.5, 2.5, 3.0, 7.5]])

# unary, activations

for _name in (
    "abs",
    "ceil",
    "cos",
    "erf",
    "exp",
    "exp2",
    "floor",
    "neg",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "square",
    "tanh",
    "trunc",
):
    _add(_name, getattr(torch, _name), _EDGES)
for _name in ("log", "log2", "log10", "reciprocal", "rsqrt", "sqrt"):
    _add(_name, getattr(torch, _name), _POSITIVE)
_add("sqrt_int", torch.sqrt, _INTS.abs())
_add("exp_half", torch.exp, torch.randn(2, 3).half())
_add("floor_int", lambda x: torch.floor(x) + 1, _INTS)
_add("trunc_int", lambda x: torch.trunc(x) + 1, _INTS)
for _name in (
    "relu",
    "relu6",
    "silu",
    "hardsigmoid",
    "hardswish",
    "selu",
    "mish",
    "logsigmoid",
    "softsign",
    "tanhshrink",
):
    _add(_name, getattr(F, _name), _EDGES)
_add("relu_int", F.relu, _INTS)
_add("relu_inplace", lambda x: F.relu(x + 1, inplace=True), _EDGES)
_add(
    "threshold_backward", lambda g, x: torch.ops.aten.threshold_backward(g, x, 0.5), (2, 4), _EDGES
)
_add("hardtanh", lambda x: F.hardtanh(x, -0.5, 2), _EDGES)
_add("clamp", lambda x: x.clamp(-1, 2.5), _EDGES)
_add("clamp_min", lambda x: x.clamp(min=-1), _EDGES)
_add("clamp_max", lambda x: x.clamp(max=1), _EDGES)
_add("clamp_method_min", lambda x: x.clamp_min(0.5), _EDGES)
_add("clamp_method_max", lambda x: x.clamp_max(0.5), _EDGES)
_add("clamp_crossed", lambda x: x.clamp(2, 1), _EDGES)
_add("clamp_int", lambda x: x.clamp(-1, 4), _INTS)
_add("clamp_double", lambda x: x.clamp(0.1, 2.5), _EDGES.double())
_add("clamp_double_exact", lambda x: x.clamp(-0.5, 2.5), _EDGES.double())
_add("clamp_tensor", lambda x, a, b: x.clamp(a, b), _EDGES, (4,), (2, 1))
_add("clamp_tensor_min", lambda x, a: x.clamp(min=a), _EDGES, (4,))
_add("clamp_tensor_max", lambda x, a: x.clamp(max=a), _EDGES, (4,))
_add("gelu", F.gelu, _EDGES)
_add("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), _EDGES)
_add("leaky_relu", lambda x: F.leaky_relu(x, 0.2), _EDGES)
_add("elu", lambda x: F.elu(x, 0.7), _EDGES)
_add("celu", lambda x: F.celu(x, 0.7), _EDGES)
_add("softplus", lambda x: F.softplus(x, 2, 5), _EDGES)
_nn("prelu", lambda: nn.PReLU(init=0.3), _EDGES)
_nn("prelu_channels", lambda: nn.PReLU(3, init=0.3), (2, 3, 4, 4))
_add("threshold", lambda x: F.threshold(x, 0.4, -3), _EDGES)
# In bfloat16, the number nearest to 0.3 is above it.
_add(
    "threshold_bfloat16",
    lambda x: F.threshold(x.bfloat16(), 0.3, 7),
    torch.tensor([0.3, -0.3, 0.5, 0.1]),
)
_add("hardshrink", lambda x: F.hardshrink(x, 0.6), _EDGES)
_add("softshrink", lambda x: F.softshrink(x, 0.6), _EDGES)
_add("glu", lambda x: F.glu(x, 1), (2, 6))
_add("to_half", lambda x: x.to(torch.float16), (2, 3))
_add("to_bfloat16", lambda x: x.bfloat16(), (2, 3))
_add("to_int", lambda x: x.int(), _EDGES)
_add("to_bool", lambda x: x.bool(), _EDGES)
_add("to_float", lambda x: x.float() / 2, _INTS)
_add("type_as", lambda x, y: x.type_as(y), _INTS, (2, 3))
_add("logical_not", lambda x: ~x, _BOOLS)
_add("logical_not_float", torch.logical_not, _EDGES)
_add("isnan", torch.isnan, torch.tensor([1.0, math.nan, math.inf]))

# identity

_nn("dropout", lambda: nn.Dropout(0.5), (2, 3))
_nn("dropout2d", lambda: nn.Dropout2d(0.5), (2, 3, 4, 4))
_add("identity", lambda x: x.clone().contiguous().detach() + 0, (2, 3))
_add("channels_last", lambda x: x.contiguous(memory_format=torch.channels_last) + 1, (1, 2, 3, 3))
_add("input_returned", lambda x: (x, x + 1), (2, 3))

_add("returned_twice", lambda x: (lambda y: (y, y))(x + 1), (2, 3))
_add("views_returned", lambda x: (x.t(), x[0]), (2, 3))
_add("unused_input", lambda x, y: x * 2, (2, 3), (4,))
_add("constant_returned", lambda x: (torch.zeros(2), torch.arange(3.0)), (2, 3))
_nn("weight_returned", lambda: _Weight(), (2, 3))
_add("rank0", lambda x: x + 1, ())
_add("float64", lambda x: x.exp(), torch.randn(3).double())
_add("int8", lambda x: x * 2, torch.arange(3).to(torch.int8))


class _Weight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.weight, x + self.weight


# binary

for _name in ("add", "sub", "mul", "div", "maximum", "minimum"):
    _add(_name, getattr(torch, _name), (2, 3), (2, 3))
    _add(f"{_name}_broadcast", getattr(torch, _name), (4, 1, 3), (2, 1))
for _name in ("add", "sub", "mul", "div"):
    _add(f"{_name}_scalar", lambda x, f=getattr(torch, _name): f(x, 2.5), (2, 3))
    _add(f"{_name}_int_float", getattr(torch, _name), _INTS, (2, 3))
    _add(f"{_name}_rank0", getattr(torch, _name), (2, 3), ())
    _add(f"{_name}_int", lambda x, y, f=getattr(torch, _name): f(x, y * y + 1), _INTS, _INTS)
_add("add_alpha", lambda x, y: torch.add(x, y, alpha=0.5), (2, 3), (2, 3))
_add("sub_alpha", lambda x, y: torch.sub(x, y, alpha=2), (2, 3), (3,))
_add("add_bool_int", lambda x, y: x + y, _BOOLS, _INTS)
_add("add_half_float", lambda x, y: x + y, torch.randn(2, 3).half(), (2, 3))
_add("add_int_scalar_float", lambda x: x + 0.5, _INTS)
_add("rsub", lambda x: 2 - x, (2, 3))
_add("rsub_alpha", lambda x, y: torch.rsub(x, y, alpha=3), (2, 3), (2, 3))
_add("rdiv", lambda x: 2 / x, _POSITIVE)
_add("mul_bool", lambda x, y: x * y, _BOOLS, ~_BOOLS)
_add("mul_lifted_scalar", lambda x: x * torch.tensor(2.5), (2, 3))
_add("mul_lifted_vector", lambda x: x * torch.tensor([1.0, 2.0, 3.0]), (2, 3))
_add("div_floor", lambda x: torch.div(x, 0.7, rounding_mode="floor"), _EDGES)
_add("div_trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), _EDGES, (4,))
_add("floor_divide", lambda x: x // 2, _EDGES)
_add(
    "floor_divide_bfloat16",
    lambda x: x.bfloat16() // 1.3,
    torch.tensor([2.59375, 1.296875, 2.609375]),
)
_add(
    "floor_divide_bfloat16_tiny",
    lambda x, y: x.bfloat16() // y.bfloat16(),
    torch.tensor([1e-30, -1e-30, 1e-30, -7.0]),
    torch.tensor([-1e30, 1e30, 1e30, 2.0]),
)
# The number counts in float32: 7.5 is below 75 * 0.1 there, and above it in float16.
_add(
    "div_floor_half",
    lambda x: x.half().div(0.1, rounding_mode="floor"),
    torch.tensor([7.5, 0.1, 1.0, -1.0, -7.5]),
)
_add("remainder", lambda x: x % 2.25, _EDGES)
_add("remainder_tensor", torch.remainder, _EDGES, torch.tensor([2.0, -3.0, 0.75, 1.5]))
for _exponent in (1, 2, 3, -1, -2, 0.5, -0.5, 1.7):
    _add(f"pow_{_exponent}", lambda x, e=_exponent: x**e, _POSITIVE)
_add("pow_int", lambda x: x**2, _INTS)
_add("pow_tensor", torch.pow, _POSITIVE, (2, 3))
_add("pow_scalar_base", lambda x: 2**x, (2, 3))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _add(f"{_name}_scalar", lambda x, f=getattr(torch, _name): f(x, 0.5), _EDGES)
    _add(f"{_name}_tensor", getattr(torch, _name), _INTS, torch.tensor([[3], [0]]))
_add("compare_int_with_float", lambda x: x > 2.5, _INTS)
_add("compare_rank0", lambda x, y: x < y, (2, 3), torch.tensor(0.25, dtype=torch.float64))
_add("logical_and", lambda x, y: (x > 0) & (y > 0), (2, 3), (2, 3))
_add("logical_or", lambda x, y: (x > 0) | (y > 0), (2, 3), (2, 1))
_add("logical_xor", torch.logical_xor, (2, 3), _INTS)
_add("logical_and_numbers", torch.logical_and, _EDGES, _EDGES.flip(1))
_add("where", lambda x, y: torch.where(x > 0, x, y), (2, 3), (3,))
_add("where_scalar", lambda x: torch.where(x > 0, x, 0.0), (2, 3))
_add("masked_fill", lambda x, m: x.masked_fill(m, -math.inf), (2, 3), _BOOLS)
_add("lerp", lambda x, y: torch.lerp(x, y, 0.3), (2, 3), (2, 3))
_add("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), (2, 3), (2, 3), (3,))
_add("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), (2, 3), (2, 3), _POSITIVE)

# convolution

_nn("conv1d", lambda: nn.Conv1d(4, 6, 3, 2, 1), (2, 4, 9))
_add("conv_tbc", lambda x, w, b: torch.conv_tbc(x, w, b, 1), (7, 2, 4), (3, 4, 5), (5,))
_nn("conv2d", lambda: nn.Conv2d(3, 4, 3, padding=1), (1, 3, 6, 6))
_nn("conv2d_no_bias", lambda: nn.Conv2d(3, 4, (3, 2), (2, 1), (1, 0), bias=False), (1, 3, 6, 7))
_nn("conv2d_dilated", lambda: nn.Conv2d(3, 4, 3, dilation=(2, 1), padding=(2, 1)), (1, 3, 8, 6))
_nn("conv2d_groups", lambda: nn.Conv2d(4, 6, 3, groups=2), (1, 4, 6, 6))
_nn("conv2d_depthwise", lambda: nn.Conv2d(4, 8, 3, groups=4, padding=1), (1, 4, 6, 6))
_nn("conv2d_same", lambda: nn.Conv2d(3, 4, (4, 3), padding="same", dilation=(1, 2)), (1, 3, 6, 7))
_nn("conv1d_same_even", lambda: nn.Conv1d(3, 4, 2, padding="same"), (1, 3, 6))
_nn("conv2d_valid", lambda: nn.Conv2d(3, 4, 3, padding="valid"), (1, 3, 6, 6))
_nn("conv2d_unbatched", lambda: nn.Conv2d(3, 4, 3), (3, 6, 6))
_nn("conv2d_reflect", lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), (1, 3, 6, 6))
_nn("conv2d_circular", lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), (1, 3, 6, 6))
_nn("conv2d_half", lambda: nn.Conv2d(3, 4, 3).half(), torch.randn(1, 3, 6, 6).half())
_nn("conv3d", lambda: nn.Conv3d(2, 3, (2, 3, 3), (1, 2, 1), (0, 1, 1)), (1, 2, 4, 6, 5))
_add("conv2d_two_inputs", lambda x, w: F.conv2d(x, w), (1, 3, 6, 6), (4, 3, 3, 3))
_nn("conv_transpose1d", lambda: nn.ConvTranspose1d(4, 3, 4, 2, 1), (1, 4, 6))
_nn(
    "conv_transpose2d",
    lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1, groups=2),
    (1, 4, 5, 5),
)
_nn(
    "conv_transpose2d_dilated",
    lambda: nn.ConvTranspose2d(4, 6, 3, (2, 1), 0, dilation=(1, 2), bias=False),
    (1, 4, 5, 5),
)
_nn("conv_transpose2d_unbatched", lambda: nn.ConvTranspose2d(4, 6, 2, 2), (4, 5, 5))
_nn("conv_transpose3d", lambda: nn.ConvTranspose3d(2, 3, 2, 2), (1, 2, 2, 3, 2))
_nn(
    "conv_bn_relu",
    lambda: nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU()),
    (1, 3, 6, 6),
)

# matrix products, attention

_add("mm", torch.mm, (2, 3), (3, 4))
_add("bmm", torch.bmm, (5, 2, 3), (5, 3, 4))
_add("mv", torch.mv, (2, 3), (3,))
_add("dot", torch.dot, (3,), (3,))
for _id, _left, _right in (
    ("1d_1d", (3,), (3,)),
    ("1d_2d", (3,), (3, 4)),
    ("2d_1d", (2, 3), (3,)),
    ("3d_1d", (5, 2, 3), (3,)),
    ("1d_3d", (3,), (5, 3, 4)),
    ("3d_2d", (5, 2, 3), (3, 4)),
    ("2d_4d", (2, 3), (2, 5, 3, 4)),
    ("broadcast", (2, 1, 2, 3), (5, 3, 4)),
):
    _add(f"matmul_{_id}", torch.matmul, _left, _right)
_nn("linear", lambda: nn.Linear(4, 3), (2, 4))
_nn("linear_3d", lambda: nn.Linear(4, 3), (2, 5, 4))
_nn("linear_1d", lambda: nn.Linear(4, 3, bias=False), (4,))
_add("linear_vector_weight", lambda x, w: F.linear(x, w), (2, 4), (4,))
_add("addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), (4,), (2, 3), (3, 4))
_add("addmm_plain", torch.addmm, (2, 4), (2, 3), (3, 4))
_add("addmm_no_beta", lambda c, a, b: torch.addmm(c, a, b, beta=0), (4,), (2, 3), (3, 4))
_add("addmv", torch.addmv, (2,), (2, 3), (3,))
_add("baddbmm", torch.baddbmm, (5, 2, 4), (5, 2, 3), (5, 3, 4))
_add("einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b), (5, 2, 3), (5, 4, 3))
_QKV = ((2, 2, 5, 4), (2, 2, 6, 4), (2, 2, 6, 4))
_add("attention", F.scaled_dot_product_attention, *_QKV)
_add("attention_scale", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), *_QKV)
_add(
    "attention_causal",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    *_QKV,
)
_add("attention_mask", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), *_QKV, (5, 6))
_add(
    "attention_bool_mask",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m > -1),
    *_QKV,
    (5, 6),
)
_add(
    "attention_masked_row",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
    *_QKV,
    torch.tensor([[True] * 6] * 4 + [[False] * 6]),
)
_add(
    "safe_softmax",
    lambda x: torch.ops.aten._safe_softmax(x, -1),
    torch.tensor([[0.5, -math.inf], [-math.inf, -math.inf]]),
)
_add(
    "attention_grouped",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    (2, 4, 5, 4),
    (2, 2, 6, 4),
    (2, 2, 6, 4),
)
_nn("multihead_attention", lambda: _SelfAttention(), (2, 5, 8))
_nn("transformer_layer", lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8))


class _SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


# pooling

for _rank, _shape in ((1, (2, 3, 11)), (2, (2, 3, 11, 10)), (3, (1, 2, 7, 6, 8))):
    _max, _avg = getattr(F, f"max_pool{_rank}d"), getattr(F, f"avg_pool{_rank}d")
    _add(f"max_pool{_rank}d", lambda x, f=_max: f(x, 2), _shape)
    _add(f"max_pool{_rank}d_pad", lambda x, f=_max: f(x, 3, 2, 1), _shape)
    _add(f"max_pool{_rank}d_ceil", lambda x, f=_max: f(x, 3, 2, 1, ceil_mode=True), _shape)
    _add(f"max_pool{_rank}d_dilated", lambda x, f=_max: f(x, 2, 1, 1, 3), _shape)
    _add(f"avg_pool{_rank}d", lambda x, f=_avg: f(x, 2), _shape)
    _add(f"avg_pool{_rank}d_pad", lambda x, f=_avg: f(x, 3, 2, 1), _shape)
    _add(f"avg_pool{_rank}d_ceil", lambda x, f=_avg: f(x, 3, 2, 1, ceil_mode=True), _shape)
    _add(
        f"avg_pool{_rank}d_ceil_exclude",
        lambda x, f=_avg: f(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        _shape,
    )
    for _suffix, _out in (("one", 1), ("uneven", 3)):
        _add(
            f"adaptive_avg_pool{_rank}d_{_suffix}",
            lambda x, f=getattr(F, f"adaptive_avg_pool{_rank}d"), o=_out: f(x, o),
            _shape,
        )
        _add(
            f"adaptive_max_pool{_rank}d_{_suffix}",
            lambda x, f=getattr(F, f"adaptive_max_pool{_rank}d"), o=_out: f(x, o),
            _shape,
        )
_add(
    "max_pool2d_ceil_dropped_window",
    lambda x: F.max_pool2d(x, 2, 2, 1, ceil_mode=True),
    (1, 1, 3, 3),
)
_add("max_pool2d_sides", lambda x: F.max_pool2d(x, (3, 2), (1, 2), (1, 0)), (2, 3, 7, 6))
_add("max_pool2d_unbatched", lambda x: F.max_pool2d(x, 2), (3, 6, 6))
_add("avg_pool2d_divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), (2, 3, 7, 6))
_add("avg_pool2d_unbatched", lambda x: F.avg_pool2d(x, 2), (3, 6, 6))
_add(
    "avg_pool2d_ceil_stride_over_kernel",
    lambda x: F.avg_pool2d(x, 2, 4, ceil_mode=True),
    (1, 1, 7, 9),
)
for _name, _window in (
    ("one", lambda x: F.avg_pool2d(x, 40, ceil_mode=True)),
    ("pad", lambda x: F.avg_pool2d(x, (40, 2), 40, (3, 1), ceil_mode=True)),
    ("exclude", lambda x: F.avg_pool2d(x, 40, 40, 3, ceil_mode=True, count_include_pad=False)),
    ("divisor", lambda x: F.avg_pool2d(x, 40, 40, 3, ceil_mode=True, divisor_override=7)),
    ("max", lambda x: F.max_pool2d(x, (2, 40), (1, 40), (1, 3), ceil_mode=True)),
    ("indices", lambda x: F.max_pool2d(x, 40, 40, 3, ceil_mode=True, return_indices=True)),
):
    _add(f"pool2d_beyond_{_name}", _window, (2, 3, 5, 7))
_add("adaptive_avg_pool2d_even", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), (2, 3, 8, 6))
_add("adaptive_max_pool2d_even", lambda x: F.adaptive_max_pool2d(x, (2, 3)), (2, 3, 8, 6))
_add("adaptive_avg_pool2d_keep", lambda x: F.adaptive_avg_pool2d(x, (None, 3)), (2, 3, 8, 7))
_add("adaptive_avg_pool2d_larger", lambda x: F.adaptive_avg_pool2d(x, 5), (2, 3, 3, 4))

# normalization, softmax

_nn("batch_norm1d", lambda: nn.BatchNorm1d(3), (2, 3))
_nn("batch_norm1d_3d", lambda: nn.BatchNorm1d(3), (2, 3, 5))
_nn("batch_norm2d", lambda: nn.BatchNorm2d(3), (2, 3, 4, 4))
_nn("batch_norm2d_no_affine", lambda: nn.BatchNorm2d(3, affine=False), (2, 3, 4, 4))
_add(
    "batch_norm_of_batch",
    lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    (2, 3, 4),
    (3,),
    (3,),
)
_nn("batch_norm_untracked", lambda: nn.BatchNorm2d(3, track_running_stats=False), (2, 3, 4, 4))
_nn("batch_norm2d_half", lambda: nn.BatchNorm2d(3).half(), torch.randn(2, 3, 4, 4).half())
_nn("batch_norm3d", lambda: nn.BatchNorm3d(3, eps=0.1), (1, 3, 2, 3, 4))
_nn("layer_norm", lambda: nn.LayerNorm(4), (2, 3, 4))
_nn("layer_norm_two_dims", lambda: nn.LayerNorm((3, 4)), (2, 3, 4))
_nn("layer_norm_no_affine", lambda: nn.LayerNorm(4, elementwise_affine=False, eps=0.01), (2, 3, 4))
_nn("layer_norm_negative_eps", lambda: nn.LayerNorm(4, eps=-0.5), (2, 3, 4))
_nn("layer_norm_no_bias", lambda: nn.LayerNorm(4, bias=False), (2, 3, 4))
_nn("group_norm", lambda: nn.GroupNorm(2, 6), (2, 6, 3, 4))
_nn("group_norm_no_affine", lambda: nn.GroupNorm(3, 6, affine=False), (2, 6, 5))
_nn("group_norm_2d", lambda: nn.GroupNorm(3, 6), (2, 6))
_nn("instance_norm", lambda: nn.InstanceNorm2d(3, affine=True), (2, 3, 4, 5))
_nn(
    "instance_norm_tracked",
    lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    (2, 3, 4, 5),
)
_nn("rms_norm", lambda: nn.RMSNorm(4), (2, 3, 4))
_add("softmax", lambda x: x.softmax(-1), (2, 3, 4))
_add("softmax_dim1", lambda x: x.softmax(1), (2, 3, 4))
_add("softmax_rank0", lambda x: x.softmax(0), ())
_add("softmax_int_to_float", lambda x: x.softmax(1, dtype=torch.float32), _INTS)
_add("log_softmax", lambda x: x.log_softmax(1), (2, 3, 4))
_add("normalize", lambda x: F.normalize(x, dim=1), (2, 3))

# reductions

for _name in ("mean", "sum", "amax", "amin"):
    _f = getattr(torch, _name)
    _add(f"{_name}_dims", lambda x, f=_f: f(x, (-1, 1)), (2, 3, 4))
    _add(f"{_name}_dim_keep", lambda x, f=_f: f(x, 1, keepdim=True), (2, 3, 4))
for _name in ("mean", "sum", "max", "min"):
    _add(f"{_name}_all", getattr(torch, _name), (2, 3, 4))
_add("mean_dtype", lambda x: x.mean(1, dtype=torch.float32), _INTS)
_add("sum_int32", lambda x: x.sum(1), _INTS.int())
_add("sum_bool", lambda x: x.sum(), _BOOLS)
_add("max_dim", lambda x: x.max(1)[0], (2, 3, 4))
_add("min_dim", lambda x: x.min(-1, keepdim=True).values, (2, 3, 4))
_add("max_int", lambda x: x.max(), _INTS)
_add("var", lambda x: x.var(1), (2, 5, 4))
_add("var_all", torch.var, (2, 5, 4))
_add("var_biased", lambda x: x.var((0, 2), unbiased=False, keepdim=True), (2, 5, 4))
_add("std", lambda x: x.std(1, correction=2), (2, 5, 4))
_add("sign_bool", torch.sign, torch.tensor([True, False]))
_add("var_mean", lambda x: torch.var_mean(x, 1), (2, 5, 4))
_add("norm", lambda x: x.norm(dim=1), (2, 3, 4))
_add("norm_1", lambda x: torch.linalg.vector_norm(x, 1, dim=(0, 2)), (2, 3, 4))
_add("norm_inf", lambda x: torch.linalg.vector_norm(x, math.inf, dim=1, keepdim=True), (2, 3, 4))
_add("logsumexp", lambda x: x.logsumexp(1), (2, 3, 4))

# shape

_add("view", lambda x: x.view(4, -1), (2, 3, 4))
_add("reshape", lambda x: x.transpose(0, 1).reshape(6, 4), (2, 3, 4))
_add("flatten", lambda x: x.flatten(1), (2, 3, 4))
_add("unflatten", lambda x: x.unflatten(1, (2, 3)), (2, 6))
_add("squeeze", lambda x: x.squeeze(), (1, 3, 1))
_add("squeeze_dim", lambda x: x.squeeze(-1), (1, 3, 1))
_add("squeeze_dims", lambda x: x.squeeze((0, 2)), (1, 3, 1))
_add("unsqueeze", lambda x: x.unsqueeze(-2), (2, 3))
_add("permute", lambda x: x.permute(0, -1, 1, 2), (2, 3, 4, 5))
_add("transpose", lambda x: x.transpose(-1, 0), (2, 3, 4))
_add("t", lambda x: x.t(), (2, 3))
_add("mT", lambda x: x.mT, (2, 3, 4))
_add("T", lambda x: x.T, (2, 3))
_add("movedim", lambda x: x.movedim(0, -1), (2, 3, 4))
_add("expand", lambda x: x.expand(4, -1, 3), (2, 1))
_add("expand_as", lambda x, y: x.expand_as(y), (3,), (2, 3))
_add("broadcast_to", lambda x: x.broadcast_to(2, 3), (3,))
_add("repeat", lambda x: x.repeat(2, 1, 3), (2, 3))
_add("tile", lambda x: x.tile(2), (2, 3))
_add("repeat_interleave", lambda x: x.repeat_interleave(2, 1), (2, 3))
_add("repeat_interleave_flat", lambda x: x.repeat_interleave(2), (2, 3))
_add("upsample_nearest", lambda x: F.interpolate(x, scale_factor=2), (1, 2, 3, 4))
_add("upsample_nearest_size", lambda x: F.interpolate(x, (6, 2)), (1, 2, 3, 4))
_add("upsample_nearest1d", lambda x: F.interpolate(x, 9), (1, 2, 3))
_add("upsample_nearest3d", lambda x: F.interpolate(x, scale_factor=(1, 2, 3)), (1, 2, 2, 3, 2))
_add(
    "upsample_nearest_exact",
    lambda x: F.interpolate(x, scale_factor=3, mode="nearest-exact"),
    (1, 2, 3, 4),
)
_add("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), (1, 8, 3, 4))
_add("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), (1, 2, 4, 6))
_nn("channel_shuffle", lambda: nn.ChannelShuffle(2), (1, 6, 3, 3))

# resize

_add("resize_linear", lambda x: F.interpolate(x, 7, mode="linear"), (1, 2, 4))
_add("resize_bilinear", lambda x: F.interpolate(x, (7, 3), mode="bilinear"), (1, 2, 4, 5))
_add(
    "resize_bilinear_scale",
    lambda x: F.interpolate(x, scale_factor=(1.7, 2), mode="bilinear"),
    (2, 2, 4, 5),
)
_add(
    "resize_bilinear_align",
    lambda x: F.interpolate(x, (7, 5), mode="bilinear", align_corners=True),
    (1, 2, 4, 5),
)
_add("resize_bicubic", lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), (1, 2, 4, 5))
_add("resize_trilinear", lambda x: F.interpolate(x, (3, 7, 4), mode="trilinear"), (1, 2, 2, 4, 5))

# slicing

_add("slice", lambda x: x[:, 1:3], (2, 5))
_add("slice_step", lambda x: x[:, 1::2], (2, 6))
_add("slice_negative", lambda x: x[:, -3:-1], (2, 6))
_add("slice_beyond", lambda x: x[:, 2:100], (2, 6))
_add("slice_whole", lambda x: x[:, :] + 1, (2, 6))
_add("select", lambda x: x[:, -1], (2, 3, 4))
_add("index_none", lambda x: x[None, :, 1, ..., 0], (2, 3, 4))
_add("narrow", lambda x: x.narrow(1, 1, 2), (2, 5))
_add("narrow_negative", lambda x: x.narrow(1, -3, 2), (2, 5))
_add("split", lambda x: x.split(2, 1), (2, 5))
_add("split_sizes", lambda x: x.split([1, 4], -1), (2, 5))
_add("chunk", lambda x: x.chunk(3, 1), (2, 7))
_add("tensor_split", lambda x: x.tensor_split(3, 1), (2, 7))
_add("unbind", lambda x: x.unbind(1), (2, 3))
_add("cat", lambda x, y: torch.cat([x, y, x], -1), (2, 3), (2, 1))
_add("cat_promotes", lambda x, y: torch.cat([x, y]), _INTS, (2, 3))
_add("cat_one", lambda x: torch.cat([x], 0) + 1, (2, 3))
_add("stack", lambda x, y: torch.stack([x, y], -1), (2, 3), (2, 3))
_add("flip", lambda x: x.flip(0, -1), (2, 3, 4))
_add("roll", lambda x: x.roll((1, -1), (0, 2)), (2, 3, 4))
_add("roll_flat", lambda x: x.roll(2), (2, 3))
_add("pad", lambda x: F.pad(x, (1, 2, 0, 3)), (2, 3, 4))
_add("pad_value", lambda x: F.pad(x, (1, 0), value=-1.5), (2, 3))
_add("pad_negative", lambda x: F.pad(x, (-1, 2)), (2, 3))
_add("pad_bool", lambda x: F.pad(x > 0, (1, 0), value=0.5), _EDGES)
_add("pad_int", lambda x: F.pad(x, (1, 0), value=7), _INTS)
for _mode in ("reflect", "replicate", "circular"):
    _add(f"pad_{_mode}", lambda x, m=_mode: F.pad(x, (2, 1, 1, 3), mode=m), (1, 2, 5, 4))
_add("pad_replicate_crop", lambda x: F.pad(x, (-1, 2), mode="replicate"), (1, 2, 5))
_nn("reflection_pad1d", lambda: nn.ReflectionPad1d((1, 2)), (1, 2, 5))
_nn("replication_pad3d", lambda: nn.ReplicationPad3d(1), (1, 2, 3, 3, 3))

# gradients

_gradients("conv1d", lambda x, w, b: F.conv1d(x, w, b, 2, 1), (2, 4, 9), (6, 4, 3), (6,))
_gradients("conv2d", lambda x, w: F.conv2d(x, w, None, 2, 1), (2, 3, 7, 8), (4, 3, 3, 3))
_gradients("conv2d_dilated", lambda x, w: F.conv2d(x, w, dilation=2), (1, 3, 8, 7), (4, 3, 3, 2))
_gradients("conv2d_groups", lambda x, w: F.conv2d(x, w, groups=2), (2, 4, 6, 5), (6, 2, 3, 3))
_gradients("conv2d_depthwise", lambda x, w: F.conv2d(x, w, groups=4), (2, 4, 6, 5), (8, 1, 3, 3))
_gradients("conv2d_unbatched", F.conv2d, (3, 6, 6), (4, 3, 3, 3), (4,))
_gradients("conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), (1, 3, 6, 6), (4, 3, 2, 2))
_gradients("conv3d", lambda x, w: F.conv3d(x, w, None, (1, 2, 1)), (1, 2, 4, 6, 5), (3, 2, 2, 3, 3))
_gradients(
    "conv_transpose2d",
    lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1, 2),
    (2, 4, 5, 4),
    (4, 3, 3, 3),
    (6,),
)
_gradients(
    "conv_transpose1d_wide_output_padding",
    lambda x, w: F.conv_transpose1d(x, w, None, 1, 1, 2, 1, 3),
    (1, 4, 5),
    (4, 3, 2),
)
_gradients("conv_transpose3d", F.conv_transpose3d, (1, 2, 2, 3, 2), (2, 3, 2, 2, 2))
for _mask in ((True, False, False), (False, True, False), (False, False, True)):
    _add(
        f"convolution_backward_{_mask.index(True)}",
        lambda g, x, w, mask=_mask: torch.ops.aten.convolution_backward(
            g, x, w, [4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask
        )[mask.index(True)],
        (1, 4, 4, 3),
        (1, 3, 6, 5),
        (4, 3, 3, 3),
    )

for _rank in (1, 2, 3):
    _shape = (2, 3, 9, 8, 7)[: _rank + 2]
    for _pool, _options in (
        ("max_pool", (3, 2, 1)),
        ("avg_pool", (3, 2, 1)),
        ("adaptive_max_pool", ((3, 4, 1)[:_rank],)),
        ("adaptive_avg_pool", ((3, 5, 1)[:_rank],)),
    ):
        _function = getattr(F, f"{_pool}{_rank}d")
        _gradients(f"{_pool}{_rank}d", lambda x, f=_function, given=_options: f(x, *given), _shape)
_gradients("max_pool2d_ties", lambda x: F.max_pool2d(x, 3, 1, 1), torch.ones(1, 2, 5, 4))
_gradients("max_pool2d_dilated", lambda x: F.max_pool2d(x, (2, 3), 2, 1, 2, True), (1, 2, 8, 9))
_gradients("max_pool2d_one_row", lambda x: F.max_pool2d(x, 3, 2, 0, 1, True), (1, 2, 3, 6))
_gradients("max_pool2d_unbatched", lambda x: F.max_pool2d(x, 2), (3, 6, 6))
_add(
    "adaptive_max_pool2d_backward_uneven",
    torch.ops.aten.adaptive_max_pool2d_backward,
    (1, 2, 3, 9),
    (1, 2, 8, 7),
    F.adaptive_max_pool2d(_IMAGE, (3, 9), return_indices=True)[1],
)
_gradients("avg_pool2d_ceil", lambda x: F.avg_pool2d(x, 3, 2, 1, True), (1, 2, 8, 6))
_gradients("avg_pool2d_own", lambda x: F.avg_pool2d(x, 3, 2, 1, True, False), (1, 2, 8, 6))
_gradients("avg_pool2d_divisor", lambda x: F.avg_pool2d(x, 2, 3, divisor_override=3), (1, 2, 8, 6))
_gradients("adaptive_avg_pool2d_up", lambda x: F.adaptive_avg_pool2d(x, (5, 9)), (1, 2, 3, 6))
_add(
    "max_pool2d_indices",
    lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    torch.randint(0, 3, (2, 3, 7, 8), generator=torch.Generator().manual_seed(1)).float(),
)
_add(
    "max_pool1d_indices_of_nan",
    lambda x: F.max_pool1d(x, 3, 1, 1, return_indices=True),
    torch.tensor([[[1.0, math.nan, math.nan, 2.0, -math.inf, -math.inf, -math.inf, 0.0]]]),
)
for _name in (
    "relu", "relu6", "hardtanh", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "sigmoid",
    "tanh", "softplus", "hardswish", "hardsigmoid", "mish", "logsigmoid", "softsign", "tanhshrink",
):  # fmt: skip
    _gradients(_name, getattr(F, _name), (2, 3, 4))
_add("log1p", torch.log1p, torch.tensor([-1.0, -0.5, 1e-9, -1e-5, 0.0, 3.0, 1e30, math.inf]))
_gradients("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), (2, 3, 4))
_gradients("prelu", F.prelu, (2, 3, 4), (3,))
for _training in (True, False):
    _gradients(
        f"batch_norm_{'training' if _training else 'inference'}",
        lambda x, w, b, training=_training: F.batch_norm(
            x, x.new_zeros(3) + 0.5, x.new_zeros(3) + 2, w, b, training
        ),
        (4, 3, 5, 4),
        (3,),
        (3,),
    )
_gradients("batch_norm_no_affine", lambda x: F.batch_norm(x, None, None, training=True), (4, 3, 5))
for _mask in ((True, False, True), (False, True, False)):
    _add(
        f"native_batch_norm_backward_{_mask.index(True)}",
        lambda g, x, w, m, v, mask=_mask: [
            each
            for each, wanted in zip(
                torch.ops.aten.native_batch_norm_backward(
                    g, x, w, m, v * v + 1, m, v * v + 1, True, 1e-5, mask
                ),
                mask,
                strict=True,
            )
            if wanted
        ],
        (4, 3, 5),
        (4, 3, 5),
        (3,),
        (3,),
        (3,),
    )


def _with_statistics(x: Tensor, mean: Tensor, var: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    mean, var = mean.clone(), var.clone()
    return F.batch_norm(x, mean, var, training=True, momentum=0.3), mean, var


_add("batch_norm_updates", _with_statistics, (4, 3, 5, 4), (3,), (3,))

# creation

_add("full", lambda x: x + torch.full((2, 3), 1.5), (2, 3))
_add(
    "zeros_ones",
    lambda x: torch.cat(
        [x, torch.zeros(1, 3), torch.ones(1, 3), torch.zeros_like(x), torch.ones_like(x)]
    ),
    (2, 3),
)
_add("new_full", lambda x: x * x.new_full((3,), 2), (2, 3))
_add("full_like", lambda x: x * torch.full_like(x, 2.5), (2, 3))
_add("new_zeros_ones", lambda x: x * x.new_ones(2, 3) + x.new_zeros(3), (2, 3))
_add("arange", lambda x: x + torch.arange(3) + torch.arange(1, 4) + torch.arange(0, 6, 2), (2, 3))
_add("full_bool", lambda x: torch.full_like(x > 0, 2.5) & (x < 1), (2, 3))
_add("scalar_tensor", lambda x: torch.where(x > 0, x, torch.scalar_tensor(2.0)), (2, 3))
for _case in INDEX_CASES:
    _add(*_case)
for _case in FLOAT_CASES:
    _add(*_case)
for _case in BYTE_CASES:
    _add(*_case)
for _case in RECURRENT_CASES:
    _add(*_case)
for _case in COMPLEX_CASES:
    _add(*_case)
for _case in INLINED_CASES:
    _add(*_case)
for _case in BOUNDED_CASES:
    _add(*_case)
