"""Imported once by the process that workers are forked from: everything that takes seconds the
first time."""

from __future__ import annotations

import quick_export
import torch
import workers  # noqa: F401, the module of the function that runs in a worker
from torch import nn

import convoy._convoy
import convoy.compiler  # noqa: F401
import convoy_runtime.loader  # noqa: F401
from convoy.frontend import import_module

__all__: list[str] = []

torch.set_num_threads(1)
quick_export.install()
import_module(
    nn.Sequential(nn.Conv2d(1, 1, 1), nn.Flatten(), nn.Linear(4, 1)).eval(),
    (torch.zeros(1, 1, 2, 2),),
)
