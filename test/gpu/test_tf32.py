# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Without TF32, float32 on a GPU is as precise as on the CPU, whether the model is compiled or loaded
that way.

Cases are stored and read as those of test_kernels: `python test/gpu/test_tf32.py FOLDER` writes
them, CONVOY_TF32_CASES names the folder.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

#: Relative to the largest number. TF32 differs by 3e-4.
_LIMIT = 1e-5
#: Batch, rows, depth and columns. The engine that cuDNN takes depends on the alignment of rows.
_PRODUCTS = {
    "product_64": (1, 64, 64, 64),
    "product_odd": (3, 33, 55, 77),
    "product_deep": (2, 64, 320, 77),
    "product_wide": (1, 256, 320, 128),
    "product_row": (1, 1, 512, 256),
}
CASES = (*_PRODUCTS, "linear", "conv", "conv_large", "stem", "attention", "attention_160")


def build(name: str) -> tuple[Any, tuple[Any, ...]]:
    """The module of a case and inputs whose digits TF32 would round."""
    import torch
    from torch import nn
    from torch.nn.functional import scaled_dot_product_attention

    class Product(nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return torch.bmm(x, w)

    class Attention(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return scaled_dot_product_attention(q, k, v)

    torch.manual_seed(0)
    if name in _PRODUCTS:
        batch, rows, depth, columns = _PRODUCTS[name]
        inputs = (torch.randn(batch, rows, depth), torch.randn(batch, depth, columns))
        return Product().eval(), inputs
    if name.startswith("attention"):
        depth = 160 if name.endswith("160") else 64
        rows = (2, 4, 50, depth), (2, 4, 70, depth), (2, 4, 70, depth)
        return Attention().eval(), tuple(torch.randn(shape) for shape in rows)
    if name == "linear":
        return nn.Sequential(nn.Linear(96, 200), nn.GELU()).eval(), (torch.randn(40, 96),)
    if name == "stem":
        layers = nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        return nn.Sequential(*layers).eval(), (torch.randn(1, 3, 64, 64),)
    size = 56 if name == "conv_large" else 10
    module = nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU())
    return module.eval(), (torch.randn(8, 64, size, size),)


def write(name: str, folder: Path) -> None:
    """Compiles a case with TF32, as NAME.float32.convoy, and without it, as NAME_strict."""
    convoy = test_kernels.compiler()
    for suffix, compiled_by in (
        ("", convoy.compile),
        ("_strict", partial(convoy.compile, allow_tf32=False)),
    ):
        test_kernels.write(
            name + suffix,
            "float32",
            folder,
            None,
            of=lambda _: build(name),
            compiled_by=compiled_by,
        )


folder = test_kernels.folder_of("CONVOY_TF32_CASES")


def _error(folder: Path, name: str, **options: Any) -> float:
    import convoy_runtime

    if not (folder / f"{name}.float32.convoy").exists():
        write(name.removesuffix("_strict"), folder)
    stored = np.load(folder / f"{name}.npz")
    inputs = [stored[key] for key in stored.files if key.startswith("input")]
    expected = stored["expected0"]
    with convoy_runtime.load(
        folder / f"{name}.float32.convoy", plan_cache=False, poison=True, **options
    ) as program:
        (result,) = program.run_numpy(*inputs)
    return float(np.abs(result - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_compiled_without_tf32(name: str, folder: Path) -> None:
    assert _error(folder, f"{name}_strict") <= _LIMIT


@pytest.mark.parametrize("name", CASES)
def test_loaded_without_tf32(name: str, folder: Path) -> None:
    """A load that finds no engine without TF32 says so."""
    import convoy_runtime

    strict = convoy_runtime.PlanOptions(allow_tf32=False)
    error, refusal = 0.0, "allow_tf32=False"
    try:
        error = _error(folder, name, options=strict)
    except convoy_runtime.PlanError as found:
        refusal = str(found)
    assert "allow_tf32=False" in refusal
    assert error <= _LIMIT


@pytest.mark.parametrize("name", CASES)
def test_tf32_is_close(name: str, folder: Path) -> None:
    assert _error(folder, name) <= 2e-3


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for each in CASES:
        write(each, target)
