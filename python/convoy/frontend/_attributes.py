# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Plain attributes that `forward` assigns, as a counter or the last value of a stream. torch.export
records the first call, so the compiled model has the values from before it in each call.

A model that changes such attributes is run with and without a call before. If the results differ,
it is refused. An attribute that is only written, as an attention map for inspection, changes
no result, and neither does a cache that the first call fills.
"""

from __future__ import annotations

import contextlib
import copy
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor

from convoy.errors import ConvoyWarning
from convoy.frontend._contents import (
    contents,
    is_equal_number,
    is_same_content,
    items,
    join,
    restore,
)
from convoy.frontend._source_lines import is_own

__all__ = [
    "Assignments",
    "check_assignments",
    "current_assignments",
    "recorded_assignments",
    "watched_assignments",
]

_Module = torch.nn.Module


@dataclass
class Assignments:
    """The attributes that a model changes while it is exported.

    Attributes:
        lines: Name, as `layer.count`, to `FILE:LINE`; an empty line for an object or a collection
            that changes without an assignment to an attribute of a module.
        data: Name to `FILE:LINE: ` of the parameters and buffers whose data is assigned.
    """

    lines: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)


_recorded: ContextVar[Assignments | None] = ContextVar("_recorded", default=None)


@contextlib.contextmanager
def recorded_assignments() -> Iterator[Assignments]:
    """Collects what `watched_assignments` finds.

    Yields:
        The assignments so far.
    """
    found = Assignments()
    token = _recorded.set(found)
    try:
        yield found
    finally:
        _recorded.reset(token)


def current_assignments() -> Assignments | None:
    """What `recorded_assignments` collects; None outside."""
    return _recorded.get()


@contextlib.contextmanager
def watched_assignments(module: torch.nn.Module) -> Iterator[None]:
    """Finds the attributes that the user's code changes while ops are recorded.

    Args:
        module: The module.
    """
    found = _recorded.get()
    if found is None:
        yield
        return
    names = _names(module)
    before = contents(module)
    own = {id(each): set(vars(each)) for each in module.modules()}
    made: set[tuple[torch.nn.Module, str]] = set()

    def assigned(owner: torch.nn.Module, name: str, line: str) -> None:
        if id(owner) in names:
            found.lines.setdefault(join(names[id(owner)], name), line)
            if name not in own[id(owner)]:
                made.add((owner, name))

    try:
        with _on_assignment(assigned):
            yield
    finally:
        # torch.export restores only the attributes that the modules have before. Tensors in other
        # ones have no values.
        for owner, name in made:
            leaves = pytree.tree_leaves(vars(owner).get(name))
            if any(isinstance(leaf, FakeTensor) for leaf in leaves):
                del vars(owner)[name]
        for name, value, held in before:
            if not is_same_content(held, items(value)):
                found.lines.setdefault(name, "")
                # The export leaves tensors without values in it.
                restore(value, held)


def check_assignments(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    assignments: Assignments,
) -> None:
    """Refuses a model whose results depend on the calls before, and warns of numbers that change
    with each call.

    Args:
        module: The module.
        inputs: The example inputs.
        kwargs: The example keyword arguments.
        assignments: Those of its export.

    Raises:
        RuntimeError: The results depend on an attribute. The message has the line of the model.
    """
    if not assignments.lines:
        return
    try:
        calls = _Calls(module, assignments)
        calls.run(*pytree.tree_map(_other, (inputs, dict(kwargs))))
        later = calls.run(inputs, kwargs)
        depends = not _is_equal(_Calls(module, assignments).run(inputs, kwargs), later)
        changing = [name for name in calls.read if not _is_equal(*calls.values[name])]
    except Exception:  # What cannot be copied, run or compared is not known.
        _warn(assignments.lines)
        return
    if depends:
        names = calls.read or list(assignments.lines)
        places = [line for line in map(assignments.lines.__getitem__, names) if line]
        msg = (
            f"{places[0] if places else ''}{': ' if places else ''}the model changes its attribute "
            f"'{names[0]}', and its results depend on the calls before; expected a model that "
            "takes the value as an input and returns the new one"
        )
        raise RuntimeError(msg)
    if changing:
        _warn({name: assignments.lines[name] for name in changing})


def _warn(lines: Mapping[str, str]) -> None:
    found = ", ".join(
        f"'{name}' at {line}" if line else f"'{name}'" for name, line in lines.items()
    )
    warnings.warn(
        "the compiled model has the values that attributes have before its export, got a model "
        f"that changes {found}; take such values as inputs if results depend on them",
        ConvoyWarning,
        stacklevel=2,
    )


class _Calls:
    """Runs a copy of a model that shares its parameters, but not those whose data it assigns.

    Attributes:
        read: The attributes of modules that the last call read before it assigned them.
        values: Name to the values of an assigned attribute after each call.
    """

    def __init__(self, module: torch.nn.Module, assignments: Assignments) -> None:
        shared: dict[int, Any] = {
            id(each): each
            for name, each in module.named_parameters()
            if name not in assignments.data
        }
        self._module: torch.nn.Module = copy.deepcopy(module, shared)
        self._names = _names(self._module)
        self._assigned = [name for name, line in assignments.lines.items() if line]
        self.read: list[str] = []
        self.values: dict[str, list[Any]] = {name: [] for name in self._assigned}

    def run(self, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        args, named = pytree.tree_map(_copied, (inputs, dict(kwargs)))
        self.read, written = [], set[str]()
        watched = {name.rpartition(".")[2] for name in self._assigned}

        def assigned(owner: torch.nn.Module, name: str, _: str) -> None:
            written.add(join(self._names.get(id(owner), ""), name))

        def read(owner: torch.nn.Module, name: str) -> Any:
            if name in watched:
                path = join(self._names.get(id(owner), ""), name)
                if path in self.values and path not in written and path not in self.read:
                    self.read.append(path)
            return object.__getattribute__(owner, name)

        with _on_assignment(assigned), torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.default_generator.manual_seed(0)
            _Module.__getattribute__ = read  # type: ignore[method-assign, assignment]
            try:
                results = self._module(*args, **named)
            finally:
                del _Module.__getattribute__
        for name, values in self.values.items():
            owner, _, attribute = name.rpartition(".")
            values.append(vars(self._module.get_submodule(owner)).get(attribute))
        return pytree.tree_map(_copied, results)


@contextlib.contextmanager
def _on_assignment(assigned: Any) -> Iterator[None]:
    """Calls a function with the module, the attribute and the line of each assignment of the user's
    code to a plain attribute."""
    original = _Module.__setattr__

    def assign(owner: torch.nn.Module, name: str, value: Any) -> None:
        original(owner, name, value)
        if name in vars(owner) and (line := _own_line(sys._getframe(1))):
            assigned(owner, name, line)

    _Module.__setattr__ = assign  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        _Module.__setattr__ = original  # type: ignore[method-assign]


def _own_line(frame: FrameType | None) -> str:
    """The line of an assignment; empty if PyTorch makes it, as in the hooks of weight_norm."""
    while frame is not None and frame.f_code.co_name == "__setattr__":
        frame = frame.f_back
    if frame is None or not is_own(frame.f_code.co_filename):
        return ""
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _names(module: torch.nn.Module) -> dict[int, str]:
    """The paths of modules by identity."""
    return {id(each): name for name, each in module.named_modules()}


# Values


def _other(leaf: Any) -> Any:
    """Another valid input: integers may be indices."""
    is_real = isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    return leaf.detach() * 0.75 if is_real else leaf


def _copied(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone()
    return copy.deepcopy(leaf)


def _is_equal(a: Any, b: Any) -> bool:
    """Whether structures have equal tensors and numbers. What cannot be compared is equal."""
    first, second = pytree.tree_leaves(a), pytree.tree_leaves(b)
    return len(first) == len(second) and all(map(_is_equal_leaf, first, second))


def _is_equal_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.is_meta or b.is_meta:
            return True
        return torch.allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True)
    if isinstance(a, (bool, int, float, str, type(None), torch.Tensor)):
        return is_equal_number(a, b) or a is b or (a != a and b != b)
    return type(a) is type(b)
