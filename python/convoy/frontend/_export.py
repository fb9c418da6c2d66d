# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs torch.export. Every op gets the line of the model's source, and torch's errors become
Convoy's."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import math
import os
import re
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.fx.proxy import TracerBase
from torch.nn.utils.rnn import PackedSequence
from torch.utils import _pytree as pytree

from convoy.errors import (
    ExportError,
    InputError,
    SourceLine,
    first_line,
)
from convoy.frontend._custom_ops import inline_custom_ops
from convoy.frontend._gradients import (
    export_below_autograd,
    has_transforms,
    restored_transforms,
)
from convoy.frontend._grouped import grouped_decompositions
from convoy.frontend._higher_order import inline_higher_order
from convoy.frontend._known_numbers import ReadKnownNumbers
from convoy.frontend._linear_algebra import (
    linear_algebra_decompositions,
    without_linear_algebra_checks,
)
from convoy.frontend._objects import registered_results
from convoy.frontend._positions import position_decompositions
from convoy.frontend._quantized import quantized_decompositions
from convoy.frontend._recorded import RecordData, without_value_checks
from convoy.frontend._recurrent_shapes import recurrent_shapes
from convoy.frontend._registry import CONVERTERS
from convoy.frontend._tensor_numbers import has_static_sizes, use_tensors_for_numbers
from convoy.frontend._vision import vision_decompositions

__all__ = [
    "RESULT_STRIDES",
    "add_place",
    "decompose",
    "decompositions",
    "export_module",
    "has_conversion",
    "keep_user_lines",
    "line_of",
    "read_exported",
]

#: In the metadata of the output node: the strides of each result before decompositions.
RESULT_STRIDES = "convoy_result_strides"
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_RUNNING = re.compile(r"While executing .*?target=(?:torch\.ops\.)?([\w.]+)")
_LIBRARY = sysconfig.get_path("stdlib") + "/"
_HERE = str(Path(__file__).parent) + "/"
_TORCH = str(Path(torch.__file__).parent) + "/"
#: Torch's lists of backends, which follow the description of an error.
_BACK_ENDS = re.compile(
    r" This could be because the operator doesn't exist for this backend.*", re.DOTALL
)
#: What torch.export says about tensors that are computed without an op that it records.
_NOT_RECORDED = "We found a fake tensor in the exported program constant's list"
_NEEDS_REGISTRATION = re.compile(r"Found <class '([^']+)'> in output, which is not a known type")
_PACKED_SEQUENCE = (
    "the model has a PackedSequence, whose shapes depend on the values of the lengths; expected a "
    "padded tensor"
)
_READS_VALUES = (
    "it reads the values of a tensor while the model is exported, where only shapes are known; "
    "expected a model that computes it after the compiled part"
)
_DATA_DEPENDENT = (
    "the model has control flow or shapes that depend on the values of a tensor; expected "
    "dependence on the shapes of the inputs only: torch.where selects by values"
)
_VALUE_ERRORS = (DataDependentOutputException, DynamicOutputShapeException)
_HIDDEN = (
    "the model computes a tensor in a way that torch.export does not record, such as "
    "tensor.backward(); expected a model that consists of ops on tensors"
)


def export_module(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> torch.export.ExportedProgram:
    """Exports a module and, if all sizes are static, decomposes ops without converters.

    Args:
        module: The module in evaluation mode.
        inputs: The example inputs.
        kwargs: The example keyword arguments.
        dynamic_shapes: As of `torch.export.export`.

    Returns:
        The exported program.

    Raises:
        ExportError: torch.export failed. The message has the line of the model, and `__cause__` is
            torch's error.
    """
    fast_path = torch.backends.mha.get_fastpath_enabled()
    # The fast path is a fused op without a decomposition; the slow path consists of ops with
    # converters.
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with (
            warnings.catch_warnings(),
            torch.no_grad(),
            _own_frames(),
            _without_graph(),
            recurrent_shapes(),
            without_value_checks(),
            registered_results(module),
        ):
            warnings.simplefilter("ignore")
            program = _exported(module, inputs, dict(kwargs or {}), dynamic_shapes)
            return _decomposed(program) if dynamic_shapes is None else program
    except Exception as error:
        reason = f"{_last_user_line(error)}{_reason(error)}{_narrow_hint(module)}"
        msg = f"torch.export cannot export the module: {reason}"
        raise ExportError(msg) from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)


