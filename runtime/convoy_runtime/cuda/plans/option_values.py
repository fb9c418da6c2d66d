# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks and normalizes lists in PlanOptions. The order of a list and repeated elements have no
meaning, so equal restrictions have equal text."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from convoy_runtime.cuda.cudnn.enums import HeurMode
from convoy_runtime.errors import ArgumentError

__all__ = ["engine_numbers", "heuristic_modes", "note_names", "workspace_limit"]


def heuristic_modes(values: Any) -> tuple[str, ...]:
    """Checks names of heuristics, whose order matters.

    Args:
        values: The value of `heuristics`.

    Returns:
        The names in the given order.

    Raises:
        ArgumentError: A name is unknown.
    """
    known = [mode.name for mode in HeurMode]
    if isinstance(values, str) or not set(values) <= set(known):
        raise ArgumentError(
            argument="heuristics",
            problem="unknown mode",
            expected=f"a subset of {known}",
            got=repr(values),
        )
    return tuple(values)


def engine_numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Checks indices of engines.

    Args:
        name: The option.
        values: Its value.

    Returns:
        The indices, ascending.

    Raises:
        ArgumentError: A value is not an integer.
    """
    found = tuple(values) if isinstance(values, Iterable) else None
    if found is None or not all(isinstance(value, int) for value in found):
        raise ArgumentError(
            argument=name,
            problem="invalid engine indices",
            expected="integers, e.g. (41, 62)",
            got=repr(values),
        )
    return tuple(sorted(set(found)))


def note_names(name: str, values: Iterable[str], notes: type[IntEnum]) -> tuple[str, ...]:
    """Checks names of notes.

    Args:
        name: The option.
        values: Its value: cuDNN's names in any case, with or without the prefix CUDNN_..._NOTE_.
        notes: The enum of the notes.

    Returns:
        The names as in `notes`, in its order.

    Raises:
        ArgumentError: A name is unknown.
    """
    prefix = f"CUDNN_{'NUMERICAL' if 'numerical' in name else 'BEHAVIOR'}_NOTE_"
    known = {note.name.upper(): note for note in notes}
    # A text is iterable, but its letters are not names.
    given = values if isinstance(values, Iterable) and not isinstance(values, str) else (values,)
    found = set()
    for value in given:
        text = value.upper().removeprefix(prefix) if isinstance(value, str) else None
        if text not in known:
            raise ArgumentError(
                argument=name,
                problem="unknown note" if text is not None else "invalid names of notes",
                expected=f"a list of names among {', '.join(note.name for note in notes)}",
                got=repr(value),
            )
        found.add(known[text])
    return tuple(note.name for note in sorted(found))


def workspace_limit(value: Any) -> int | None:
    """Checks a limit in bytes.

    Args:
        value: The value of `max_workspace_bytes`.

    Returns:
        The limit; None for none.

    Raises:
        ArgumentError: It is neither None nor an integer.
    """
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise ArgumentError(
            argument="max_workspace_bytes",
            problem="invalid limit",
            expected="bytes, or None for no limit",
            got=repr(value),
        )
    return value
