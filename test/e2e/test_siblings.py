"""Kernels of several ops (`plan-group-siblings`) on the CPU, compared with PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from on_host import on_host
from op_cases import Function
from torch import Tensor, nn

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module


def _frequencies(x: Tensor) -> Tensor:
    """A positional encoding: each part is a slice of the result."""
    parts = [x]
    for octave in range(4):
        parts += [torch.sin(2.0**octave * x), torch.cos(2.0**octave * x)]
    return torch.cat(parts, -1)


def _sizes(x: Tensor) -> tuple[Tensor, ...]:
    """Results of several sizes, of whole blocks and less. The last one depends on the first one."""
    y = x[:, :1].exp()
    return y, x.repeat(1, 30).tanh(), torch.sigmoid(x[:3]), y.flip(0) * 3


class _Tables(nn.Module):
    """Rows of several tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(11, 16) for _ in range(5))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        indices = (x.abs() * 3).to(torch.int64).clamp(0, 10)
        return tuple(table(indices[:, i]) for i, table in enumerate(self.tables))


#: The number of launches in float32, and with casts around in 16 bits.
_MODULES = {
    "frequencies": (Function(_frequencies), 1, 4),
    "sizes": (Function(_sizes), 2, 3),
    "tables": (_Tables(), 2, 2),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", _MODULES)
def test_results(name: str, dtype: str, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    module, single, half = _MODULES[name]
    x = torch.randn(37, 12)
    imported = import_module(module.eval().float(), (x,))
    model = compile_imported(imported, convoy.CompileOptions(target="cuda", dtype=dtype))
    assert len(model.manifest.steps) == (single if dtype == "float32" else half)
    assert any("siblings" in kernel.name for kernel in model.manifest.kernels)
    results = on_host(imported, model, convoy_opt).load()(x)
    expected = module.double()(x.double())
    tolerance = {"float32": 1e-5, "float16": 2e-2, "bfloat16": 2e-1}[dtype]
    if isinstance(results, Tensor):
        results, expected = (results,), (expected,)
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result.double(), wanted, rtol=tolerance, atol=tolerance)
