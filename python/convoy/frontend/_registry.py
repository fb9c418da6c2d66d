"""The table of converters, keyed by Torch's op names as torch-mlir writes them (`aten.add.Tensor`,
`aten.relu`).

The table has a second use: whatever stands in it is not decomposed before import, so that one Torch
op stays one op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from convoy.frontend._builder import Builder
from convoy.frontend._types import TensorType

__all__ = ["CONVERTERS", "Call", "Converter", "Missing", "converts"]


@dataclass(frozen=True)
class Missing:
    """Stands for a result that a converter does not make; using it is an error with this reason."""

    reason: str


@dataclass(frozen=True)
class Call:
    """One Torch op: its name, its arguments in the order of its schema (a `tcp` value for a tensor,
    a plain Python value for the rest, all defaults filled in), and the types of its tensor results
    as Torch states them."""

    name: str
    args: tuple[Any, ...]
    results: tuple[TensorType, ...]

    @property
    def result(self) -> TensorType:
        return self.results[0]


Converter = Callable[[Builder, Call], "ir.Value | Sequence[ir.Value | Missing]"]

CONVERTERS: dict[str, Converter] = {}


def converts(*names: str) -> Callable[[Converter], Converter]:
    """Registers a converter for the Torch ops `names`. It returns the op's result, or a sequence of
    results (a Torch list is one such sequence)."""

    def register(function: Converter) -> Converter:
        for name in names:
            if name in CONVERTERS:
                msg = f"{name} has two converters"
                raise ValueError(msg)
            CONVERTERS[name] = function
        return function

    return register
