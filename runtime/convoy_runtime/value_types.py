# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Frozen dataclasses that are fast to define.

`dataclasses` compiles six functions per class, which takes half a millisecond. The dozens of
classes of a load would take a fifth of its time. Here all classes share functions that iterate over
the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["value_type"]

_T = TypeVar("_T")


def _value_type(
    *, frozen: bool, slots: bool, kw_only: bool = False
) -> Callable[[type[_T]], type[_T]]:
    """Equivalent to `dataclasses.dataclass(frozen=True, slots=True)` except that `__post_init__` is
    not called. `dataclasses.replace`, `asdict` and `fields` work. The arguments are explicit for
    readers and type checkers."""
    if not (frozen and slots):
        message = "expected frozen=True and slots=True"
        raise TypeError(message)

    def define(cls: type[_T]) -> type[_T]:
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(
            cls
        )
        fields = dataclasses.fields(made)  # type: ignore[arg-type]
        names = tuple(field.name for field in fields)
        setters = tuple(getattr(made, name).__set__ for name in names)

        def one(self: Any) -> tuple[Any, ...]:
            return tuple(getattr(self, name) for name in names)

        # An `attrgetter` of one name returns its value, not a tuple.
        values: Callable[[Any], tuple[Any, ...]] = attrgetter(*names) if len(names) > 1 else one
        order = dict.fromkeys(names).keys()
        positional = tuple(field.name for field in fields if not field.kw_only)

        def initialize(self: Any, *given: Any, **named: Any) -> None:
            if not given and named.keys() == order:
                given = tuple([named[name] for name in names])
            elif named or len(given) != len(names) or len(positional) != len(names):
                given = _bind(made, fields, positional, given, named)
            for assign, value in zip(setters, given, strict=True):
                assign(self, value)

        def equal(self: Any, other: Any) -> Any:
            return (
                values(self) == values(other)
                if other.__class__ is self.__class__
                else NotImplemented
            )

        def restore(self: Any, state: tuple[Any, ...]) -> None:
            for assign, value in zip(setters, state, strict=True):
                assign(self, value)

        functions = {
            "__init__": initialize, "__eq__": equal, "__hash__": lambda self: hash(values(self)),
            "__repr__": _text,
            "__setattr__": _refuse, "__delattr__": _refuse,
            "__getstate__": lambda self: values(self), "__setstate__": restore,
        }  # fmt: skip
        for name, function in functions.items():
            if name not in cls.__dict__:
                setattr(made, name, function)
        return made

    return define


def _bind(
    cls: type,
    fields: tuple[dataclasses.Field[Any], ...],
    positional: tuple[str, ...],
    given: tuple[Any, ...],
    named: Mapping[str, Any],
) -> tuple[Any, ...]:
    """The value of each field. Raises TypeError with the messages of Python's functions."""
    call = f"{cls.__qualname__}.__init__()"
    if len(given) > len(positional):
        message = (
            f"{call} takes {len(positional) + 1} positional arguments but {len(given) + 1} "
            "were given"
        )
        raise TypeError(message)
    values = dict(zip(positional, given, strict=False))
    names = {field.name for field in fields}
    for name, value in named.items():
        if name in values or name not in names:
            fault = (
                "multiple values for argument"
                if name in values
                else "an unexpected keyword argument"
            )
            message = f"{call} got {fault} {name!r}"
            raise TypeError(message)
        values[name] = value
    for field in fields:
        if field.name in values:
            continue
        if field.default is not dataclasses.MISSING:
            values[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            values[field.name] = field.default_factory()
        else:
            message = f"{call} missing 1 required argument: {field.name!r}"
            raise TypeError(message)
    return tuple(values[field.name] for field in fields)


def _text(self: Any) -> str:
    shown = [f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self)]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: object, name: str, *_: object) -> None:
    message = f"cannot change field {name!r} of a value"
    raise dataclasses.FrozenInstanceError(message)


if TYPE_CHECKING:
    from dataclasses import dataclass as value_type
else:
    value_type = _value_type
