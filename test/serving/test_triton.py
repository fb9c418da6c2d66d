"""Answers of Triton Inference Server next to those of the program, and its errors."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from google.protobuf import text_format
from triton_fixtures import PROTOCOLS, Triton, inputs_of, running_triton
from tritonclient.grpc import model_config_pb2
from tritonclient.utils import InferenceServerException, shared_memory

import convoy_runtime

MODELS = ("mlp", "cnn", "mixed", "centered", "kinds", "lengths")
RANDOM = np.random.default_rng(0)


@pytest.fixture(scope="module")
def triton(artifacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Triton]:
    with running_triton(tmp_path_factory.mktemp("triton"), artifacts) as made:
        for name in MODELS:
            made.serve(name, name)
        yield made


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape, dtype=np.float32)


def image(rows: int) -> dict[str, np.ndarray]:
    return {"input": floats(rows, 3, 16, 16)}


def mixed(rows: int) -> dict[str, np.ndarray]:
    return {
        "ids": RANDOM.integers(0, 100, (rows, 5)),
        "features": floats(rows, 8).astype(np.float16),
    }


def kinds() -> dict[str, np.ndarray]:
    x = np.arange(6).reshape(2, 3)
    return {
        "flags": x % 2 == 0,
        "narrow": x.astype(ml_dtypes.bfloat16),
        "wide": x / 3,
        "byte": x.astype(np.uint8),
        "small": x.astype(np.int8) - 3,
        "short": x.astype(np.int16) - 300,
        "count": x.astype(np.int32) - 70000,
        "scale": np.array([1.5]),
    }


def direct(triton: Triton, model: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The program's own results, by name."""
    with convoy_runtime.load(triton.artifacts / f"{model}.convoy") as program:
        bits = [
            array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array
            for array in (arrays[spec.name] for spec in program.inputs)
        ]
        shaped = [
            array.reshape(spec.shape) if model == "kinds" else array
            for array, spec in zip(bits, program.inputs, strict=True)
        ]
        results = program.run_numpy(*shaped)
        return {
            spec.name: result.view(ml_dtypes.bfloat16) if spec.dtype == "bfloat16" else result
            for spec, result in zip(program.outputs, results, strict=True)
        }


