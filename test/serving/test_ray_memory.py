"""Ray Serve: the memory of a replica stays flat under load, with updates of weights and artifacts.

`CONVOY_MEMORY_SECONDS=600 make test-serving TESTS=test/serving/test_ray_memory.py` runs it for ten
minutes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import ray_cluster
from ray import serve

from convoy_runtime.integrations.ray import application

SECONDS = float(os.environ.get("CONVOY_MEMORY_SECONDS", "10"))
#: The most that a replica may grow in MB after the first third of the time, which fills caches and
#: the allocator's pools. An artifact that was not released at each update, every few seconds, would
#: be more in ten minutes, as would a leak of 100 bytes in each request.
MOST_MB = 8.0


def resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def deploy(path: Path, **options: Any) -> Any:
    return serve.run(application(path, **options), name="cnn", route_prefix="/")


def test_memory_is_flat(nodes: ray_cluster.Nodes, artifacts: Path) -> None:
    x = np.random.default_rng(0).normal(size=(1, 3, 16, 16)).astype(np.float32)
    handle = deploy(artifacts / "cnn.convoy")
    (found,) = ray_cluster.statistics(handle, 1)
    updates: list[tuple[Path, dict[str, Any]]] = [
        (artifacts / "cnn-new.convoy", {}),
        (artifacts / "cnn.convoy", {"weights": artifacts / "cnn-new.safetensors"}),
        (artifacts / "cnn.convoy", {}),
    ]
    sizes = []
    with ray_cluster.Load(handle, x) as load:
        end = time.monotonic() + SECONDS
        while len(sizes) < 3 or time.monotonic() < end:
            for path, options in updates:
                deploy(path, **options)
                load.wait(200)
            sizes.append(resident_mb(found["process"]))
    assert load.errors == []
    (same,) = ray_cluster.statistics(handle, 1)
    assert same["process"] == found["process"]
    print(f"{len(load.results)} requests, {3 * len(sizes)} updates, MB: {sizes}")
    serve.delete("cnn")
    start = len(sizes) // 3
    assert max(sizes[start:]) - sizes[start] < MOST_MB, sizes
