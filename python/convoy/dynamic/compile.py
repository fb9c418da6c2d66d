# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles a model for each point. torch.export checks once, with symbolic sizes, that the model
works for all sizes; each point is exported and compiled with its numbers, like a static model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from convoy.compiled_model import CompiledModel
from convoy.compiler import compile_imported
from convoy.dynamic.exported_sizes import reason_of_exported_sizes
from convoy.dynamic.importer import Importer, importer_of
from convoy.dynamic.model import DynamicModel, check_equal_interfaces
from convoy.dynamic.padded import with_padding
from convoy.dynamic.point_models import compile_points
from convoy.dynamic.points import Points, choose_points, widened
from convoy.dynamic.shapes import outputs_of
from convoy.options import CompileOptions
from convoy_runtime.manifest import Manifest

__all__ = ["compile_dynamic", "compile_one"]


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
    importer = importer_of(module, inputs, kwargs, dynamic_shapes)
    interface = importer.interface
    chosen = choose_points(interface.symbols, points)
    imported, models = compile_points(chosen, importer.at, options, progress, seconds)
    outputs = outputs_of(interface, models[0].manifest.outputs)
    if progress is not None:
        progress("padding")
    symbols = with_padding(
        widened(interface.symbols, chosen),
        chosen,
        imported,
        importer.at,
        lambda name: reason_of_exported_sizes(interface, outputs, name),
    )

    def compile_at(values: Mapping[str, int]) -> CompiledModel:
        return compile_one(importer, options, values, models[0].manifest, chosen[0])

    return DynamicModel(
        symbols, interface.inputs, outputs, tuple(chosen), tuple(models), seconds, compile_at
    )


def compile_one(
    importer: Importer,
    options: CompileOptions,
    values: Mapping[str, int],
    manifest: Manifest,
    point: Mapping[str, int],
) -> CompiledModel:
    """Compiles a model for other sizes than its points, while other threads may use the module.

    Args:
        importer: The model.
        options: The options of the compilation.
        values: The value of each symbol.
        manifest: The program of a point.
        point: That point.

    Returns:
        The compiled model in memory.

    Raises:
        FrontendError: The model cannot be imported.
        InputError: Inputs or outputs differ from those of the point in more than sizes.
        CompileError: A phase fails.
    """
    imported = importer.for_another_thread().at(values)
    model = compile_imported(imported, replace(options, dump_phases=None))
    check_equal_interfaces([manifest, model.manifest], [point, values])
    return model