def _exported(
    module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """Runs torch.export. Numbers for Python that it cannot make from tensors, such as `float(t)`
    or `math.sqrt(t.item())`, are symbols in its strict mode, which reads the model's bytecode.
    Gradients are recorded below autograd only, where the ops of layers are decomposed."""

    def run(strict: bool) -> torch.export.ExportedProgram:
        program: torch.export.ExportedProgram = torch.export.export(
            module, inputs, kwargs, dynamic_shapes=dynamic_shapes, strict=strict
        )
        return program

    try:
        with _without_graph(), RecordData(), ReadKnownNumbers(), restored_transforms():
            program = run(False)
        if not has_transforms(program):
            return program
    except GuardOnDataDependentSymNode as error:
        try:
            with _without_graph(), _level("torch._dynamo", logging.CRITICAL + 1):
                program = run(True)
        except Exception:
            raise error from None
        if dynamic_shapes is None and not all(map(has_static_sizes, program.graph.nodes)):
            raise
        return _checked(program, error)
    except _VALUE_ERRORS:
        raise
    except Exception as error:
        try:
            program = _below_autograd(module, inputs, kwargs, dynamic_shapes)
        except Exception:
            raise error from None
        return _checked(program, error)
    return _checked(_below_autograd(module, inputs, kwargs, dynamic_shapes))


def _below_autograd(
    module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    with (
        _without_graph(),
        RecordData(),
        ReadKnownNumbers(),
        restored_transforms(),
        without_linear_algebra_checks(),
    ):
        return export_below_autograd(module, inputs, kwargs, dynamic_shapes)


def _checked(
    program: torch.export.ExportedProgram, error: Exception | None = None
) -> torch.export.ExportedProgram:
    """A program of another mode of torch.export than its usual one, which alone checks whether the
    program computes all its tensors."""
    if any(isinstance(each, FakeTensor) for each in program.constants.values()):
        raise RuntimeError(_NOT_RECORDED) from error
    return program


def _narrow_hint(module: torch.nn.Module) -> str:
    """What to do if a module with 16-bit parameters is not exported: some models branch on values
    in float16 alone, or mix it with float32."""
    narrow = {each.dtype for each in module.parameters()} & {torch.float16, torch.bfloat16}
    if not narrow:
        return ""
    name = str(next(iter(narrow))).removeprefix("torch.")
    return (
        f"; hint: the module has parameters of {name}; compile it in float32 with "
        f"dtype={name!r}, which narrows it after the export"
    )


def read_exported(path: str | os.PathLike[str]) -> torch.export.ExportedProgram:
    """Reads a .pt2 file.

    Args:
        path: A file that `torch.export.save` wrote. PyTorch reads it; load only files that you
            trust.

    Returns:
        The exported program.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        # The error below has the text of what torch.export logs.
        with warnings.catch_warnings(), _level("torch.export", logging.CRITICAL):
            warnings.simplefilter("ignore")
            return torch.export.load(path)
    except Exception as error:
        msg = f"{os.fspath(path)}: expected a file of torch.export.save: {first_line(error)}"
        raise InputError(msg) from error


def decompose(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Decomposes the ops without converters of an exported program.

    Args:
        program: The result of torch.export.

    Returns:
        The decomposed program.

    Raises:
        ExportError: A decomposition failed. `__cause__` is torch's error.
    """
    try:
        with warnings.catch_warnings(), torch.no_grad(), _without_graph(), recurrent_shapes():
            warnings.simplefilter("ignore")
            return _decomposed(program)
    except Exception as error:
        msg = f"torch.export cannot decompose the program: {_reason(error)}"
        raise ExportError(msg) from error


def _decomposed(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    strides = _result_strides(program)
    table = decompositions()
    with without_linear_algebra_checks():
        result: torch.export.ExportedProgram = program.run_decompositions(table)
    inline_higher_order(result.graph_module, table)
    inline_custom_ops(result.graph, table)
    use_tensors_for_numbers(result.graph)
    order = _use_decomposed_order(result)
    # Decomposed ops may return other strides.
    result.graph.output_node().meta[RESULT_STRIDES] = [strides[at] for at in order]
    return result


def _use_decomposed_order(program: torch.export.ExportedProgram) -> list[int]:
    """Describes inputs and results in the order that they have after decompositions: torch.export
    makes their objects again, and fields of a class such as transformers' ModelOutput are in the
    order of their assignment before. Returns the places of the results before."""
    signature = program.module_call_graph[0].signature
    if signature is None:
        return list(range(len(program.graph_signature.output_specs)))
    orders = []
    for name in ("in_spec", "out_spec"):
        spec = getattr(signature, name)
        made = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
        order, spec = pytree.tree_flatten(made)
        setattr(signature, name, spec)
        orders.append(order)
    return orders[1]


def _result_strides(program: torch.export.ExportedProgram) -> list[tuple[int, ...] | None]:
    """The strides of the results in PyTorch; None for constants."""
    returned = program.graph.output_node().args[0]
    values = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in returned]
    return [each.stride() if isinstance(each, torch.Tensor) else None for each in values]


@contextlib.contextmanager
def _without_graph() -> Iterator[None]:
    """Drops the graph that torch.export writes to standard error before it raises an error: often
    thousands of lines. The error names the line of the model."""
    printed, graph = io.StringIO(), ""
    shapes = _level("torch.fx.experimental.symbolic_shapes", logging.ERROR)
    try:
        with contextlib.redirect_stderr(printed), shapes:
            yield
    except Exception as error:
        graph = f"{getattr(error, 'partial_fx_graph', '')}\n"
        raise
    finally:
        sys.stderr.write(printed.getvalue().replace(graph, "") if graph else printed.getvalue())


@contextlib.contextmanager
def _level(name: str, level: int) -> Iterator[None]:
    """Sets the level of a logger."""
    log = logging.getLogger(name)
    before = log.level
    log.setLevel(level)
    try:
        yield
    finally:
        log.setLevel(before)


@contextlib.contextmanager
def _own_frames() -> Iterator[None]:
    """Replaces the tracer's hook for selecting stack frames, to keep all frames of the user's
    files. torch.export records only frames of functions named `forward`, so that ops in a helper
    method would get the line of its call."""
    original = TracerBase._filter_traceback_frames

    def keep(tracer: TracerBase, stack: traceback.StackSummary) -> traceback.StackSummary:
        names = [frame.name for frame in stack]
        inside = stack[names.index("forward") :] if "forward" in names else []
        return traceback.StackSummary.from_list(
            [frame for frame in inside if frame.name == "forward" or _is_own(frame.filename)]
        )

    TracerBase._filter_traceback_frames = keep  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = original  # type: ignore[method-assign]


def _is_own(filename: str) -> bool:
    """Whether a file belongs neither to torch or sympy, which torch uses for shapes, nor to the
    standard library or this package."""
    library = filename.startswith(_LIBRARY) and "site-packages" not in filename
    return not library and not filename.startswith(
        (_TORCH, "<", str(Path(_TORCH).parent / "sympy"), _HERE)
    )


def decompositions() -> dict[Any, Any]:
    """The decompositions of ops without a converter."""
    # The ops of libraries that are imported later are not in the cache.
    return _decompositions() | grouped_decompositions() | vision_decompositions()


@functools.cache
def _decompositions() -> dict[Any, Any]:
    table = torch.export.default_decompositions().items()  # type: ignore[no-untyped-call]
    own: dict[Any, Any] = {
        torch.ops.aten._neg_view.default: torch.neg,
        torch.ops.aten._is_all_true.default: torch.all,
        torch.ops.aten._is_any_true.default: torch.any,
        torch.ops.aten.angle.default: _angle,
        torch.ops.aten.as_strided_copy.default: _as_strided_copy,
    }
    own |= quantized_decompositions() | position_decompositions()
    own |= linear_algebra_decompositions()
    return own | {
        op: rule for op, rule in table if str(op).removesuffix(".default") not in CONVERTERS
    }


def _angle(x: torch.Tensor) -> torch.Tensor:
    """Also that of real numbers: pi for negative ones."""
    if x.is_complex():
        return torch.atan2(x.imag, x.real)
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    return torch.where(x < 0, math.pi, torch.where(torch.isnan(x), x, 0))


def _as_strided_copy(
    x: torch.Tensor, size: list[int], stride: list[int], offset: int | None = None
) -> torch.Tensor:
    """torch-mlir replaces as_strided by an index while the strides of its operand are known."""
    return torch.as_strided(x, size, stride, offset).clone()


def has_conversion(op: torch._ops.OpOverload) -> bool:
    """Whether an aten op has a converter or a decomposition. Its conversion can still refuse an
    argument."""
    return str(op).removesuffix(".default") in CONVERTERS or op in decompositions()


def _reason(error: Exception) -> str:
    """The description in torch's message, without traces, lists of backends and advice on debugging
    torch."""
    if any(
        isinstance(value, PackedSequence)
        for frame, _ in traceback.walk_tb(error.__traceback__)
        for value in frame.f_locals.values()
    ):
        return _PACKED_SEQUENCE
    if isinstance(error, GuardOnDataDependentSymNode):
        return _DATA_DEPENDENT
    if _NOT_RECORDED in str(error):
        return _HIDDEN
    if isinstance(error, _VALUE_ERRORS):
        return f"{error.func}: {_READS_VALUES}"
    text = str(error).strip()
    if found := _NEEDS_REGISTRATION.search(text):
        kind = found[1].rpartition(".")[2]
        return (
            "expected tensors in tuples, lists, dicts, named tuples and attributes of objects, got "
            f"{kind}; "
            f"torch.export.register_dataclass({kind}) registers it"
        )
    running = _RUNNING.search(text)
    op = f"{running[1].removesuffix('.default')}: " if running else ""
    return op + (_BACK_ENDS.sub("", text.partition("\n\n")[0]).strip() or type(error).__name__)


def _last_user_line(error: BaseException) -> str:
    """The innermost line of the model's source in the stack, or, if torch runs a recorded graph, in
    the trace of its message."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    recorded = (
        [(file, int(line)) for file, line in _FRAME.findall(str(error))]
        if _RUNNING.search(str(error))
        else []
    )
    for file, line in (*reversed(recorded), *reversed(frames)):
        if _is_own(file):
            return f"{file}:{line}: "
    return _last_node_line(error)


def _last_node_line(error: BaseException) -> str:
    """The line of the innermost op that torch was running, if it runs a graph of its own."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            trace = value.meta.get("stack_trace") if isinstance(value, torch.fx.Node) else None
            own = [(file, at) for file, at in _FRAME.findall(trace or "") if _is_own(file)]
            if own:
                return f"{own[-1][0]}:{own[-1][1]}: "
    return ""


def keep_user_lines(graph: torch.fx.Graph) -> None:
    """Reduces each stack trace to the innermost frame outside torch, the line of the user's source
    for later errors."""
    for node in graph.nodes:
        frames = _FRAME.findall(node.meta.get("stack_trace") or "")
        own = [frame for frame in frames if _is_own(frame[0])] or frames
        if own:
            node.meta["stack_trace"] = f'File "{own[-1][0]}", line {own[-1][1]}, in forward'


def line_of(node: torch.fx.Node) -> SourceLine:
    """The source line of an op, after `keep_user_lines`."""
    found = _FRAME.findall(node.meta.get("stack_trace") or "")
    return SourceLine(found[-1][0], int(found[-1][1])) if found else SourceLine("", 0)


def add_place(node: torch.fx.Node, place: str) -> None:
    """Adds a name to the source line of an op, as if it were the line's caller: the locations of
    the ops that it becomes have both."""
    line = node.meta.get("stack_trace") or ""
    node.meta["stack_trace"] = f'File "{place}", line 1, in forward\n{line}'
