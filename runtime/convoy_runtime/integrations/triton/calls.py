# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the requests that Triton hands over at once, several in one call where the artifact allows
it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from convoy_runtime.errors import ConvoyRuntimeError
from convoy_runtime.integrations.batches import Batches, Rows
from convoy_runtime.program import Program

from .served import ServedModel

__all__ = ["Calls", "Outcome"]

#: The results of a request, one array per output, or its error.
Outcome = tuple[np.ndarray, ...] | ConvoyRuntimeError


class Calls:
    """Runs requests with a program.

    Args:
        program: The program.
        model: Its description.
    """

    def __init__(self, program: Program, model: ServedModel) -> None:
        self._program = program
        self._batches = Batches.of(program, model.batch or None)

    def run(self, requests: Sequence[Sequence[np.ndarray]]) -> list[Outcome]:
        """Runs requests.

        Args:
            requests: The inputs of each request: one host array per input of the program,
                bfloat16 as uint16.

        Returns:
            The outcome of each request. A request with wrong arguments does not affect others. If
            a call fails, all requests that it has joined get the error.
        """
        if self._batches is None or len(requests) == 1:
            return [self._alone(arrays) for arrays in requests]
        outcomes: list[Outcome] = [()] * len(requests)
        alike: dict[tuple[int, ...], list[tuple[int, Rows]]] = {}
        for index, arrays in enumerate(requests):
            try:
                rows = self._batches.rows(self._program.host_inputs(arrays))
            except ConvoyRuntimeError as error:
                outcomes[index] = error
                continue
            if rows is None:
                outcomes[index] = self._alone(arrays)
            else:
                alike.setdefault(rows.others, []).append((index, rows))
        for indices, sizes in _calls(self._batches, alike.values()):
            results = self._together(self._batches, [requests[index] for index in indices], sizes)
            for index, result in zip(indices, results, strict=True):
                outcomes[index] = result
        return outcomes

    def _alone(self, arrays: Sequence[np.ndarray]) -> Outcome:
        try:
            return self._program.run_numpy(*arrays)
        except ConvoyRuntimeError as error:
            return error

    def _together(
        self, batches: Batches, requests: Sequence[Sequence[np.ndarray]], rows: Sequence[Rows]
    ) -> Sequence[Outcome]:
        """The outcomes of requests that run in one call."""
        if len(requests) == 1:
            return [self._alone(requests[0])]
        try:
            results = self._program.run_numpy(*batches.join(requests, rows))
        except ConvoyRuntimeError as error:
            return [error] * len(requests)
        return batches.split(results, rows)


def _calls(
    batches: Batches, alike: Iterable[list[tuple[int, Rows]]]
) -> Iterator[tuple[list[int], list[Rows]]]:
    """The places and the sizes of the requests of each call, in their order."""
    for requests in alike:
        begin = 0
        while begin < len(requests):
            count = batches.together([rows for _, rows in requests[begin:]])
            chosen = requests[begin : begin + count]
            yield [index for index, _ in chosen], [rows for _, rows in chosen]
            begin += count
