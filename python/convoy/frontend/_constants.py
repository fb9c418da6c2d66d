# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Evaluates what depends only on constants: masks, position ids, tables of indices, frequencies.

Tensors without elements are constants too, whatever they are computed from.

Constants are tensors that no new weights can replace: creation ops such as arange, lifted tensors,
and buffers that are not in the `state_dict`. PyTorch itself computes the values, so ops without a
conversion to `tcp` are allowed, and the values have PyTorch's rounding whatever the compute type of
the compiled model is. What depends on parameters or persistent buffers is not evaluated here: the
compiler moves it into `@prepare_weights`, which runs again for new weights.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx.node import map_arg

from convoy.frontend._causal import CausalMask
from convoy.frontend._convert import has_same_bytes
from convoy.frontend._known_segments import simplify_segments
from convoy.frontend._known_sizes import use_known_sizes
from convoy.frontend._progressions import simplify_indices
from convoy.frontend._real_view import real_view
from convoy.frontend._registry import CONVERTERS
from convoy.frontend._types import unsupported_dtype

__all__ = ["fold_constants"]

#: Ops whose result has undefined values.
_UNINITIALIZED = ("aten.empty", "aten.new_empty")

#: Ops that repeat elements of their argument. They remain, to keep the constant small.
_REPEATS = (torch.ops.aten.expand.default,)
#: Ops whose result is their argument. They remain, so that a constant keeps its name.
_COPIES = (
    torch.ops.aten.lift_fresh_copy.default,
    torch.ops.aten.detach.default,
    torch.ops.aten.alias.default,
    torch.ops.aten.clone.default,
)


def fold_constants(program: torch.export.ExportedProgram, *, merges: bool = True) -> None:
    """Makes values that depend only on constants constants of the program.

    A creation op whose result is used directly remains. A value with equal elements becomes
    aten.full, and a causal mask a comparison of indices. Constants that have no other use are
    removed.

    Args:
        program: An exported program. Its graph, its signature and its constants are modified.
        merges: Whether equal constants become one.
    """
    graph, specs = program.graph, program.graph_signature.input_specs
    constants = _constants(program)
    known = _known_values(graph, constants)
    use_known_sizes(graph, known)
    simplify_indices(graph, known)
    simplify_segments(graph, known)
    used = {node.name for node in graph.nodes if node.users and node.name in constants}
    last = [node for node in graph.nodes if node.op == "placeholder"][-1:]
    made: dict[tuple[torch.dtype, torch.Size], list[torch.fx.Node]] = {}
    for node in _replaced(graph, known):
        value = known[node]
        if (splat := _splat(value)) is not None:
            with graph.inserting_before(node):
                new = graph.call_function(
                    torch.ops.aten.full.default,
                    (list(value.shape), splat),
                    {"dtype": value.dtype, "device": value.device, "pin_memory": False},
                )
        elif (mask := CausalMask.of(value)) is not None:
            # A placeholder may be replaced as well, and all of them come first.
            start = next(each for each in graph.nodes if each.op != "placeholder")
            with graph.inserting_before(start):
                new = mask.create(graph, node)
        elif (
            merges
            and (equal := _equal(value, made.get((value.dtype, value.shape), []), program))
            is not None
        ):
            node.replace_all_uses_with(equal)
            continue
        else:
            with graph.inserting_after(*last) if last else graph.inserting_before():
                new = graph.placeholder(f"{node.name}_value")
            last = [new]
            made.setdefault((value.dtype, value.shape), []).append(new)
            program.constants[new.name] = value.contiguous()
            argument = TensorArgument(name=new.name)
            specs.append(InputSpec(InputKind.CONSTANT_TENSOR, argument, new.name))
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
    for node in reversed(list(graph.nodes)):
        if node in known and not node.users and (node.op != "placeholder" or node.name in used):
            graph.erase_node(node)
    kept = {node.name for node in graph.nodes if node.op == "placeholder"}
    specs[:] = [spec for spec in specs if spec.arg.name in kept]


def _equal(
    value: torch.Tensor, made: Sequence[torch.fx.Node], program: torch.export.ExportedProgram
) -> torch.fx.Node | None:
    """The constant that has the same bytes, e.g. the matrix of another Fourier transform."""
    same = (each for each in made if has_same_bytes(program.constants[each.name], value))
    return next(same, None)


