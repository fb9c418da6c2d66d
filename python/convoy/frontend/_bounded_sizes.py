# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sizes that depend on the values of inputs, as the number of rows of `x[mask]`, where the model
computes each row by itself.

Shapes are static, so such a tensor has as many rows as it can have at most. The first ones are
those of the model, and nothing depends on the others: sums and maxima of rows leave them out, they
are sorted after all others, and they are written nowhere. So a mixture of experts that selects the
tokens of each expert computes all tokens by all experts, with the same result. Other uses of the
rows are refused, and results that consist of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.node import map_arg

from convoy.errors import UnsupportedOp, UnsupportedOpsError
from convoy.frontend._bounded_rules import NEUTRAL, keeps_apart, masked_index, takes_sizes
from convoy.frontend._bounded_slices import use_masks_for_slices
from convoy.frontend._bounded_sources import BoundedSources, is_source
from convoy.frontend._counts import use_known_counts
from convoy.frontend._export import decompositions
from convoy.frontend._inline import arguments_by_name, inline
from convoy.frontend._refused import reason_of
from convoy.frontend._source_lines import line_of
from convoy.frontend._tensor_numbers import use_tensors_for_numbers

__all__ = ["bound_sizes"]

aten = torch.ops.aten
_CHECKS = (aten._assert_scalar.default, aten.sym_constrain_range_for_size.default)
#: The arguments that are sizes of a new tensor.
_SIZES = {"size", "shape", "end"}


def bound_sizes(graph: Graph) -> bool:
    """Replaces the ops whose results have sizes that depend on values, and these sizes.

    Args:
        graph: A decomposed graph, whose known values are constants.

    Returns:
        Whether there were such ops.

    Raises:
        UnsupportedOpsError: The rows of such a tensor are not computed by themselves.
    """
    use_known_counts(graph)
    use_masks_for_slices(graph)
    if not any(map(is_source, graph.nodes)):
        return False
    _Bounding(graph).run()
    use_tensors_for_numbers(graph)
    return True


