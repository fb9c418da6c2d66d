# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The modes of torch.export in which a module is recorded: the usual one, and those that record
more when it fails."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from convoy.frontend._attributes import watched_assignments
from convoy.frontend._branches import recorded_branches
from convoy.frontend._conversions import recorded_conversions
from convoy.frontend._export_errors import NOT_RECORDED, VALUE_ERRORS
from convoy.frontend._gradients import (
    export_below_autograd,
    has_transforms,
    restored_transforms,
)
from convoy.frontend._known_numbers import ReadKnownNumbers, known_buffers
from convoy.frontend._linear_algebra import without_linear_algebra_checks
from convoy.frontend._packed import RecordPackedSequences
from convoy.frontend._recorded import RecordData
from convoy.frontend._tensor_numbers import has_static_sizes

__all__ = ["COMPILED_IN", "level", "run_export", "without_graph"]

#: In the metadata of the output node: name to buffer, of those whose values the model branches on.
COMPILED_IN = "convoy_compiled_in"

#: What torch.fx says about a call of a submodule with a keyword argument `mod`, the name of its own
#: argument for the submodule. The strict mode calls no submodules.
_MODULE_KEYWORD = "Module._wrapped_call_impl() got multiple values for argument 'mod'"


def run_export(
    module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """Runs torch.export. Numbers for Python that it cannot make from tensors, such as `float(t)`
    or `math.sqrt(t.item())`, are symbols in its strict mode, which reads the model's bytecode.
    It also records calls of submodules with an argument `mod`. Gradients are recorded below
    autograd only, where the ops of layers are decomposed.

    Args:
        module: The module in evaluation mode.
        inputs: The example inputs.
        kwargs: The example keyword arguments.
        dynamic_shapes: As of `torch.export.export`.

    Returns:
        The exported program. The output node has `COMPILED_IN` if there are such buffers.

    Raises:
        Exception: That of torch.export in its usual mode, if no mode records the module.
    """

    def run(strict: bool) -> torch.export.ExportedProgram:
        program: torch.export.ExportedProgram = torch.export.export(
            module, inputs, kwargs, dynamic_shapes=dynamic_shapes, strict=strict
        )
        return program

    def is_static(program: torch.export.ExportedProgram) -> bool:
        return dynamic_shapes is not None or all(map(has_static_sizes, program.graph.nodes))

    try:
        with without_graph(), _recorded_python(module):
            program = run(False)
        if not has_transforms(program):
            return program if is_static(program) else _with_buffers(module, run) or program
    except GuardOnDataDependentSymNode as error:
        try:
            with without_graph(), level("torch._dynamo", logging.CRITICAL + 1):
                program = run(True)
        except Exception:
            if (known := _with_buffers(module, run) or _with_branches(module, run)) is None:
                raise error from None
            return known
        return _checked(
            program if is_static(program) else _with_buffers(module, run) or program, error
        )
    except VALUE_ERRORS:
        if (known := _with_buffers(module, run) or _with_branches(module, run)) is None:
            raise
        return known
    except Exception as error:
        try:
            if _MODULE_KEYWORD in str(error):
                with without_graph(), level("torch._dynamo", logging.CRITICAL + 1):
                    program = run(True)
            else:
                program = _below_autograd(module, inputs, kwargs, dynamic_shapes)
        except Exception:
            raise error from None
        return _checked(program, error)
    return _checked(_below_autograd(module, inputs, kwargs, dynamic_shapes))


def _with_buffers(
    module: torch.nn.Module, run: Callable[[bool], torch.export.ExportedProgram]
) -> torch.export.ExportedProgram | None:
    """Runs torch.export with the values of buffers such as flags, which the program then has in
    place of them. None if it fails, or if the model reads no such buffer."""
    buffers = known_buffers(module, saved=True)
    saved = buffers.keys() - known_buffers(module, saved=False).keys()
    if not saved:
        return None
    try:
        with without_graph(), _recorded_python(module, buffers) as numbers:
            program = run(False)
    except Exception:
        return None
    read = {id(buffers[name]) for name in numbers.read & saved}
    program.graph.output_node().meta[COMPILED_IN] = {
        name: buffer
        for name, buffer in module.named_buffers(remove_duplicate=False)
        if id(buffer) in read
    }
    return program if read else None


def _with_branches(
    module: torch.nn.Module, run: Callable[[bool], torch.export.ExportedProgram]
) -> torch.export.ExportedProgram | None:
    """Runs torch.export with all paths through branches on values; None if it fails."""
    try:
        with (
            without_graph(),
            _recorded_python(module) as numbers,
            recorded_branches(module, numbers),
        ):
            return run(False)
    except Exception:
        return None


def _below_autograd(
    module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    with without_graph(), _recorded_python(module), without_linear_algebra_checks():
        return export_below_autograd(module, inputs, kwargs, dynamic_shapes)


@contextlib.contextmanager
def _recorded_python(
    module: torch.nn.Module, buffers: Mapping[str, torch.Tensor] | None = None
) -> Iterator[ReadKnownNumbers]:
    """Records what Python code computes without ops. `buffers` are those with known values; by
    default those that are not saved with the weights."""
    buffers = known_buffers(module, saved=False) if buffers is None else buffers
    numbers = ReadKnownNumbers(module, buffers)
    with (
        watched_assignments(module),
        recorded_conversions(module),
        RecordData(module),
        numbers,
        RecordPackedSequences(),
        restored_transforms(),
    ):
        yield numbers


def _checked(
    program: torch.export.ExportedProgram, error: Exception | None = None
) -> torch.export.ExportedProgram:
    """A program of another mode of torch.export than its usual one, which alone checks whether the
    program computes all its tensors."""
    if any(isinstance(each, FakeTensor) for each in program.constants.values()):
        raise RuntimeError(NOT_RECORDED) from error
    return program


@contextlib.contextmanager
def without_graph() -> Iterator[None]:
    """Drops the graph that torch.export writes to standard error before it raises an error: often
    thousands of lines. The error names the line of the model."""
    printed, graph = io.StringIO(), ""
    shapes = level("torch.fx.experimental.symbolic_shapes", logging.ERROR)
    try:
        with contextlib.redirect_stderr(printed), shapes:
            yield
    except Exception as error:
        if partial := getattr(error, "partial_fx_graph", None):
            graph = f"{partial}\n"
        raise
    finally:
        sys.stderr.write(printed.getvalue().replace(graph, "") if graph else printed.getvalue())


@contextlib.contextmanager
def level(name: str, level: int) -> Iterator[None]:
    """Sets the level of a logger."""
    log = logging.getLogger(name)
    before = log.level
    log.setLevel(level)
    try:
        yield
    finally:
        log.setLevel(before)
