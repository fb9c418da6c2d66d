# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs torch.export. Every op gets the line of the model's source, and torch's errors become
Convoy's."""

from __future__ import annotations

import functools
import logging
import math
import os
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch.export.graph_signature import OutputKind
from torch.utils import _pytree as pytree

from convoy.errors import (
    ExportError,
    InputError,
    first_line,
)
from convoy.frontend._assigned_data import check_assigned_data
from convoy.frontend._attributes import check_assignments, recorded_assignments
from convoy.frontend._composites import run_decompositions
from convoy.frontend._custom_ops import inline_custom_ops
from convoy.frontend._drawn_numbers import without_drawn_numbers
from convoy.frontend._eigenvalues import eigenvalue_decompositions
from convoy.frontend._export_errors import last_user_line, reason_of_export
from convoy.frontend._grouped import grouped_decompositions
from convoy.frontend._higher_order import inline_higher_order
from convoy.frontend._inputs import with_distinct_tensors
from convoy.frontend._linear_algebra import (
    linear_algebra_decompositions,
    without_linear_algebra_checks,
)
from convoy.frontend._matrix_functions import matrix_function_decompositions
from convoy.frontend._objects import registered_results
from convoy.frontend._positions import position_decompositions
from convoy.frontend._quantized import quantized_decompositions
from convoy.frontend._recorded import without_value_checks
from convoy.frontend._recurrent_shapes import recurrent_shapes
from convoy.frontend._registry import CONVERTERS
from convoy.frontend._run_export import COMPILED_IN, level, run_export, without_graph
from convoy.frontend._segments import segment_decompositions
from convoy.frontend._source_lines import own_frames
from convoy.frontend._tensor_numbers import use_tensors_for_numbers
from convoy.frontend._value_checks import recorded_checks, warn_of_checks
from convoy.frontend._vision import vision_decompositions
from convoy.frontend._written_views import with_copies_into_views

__all__ = [
    "RESULT_STRIDES",
    "decompose",
    "decompositions",
    "export_module",
    "has_conversion",
    "read_exported",
]

#: In the metadata of the output node: the strides of each result before decompositions.
RESULT_STRIDES = "convoy_result_strides"


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
            own_frames(),
            without_graph(),
            recurrent_shapes(),
            without_value_checks(),
            registered_results(module),
        ):
            warnings.simplefilter("ignore")
            given, own = with_distinct_tensors(module, (inputs, dict(kwargs or {})))
            with recorded_checks() as checks, recorded_assignments() as assignments:
                program = without_drawn_numbers(
                    lambda: run_export(module, given, own, dynamic_shapes)
                )
            check_assigned_data(program, assignments)
            result = _decomposed(program) if dynamic_shapes is None else program
        check_assignments(module, given, own, assignments)
        warn_of_checks(program, checks)
        return result
    except Exception as error:
        reason = f"{last_user_line(error)}{reason_of_export(error)}{_narrow_hint(module)}"
        msg = f"torch.export cannot export the module: {reason}"
        raise ExportError(msg) from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)


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
        with warnings.catch_warnings(), level("torch.export", logging.CRITICAL):
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
        with warnings.catch_warnings(), torch.no_grad(), without_graph(), recurrent_shapes():
            warnings.simplefilter("ignore")
            result = _decomposed(program)
        warn_of_checks(program, [])
        return result
    except Exception as error:
        msg = f"torch.export cannot decompose the program: {reason_of_export(error)}"
        raise ExportError(msg) from error


def _decomposed(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    strides = _result_strides(program)
    compiled_in = program.graph.output_node().meta.get(COMPILED_IN, {})
    table = decompositions()
    with without_linear_algebra_checks():
        moved = with_copies_into_views(program)
        result = run_decompositions(moved, table)
    inline_higher_order(result.graph_module, table)
    inline_custom_ops(result.graph, table)
    use_tensors_for_numbers(result.graph)
    order = _use_decomposed_order(result)
    # Decomposed ops may return other strides.
    result.graph.output_node().meta[RESULT_STRIDES] = [strides[at] for at in order]
    result.graph.output_node().meta[COMPILED_IN] = compiled_in
    return result


def _use_decomposed_order(program: torch.export.ExportedProgram) -> list[int]:
    """Describes inputs and results in the order that they have after decompositions: torch.export
    makes their objects again, and fields of a class such as transformers' ModelOutput are in the
    order of their assignment before. Returns the places of the results before."""
    signature = program.module_call_graph[0].signature
    if signature is None:
        kinds = [each.kind for each in program.graph_signature.output_specs]
        return list(range(kinds.count(OutputKind.USER_OUTPUT)))
    orders = []
    for name in ("in_spec", "out_spec"):
        spec = getattr(signature, name)
        made = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
        order, spec = pytree.tree_flatten(made)
        setattr(signature, name, spec)
        orders.append(order)
    return orders[1]


def _result_strides(program: torch.export.ExportedProgram) -> list[tuple[int, ...] | None]:
    """The strides of the results in PyTorch; None for constants. What the graph returns for writes
    to inputs and buffers is no result."""
    returned = zip(
        program.graph.output_node().args[0], program.graph_signature.output_specs, strict=True
    )
    results = [value for value, spec in returned if spec.kind is OutputKind.USER_OUTPUT]
    values = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in results]
    return [each.stride() if isinstance(each, torch.Tensor) else None for each in values]


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
        torch.ops.aten.div.Tensor_mode: _div_mode,
        torch.ops.aten.as_strided_copy.default: _as_strided_copy,
    }
    own |= quantized_decompositions() | position_decompositions()
    own |= linear_algebra_decompositions() | matrix_function_decompositions()
    own |= segment_decompositions() | eigenvalue_decompositions()
    return own | {
        op: rule for op, rule in table if str(op).removesuffix(".default") not in CONVERTERS
    }


def _angle(x: torch.Tensor) -> torch.Tensor:
    """The angle of complex and of real numbers: pi for negative real ones."""
    if x.is_complex():
        return torch.atan2(x.imag, x.real)
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    return torch.where(x < 0, math.pi, torch.where(torch.isnan(x), x, 0))


def _div_mode(x: Any, y: Any, *, rounding_mode: str | None) -> Any:
    """A number remains one: torch-mlir makes a tensor of it, and those are rounded."""
    if isinstance(y, torch.Tensor):
        return NotImplemented
    return torch.ops.aten.div.Scalar_mode(x, y, rounding_mode=rounding_mode)


def _as_strided_copy(
    x: torch.Tensor, size: list[int], stride: list[int], offset: int | None = None
) -> torch.Tensor:
    """torch-mlir replaces as_strided by an index while the strides of its operand are known."""
    return torch.as_strided(x, size, stride, offset).clone()


def has_conversion(op: torch._ops.OpOverload) -> bool:
    """Whether an aten op has a converter or a decomposition. Its conversion can still refuse an
    argument."""
    return str(op).removesuffix(".default") in CONVERTERS or op in decompositions()
