# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Creation of tensors: a fill value becomes a splat constant, indices from zero are computed, and
another sequence becomes a constant weight."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, wrapped_number
from convoy.frontend._registry import Call, converts

__all__: list[str] = []


@converts("aten.full", "aten.full_like", "aten.new_full", "aten.fill.Scalar", "aten.scalar_tensor")
def full(b: Builder, call: Call) -> ir.Value:
    """The number follows the shape or the tensor, except for scalar_tensor. PyTorch converts an
    out-of-range float to infinity if there is one element, and rejects it otherwise."""
    number = (
        call.args[0]
        if call.name == "aten.scalar_tensor"
        else call.args[2 if call.name == "aten.new_full" else 1]
    )
    if math.prod(call.result.shape) == 1 and call.result.dtype.is_floating_point:
        number = wrapped_number(number, call.result.dtype)
    return b.full(number, call.result)


@converts("prim.NumToTensor.Scalar")
def number_to_tensor(b: Builder, call: Call) -> ir.Value:
    return b.full(call.args[0], call.result)


@converts(
    "aten.zeros",
    "aten.zeros_like",
    "aten.new_zeros",
    "aten.ones",
    "aten.ones_like",
    "aten.new_ones",
)
def zeros_ones(b: Builder, call: Call) -> ir.Value:
    return b.full(0 if "zeros" in call.name else 1, call.result)


@converts("aten.arange", "aten.arange.start", "aten.arange.start_step")
def arange(b: Builder, call: Call) -> ir.Value:
    count = 1 if call.name == "aten.arange" else 2 if call.name == "aten.arange.start" else 3
    bounds = call.args[:count]
    if count == 1 and not call.result.dtype.is_floating_point and call.result.shape[0] == bounds[0]:
        return b.emit(tcp.IotaOp, call.result, dim=0)
    name = "arange_" + "_".join(str(bound) for bound in bounds)
    return b.weight(name, torch.arange(*bounds, dtype=call.result.dtype))
