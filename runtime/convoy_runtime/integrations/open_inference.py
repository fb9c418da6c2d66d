# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The bodies of the Open Inference Protocol (KServe's protocol, version 2) over HTTP, with the
extension for binary tensors.

https://github.com/open-inference/open-inference-protocol and
https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md.
Clients of Triton and KServe use them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.dynamic.manifest import DynamicTensor
from convoy_runtime.errors import ArgumentError
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.program import Program

__all__ = ["BINARY_HEADER", "InferRequest", "model_metadata", "read_request", "write_response"]

#: The HTTP header with the length of the JSON text before binary tensors.
BINARY_HEADER = "Inference-Header-Content-Length"

_DATATYPES = {
    "float64": "FP64", "float32": "FP32", "float16": "FP16", "bfloat16": "BF16", "int64": "INT64",
    "int32": "INT32", "int16": "INT16", "int8": "INT8", "uint8": "UINT8", "bool": "BOOL",
}  # fmt: skip
_STORAGE = {
    **{datatype: DTYPES[name].storage for name, datatype in _DATATYPES.items()},
    **{f"UINT{bits}": np.dtype(f"uint{bits}") for bits in (16, 32, 64)},
}


@dataclass(frozen=True)
class InferRequest:
    """A request.

    Attributes:
        id: Its id, which the response repeats; empty if it has none.
        arrays: One array per input of the model. They may share the memory of the body.
        outputs: Name of each wanted output to whether it is binary, in the order of the response.
    """

    id: str
    arrays: list[np.ndarray]
    outputs: dict[str, bool]


def model_metadata(name: str, program: Program) -> dict[str, Any]:
    """The description of a model: its inputs and outputs.

    Args:
        name: Its name.
        program: Its program.

    Returns:
        A JSON object. Dynamic sizes are -1.
    """

    def tensors(specs: Sequence[TensorSpec | DynamicTensor]) -> list[dict[str, Any]]:
        return [_tensor(spec.name, spec.dtype, _sizes(spec)) for spec in specs]

    return {
        "name": name,
        "versions": ["1"],
        "platform": "convoy",
        "inputs": tensors(program.inputs),
        "outputs": tensors(program.outputs),
    }


def _sizes(spec: TensorSpec | DynamicTensor) -> list[int]:
    if isinstance(spec, TensorSpec):
        return list(spec.shape)
    return [int(size) if size.isdecimal() else -1 for size in spec.sizes]


def _tensor(name: str, dtype: str, shape: Sequence[int]) -> dict[str, Any]:
    return {"name": name, "datatype": _DATATYPES[dtype], "shape": list(shape)}


def read_request(
    body: bytes, json_length: str | None, inputs: Sequence[str], outputs: Sequence[str]
) -> InferRequest:
    """Reads the body of a request.

    Args:
        body: The JSON text, then the binary tensors.
        json_length: The value of the header `BINARY_HEADER`, the length of the JSON text; None if
            it is the whole body.
        inputs: The names of the model's inputs.
        outputs: The names of the model's outputs.

    Returns:
        The request. Shapes and dtypes are not compared with those of the model.

    Raises:
        ArgumentError: The body is malformed, or an input is missing, unknown or given twice.
    """
    length = len(body)
    if json_length is not None:
        if not json_length.isdecimal() or int(json_length) > len(body):
            expected = f"a number up to {len(body)}, the length of the body"
            raise _error(f"header {BINARY_HEADER}", "wrong value", expected, json_length)
        length = int(json_length)
    try:
        tree = json.loads(body[:length])
    except ValueError as error:
        raise _error("body", "is not JSON", "an infer request", error) from error
    if not isinstance(tree, dict):
        raise _error("body", "is not a JSON object", "an infer request", type(tree).__name__)
    given: dict[str, np.ndarray] = {}
    offset = length
    for item in _objects(tree, "inputs"):
        name = _text(item, "name", "inputs")
        if name in given:
            raise _error(f"input {name!r}", "is given twice")
        given[name], offset = _read_tensor(item, name, body, offset)
    if offset != len(body):
        raise _error("body", "has bytes after the last tensor", f"{offset} bytes", len(body))
    if set(given) != set(inputs):
        raise _error(
            "inputs", "wrong names", ", ".join(inputs) or "none", ", ".join(given) or "none"
        )
    return InferRequest(
        str(tree.get("id", "")), [given[name] for name in inputs], _wanted(tree, outputs)
    )


