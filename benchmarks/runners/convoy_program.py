# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Convoy's runner: replays its CUDA graph, which includes the conversion of the float32 NCHW input
to the graph's dtype and layout."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

import convoy_runtime
from benchmarks.runners.job import Job
from benchmarks.runners.pytorch import EventTimer
from convoy_runtime.cuda.cudnn.library import version_text
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.program.executor import CudaProgram

__all__ = ["ConvoyRunner", "prepare"]


class ConvoyRunner:
    """A tuned program on static buffers. `output` is computed with all temporary and output memory
    filled with NaN beforehand."""

    def __init__(
        self, program: CudaProgram, output: np.ndarray, seconds: float, details: dict[str, Any]
    ) -> None:
        self._program, self.output, self.seconds, self.details = program, output, seconds, details
        self._stream = torch.cuda.current_stream().cuda_stream
        self._timer = EventTimer()

    def time(self, repeats: int) -> float:
        """Milliseconds of a replay."""
        return self._timer(lambda: self._program.replay(self._stream), repeats)


def prepare(job: Job) -> ConvoyRunner:
    """Tunes at the level `job.tune`, unless the cache has the plans. Then loads twice: for the
    checked result, and for replays."""
    weights, image, cache = dict(job.model.state_dict()), job.x.cuda(), job.cache / "plans"
    with job.turn:
        start = time.perf_counter()
        with convoy_runtime.load(job.artifact, weights=weights, plan_cache=cache, tune=job.tune):
            first = time.perf_counter() - start
        with convoy_runtime.load(
            job.artifact, weights=weights, plan_cache=cache, poison=True
        ) as program:
            output = program(image).double().cpu().numpy()
        start = time.perf_counter()
        program = convoy_runtime.load(job.artifact, weights=weights, plan_cache=cache)
        assert isinstance(program, CudaProgram)
        program(image)
        torch.cuda.synchronize()
        ready = time.perf_counter() - start
    details = {
        "load and first result seconds": ready,
        "plans": [str(plan) for plan in program.plans],
        "versions": {
            "Convoy": program.manifest.producer["convoy"],
            "cuDNN": version_text(open_cudnn().version),
        },
    }
    return ConvoyRunner(program, output, first, details)
