"""Convoy's contender: one replay of its CUDA graph, which converts the float32 NCHW input to its
own dtype and layout each time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

import convoy_runtime
from benchmarks.contenders.job import Job
from benchmarks.contenders.pytorch import EventTimer
from convoy_runtime.cuda.cudnn.library import version_text
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.program.executor import CudaProgram

__all__ = ["ConvoyContender", "prepare"]


class ConvoyContender:
    """A tuned program on its static buffers. `output` was computed with all temporary and output
    memory filled with NaN before."""

    def __init__(
        self, program: CudaProgram, output: np.ndarray, seconds: float, details: dict[str, Any]
    ) -> None:
        self._program, self.output, self.seconds, self.details = program, output, seconds, details
        self._stream = torch.cuda.current_stream().cuda_stream
        self._timer = EventTimer()

    def time(self, repeats: int) -> float:
        """Milliseconds of a replay."""
        return self._timer(lambda: self._program.replay(self._stream), repeats)


def prepare(job: Job) -> ConvoyContender:
    """Tunes as asked, unless the cache has such plans; then loads twice, for one checked result and
    for replays."""
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
    return ConvoyContender(program, output, first, details)
