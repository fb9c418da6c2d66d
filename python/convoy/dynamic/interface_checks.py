# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Refuses sizes that do not fit the example inputs, and results that are numbers of sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.graph_signature import OutputKind

from convoy.errors import InputError

__all__ = ["check_dims", "check_results"]


def check_dims(tensor: torch.Tensor, entry: Mapping[int, Any], name: str) -> None:
    """Checks the dynamic dims of an input.

    Args:
        tensor: The example input.
        entry: Its entry of `dynamic_shapes`: dim to Dim, hint, number or None.
        name: Its argument, for messages.

    Raises:
        InputError: It has no such dim, or its size there is not in the range of the Dim. A size of
            1 may be in any example.
    """
    rank = tensor.dim()
    for dim, each in entry.items():
        if not -rank <= dim < rank:
            message = (
                f"dynamic_shapes of input '{name}': expected a dim from 0 to {rank - 1} of a "
                f"tensor of shape {list(tensor.shape)}, got {dim}"
            )
            raise InputError(message)
        size, low, high = tensor.shape[dim], getattr(each, "min", None), getattr(each, "max", None)
        if low is None or high is None or size == 1 or low <= size <= high:
            continue
        message = (
            f"dynamic_shapes of input '{name}': expected an example of size {low} to {high} in "
            f"dim {dim}, the range of {each.__name__}, got {size}"
        )
        raise InputError(message)


def check_results(program: torch.export.ExportedProgram, names: Mapping[Any, str]) -> None:
    """Checks that numbers among the results are the same for all sizes: they are compiled in.

    Args:
        program: A program with symbolic sizes.
        names: Its symbols and their names.

    Raises:
        InputError: A result is a number that depends on a size.
    """
    returned = program.graph.output_node().args[0]
    specs = program.graph_signature.output_specs
    users = [
        value
        for value, spec in zip(returned, specs, strict=True)
        if spec.kind == OutputKind.USER_OUTPUT
    ]
    places = pytree.tree_unflatten(list(range(len(users))), program.call_spec.out_spec)
    for path, place in pytree.tree_leaves_with_path(places):
        node = users[place]
        value = node.meta["val"] if isinstance(node, torch.fx.Node) else node
        if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            continue
        expression = value.node.expr
        if expression.is_number:
            continue
        known = expression.free_symbols & names.keys()
        text = expression.xreplace({symbol: type(symbol)(names[symbol]) for symbol in known})
        message = (
            f"result{pytree.keystr(path)}: expected a tensor, or a number that is the same for all "
            f"sizes, got {text}; leave it out, and compute it from the sizes of the inputs"
        )
        raise InputError(message)
