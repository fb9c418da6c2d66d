# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An artifact behind Triton Inference Server: one instance, on this machine. Requests from Python
use gRPC."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http

from benchmarks.serving.measure import cpu_seconds_of
from benchmarks.serving.tritonserver import running_server
from convoy_runtime.integrations.triton.repository import export_model

__all__ = ["start"]

_MODEL = "model"


class _TritonServer:
    def __init__(self, http: Any, grpc: Any, process: int) -> None:
        self._http, self._grpc, self._process = http, grpc, process
        self._names = [each["name"] for each in http.get_model_metadata(_MODEL)["inputs"]]

    def submit(self, arrays: list[np.ndarray]) -> Callable[[], Any]:
        found: Future[Any] = Future()

        def finish(result: Any, error: Exception | None) -> None:
            if error is None:
                found.set_result(result)
            else:
                found.set_exception(error)

        self._grpc.async_infer(_MODEL, self._inputs(tritonclient.grpc, arrays), finish)
        return found.result

    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self._process)

    def http(self, arrays: list[np.ndarray]) -> Any:
        return self._http.infer(_MODEL, self._inputs(tritonclient.http, arrays))

    def _inputs(self, client: ModuleType, arrays: list[np.ndarray]) -> list[Any]:
        inputs = []
        for name, array in zip(self._names, arrays, strict=True):
            kind = {"float32": "FP32", "float16": "FP16", "int64": "INT64"}[array.dtype.name]
            tensor = client.InferInput(name, array.shape, kind)
            tensor.set_data_from_numpy(array)
            inputs.append(tensor)
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
            yield _TritonServer(http, grpc, process)
