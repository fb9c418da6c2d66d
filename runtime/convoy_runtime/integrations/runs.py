# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs requests in calls of their programs, one call after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from .served import Request

__all__ = ["Runs"]

_T = TypeVar("_T")


class Runs:
    """The calls of one process. Requests that arrive during a call wait, and form the next one.

    One thread runs all calls: a program of the CPU has an arena per thread, and one of a GPU runs
    one call at a time. Use it in one event loop.

    Attributes:
        finished: The number of calls that succeeded.
        sizes: Size of a call, the sum of its rows, to the number of calls; 0 for requests without
            rows.
    """

    def __init__(self) -> None:
        self.finished = 0
        self.sizes: dict[int, int] = {}
        self._thread = ThreadPoolExecutor(1, "convoy-run")
        self._waiting: list[Request] = []
        self._worker: asyncio.Task[None] | None = None

    def add(self, requests: Sequence[Request]) -> None:
        """Adds requests, whose results are set when they have run."""
        self._waiting += requests
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def between(self, function: Callable[..., _T], *args: Any) -> _T:
        """Runs a function in the thread of the calls, so between two of them.

        Args:
            function: The function.
            *args: Its arguments.

        Returns:
            Its result; errors are raised here.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def _work(self) -> None:
        """Runs the waiting requests."""
        try:
            while call := self._next_call():
                try:
                    results = await self.between(_run, call)
                except Exception as error:
                    for request in call:
                        request.fail(error)
                    continue
                self.finished += 1
                size = sum(request.rows.count for request in call if request.rows is not None)
                self.sizes[size] = self.sizes.get(size, 0) + 1
                for request, result in zip(call, results, strict=True):
                    request.finish(result)
        finally:
            self._worker = None

    def _next_call(self) -> list[Request]:
        """Removes the requests of the next call: the oldest one, and later ones that fit into its
        call. Empty if none is waiting."""
        # Callers of the others have given up.
        waiting = [request for request in self._waiting if not request.results.done()]
        call = waiting[:1]
        if call and (batches := call[0].model.batches) is not None and call[0].rows is not None:
            alike = [request for request in waiting if request.goes_with(call[0])]
            rows = [request.rows for request in alike if request.rows is not None]
            call = alike[: batches.together(rows)]
        taken = set(map(id, call))
        self._waiting = [request for request in waiting if id(request) not in taken]
        return call


def _run(call: Sequence[Request]) -> list[tuple[np.ndarray, ...]]:
    """Runs a call, and returns the results of each of its requests."""
    model = call[0].model
    if len(call) == 1 or model.batches is None:
        (request,) = call
        return [model.program.run_numpy(*request.arrays)]
    rows = [request.rows for request in call if request.rows is not None]
    joined = model.batches.join([request.arrays for request in call], rows)
    return model.batches.split(model.program.run_numpy(*joined), rows)
