# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Branches of Python on the values of tensors, as `if mask.any():`.

torch.export records one path through a model. The model is run once for each path, with the answers
that lead there, and each result is selected by the tensors that the branches read. So all paths are
computed, as both branches of torch.cond are. A path that ends in the model's own error, as a check
for NaN, is left out with a warning: the compiled model returns the results of the other one."""

from __future__ import annotations

import contextlib
import dis
import functools
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
import torch.utils._pytree as pytree
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.overrides import TorchFunctionMode

from convoy.frontend._known_numbers import ReadKnownNumbers
from convoy.frontend._objects import register_objects
from convoy.frontend._source_lines import innermost, is_own, own_lines_of
from convoy.frontend._value_checks import record_check

__all__ = ["recorded_branches"]

_TRUTHS = (torch.Tensor.__bool__, torch.Tensor.is_nonzero, torch.is_nonzero)
_ITEM = torch.Tensor.item
_EQUALITIES = (torch.equal, torch.Tensor.equal)
_CLOSE = (torch.allclose, torch.Tensor.allclose)
#: Each path is one more run of the model.
_MOST_PATHS = 16
#: Code of PyTorch that checks values with Python.
_CHECKING = tuple(str(Path(torch.__file__).parent / each) for each in ("nn", "distributions"))


@contextlib.contextmanager
def recorded_branches(module: torch.nn.Module, numbers: ReadKnownNumbers) -> Iterator[None]:
    """Makes the module record all paths through its branches.

    Args:
        module: The module.
        numbers: Knows the values of tensors that depend on no input.
    """
    own = vars(module).get("forward")
    forward = module.forward

    @functools.wraps(forward)
    def all_paths(*args: Any, **kwargs: Any) -> Any:
        return _Paths(module, forward, numbers, args, kwargs).results()

    vars(module)["forward"] = all_paths
    try:
        with _asked_numbers():
            yield
    finally:
        if own is None:
            del vars(module)["forward"]
        else:
            vars(module)["forward"] = own


@contextlib.contextmanager
def _asked_numbers() -> Iterator[None]:
    """Asks about numbers that the model reads from tensors, as in `if n.item() > 2`."""
    kinds: tuple[Any, ...] = (torch.SymBool, torch.SymInt, torch.SymFloat)
    originals = [kind.__bool__ for kind in kinds]

    def asks(original: Callable[[Any], bool]) -> Callable[[Any], bool]:
        def truth(number: Any) -> bool:
            try:
                return original(number)
            except GuardOnDataDependentSymNode:
                # Torch's own questions are about sizes.
                is_asked = _Answers.active and is_own(sys._getframe(1).f_code.co_filename)
                if not is_asked or _is_of_sizes(number):
                    raise
            is_true = number if isinstance(number, torch.SymBool) else number != 0
            return _Answers.active[-1].to_number(is_true)

        return truth

    for kind, original in zip(kinds, originals, strict=True):
        kind.__bool__ = asks(original)
    try:
        yield
    finally:
        for kind, original in zip(kinds, originals, strict=True):
            kind.__bool__ = original


def _is_of_sizes(number: Any) -> bool:
    """Whether a number depends on the sizes of tensors, which are no numbers of tensors."""
    return bool(number.node.expr.free_symbols & number.node.shape_env.size_like)


class _Raised(Exception):
    """The model's own error at the end of a path, as `__cause__`."""

    def leave_out(self) -> None:
        """Records that the compiled model does not raise it."""
        assert self.__cause__ is not None
        record_check(str(innermost(own_lines_of(self.__cause__))))


class _Answers(TorchFunctionMode):
    """Answers the questions of a model about values: first those that lead to a path, then yes.

    Attributes:
        given: The answers so far.
        conditions: The tensor of each question, of shape () and type bool.
        active: Those of the calls that are being recorded.
    """

    active: ClassVar[list[_Answers]] = []

    def __init__(self, numbers: ReadKnownNumbers, given: Sequence[bool]) -> None:
        super().__init__()
        self._numbers = numbers
        self._first = tuple(given)
        self.given: list[bool] = []
        self.conditions: list[torch.Tensor] = []
        self._known: dict[str, bool] = {}

    def to_number(self, is_true: torch.SymBool) -> bool:
        """The answer to a question about numbers."""
        question = str(is_true.node.expr)
        if question not in self._known:
            number = torch.sym_ite(is_true, 1.0, 0.0)  # type: ignore[no-untyped-call]
            condition = torch.ops.aten.scalar_tensor.default(number) != 0
            self._known[question] = self._answer(condition)
        return self._known[question]

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        condition = None
        if func in _TRUTHS or (func is _ITEM and args[0].dtype == torch.bool):
            if not self._numbers.knows(args):
                condition = args[0].reshape(()) != 0
        elif func in _EQUALITIES and not self._numbers.knows(args):
            if args[0].shape != args[1].shape:
                return False
            condition = (args[0] == args[1]).all()
        elif func in _CLOSE and not self._numbers.knows(args[:2]):
            condition = torch.isclose(*args, **kwargs).all()
        return func(*args, **kwargs) if condition is None else self._answer(condition)

    def _answer(self, condition: torch.Tensor) -> bool:
        at = len(self.given)
        self.given.append(self._first[at] if at < len(self._first) else True)
        self.conditions.append(condition)
        return self.given[-1]