def _constants(program: torch.export.ExportedProgram) -> dict[str, torch.Tensor]:
    """The tensors that no new weights can replace, by the names of their placeholders."""
    values = {
        node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"
    }
    return {
        spec.arg.name: _constant(program.constants[spec.target], values[spec.arg.name])
        for spec in program.graph_signature.input_specs
        if isinstance(spec.arg, TensorArgument)
        and spec.target in program.constants
        and (
            spec.kind is InputKind.CONSTANT_TENSOR
            or (spec.kind is InputKind.BUFFER and not spec.persistent)
        )
    }


def _constant(tensor: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """A constant as the placeholder has it: `lower_complex` makes complex ones real."""
    return tensor if value.is_complex() else real_view(tensor)


def _known_values(
    graph: torch.fx.Graph, constants: Mapping[str, torch.Tensor]
) -> dict[torch.fx.Node, Any]:
    """The values of all nodes that depend only on constants."""
    known: dict[torch.fx.Node, Any] = {}
    for node in graph.nodes:
        if node.op == "placeholder" and node.name in constants:
            known[node] = constants[node.name].detach()
        elif (undefined := _undefined_value(node)) is not None:
            known[node] = undefined
        elif (
            node.op == "call_function"
            and _is_pure(node.target)
            and all(each in known for each in node.all_input_nodes)
        ):
            _evaluate(node, known)
    return known


def _undefined_value(node: torch.fx.Node) -> torch.Tensor | None:
    """Zeros for a result without elements, whatever it is computed from, and for a result whose
    values PyTorch does not define: artifacts do not depend on what was in memory."""
    value = node.meta.get("val")
    # Sizes that depend on values are SymInts, which raise an error when they are compared.
    if not isinstance(value, torch.Tensor) or not all(isinstance(n, int) for n in value.shape):
        return None
    if 0 not in value.shape and not _is_uninitialized(node):
        return None
    return torch.zeros(tuple(value.shape), dtype=value.dtype)


def _is_uninitialized(node: torch.fx.Node) -> bool:
    return str(node.target).startswith(_UNINITIALIZED)


def _is_pure(target: Any) -> bool:
    """Whether an op returns equal values in each run, and has no other effect."""
    if target is operator.getitem:
        return True
    return (
        isinstance(target, torch._ops.OpOverload)
        and target.namespace == "aten"
        and not target._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in target.tags
    )


def _evaluate(node: torch.fx.Node, known: dict[torch.fx.Node, Any]) -> None:
    """Adds the value of a node. An op that PyTorch cannot run on these values is left alone: its
    conversion reports it."""
    values: Mapping[torch.fx.Node, Any] = known
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: values[each])
    try:
        with torch.no_grad():
            known[node] = node.target(*args, **kwargs)  # type: ignore[operator]
    except (RuntimeError, NotImplementedError, IndexError, ValueError):
        return


def _replaced(graph: torch.fx.Graph, known: Mapping[torch.fx.Node, Any]) -> Sequence[torch.fx.Node]:
    """The evaluated nodes with a user that needs their value, in the order of the graph."""
    remaining: set[torch.fx.Node] = set()
    nodes: list[torch.fx.Node] = []
    for node in reversed(graph.nodes):
        if node in known and any(user not in known or user in remaining for user in node.users):
            if _remains(node, known):
                remaining.add(node)
            elif _has_type(known[node]) and (
                node.all_input_nodes
                or _is_uninitialized(node)
                or (node.op == "call_function" and _name(node) not in CONVERTERS)
                or (node.op == "placeholder" and CausalMask.of(known[node]))
            ):
                nodes.append(node)
    return nodes[::-1]


def _name(node: torch.fx.Node) -> str:
    return str(node.target).removesuffix(".default")


def _has_type(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not unsupported_dtype(value.dtype.to_real())


def _remains(node: torch.fx.Node, known: Mapping[torch.fx.Node, Any]) -> bool:
    """Whether a known op is not replaced by its value."""
    if node.target in _COPIES:
        source = node.all_input_nodes[0]
        return source.op == "placeholder" or _remains(source, known)
    return node.target in _REPEATS and known[node].numel() > known[node.all_input_nodes[0]].numel()


def _splat(value: torch.Tensor) -> float | int | bool | None:
    """The element if all are equal, 0 if there is none. None for complex numbers, for NaN, whose
    bits a number does not keep, and for zeros of both signs."""
    if value.numel() == 0:
        return 0
    first = value.reshape(-1)[0]
    if value.numel() > 1 and not bool((value == first).all()):
        return None
    if (
        value.is_complex()
        or first != first
        or (value.is_floating_point() and bool((value.signbit() != first.signbit()).any()))
    ):
        return None
    number: float | int | bool = first.item()
    return number
