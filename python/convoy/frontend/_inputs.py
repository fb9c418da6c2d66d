# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks a module and its inputs before torch.export, whose errors for these cases are missing or
unclear."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._pytree as pytree

from convoy.errors import InputError
from convoy.frontend._types import unsupported_dtype

__all__ = ["check_module"]


def check_module(module: Any, inputs: Any) -> None:
    """Raises InputError unless `module` is a module in evaluation mode, and inputs and weights are
    dense tensors."""
    if not isinstance(module, torch.nn.Module):
        msg = f"expected a torch.nn.Module, got {type(module).__name__}"
        raise InputError(msg)
    if not isinstance(inputs, tuple):
        msg = f"expected the example inputs as a tuple, got {type(inputs).__name__}"
        raise InputError(msg)
    if module.training:
        msg = (
            "expected a module in evaluation mode, got one in training mode; call "
            "module.eval() first"
        )
        raise InputError(msg)
    for path, value in pytree.tree_flatten_with_path(inputs)[0]:
        problem = _problem(value) if isinstance(value, torch.Tensor) else _not_a_tensor(value)
        if problem:
            msg = f"input {pytree.keystr(path)}: {problem}"
            raise InputError(msg)
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        problem = (
            "expected data, got a tensor on the meta device" if tensor.is_meta else _problem(tensor)
        )
        if problem:
            msg = f"weight '{name}': {problem}"
            raise InputError(msg)


def _not_a_tensor(value: Any) -> str:
    kind = value if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__
    return (
        f"expected a tensor, got {kind!r}; to compile it in, make it an attribute of the module "
        "that forward reads"
    )


def _problem(tensor: torch.Tensor) -> str:
    """The problem with a tensor, or an empty string."""
    if tensor.is_nested:
        return "expected a dense tensor, got a nested one; pad it: torch.nested.to_padded_tensor"
    if tensor.is_quantized:
        return "expected a dense tensor, got a quantized one; call dequantize()"
    if tensor.layout is not torch.strided:
        return f"expected a dense tensor, got one of layout {tensor.layout}; call to_dense()"
    return unsupported_dtype(tensor.dtype)
