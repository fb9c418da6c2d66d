"""Results of the linalg lowering on the CPU, for properties that differ between ops: narrow floats,
NaN and infinities, and the error of the transcendental functions that the compiler expands itself.
The reference is PyTorch in float64.

Cases are compiled together in one module, because a compilation has a fixed cost.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F
from frontend_checks import compare_results, expected_results
from op_cases import CASES, Function, Together, build
from torch import Tensor, nn

import convoy
from convoy import _convoy

#: Largest difference relative to the largest value (at least 1), by the dtype of the result.
_TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def _run_together(modules: Sequence[nn.Module], inputs: Sequence[Tensor]) -> list[list[Tensor]]:
    """The results of each module for its one input."""
    together = Together(modules, [1] * len(modules)).eval()
    with torch.no_grad():
        counts = [len(_flat(module(x))) for module, x in zip(modules, inputs, strict=True)]
    results = iter(_flat(convoy.compile(together, tuple(inputs), target="cpu")(*inputs)))
    return [[torch.from_dlpack(next(results)) for _ in range(count)] for count in counts]


def _flat(results: object) -> list:
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _compare(module: nn.Module, x: Tensor, got: list[Tensor]) -> None:
    with torch.no_grad():
        expected = _flat(copy.deepcopy(module).double()(x.double()))
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.shape == theirs.shape
        scale = max(1.0, float(theirs.abs().nan_to_num(posinf=0).max()))
        torch.testing.assert_close(
            mine.double(),
            theirs.double(),
            rtol=0,
            atol=_TOLERANCE[mine.dtype] * scale,
            equal_nan=True,
        )


def _mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(17, 33), nn.GELU(), nn.LayerNorm(33), nn.Linear(33, 5), nn.Softmax(-1)
    )


def _convnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 10, 3, padding=1),
        nn.SiLU(),
        nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(10, 10, 3, groups=5),
        nn.LeakyReLU(0.1),
        nn.AvgPool2d(2),
    )


_NARROW: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (_mlp, (3, 17)),
    "convnet": (_convnet, (2, 3, 13, 11)),
    "conv_transpose": (lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1), (1, 4, 5, 7)),
    "depthwise": (lambda: nn.Conv2d(6, 6, 3, groups=6, padding=1), (1, 6, 9, 5)),
    "mean": (lambda: Function(lambda x: x.mean((2, 3))), (2, 5, 7, 9)),
    "reductions": (lambda: Function(lambda x: (x.sum(-1), x.amax(1), x.var(2))), (2, 5, 301)),
    "cat_pad": (
        lambda: Function(lambda x: torch.cat([F.pad(x, (1, 2)), x[:, :, ::2]], -1)),
        (2, 3, 8),
    ),
    "unary": (
        lambda: Function(
            lambda x: (
                torch.tanh(x)
                + torch.erf(x) * torch.exp(-x.abs())
                + x.sin().cos()
                + x.abs().pow(1.7)
            )
        ),
        (5, 37),
    ),
    "transpose": (lambda: Function(lambda x: x.permute(0, 2, 1).reshape(2, -1) * 2), (2, 3, 5)),
}


@functools.cache
def _narrow(dtype: torch.dtype) -> dict[str, tuple[nn.Module, Tensor, list[Tensor]]]:
    torch.manual_seed(0)
    modules = [make().eval().to(dtype) for make, _ in _NARROW.values()]
    inputs = [torch.randn(shape).to(dtype) for _, shape in _NARROW.values()]
    return dict(
        zip(_NARROW, zip(modules, inputs, _run_together(modules, inputs), strict=True), strict=True)
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", _NARROW)
def test_narrow_dtype(name: str, dtype: torch.dtype) -> None:
    module, x, got = _narrow(dtype)[name]
    assert all(result.dtype == dtype for result in got)
    _compare(module, x, got)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
def test_narrow_division_by_a_number(dtype: torch.dtype) -> None:
    """The number and the quotient are in float32, in which 1 / 0.1 is 10."""
    modules = [
        Function(lambda x, mode=mode: x.div(0.1, rounding_mode=mode)) for mode in ("floor", "trunc")
    ]
    x = torch.tensor([7.5, 0.1, 1.0, -1.0, -7.5, 300.0], dtype=dtype)
    for module, (got,) in zip(modules, _run_together(modules, [x, x]), strict=True):
        assert torch.equal(got, module(x))


def test_double_division_to_integers() -> None:
    """Quotients that float64 rounds up to integers, such as 1 / 0.1, and those that are integers."""
    counts = torch.randint(-3000, 3000, (200,), generator=torch.Generator().manual_seed(0)).double()
    x = torch.cat([counts / 10, counts * 0.3, counts / 7 + 0.01, torch.tensor([0.0, math.inf])])
    modules = [Function(lambda x, y=y: (x // y, x % y)) for y in (0.1, -0.3, 1 / 7)]
    modules += [Function(lambda x: (x // x.flip(0), 7.5 % x))]
    for module, got in zip(modules, _run_together(modules, [x] * len(modules)), strict=True):
        for mine, theirs in zip(got, module(x), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-14, atol=0, equal_nan=True)


_NAN, _INF = math.nan, math.inf
_SPECIAL = torch.tensor([[_NAN, 1.0, -_INF, 0.0, -0.0], [_INF, -2.5, _NAN, 3.0, -1.0]])

_SPECIALS: dict[str, Callable[..., Tensor]] = {
    "relu": F.relu,
    "clamp": lambda x: x.clamp(-1, 2),
    "hardtanh": F.hardtanh,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "abs": torch.abs,
    "round": torch.round,
    "maximum": lambda x: torch.maximum(x, x.flip(1)),
    "minimum": lambda x: torch.minimum(x, x.flip(1)),
    "pow": lambda x: torch.pow(x, x.flip(1)),
    "amax": lambda x: x.amax(1),
    "max_pool": lambda x: F.max_pool1d(x[None], 2, 1, 1),
    "avg_pool": lambda x: F.avg_pool1d(x[None], 2, 1, 1),
    "softmax": lambda x: torch.where(x.isnan(), -1.0, x.clamp(max=3.0)).softmax(1),
    "eq": lambda x: (x == x).float() + (x < 1).float() * 2 + (x != 1).float() * 4,
    "where": lambda x: torch.where(x > 0, x, -x),
}


@functools.cache
def _special(dtype: torch.dtype) -> dict[str, list[Tensor]]:
    modules = [Function(function) for function in _SPECIALS.values()]
    return dict(
        zip(_SPECIALS, _run_together(modules, [_SPECIAL.to(dtype)] * len(modules)), strict=True)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["f32", "f16"])
@pytest.mark.parametrize("name", _SPECIALS)
def test_nan_and_infinity(name: str, dtype: torch.dtype) -> None:
    """NaN and infinities are where PyTorch has them."""
    _compare(Function(_SPECIALS[name]), _SPECIAL.to(dtype), _special(dtype)[name])


_FUNCTIONS: dict[str, tuple[Callable[[Tensor], Tensor], float, float]] = {
    "exp": (torch.exp, -103.0, 88.5),
    "expm1": (F.elu, -20.0, 0.0),
    "log": (torch.log, 1e-37, 1e3),
    "log_near_one": (torch.log, 0.5, 1.5),
    "tanh": (torch.tanh, -12.0, 12.0),
    "tanh_near_zero": (torch.tanh, -0.01, 0.01),
    "erf": (torch.erf, -5.0, 5.0),
    "sin": (torch.sin, -1e5, 1e5),
    "cos": (torch.cos, -1e7, 1e7),
    "sigmoid": (torch.sigmoid, -20.0, 20.0),
    "silu": (F.silu, -20.0, 20.0),
    "pow": (lambda x: torch.pow(x, 3.25), 1e-3, 1e3),
}


@functools.cache
def _sampled(dtype: torch.dtype) -> dict[str, tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    inputs = [
        torch.empty(20_000, dtype=dtype).uniform_(low, high, generator=generator)
        for _, low, high in _FUNCTIONS.values()
    ]
    results = _run_together([Function(function) for function, _, _ in _FUNCTIONS.values()], inputs)
    return {name: (x, got) for name, x, (got,) in zip(_FUNCTIONS, inputs, results, strict=True)}


@pytest.mark.parametrize(
    ("dtype", "bound"), [(torch.float32, 2e-7), (torch.float64, 2e-13)], ids=["f32", "f64"]
)
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_accuracy(name: str, dtype: torch.dtype, bound: float) -> None:
    """The largest relative error over the function's range."""
    x, got = _sampled(dtype)[name]
    expected = _FUNCTIONS[name][0](x.double())
    normal = expected.abs() > 1e-36
    assert ((got.double() - expected).abs() / expected.abs())[normal].max() < bound


