# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""One artifact on several devices behind one call."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from .errors import (
    ArgumentError,
    ConvoyRuntimeError,
    ConvoyRuntimeWarning,
    DeviceError,
)
from .loader import load_each
from .program import Program
from .uncopied import Uncopied

__all__ = ["Replicas"]

#: A call that waits: its future, and its arguments.
_Call = tuple["Future[Any]", tuple[Any, ...], dict[str, Any]]


class Replicas(Uncopied):
    """An artifact on several devices of this host. Each device has one thread, which takes the next
    call that waits, so a device idles only if none does. Calls have host arrays and get numpy
    arrays, as `Program.run_numpy`; the thread copies them to its device and back. The file is read,
    and its weights are prepared, once.

    With dynamic sizes, each call has any of the declared sizes. Calls are not merged to batches.

    A device whose error makes every later call fail, e.g. an illegal address in a kernel, is taken
    out with a ConvoyRuntimeWarning, and the others go on. The call during which that happened has
    the error, because its inputs may be the reason.

    On target "cpu", `devices=["cpu"] * 4` runs four calls at a time, which share the weights. The
    loops of one of them use the process's thread pool, those of the others the thread of the call
    (CONVOY_NUM_THREADS=1: one core for each call).

    All methods are thread-safe, except that callbacks of futures run in a device's thread and must
    not call them. As a context manager, it closes at the end. A forked child cannot use it.

    Args:
        path: The artifact file.
        devices: "cuda:N", N or "cpu" for each program; a device may be named twice. Default: all
            visible GPUs, or on target "cpu" the host once.
        most_waiting: The most calls that wait for a device, above which `submit` blocks. Default:
            two for each device.
        **options: Further arguments of `convoy_runtime.load`.

    Raises:
        ArgumentError: `devices` is empty, or an argument has an invalid value.
        ArtifactError: As `convoy_runtime.load`.
        DeviceError: As `convoy_runtime.load`, for any of the devices.
        WeightsError: As `convoy_runtime.load`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        devices: Sequence[str | int] | None = None,
        *,
        most_waiting: int | None = None,
        **options: Any,
    ) -> None:
        if most_waiting is not None and most_waiting < 1:
            raise ArgumentError(
                argument="most_waiting",
                problem="out of range",
                expected="at least 1",
                got=str(most_waiting),
            )
        self._programs = load_each(path, devices, **options)
        self._most = most_waiting or 2 * len(self._programs)
        self._process = os.getpid()
        #: Guards the fields below. `_work` and `_room` are its conditions: a call waits, or may.
        lock = threading.Lock()
        self._work, self._room = threading.Condition(lock), threading.Condition(lock)
        self._waiting = deque[_Call]()
        self._failures: dict[int, DeviceError] = {}
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(index,), name=f"convoy-{name}", daemon=True)
            for index, name in enumerate(map(_name_of, self._programs))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of the devices that work, e.g. `cuda:0 (NVIDIA H100)`."""
        return tuple(
            _name_of(program)
            for index, program in enumerate(self._programs)
            if index not in self._failures
        )

    @property
    def failures(self) -> Mapping[str, DeviceError]:
        """The names of the devices that were taken out, and the error of each."""
        return {_name_of(self._programs[index]): error for index, error in self._failures.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model on the next free device, and waits for the result.

        Args:
            *args: As of `submit`.
            **kwargs: As of `submit`.

        Returns:
            What the module returns, with numpy arrays; bfloat16 as uint16.

        Raises:
            ArgumentError: Number, structure, shape or dtype of the inputs do not match.
            WeightsError: The artifact has no weights and none were loaded.
            DeviceError: The device failed, or none is left.
            ConvoyRuntimeError: The replicas are closed.
        """
        return self.submit(*args, **kwargs).result()

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs the model on the next free device. Blocks while too many calls wait.

        Args:
            *args: The positional arguments of the module, or one array per input: host arrays,
                which must not change until the call has finished.
            **kwargs: The keyword arguments of the module.

        Returns:
            The future of the result. It has the errors of `__call__`. A call that waits can be
            cancelled.

        Raises:
            DeviceError: No device is left.
            ConvoyRuntimeError: The replicas are closed, or this is a forked child.
        """
        self._check_process()
        future: Future[Any] = Future()
        with self._room:
            self._room.wait_for(
                lambda: self._closed or self._is_lost or len(self._waiting) < self._most
            )
            if self._closed:
                raise ConvoyRuntimeError(f"the replicas of {self._programs[0].path} are closed")
            if self._is_lost:
                raise self._lost()
            self._waiting.append((future, args, kwargs))
            self._work.notify()
        return future

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Replaces the weights of all devices, which are prepared once. A call uses either the old
        or the new weights; until this returns, devices may differ.

        Args:
            source: As of `Program.load_weights`.

        Raises:
            WeightsError: The weights do not match; all devices keep the old ones.
            ArtifactError: The file is damaged.
            ConvoyRuntimeError: The replicas are closed, or this is a forked child.
        """
        self._check_process()
        prepared = self._programs[0].prepare(source)
        for index, program in enumerate(self._programs):
            if index not in self._failures:
                program.install_all(prepared)

    def close(self) -> None:
        """Waits for all calls, also those that no device has begun, and closes the programs. May be
        called repeatedly. Later calls raise ConvoyRuntimeError."""
        if os.getpid() == self._process:
            with self._room:
                self._closed = True
                self._room.notify_all()
                self._work.notify_all()
            for thread in self._threads:
                thread.join()
        for index, program in enumerate(self._programs):
            # A device that fails cannot free its resources; the process does at its end.
            with contextlib.suppress(*((DeviceError,) if index in self._failures else ())):
                program.close()

    def __enter__(self) -> Replicas:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Replicas {self._programs[0].path} on {', '.join(self.devices) or 'no device'}>"

    def _serve(self, index: int) -> None:
        """Runs calls on a device, until the replicas close or the device fails."""
        while (call := self._next()) is not None:
            self._run(index, *call)
            if index in self._failures:
                return
            del call  # so that nothing of it stays alive while the thread waits

    def _run(
        self, index: int, future: Future[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Runs one call on a device."""
        if not future.set_running_or_notify_cancel():
            return
        program = self._programs[index]
        try:
            arrays = program.arrays_of(args, kwargs)
            result = program.nested(program.run_numpy(*arrays))
        except BaseException as error:
            if isinstance(error, DeviceError) and not program.is_usable:
                self._take_out(index, error)
            future.set_exception(error)
        else:
            future.set_result(result)

    def _next(self) -> _Call | None:
        """Waits for the next call; None if the replicas are closed and no call waits."""
        with self._work:
            self._work.wait_for(lambda: self._closed or self._waiting)
            if not self._waiting:
                return None
            self._room.notify()
            return self._waiting.popleft()

    def _take_out(self, index: int, error: DeviceError) -> None:
        """Removes a device. With the last one, the calls that wait fail."""
        message = f"{_name_of(self._programs[index])} failed and is removed: {error}"
        lost: list[_Call] = []
        with self._work:
            self._failures[index] = error
            if self._is_lost:
                lost = list(self._waiting)
                self._waiting.clear()
                self._room.notify_all()
        error.add_note("the device was taken out, because all its later calls fail")
        warnings.warn(message, ConvoyRuntimeWarning, stacklevel=2)
        for future, _, _ in lost:
            if future.set_running_or_notify_cancel():
                future.set_exception(self._lost())

    @property
    def _is_lost(self) -> bool:
        """Whether no device is left."""
        return len(self._failures) == len(self._programs)

    def _lost(self) -> DeviceError:
        each = "".join(f"\n  {name}: {error}" for name, error in self.failures.items())
        return DeviceError(
            problem=f"no device of {self._programs[0].path} is left:{each}",
            hint="start a new process, which can use the devices again",
        )

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ConvoyRuntimeError(
                "this process was forked from the one that made the replicas, whose threads it "
                "does not have: make them in the child"
            )


def _name_of(program: Program) -> str:
    """The name of a program's device."""
    return str(getattr(program, "device", "cpu"))
