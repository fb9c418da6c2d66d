"""Triton Inference Server under load: batches, models that are replaced, metrics and memory."""

from __future__ import annotations

import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from triton_fixtures import PROTOCOLS, Triton, inputs_of, running_triton
from tritonclient.utils import InferenceServerException

import convoy_runtime

THREADS = 32


@pytest.fixture(scope="module")
def triton(artifacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Triton]:
    with running_triton(tmp_path_factory.mktemp("triton"), artifacts) as made:
        yield made


def images(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, 3, 16, 16), dtype=np.float32)


def results(triton: Triton, artifact: str, x: np.ndarray) -> np.ndarray:
    with convoy_runtime.load(triton.artifacts / f"{artifact}.convoy") as program:
        return program.run_numpy(x)[0]


def in_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Runs `work` in threads, with their numbers. Raises the first error."""
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_concurrent_clients_share_calls(triton: Triton, protocol: str) -> None:
    model = f"shared-{protocol}"
    triton.serve("cnn", model)
    before = triton.statistics(model)
    with convoy_runtime.load(triton.artifacts / "cnn.convoy") as program:
        calls = 0

        def work(number: int) -> None:
            nonlocal calls
            with triton.client(protocol) as client:
                for turn in range(10):
                    x = images(1 + (number + turn) % 6, seed=number)
                    answer = client.infer(model, inputs_of(protocol, {"input": x}))
                    # The points have other kernels, with other rounding errors.
                    np.testing.assert_allclose(
                        answer.as_numpy("0"), program.run_numpy(x)[0], rtol=1e-5, atol=1e-6
                    )

        in_threads(work)
    found = triton.statistics(model)
    requests = int(found["inference_stats"]["success"]["count"])
    requests -= int(before["inference_stats"]["success"]["count"])
    calls = found["execution_count"] - before["execution_count"]
    rows = found["inference_count"] - before["inference_count"]
    assert requests == THREADS * 10
    assert rows == sum(1 + (number + turn) % 6 for number in range(THREADS) for turn in range(10))
    assert calls < requests
    # No request has more than 6 rows.
    assert max(each["batch_size"] for each in found["batch_stats"]) > 6
    assert all(each["batch_size"] <= 16 for each in found["batch_stats"])


def test_a_delay_collects_a_batch_of_a_point(triton: Triton) -> None:
    """The rows of four requests run at the point of four rows, with exactly its results."""
    triton.serve("cnn", "delayed", max_queue_delay=5_000_000)
    before = triton.statistics("delayed")["execution_count"]
    x = images(4, seed=1)
    with triton.client("http", concurrency=4) as client:
        pending = [
            client.async_infer("delayed", inputs_of("http", {"input": x[row : row + 1]}))
            for row in range(4)
        ]
        answers = [each.get_result().as_numpy("0") for each in pending]
    assert triton.statistics("delayed")["execution_count"] == before + 1
    np.testing.assert_array_equal(np.concatenate(answers), results(triton, "cnn", x))


def replaced_under_load(triton: Triton, model: str, replace: Callable[[], None]) -> None:
    """Calls `replace` while clients use a model: each answer is that of the old or the new weights,
    and after the end of `replace` of the new ones."""
    # The largest point runs each request alone, so that its rounding errors are those of a call.
    x = images(16, seed=2)
    old, new = results(triton, "cnn", x), results(triton, "cnn-new", x)
    assert not np.array_equal(old, new)
    running = threading.Barrier(9, timeout=60)
    replaced = threading.Event()
    seen = set()

    def work(number: int) -> None:
        protocol = ("http", "grpc")[number % 2]
        with triton.client(protocol) as client:
            is_first, is_last = True, False
            while not is_last:
                is_last = replaced.is_set()
                answer = client.infer(model, inputs_of(protocol, {"input": x})).as_numpy("0")
                is_new = np.array_equal(answer, new)
                assert is_new or (np.array_equal(answer, old) and not is_last)
                seen.add(is_new)
                if is_first:
                    is_first = False
                    running.wait()

    with ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(work, number) for number in range(8)]
        try:
            running.wait()
            replace()
        finally:
            replaced.set()
        for each in clients:
            each.result()
    assert seen == {False, True}


def test_a_new_version_replaces_the_old_one(triton: Triton) -> None:
    triton.serve("cnn", "versions")

    def replace() -> None:
        triton.serve("cnn-new", "versions", version=2)

    replaced_under_load(triton, "versions", replace)
    assert triton.statistics("versions")["version"] == "2"
    assert not triton.control.is_model_ready("versions", "1")


def test_new_weights_replace_a_version(triton: Triton) -> None:
    triton.serve("cnn", "weights")

    def replace() -> None:
        triton.serve("cnn-new", "weights", force=True)

    replaced_under_load(triton, "weights", replace)
    assert triton.statistics("weights")["version"] == "1"


def test_a_damaged_version_leaves_the_loaded_one(triton: Triton) -> None:
    triton.serve("mlp", "kept")
    triton.export("mlp", "kept", version=2)
    path = triton.repository / "kept/2/model.convoy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InferenceServerException, match="kept/2/model.convoy"):
        triton.control.load_model("kept")
    x = {"input": np.ones((2, 8), np.float32)}
    np.testing.assert_array_equal(
        triton.infer("http", "kept", x)["0"], results(triton, "mlp", x["input"])
    )


def test_an_unloaded_model_has_no_process(triton: Triton) -> None:
    triton.serve("mlp", "gone")
    assert len(triton.server.stubs("gone")) == 1
    with triton.client("http") as client:
        client.unload_model("gone")
        with pytest.raises(InferenceServerException):
            client.infer("gone", inputs_of("http", {"input": np.ones((2, 8), np.float32)}))
    for _ in range(6000):
        if not triton.server.stubs("gone"):
            return
        threading.Event().wait(0.01)
    pytest.fail("the process of an unloaded model did not end within a minute")


def metric(triton: Triton, name: str, model: str) -> float:
    with urllib.request.urlopen(triton.server.metrics) as response:
        text = response.read().decode()
    (line,) = re.findall(rf'^{name}{{model="{model}",version="1"}} (\S+)$', text, re.MULTILINE)
    return float(line)


def test_metrics(triton: Triton) -> None:
    triton.serve("cnn", "counted")
    names = ("nv_inference_request_success", "nv_inference_count", "nv_inference_exec_count")
    before = [metric(triton, name, "counted") for name in names]
    for rows in (1, 16):
        triton.infer("grpc", "counted", {"input": images(rows, seed=3)})
    with pytest.raises(InferenceServerException):
        triton.infer("grpc", "counted", {"input": images(17, seed=3)})
    after = [metric(triton, name, "counted") for name in names]
    assert [new - old for old, new in zip(before, after, strict=True)] == [2, 17, 2]
    assert metric(triton, "nv_inference_compute_infer_duration_us", "counted") > 0


def resident(process: int) -> int:
    """The resident memory of a process in bytes."""
    text = Path(f"/proc/{process}/status").read_text()
    (size,) = re.findall(r"^VmRSS:\s+(\d+) kB$", text, re.MULTILINE)
    return int(size) * 1024


def test_memory_does_not_grow(triton: Triton) -> None:
    """Two thousand requests with 16 kB of inputs and of outputs on average, joined and alone."""
    triton.serve("lengths", "memory")

    def load(turns: int) -> None:
        def work(number: int) -> None:
            with triton.client("grpc") as client:
                for turn in range(turns):
                    x = np.full((1 + (number + turn) % 15, 512), number, np.float32)
                    answer = client.infer("memory", inputs_of("grpc", {"x": x}))
                    assert np.array_equal(answer.as_numpy("1"), x * 2)

        in_threads(work, 4)

    (process,) = triton.server.stubs("memory")
    load(100)
    before = resident(process)
    load(500)
    # One request in ten that keeps its inputs or outputs would be 3 MB.
    growth = resident(process) - before
    assert growth < 1e6
