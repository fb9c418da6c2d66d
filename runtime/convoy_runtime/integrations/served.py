# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A model behind a server, which may be replaced while requests use it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.program import Program

from .batches import Batches, Rows
from .sources import Source

__all__ = ["Request", "ServedModel"]


class ServedModel:
    """A loaded program and the requests that use it.

    Args:
        source: What was loaded.
        program: The program.
        batches: How requests run together; None if each runs alone.

    Attributes:
        source: As given; changes when weights are replaced.
        program: As given.
        batches: As given.
    """

    def __init__(self, source: Source, program: Program, batches: Batches | None) -> None:
        self.source, self.program, self.batches = source, program, batches
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @classmethod
    def load(cls, source: Source) -> ServedModel:
        """Loads a model.

        Args:
            source: What to load.

        Returns:
            The model.

        Raises:
            ConvoyRuntimeError: It cannot be loaded.
        """
        program = source.load()
        try:
            return cls(source, program, Batches.of(program, source.batch_symbol))
        except BaseException:
            program.close()
            raise

    def try_run(self) -> None:
        """Runs the smallest program on zeros. Raises ConvoyRuntimeError if it fails."""
        first = next(iter(self.program.static_programs.values()))
        first.run_numpy(*(_zeros(spec) for spec in first.inputs))

    def request(self, arrays: Sequence[Any]) -> Request:
        """Checks the inputs of a request.

        Args:
            arrays: One host array per input.

        Returns:
            The request, which uses the model until `release`.

        Raises:
            ArgumentError: The inputs do not match.
        """
        checked = self.program.host_inputs(arrays)
        rows = None if self.batches is None else self.batches.rows(checked)
        self._users += 1
        self._idle.clear()
        return Request(self, checked, rows)

    def release(self) -> None:
        """Ends a request."""
        self._users -= 1
        if not self._users:
            self._idle.set()

    async def close(self) -> None:
        """Waits for all requests, and closes the program."""
        await self._idle.wait()
        await asyncio.to_thread(self.program.close)


@dataclass(eq=False)
class Request:
    """A request.

    Attributes:
        model: The model that answers it.
        arrays: One array per input, checked.
        rows: Its size; None if it runs alone.
        results: One array per output, when it has run.
    """

    model: ServedModel
    arrays: list[np.ndarray]
    rows: Rows | None
    results: asyncio.Future[tuple[np.ndarray, ...]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def goes_with(self, other: Request) -> bool:
        """Whether both can run in one call, if it is large enough for them."""
        if self.rows is None or other.rows is None:
            return False
        return self.model is other.model and self.rows.others == other.rows.others

    def finish(self, results: tuple[np.ndarray, ...]) -> None:
        """Sets the results, unless the caller has given up."""
        if not self.results.done():
            self.results.set_result(results)

    def fail(self, error: BaseException) -> None:
        """Sets the error, unless the caller has given up."""
        if not self.results.done():
            self.results.set_exception(error)


def _zeros(spec: Any) -> np.ndarray:
    """An input of zeros."""
    return np.zeros(spec.shape, DTYPES[spec.dtype].storage)
