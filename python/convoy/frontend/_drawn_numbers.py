# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random numbers of Python and NumPy that a model draws. torch.export sees only their values, so
each call of the compiled model would have those of the export."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from convoy.frontend._source_lines import is_own

__all__ = ["without_drawn_numbers"]

#: Exports with other random numbers. A branch on a number may be the same in some of them.
_TIMES = 3


def without_drawn_numbers(
    run: Callable[[], torch.export.ExportedProgram],
) -> torch.export.ExportedProgram:
    """Runs torch.export. If the model draws random numbers, it must be the same with others, as one
    that drops layers in training only.

    Args:
        run: Runs torch.export.

    Returns:
        The exported program.

    Raises:
        RuntimeError: The program depends on random numbers. The message has the line of the model.
    """
    before = _states()
    program = run()
    after = _states()
    if before == after:
        return program
    try:
        for _ in range(_TIMES):
            if not _is_same(program, run()):
                msg = (
                    f"{_line_of_draw(run)}the model draws random numbers in Python, and a compiled "
                    "model is deterministic; expected random numbers or tensors as inputs"
                )
                raise RuntimeError(msg)
    finally:
        _restore(after)
    return program


def _states() -> tuple[Any, ...]:
    """The states of the global generators of Python, and of NumPy if it is imported."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return (random.getstate(),)
    name, keys, *rest = numpy.random.get_state()
    return random.getstate(), (name, keys.tobytes(), *rest)


def _restore(states: tuple[Any, ...]) -> None:
    random.setstate(states[0])
    if len(states) > 1:
        numpy = sys.modules["numpy"]
        name, keys, *rest = states[1]
        numpy.random.set_state((name, numpy.frombuffer(keys, numpy.uint32), *rest))


def _is_same(a: torch.export.ExportedProgram, b: torch.export.ExportedProgram) -> bool:
    """Whether two programs have the same ops, numbers and constants."""
    if str(a.graph) != str(b.graph) or a.constants.keys() != b.constants.keys():
        return False
    pairs = ((value, b.constants[name]) for name, value in a.constants.items())
    return all(
        x.equal(y)
        for x, y in pairs
        if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and x is not y
    )


def _line_of_draw(run: Callable[[], Any]) -> str:
    """The first line of the user's source that draws a number, as the start of a message."""
    found: list[str] = []
    state = _states()

    def step(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal state
        if found or event not in ("c_return", "return"):
            return
        user: FrameType | None = frame if event == "c_return" else frame.f_back
        if user is None or not is_own(user.f_code.co_filename):
            return
        if (now := _states()) != state:
            state = now
            found.append(f"{user.f_code.co_filename}:{user.f_lineno}: ")

    sys.setprofile(step)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found[0] if found else ""
