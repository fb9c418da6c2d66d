# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The class of a deployment: runs requests of one replica in batches, and replaces its model."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
from ray import serve
from starlette.requests import Request as HttpRequest

from convoy_runtime.errors import ConvoyRuntimeError
from convoy_runtime.integrations.runs import Runs
from convoy_runtime.integrations.served import Request, ServedModel
from convoy_runtime.integrations.sources import Source, read_source

from .http import answer

__all__ = ["Replica"]

_log = logging.getLogger("ray.serve")

#: The environment variable with the number of threads of the runtime's loops.
_THREADS = "CONVOY_NUM_THREADS"


class Replica:
    """A replica of a deployment. `application` makes the deployment; its `user_config` names the
    model, and `reconfigure` loads it.

    Calls of a handle take the arguments of the module and return what it returns, with numpy
    arrays. HTTP requests follow the Open Inference Protocol.
    """

    def __init__(self) -> None:
        cores = int(ray.get_runtime_context().get_assigned_resources().get("CPU", 1))
        # Read by the artifact's code when its first loop runs.
        os.environ.setdefault(_THREADS, str(max(cores, 1)))
        self._model: ServedModel | None = None
        self._runs = Runs()
        self._updates = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()
        self._finished_at_check = 0

    @property
    def model(self) -> ServedModel:
        """The model that answers new requests. Raises ConvoyRuntimeError if there is none yet."""
        if self._model is None:
            problem = "the deployment has no model: its user_config has to name an artifact"
            raise ConvoyRuntimeError(problem)
        return self._model

    @property
    def name(self) -> str:
        """The name of the model, which is that of the deployment."""
        return str(serve.get_replica_context().deployment)

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answers one call.

        Args:
            *args: The positional arguments of the module, or one array per input; or an HTTP
                request.
            **kwargs: The keyword arguments of the module.

        Returns:
            What the module returns, with numpy arrays; bfloat16 as uint16. For an HTTP request, its
            response.

        Raises:
            ArgumentError: The inputs do not match.
            ConvoyRuntimeError: The run failed.
        """
        if len(args) == 1 and isinstance(args[0], HttpRequest):
            return await answer(self, args[0])
        model = self.model
        return model.program.nested(await self.run(model, model.program.arrays_of(args, kwargs)))

    async def run(self, model: ServedModel, arrays: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """Runs a request, together with others if its model allows it.

        Args:
            model: The model.
            arrays: One host array per input.

        Returns:
            One array per output.

        Raises:
            ArgumentError: The inputs do not match.
            ConvoyRuntimeError: The run failed.
        """
        request = model.request(arrays)
        try:
            if request.rows is None:
                self._runs.add([request])
            else:
                await self._gather(request)
            return await request.results
        finally:
            # Of a caller that has given up: the request does not run any more.
            request.results.cancel()
            model.release()

    @serve.batch(batch_wait_timeout_s=0)  # type: ignore[untyped-decorator]
    async def _gather(self, requests: list[Request]) -> list[None]:
        # Serve would run the batches that it has formed. Instead, all requests that have arrived
        # when a call ends form the next one.
        self._runs.add(requests)
        return [None] * len(requests)

    async def reconfigure(self, user_config: dict[str, Any]) -> None:
        """Replaces the model. Requests that were accepted before are answered by the old one.

        New weights of the same artifact are prepared into the same program between two runs.
        Another artifact is loaded and runs once before the old one is replaced, so both are in
        memory for that time.

        Args:
            user_config: The fields of `convoy_runtime.integrations.sources.Source`.

        Raises:
            ConvoyRuntimeError: The new model cannot be loaded. The old one is still in use.
        """
        source = read_source(user_config)
        async with self._updates:
            await self._update(source)
        batches = self.model.batches
        self._gather.set_max_batch_size(1 if batches is None else batches.largest)
        self._gather.set_batch_wait_timeout_s(source.batch_wait_timeout_s)

    async def _update(self, source: Source) -> None:
        old = self._model
        same_program = old is not None and source.has_program_of(old.source)
        same_batches = old is not None and source.batch_symbol == old.source.batch_symbol
        if old is not None and same_program and same_batches:
            if source.has_weights_of(old.source):
                old.source = source
                return
            if source.weights:
                weights = await asyncio.to_thread(source.read_weights)
                await self._runs.between(old.program.load_weights, weights)
                old.source = source
                _log.info(f"replaced the weights by {source.weights} {source.weights_digest}")
                return
        model = await asyncio.to_thread(ServedModel.load, source)
        try:
            await self._runs.between(model.try_run)
        except BaseException:
            await model.close()
            raise
        self._model = model
        _log.info(f"loaded {source.artifact} {source.digest}")
        if old is not None:
            closing = asyncio.create_task(old.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def check_health(self) -> None:
        """Runs the smallest program of the model on zeros, unless a request has run since the last
        check. Serve calls this every `health_check_period_s`, and replaces the replica if it fails.

        Raises:
            ConvoyRuntimeError: There is no model, or the run failed.
        """
        if self._runs.finished == self._finished_at_check:
            await self._runs.between(self.model.try_run)
        self._finished_at_check = self._runs.finished

    async def statistics(self) -> dict[str, Any]:
        """What this replica serves and has run, for monitoring and tests.

        Returns:
            `source`, the files and digests in use; `calls`, a mapping from the size of a call to
            the number of calls with it, where 0 are calls of single requests without a batch;
            `threads`, the number of threads of a loop on the host; `process`, the process id.
        """
        return {
            "source": self.model.source.as_dict(),
            "calls": dict(self._runs.sizes),
            "threads": int(os.environ[_THREADS]),
            "process": os.getpid(),
        }
