"""Functions of 16-bit floats on a GPU, for every finite number: generated kernels compute them with
approximate instructions in float32, whose errors must vanish in the rounding.

Cases are stored and read like those of test_kernels: `python test/gpu/test_narrow_functions.py
FOLDER` writes them, CONVOY_NARROW_CASES names the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

#: The relative error of a rounded result, with some room for that of the function, and the absolute
#: error where a result is subnormal, or exp(-x) overflows.
LIMITS = {"float16": (1.1 * 2.0**-11, 2.0**-24), "bfloat16": (1.1 * 2.0**-8, 2.0**-120)}
#: 1 + erf(x) and 1 + tanh(x) cancel for negative x, as in PyTorch.
CANCELLATION = {"gelu": 2.0**-20, "gelu_tanh": 2.0**-20}
FUNCTIONS = (
    "sigmoid", "silu", "tanh", "elu", "gelu", "gelu_tanh", "exp", "expm1", "reciprocal", "quotient",
)  # fmt: skip


def write(name: str, dtype: str, folder: Path) -> None:
    """Compiles a function and stores all finite numbers, and its results in float64."""
    convoy = test_kernels.compiler()
    import torch

    functions = {
        "sigmoid": torch.sigmoid,
        "silu": torch.nn.functional.silu,
        "tanh": torch.tanh,
        "elu": torch.nn.functional.elu,
        "gelu": torch.nn.functional.gelu,
        "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        "exp": torch.exp,
        "expm1": torch.expm1,
        "reciprocal": torch.reciprocal,
        "quotient": lambda x: x / x.flip(0),
    }

    class Function(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return functions[name](x)

    numbers = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16)
    x = numbers.view(getattr(torch, dtype))
    x = x[torch.isfinite(x)]
    model = convoy.compile(Function().eval(), (x,), target="cuda")
    model.save(folder / f"{name}.{dtype}.convoy")
    np.savez(
        folder / f"{name}.{dtype}.npz",
        bits=x.view(torch.int16).numpy().view(np.uint16),
        expected=Function()(x.double()),
    )


folder = test_kernels.folder_of("CONVOY_NARROW_CASES")


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_finite_number(name: str, dtype: str, folder: Path) -> None:
    import convoy_runtime

    if not (folder / f"{name}.{dtype}.convoy").exists():
        write(name, dtype, folder)
    stored = np.load(folder / f"{name}.{dtype}.npz")
    bits, expected = stored["bits"], stored["expected"]
    given = bits if dtype == "bfloat16" else bits.view(np.float16)
    x = test_kernels.widened(given, dtype).astype(np.float64)
    with convoy_runtime.load(folder / f"{name}.{dtype}.convoy", plan_cache=False) as program:
        (got,) = program.run_numpy(given)
    got = test_kernels.widened(got, dtype).astype(np.float64)
    relative, smallest = LIMITS[dtype]
    largest = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127")}[dtype]
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    # Near the largest number the rounding decides between it and infinity.
    inside = np.abs(expected) < largest * (1 - 2 * relative)
    beyond = np.abs(expected) > largest * (1 + 2 * relative)
    np.testing.assert_array_equal(got[beyond], np.copysign(np.inf, expected[beyond]))
    x, got, expected = x[inside], got[inside], expected[inside]
    errors = np.abs(got - expected) - relative * np.abs(expected)
    errors -= CANCELLATION.get(name, 0.0) * np.abs(x)
    worst = np.argmax(errors)
    assert errors[worst] <= smallest, f"{name}({x[worst]}) is {expected[worst]}, got {got[worst]}"


if __name__ == "__main__":
    test_kernels.write_all(
        Path(sys.argv[1]), [(name, dtype) for name in FUNCTIONS for dtype in LIMITS], write
    )
