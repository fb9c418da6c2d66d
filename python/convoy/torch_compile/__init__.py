# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The backend of torch.compile: `torch.compile(model, backend="convoy")`.

Dynamo finds it by the entry point of the installed package; importing this module registers it as
well. Parts of the graph that Convoy supports are compiled, all others run in eager mode or, on
request, by inductor, so that every model runs. `summary()` says what runs where, and why.
"""

from __future__ import annotations

from torch._dynamo.backends.registry import list_backends, register_backend

from convoy.torch_compile.backend import convoy
from convoy.torch_compile.options import BackendOptions
from convoy.torch_compile.report import GraphReport, PartReport, reports, reset, summary
from convoy.torch_compile.weight_states import weights_changed

__all__ = [
    "BackendOptions",
    "GraphReport",
    "PartReport",
    "convoy",
    "reports",
    "reset",
    "summary",
    "weights_changed",
]

if "convoy" not in list_backends(exclude_tags=()):
    register_backend(convoy, name="convoy")
