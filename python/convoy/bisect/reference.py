# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs an exported graph node by node in one float type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export.graph_signature import InputKind
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves, tree_map

from convoy.frontend._real_view import real_view

__all__ = ["Reference"]


class Reference:
    """An exported program whose floats have one type.

    Each op takes values of `dtype` and its result is converted to it. An op that converts to
    another type rounds to it first, unless that type is float32.

    Args:
        program: The program.
        inputs: The tensors of the inputs, flat.
        dtype: The type of all floats.
    """

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        inputs: Sequence[torch.Tensor],
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self._dtype = dtype
        self._nodes = list(program.graph.nodes)
        remaining = list(inputs)
        self._start: dict[torch.fx.Node, Any] = {}
        placeholders = [node for node in self._nodes if node.op == "placeholder"]
        for node, spec in zip(placeholders, program.graph_signature.input_specs, strict=True):
            if spec.kind is InputKind.USER_INPUT:
                value: Any = remaining.pop(0)
            else:
                value = program.state_dict.get(spec.target or "")
                value = program.constants[spec.target or ""] if value is None else value
            self._start[node] = self.cast(real_view(value))

    def cast(self, value: Any) -> Any:
        """Converts floating-point tensors to the type, also in lists."""
        return tree_map(
            lambda each: (
                each.detach().to(self._dtype)
                if isinstance(each, torch.Tensor) and each.is_floating_point()
                else each
            ),
            value,
        )

    def run(
        self, replaced: Mapping[torch.fx.Node, torch.Tensor] | None = None
    ) -> dict[torch.fx.Node, Any]:
        """Runs all nodes.

        Args:
            replaced: Values to use in place of those of nodes.

        Returns:
            Node to value. Those of `replaced` are computed from their replaced operands, and
            replaced for the nodes after them.

        Raises:
            RuntimeError: PyTorch cannot run an op in the type.
        """
        found = dict(self._start)
        used = dict(self._start)
        with torch.inference_mode():
            for node in self._nodes:
                if node.op in ("call_function", "output"):
                    found[node] = used[node] = self.node(node, used)
                if replaced is not None and node in replaced:
                    used[node] = self.cast(replaced[node])
        return found

    def outputs_with(
        self, values: Mapping[torch.fx.Node, Any], node: torch.fx.Node, value: torch.Tensor
    ) -> list[torch.Tensor]:
        """The outputs if one node had another value; only the nodes that depend on it run.

        Args:
            values: The value of each node.
            node: The node.
            value: Its other value.

        Returns:
            The outputs, flat.
        """
        found: dict[torch.fx.Node, Any] = {**values, node: self.cast(value)}
        changed = {node}
        with torch.inference_mode():
            for each in self._nodes:
                if not changed.isdisjoint(each.all_input_nodes) and each is not node:
                    found[each] = self.node(each, found)
                    changed.add(each)
        return self.outputs(found)

    def outputs(self, values: Mapping[torch.fx.Node, Any]) -> list[torch.Tensor]:
        """The outputs among the values of all nodes."""
        return [each for each in tree_leaves(values[self._nodes[-1]]) if each is not None]

    def node(self, node: torch.fx.Node, values: Mapping[torch.fx.Node, Any]) -> Any:
        """Computes a node from the values of its operands. Raises RuntimeError."""
        args, kwargs = map_arg((node.args, node.kwargs), lambda each: self.cast(values[each]))
        if node.op == "output":
            return args[0]
        assert callable(node.target)
        # Results in the model's usual type are not rounded to it.
        args, kwargs = tree_map(
            lambda each: self._dtype if each is torch.float32 else each, (args, kwargs)
        )
        return self.cast(node.target(*args, **kwargs))
