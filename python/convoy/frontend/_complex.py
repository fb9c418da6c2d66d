# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Rewrites complex tensors of an exported graph into pairs of real ones: `tcp` has no complex
numbers.

The rules of `convoy.frontend._complex_rules` say how an op is computed with real tensors. Each is
traced with the shapes of the op, and the traced aten ops replace it, so that converters see real
tensors only. A complex weight becomes a real one whose last dim has the real and the imaginary part
(`torch.view_as_real`), with the same name. The locations of all ops have the place by which they
compute in float32 (`convoy.complex_numbers`).
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.export.graph_signature import InputKind, TensorArgument
from torch.utils import _pytree as pytree

from convoy.complex_numbers import PLACE
from convoy.errors import InputError, SourceLine, UnsupportedOp, UnsupportedOpsError
from convoy.frontend._builder import Unsupported
from convoy.frontend._complex_rules import RULES, Complex, ComplexCall, Rule, real_dtype
from convoy.frontend._emitter import Emitter
from convoy.frontend._export import decompositions
from convoy.frontend._inline import arguments_by_name, inline
from convoy.frontend._real_view import complex_input
from convoy.frontend._source_lines import add_place, line_of
from convoy.frontend._types import dtype_name

__all__ = ["lower_complex"]

aten = torch.ops.aten
_NO_RULE = "it has no conversion to tcp for complex numbers; expected real tensors"


def lower_complex(program: torch.export.ExportedProgram) -> bool:
    """Rewrites all complex tensors of a program.

    Args:
        program: A decomposed program. Its graph is modified; the data of its weights are not.

    Returns:
        Whether the program has complex tensors.

    Raises:
        InputError: An input or a result is complex.
        UnsupportedOpsError: Ops on complex tensors have no rule; lists all of them.
    """
    if not any(_has_complex(node.meta.get("val")) for node in program.graph.nodes):
        return False
    _check_inputs(program)
    _Lowering(program.graph).run()
    return True


def _has_complex(value: Any) -> bool:
    return any(
        isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in pytree.tree_leaves(value)
    )


