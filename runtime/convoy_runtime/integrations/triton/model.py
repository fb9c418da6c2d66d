# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The model of Triton's Python backend, which a model repository's model.py imports. It can only be
imported in a process of that backend."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import triton_python_backend_utils as pb_utils  # type: ignore[import-not-found]

from convoy_runtime.errors import ArgumentError, ConvoyRuntimeError
from convoy_runtime.loader import load

from .calls import Calls, Outcome
from .config import check_config
from .repository import ARTIFACT, WEIGHTS
from .served import served_model
from .tensors import borrowed, tensor_of

__all__ = ["TritonPythonModel"]


class TritonPythonModel:
    """An artifact that Triton serves. The backend creates one for each instance, in a process of
    its own, and calls its methods from one thread."""

    def initialize(self, args: Mapping[str, str]) -> None:
        """Loads the artifact of the model's version, and its weights if they are a file of their
        own, on the device of the instance.

        Args:
            args: Triton's description of the instance.

        Raises:
            TritonModelException: The artifact or its weights cannot be loaded here, or config.pbtxt
                is not that of the artifact; with the message of that error.
        """
        path = Path(args["model_repository"], args["model_version"], ARTIFACT)
        weights = path.with_name(WEIGHTS)
        gpu = args["model_instance_kind"] == "GPU"
        device = f"cuda:{args['model_instance_device_id']}" if gpu else "cpu"
        try:
            self._program = load(path, device=device, weights=weights if weights.exists() else None)
            self._model = served_model(
                self._program.inputs,
                self._program.outputs,
                getattr(self._program, "symbols", ()),
                getattr(self._program, "points", ()),
            )
            check_config(json.loads(args["model_config"]), self._model, path)
        except ConvoyRuntimeError as error:
            raise pb_utils.TritonModelException(str(error)) from error
        self._calls = Calls(self._program, self._model)

    def execute(self, requests: Sequence[Any]) -> list[Any]:
        """Runs requests, several in one call of the program if it allows that.

        Args:
            requests: The requests of a batch that Triton has formed.

        Returns:
            The response of each request: the outputs that it asks for, or its error.
        """
        inputs = [
            [
                borrowed(pb_utils.get_input_tensor_by_name(request, spec.name), spec)
                for spec in self._model.inputs
            ]
            for request in requests
        ]
        outcomes = self._calls.run(inputs)
        return [
            self._response(set(request.requested_output_names()), outcome)
            for request, outcome in zip(requests, outcomes, strict=True)
        ]

    def _response(self, names: set[str], outcome: Outcome) -> Any:
        if isinstance(outcome, ConvoyRuntimeError):
            kinds = pb_utils.TritonError
            code = kinds.INVALID_ARG if isinstance(outcome, ArgumentError) else kinds.INTERNAL
            return pb_utils.InferenceResponse(error=kinds(str(outcome), code))
        return pb_utils.InferenceResponse(
            [
                tensor_of(pb_utils.Tensor.from_dlpack, array, spec)
                for array, spec in zip(outcome, self._model.outputs, strict=True)
                if spec.name in names
            ]
        )

    def finalize(self) -> None:
        """Releases the program."""
        self._program.close()
