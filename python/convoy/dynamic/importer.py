# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports a model with dynamic sizes with numbers as sizes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from convoy.dynamic.constants import with_own_constants
from convoy.dynamic.divisors import with_divisors
from convoy.dynamic.shapes import (
    DynamicInterface,
    dynamic_interface,
    interface_of,
    resize_inputs,
)
from convoy.errors import InputError
from convoy.frontend import ImportedModule, check_module, import_module

__all__ = ["Importer", "importer_of"]


@dataclass(frozen=True)
class Importer:
    """A model with dynamic sizes.

    Attributes:
        interface: Its inputs and sizes.
        module: The module.
        inputs: Its example inputs.
        kwargs: Its example keyword arguments.
    """

    interface: DynamicInterface
    module: torch.nn.Module
    inputs: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    _constants: dict[str, torch.Tensor] = field(default_factory=dict, repr=False)

    def at(self, values: Mapping[str, int], *, merges: bool = True) -> ImportedModule:
        """Imports the model for the value of each symbol. Constants of equal content have the same
        name for all values, and those of one value become one if it `merges` them. Raises
        FrontendError."""
        inputs, kwargs = resize_inputs(self.interface, self.inputs, self.kwargs, values)
        imported = import_module(self.module, inputs, kwargs, merges=merges)
        return with_own_constants(imported, self._constants)

    def for_another_thread(self) -> Importer:
        """An importer with a copy of the module that has the same tensors. torch.export replaces
        the tensors of a module while it runs, which another thread must not see. Raises InputError
        if the module cannot be copied."""
        tensors = (*self.module.parameters(), *self.module.buffers())
        try:
            copied = copy.deepcopy(self.module, {id(tensor): tensor for tensor in tensors})
        except (TypeError, RuntimeError) as error:
            message = (
                f"expected a module that copy.deepcopy copies, to compile undeclared sizes: {error}"
            )
            raise InputError(message) from error
        return replace(self, module=copied)


def importer_of(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
) -> Importer:
    """Exports a model with symbolic sizes, which checks that it works for all of their values.

    Args:
        module: The module, or an exported program with symbolic sizes.
        inputs: The example inputs of a module.
        kwargs: The example keyword arguments of a module.
        dynamic_shapes: For a module, as of `torch.export.export`.

    Returns:
        The importer.

    Raises:
        FrontendError: The model cannot be exported.
        InputError: No size is dynamic, or an exported program has no example inputs.
    """
    if not isinstance(module, torch.export.ExportedProgram):
        check_module(module, inputs, kwargs)
        interface = with_divisors(dynamic_interface(module, inputs, kwargs, dynamic_shapes))
        return Importer(interface, module, inputs, dict(kwargs or {}))
    if module.example_inputs is None:
        message = "expected an exported program with example inputs, got one without"
        raise InputError(message)
    inputs, kwargs = module.example_inputs
    unlifted = module.module(check_guards=False)
    # Its ops do not depend on the mode, and train() and eval() refuse to change it.
    for each in unlifted.modules():
        each.training = False
    return Importer(with_divisors(interface_of(module)), unlifted, inputs, kwargs)
