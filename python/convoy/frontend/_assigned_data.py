# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Assignments to the data of parameters and buffers, as by models that merge the weights of several
convolutions in `forward`. They are in no op: `tensor.data = value` gives the tensor the memory of
the value. While a model is recorded, the value takes the place of the tensor in the ops that
follow. Such a tensor has no value from before the call, so no op may use it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import torch
import torch.utils._pytree as pytree

from convoy.frontend._attributes import Assignments, current_assignments
from convoy.frontend._source_lines import is_own

__all__ = ["AssignedData", "check_assigned_data"]


class AssignedData:
    """The parameters and buffers whose data was assigned, with their values.

    Args:
        module: The module that is recorded.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module
        # The tensors are kept, so that no other tensor has their identity.
        self._values: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def assign(self, tensor: torch.Tensor, value: torch.Tensor) -> bool:
        """Records an assignment.

        Args:
            tensor: The tensor whose data is assigned.
            value: The value.

        Returns:
            Whether the tensor is a parameter or buffer of the module.
        """
        found = current_assignments()
        names = self._names(tensor)
        if found is None or not names:
            return False
        self._values[id(tensor)] = (tensor, value.detach())
        found.data.update(dict.fromkeys(names, _own_line(sys._getframe(1))))
        return True

    def replaced(
        self, args: Sequence[Any], kwargs: Mapping[str, Any] | None
    ) -> tuple[Sequence[Any], Mapping[str, Any] | None]:
        """Replaces tensors by the values that were assigned to them.

        Args:
            args: The arguments of a function.
            kwargs: Its keyword arguments.

        Returns:
            The arguments and the keyword arguments.
        """
        return pytree.tree_map(self._value, (args, kwargs)) if self._values else (args, kwargs)

    def _value(self, leaf: Any) -> Any:
        return self._values[id(leaf)][1] if id(leaf) in self._values else leaf

    def _names(self, tensor: torch.Tensor) -> list[str]:
        named = [
            *self._module.named_parameters(remove_duplicate=False),
            *self._module.named_buffers(remove_duplicate=False),
        ]
        return [name for name, each in named if each is tensor]


def _own_line(frame: FrameType | None) -> str:
    """`FILE:LINE: ` of the innermost frame of the model's source; empty without one."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: " if frame is not None else ""


def check_assigned_data(program: torch.export.ExportedProgram, assignments: Assignments) -> None:
    """Refuses a program that uses the value that a parameter or buffer has before its data is
    assigned: in the next call it is another one.

    Args:
        program: The exported program.
        assignments: Those of its export.

    Raises:
        RuntimeError: An op or a result uses such a value. The message has the line of the model.
    """
    signature = program.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    for node in program.graph.find_nodes(op="placeholder"):
        name = names.get(node.name)
        if name in assignments.data and node.users:
            msg = (
                f"{assignments.data[name]}the model assigns to the data of '{name}', and uses "
                "the tensor itself before or as a result; expected a model that takes the value as "
                "an input and returns the new one"
            )
            raise RuntimeError(msg)
