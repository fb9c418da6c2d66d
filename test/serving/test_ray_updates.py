"""Ray Serve: the model is replaced under load, and replicas and nodes die. Each answer is exactly one
of the old or the new model, or a clear error."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import ray_cluster
from ray import serve
from ray.serve.exceptions import RayServeException

import convoy_runtime
from convoy_runtime.errors import CudaError
from convoy_runtime.integrations.ray import application
from convoy_runtime.integrations.ray.replica import Replica

POINTS = [1, 4, 16]
REPLICAS = 2


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(1, 3, 16, 16)).astype(np.float32)


@pytest.fixture
def known(artifacts: Path, x: np.ndarray) -> list[list[bytes]]:
    """The answers of cnn.convoy, and of cnn-new.convoy, to `x`."""
    with (
        convoy_runtime.load(artifacts / "cnn.convoy") as old,
        convoy_runtime.load(artifacts / "cnn-new.convoy") as new,
    ):
        found = ray_cluster.answers([old, new], x, POINTS)
    assert not set(found[0]) & set(found[1])
    return found


def deploy(path: Path, **options: Any) -> Any:
    """Deploys an artifact with a replica on each node, or updates the deployment."""
    app = application(
        path, num_replicas=REPLICAS, max_replicas_per_node=1, health_check_period_s=1, **options
    )
    return serve.run(app, name="cnn", route_prefix="/")


def artifacts_in_use(handle: Any) -> set[tuple[str, str]]:
    found = [each["source"] for each in ray_cluster.statistics(handle, REPLICAS)]
    return {(Path(each["artifact"]).name, Path(each["weights"]).name) for each in found}


def processes(handle: Any) -> set[int]:
    return {each["process"] for each in ray_cluster.statistics(handle, REPLICAS)}


@pytest.mark.parametrize(
    ("artifact", "weights"), [("cnn.convoy", "cnn-new.safetensors"), ("cnn-new.convoy", None)]
)
def test_model_is_replaced_under_load(
    nodes: ray_cluster.Nodes,
    artifacts: Path,
    x: np.ndarray,
    known: list[list[bytes]],
    artifact: str,
    weights: str | None,
) -> None:
    handle = deploy(artifacts / "cnn.convoy")
    before = processes(handle)
    given = {} if weights is None else {"weights": artifacts / weights}
    with ray_cluster.Load(handle, x) as load:
        deploy(artifacts / artifact, **given)
        load.wait(100)
        replaced = len(load.results)
        load.wait(100)
    old, new = known
    assert load.errors == []
    assert set(load.results) <= {*old, *new}
    assert set(load.results[:50]) <= set(old)
    # The last answers of the old model arrive with the first of the new one.
    assert set(load.results[replaced:]) <= set(new)
    assert artifacts_in_use(handle) == {(artifact, weights or "")}
    assert processes(handle) == before, "replicas were restarted"
    deploy(artifacts / "cnn.convoy")
    assert handle.remote(x).result().tobytes() in old


def test_failed_update_leaves_a_replica_with_the_old_model(
    nodes: ray_cluster.Nodes,
    artifacts: Path,
    x: np.ndarray,
    known: list[list[bytes]],
    tmp_path: Path,
) -> None:
    handle = deploy(artifacts / "cnn.convoy")
    path = tmp_path / "next.convoy"
    path.write_bytes((artifacts / "cnn-new.convoy").read_bytes())
    app = application(path, num_replicas=REPLICAS, max_replicas_per_node=1, health_check_period_s=1)
    # The file changes after it was verified, so the replicas find another digest.
    path.write_bytes((artifacts / "mixed.convoy").read_bytes())
    with ray_cluster.Load(handle, x) as load:
        with pytest.raises(RuntimeError, match="cnn failed"):
            serve.run(app, name="cnn", route_prefix="/")
        (status,) = serve.status().applications["cnn"].deployments.values()
        load.wait(100)
    assert "does not match the given digest: another artifact, or a modified one" in status.message
    assert load.errors == []
    assert set(load.results) <= set(known[0])
    handle = deploy(artifacts / "cnn-new.convoy")
    assert artifacts_in_use(handle) == {("cnn-new.convoy", "")}


def check_outage(load: ray_cluster.Load, known: list[bytes]) -> None:
    """All answers are right, and the errors say that a replica is gone."""
    assert set(load.results) <= set(known)
    gone = (ray.exceptions.RayError, RayServeException)
    assert all(isinstance(error, gone) for error in load.errors), load.errors
    # At most the requests that were in the replica, and those that were sent until it was noticed.
    assert len(load.errors) <= 4 * load.threads, load.errors


def test_replica_is_killed(
    nodes: ray_cluster.Nodes, artifacts: Path, x: np.ndarray, known: list[list[bytes]]
) -> None:
    handle = deploy(artifacts / "cnn.convoy")
    killed = min(processes(handle))
    with ray_cluster.Load(handle, x) as load:
        os.kill(killed, signal.SIGKILL)
        ray_cluster.wait_for(
            lambda: len(processes(handle) - {killed}) == REPLICAS, "the replica was not replaced"
        )
        load.wait(100)
    check_outage(load, known[0])


def test_replica_whose_device_fails_is_replaced(
    nodes: ray_cluster.Nodes, artifacts: Path, x: np.ndarray, known: list[list[bytes]]
) -> None:
    class Failing(Replica):
        async def lose_device(self) -> None:
            """After some errors of a kernel, every later call of a process fails on that GPU."""
            problem = {"name": "CUDA_ERROR_ILLEGAL_ADDRESS", "description": "an illegal address"}

            def fail(*_: Any) -> None:
                raise CudaError(call="cuStreamSynchronize", **problem)

            for program in (self.model.program, *self.model.program.static_programs.values()):
                program.run_numpy = fail

    source = {"artifact": str(artifacts / "cnn.convoy")}
    deployment = serve.deployment(name="losing", user_config=source, health_check_period_s=1)
    handle = serve.run(deployment(Failing).bind(), name="losing", route_prefix="/losing")
    before = handle.statistics.remote().result()["process"]
    handle.lose_device.remote().result()
    with pytest.raises(CudaError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        handle.remote(x).result()

    def is_replaced() -> bool:
        try:
            return bool(handle.statistics.remote().result()["process"] != before)
        except ray.exceptions.RayError:
            return False

    ray_cluster.wait_for(is_replaced, "the replica was not replaced")
    assert handle.remote(x).result().tobytes() in known[0]
    serve.delete("losing")


def test_node_is_killed(
    nodes: ray_cluster.Nodes, artifacts: Path, x: np.ndarray, known: list[list[bytes]]
) -> None:
    handle = deploy(artifacts / "cnn.convoy")
    before = processes(handle)
    assert len(before) == REPLICAS
    with ray_cluster.Load(handle, x) as load:
        nodes.cluster.remove_node(nodes.worker, allow_graceful=False)
        load.wait(200)
        nodes.add_worker()
        ray_cluster.wait_for(
            lambda: len(processes(handle) - before) == 1, "no replica started on the new node"
        )
        load.wait(100)
    check_outage(load, known[0])
