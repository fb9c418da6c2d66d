"""Ray Serve: the number of replicas follows the load, and every request is answered rightly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import ray_cluster
from ray import serve

import convoy_runtime
from convoy_runtime.integrations.ray import application

NAME = "scaled"
#: Serve's defaults wait 30 s before it adds a replica and 600 s before it removes one. Decisions
#: depend on the number of unfinished requests, not on their speed, so short delays are as reliable
#: on a busy machine; the mean over a second keeps single samples from deciding.
SCALING = {
    "min_replicas": 1,
    "max_replicas": 2,
    "target_ongoing_requests": 3,
    "upscale_delay_s": 0.2,
    "downscale_delay_s": 1.0,
    "metrics_interval_s": 0.2,
    "look_back_period_s": 1.0,
}


def running() -> int:
    """The number of replicas that run, without those that start or stop."""
    (deployment,) = serve.status().applications[NAME].deployments.values()
    replicas = {str(state): count for state, count in deployment.replica_states.items()}
    return replicas.get("RUNNING", 0) if set(replicas) <= {"RUNNING"} else 0


def test_replicas_follow_the_load(nodes: ray_cluster.Nodes, artifacts: Path) -> None:
    x = np.random.default_rng(0).normal(size=(1, 3, 16, 16)).astype(np.float32)
    with convoy_runtime.load(artifacts / "cnn.convoy") as program:
        (right,) = ray_cluster.answers([program], x, [1, 4, 16])
    app = application(artifacts / "cnn.convoy", autoscaling_config=SCALING)
    handle = serve.run(app, name=NAME, route_prefix=f"/{NAME}")
    try:
        # Initializes the handle. Threads whose first calls come at once would each make a router of
        # one id, and the controller would count the requests of one of them.
        first = handle.remote(x).result(timeout_s=ray_cluster.PATIENCE)
        assert running() == 1
        # Twelve requests are unfinished at any time, four times the target of a replica.
        with ray_cluster.Load(handle, x, threads=12) as high:
            ray_cluster.wait_for(lambda: running() == 2, "no second replica")
            processes = {each["process"] for each in ray_cluster.statistics(handle, 2)}
            assert len(processes) == 2
            high.wait(100)
        # One is unfinished, which one replica can answer. The other one stops under this load.
        with ray_cluster.Load(handle, x, threads=1) as low:
            ray_cluster.wait_for(lambda: running() == 1, "the second replica does not stop")
            low.wait(20)
        assert {each["process"] for each in ray_cluster.statistics(handle, 1)} < processes
    finally:
        serve.delete(NAME)
        handle.shutdown()  # it reports its requests until then
    assert high.errors == low.errors == []
    assert {first.tobytes(), *high.results, *low.results} <= set(right)
