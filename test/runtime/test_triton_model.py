"""The model of Triton's Python backend, with a module in place of the backend's own."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runtime_fixtures import reference

from convoy_runtime.integrations.triton import repository
from convoy_runtime.integrations.triton.config import model_config
from convoy_runtime.integrations.triton.repository import export_model
from convoy_runtime.loader import load


class ModelError(Exception):
    """Stands for TritonModelException."""


class RequestError(Exception):
    """Stands for TritonError."""

    INVALID_ARG, INTERNAL = "invalid", "internal"


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the model."""
    utils = SimpleNamespace(
        Tensor=SimpleNamespace(from_dlpack=lambda name, array: (name, np.from_dlpack(array))),
        InferenceResponse=lambda tensors=(), error=None: error or dict(tensors),
        TritonError=RequestError,
        TritonModelException=ModelError,
        get_input_tensor_by_name=lambda request, name: request.arrays[name],
    )
    monkeypatch.setitem(sys.modules, "triton_python_backend_utils", utils)
    name = f"{repository.__package__}.model"
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


@pytest.fixture
def arguments(affine: Path) -> dict[str, str]:
    """What the backend gives to a model of the artifact `affine`."""
    folder, model = export_model(affine, affine.parent / "models")
    return {
        "model_config": json.dumps(model_config(model, "affine", "cpu")),
        "model_instance_kind": "CPU",
        "model_instance_device_id": "0",
        "model_repository": str(folder.parent),
        "model_version": folder.name,
    }


def request(names: tuple[str, ...] = ("y",), **arrays: np.ndarray) -> Any:
    return SimpleNamespace(arrays=arrays, requested_output_names=lambda: list(names))


def started(backend: ModuleType, arguments: Mapping[str, str]) -> Any:
    model = backend.TritonPythonModel()
    model.initialize(arguments)
    return model


def test_requests_have_their_own_responses(backend: ModuleType, arguments: dict[str, str]) -> None:
    x = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)
    model = started(backend, arguments)
    wrong = request(x=np.ones((2, 2), np.float32))
    first, error, last = model.execute([request(x=x), wrong, request((), x=x)])
    np.testing.assert_array_equal(first["y"], reference(x))
    assert isinstance(error, RequestError)
    assert error.args == ("input 'x': wrong shape: expected [2, 3], got [2, 2]", "invalid")
    assert last == {}
    model.finalize()
    (closed,) = model.execute([request(x=x)])
    assert isinstance(closed, RequestError)
    assert "is closed" in closed.args[0]
    assert closed.args[1] == "internal"


def test_gpu_of_the_instance(
    backend: ModuleType, arguments: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = []

    def recorded(path: Path, *, device: str, weights: Path | None) -> Any:
        devices.append(device)
        return load(path, weights=weights)

    monkeypatch.setattr(backend, "load", recorded)
    started(backend, arguments)
    started(backend, {**arguments, "model_instance_kind": "GPU", "model_instance_device_id": "3"})
    assert devices == ["cpu", "cuda:3"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_instance_kind": "GPU"}, "was compiled for cpu and cannot run on cuda"),
        ({"model_version": "2"}, "2/model.convoy: cannot be read"),
        ({"model_config": "{}"}, r"names of input: .*: expected \['x'\], got \[\]"),
    ],
)
def test_a_model_that_cannot_be_loaded(
    backend: ModuleType, arguments: dict[str, str], changes: dict[str, str], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        started(backend, arguments | changes)


def test_weights_that_do_not_match(backend: ModuleType, arguments: dict[str, str]) -> None:
    weights = Path(arguments["model_repository"], "1/weights.safetensors")
    weights.write_bytes(b"")
    with pytest.raises(ModelError, match=r"weights\.safetensors"):
        started(backend, arguments)
