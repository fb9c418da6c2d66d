# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Counts the running calls of a program."""

from __future__ import annotations

from collections.abc import Callable

from convoy_runtime.cuda.driver.device import Device

__all__ = ["CallCount"]


class CallCount:
    """A context manager around each call of a program, entered under the program's lock. It makes
    the device the thread's current one.

    `close` may be called during a call: by a signal handler, a finalizer or a borrowed array. It
    then sets `on_idle`, which is called at the end of the last call.

    The count does not refer to the program, so that no reference cycle delays its destruction.

    Args:
        device: The GPU.

    Attributes:
        on_idle: Called once when no call is running.
    """

    __slots__ = ("_device", "_entered", "on_idle")

    def __init__(self, device: Device) -> None:
        self._device = device
        #: What `Device.enter` returned for each running call. One thread holds the lock, so they
        #: end in the opposite order.
        self._entered: list[bool] = []
        self.on_idle: Callable[[], None] | None = None

    @property
    def count(self) -> int:
        """The number of running calls."""
        return len(self._entered)

    def __enter__(self) -> None:
        self._entered.append(self._device.enter())

    def __exit__(self, *_: object) -> None:
        entered = self._entered.pop()
        try:
            if self.on_idle is not None and not self._entered:
                on_idle, self.on_idle = self.on_idle, None
                on_idle()
        finally:
            if entered:
                self._device.leave()
