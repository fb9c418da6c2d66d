"""Ray Serve: results, batches, errors and HTTP on a cluster of two nodes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray_cluster
import requests
import tritonclient.http
from ray import serve

import convoy_runtime
from convoy_runtime.errors import ArgumentError, ArtifactError, WeightsError
from convoy_runtime.integrations.ray import Replica, application


@pytest.fixture(scope="module")
def cnn(nodes: ray_cluster.Nodes, artifacts: Path) -> Iterator[Any]:
    yield serve.run(application(artifacts / "cnn.convoy"), name="cnn", route_prefix="/")
    serve.delete("cnn")


@pytest.fixture
def program(artifacts: Path) -> Iterator[convoy_runtime.Program]:
    with convoy_runtime.load(artifacts / "cnn.convoy") as program:
        yield program


def images(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 3, 16, 16)).astype(np.float32)


def calls(handle: Any) -> dict[int, int]:
    (found,) = ray_cluster.statistics(handle, 1)
    return found["calls"]


def test_results_are_those_of_the_program(cnn: Any, program: convoy_runtime.Program) -> None:
    inputs = [images(count, seed) for seed, count in enumerate([1, 2, 4, 7, 16, 3])]
    answers = [cnn.remote(x) for x in inputs]
    for x, answer in zip(inputs, answers, strict=True):
        np.testing.assert_allclose(answer.result(), program(x), rtol=1e-5, atol=1e-6)


def test_requests_run_together(cnn: Any) -> None:
    before = calls(cnn)
    answers = [cnn.remote(images(1, seed)) for seed in range(60)]
    for answer in answers:
        answer.result()
    after = calls(cnn)
    made = {size: after[size] - before.get(size, 0) for size in after}
    assert sum(size * count for size, count in made.items()) == 60
    assert sum(made.values()) < 60
    assert max(size for size, count in made.items() if count) <= 16


def test_nested_arguments_and_results(nodes: ray_cluster.Nodes, artifacts: Path) -> None:
    app = application(artifacts / "mixed.convoy", name="mixed")
    handle = serve.run(app, name="mixed", route_prefix="/mixed")
    random = np.random.default_rng(0)
    ids, features = random.integers(0, 100, (2, 5)), random.normal(size=(2, 8)).astype(np.float16)
    with convoy_runtime.load(artifacts / "mixed.convoy") as program:
        expected = program(ids, features)
    found = handle.remote(ids, features).result()
    assert found.keys() == expected.keys() == {"best", "scores"}
    assert np.array_equal(found["best"], expected["best"])
    assert found["scores"].dtype == np.float16
    np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-2, atol=1e-3)
    with pytest.raises(
        ArgumentError, match="input 'features': wrong dtype: expected float16, got float32"
    ):
        handle.remote(ids, features.astype(np.float32)).result()
    serve.delete("mixed")


def test_static_and_unpadded_models_run_each_request_alone(
    nodes: ray_cluster.Nodes, artifacts: Path
) -> None:
    rows = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    for name, x in (("mlp", rows[:2]), ("centered", rows)):
        app = application(artifacts / f"{name}.convoy", num_replicas=1)
        handle = serve.run(app, name=name, route_prefix=f"/{name}")
        with convoy_runtime.load(artifacts / f"{name}.convoy") as program:
            expected = program(x)
        answers = [handle.remote(x) for _ in range(10)]
        assert all(np.array_equal(answer.result(), expected) for answer in answers)
        assert calls(handle) == {0: 10}
        serve.delete(name)


BAD = [
    (np.zeros((17, 3, 16, 16), np.float32), "batch is not in its range: expected 1 to 16, got 17"),
    (np.zeros((1, 3, 16, 16)), "input 'input': wrong dtype: expected float32, got float64"),
    (np.zeros((1, 3, 16), np.float32), "wrong shape: .*3, 16, 16., got .1, 3, 16."),
    ("text", "input 'input': is not an array"),
]


def test_bad_requests_do_not_fail_others(cnn: Any, program: convoy_runtime.Program) -> None:
    x = images(1)
    expected = ray_cluster.answers([program], x, [1, 4, 16])[0]
    answers = [(cnn.remote(x), cnn.remote(bad), message) for bad, message in BAD for _ in range(5)]
    for good, bad, message in answers:
        assert good.result().tobytes() in expected
        with pytest.raises(ArgumentError, match=message):
            bad.result()
    with pytest.raises(ArgumentError, match=r"inputs: wrong number: expected 1 \(input\), got 0"):
        cnn.remote().result()


def test_clients_of_triton_and_kserve(
    nodes: ray_cluster.Nodes, cnn: Any, program: convoy_runtime.Program
) -> None:
    x = images(3)
    client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{nodes.port}")
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("model")
    (described,) = client.get_model_metadata("model")["inputs"]
    assert described == {"name": "input", "datatype": "FP32", "shape": [-1, 3, 16, 16]}
    for binary in (True, False):
        tensor = tritonclient.http.InferInput("input", x.shape, "FP32")
        tensor.set_data_from_numpy(x, binary_data=binary)
        wanted = [tritonclient.http.InferRequestedOutput("0", binary_data=binary)]
        for outputs in (wanted, None):
            found = client.infer("model", [tensor], outputs=outputs, request_id="7")
            np.testing.assert_allclose(found.as_numpy("0"), program(x), rtol=1e-5, atol=1e-6)
            assert found.get_response()["id"] == "7"


def test_http_errors_are_those_of_the_artifact(nodes: ray_cluster.Nodes, cnn: Any) -> None:
    def post(path: str, body: Any) -> tuple[int, str]:
        answer = requests.post(f"{nodes.url}/v2/models/{path}", json=body, timeout=60)
        return answer.status_code, answer.json()["error"]

    def tensor(count: int, **changes: Any) -> dict[str, Any]:
        shape = [count, 3, 16, 16]
        data = [0.0] * (count * 3 * 16 * 16)
        item = {"name": "input", "shape": shape, "datatype": "FP32", "data": data, **changes}
        return {"inputs": [item]}

    range_error = (
        "dim 0 of input 'input': the value of batch is not in its range: expected 1 to 16, got 17"
    )
    dtype_error = "input 'input': wrong dtype: expected float32, got float64"
    names_error = "inputs: wrong names: expected input, got none"
    assert post("model/infer", tensor(17)) == (400, range_error)
    assert post("model/infer", tensor(1, datatype="FP64")) == (400, dtype_error)
    assert post("model/infer", {"inputs": []}) == (400, names_error)
    assert post("other/infer", tensor(1))[0] == 404
    assert requests.get(f"{nodes.url}/v1/models", timeout=60).status_code == 404


def test_bad_files_are_refused_before_they_are_deployed(
    nodes: ray_cluster.Nodes, artifacts: Path, tmp_path: Path
) -> None:
    content = bytearray((artifacts / "cnn.convoy").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "damaged.convoy").write_bytes(content)
    other = "sha256:" + "0" * 64
    with pytest.raises(ArtifactError, match="damaged.convoy"):
        application(tmp_path / "damaged.convoy")
    with pytest.raises(ArtifactError, match="absent.convoy: cannot be read: No such file"):
        application(tmp_path / "absent.convoy")
    with pytest.raises(ArtifactError, match="does not match the given digest"):
        application(artifacts / "cnn.convoy", digest=other)
    with pytest.raises(WeightsError, match="does not match the given digest"):
        application(
            artifacts / "cnn.convoy",
            weights=artifacts / "cnn.safetensors",
            weights_digest=other,
        )


def test_health_check_runs_the_program(cnn: Any) -> None:
    assert cnn.check_health.remote().result() is None


def test_deployment_without_a_model_does_not_start(
    nodes: ray_cluster.Nodes, artifacts: Path
) -> None:
    bare = serve.deployment(name="bare", user_config={"weights": "w.safetensors"})(Replica).bind()
    with pytest.raises(RuntimeError):
        serve.run(bare, name="bare", route_prefix="/bare")
    (deployment,) = serve.status().applications["bare"].deployments.values()
    assert "user_config: names no artifact: expected a mapping" in deployment.message
    serve.delete("bare")


def test_options_are_passed_to_ray(nodes: ray_cluster.Nodes, artifacts: Path) -> None:
    scaling = {"min_replicas": 2, "max_replicas": 3}
    cores = {"num_cpus": 2}
    app = application(artifacts / "cnn.convoy", autoscaling_config=scaling, ray_actor_options=cores)
    handle = serve.run(app, name="scaled", route_prefix="/scaled")
    assert len(ray_cluster.statistics(handle, 2)) == 2
    assert {found["threads"] for found in ray_cluster.statistics(handle, 2)} == {2}
    serve.delete("scaled")


def test_replica_of_a_gpu_artifact_has_one_gpu(artifacts: Path) -> None:
    for options, expected in (
        ({}, {"num_cpus": 1, "num_gpus": 1}),
        ({"num_gpus": 0.5, "num_cpus": 2}, {"num_cpus": 2, "num_gpus": 0.5}),
    ):
        app = application(artifacts / "mlp-cuda.convoy", ray_actor_options=options)
        assert app._bound_deployment.ray_actor_options == expected


def test_first_example_of_the_page_is_served(
    nodes: ray_cluster.Nodes,
    artifacts: Path,
    tmp_path: Path,
    program: convoy_runtime.Program,
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()
    block = re.search(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert block is not None
    assert block[1].count("\n") == 3
    (tmp_path / "module.py").write_text(block[1])
    shutil.copy(artifacts / "cnn.convoy", tmp_path / "model.convoy")
    command = Path(sys.executable).with_name("serve")
    done = subprocess.run(
        [
            *(command, "run", "--address", nodes.cluster.address, "--non-blocking"),
            *("--name", "command", "--route-prefix", "/command", "module:app"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=ray_cluster.PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    x = images(2)
    tensor = tritonclient.http.InferInput("input", x.shape, "FP32")
    tensor.set_data_from_numpy(x)
    client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{nodes.port}/command")
    found = client.infer("model", [tensor]).as_numpy("0")
    np.testing.assert_allclose(found, program(x), rtol=1e-5, atol=1e-6)
    serve.delete("command")
