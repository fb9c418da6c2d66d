# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The HTTP requests of a replica: the Open Inference Protocol, version 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

import convoy_runtime
from convoy_runtime.errors import ArgumentError, ConvoyRuntimeError
from convoy_runtime.integrations.open_inference import (
    BINARY_HEADER,
    model_metadata,
    read_request,
    write_response,
)
from convoy_runtime.integrations.served import ServedModel

__all__ = ["Server", "answer"]


class Server(Protocol):
    """What answers requests."""

    @property
    def name(self) -> str:
        """The name of the model."""

    @property
    def model(self) -> ServedModel:
        """The model that answers new requests."""

    async def run(self, model: ServedModel, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Runs a request."""


async def answer(server: Server, request: HttpRequest) -> Response:
    """Answers an HTTP request.

    Args:
        server: Runs requests of the model.
        request: `POST /v2/models/NAME/infer`, or `GET` of `/v2`, `/v2/health/live`,
            `/v2/health/ready`, `/v2/models/NAME` or `/v2/models/NAME/ready`, below the route prefix
            of the application.

    Returns:
        The response. Wrong inputs are status 400, an unknown path 404, a failed run 500; the body
        is then a JSON object with the message as `error`.
    """
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    try:
        match request.method, path.strip("/").split("/"):
            case "GET", ["v2"]:
                return JSONResponse(
                    {
                        "name": "convoy",
                        "version": convoy_runtime.__version__,
                        "extensions": ["binary_tensor_data"],
                    }
                )
            case "GET", ["v2", "health", "live" | "ready"]:
                return Response()
            case "GET", ["v2", "models", server.name, "ready"]:
                return Response()
            case "GET", ["v2", "models", server.name]:
                return JSONResponse(model_metadata(server.name, server.model.program))
            case "POST", ["v2", "models", server.name, "infer"]:
                return await _infer(server, request)
        got = f"no {request.method} {path}; the model is /v2/models/{server.name}"
        return JSONResponse({"error": got}, status_code=404)
    except ArgumentError as error:
        return JSONResponse({"error": str(error)}, status_code=400)
    except ConvoyRuntimeError as error:
        return JSONResponse({"error": str(error)}, status_code=500)


async def _infer(server: Server, request: HttpRequest) -> Response:
    body = await request.body()
    # Without an await until it is used: a model that nothing uses may be replaced and closed.
    model = server.model
    program = model.program
    read = read_request(
        body,
        request.headers.get(BINARY_HEADER),
        [spec.name for spec in program.inputs],
        [spec.name for spec in program.outputs],
    )
    results = await server.run(model, read.arrays)
    named = {
        spec.name: (spec.dtype, array) for spec, array in zip(program.outputs, results, strict=True)
    }
    pieces, json_length = write_response(server.name, read, named)
    if json_length is None:
        return Response(b"".join(pieces), media_type="application/json")
    headers = {BINARY_HEADER: str(json_length)}
    return Response(b"".join(pieces), media_type="application/octet-stream", headers=headers)