def write_response(
    model: str, request: InferRequest, results: Mapping[str, tuple[str, np.ndarray]]
) -> tuple[list[bytes | memoryview], int | None]:
    """Writes the body of a response.

    Args:
        model: The name of the model.
        request: The request.
        results: Name of each output to its dtype (torch's name) and array.

    Returns:
        The pieces of the body, and the length of its JSON text if binary tensors follow it.
    """
    outputs, pieces = [], []
    for name, binary in request.outputs.items():
        dtype, array = results[name]
        tensor = _tensor(name, dtype, array.shape)
        if binary:
            packed = np.ascontiguousarray(array)
            tensor["parameters"] = {"binary_data_size": packed.nbytes}
            pieces.append(packed.reshape(-1).view(np.uint8).data)
        elif dtype == "bfloat16":
            raise _error(f"output {name!r}", "has no form in JSON", "binary_data", dtype)
        else:
            tensor["data"] = array.reshape(-1).tolist()
        outputs.append(tensor)
    tree = {"model_name": model, "outputs": outputs}
    if request.id:
        tree["id"] = request.id
    text = json.dumps(tree, separators=(",", ":")).encode()
    return [text, *pieces], len(text) if pieces else None


def _read_tensor(
    item: Mapping[str, Any], name: str, body: bytes, offset: int
) -> tuple[np.ndarray, int]:
    """The array of an input, and the end of its bytes in the body."""
    what = f"input {name!r}"
    storage = _STORAGE.get(datatype := _text(item, "datatype", what))
    if storage is None:
        raise _error(what, "unknown datatype", ", ".join(_STORAGE), datatype)
    shape = item.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise _error(what, "has no shape", "a list of sizes", shape)
    count = int(np.prod(shape, dtype=object))
    parameters = _parameters(item)
    size = parameters.get("binary_data_size")
    if size is None:
        if "data" not in item:
            raise _error(what, "has no data", "data or binary_data_size", ", ".join(parameters))
        return _json_array(item["data"], datatype, shape, what), offset
    if size != count * storage.itemsize or offset + size > len(body):
        expected = f"{count * storage.itemsize} for {datatype}{shape}, in {len(body)} bytes of body"
        raise _error(what, "wrong binary_data_size", expected, size)
    if not count:
        return np.empty(shape, storage), offset
    return np.frombuffer(body, storage, count, offset).reshape(shape), offset + size


def _json_array(data: Any, datatype: str, shape: list[int], what: str) -> np.ndarray:
    if datatype == "BF16":
        raise _error(what, "has no form in JSON", "binary_data_size", datatype)
    storage = _STORAGE[datatype]
    try:
        read = np.array(data)
    except ValueError as error:
        raise _error(what, "data is no array", f"{datatype}{shape}", error) from error
    kinds = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}[storage.kind]
    if read.size and read.dtype.kind not in kinds:
        raise _error(what, "data is of another type", datatype, read.dtype)
    if read.size != np.prod(shape, dtype=object):
        raise _error(what, "data does not fill the shape", shape, f"{read.size} elements")
    with np.errstate(over="ignore", invalid="ignore"):
        array = read.astype(storage)
    if storage.kind == "f":
        fits = not np.any(np.isinf(array) & np.isfinite(read))
    else:
        fits = np.array_equal(array, read)
    if not fits:
        raise _error(what, "data is out of range", datatype, f"{read.min()} to {read.max()}")
    return array.reshape(shape)


def _wanted(tree: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, bool]:
    """Name of each wanted output to whether it is binary."""
    binary = bool(_parameters(tree).get("binary_data_output", False))
    if not tree.get("outputs"):
        return dict.fromkeys(outputs, binary)
    wanted = {}
    for item in _objects(tree, "outputs"):
        name = _text(item, "name", "outputs")
        if name not in outputs:
            raise _error(f"output {name!r}", "unknown name", ", ".join(outputs), name)
        parameters = _parameters(item)
        if "classification" in parameters:
            raise _error(f"output {name!r}", "classification is not supported")
        wanted[name] = bool(parameters.get("binary_data", binary))
    return wanted


def _objects(tree: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = tree.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise _error(key, "is not a list of objects")
    return found


def _text(item: Mapping[str, Any], key: str, what: str) -> str:
    if not isinstance(found := item.get(key), str):
        raise _error(what, f"has no {key}", "a string", found)
    return found


def _parameters(item: Mapping[str, Any]) -> dict[str, Any]:
    found = item.get("parameters", {})
    if not isinstance(found, dict):
        raise _error("parameters", "is not an object", None, found)
    if "shared_memory_region" in found:
        raise _error("parameters", "shared memory is not supported", "data in the body")
    return found


def _error(argument: str, problem: str, expected: Any = None, got: Any = None) -> ArgumentError:
    def text(value: Any) -> str | None:
        return None if value is None else str(value)

    return ArgumentError(argument=argument, problem=problem, expected=text(expected), got=text(got))
