"""A Ray cluster of two nodes on this machine, and a load on its deployments."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Nothing is reported to a server. Read when a cluster starts.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray import serve
from ray.cluster_utils import Cluster

__all__ = ["Load", "Nodes", "answers", "nodes", "statistics", "wait_for"]

#: Results of calls and updates of a busy machine are waited for so long, in seconds.
PATIENCE = 120.0
_MEMORY = 200 << 20


@dataclass
class Nodes:
    """A cluster whose driver is this process.

    Attributes:
        cluster: The cluster.
        worker: The node without the driver and Serve's controller.
        port: The port of Serve's HTTP proxy.
    """

    cluster: Cluster
    worker: Any
    port: int

    def add_worker(self) -> None:
        """Starts a node, which is `worker` from then on."""
        self.worker = self.cluster.add_node(num_cpus=4, object_store_memory=_MEMORY)
        self.cluster.wait_for_nodes()

    @property
    def url(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def nodes() -> Iterator[Nodes]:
    """Starts two nodes with four cores each, and Serve; stops all processes at the end."""
    head = {"num_cpus": 4, "object_store_memory": _MEMORY, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
        nodes = Nodes(cluster, None, port)
        nodes.add_worker()
        yield nodes
    finally:
        serve.shutdown()
        ray.shutdown()
        cluster.shutdown()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Waits until a condition is true; fails with `what` if it does not become so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} after {PATIENCE} s"
        time.sleep(0.1)


def statistics(handle: Any, replicas: int) -> list[dict[str, Any]]:
    """The statistics of each replica, by asking until each has answered."""
    found: dict[int, dict[str, Any]] = {}

    def all_answered() -> bool:
        for answer in [handle.statistics.remote() for _ in range(2 * replicas)]:
            # A question to a replica whose node was killed may have no answer.
            with contextlib.suppress(TimeoutError):
                got = answer.result(timeout_s=PATIENCE / 10)
                found[got["process"]] = got
        return len(found) >= replicas

    wait_for(all_answered, f"not all of {replicas} replicas answered")
    return list(found.values())


def answers(programs: Sequence[Any], x: np.ndarray, points: Sequence[int]) -> list[list[bytes]]:
    """All answers that each program may give to a request of one row: those of its points, which
    may differ in the last bits."""
    return [
        [program(np.repeat(x, point, axis=0))[:1].tobytes() for point in points]
        for program in programs
    ]


@dataclass
class Load:
    """Threads that call a deployment with one row each, until `stop`.

    Args:
        handle: The handle of the deployment.
        x: The input.
        threads: The number of threads.

    Attributes:
        results: The bytes of each answer, in the order of their arrival.
        errors: The errors.
    """

    handle: Any
    x: np.ndarray
    threads: int = 8
    results: list[bytes] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    def __enter__(self) -> Load:
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._call) for _ in range(self.threads)]
        for thread in self._threads:
            thread.start()
        self.wait(50)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait(self, count: int) -> None:
        """Waits for further results."""
        wanted = len(self.results) + count
        wait_for(lambda: len(self.results) >= wanted, f"fewer than {count} results")

    def _call(self) -> None:
        while not self._stop.is_set():
            try:
                result = self.handle.remote(self.x).result(timeout_s=PATIENCE)
            except Exception as error:
                self.errors.append(error)
            else:
                self.results.append(result.tobytes())
