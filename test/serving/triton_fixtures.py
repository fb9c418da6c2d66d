"""A Triton server with a model repository of its own, and its clients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http

from benchmarks.serving.tritonserver import Server, running_server
from convoy_runtime.integrations.triton.repository import export_model

__all__ = ["PROTOCOLS", "Triton", "inputs_of", "running_triton"]

PROTOCOLS: Mapping[str, ModuleType] = {"http": tritonclient.http, "grpc": tritonclient.grpc}


@dataclass(frozen=True)
class Triton:
    """A running server.

    Attributes:
        server: The server.
        repository: Its model repository.
        artifacts: The folder of the artifacts.
        control: A client.
    """

    server: Server
    repository: Path
    artifacts: Path
    control: Any

    def client(self, protocol: str, **options: Any) -> contextlib.closing[Any]:
        """A client of a protocol, for one thread."""
        address = self.server.http if protocol == "http" else self.server.grpc
        return contextlib.closing(
            PROTOCOLS[protocol].InferenceServerClient(address, **options)  # type: ignore[attr-defined]
        )

    def serve(self, artifact: str, name: str, **options: Any) -> None:
        """Exports an artifact and loads the model."""
        self.export(artifact, name, **options)
        self.control.load_model(name)

    def export(self, artifact: str, name: str, **options: Any) -> None:
        """Exports an artifact."""
        path = self.artifacts / f"{artifact}.convoy"
        export_model(path, self.repository, name=name, **options)

    def infer(self, protocol: str, model: str, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The outputs of a model by name, from a client of its own."""
        with self.client(protocol) as client:
            result = client.infer(model, inputs_of(protocol, arrays))
            response = (
                result.get_response(as_json=True) if protocol == "grpc" else (result.get_response())
            )
            return {each["name"]: result.as_numpy(each["name"]) for each in response["outputs"]}

    def statistics(self, model: str) -> dict[str, Any]:
        """The statistics of the only loaded version of a model."""
        (found,) = self.control.get_inference_statistics(model)["model_stats"]
        return dict(found)


def inputs_of(protocol: str, arrays: Mapping[str, np.ndarray]) -> list[Any]:
    """The inputs of a request; the data type of each is that of the array."""
    made = []
    for name, array in arrays.items():
        each = PROTOCOLS[protocol].InferInput(name, array.shape, _data_type(array))
        each.set_data_from_numpy(array)
        made.append(each)
    return made


def _data_type(array: np.ndarray) -> str:
    kind = array.dtype.name
    if kind in ("bool", "bfloat16"):
        return {"bool": "BOOL", "bfloat16": "BF16"}[kind]
    return kind.upper().replace("FLOAT", "FP")


@contextlib.contextmanager
def running_triton(folder: Path, artifacts: Path) -> Iterator[Triton]:
    """Runs a server with an empty model repository."""
    repository = folder / "models"
    repository.mkdir()
    with (
        running_server(repository, folder) as server,
        contextlib.closing(tritonclient.http.InferenceServerClient(server.http)) as control,
    ):
        yield Triton(server, repository, artifacts, control)
