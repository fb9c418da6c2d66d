# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Objects of classes that PyTorch does not know as structures of tensors, such as the caches of
transformers among the inputs and results of a decoder: their items are their attributes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.dynamic_shapes import _IntWrapper

__all__ = ["Attributes", "register_objects", "registered_results"]

_NUMBERS = (bool, int, float, str, type(None), torch.SymInt, torch.SymFloat, torch.SymBool)
#: Leaves of structures; torch.export replaces the integers among inputs for a while.
_LEAVES = (torch.Tensor, *_NUMBERS, _IntWrapper)
#: What is part of the model or of Python, even where it is an attribute.
_NOT_WALKED = (torch.nn.Module, type)
_COLLECTIONS = (list, tuple, dict, set, frozenset)

#: The classes that this module has registered.
_REGISTERED: set[type] = set()


@dataclass(frozen=True)
class Attributes:
    """The attributes of an object of a class that `register_objects` registered.

    Attributes:
        names: Those that consist of tensors, numbers, strings, bools and None.
        others: All others with their values, such as the type of a tensor.
    """

    names: tuple[str, ...]
    others: Mapping[str, Any] = field(compare=False)

    def __deepcopy__(self, memo: Any) -> Attributes:
        # torch.export copies what describes structures; the objects among them remain the same.
        return self


def register_objects(tree: Any) -> None:
    """Registers the classes of objects with tensors at torch.utils._pytree, as
    torch.export.register_dataclass does for a dataclass. It registers nothing if an object is part
    of itself, or has tensors in a set or in a subclass of a list or dict, or in a list with what
    has no attributes.

    Args:
        tree: A structure of any objects.
    """
    walk = _Walk()
    walk.holds_tensors(tree)
    if walk.is_refused:
        return
    for each in walk.classes:
        _REGISTERED.add(each)
        pytree.register_pytree_node(
            each,
            _flatten,
            _Unflatten(each),
            serialized_type_name=f"{each.__module__}.{each.__qualname__}",
            flatten_with_keys_fn=_flatten_with_keys,
        )


@contextlib.contextmanager
def registered_results(module: torch.nn.Module) -> Iterator[None]:
    """Registers the classes of objects among a module's results when it returns them.

    Args:
        module: The module.
    """
    hook = module.register_forward_hook(lambda _, __, results: register_objects(results))
    try:
        yield
    finally:
        hook.remove()


class _Walk:
    """Finds the classes of objects with tensors."""

    def __init__(self) -> None:
        self.classes: dict[type, None] = {}
        self.is_refused = False
        #: By identity; None while an object is walked.
        self._found: dict[int, bool | None] = {}

    def holds_tensors(self, value: Any) -> bool:
        # Attributes of a registered class may have objects of other classes.
        leaves = pytree.tree_leaves(value, is_leaf=lambda each: type(each) in _REGISTERED)
        # A list, because all parts are walked.
        holds = any([self._leaf_holds_tensors(leaf) for leaf in leaves])
        if holds:
            self._register_beside(leaves)
        return holds

    def _register_beside(self, leaves: list[Any]) -> None:
        """Objects without tensors in one structure with tensors, such as the layers of a cache that
        keep nothing. A structure is an item as a whole."""
        for leaf in leaves:
            if isinstance(leaf, _LEAVES) or type(leaf) in _REGISTERED:
                continue
            is_object = hasattr(leaf, "__dict__") and not callable(leaf)
            if is_object and not isinstance(leaf, (*_NOT_WALKED, *_COLLECTIONS, Enum)):
                self.classes[type(leaf)] = None
            else:
                self.is_refused = True

    def _leaf_holds_tensors(self, leaf: Any) -> bool:
        if isinstance(leaf, torch.Tensor):
            return True
        if isinstance(leaf, (*_NUMBERS, *_NOT_WALKED)):
            return False
        if id(leaf) in self._found:
            found = self._found[id(leaf)]
            self.is_refused |= found is None
            return bool(found)
        self._found[id(leaf)] = None
        if isinstance(leaf, _COLLECTIONS):
            items = list(leaf.values() if isinstance(leaf, dict) else leaf)
            holds = self.holds_tensors(items)
            self.is_refused |= holds
        else:
            own = getattr(leaf, "__dict__", {})
            holds = any([self.holds_tensors(each) for each in own.values()])
            if holds and type(leaf) not in _REGISTERED:
                self.classes[type(leaf)] = None
        self._found[id(leaf)] = holds
        return holds


def _is_item(value: Any) -> bool:
    return all(isinstance(leaf, _LEAVES) for leaf in pytree.tree_leaves(value))


def _flatten(value: Any) -> tuple[list[Any], Attributes]:
    own = vars(value)
    names = tuple(name for name, each in own.items() if _is_item(each))
    others = {name: each for name, each in own.items() if name not in names}
    return [own[name] for name in names], Attributes(names, others)


def _flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Attributes]:
    items, attributes = _flatten(value)
    # torch.export replaces paths in the text of its guards, where "x.a" is a part of "x.ab".
    keys: list[Any] = [pytree.MappingKey(name) for name in attributes.names]
    return list(zip(keys, items, strict=True)), attributes


@dataclass(frozen=True)
class _Unflatten:
    """Makes an object with other items, without its constructor."""

    kind: type

    def __call__(self, items: Any, attributes: Attributes) -> Any:
        made: Any = object.__new__(self.kind)
        made.__dict__.update(zip(attributes.names, items, strict=True))
        made.__dict__.update(attributes.others)
        return made
