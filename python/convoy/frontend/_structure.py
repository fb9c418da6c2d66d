# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Describes the nesting of a module's arguments and results for the manifest."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import torch.utils._pytree as pytree
from torch.export.graph_signature import ConstantArgument, TensorArgument

from convoy.errors import InputError
from convoy.frontend._objects import Attributes
from convoy_runtime.manifest_structure import Node

__all__ = ["describe"]


def describe(spec: pytree.TreeSpec, leaves: list[Any]) -> tuple[Node, ...]:
    """The nodes of a structure.

    Args:
        spec: The structure in PyTorch's form. Objects of other registered classes than dataclasses
            and named tuples become tuples of their items.
        leaves: The arguments of the graph's signature at the leaves.

    Returns:
        The nodes in pre-order.

    Raises:
        InputError: A constant is neither a number, a string, a bool nor None, or a key of a dict is
            neither a string nor a number.
    """
    return tuple(_nodes(spec, iter(leaves)))


def _nodes(spec: pytree.TreeSpec, leaves: Iterator[Any]) -> Iterator[Node]:
    if spec.is_leaf():
        yield _leaf(next(leaves))
        return
    node, missing = _container(spec)
    yield node
    for child in spec.children():
        yield from _nodes(child, leaves)
    for _ in range(missing):
        yield Node("constant", value="null")


def _leaf(argument: Any) -> Node:
    if isinstance(argument, TensorArgument):
        return Node("tensor")
    value = argument.value if isinstance(argument, ConstantArgument) else argument
    return Node("constant", value=_json(value, "a constant among the arguments or results"))


def _container(spec: pytree.TreeSpec) -> tuple[Node, int]:
    """The node of a container, and how many of its fields are None without being in the spec."""
    kind, context = spec.type, spec.context
    if kind in (tuple, list):
        return Node(kind.__name__, count=spec.num_children), 0
    if kind in (dict, collections.OrderedDict, collections.defaultdict):
        keys = context[1] if kind is collections.defaultdict else context
        return Node("dict", keys=tuple(_json(key, "a key of a dict") for key in keys)), 0
    if kind is collections.namedtuple:
        return Node("namedtuple", keys=context._fields, type=_name(context)), 0
    if kind.__module__ == "torch.return_types":
        # What ops such as torch.sort return is no named tuple, but has fields like one.
        return Node("namedtuple", keys=kind.__match_args__, type=_name(kind)), 0
    if isinstance(context, Attributes):
        return Node("dataclass", keys=context.names, type=_name(kind)), 0
    if dataclasses.is_dataclass(kind) and context:
        # torch.export lists the fields that are None apart; transformers leaves them out.
        names, none = context if isinstance(context[0], list) else (context, ())
        return Node("dataclass", keys=(*names, *none), type=_name(kind)), len(none)
    return Node("tuple", count=spec.num_children), 0


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _json(value: Any, what: str) -> str:
    if value is not None and not isinstance(value, (bool, int, float, str)):
        msg = f"{what}: expected a number, a string, a bool or None, got {value!r}"
        raise InputError(msg)
    return json.dumps(value)
