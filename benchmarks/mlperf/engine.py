# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A program that runs batches of samples, which are held in the memory of its device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from convoy_runtime import ArgumentError, Program
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.random_arrays import random_array
from convoy_runtime.replays import measure

__all__ = ["SLOTS", "Engine", "programs_of"]

#: The most batches that are started and not finished. The device never waits for the host if one
#: runs, one waits behind it, and the host completes the samples of a third.
SLOTS = 3


def programs_of(program: Program) -> dict[int, Program]:
    """The static programs of a loaded artifact by the size of their batch.

    Raises:
        ArgumentError: The artifact has several inputs, an input without dims, or points of equal
            batches.
    """
    statics = program.static_programs
    found = {
        each.inputs[0].shape[0]: each
        for each in statics.values()
        if len(each.inputs) == 1 and each.inputs[0].shape
    }
    if len(found) != len(statics):
        raise ArgumentError(
            argument=str(program.path),
            problem="cannot be batched",
            expected="one input, whose first dim is the batch and differs between points",
            got=", ".join(map(str, program.inputs)) or "no input",
        )
    return dict(sorted(found.items()))


class Engine(ABC):
    """A program, and samples in the memory of its device.

    Args:
        program: The loaded artifact, with weights.

    Attributes:
        program: As given.
        programs: Size of a batch to its static program, ascending.
        sizes: The sizes of batches that were compiled, ascending.

    Raises:
        ArgumentError: The program has no batches of one input.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.programs = programs_of(program)
        self.sizes = list(self.programs)
        spec = self.programs[self.sizes[-1]].inputs[0]
        if spec.order is not None and spec.order[0] != 0:
            raise ArgumentError(
                argument=f"input {spec.name!r}",
                problem="its first dim is not the slowest in memory",
                expected="an order of dims that begins with 0",
                got=str(spec.order),
            )
        self._spec = spec
        self._numbers: np.ndarray | None = None

    @property
    def most(self) -> int:
        """The largest batch."""
        return self.sizes[-1]

    def size_for(self, count: int) -> int:
        """The smallest compiled batch for `count` samples."""
        return self.sizes[bisect_left(self.sizes, count)]

    def seconds(self, size: int) -> float:
        """The time of a run of a compiled batch, on a GPU of a replay of its CUDA graph, when runs
        follow each other."""
        program, (spec,) = self.programs[size], self.programs[size].inputs
        # One row for all, because random numbers of a large batch take seconds.
        row = random_array(replace(spec, shape=(1, *spec.shape[1:])))
        return measure(program, [np.repeat(row, size, axis=0)]).median / 1e6

    @abstractmethod
    def load(self, indices: Sequence[int]) -> None:
        """Creates samples, which are random. Those of an earlier call are kept if they are the
        same, because the tests of a process use equal samples."""

    @abstractmethod
    def close(self) -> None:
        """Frees the samples. The program stays open."""

    @abstractmethod
    def start(self, slot: int, indices: Sequence[int]) -> None:
        """Starts a batch. Batches run in the order of their starts.

        Args:
            slot: A number below SLOTS that no batch has which is started and not finished.
            indices: The samples, at most `most`.
        """

    @abstractmethod
    def finish(self, slot: int) -> None:
        """Waits for the batch that was started with this slot."""

    def _row(self, index: int) -> np.ndarray:
        """The bytes of a new sample, as they are in memory: random numbers, rotated."""
        if self._numbers is None:
            shape = self._spec.stored.shape[1:]
            array = random_array(TensorSpec("", shape, self._spec.dtype))
            self._numbers = np.ascontiguousarray(array).reshape(-1)
        return np.roll(self._numbers, index).view(np.uint8)
