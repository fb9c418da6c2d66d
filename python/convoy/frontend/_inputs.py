# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks a module and its inputs before torch.export, whose errors for these cases are missing or
unclear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.nn.parameter import is_lazy

from convoy.errors import InputError
from convoy.frontend._objects import register_objects
from convoy.frontend._real_view import complex_input
from convoy.frontend._types import unsupported_dtype
from convoy.output_names import leaves_with_paths

__all__ = ["check_exported", "check_module", "has_symbols", "with_distinct_tensors"]

#: Packages of modules with quantized weights.
_QUANTIZED = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized")


def check_module(module: Any, inputs: Any, kwargs: Mapping[str, Any] | None = None) -> None:
    """Raises InputError unless `module` is a module in evaluation mode, and inputs and weights are
    dense tensors, or among the inputs numbers, strings, bools and None. Registers the classes of
    objects among the inputs."""
    if not isinstance(module, torch.nn.Module):
        msg = f"expected a torch.nn.Module, got {type(module).__name__}"
        raise InputError(msg)
    if not isinstance(inputs, tuple):
        msg = f"expected the example inputs as a tuple, got {type(inputs).__name__}"
        raise InputError(msg)
    for name, each in module.named_modules():
        if isinstance(each, torch.jit.ScriptModule):
            place = f"module '{name}': " if name else ""
            msg = (
                f"{place}expected a module of Python code, got one of TorchScript; compile the "
                "module that it was made from"
            )
            raise InputError(msg)
    if module.training:
        msg = (
            "expected a module in evaluation mode, got one in training mode; call "
            "module.eval() first"
        )
        raise InputError(msg)
    for name, each in module.named_modules():
        if type(each).__module__.startswith(_QUANTIZED):
            msg = (
                f"module '{name}': expected a module of dense tensors, got {type(each).__name__} "
                f"of {type(each).__module__}, whose weights are quantized; compile the model "
                "before its conversion, or one that PT2E quantization converts"
            )
            raise InputError(msg)
    register_objects((inputs, dict(kwargs or {})))
    for given in (inputs, dict(kwargs or {})):
        for path, value in leaves_with_paths(given):
            if problem := _input_problem(value):
                msg = f"input {pytree.keystr(path)}: {problem}"
                raise InputError(msg)
    _check_weights([*module.named_parameters(), *module.named_buffers()])


def with_distinct_tensors(module: torch.nn.Module, given: Any) -> Any:
    """Replaces the tensors that occur among the inputs before, or are parameters or buffers of the
    module, by tensors of the same values: torch.export tells tensors apart by their identity.

    Args:
        module: The module.
        given: The example inputs.

    Returns:
        The inputs, in which each tensor occurs once.
    """
    known = {id(each) for named in (module.parameters(), module.buffers()) for each in named}

    def distinct(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in known:
            known.add(id(tensor))
            return tensor
        return tensor.detach().requires_grad_(tensor.requires_grad)

    tensors = [each for each in pytree.tree_leaves(given) if isinstance(each, torch.Tensor)]
    if len({id(each) for each in tensors} | known) == len(tensors) + len(known):
        return given
    return pytree.tree_map_only(torch.Tensor, distinct, given)


def has_symbols(program: torch.export.ExportedProgram) -> bool:
    """Whether a size of an input is symbolic."""
    return any(
        isinstance(size, torch.SymInt)
        for node in program.graph.nodes
        if node.op == "placeholder" and isinstance(value := node.meta.get("val"), torch.Tensor)
        for size in value.shape
    )


def check_exported(program: torch.export.ExportedProgram) -> None:
    """Raises InputError unless the sizes of an exported program are numbers, and its weights are
    dense tensors."""
    for node in program.graph.nodes:
        value = node.meta.get("val")
        sizes = value.shape if isinstance(value, torch.Tensor) else ()
        if node.op == "placeholder" and any(not isinstance(size, int) for size in sizes):
            shape = ", ".join(map(str, sizes))
            msg = (
                f"input '{node.name}': expected a shape of numbers, got [{shape}]; export the "
                "module without dynamic_shapes"
            )
            raise InputError(msg)
    _check_weights([(n, t) for n, t in program.state_dict.items() if isinstance(t, torch.Tensor)])


def _check_weights(named: list[tuple[str, torch.Tensor]]) -> None:
    for name, tensor in named:
        if is_lazy(tensor):
            problem = "expected data, got an uninitialized one; run the module once"
        elif tensor.is_meta:
            problem = "expected data, got a tensor on the meta device"
        else:
            problem = _problem(tensor)
        if problem:
            msg = f"weight '{name}': {problem}"
            raise InputError(msg)


def _input_problem(value: Any) -> str:
    """The problem with an input, or an empty string."""
    if isinstance(value, torch.Tensor):
        return complex_input(value.dtype) or _problem(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return ""
    return f"expected a tensor, a number, a string, a bool or None, got {type(value).__name__!r}"


def _problem(tensor: torch.Tensor) -> str:
    """The problem with a tensor, or an empty string."""
    if tensor.is_nested:
        return "expected a dense tensor, got a nested one; pad it: torch.nested.to_padded_tensor"
    if tensor.is_quantized:
        return "expected a dense tensor, got a quantized one; call dequantize()"
    if tensor.layout is not torch.strided:
        return f"expected a dense tensor, got one of layout {tensor.layout}; call to_dense()"
    # A complex weight becomes a real one.
    return unsupported_dtype(tensor.dtype.to_real())
