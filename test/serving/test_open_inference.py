"""Bodies of the Open Inference Protocol: what is read, and what is refused with which message."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from convoy_runtime.errors import ArgumentError
from convoy_runtime.integrations.open_inference import read_request, write_response


def tensor(**changes: Any) -> dict[str, Any]:
    return {"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [1, 2, 3, 4.5], **changes}


def body(*inputs: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({"inputs": list(inputs), **fields}).encode()


def test_json_tensors_are_flat_or_nested() -> None:
    for data in ([1, 2, 3, 4.5], [[1, 2], [3, 4.5]]):
        read = read_request(body(tensor(data=data), id="7"), None, ["x"], ["y", "z"])
        assert read.arrays[0].dtype == np.float32
        assert np.array_equal(read.arrays[0], [[1, 2], [3, 4.5]])
        assert (read.id, read.outputs) == ("7", {"y": False, "z": False})


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, -2], [3, 4]], np.int64),
        np.array([[True, False]]),
        np.array([0.5, 65504], np.float16),
        np.zeros((0, 3), np.float64),
    ],
)
def test_arrays_survive_both_forms(array: np.ndarray) -> None:
    name = {"i": "INT64", "b": "BOOL", "f": f"FP{array.itemsize * 8}"}[array.dtype.kind]
    text = body(tensor(shape=list(array.shape), datatype=name, data=array.tolist()))
    assert np.array_equal(read_request(text, None, ["x"], ["y"]).arrays[0], array)
    item = {"name": "x", "shape": list(array.shape), "datatype": name}
    text = body({**item, "parameters": {"binary_data_size": array.nbytes}})
    read = read_request(text + array.tobytes(), str(len(text)), ["x"], ["y"])
    assert np.array_equal(read.arrays[0], array)
    assert read.arrays[0].dtype == array.dtype


def test_inputs_are_in_the_order_of_the_model() -> None:
    read = read_request(
        body(tensor(name="b"), tensor(name="a", data=[0] * 4)), None, ["a", "b"], []
    )
    assert not read.arrays[0].any()


def test_outputs_are_chosen() -> None:
    wanted = [{"name": "z", "parameters": {"binary_data": True}}, {"name": "y"}]
    read = read_request(body(tensor(), outputs=wanted), None, ["x"], ["y", "z"])
    assert read.outputs == {"z": True, "y": False}
    array = np.array([[1.5, 2]], np.float32)
    results = {"y": ("float32", array), "z": ("float32", array)}
    (text, data), length = write_response("model", read, results)
    tree = json.loads(text)
    assert length == len(text)
    assert bytes(data) == array.tobytes()
    assert [each["name"] for each in tree["outputs"]] == ["z", "y"]
    assert tree["outputs"][0]["parameters"] == {"binary_data_size": 8}
    assert tree["outputs"][1] == {
        "name": "y", "datatype": "FP32", "shape": [1, 2], "data": [1.5, 2.0],
    }  # fmt: skip


REFUSED = [
    (b"{", None, "body: is not JSON"),
    (b"[]", None, "body: is not a JSON object: expected an infer request, got list"),
    (b"{}", None, "inputs: wrong names: expected x, got none"),
    (body(tensor(name="w")), None, "inputs: wrong names: expected x, got w"),
    (body(tensor(), tensor()), None, "input 'x': is given twice"),
    (body(tensor(datatype="FP8")), None, "input 'x': unknown datatype: .*got FP8"),
    (body(tensor(shape=[3])), None, r"input 'x': data does not fill the shape: expected \[3\], got 4"),
    (body(tensor(shape=[-1, 4])), None, "input 'x': has no shape"),
    (body(tensor(data=[[1, 2], [3]])), None, "input 'x': data is no array"),
    (body(tensor(data=list("abcd"))), None, "input 'x': data is of another type: expected FP32"),
    (body(tensor(datatype="INT8", data=[1, 2, 3, 300])), None, "input 'x': data is out of range"),
    (body(tensor(datatype="INT8")), None, "input 'x': data is of another type: .*got float64"),
    (body(tensor(datatype="FP16", data=[1e6] * 4)), None, "input 'x': data is out of range"),
    (body(tensor(datatype="BF16")), None, "input 'x': has no form in JSON"),
    (body(tensor()) + b"1234", "x", "header .*: wrong value: .*, got x"),
    (body(tensor()), "1000", "header .*: wrong value: .*, got 1000"),
    (body(tensor()) + b"1234", str(len(body(tensor()))), "body: has bytes after the last tensor"),
    (body(tensor(parameters={"binary_data_size": 12})), None, "input 'x': wrong binary_data_size"),
    (body(tensor(parameters={"shared_memory_region": "r"})), None, "shared memory is not supported"),
    (body(tensor(), outputs=[{"name": "w"}]), None, "output 'w': unknown name: expected y, got w"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "length", "message"), REFUSED)
def test_malformed_body_is_refused(content: bytes, length: str | None, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        read_request(content, length, ["x"], ["y"])
