# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`convoy.compile`: compiles a PyTorch module to a `CompiledModel`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convoy.artifact_members import entries_of, manifest_of, members_of
from convoy.compiled_model import CompiledModel
from convoy.errors import InputError
from convoy.options import CompileOptions
from convoy.phases import dump_phase, phase_names, run_compiler
from convoy.step_clock import Progress, StepClock

if TYPE_CHECKING:
    import torch

    from convoy.dynamic.points import Points
    from convoy.frontend import ImportedModule
    from convoy_runtime import PlanOptions

__all__ = ["compile", "compile_imported", "exported_or_module"]


def compile(
    module: torch.nn.Module | torch.export.ExportedProgram | str | os.PathLike[str],
    example_inputs: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    dtype: str | torch.dtype | None = None,
    cpu: str | None = None,
    chip: str = "sm_80",
    keep_float32: Sequence[str] = (),
    weights: bool = True,
    allow_tf32: bool = True,
    allow_winograd: bool = True,
    alternatives: bool = True,
    support_table: str | os.PathLike[str] | None = None,
    dump_phases: str | os.PathLike[str] | None = None,
    plan_for: Sequence[str] = (),
    plan_options: PlanOptions | None = None,
    progress: Progress | None = None,
    dynamic_shapes: Any = None,
    points: Points | None = None,
) -> Any:
    """Compiles a module for inputs of fixed dtypes, and of fixed or dynamic shapes. Compiling for
    "cuda" needs no GPU.

    Args:
        module: The model: a module in evaluation mode, the result of `torch.export.export`, or a
            .pt2 file that `torch.export.save` wrote.
        example_inputs: For a module, a tuple or list with one value for each positional argument of
            `module.forward`: tensors, tuples, lists, dicts, named tuples and dataclasses of
            tensors, and numbers, strings, bools and None, which are compiled in. The compiled
            model requires inputs of the same shapes and dtypes.
        kwargs: For a module, one value for each keyword argument.
        target: "cpu" or "cuda". Default: "cuda" on a machine with a GPU, else "cpu".
        dtype: The compute type: "float32", "float16", "bfloat16" or the same torch dtype. Inputs
            and outputs keep the module's types. Default: the module's types.
        cpu: LLVM's name of the CPU that runs the host code, or "native". Default: "native" on
            target "cpu", "x86-64-v3" on "cuda".
        chip: The oldest GPU architecture that the generated kernels run on, "sm_80" to "sm_121",
            without a letter suffix.
        keep_float32: Ops that compute in float32 although `dtype` or the model has a narrower type:
            types of tcp ops ("softmax"), lines ("model.py:12") and modules ("layer1.0.conv1").
            `convoy bisect` finds the ops for which it matters.
        weights: Whether the compiled model contains the data of the weights.
        allow_tf32: Whether float32 products may round their factors to TF32 (10 bits of mantissa).
        allow_winograd: Whether convolutions may use Winograd's algorithm, whose rounding errors
            are in proportion to the largest inputs near an output.
        alternatives: Whether to compile alternatives of cuDNN graphs for tuning: graphs split into
            several, or with sums in another order.
        support_table: A support table to use instead of the built-in one.
        dump_phases: A folder for the module's text after each phase. It is created if necessary.
        plan_for: GPUs to plan for, only with target "cuda": names such as "h200", or files of
            cuDNN's device properties. The plans become part of the artifact.
        plan_options: Restrictions on the plans of `plan_for`. A load with equal options uses these
            plans.
        progress: Called at the start of each step with the step's name.
        dynamic_shapes: For a module with dynamic sizes, as of `torch.export.export`, e.g.
            `{"x": {0: torch.export.Dim("batch", min=1, max=64)}}`. An exported program has its own.
        points: The sizes to compile programs for: name of a Dim to its values, e.g.
            `{"batch": [1, 8, 64]}`, for all combinations; or a list of dicts, one for each point.
            Default: the powers of two in each range. A size without a name is `INPUT_DIM`, e.g.
            `x_0`.

    Returns:
        The `CompiledModel` in memory, or with dynamic sizes a `convoy.dynamic.model.DynamicModel`.

    Raises:
        FrontendError: The module cannot be imported, or `points` does not match its sizes.
        InputError: `example_inputs` is not a tuple or list, or contains an unsupported value; or a
            .pt2 file cannot be read.
        CompileError: A phase fails, or a name of `keep_float32` selects no op.
        ValueError: An option has an invalid value.
        convoy_runtime.DeviceError: `plan_for` is given, and cuDNN, cuBLASLt or the properties of
            a GPU are missing.
    """
    chosen = CompileOptions.of(
        target=target,
        dtype=dtype,
        cpu=cpu,
        chip=chip,
        keep_float32=keep_float32,
        weights=weights,
        allow_tf32=allow_tf32,
        allow_winograd=allow_winograd,
        alternatives=alternatives,
        support_table=support_table,
        dump_phases=dump_phases,
        plan_for=plan_for,
        plan_options=plan_options,
    )
    clock = StepClock(progress)
    with clock.step("import"):
        from convoy.frontend import import_exported, import_module

        model = exported_or_module(module, example_inputs, kwargs, dynamic_shapes)
        inputs = tuple(example_inputs or ())
    if dynamic_shapes is not None or _has_symbols(model):
        # Imported here, because most compilations do not need it.
        from convoy.dynamic.compile import compile_dynamic

        return compile_dynamic(
            model, inputs, kwargs, chosen,
            dynamic_shapes=dynamic_shapes, points=points, progress=progress, seconds=clock.seconds,
        )  # fmt: skip
    if points is not None:
        message = "expected dynamic_shapes with points, got a model whose sizes are all static"
        raise InputError(message)
    with clock.step("import"):
        imported = (
            import_module(model, inputs, kwargs)
            if example_inputs is not None or not _is_exported(model)
            else import_exported(model)
        )
    return compile_imported(imported, chosen, progress=progress, seconds=clock.seconds)


