# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Copies the samples of a batch to the input of a program with one kernel of torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from benchmarks.mlperf.engine import SLOTS
from convoy_runtime import DeviceError, TensorSpec
from convoy_runtime.cuda.driver.memory import DeviceArray

__all__ = ["KernelGather"]


class KernelGather:
    """`torch.index_select` of rows. Rows are copied as integers of 8 bytes, or as bytes if their
    size is no multiple of 8.

    Args:
        index: The index of the GPU.
        stream: The handle of the stream.
        inputs: Size of a batch to the address of its input.
        width: The bytes of a row.

    Raises:
        DeviceError: torch has no CUDA.
    """

    def __init__(self, index: int, stream: int, inputs: Mapping[int, int], width: int) -> None:
        if not torch.cuda.is_available():
            raise DeviceError(
                problem=f"torch {torch.__version__}, which gathers samples, cannot use a GPU",
                hint="install torch with CUDA, or pass --gather copies",
            )
        self._type, self._count = ("int64", width // 8) if width % 8 == 0 else ("uint8", width)
        self._index, self._device = index, torch.device("cuda", index)
        self._stream = torch.cuda.ExternalStream(stream, self._device)  # type: ignore[no-untyped-call]
        self._rows: torch.Tensor | None = None
        self._inputs = {size: self._tensor(pointer, size) for size, pointer in inputs.items()}
        most = max(inputs)
        # One for each slot, because a copy of a later batch must not change them before it has run.
        self._host = [torch.empty(most, dtype=torch.int64, pin_memory=True) for _ in range(SLOTS)]
        self._views = [each.numpy() for each in self._host]
        self._places = [
            torch.empty(most, dtype=torch.int64, device=self._device) for _ in range(SLOTS)
        ]

    def close(self) -> None:
        """Frees the tensors. The stream has to exist until then: torch records an event on it when
        it frees pinned memory that a copy on the stream has read, and ends the process if that
        fails."""
        self._rows = None
        self._inputs.clear()
        for each in (self._views, self._host, self._places):
            each.clear()

    def use(self, pointer: int, count: int) -> None:
        """Reads samples from this memory from now on, which has `count` rows."""
        self._rows = self._tensor(pointer, count)

    def __call__(self, slot: int, size: int, places: Sequence[int]) -> None:
        """Enqueues the copy.

        Args:
            slot: As in `Engine.start`.
            size: The size of the compiled batch.
            places: The rows.
        """
        assert self._rows is not None
        count = len(places)
        self._views[slot][:count] = places
        rows = self._places[slot][:count]
        with torch.cuda.stream(self._stream):
            rows.copy_(self._host[slot][:count], non_blocking=True)
            torch.index_select(self._rows, 0, rows, out=self._inputs[size][:count])

    def _tensor(self, pointer: int, rows: int) -> torch.Tensor:
        """A tensor on memory that others keep alive, without waiting for its contents."""
        spec = TensorSpec("", (rows, self._count), self._type)
        array = DeviceArray(spec, pointer, self._index, None, lambda _: None)
        return torch.utils.dlpack.from_dlpack(array)