class _Bounding(BoundedSources):
    """Replaces the ops on what sources find."""

    def run(self) -> None:
        for node in list(self._graph.nodes):
            self._node = node
            with self._graph.inserting_before(node):
                if node.op == "output":
                    self._check_results(node)
                elif is_source(node):
                    self._source(node)
                elif node.op == "call_function":
                    self._step(node)
        for node in reversed(list(self._graph.nodes)):
            if node in self._numbers and not node.users:
                self._graph.erase_node(node)

    def _step(self, node: Node) -> None:
        numbers = [each for each in node.all_input_nodes if each in self._numbers]
        names = self._names(node.all_input_nodes)
        if not numbers and not names:
            return
        op = node.target
        if op is aten.sym_size.int:
            name = self._symbols[node.args[0]][node.args[1]]  # type: ignore[index]
            self._numbers[node] = name
            node.meta["val"] = self._sizes[name].bound if name in self._sizes else node.meta["val"]
        elif op in _CHECKS:
            self._graph.erase_node(node)
        elif not isinstance(node.meta.get("val"), (torch.Tensor, list, tuple)):
            self._numbers[node] = name = self._derived(node.meta.get("val"))
            if name is not None:
                node.meta["val"] = self._sizes[name].bound
            elif node.meta.get("val") is not None:
                self._describe(node)
        elif isinstance(op, OpOverload):
            self._use(node, op, names)
        else:
            self._describe(node)  # an item of a list of tensors

    def _use(self, node: Node, op: OpOverload, names: set[str]) -> None:
        self._use_counts(node, op)
        arguments = arguments_by_name(node, op)
        self._derive(self._values.get(node))
        if self._replaces(node, op, arguments):
            return
        arguments = arguments_by_name(node, op)
        if not self._takes_numbers(op, arguments):
            self._refuse(node, names or set(filter(None, map(self._numbers.get, node.args))))  # type: ignore[arg-type]
        if (neutral := NEUTRAL.get(op)) is not None and self._is_reduced(arguments):
            self._reduce(node, op, arguments, neutral)
            return
        dims = {name: self._dims(value) for name, value in arguments.items()}
        dims = {name: found for name, found in dims.items() if found}
        if (name := masked_index(op, dims)) is not None:
            self._mask_index(node, arguments, name)
        plain = map_arg(dict(arguments), lambda each: each.meta["val"])
        node.args, node.kwargs = map_arg(
            (node.args, node.kwargs),
            lambda each: each.meta["val"] if each in self._numbers else each,
        )
        try:
            self._describe(node)
        except (RuntimeError, ValueError):  # another size that is not the bound
            self._refuse(node, names)
        is_bounded = self._has_shape(self._symbols[node], node.meta["val"])
        if not is_bounded or not keeps_apart(op, plain, dims, node.meta["val"], self._dims(node)):
            self._refuse(node, names)

    def _use_counts(self, node: Node, op: OpOverload) -> None:
        """Replaces sizes among the operands of arithmetic by the numbers of valid rows."""
        kinds = {each.name: str(each.type) for each in op._schema.arguments}
        for name, value in arguments_by_name(node, op).items():
            size = self._numbers.get(value) if isinstance(value, Node) else None
            is_operand = "number" in kinds[name] or "Tensor" in kinds[name]
            if size in self._sizes and is_operand and name not in _SIZES:
                with self._mode.shape_env.ignore_fresh_unbacked_symbols():
                    number = self._emit(aten._local_scalar_dense.default, self._sizes[size].count)
                node.replace_input_with(value, number)

    def _takes_numbers(self, op: OpOverload, arguments: Mapping[str, Any]) -> bool:
        """Whether the numbers among arguments are sizes of the result."""
        taken = {
            name
            for name, value in arguments.items()
            for each in (value if isinstance(value, (list, tuple)) else [value])
            if isinstance(each, Node) and each in self._numbers
        }
        return not taken or (taken <= _SIZES and takes_sizes(op))

    def _has_shape(self, symbols: Any, value: Any) -> bool:
        """Whether the sizes that depend on values are bounds now."""
        if isinstance(value, (list, tuple)):
            return all(map(self._has_shape, symbols, value))
        shape = getattr(value, "shape", ())
        return len(shape) == len(symbols) and all(
            name is None
            # A size that is not known is not the bound.
            or (name in self._sizes and statically_known_true(size == self._sizes[name].bound))
            for name, size in zip(symbols, shape, strict=True)
        )

    def _is_reduced(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a reduction has a bounded dim."""
        x = arguments["self"]
        rank, dims = x.meta["val"].ndim, arguments.get("dim")
        given = [dims] if isinstance(dims, int) else dims
        every = range(rank) if not given else [each % rank for each in given]
        return bool(self._dims(x) & set(every))

    def _reduce(
        self, node: Node, op: OpOverload, arguments: Mapping[str, Any], neutral: float
    ) -> None:
        """A reduction without the rows that are not valid."""
        x = arguments["self"]
        dtype = x.meta["val"].dtype
        if dtype == torch.bool:
            neutral = neutral > 0
        elif not dtype.is_floating_point and math.isinf(neutral):
            limits = torch.iinfo(dtype)
            neutral = limits.min if neutral < 0 else limits.max
        if "mean" in str(op):
            self._mean(node, arguments)
            return
        node.replace_input_with(x, self._masked(x, neutral))
        self._describe(node)

    def _mean(self, node: Node, arguments: Mapping[str, Any]) -> None:
        """The sum over the number of valid elements."""
        x = arguments["self"]
        rank = x.meta["val"].ndim
        dims = [each % rank for each in arguments.get("dim") or range(rank)]
        names = {dim: self._symbols[x][dim] for dim in dims}
        others = math.prod(
            size for dim, size in enumerate(x.meta["val"].shape)
            if dim in names and names[dim] is None
        )  # fmt: skip
        counts = [self._sizes[name].count for name in names.values() if name is not None]
        masked, keep = self._masked(x, 0.0), arguments.get("keepdim") or False
        dtype = arguments.get("dtype") or x.meta["val"].dtype

        def function(values: torch.Tensor, *counted: torch.Tensor) -> list[torch.Tensor]:
            wide = values.to(torch.promote_types(dtype, torch.float32))
            number = math.prod(counted, start=torch.full([], others))
            return [(torch.sum(wide, dims, keepdim=keep) / number).to(dtype)]

        (made,) = inline(
            self._graph, node, function, [masked, *counts], self._mode, decompositions()
        )
        self._symbols[made] = self._symbols[node]
        node.replace_all_uses_with(made)
        self._graph.erase_node(node)

    # The end

    def _check_results(self, output: Node) -> None:
        for value in output.all_input_nodes:
            if names := self._names([value]):
                name = min(names)
                source = self._sizes[name].source
                lines = (line_of(self._sizes[name].count),)
                raise UnsupportedOpsError([UnsupportedOp(source, reason_of("aten.nonzero"), lines)])
