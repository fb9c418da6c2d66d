"""Helpers of the frontend's tests: import a model, run the `tcp` text with the reference
interpreter, compare with PyTorch."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from precise_results import expected_results
from tcp_reference import run_text
from torch import Tensor
from torch_mlir import ir

from convoy.frontend import ImportedModule, import_module

__all__ = ["check", "compare_results", "describe", "expected_results", "ops"]

torch.set_num_threads(1)  # The tensors are tiny: more threads only wait for each other.

_OP = re.compile(r'"tcp\.(\w+)"\([^)]*\)( \{[^}]*\})?')


def ops(text: str) -> list[str]:
    """Every `tcp` op of generic-form text with its attributes:
    `clamp {min_float = 0.000000e+00 : f32}`."""
    return [name + attributes for name, attributes in _OP.findall(text)]


def describe(op: ir.Operation) -> str:
    """An op of `tcp` in the form of `ops`; an op of the torch dialect as its name without
    `torch.`."""
    if op.name == "torch.operator":
        return op.attributes["name"].value.removeprefix("torch.")
    if op.name.startswith("torch."):
        return op.name.removeprefix("torch.")
    attributes = [op.attributes[index] for index in range(len(op.attributes))]
    text = ", ".join(
        f"{item.name} = {item.attr}" if str(item.attr) != "unit" else item.name
        for item in attributes
    )
    return op.name.removeprefix("tcp.") + (f" {{{text}}}" if text else "")


def check(module: torch.nn.Module, *inputs: Tensor, tolerance: float = 1e-6) -> ImportedModule:
    """Imports `module`, runs the text with the reference interpreter, and compares with PyTorch in
    float64 as `compare_results` does."""
    imported = import_module(module.eval(), inputs)
    compare_results(
        run_text(imported.text, inputs, imported.weights),
        expected_results(module, inputs),
        tolerance,
    )
    return imported


def compare_results(got: Sequence[Tensor], expected: Sequence[Tensor], tolerance: float) -> None:
    """Compares shapes, and the largest difference relative to the largest value (at least 1);
    integers and bools must be equal."""
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.shape == theirs.shape
        if not theirs.dtype.is_floating_point:
            assert torch.equal(mine, theirs)
            continue
        finite = theirs[theirs.isfinite()]
        scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
        torch.testing.assert_close(
            mine, theirs.double(), rtol=0, atol=tolerance * scale, equal_nan=True
        )
