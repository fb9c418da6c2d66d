# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A worker process that builds plans for `build_pool`, which restores them from cuDNN's JSON.
Engines that compile a kernel hold a lock, so that threads cannot build concurrently.

It reads and writes one line of JSON at a time. First a setup, {"native_bytes", "properties",
"device", "libraries"}, followed by that many bytes of native.so; the answer is {"ready": true}.
Then jobs, {"symbol", "name", "location", "engine", "knobs"}, whose answer is {"plan": JSON}, and
queries, {"symbol", "name", "location", "source", "limit"}, whose answer is {"offers": [[engine,
knobs, numerical notes, behavior notes], ...]}. Any answer may be {"error": reason} instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import signal
import sys
from typing import IO, Any, Final

from convoy_runtime._native import NativeLibrary, load_native
from convoy_runtime.cuda.cudnn.configs import heuristic_configs
from convoy_runtime.cuda.cudnn.device_files import device_of
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.errors import ConvoyRuntimeError, CudnnError
from convoy_runtime.manifest import Graph

from .builder import PlanBuilder
from .options import PlanOptions

__all__ = ["main"]

#: Those of cuDNN 9.19 that are known to need the GPU.
_ENGINES_ON_GPU: Final = (4,)


def main(jobs: IO[bytes], answers: IO[bytes]) -> int:
    """Reads `jobs` to the end and writes an answer to each. Returns the exit code."""

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value).encode() + b"\n")
        answers.flush()

    setup = json.loads(jobs.readline())
    with contextlib.ExitStack() as stack:
        try:
            builders = _Builders(setup, load_native(jobs.read(setup["native_bytes"])), stack)
        except ConvoyRuntimeError as error:
            answer({"error": str(error)})
            return 1
        answer({"ready": True})
        for line in jobs:
            try:
                asked = json.loads(line)
                if "engine" in asked:
                    answer({"plan": builders.build(asked)})
                else:
                    answer({"offers": builders.offers(asked)})
            except CudnnError as error:
                answer({"error": f"{error.name}: {error.detail}"})
            except ConvoyRuntimeError as error:
                answer({"error": str(error)})
    return 0


class _Builders:
    """Builds plans for the GPU that `properties` describe. Plans that fail are built on `device`,
    whose context is created for the first of them, and so are all later plans of such an engine.

    Args:
        setup: The setup.
        native: The library with the build functions.
        stack: Closes what this object opens.

    Raises:
        CudnnError: cuDNN rejects the properties.
        DeviceError: There is no cuDNN.
    """

    def __init__(
        self, setup: dict[str, Any], native: NativeLibrary, stack: contextlib.ExitStack
    ) -> None:
        for library in setup["libraries"]:
            with contextlib.suppress(OSError):
                ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self._native, self._device, self._stack = native, setup["device"], stack
        self._cudnn = open_cudnn()
        device = stack.enter_context(
            contextlib.closing(device_of(self._cudnn, setup["properties"]))
        )
        self._planned = PlanBuilder(self._cudnn, PlanOptions(), handle=None, device=device)
        self._built: PlanBuilder | None = None
        #: The engines whose plans need the GPU. A plan fails after cuDNN has compiled its kernel.
        self._on_gpu = {*_ENGINES_ON_GPU}

    def build(self, job: dict[str, Any]) -> str:
        """Returns the JSON of a plan. Raises CudnnError, or DeviceError if `device` is missing."""
        graph = _graph_of(job)
        what = graph, self._native.builder(graph.symbol), job["engine"], job["knobs"]
        if self._device is None:
            return self._planned.text_of(*what)
        if job["engine"] not in self._on_gpu:
            with contextlib.suppress(CudnnError):
                return self._planned.text_of(*what)
        text = self._on_device().text_of(*what)
        self._on_gpu.add(job["engine"])
        return text

    def offers(self, query: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Returns the engine, knobs and notes of the configurations that a mode of the heuristics
        offers for a graph. Raises CudnnError."""
        graph = _graph_of(query)
        with (
            self._planned.operation_graph(graph, self._native.builder(graph.symbol)) as operations,
            contextlib.closing(
                heuristic_configs(
                    self._cudnn, operations, query["source"], self._planned.device, []
                )
            ) as configs,
        ):
            return [
                (each.engine, each.named_knobs, each.numerical_notes, each.behavior_notes)
                for each in itertools.islice(configs, query["limit"])
            ]

    def _on_device(self) -> PlanBuilder:
        if self._built is None:
            self._stack.enter_context(Device(open_driver(), self._device).current())
            handle = ctypes.c_void_p()
            self._cudnn.call("cudnnCreate", ctypes.byref(handle))
            self._stack.callback(self._cudnn.library.cudnnDestroy, handle)
            self._built = PlanBuilder(self._cudnn, PlanOptions(), handle=handle.value or 0)
        return self._built


def _graph_of(asked: dict[str, Any]) -> Graph:
    return Graph(asked["name"], asked["symbol"], (), asked["location"], ())


if __name__ == "__main__":
    # A keyboard interrupt also reaches this process. The parent reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Only answers may go to the pipe, but cuDNN may be configured to log to standard output.
    with os.fdopen(os.dup(1), "wb") as pipe:
        os.dup2(2, 1)
        sys.exit(main(sys.stdin.buffer, pipe))