def _check_inputs(program: torch.export.ExportedProgram) -> None:
    values = {n.name: n.meta["val"] for n in program.graph.nodes if n.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT and isinstance(spec.arg, TensorArgument):
            problem = complex_input(values[spec.arg.name].dtype)
            if problem:
                msg = f"input '{spec.arg.name}': {problem}"
                raise InputError(msg)


class _Lowering:
    def __init__(self, graph: torch.fx.Graph) -> None:
        self._graph = graph
        #: The parts of complex nodes: a `Complex` of nodes, or a list of them.
        self._parts: dict[torch.fx.Node, Any] = {}
        #: The parts that nodes in place of aten.view_as_real are made of.
        self._stacked: dict[torch.fx.Node, Complex] = {}
        self._failures: dict[tuple[str, str], list[SourceLine]] = {}

    def run(self) -> None:
        for node in list(self._graph.nodes):
            if node.op == "placeholder" and _has_complex(node.meta.get("val")):
                self._placeholder(node)
            elif node.op == "call_function" and self._concerns(node):
                add_place(node, PLACE)
                with self._graph.inserting_before(node):
                    self._call(node)
            elif node.op == "output":
                _check_results(node)
        if self._failures:
            raise UnsupportedOpsError(
                UnsupportedOp(op, reason, tuple(lines))
                for (op, reason), lines in self._failures.items()
            )
        for node in reversed(list(self._graph.nodes)):
            unused = node in self._stacked or self._concerns(node)
            if node.op == "call_function" and unused and not node.users:
                self._graph.erase_node(node)

    def _concerns(self, node: torch.fx.Node) -> bool:
        return any(map(self._is_complex, (node, *node.all_input_nodes))) or (
            node.target is aten.select.int and node.args[0] in self._stacked
        )

    def _is_complex(self, node: torch.fx.Node) -> bool:
        """Whether a node is complex in the model."""
        return node in self._parts or _has_complex(node.meta.get("val"))

    def _placeholder(self, node: torch.fx.Node) -> None:
        value = node.meta["val"]
        with value.fake_mode, torch.no_grad():
            node.meta["val"] = torch.view_as_real(value)
        node.meta.pop("tensor_meta", None)
        first = next(each for each in self._graph.nodes if each.op != "placeholder")
        with self._graph.inserting_before(first):
            emit = Emitter(self._graph, node)
            re, im = (emit(aten.select.int, node, value.ndim, index) for index in range(2))
        self._parts[node] = Complex(re, im)

    def _call(self, node: torch.fx.Node) -> None:
        complex_inputs = filter(self._is_complex, node.all_input_nodes)
        if any(each not in self._parts for each in complex_inputs):
            return  # follows from an op that is already listed
        if node.target is operator.getitem:
            source, index = node.args
            self._parts[node] = self._parts[source][index]  # type: ignore[index]
            return
        if node.meta.get("val") is None:
            return  # a check of torch.export
        if node.target is aten.select.int and node.args[0] in self._stacked:
            self._select(node)
            return
        made = self._traced(node)
        if made is None:
            return
        if _has_complex(node.meta["val"]):
            self._parts[node] = made
            return
        if not made.users:
            # aten.as_strided depends on PyTorch's strides.
            made.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(made)
        if node.target is aten.view_as_real.default:
            self._stacked[made] = self._parts[node.args[0]]  # type: ignore[index]

    def _select(self, node: torch.fx.Node) -> None:
        """A part of `torch.view_as_real`, without the tensor that has both."""
        source, dim, index = node.args
        parts = self._stacked[source]  # type: ignore[index]
        rank = source.meta["val"].ndim  # type: ignore[union-attr]
        part = parts[index] if dim in (-1, rank - 1) else None  # type: ignore[index]
        if part is not None and part.meta["val"].shape == node.meta["val"].shape:
            node.replace_all_uses_with(part)

    def _traced(self, node: torch.fx.Node) -> Any:
        """The nodes of an op's results, made by its rule. None if it is refused."""
        target = node.target
        rule = RULES.get(_name(target))
        try:
            if rule is None:
                raise Unsupported(_NO_RULE)
            assert isinstance(target, torch._ops.OpOverload)
            return self._inlined(node, target, rule)
        except Unsupported as problem:
            key = (str(target).removesuffix(".default"), str(problem))
            self._failures.setdefault(key, []).append(line_of(node))
            return None

    def _inlined(self, node: torch.fx.Node, target: torch._ops.OpOverload, rule: Rule) -> Any:
        """Traces a rule, and copies the nodes into the graph."""
        arguments = torch.fx.node.map_aggregate(
            arguments_by_name(node, target),
            lambda each: self._parts.get(each, each) if isinstance(each, torch.fx.Node) else each,
        )
        leaves, spec = pytree.tree_flatten(arguments)
        inputs = list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, torch.fx.Node)))
        structure: list[pytree.TreeSpec] = []

        def function(*tensors: torch.Tensor) -> list[Any]:
            known = dict(zip(inputs, tensors, strict=True))
            values = [
                known.get(leaf, leaf) if isinstance(leaf, torch.fx.Node) else leaf
                for leaf in leaves
            ]
            call = ComplexCall(target, pytree.tree_unflatten(values, spec), node.meta["val"])
            flat, made = pytree.tree_flatten(_fitted(rule(call), node.meta["val"]))
            structure.append(made)
            return flat

        mode = next(leaf for leaf in pytree.tree_leaves(node.meta["val"])).fake_mode
        made = inline(self._graph, node, function, inputs, mode, decompositions())
        return pytree.tree_unflatten(made, structure[-1])


def _check_results(output: torch.fx.Node) -> None:
    for index, value in enumerate(output.args[0]):  # type: ignore[arg-type]
        if isinstance(value, torch.fx.Node) and _has_complex(value.meta.get("val")):
            line = line_of(value)
            place = f", at {line}" if line.line else ""
            msg = (
                f"output {index}: expected a real tensor, got {dtype_name(value.meta['val'].dtype)}"
                f"{place}; return torch.view_as_real(x)"
            )
            raise InputError(msg)


def _name(target: Any) -> str:
    packet = getattr(target, "overloadpacket", None)
    return str(packet) if packet is not None else str(target)


def _fitted(value: Any, expected: Any) -> Any:
    """The results of a rule with the dtypes and shapes of Torch's results."""
    if isinstance(expected, (list, tuple)):
        return [_fitted(item, each) for item, each in zip(value, expected, strict=True)]
    if not expected.is_complex():
        return _fitted_part(value, expected)
    re, im = value
    return Complex(
        _fitted_part(0 if re is None else re, expected),
        None if im is None else _fitted_part(im, expected),
    )


def _fitted_part(part: torch.Tensor | float, expected: torch.Tensor) -> torch.Tensor:
    dtype = real_dtype(expected.dtype)
    if not isinstance(part, torch.Tensor):
        return torch.full(expected.shape, part, dtype=dtype, device=expected.device)
    part = part if part.dtype == dtype else part.to(dtype)
    return part if part.shape == expected.shape else part.expand(expected.shape)
