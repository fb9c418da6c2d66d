# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Batches on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.mlperf.engine import Engine
from convoy_runtime import Program
from convoy_runtime.host_arrays import aligned_empty

__all__ = ["HostEngine"]


class HostEngine(Engine):
    """Samples in host memory. A batch is copied to the input of a program, which runs before
    `start` returns. Arguments and errors are those of `Engine`."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._inputs = {
            size: aligned_empty(each.inputs[0].stored.shape, each.inputs[0].dtype)
            for size, each in self.programs.items()
        }
        self._samples: dict[int, np.ndarray] = {}

    def load(self, indices: Sequence[int]) -> None:
        if set(indices) != self._samples.keys():
            shape, dtype = self._spec.stored.shape[1:], self._inputs[self.most].dtype
            self._samples = {each: self._row(each).view(dtype).reshape(shape) for each in indices}

    def close(self) -> None:
        self._samples = {}

    def start(self, slot: int, indices: Sequence[int]) -> None:
        size = self.size_for(len(indices))
        program, stored = self.programs[size], self._inputs[size]
        for row, index in zip(stored, indices, strict=False):
            row[...] = self._samples[index]
        order = program.inputs[0].order
        given = stored if order is None else stored.transpose(np.argsort(order))
        program.run_numpy(given)

    def finish(self, slot: int) -> None:
        pass  # `start` has run it
