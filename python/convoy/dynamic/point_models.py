# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the modules of points one by one. Equal weights are shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from convoy.compiled_model import CompiledModel
from convoy.compiler import compile_imported
from convoy.dynamic.model import check_equal_interfaces, shared
from convoy.frontend import ImportedModule
from convoy.options import CompileOptions
from convoy_runtime._safetensors import HostTensor

__all__ = ["compile_points"]


def compile_points(
    points: Sequence[Mapping[str, int]],
    import_at: Callable[[Mapping[str, int]], ImportedModule],
    options: CompileOptions,
    progress: Callable[[str], None] | None,
    seconds: dict[str, float],
) -> tuple[list[ImportedModule], list[CompiledModel]]:
    """Imports and compiles a model at each point.

    Args:
        points: The value of each symbol at each point.
        import_at: Imports the model for the value of each symbol.
        options: The options of the compilation.
        progress: Called at the start of each step with the step's name.
        seconds: Receives the time of each step, the sum of all points.

    Returns:
        The module and the compiled model of each point.

    Raises:
        FrontendError: The model cannot be imported.
        InputError: Inputs or outputs of two points differ in more than sizes.
        CompileError: A phase fails.
    """
    imported, models = [], []
    known: dict[str, HostTensor] = {}
    for number, values in enumerate(points):
        text = " ".join(f"{name}={value}" for name, value in values.items())
        each: dict[str, float] = {}

        def say(step: str, text: str = text, number: int = number) -> None:
            if progress is not None:
                progress(f"{text} ({number + 1} of {len(points)}): {step}")

        say("import")
        imported.append(import_at(values))
        own = options
        if options.dump_phases is not None:
            own = replace(options, dump_phases=options.dump_phases / text.replace(" ", "-"))
        model = compile_imported(imported[-1], own, progress=say, seconds=each)
        models.append(shared(model, known))
        for name, time in each.items():
            seconds[name] = seconds.get(name, 0.0) + time
    check_equal_interfaces([model.manifest for model in models], points)
    return imported, models
