# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Counts the running calls of a program."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["CallCount"]


class CallCount:
    """A context manager around each call of a program, entered under the program's lock.

    `close` may be called during a call: by a signal handler, a finalizer or a borrowed array. It
    then sets `on_idle`, which is called at the end of the last call.

    The count does not refer to the program, so that no reference cycle delays its destruction.

    Attributes:
        count: The number of running calls.
        on_idle: Called once when no call is running.
    """

    __slots__ = ("count", "on_idle")

    def __init__(self) -> None:
        self.count = 0
        self.on_idle: Callable[[], None] | None = None

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        self.count -= 1
        if not self.count and self.on_idle is not None:
            on_idle, self.on_idle = self.on_idle, None
            on_idle()