class _Paths:
    """The paths through one call of a module."""

    def __init__(
        self,
        module: torch.nn.Module,
        forward: Callable[..., Any],
        numbers: ReadKnownNumbers,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._module, self._forward, self._numbers = module, forward, numbers
        self._leaves, self._spec = pytree.tree_flatten((args, kwargs))
        self._state = [(part, dict(vars(part)), dict(part._buffers)) for part in module.modules()]
        self._runs = 0

    def results(self) -> Any:
        found = self._after(())
        if isinstance(found, _Raised):
            assert found.__cause__ is not None
            raise found.__cause__
        return found

    def _after(self, given: tuple[bool, ...]) -> Any:
        """The results of all paths that begin with these answers; `_Raised` if none has results."""
        answers = _Answers(self._numbers, given)
        found = self._run(answers)
        for at in reversed(range(len(given), len(answers.given))):
            other = self._after((*answers.given[:at], False))
            found = _selected(answers.conditions[at], found, other)
        return found

    def _run(self, answers: _Answers) -> Any:
        self._runs += 1
        if self._runs > _MOST_PATHS:
            msg = f"expected at most {_MOST_PATHS} paths through branches on values"
            raise RuntimeError(msg)
        for part, own, buffers in self._state if self._runs > 1 else ():
            vars(part).clear()
            vars(part).update(own)
            part._buffers.clear()
            part._buffers.update(buffers)
        # New lists and objects, because the model may change them.
        args, kwargs = pytree.tree_unflatten(self._leaves, self._spec)
        tensors = self._written()
        _Answers.active.append(answers)
        try:
            with answers:
                found = self._forward(*args, **kwargs)
        except Exception as error:
            if not answers.given or not _is_own_error(error):
                raise
            found = _Raised()
            found.__cause__ = error
        finally:
            _Answers.active.pop()
        if self._written() != tensors:
            msg = "expected no writes to inputs, parameters and buffers beside branches on values"
            raise RuntimeError(msg)
        register_objects(found)
        return found

    def _written(self) -> list[int]:
        """How often each tensor that is there before a call was written to."""
        leaves = [leaf for leaf in self._leaves if isinstance(leaf, torch.Tensor)]
        return [
            each._version for each in (*leaves, *self._module.parameters(), *self._module.buffers())
        ]


def _is_own_error(error: Exception) -> bool:
    """Whether an error is from a statement `raise` or `assert` of the model or a check in PyTorch's
    layers, and not from recording the model."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    name, at = frame.f_code.co_filename, frame.f_lasti
    is_checked = is_own(name) or name.startswith(_CHECKING)
    return is_checked and dis.opname[frame.f_code.co_code[at]] == "RAISE_VARARGS"


def _selected(condition: torch.Tensor, yes: Any, no: Any) -> Any:
    if isinstance(yes, _Raised):
        yes, no = no, yes
    if isinstance(no, _Raised):
        if not isinstance(yes, _Raised):
            no.leave_out()
        return yes
    ours, spec = pytree.tree_flatten(yes)
    theirs, other = pytree.tree_flatten(no)
    if spec != other:
        msg = f"expected results of one structure after a branch on values, got {spec} and {other}"
        raise TypeError(msg)
    leaves = [_select(condition, *each) for each in zip(ours, theirs, strict=True)]
    return pytree.tree_unflatten(leaves, spec)


def _select(condition: torch.Tensor, yes: Any, no: Any) -> Any:
    if not isinstance(yes, torch.Tensor) or not isinstance(no, torch.Tensor):
        if type(yes) is not type(no) or yes != no:
            msg = f"expected one result after a branch on values, got {yes} and {no}"
            raise TypeError(msg)
        return yes
    if yes is no:
        return yes
    if (yes.shape, yes.dtype) != (no.shape, no.dtype):
        msg = (
            "expected results of one shape and dtype after a branch on values, got "
            f"{tuple(yes.shape)} of {yes.dtype} and {tuple(no.shape)} of {no.dtype}"
        )
        raise TypeError(msg)
    return torch.where(condition, yes, no)
