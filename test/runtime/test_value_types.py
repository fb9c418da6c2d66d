"""A value type behaves like the same class made by `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from abc import ABC, abstractmethod
from typing import Any

import pytest

from convoy_runtime.manifest import Manifest
from convoy_runtime.value_types import value_type


@value_type(frozen=True, slots=True)
class Ours:
    """Text."""

    name: str
    sizes: tuple[int, ...] = (1,)
    notes: dict[str, int] = dataclasses.field(default_factory=dict)


Theirs = dataclasses.make_dataclass(
    "Ours",
    [
        ("name", str),
        ("sizes", tuple[int, ...], (1,)),
        ("notes", dict[str, int], dataclasses.field(default_factory=dict)),
    ],
    frozen=True,
    slots=True,
)


@value_type(frozen=True, slots=True)
class Base(ABC):
    """Text."""

    one: int

    @abstractmethod
    def twice(self) -> int: ...


@value_type(frozen=True, slots=True)
class Derived(Base):
    """Text."""

    two: int = 2

    def twice(self) -> int:
        return 2 * self.one

    def __repr__(self) -> str:
        return "its own"


@value_type(frozen=True, slots=True, kw_only=True)
class Keywords:
    """Text."""

    a: int
    b: int = 0


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("x",), {}),
        (("x", (2, 3)), {"notes": {"a": 1}}),
        (("x", (2, 3), {"a": 1}), {}),
        ((), {"notes": {}, "sizes": (), "name": "x"}),
        ((), {"name": "x"}),
        (("x", (2,), {}, 4), {}),
        (("x",), {"name": "y"}),
        (("x",), {"colour": 1}),
        ((), {"sizes": (1,)}),
        ((), {"sizes": (1,), "notes": {}, "colour": 1}),
    ],
)
def test_constructor_equals_that_of_a_dataclass(
    given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    def made(cls: Any) -> tuple[Any, ...]:
        try:
            one = cls(*given, **named)
        except TypeError as error:
            text = (
                str(error)
                .replace("positional argument:", "argument:")
                .replace("from 2 to 4 positional", "4 positional")
            )
            return (
                text.replace("__init__", f"{cls.__qualname__}.__init__")
                if ".__init__" not in text
                else text,
            )
        return (
            dataclasses.astuple(one),
            repr(one),
            one == cls(*given, **named),
            dataclasses.replace(one, sizes=(9,)).sizes,
        )

    assert made(Ours) == made(Theirs)


def test_defaults_are_not_shared() -> None:
    assert Ours("x").notes is not Ours("x").notes


def test_equality_and_hashes() -> None:
    assert Derived(1) == Derived(1, 2)
    assert Derived(1) != Derived(1, 3)
    assert Ours("x") != Theirs("x")
    assert len({Derived(1), Derived(1, 2), Derived(2)}) == 2
    assert hash(Keywords(a=1)) == hash(Keywords(a=1, b=0))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ours("x"))


def test_instances_are_immutable() -> None:
    one = Derived(1)
    with pytest.raises(
        dataclasses.FrozenInstanceError, match="cannot change field 'one' of a value"
    ):
        one.one = 2  # type: ignore[misc]
    with pytest.raises(
        dataclasses.FrozenInstanceError, match="cannot change field 'one' of a value"
    ):
        del one.one  # type: ignore[misc]
    assert not hasattr(one, "__dict__")


def test_copies_and_functions_of_dataclasses() -> None:
    one = Ours("x", (2,), {"a": 1})
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
    assert dataclasses.asdict(one) == {"name": "x", "sizes": (2,), "notes": {"a": 1}}
    assert [field.name for field in dataclasses.fields(Derived)] == ["one", "two"]
    assert dataclasses.is_dataclass(Manifest)


def test_bases_and_explicit_methods() -> None:
    assert (repr(Derived(1)), Derived(3).twice()) == ("its own", 6)
    with pytest.raises(TypeError, match="abstract"):
        Base(1)  # type: ignore[abstract]
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        Keywords(1)  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing 1 required argument: 'a'"):
        Keywords(b=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "options", [{"frozen": False, "slots": True}, {"frozen": True, "slots": False}]
)
def test_frozen_and_slots(options: dict[str, bool]) -> None:
    with pytest.raises(TypeError, match="expected frozen=True and slots=True"):
        value_type(**options)