CASES = {
    "mlp": ("mlp", {"input": floats(2, 8)}),
    "point": ("cnn", image(4)),
    "between points": ("cnn", image(7)),
    "largest": ("cnn", image(16)),
    "mixed": ("mixed", mixed(3)),
    "points only": ("centered", {"x": floats(4, 8)}),
    "kinds": ("kinds", kinds()),
    "two symbols": ("lengths", {"x": floats(3, 512)}),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", CASES)
def test_answers_are_those_of_the_program(triton: Triton, protocol: str, case: str) -> None:
    model, arrays = CASES[case]
    wanted = direct(triton, model, arrays)
    answers = triton.infer(protocol, model, arrays)
    assert answers.keys() == wanted.keys()
    for name, result in wanted.items():
        assert answers[name].dtype == result.dtype
        # Triton has a dim of size 1 where the program has none.
        np.testing.assert_array_equal(answers[name].reshape(result.shape), result)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_requested_outputs_are_sent(triton: Triton, protocol: str) -> None:
    module = PROTOCOLS[protocol]
    arrays = mixed(2)
    with triton.client(protocol) as client:
        answer = client.infer(
            "mixed",
            inputs_of(protocol, arrays),
            outputs=[module.InferRequestedOutput("scores")],
        )
    np.testing.assert_array_equal(
        answer.as_numpy("scores"), direct(triton, "mixed", arrays)["scores"]
    )
    assert answer.as_numpy("best") is None


def unregister(client: Any, name: str) -> None:
    """Unregisters a region of shared memory once its last request has let go of it.

    Triton's gRPC endpoint sends a response first and frees the request, which holds the region,
    when its completion queue reports that the response is sent. A client can be faster.
    """
    deadline = time.monotonic() + 10
    while True:
        try:
            client.unregister_system_shared_memory(name)
        except InferenceServerException as error:
            if "currently in use" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_system_shared_memory(triton: Triton, protocol: str) -> None:
    module = PROTOCOLS[protocol]
    x = image(5)["input"]
    wanted = direct(triton, "cnn", {"input": x})["0"]
    key = f"/convoy-{os.getpid()}-{protocol}"
    region = shared_memory.create_shared_memory_region("region", key, x.nbytes + wanted.nbytes)
    try:
        shared_memory.set_shared_memory_region(region, [x])
        with triton.client(protocol) as client:
            client.register_system_shared_memory("region", key, x.nbytes + wanted.nbytes)
            given = module.InferInput("input", x.shape, "FP32")
            given.set_shared_memory("region", x.nbytes)
            output = module.InferRequestedOutput("0")
            output.set_shared_memory("region", wanted.nbytes, offset=x.nbytes)
            client.infer("cnn", [given], outputs=[output])
            unregister(client, "region")
        found = shared_memory.get_contents_as_numpy(
            region, wanted.dtype, wanted.shape, offset=x.nbytes
        )
        np.testing.assert_array_equal(found, wanted)
    finally:
        shared_memory.destroy_shared_memory_region(region)


@pytest.mark.parametrize("model", MODELS)
def test_configurations_are_messages_of_triton(triton: Triton, model: str) -> None:
    text = (triton.repository / model / "config.pbtxt").read_text()
    config = text_format.Parse(text, model_config_pb2.ModelConfig())
    served = triton.control.get_model_config(model)
    assert config.name == served["name"] == model
    assert config.max_batch_size == served["max_batch_size"]
    assert config.max_batch_size == (16 if model in ("cnn", "mixed", "lengths") else 0)
    for given, found in ((config.input, served["input"]), (config.output, served["output"])):
        assert [(each.name, list(each.dims)) for each in given] == [
            (each["name"], each["dims"]) for each in found
        ]
    samples = [(each.name, each.batch_size) for each in config.model_warmup]
    assert samples == [(each["name"], each["batch_size"]) for each in served["model_warmup"]]


WRONG = {
    "dtype": (
        "cnn",
        {"input": image(1)["input"].astype(np.float64)},
        "data-type is 'FP64', but model 'cnn' expects 'FP32'",
    ),
    "shape": ("cnn", {"input": floats(1, 3, 16, 8)}, r"Expected \[-1,3,16,16\], got \[1,3,16,8\]"),
    "missing": ("mixed", {"ids": mixed(1)["ids"]}, "expected 2 inputs but got 1 inputs"),
    "unknown": ("cnn", {"x": floats(1, 3, 16, 16)}, "unexpected inference input 'x'"),
    "too large": ("cnn", image(17), "batch-size must be <= 16"),
    "no point": (
        "centered",
        {"x": floats(3, 8)},
        "centered/1/model.convoy has no point for them: expected one of: "
        "batch=1, batch=4, batch=16, got batch=3",
    ),
    "out of range": (
        "lengths",
        {"x": floats(1, 513)},
        "dim 1 of input 'x': the value of length is not in its range: expected 8 to 512, got 513",
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(triton: Triton, protocol: str, case: str) -> None:
    model, arrays, message = WRONG[case]
    with pytest.raises(InferenceServerException, match=message) as caught:
        triton.infer(protocol, model, arrays)
    status = "400" if protocol == "http" else "StatusCode.INVALID_ARGUMENT"
    assert caught.value.status() == status


CLOSED = """
class TritonPythonModel(TritonPythonModel):
    def execute(self, requests):
        self.finalize()
        return super().execute(requests)
"""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_failed_call(triton: Triton, protocol: str) -> None:
    """Calls of a closed program fail, though their arguments are right."""
    name = f"closed-{protocol}"
    triton.export("cnn", name)
    with (triton.repository / name / "1/model.py").open("a") as file:
        file.write(CLOSED)
    path = triton.repository / name / "config.pbtxt"
    config = text_format.Parse(path.read_text(), model_config_pb2.ModelConfig())
    config.ClearField("model_warmup")
    path.write_text(text_format.MessageToString(config))
    triton.control.load_model(name)
    with pytest.raises(InferenceServerException, match=r"model\.convoy is closed") as caught:
        triton.infer(protocol, name, image(2))
    status = "500" if protocol == "http" else "StatusCode.INTERNAL"
    assert caught.value.status() == status


def test_a_damaged_artifact_is_not_loaded(triton: Triton) -> None:
    triton.export("cnn", "damaged")
    path = triton.repository / "damaged/1/model.convoy"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(convoy_runtime.ArtifactError) as own:
        convoy_runtime.load(path)
    with pytest.raises(InferenceServerException) as caught:
        triton.control.load_model("damaged")
    assert str(own.value) in str(caught.value)
    assert not triton.control.is_model_ready("damaged")


def test_weights_of_a_file(triton: Triton) -> None:
    weights = triton.artifacts / "cnn-new.safetensors"
    triton.serve("cnn", "weights", weights=weights)
    x = image(4)
    wanted = direct(triton, "cnn-new", x)["0"]
    np.testing.assert_array_equal(triton.infer("grpc", "weights", x)["0"], wanted)
    triton.export("mlp", "other-weights", weights=weights)
    with pytest.raises(InferenceServerException, match="weights do not match"):
        triton.control.load_model("other-weights")


def test_the_configuration_of_another_artifact_is_not_loaded(triton: Triton) -> None:
    triton.export("cnn", "other")
    triton.export("mixed", "other", version=2, keep_config=True)
    message = r"2/model.convoy: names of input: config.pbtxt is not that of this artifact: expected"
    with pytest.raises(InferenceServerException, match=message):
        triton.control.load_model("other")


def test_a_smaller_configuration_is_loaded(triton: Triton) -> None:
    triton.export("cnn", "small")
    path = triton.repository / "small/config.pbtxt"
    config = text_format.Parse(path.read_text(), model_config_pb2.ModelConfig())
    config.max_batch_size = 4
    del config.dynamic_batching.preferred_batch_size[1:], config.model_warmup[2:]
    path.write_text(text_format.MessageToString(config))
    triton.control.load_model("small")
    x = image(3)
    wanted = direct(triton, "cnn", x)["0"]
    np.testing.assert_array_equal(triton.infer("http", "small", x)["0"], wanted)
    with pytest.raises(InferenceServerException, match="batch-size must be <= 4"):
        triton.infer("http", "small", image(5))


def test_load_with_a_configuration_of_the_request(triton: Triton) -> None:
    """The form in which clients override config.pbtxt."""
    triton.export("mlp", "twice")
    config = triton.control.get_model_config("mlp")
    config.update(name="twice", instance_group=[{"kind": "KIND_CPU", "count": 2}])
    triton.control.load_model("twice", config=json.dumps(config))
    assert len(triton.server.stubs("twice")) == 2
