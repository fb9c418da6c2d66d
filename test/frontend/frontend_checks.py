"""Helpers of the frontend's tests: import a model, run the `tcp` text by the reference, compare with PyTorch."""

from __future__ import annotations

import copy
import re

import torch
from tcp_reference import run_text

from convoy.frontend import ImportedModule, import_module

__all__ = ["check", "compare", "ops", "torch_ops"]

torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other


_OP = re.compile(r'"tcp\.(\w+)"\([^)]*\)( \{[^}]*\})?')


def ops(text: str) -> list[str]:
    """Every `tcp` op of generic text with its attributes: `clamp {min_float = 0.000000e+00 : f32}`."""
    return [name + attributes for name, attributes in _OP.findall(text)]


def torch_ops(text: str) -> list[str]:
    """The names of the ops of a torch-dialect module, less constants and lists."""
    names = re.findall(r"= torch\.(?:operator \"torch\.)?((?:aten|prim)\.\w+(?:\.\w+)?)", text)
    return [name for name in names if not name.startswith(("prim.List", "prim.Tuple"))]


def check(module: torch.nn.Module, *inputs: torch.Tensor, tolerance: float = 1e-6) -> ImportedModule:
    """Imports `module` and compares as `compare` does."""
    imported = import_module(module.eval(), inputs)
    compare(imported, module, inputs, tolerance)
    return imported


def compare(imported: ImportedModule, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], tolerance: float = 1e-6) -> None:
    """Runs the `tcp` text by the reference and compares with PyTorch in float64: largest difference relative to the largest value (at
    least 1)."""
    got = run_text(imported.text, inputs, imported.weights)
    wide = [value.double() if value.dtype.is_floating_point else value for value in inputs]
    with torch.no_grad():
        expected = copy.deepcopy(module).double()(*wide)
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.shape == theirs.shape
        if not theirs.dtype.is_floating_point:
            assert torch.equal(mine, theirs)
            continue
        scale = max(1.0, float(theirs.abs().nan_to_num(posinf=0).max())) if theirs.numel() else 1.0
        torch.testing.assert_close(mine, theirs.double(), rtol=0, atol=tolerance * scale, equal_nan=True)
