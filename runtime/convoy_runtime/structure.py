# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The nesting of a model's arguments and results: tuples, lists, dicts, named tuples, dataclasses.

A program has flat lists of inputs and outputs. The manifest describes how they are nested, so that
a program takes the arguments of the module and returns what it returns. Named tuples and
dataclasses are made of the module's own class if that is loaded already; nothing is imported.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from .errors import ArgumentError
from .manifest_structure import Node

__all__ = ["flatten", "is_flat", "is_positional", "unflatten"]


def is_flat(nodes: Sequence[Node]) -> bool:
    """Whether a structure says no more than the list of tensors: a tensor, a tuple of two and more
    tensors, or nothing."""
    kinds = [node.kind for node in nodes]
    return kinds in ([], ["tensor"]) or (
        len(kinds) > 2 and kinds[0] == "tuple" and set(kinds[1:]) == {"tensor"}
    )


def is_positional(nodes: Sequence[Node]) -> bool:
    """Whether the arguments of a call, a tuple of positional and a dict of keyword arguments, are
    positional tensors only."""
    kinds = [node.kind for node in nodes]
    return not kinds or (kinds[:2] == ["tuple", "tuple"] and set(kinds[2:-1]) <= {"tensor"}
                         and kinds[-1] == "dict" and not nodes[-1].keys)  # fmt: skip


def unflatten(nodes: Sequence[Node], leaves: Sequence[Any]) -> Any:
    """Nests a flat list.

    Args:
        nodes: The structure.
        leaves: One value for each tensor of the structure.

    Returns:
        The nested value.
    """
    rest, values = iter(nodes), iter(leaves)

    def build() -> Any:
        node = next(rest)
        if node.kind == "tensor":
            return next(values)
        if node.kind == "constant":
            return _value(node.value)
        items = [build() for _ in range(node.items)]
        return _made(node, items)

    return build()


def _made(node: Node, items: list[Any]) -> Any:
    if node.kind == "tuple":
        return tuple(items)
    if node.kind == "list":
        return items
    if node.kind == "dict":
        return dict(zip((_value(key) for key in node.keys), items, strict=True))
    make = _loaded_class(node)
    if node.kind == "namedtuple":
        own = make or namedtuple(node.type.rpartition(".")[2], node.keys)
        return own(*items)
    return (make or SimpleNamespace)(**dict(zip(node.keys, items, strict=True)))


@lru_cache(maxsize=4096)
def _value(text: str) -> Any:
    """The value of a key or a constant, which is immutable. Cached, because every call needs all of
    them, and parsing one takes 1.3 us."""
    return json.loads(text)


def _loaded_class(node: Node) -> Callable[..., Any] | None:
    """The class of a named tuple or a dataclass, if its module is loaded and it has these fields.
    Other classes are never called, whatever an artifact says."""
    module, _, name = node.type.rpartition(".")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and _fits(found, node.kind, node.keys) else None


@lru_cache(maxsize=256)
def _fits(found: Any, kind: str, names: tuple[str, ...]) -> bool:
    """Whether a class is a named tuple or a dataclass that can be made of fields with these names.
    Cached, because every call that returns one asks for it, which takes 2 us."""
    if kind == "namedtuple":
        return issubclass(found, tuple) and getattr(found, "_fields", None) == names
    if not dataclasses.is_dataclass(found):
        return False
    fields = [each for each in dataclasses.fields(found) if each.init]
    missing = dataclasses.MISSING
    required = {
        each.name for each in fields if each.default is missing and each.default_factory is missing
    }
    return required <= set(names) <= {each.name for each in fields}


def flatten(nodes: Sequence[Node], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The tensors among the arguments of a call.

    Args:
        nodes: The structure of `(args, kwargs)`.
        args: The positional arguments.
        kwargs: The keyword arguments.

    Returns:
        One value for each tensor of the structure.

    Raises:
        ArgumentError: The arguments have another structure, or a constant has another value than
            the one that was compiled.
    """
    leaves: list[Any] = []
    rest = iter(nodes)
    next(rest)  # the tuple of both
    positional = next(rest)
    _expect_count("positional arguments", positional.count, len(args))
    for index, value in enumerate(args):
        _take(rest, value, f"argument {index}", leaves)
    keywords = next(rest)
    names = [_value(key) for key in keywords.keys]
    _expect_keys("keyword arguments", names, list(kwargs))
    for name in names:
        _take(rest, kwargs[name], f"argument {name!r}", leaves)
    return leaves


def _take(rest: Iterator[Node], value: Any, path: str, leaves: list[Any]) -> None:
    """Appends the tensors of a value to `leaves`."""
    node = next(rest)
    if node.kind == "tensor":
        leaves.append(value)
        return
    if node.kind == "constant":
        expected = _value(node.value)
        if type(value) is not type(expected) or not _same(value, expected):
            # The text of an array has several lines.
            got = " ".join(repr(value).split())[:80]
            raise ArgumentError(
                argument=path, problem="is compiled in", expected=repr(expected), got=got
            )
        return
    for name, item in _items(node, value, path):
        _take(rest, item, f"{path}{name}", leaves)


def _same(value: Any, expected: Any) -> bool:
    """Whether two constants of one type are equal. NaN equals itself here."""
    return bool(value == expected) or (value != value and expected != expected)


def _items(node: Node, value: Any, path: str) -> list[tuple[str, Any]]:
    """The items of a value with the text of their access."""
    if node.kind in ("tuple", "list"):
        kind = tuple if node.kind == "tuple" else list
        if not isinstance(value, kind):
            raise _other(path, f"a {node.kind}", value)
        _expect_count(path, node.count, len(value))
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if node.kind == "dict":
        if not isinstance(value, Mapping):
            raise _other(path, "a dict", value)
        keys = [_value(key) for key in node.keys]
        _expect_keys(path, keys, list(value))
        return [(f"[{key!r}]", value[key]) for key in keys]
    missing = [name for name in node.keys if not hasattr(value, name)]
    if missing:
        raise _other(path, f"{node.type} with the fields {', '.join(node.keys)}", value)
    return [(f".{name}", getattr(value, name)) for name in node.keys]


def _other(path: str, expected: str, value: Any) -> ArgumentError:
    return ArgumentError(
        argument=path,
        problem="has another structure",
        expected=expected,
        got=type(value).__name__,
    )


def _expect_count(path: str, expected: int, got: int) -> None:
    if expected != got:
        raise ArgumentError(
            argument=path, problem="wrong number", expected=str(expected), got=str(got)
        )


def _expect_keys(path: str, expected: list[Any], got: list[Any]) -> None:
    if set(expected) != set(got):
        raise ArgumentError(
            argument=path,
            problem="wrong names",
            expected=", ".join(map(str, expected)) or "none",
            got=", ".join(map(str, got)) or "none",
        )
