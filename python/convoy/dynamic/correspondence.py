# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which values of the modules of a model for several sizes are the same value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir

from convoy.dynamic.emit_symbolic import Shapes, dynamic_type, shape_of
from convoy.errors import SymbolicSizesError

__all__ = ["Correspondence"]


class Correspondence:
    """The values of a function for several samples of its symbols.

    Args:
        samples: The value of each symbol in each sample.

    Attributes:
        samples: The samples.
        shapes: The shapes of the first function's values in all samples.
    """

    def __init__(self, samples: Sequence[Mapping[str, int]]) -> None:
        self.samples = samples
        self.shapes: dict[ir.Value, Shapes] = {}
        # Equal values of all functions have one number. A value has several if an op that returns
        # it is omitted; those of the first function have one.
        self._numbers: dict[ir.Value, set[int]] = {}
        self._values: list[dict[int, ir.Value]] = [{} for _ in samples]

    def add(self, values: Sequence[ir.Value]) -> None:
        """Adds a value, and makes those dims of the first function's `?` that differ.

        Args:
            values: The value in each function.

        Raises:
            SymbolicSizesError: They differ in more than sizes.
        """
        kinds = [ir.RankedTensorType(value.type) for value in values]
        if len({(kind.rank, str(kind.element_type)) for kind in kinds}) > 1:
            message = f"has another rank or element type: {self.differing(kinds)}"
            raise SymbolicSizesError(message)
        number = len(self._values[0])
        for value, known in zip(values, self._values, strict=True):
            self._numbers.setdefault(value, set()).add(number)
            known[number] = value
        shapes = [shape_of(value) for value in values]
        self.shapes[values[0]] = shapes
        values[0].set_type(dynamic_type(shapes, kinds[0].element_type))

    def replace(self, value: ir.Value, made: ir.Value) -> None:
        """Replaces a value of the first function by another one in all ops that read it now."""
        self._numbers[made], self.shapes[made] = self._numbers[value], self.shapes[value]
        value.replace_all_uses_with(made)

    def is_same(self, value: ir.Value, other: ir.Value) -> bool:
        """Whether a value of the first function is the same as one of another function."""
        return self._numbers[value] <= self._numbers[other]

    def of(self, value: ir.Value, sample: int) -> ir.Value:
        """The value of another function that is the same as one of the first function."""
        (number,) = self._numbers[value]
        return self._values[sample][number]

    def differing(self, values: Sequence[Any]) -> str:
        """Describes two different values with their samples: `8 for batch=2 and 16 for batch=4`.

        Args:
            values: The value of each sample, not all equal.

        Returns:
            The text.
        """
        texts = [str(value) for value in values]
        other = next(index for index, text in enumerate(texts) if text != texts[0])
        return " and ".join(f"{texts[index]} for {self.sample(index)}" for index in (0, other))

    def sample(self, index: int) -> str:
        """The text of a sample: `batch=2 length=8`."""
        return " ".join(f"{name}={value}" for name, value in self.samples[index].items())
