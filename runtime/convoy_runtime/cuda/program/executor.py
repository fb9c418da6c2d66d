# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs artifacts of the `cuda` target. Each run launches the CUDA graph of an
`Instance`.

The captured graph works on static buffers. A call copies its inputs into them and its results out
of them, asynchronously on the caller's stream. `static_inputs`, `static_outputs` and `replay` avoid
the copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from convoy_runtime.arrays import CPU, CUDA, library_of
from convoy_runtime.cuda.driver.device import check_process, forked
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.host_arrays import aligned_empty, copy_packed, logical
from convoy_runtime.host_copies import copy

from .cuda_interface import CudaInterface
from .libraries import DLPACK_LEGACY_STREAM, hand_over
from .loaded import LoadedProgram

__all__ = ["CudaProgram"]


class CudaProgram(LoadedProgram):
    """A program on a GPU. Inputs are arrays on that GPU. An input with other strides than its spec
    is copied by its library.

    Work is enqueued on the `stream` argument of a call; by default on the current stream of torch
    or cupy if the first input is theirs, else on the legacy default stream. Calls from several
    threads or streams run one after another.

    Arguments and errors as `LoadedProgram`.
    """

    @property
    def static_inputs(self) -> tuple[DeviceArray, ...]:
        """The buffer of each input, which `replay` reads."""
        buffers = self._loaded.buffers
        return self._exchange.static_arrays(
            self.inputs, buffers.arguments.inputs, buffers.memory, self._ready
        )

    @property
    def static_outputs(self) -> tuple[DeviceArray, ...]:
        """The buffer of each output, which `replay` and every other run write."""
        buffers = self._loaded.buffers
        return self._exchange.static_arrays(
            self.outputs, buffers.arguments.outputs, buffers.memory, self._ready
        )

    def __call__(self, *args: Any, stream: int | None = None, **kwargs: Any) -> Any:
        """Runs the model, as `Program.__call__` says.

        Args:
            *args: The positional arguments of the module, or one array per input.
            stream: The handle of the CUstream to run on. Default: the current stream of the first
                input's library. Later work on the stream sees the results.
            **kwargs: The keyword arguments of the module.

        Returns:
            The results.

        Raises:
            ArgumentError: An argument does not match.
            WeightsError: The program has no weights.
            CudaError: The driver fails.
        """
        arrays = args if self._positional and not kwargs else self.arrays_of(args, kwargs)
        results = self._run_arrays(arrays, stream)
        return results[0] if self._single else self.nested(results)

    def _run_arrays(
        self,
        arrays: Sequence[Any],
        stream: int | None = None,
        interface: CudaInterface | None = None,
    ) -> tuple[Any, ...]:
        if self._source is None or not self._has_weights or forked():
            self._check_ready()
        call = interface or self._interface
        exchange = self._exchange
        library = library_of(arrays[0]) if arrays else "convoy_runtime"
        own = exchange.libraries.stream_of(library)
        target = own if stream is None else stream
        with self._lock, self._calls:
            pointers, _given = self._inputs(arrays, call, target, own)
            results = self._runs.run(
                pointers,
                lambda: exchange.results(library, call, target, own, self._ready),
                target,
                call.arrays,
            )
        return hand_over(library, results, call.outputs)

    def run_into(
        self,
        outputs: Sequence[Any],
        inputs: Sequence[Any],
        *,
        stream: int | None = None,
        interface: CudaInterface | None = None,
    ) -> None:
        """Runs the model and writes the results into given arrays.

        Args:
            outputs: The arrays to write, with the strides of `outputs`.
            inputs: The inputs.
            stream: As in `__call__`.
            interface: The sizes of a call with fewer rows than the program.

        Raises:
            ArgumentError: An array does not match its spec, or outputs overlap.
            WeightsError: The program has no weights.
            CudaError: The driver fails.
        """
        self._check_ready()
        call = interface or self._interface
        arrays = [*inputs, *outputs]
        own = self._exchange.libraries.stream_of(library_of(arrays[0]) if arrays else "")
        target = own if stream is None else stream
        with self._lock, self._calls:
            pointers, _given = self._inputs(inputs, call, target, own)
            targets = self._views(
                outputs,
                call.outputs,
                "output",
                (CUDA, self._device.index),
                self._exchange.libraries.producer_stream(target),
            )
            self._check_targets(targets, call.outputs)
            self._runs.run(
                pointers,
                lambda: (outputs, [got.pointer for got in targets]),
                target,
                call.arrays,
            )

    def replay(self, stream: int = 0) -> None:
        """Runs the model on `static_inputs` and writes `static_outputs`, without checks and copies.

        Args:
            stream: The handle of the CUstream to run on.

        Raises:
            WeightsError: The program has no weights.
            CudaError: The driver fails.
        """
        self._check_ready()
        with self._lock, self._calls:
            self._runs.replay(stream)

    def run_numpy(
        self, *arrays: np.ndarray, interface: CudaInterface | None = None
    ) -> tuple[np.ndarray, ...]:
        self._check_ready()
        call = interface or self._interface
        views = self._views(arrays, call.inputs, "input", (CPU, 0))
        stream = self._loaded.stream
        with self._lock, self._calls:
            results = self._shared.host_results.arrays(call.outputs)
            rest = call.outputs if results is None else ()
            hosts = self._shared.host_memory.arrays([*call.inputs, *rest])
            inputs, outputs = hosts[: len(views)], results or hosts[len(views) :]
            for host, got, spec in zip(inputs, views, call.inputs, strict=True):
                copy_packed(host, got, spec.order)
            self._runs.run(
                [host.ctypes.data for host in inputs],
                lambda: (outputs, [host.ctypes.data for host in outputs]),
                stream,
                call.arrays,
                host=True,
            )
            self._driver.call("cuStreamSynchronize", stream)
            if results is None:
                results = [aligned_empty(spec.stored.shape, spec.dtype) for spec in call.outputs]
                for result, host in zip(results, outputs, strict=True):
                    copy(result, host)
        return tuple(logical(*each) for each in zip(results, call.outputs, strict=True))

    def _inputs(
        self, arrays: Sequence[Any], call: CudaInterface, stream: int, own: int
    ) -> tuple[list[int], Sequence[object]]:
        """Returns the pointer of each input, and the objects that keep their memory alive. `own` is
        the current stream of the first input's library."""
        libraries, specs = self._exchange.libraries, call.inputs
        if stream == own:
            pointers = libraries.tensors.pointers(arrays, specs, call.known)
            if pointers is not None:
                return pointers, arrays
        producer = libraries.producer_stream(stream)
        views = self._views(arrays, specs, "input", (CUDA, self._device.index), producer)
        stored = self._exchange.stored_inputs(arrays, specs, views, stream)
        return [got.pointer for got in stored], stored

    def _ready(self, stream: int | None) -> None:
        """Makes a consumer's stream wait for the last run. In DLPack's numbering, None and 1 are
        the legacy default stream."""
        check_process()
        with self._lock, self._calls:
            if self._launcher is not None:
                self._launcher.follow(
                    0 if stream is None or stream == DLPACK_LEGACY_STREAM else stream
                )