#: Ops with another lowering on the GPU: one kernel each, with computed indices where the CPU has
#: views and insertions.
_MOVES = (
    "conv2d",
    "conv_transpose",
    "cat",
    "stack",
    "pad",
    "slice",
    "split",
    "chunk",
    "roll",
    "max_pool2d",
    "avg_pool2d",
    "matmul",
    "sort_long",
    "scatter_many",
    "byte",
    "embedding_bag",
)
_CUDA_FORMS = [name for name in CASES if name.startswith(_MOVES)]


@functools.cache
def _cuda_forms() -> dict[str, tuple[list[Tensor], list[Tensor]]]:
    built = [build(name) for name in _CUDA_FORMS]
    together = Together(
        [module for module, _ in built], [len(inputs) for _, inputs in built]
    ).eval()
    flat = tuple(x for _, inputs in built for x in inputs)
    to_native = _convoy.compile

    def compile_cuda_forms(
        text: str, name: str, start: str, options: list[tuple[str, str]], keep: object
    ) -> tuple[bytes, str, str]:
        normalized = _convoy.run_phases(text, name, start, "normalize", [("target", "cuda")])
        lowered = _convoy.run_phases(
            normalized, name, "cudnn", "linalg", [("target", "cuda")]
        )  # without groups
        assert 'tcp.target = "cuda"' in lowered
        return to_native(
            lowered.replace('tcp.target = "cuda"', 'tcp.target = "cpu"'),
            name,
            "linalg",
            options,
            keep,
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_convoy, "compile", compile_cuda_forms)
        results = iter(_flat(convoy.compile(together, flat, target="cpu")(*flat)))
    expected = [expected_results(module, inputs) for module, inputs in built]
    got = [[torch.from_dlpack(next(results)) for _ in theirs] for theirs in expected]
    return dict(zip(_CUDA_FORMS, zip(got, expected, strict=True), strict=True))


@pytest.mark.parametrize("name", _CUDA_FORMS)
def test_cuda_form(name: str) -> None:
    """The GPU's lowering of an op, run on the CPU."""
    got, expected = _cuda_forms()[name]
    got = [result.double() if result.is_floating_point() else result for result in got]
    compare_results(got, expected, 5e-3 if "half" in name else 1e-5)
