# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The collections and objects that are attributes of a model, and what they hold."""

from __future__ import annotations

import sys
from collections import deque
from enum import Enum
from typing import Any

import torch

from convoy.frontend._source_lines import is_own

__all__ = ["contents", "is_equal_number", "is_same_content", "items", "join", "restore"]

_Module = torch.nn.Module
#: What is no state of a model, even where it is an attribute.
_NOT_WALKED = (_Module, torch.Tensor, type, str, bytes, int, float, complex)
#: Containers and objects of a model whose changes are found.
_MOST_WALKED = 10_000


def join(path: str, name: str) -> str:
    """The path of a part of a model."""
    return f"{path}.{name}" if path else name


def contents(module: torch.nn.Module) -> list[tuple[str, Any, list[Any]]]:
    """The collections and objects that are attributes of a model, and those in them.

    Args:
        module: The model.

    Returns:
        The path of the attribute, the collection or object, and its items.
    """
    known = set(vars(_Module()))
    rest: deque[tuple[str, Any]] = deque()
    for path, part in module.named_modules():
        rest += [(join(path, name), each) for name, each in vars(part).items() if name not in known]
    found: list[tuple[str, Any, list[Any]]] = []
    seen: set[int] = set()
    while rest and len(found) < _MOST_WALKED:
        name, value = rest.popleft()
        if isinstance(value, _NOT_WALKED) or id(value) in seen:
            continue
        seen.add(id(value))
        if (held := items(value)) is not None:
            found.append((name, value, held))
            rest += [(name, each) for each in held if not isinstance(each, _NOT_WALKED)]
    return found


def items(value: Any) -> list[Any] | None:
    """The items of a collection, or the names and values of the attributes of an object.

    Args:
        value: Anything.

    Returns:
        The keys of a dict are before its values. None if it has no items.
    """
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, (list, deque)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=id)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Enum):
        return None
    kind = type(value)
    is_object = hasattr(value, "__dict__") and not callable(value) and _is_own_class(kind)
    return [*vars(value), *vars(value).values()] if is_object else None


def restore(value: Any, held: list[Any]) -> None:
    """Gives an object or a collection other items.

    Args:
        value: The object or collection, which is not constant.
        held: What `items` has returned for it.
    """
    half = len(held) // 2
    if isinstance(value, (list, deque)):
        value.clear()
        value.extend(held)
    elif isinstance(value, set):
        value.clear()
        value.update(held)
    else:
        content = value if isinstance(value, dict) else vars(value)
        content.clear()
        content.update(zip(held[:half], held[half:], strict=True))


def _is_own_class(kind: type) -> bool:
    """Whether a class is of the user's code."""
    source = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return source is not None and is_own(source)


def is_same_content(before: list[Any], after: list[Any] | None) -> bool:
    """Whether items are the same objects or equal numbers."""
    if after is None or len(before) != len(after):
        return False
    return all(a is b or is_equal_number(a, b) for a, b in zip(before, after, strict=True))


def is_equal_number(a: Any, b: Any) -> bool:
    """Whether both are numbers or strings of one type, and equal."""
    plain = (bool, int, float, complex, str, bytes)
    return isinstance(a, plain) and type(a) is type(b) and a == b
