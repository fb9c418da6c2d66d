# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles a model for each point. torch.export checks once, with symbolic sizes, that the model
works for all sizes; each point is exported and compiled with its numbers, like a static model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from convoy.compiler import CompiledModel, compile_imported
from convoy.dynamic.constants import with_own_constants
from convoy.dynamic.model import DynamicModel, check_equal_interfaces, shared
from convoy.dynamic.padded import padding_reasons
from convoy.dynamic.points import Points, choose_points, widened
from convoy.dynamic.shapes import (
    DynamicInterface,
    dynamic_interface,
    interface_of,
    outputs_of,
    resize_inputs,
)
from convoy.errors import InputError
from convoy.frontend import ImportedModule, check_module, import_module
from convoy.options import CompileOptions
from convoy_runtime._safetensors import HostTensor

__all__ = ["compile_dynamic"]


def compile_dynamic(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    options: CompileOptions,
    *,
    dynamic_shapes: Any = None,
    points: Points | None = None,
    progress: Callable[[str], None] | None = None,
    seconds: dict[str, float] | None = None,
) -> DynamicModel:
    """Compiles a model for each point.

    Args:
        module: The module, or an exported program with symbolic sizes.
        inputs: The example inputs of a module.
        kwargs: The example keyword arguments of a module.
        options: The options of the compilation.
        dynamic_shapes: For a module, as of `torch.export.export`.
        points: As of `convoy.compile`.
        progress: Called at the start of each step with the step's name.
        seconds: Receives the time of each step.

    Returns:
        The compiled model in memory.

    Raises:
        FrontendError: The model cannot be imported, or `points` does not match its symbols.
        CompileError: A phase fails.
    """
    seconds = {} if seconds is None else seconds
    if isinstance(module, torch.export.ExportedProgram):
        interface, module, inputs, kwargs = _of_program(module)
    else:
        check_module(module, inputs, kwargs)
        interface = dynamic_interface(module, inputs, kwargs, dynamic_shapes)
    chosen = choose_points(interface.symbols, points)
    symbols = widened(interface.symbols, chosen)
    models, known = [], dict[str, HostTensor]()
    imported: list[ImportedModule] = []
    constants: dict[str, torch.Tensor] = {}

    def import_at(values: Mapping[str, int], module: torch.nn.Module = module) -> ImportedModule:
        return with_own_constants(
            import_module(module, *resize_inputs(interface, inputs, kwargs, values)), constants
        )

    for number, values in enumerate(chosen):
        text = " ".join(f"{name}={value}" for name, value in values.items())
        each: dict[str, float] = {}

        def say(step: str, text: str = text, number: int = number) -> None:
            if progress is not None:
                progress(f"{text} ({number + 1} of {len(chosen)}): {step}")

        say("import")
        imported.append(import_at(values))
        own = options
        if options.dump_phases is not None:
            own = replace(options, dump_phases=options.dump_phases / text.replace(" ", "-"))
        model = compile_imported(imported[-1], own, progress=say, seconds=each)
        models.append(shared(model, known))
        for name, time in each.items():
            seconds[name] = seconds.get(name, 0.0) + time
    check_equal_interfaces(models, chosen)
    outputs = outputs_of(interface, models[0].manifest.outputs)
    if progress is not None:
        progress("padding")
    reasons = padding_reasons(interface, symbols, outputs, chosen, imported, import_at)
    symbols = tuple(replace(symbol, unpadded=reasons[symbol.name]) for symbol in symbols)

    def compile_at(values: Mapping[str, int]) -> CompiledModel:
        imported = import_at(values, _with_same_tensors(module))
        model = compile_imported(imported, replace(options, dump_phases=None))
        check_equal_interfaces([models[0], model], [chosen[0], values])
        return model

    return DynamicModel(
        symbols, interface.inputs, outputs, tuple(chosen), tuple(models), seconds, compile_at
    )


def _with_same_tensors(module: torch.nn.Module) -> torch.nn.Module:
    """A copy of a module with the same tensors. torch.export replaces the tensors of a module while
    it runs, which another thread must not see. Raises InputError if the module cannot be copied."""
    tensors = (*module.parameters(), *module.buffers())
    try:
        return copy.deepcopy(module, {id(tensor): tensor for tensor in tensors})
    except (TypeError, RuntimeError) as error:
        message = (
            f"expected a module that copy.deepcopy copies, to compile undeclared sizes: {error}"
        )
        raise InputError(message) from error


def _of_program(
    program: torch.export.ExportedProgram,
) -> tuple[DynamicInterface, torch.nn.Module, tuple[Any, ...], dict[str, Any]]:
    """The interface of an exported program, its module, and its example inputs."""
    if program.example_inputs is None:
        message = "expected an exported program with example inputs, got one without"
        raise InputError(message)
    inputs, kwargs = program.example_inputs
    module = program.module(check_guards=False)
    # Its ops do not depend on the mode, and train() and eval() refuse to change it.
    for each in module.modules():
        each.training = False
    return interface_of(program), module, inputs, kwargs
