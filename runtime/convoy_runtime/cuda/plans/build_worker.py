# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A worker process that builds plans for `build_pool`, which restores them from cuDNN's JSON.
Engines that compile a kernel hold a lock, so that threads cannot build concurrently.

It reads and writes one line of JSON at a time. First a setup, {"native_bytes", "properties",
"libraries"}, followed by that many bytes of native.so; the answer is {"ready": true}.
Then jobs, {"symbol", "name", "location", "engine", "knobs"}; the answer is {"plan": JSON}. Any
answer may be {"error": reason} instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from typing import IO, Any

from convoy_runtime._native import NativeLibrary, load_native
from convoy_runtime.cuda.cudnn.device_files import device_of
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.errors import ConvoyRuntimeError, CudnnError
from convoy_runtime.manifest import Graph

from .builder import PlanBuilder
from .options import PlanOptions

__all__ = ["main"]


def main(jobs: IO[bytes], answers: IO[bytes]) -> int:
    """Reads `jobs` to the end and writes an answer to each. Returns the exit code."""

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value).encode() + b"\n")
        answers.flush()

    setup = json.loads(jobs.readline())
    with contextlib.ExitStack() as stack:
        try:
            native = load_native(jobs.read(setup["native_bytes"]))
            builder = _builder(setup, stack)
        except ConvoyRuntimeError as error:
            answer({"error": str(error)})
            return 1
        answer({"ready": True})
        for line in jobs:
            try:
                answer({"plan": _build(builder, native, json.loads(line))})
            except CudnnError as error:
                answer({"error": f"{error.name}: {error.detail}"})
    return 0


def _builder(setup: dict[str, Any], stack: contextlib.ExitStack) -> PlanBuilder:
    """Returns a builder for the GPU that `properties` describes."""
    for library in setup["libraries"]:
        with contextlib.suppress(OSError):
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    cudnn = open_cudnn()
    device = stack.enter_context(contextlib.closing(device_of(cudnn, setup["properties"])))
    return PlanBuilder(cudnn, PlanOptions(), handle=None, device=device)


def _build(builder: PlanBuilder, native: NativeLibrary, job: dict[str, Any]) -> str:
    graph = Graph(job["name"], job["symbol"], (), job["location"], ())
    return builder.text_of(graph, native.builder(graph.symbol), job["engine"], job["knobs"])


if __name__ == "__main__":
    # A keyboard interrupt also reaches this process. The parent reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Only answers may go to the pipe, but cuDNN may be configured to log to standard output.
    with os.fdopen(os.dup(1), "wb") as pipe:
        os.dup2(2, 1)
        sys.exit(main(sys.stdin.buffer, pipe))
