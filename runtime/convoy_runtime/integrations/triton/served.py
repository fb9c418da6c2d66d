# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An artifact's inputs, outputs and batches in Triton's terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import parse_size
from convoy_runtime.errors import ArgumentError
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.value_types import value_type

__all__ = ["DATA_TYPES", "Sample", "ServedModel", "ServedTensor", "served_model"]

#: torch's names of element types to those of Triton.
DATA_TYPES = {
    "float64": "TYPE_FP64",
    "float32": "TYPE_FP32",
    "float16": "TYPE_FP16",
    "bfloat16": "TYPE_BF16",
    "int64": "TYPE_INT64",
    "int32": "TYPE_INT32",
    "int16": "TYPE_INT16",
    "int8": "TYPE_INT8",
    "uint8": "TYPE_UINT8",
    "bool": "TYPE_BOOL",
}


@value_type(frozen=True, slots=True)
class ServedTensor:
    """An input or output.

    Attributes:
        name: The name in the manifest.
        dtype: torch's name of the element type.
        dims: The sizes without the batch dim; -1 if dynamic. A tensor without such dims has one of
            size 1, because Triton has no scalars.
        is_scalar: Whether that dim is not in the artifact.
    """

    name: str
    dtype: str
    dims: tuple[int, ...]
    is_scalar: bool


@value_type(frozen=True, slots=True)
class Sample:
    """The sizes of one call of a warm-up.

    Attributes:
        name: The value of each symbol, e.g. `batch=4`.
        batch: The number of rows; 1 without batches.
        dims: The dims of each input, in the form of `ServedTensor.dims`.
    """

    name: str
    batch: int
    dims: tuple[tuple[int, ...], ...]


@value_type(frozen=True, slots=True)
class ServedModel:
    """What Triton has to know of an artifact.

    Attributes:
        inputs: The inputs.
        outputs: The outputs.
        batch: The symbol that Triton's batch is; empty if Triton forms no batches.
        unbatched: Why Triton forms no batches; empty if it does.
        points: The rows of the points, in ascending order; empty without batches.
        samples: One sample for each point, or one if all sizes are static.
    """

    inputs: tuple[ServedTensor, ...]
    outputs: tuple[ServedTensor, ...]
    batch: str
    unbatched: str
    points: tuple[int, ...]
    samples: tuple[Sample, ...]

    @property
    def max_batch_size(self) -> int:
        """The most rows of a batch; 0 if Triton forms none."""
        return self.points[-1] if self.points else 0


def served_model(
    inputs: Sequence[TensorSpec | DynamicTensor],
    outputs: Sequence[TensorSpec | DynamicTensor],
    symbols: Sequence[Symbol] = (),
    points: Iterable[Mapping[str, int]] = (),
) -> ServedModel:
    """Describes an artifact.

    Args:
        inputs: The inputs of the artifact.
        outputs: The outputs of the artifact.
        symbols: The symbols of its sizes; none if they are static.
        points: The value of each symbol at each point.

    Returns:
        The description.

    Raises:
        ArgumentError: Triton cannot serve the artifact: it has no inputs or no outputs, or a tensor
            without elements.
    """
    for what, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ArgumentError(
                argument=what,
                problem="Triton cannot serve the artifact",
                expected=f"at least one of the {what}",
                got="none",
            )
    listed = [dict(point) for point in points]
    batch, unbatched = _batch_symbol((*inputs, *outputs), symbols)
    rows = sorted({point[batch] for point in listed}) if batch else []
    return ServedModel(
        tuple(_tensor("input", tensor, batch) for tensor in inputs),
        tuple(_tensor("output", tensor, batch) for tensor in outputs),
        batch,
        unbatched,
        tuple(rows),
        tuple(_sample(inputs, point, batch) for point in listed or [{}]),
    )


def _batch_symbol(
    tensors: Sequence[TensorSpec | DynamicTensor], symbols: Sequence[Symbol]
) -> tuple[str, str]:
    """The symbol whose rows Triton may collect from several requests, and otherwise the reason why
    there is none.

    Triton joins requests of any number of rows from 1 on along dim 0, and expects the rows of the
    results in the same order."""
    first = {sizes[0] if (sizes := _sizes(tensor)) else "" for tensor in tensors}
    symbol = next((each for each in symbols if first == {each.name}), None)
    if symbol is None:
        return "", "no symbol is dim 0 of all inputs and outputs"
    if any(symbol.name == _symbol_of(size) for each in tensors for size in _sizes(each)[1:]):
        return "", f"{symbol.name} is also the size of another dim than 0"
    if symbol.unpadded:
        return "", f"rows of {symbol.name} may depend on each other: {symbol.unpadded}"
    if symbol.minimum > 1 or symbol.multiple_of > 1:
        return "", f"a request may have one row, and {symbol} does not allow it"
    return symbol.name, ""


def _tensor(what: str, tensor: TensorSpec | DynamicTensor, batch: str) -> ServedTensor:
    sizes = _sizes(tensor)[1 if batch else 0 :]
    dims = tuple(int(size) if size.isdecimal() else -1 for size in sizes)
    if not prod(dims):
        raise ArgumentError(
            argument=f"{what} {tensor.name!r}",
            problem="Triton has no tensors without elements",
            expected="dims of at least 1",
            got=str(list(dims)),
        )
    return ServedTensor(tensor.name, tensor.dtype, dims or (1,), not dims)


def _sample(
    inputs: Sequence[TensorSpec | DynamicTensor], point: Mapping[str, int], batch: str
) -> Sample:
    shapes = []
    for tensor in inputs:
        found = [parse_size(text) for text in _sizes(tensor)[1 if batch else 0 :]]
        # The sizes of inputs were parsed when the manifest was read.
        shapes.append(tuple(size.at(point) for size in found if size is not None) or (1,))
    name = ", ".join(f"{symbol}={value}" for symbol, value in point.items())
    return Sample(name or "static sizes", point[batch] if batch else 1, tuple(shapes))


def _sizes(tensor: TensorSpec | DynamicTensor) -> tuple[str, ...]:
    """The text of each size."""
    return tensor.sizes if isinstance(tensor, DynamicTensor) else tuple(map(str, tensor.shape))


def _symbol_of(text: str) -> str:
    size = parse_size(text)
    return "" if size is None else size.symbol