def _is_exported(model: Any) -> bool:
    import torch

    return isinstance(model, torch.export.ExportedProgram)


def _has_symbols(model: Any) -> bool:
    from convoy.frontend import has_symbols

    return _is_exported(model) and has_symbols(model)


def exported_or_module(
    module: Any,
    example_inputs: Sequence[Any] | None,
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
) -> Any:
    """The module or the exported program to compile. Raises InputError for arguments that do not
    belong to it."""
    from convoy.frontend import read_exported

    if isinstance(module, (str, os.PathLike)):
        module = read_exported(module)
    if _is_exported(module):
        for name, given in (
            ("example inputs", example_inputs),
            ("example inputs", kwargs),
            ("dynamic_shapes", dynamic_shapes),
        ):
            if given is not None:
                message = f"expected no {name} for an exported program, which has its own"
                raise InputError(message)
    elif example_inputs is not None and not isinstance(example_inputs, (tuple, list)):
        # A tensor is also a sequence, of its rows.
        message = (
            f"expected the example inputs as a tuple or a list, got {type(example_inputs).__name__}"
        )
        raise InputError(message)
    return module


def compile_imported(
    imported: ImportedModule,
    options: CompileOptions,
    *,
    phase: str = "tcp",
    progress: Progress | None = None,
    seconds: dict[str, float] | None = None,
) -> CompiledModel:
    """Compiles an imported module.

    Args:
        imported: The result of the frontend, or the text of a later phase.
        options: The options of the compilation.
        phase: The phase of the text.
        progress: Called at the start of each step with the step's name.
        seconds: Receives the time of each step. Default: a new dict.

    Returns:
        The compiled model in memory.

    Raises:
        CompileError: A phase fails. Has its diagnostics and a reproducer.
        convoy_runtime.DeviceError: `options.plan_for` is given, and cuDNN, cuBLASLt or the
            properties of a GPU are missing.
    """
    from convoy import _convoy
    from convoy_runtime._native import load_native
    from convoy_runtime._sizes import check_sizes
    from convoy_runtime.inspection import offline_planner
    from convoy_runtime.manifest import ALTERNATIVES
    from convoy_runtime.manifest_alternatives import read_alternatives
    from convoy_runtime.weights import prepare_weights

    clock = StepClock(progress, seconds)
    # Missing requirements of planning are reported before a long compilation.
    planners = {
        device: offline_planner(device, _convoy.MINIMUM_CUDNN) for device in options.plan_for
    }
    phases: dict[str, str] = {}

    def keep(name: str, text: str) -> None:
        phases[name] = text
        if options.dump_phases is not None:
            dump_phase(options.dump_phases, phase_names().index(name), name, text)

    if phase == "tcp":
        keep("torch", imported.torch_text)
    keep(phase, imported.text)
    with clock.step("compile"):
        native, ptx, text = run_compiler(
            imported.text,
            phase,
            options,
            lambda pairs: _convoy.compile(imported.text, imported.name, phase, pairs, keep),
        )
    document = json.loads(text)
    members = members_of(imported, native, ptx, document.pop("alternatives", None))
    manifest = manifest_of(imported, options, document, members)
    alternatives = (
        read_alternatives(members[ALTERNATIVES], manifest, path=imported.name)
        if planners and ALTERNATIVES in members
        else None
    )

    prepared = None
    if options.weights:
        with clock.step("prepare weights"):
            library = load_native(native, path=imported.name)
            check_sizes(library, manifest, path=imported.name)
            prepared = prepare_weights(library, manifest, imported.weights)
    plans = []
    for device, planner in planners.items():
        with clock.step(f"plan for {device}"):
            plans.append(
                planner.plan(
                    manifest,
                    load_native(native, path=imported.name),
                    alternatives,
                    options.plan_options,
                )
            )
    files = dict(manifest.files)
    for found in plans:
        members |= found.members
        files |= entries_of(found.members)
    return CompiledModel(
        replace(manifest, files=files),
        members,
        prepared,
        phases,
        clock.seconds,
        tuple(plans),
    )
