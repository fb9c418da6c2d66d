# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Artifacts behind Ray Serve: `pip install 'convoy-runtime[ray]'`.

    from convoy_runtime.integrations.ray import application

    app = application("model.convoy")

`serve run module:app` serves it over HTTP, and `serve.run(app).remote(x)` calls it from Python.
docs/serving.md describes both.
"""

from __future__ import annotations

from importlib.util import find_spec

from convoy_runtime.errors import PackageError

if find_spec("ray") is None or find_spec("ray.serve") is None or find_spec("starlette") is None:
    raise PackageError(package="Ray Serve", user=__name__, extra="ray")

from .application import application
from .replica import Replica

__all__ = ["Replica", "application"]
