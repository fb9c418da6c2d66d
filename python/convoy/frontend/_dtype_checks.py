# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The dtypes of values, and a check of an op's operands."""

from __future__ import annotations

import re

from torch_mlir import ir

from convoy import dialects
from convoy.errors import CompileError
from convoy.frontend._types import TensorType, dtype_name, dtype_of
from convoy.frontend._unsupported import Unsupported

__all__ = ["check_dtypes", "type_of"]


_WANTS_FLOAT = re.compile(r"operand #(\d+) must be .* of floating-point values")


def type_of(value: ir.Value) -> TensorType:
    """Shape and dtype of a `tcp` value."""
    tensor = ir.RankedTensorType(value.type)
    return TensorType(tuple(tensor.shape), dtype_of(tensor.element_type))


def check_dtypes(op: ir.Operation) -> None:
    """Raises Unsupported if the verifier rejects `op`. Verifies a copy of the op on placeholder
    operands."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        operands = ir.Operation.create(
            "builtin.unrealized_conversion_cast", results=[each.type for each in op.operands]
        ).results
        copy = op.clone()
    for index, operand in enumerate(operands):
        copy.operands[index] = operand
    try:
        dialects.verify(module)
    except CompileError as error:
        msg = error.diagnostics[0].message
        if match := _WANTS_FLOAT.search(msg):
            got = dtype_name(type_of(op.operands[int(match[1])]).dtype)
            msg = f"expected a floating-point tensor in {op.name}, got {got}"
        raise Unsupported(msg) from None
