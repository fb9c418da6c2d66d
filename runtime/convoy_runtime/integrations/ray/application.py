# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ray Serve applications of artifacts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ray import serve

import convoy_runtime
from convoy_runtime.artifact import Artifact
from convoy_runtime.dynamic.artifact import DynamicArtifact
from convoy_runtime.integrations.batches import AUTOMATIC
from convoy_runtime.integrations.sources import Source
from convoy_runtime.opening import open_file

from .replica import Replica

__all__ = ["application"]

#: The most batches of requests that one replica accepts: one runs, the next ones are waiting.
_BATCHES = 4
#: The least number of requests that a replica accepts at once. More wait in Serve's routers.
_LEAST_REQUESTS = 16


def application(
    artifact: str | os.PathLike[str],
    *,
    digest: str = "",
    weights: str | os.PathLike[str] | None = None,
    weights_digest: str = "",
    name: str = "model",
    batch_symbol: str | None = AUTOMATIC,
    batch_wait_timeout_s: float = 0.0,
    load_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> serve.Application:
    """An application with one deployment, which serves an artifact.

    The files are opened and verified here, and replicas load exactly them: paths and digests are
    the deployment's `user_config`. A second `serve.run` with other files, or another `user_config`
    in Serve's configuration file, replaces the model of running replicas between two of their
    batches.

    Args:
        artifact: The path of the artifact, which has to be the same on all nodes.
        digest: Its expected digest, `sha256:...`, as `convoy inspect --digest` prints it.
        weights: The path of a .safetensors file that replaces the artifact's weights.
        weights_digest: The expected SHA-256 of that file, `sha256:...`.
        name: The name of the deployment, and of the model in URLs.
        batch_symbol: The symbol along which requests run together. "auto": the only padded symbol
            that every input and output has in one dim; if there is none, each request runs alone.
            None: each request runs alone. A symbol that is not padded has to be named, and its rows
            have to be independent, which the compiler could not prove.
        batch_wait_timeout_s: The longest time in seconds for which a request waits for others
            before it is queued. While a call runs, requests that have arrived wait in any case.
        load_options: Keyword arguments of `convoy_runtime.load`, e.g. `{"capture_points": "all"}`.
        **options: Options of `serve.deployment`: `num_replicas`, `autoscaling_config`,
            `max_ongoing_requests`, `health_check_period_s`, ... The default of `ray_actor_options`
            is one GPU for an artifact of target "cuda", else one CPU core. On a CPU, loops use as
            many threads as the replica has cores. The default of `max_ongoing_requests` is four of
            the largest batches, and at least 16.

    Returns:
        The application, for `serve.run` and `serve run module:app`.

    Raises:
        ArtifactError: The artifact is damaged, of another version, or has another digest.
        WeightsError: The weights cannot be read or have another digest.
        ArgumentError: A digest is malformed.
    """
    source = Source(
        artifact=os.fspath(Path(artifact).absolute()),
        digest=digest,
        weights="" if weights is None else os.fspath(Path(weights).absolute()),
        weights_digest=weights_digest,
        batch_symbol=batch_symbol,
        batch_wait_timeout_s=batch_wait_timeout_s,
        load_options=dict(load_options or {}),
    ).pinned()
    opened = open_file(source.artifact, digest=source.digest)
    gpus = {"num_gpus": 1} if opened.manifest.target == "cuda" else {}
    actor_options = {"num_cpus": 1, **gpus, **options.pop("ray_actor_options", {})}
    options.setdefault("max_ongoing_requests", max(_BATCHES * _largest(opened), _LEAST_REQUESTS))
    deployment = serve.deployment(
        name=name, ray_actor_options=actor_options, user_config=source.as_dict(), **options
    )
    # Without a version, Serve takes each `serve.run` for new code and starts new replicas.
    version = f"convoy-runtime {convoy_runtime.__version__}"
    return deployment(Replica).options(version=version, _internal=True).bind()


def _largest(opened: Artifact | DynamicArtifact) -> int:
    """The largest size of a point of an open artifact; 1 if its sizes are static."""
    if isinstance(opened, Artifact):
        return 1
    return max(max(point.values) for point in opened.manifest.points)
