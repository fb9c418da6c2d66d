# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An artifact behind Ray Serve: one replica, on a cluster of this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
import tritonclient.http
from ray import serve

from benchmarks.serving.measure import cpu_seconds_of
from convoy_runtime.integrations.ray import application

__all__ = ["start"]


class _RayServer:
    def __init__(self, handle: Any, port: int, names: list[str]) -> None:
        self._handle, self._names = handle, names
        self._process = handle.statistics.remote().result()["process"]
        self._client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{port}")

    def submit(self, arrays: list[np.ndarray]) -> Callable[[], Any]:
        return self._handle.remote(*arrays).result

    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self._process)

    def http(self, arrays: list[np.ndarray]) -> Any:
        inputs = []
        for name, array in zip(self._names, arrays, strict=True):
            kind = {"float32": "FP32", "float16": "FP16", "int64": "INT64"}[array.dtype.name]
            tensor = tritonclient.http.InferInput(name, array.shape, kind)
            inputs.append(tensor.set_data_from_numpy(array))
        return self._client.infer("model", inputs)


@contextmanager
def start(path: str, threads: int) -> Iterator[_RayServer]:
    """Serves an artifact.

    Args:
        path: The artifact.
        threads: The number of CPU cores of the replica.

    Yields:
        The server.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # "local": not a cluster that runs on this machine already.
    ray.init("local", num_cpus=threads + 2, include_dashboard=False, log_to_driver=False)
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        handle = serve.run(application(path, ray_actor_options={"num_cpus": threads}))
        client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{port}")
        names = [each["name"] for each in client.get_model_metadata("model")["inputs"]]
        yield _RayServer(handle, port, names)
    finally:
        serve.shutdown()
        ray.shutdown()
