"""Artifacts in Triton's terms, and config.pbtxt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.errors import ArgumentError, ArtifactError
from convoy_runtime.integrations.triton.config import check_config, model_config
from convoy_runtime.integrations.triton.served import (
    DATA_TYPES,
    Sample,
    ServedModel,
    ServedTensor,
    served_model,
)
from convoy_runtime.integrations.triton.text import EnumName, format_message
from convoy_runtime.manifest import TensorSpec

BATCH = Symbol("batch", 1, 16, 1)
LENGTH = Symbol("length", 8, 32, 1, "a reason")
POINTS = [{"batch": rows} for rows in (1, 4, 16)]


def tensor(name: str, *sizes: str, dtype: str = "float32") -> DynamicTensor:
    return DynamicTensor(name, sizes, dtype)


def batched() -> ServedModel:
    return served_model(
        [tensor("x", "batch", "3")], [tensor("y", "batch", dtype="int64")], [BATCH], POINTS
    )


def test_every_dtype_has_a_data_type() -> None:
    assert DATA_TYPES.keys() == DTYPES.keys()


def test_static_sizes_have_no_batches() -> None:
    model = served_model([TensorSpec("x", (2, 3), "bool")], [TensorSpec("y", (), "bfloat16")])
    assert model.inputs == (ServedTensor("x", "bool", (2, 3), False),)
    assert model.outputs == (ServedTensor("y", "bfloat16", (1,), True),)
    assert (model.max_batch_size, model.batch) == (0, "")
    assert model.samples == (Sample("static sizes", 1, ((2, 3),)),)


def test_batch() -> None:
    model = batched()
    assert (model.batch, model.unbatched, model.points) == ("batch", "", (1, 4, 16))
    assert model.inputs == (ServedTensor("x", "float32", (3,), False),)
    assert model.outputs == (ServedTensor("y", "int64", (1,), True),)
    assert model.samples[1] == Sample("batch=4", 4, ((3,),))


def test_batch_and_another_symbol() -> None:
    points = [{"batch": rows, "length": length} for rows in (4, 1) for length in (8, 32)]
    model = served_model(
        [tensor("x", "batch", "2*length+1", "5")],
        [tensor("y", "batch", "?")],
        [LENGTH, BATCH],
        points,
    )
    assert (model.batch, model.points) == ("batch", (1, 4))
    assert model.inputs[0].dims == (-1, 5)
    assert model.outputs[0].dims == (-1,)
    assert model.samples[1] == Sample("batch=4, length=32", 4, ((65, 5),))


@pytest.mark.parametrize(
    ("symbol", "sizes", "output", "reason"),
    [
        (BATCH, ("3", "batch"), ("batch",), "no symbol is dim 0 of all inputs and outputs"),
        (BATCH, ("batch", "3"), ("?",), "no symbol is dim 0 of all inputs and outputs"),
        (BATCH, ("batch", "3"), ("2*batch",), "no symbol is dim 0 of all inputs and outputs"),
        (BATCH, ("batch", "3"), (), "no symbol is dim 0 of all inputs and outputs"),
        (BATCH, ("batch", "3"), ("batch", "batch"), "batch is also the size of another dim than 0"),
        (
            Symbol("batch", 1, 16, 1, "'op' reduces the rows"),
            ("batch", "3"),
            ("batch",),
            "rows of batch may depend on each other: 'op' reduces the rows",
        ),
        (
            Symbol("batch", 2, 16, 1),
            ("batch", "3"),
            ("batch",),
            "a request may have one row, and batch: 2 to 16 does not allow it",
        ),
        (
            Symbol("batch", 1, 16, 4),
            ("batch", "3"),
            ("batch",),
            "a request may have one row, and batch: 1 to 16, multiples of 4 does not allow it",
        ),
    ],
)
def test_no_batch(
    symbol: Symbol, sizes: tuple[str, ...], output: tuple[str, ...], reason: str
) -> None:
    model = served_model([tensor("x", *sizes)], [tensor("y", *output)], [symbol], POINTS)
    assert (model.batch, model.max_batch_size, model.unbatched) == ("", 0, reason)
    assert model.inputs[0].dims == tuple(-1 if size == "batch" else 3 for size in sizes)
    assert [sample.batch for sample in model.samples] == [1, 1, 1]
    assert model.samples[1].dims[0] == tuple(4 if size == "batch" else 3 for size in sizes)


def test_refused_artifacts() -> None:
    x = TensorSpec("x", (2,), "float32")
    with pytest.raises(
        ArgumentError, match="inputs: Triton cannot serve the artifact: .* got none"
    ):
        served_model([], [x])
    with pytest.raises(ArgumentError, match="outputs: Triton cannot serve the artifact"):
        served_model([x], [])
    with pytest.raises(ArgumentError, match=r"output 'y': .* without elements: .* got \[2, 0\]"):
        served_model([x], [TensorSpec("y", (2, 0), "float32")])


def test_config_of_a_batch() -> None:
    config = model_config(batched(), "m", "cpu", max_queue_delay=50)
    assert config["max_batch_size"] == 16
    assert config["input"] == [{"name": "x", "data_type": "TYPE_FP32", "dims": [3]}]
    assert config["output"] == [{"name": "y", "data_type": "TYPE_INT64", "dims": [1]}]
    assert config["dynamic_batching"] == {
        "preferred_batch_size": [4, 16],
        "max_queue_delay_microseconds": 50,
    }
    assert config["instance_group"] == [{"count": 1, "kind": "KIND_CPU"}]
    assert [each["batch_size"] for each in config["model_warmup"]] == [1, 4, 16]


def test_config_without_batches() -> None:
    model = served_model([TensorSpec("x", (2, 3), "bool")], [TensorSpec("y", (), "float32")])
    config = model_config(model, "m", "cuda", instances=2, gpus=[0, 3])
    assert config["max_batch_size"] == 0
    assert "dynamic_batching" not in config
    assert config["instance_group"] == [{"count": 2, "kind": "KIND_GPU", "gpus": [0, 3]}]
    assert config["model_warmup"] == [
        {
            "name": "static sizes",
            "batch_size": 1,
            "inputs": [
                {
                    "key": "x",
                    "value": {"data_type": "TYPE_BOOL", "dims": [2, 3], "zero_data": True},
                }
            ],
        }
    ]


def test_text() -> None:
    message: dict[str, Any] = {
        "name": 'a"\\\n\u00e9',
        "kind": EnumName("KIND_CPU"),
        "on": True,
        "dims": [-1, 3],
        "none": [],
        "part": [{"key": "a"}, {"key": "b", "value": {"count": 0}}],
    }
    assert format_message(message) == (
        'name: "a\\042\\134\\012\\303\\251"\n'
        "kind: KIND_CPU\n"
        "on: true\n"
        "dims: [-1, 3]\n"
        "none: []\n"
        'part {\n  key: "a"\n}\n'
        'part {\n  key: "b"\n  value {\n    count: 0\n  }\n}\n'
    )


def changed(**fields: Any) -> dict[str, Any]:
    config = json.loads(json.dumps(model_config(batched(), "m", "cpu")))
    return {**config, **fields}


def test_config_of_the_artifact_is_accepted() -> None:
    check_config(changed(), batched(), "p")
    check_config(changed(max_batch_size=4), batched(), "p")
    points = [{"length": 8}]
    dynamic = served_model([tensor("x", "length")], [tensor("y", "length")], [LENGTH], points)
    config = json.loads(json.dumps(model_config(dynamic, "m", "cpu")))
    check_config({**config, "input": [{**config["input"][0], "dims": ["8"]}]}, dynamic, "p")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_batch_size": 17}, "max_batch_size: .*: expected 1 to 16, got 17"),
        ({"max_batch_size": 0}, "max_batch_size: .*: expected 1 to 16, got 0"),
        ({"input": []}, r"names of input: .*: expected \['x'\], got \[\]"),
        (
            {"output": [{"name": "y", "data_type": "TYPE_INT32", "dims": [1]}]},
            "output 'y': data_type: .*: expected TYPE_INT64, got TYPE_INT32",
        ),
        (
            {"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [4]}]},
            r"input 'x': dims: .*: expected \[3\], got \[4\]",
        ),
        (
            {"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [3, 1]}]},
            r"input 'x': dims: .*: expected \[3\], got \[3, 1\]",
        ),
        (
            {"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [-1]}]},
            r"input 'x': dims: .*: expected \[3\], got \[-1\]",
        ),
    ],
)
def test_config_of_another_artifact_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtifactError, match=f"p: {message}"):
        check_config(changed(**fields), batched(), "p")


def test_batch_size_of_an_artifact_without_batches() -> None:
    model = served_model([TensorSpec("x", (2,), "bool")], [TensorSpec("y", (2,), "bool")])
    config = {**json.loads(json.dumps(model_config(model, "m", "cpu"))), "max_batch_size": 2}
    message = "expected 0: no symbol is dim 0 of all inputs and outputs, got 2"
    with pytest.raises(ArtifactError, match=message):
        check_config(config, model, "p")
