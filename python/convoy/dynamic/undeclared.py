# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles sizes that are no point of an artifact, in a process that has the compiler and the
model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from convoy.compiler import exported_or_module
from convoy.dynamic.compile import compile_one
from convoy.dynamic.importer import importer_of
from convoy.errors import InputError
from convoy.options import CompileOptions
from convoy_runtime import Program
from convoy_runtime.dynamic.program import DynamicProgram

if TYPE_CHECKING:
    import torch

__all__ = ["compile_undeclared"]


def compile_undeclared(
    program: Program,
    module: torch.nn.Module | torch.export.ExportedProgram | str | os.PathLike[str],
    example_inputs: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    wait: bool = True,
    load: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Makes calls of a loaded artifact compile the sizes that are in its ranges, but neither a
    point nor padded. Their programs have memory and weights of their own: those of `module`, or of
    later calls of `program.load_weights`.

    Args:
        program: A loaded artifact with dynamic sizes.
        module: The model that the artifact was compiled from, as of `convoy.compile`.
        example_inputs: As of `convoy.compile`.
        kwargs: As of `convoy.compile`.
        dynamic_shapes: As of `convoy.compile`.
        wait: Whether such a call waits until its program is ready. Otherwise it raises
            ArgumentError, as later calls of the size do until another thread has compiled it.
        load: The keyword arguments of `convoy_runtime.load` for the new programs, e.g. `weights`.
        **options: The options of `convoy.compile` that the artifact was compiled with, e.g.
            `dtype`, except `target`.

    Raises:
        InputError: The program has static sizes, or the inputs of the model have other names,
            sizes or dtypes than those of the program.
        FrontendError: The model cannot be exported.
        ValueError: An option has an invalid value.
        ConvoyRuntimeError: The program is closed.
    """
    if not isinstance(program, DynamicProgram):
        message = f"expected a program with dynamic sizes, got {program}"
        raise InputError(message)
    chosen = CompileOptions.of(target=program.manifest.target, **options)
    model = exported_or_module(module, example_inputs, kwargs, dynamic_shapes)
    importer = importer_of(model, tuple(example_inputs or ()), kwargs, dynamic_shapes)
    if importer.interface.inputs != program.inputs:
        expected, got = (
            ", ".join(map(str, inputs)) for inputs in (program.inputs, importer.interface.inputs)
        )
        message = f"expected the inputs of {program.path}: {expected}, got {got}"
        raise InputError(message)
    manifest, point, given = program.manifest, program.points[0], dict(load or {})

    def make(values: Mapping[str, int]) -> Program:
        return compile_one(importer, chosen, values, manifest, point).load(**given)

    program.compile_undeclared(make, wait=wait)
