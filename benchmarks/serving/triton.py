# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An artifact behind Triton Inference Server: one instance, on this machine. Requests from Python
use gRPC, with their arrays in shared memory, as clients of the same machine do."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import shared_memory

from benchmarks.serving.measure import cpu_seconds_of
from benchmarks.serving.tritonserver import running_server
from convoy_runtime.integrations.triton.repository import export_model

__all__ = ["start"]

_MODEL = "model"


class _Regions:
    """Regions of shared memory which the server knows, one for each unfinished request.

    Args:
        grpc: The client, which registers regions.
    """

    def __init__(self, grpc: Any) -> None:
        self._grpc = grpc
        self._free: defaultdict[int, list[tuple[str, Any]]] = defaultdict(list)
        self._all: list[tuple[str, Any]] = []
        self._numbers = itertools.count()

    def take(self, size: int) -> tuple[str, Any]:
        """The name and the handle of a region of `size` bytes that no request uses."""
        if free := self._free[size]:
            return free.pop()
        name = f"convoy_{os.getpid()}_{next(self._numbers)}"
        region = shared_memory.create_shared_memory_region(name, f"/{name}", size)
        self._all.append((name, region))
        self._grpc.register_system_shared_memory(name, f"/{name}", size)
        return name, region

    def give(self, size: int, region: tuple[str, Any]) -> None:
        """Returns a region. Called by the client's threads."""
        self._free[size].append(region)

    def close(self) -> None:
        """Removes all regions."""
        for name, region in self._all:
            self._grpc.unregister_system_shared_memory(name)
            shared_memory.destroy_shared_memory_region(region)


class _TritonServer:
    def __init__(self, http: Any, grpc: Any, regions: _Regions, process: int) -> None:
        self._http, self._grpc, self._regions, self._process = http, grpc, regions, process
        self._names = [each["name"] for each in http.get_model_metadata(_MODEL)["inputs"]]

    def submit(self, arrays: list[np.ndarray]) -> Callable[[], Any]:
        found: Future[Any] = Future()
        size = sum(array.nbytes for array in arrays)
        name, region = self._regions.take(size)
        shared_memory.set_shared_memory_region(region, arrays)
        inputs = self._inputs(tritonclient.grpc, arrays)
        offsets = itertools.accumulate((array.nbytes for array in arrays), initial=0)
        for tensor, array, offset in zip(inputs, arrays, offsets, strict=False):
            tensor.set_shared_memory(name, array.nbytes, offset)

        def finish(result: Any, error: Exception | None) -> None:
            self._regions.give(size, (name, region))
            if error is None:
                found.set_result(result)
            else:
                found.set_exception(error)

        self._grpc.async_infer(_MODEL, inputs, finish)
        return found.result

    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self._process)

    def http(self, arrays: list[np.ndarray]) -> Any:
        inputs = self._inputs(tritonclient.http, arrays)
        for tensor, array in zip(inputs, arrays, strict=True):
            tensor.set_data_from_numpy(array)
        return self._http.infer(_MODEL, inputs)

    def _inputs(self, client: ModuleType, arrays: list[np.ndarray]) -> list[Any]:
        inputs = []
        for name, array in zip(self._names, arrays, strict=True):
            kind = {"float32": "FP32", "float16": "FP16", "int64": "INT64"}[array.dtype.name]
            inputs.append(client.InferInput(name, array.shape, kind))
        return inputs


@contextlib.contextmanager
def start(path: str, threads: int) -> Iterator[_TritonServer]:
    """Serves an artifact.

    Args:
        path: The artifact.
        threads: The threads of the model's loops.

    Yields:
        The server.
    """
    os.environ["CONVOY_NUM_THREADS"] = str(threads)  # the server inherits it
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder, "models")
        export_model(path, repository, name=_MODEL)
        with (
            running_server(repository, Path(folder), f"--load-model={_MODEL}") as server,
            contextlib.closing(tritonclient.http.InferenceServerClient(server.http)) as http,
            contextlib.closing(tritonclient.grpc.InferenceServerClient(server.grpc)) as grpc,
        ):
            (process,) = server.stubs(_MODEL)
            with contextlib.closing(_Regions(grpc)) as regions:
                yield _TritonServer(http, grpc, regions, process)
