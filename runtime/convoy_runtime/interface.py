# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The inputs and outputs of one call. A call with dynamic sizes may have fewer rows than its
program: the rest of the program's inputs is zeros, and the rest of its outputs is dropped."""

from __future__ import annotations

from math import prod

from .dtypes import DTYPES
from .manifest import TensorSpec
from .strides import strides_of
from .value_types import value_type

__all__ = ["Interface", "Window", "resized", "whole_interface", "window_of"]


@value_type(frozen=True, slots=True)
class Window:
    """The part of a program's tensor that an array of a call fills, in bytes.

    Attributes:
        rows: The number of contiguous pieces.
        width: The size of each piece, which are adjacent in the array.
        pitch: The distance of the pieces in the program's tensor.
    """

    rows: int
    width: int
    pitch: int


@value_type(frozen=True, slots=True)
class Interface:
    """The specs of the arrays of a call.

    Attributes:
        inputs: The inputs that are given.
        outputs: The outputs that are returned.
        windows: The window of each input and of each output.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    windows: tuple[tuple[Window, ...], tuple[Window, ...]]


def whole_interface(inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...]) -> Interface:
    """The interface of a call with arrays of the program's sizes."""
    whole_inputs, whole_outputs = (
        tuple(window_of(spec, spec) for spec in specs) for specs in (inputs, outputs)
    )
    return Interface(inputs, outputs, (whole_inputs, whole_outputs))


def resized(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    """The spec of a tensor of another shape whose dims have the same order in memory."""
    order = spec.order
    strides = () if order is None else strides_of(shape, order)
    return TensorSpec(spec.name, shape, spec.dtype, strides)


def window_of(spec: TensorSpec, given: TensorSpec) -> Window:
    """The window of a program's tensor for an array that is smaller in at most one dim."""
    order = spec.order or tuple(range(len(spec.shape)))
    dim = next((dim for dim in order if spec.shape[dim] != given.shape[dim]), None)
    if dim is None:
        return Window(1, spec.bytes, spec.bytes)
    place = order.index(dim)
    rows = prod(spec.shape[each] for each in order[:place])
    inner = prod(spec.shape[each] for each in order[place + 1 :]) * DTYPES[spec.dtype].bytes
    return Window(rows, given.shape[dim] * inner, spec.shape[dim] * inner)
