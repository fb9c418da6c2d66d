# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""PyTorch's runners: eager, torch.compile, torch.compile with freezing, and max-autotune with
freezing, each captured in a CUDA graph.

All run channels-last with cudnn.benchmark; the input is on the device in the dtype of the case.
TF32 is allowed as for Convoy. The graph is captured here and not by inductor, so that a replay
excludes inductor's copy of the input and its guards.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from benchmarks.gpu_turn import GpuTurn
from benchmarks.runners.job import Job
from convoy_runtime.cuda.cudnn.library import version_text

__all__ = ["EventTimer", "TorchRunner", "prepare"]

_WARM_UP = 3


class EventTimer:
    """Times work on the current stream with CUDA events."""

    def __init__(self) -> None:
        self._events = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def __call__(self, action: Callable[[], Any], repeats: int) -> float:
        """Milliseconds per `action`, over `repeats` consecutive calls after a warm-up."""
        begin, end = self._events
        action()
        torch.cuda.synchronize()
        begin.record()
        for _ in range(repeats):
            action()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / repeats


class TorchRunner:
    """`module(image)` as one CUDA graph."""

    def __init__(
        self, module: Callable[[torch.Tensor], torch.Tensor], image: torch.Tensor, turn: GpuTurn
    ) -> None:
        # The first call compiles, and runs cuDNN's default algorithms. The next one benchmarks the
        # algorithms, alone on the GPU.
        torch.backends.cudnn.benchmark = False
        start = time.perf_counter() - turn.waited
        module(image)
        torch.cuda.synchronize()
        torch.backends.cudnn.benchmark = True
        with turn:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(_WARM_UP):
                    module(image)
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._result = module(image)
            self._graph.replay()
            self.output: np.ndarray = self._result.double().cpu().numpy()
        self.seconds = time.perf_counter() - start - turn.waited
        self.details: dict[str, Any] = {"versions": _versions()}
        self._timer = EventTimer()

    def time(self, repeats: int) -> float:
        """Milliseconds of a replay."""
        return self._timer(self._graph.replay, repeats)


def prepare(job: Job) -> TorchRunner:
    """Compiles the peer `job.name` and captures it."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = job.case.tf32
    dtype = getattr(torch, job.case.dtype)
    peer = job.model.cuda().to(dtype).to(memory_format=torch.channels_last)
    image = job.x.cuda().to(dtype).to(memory_format=torch.channels_last)
    # Freezing requires no_grad; inference_mode does not do.
    with torch.no_grad():
        if job.name == "eager":
            return TorchRunner(peer, image, job.turn)
        import torch._inductor.config as inductor

        _measure_in_turn(job.turn)
        inductor.freezing = job.name in ("freezing", "max-autotune")
        mode = "max-autotune-no-cudagraphs" if job.name == "max-autotune" else None
        return TorchRunner(torch.compile(peer, mode=mode), image, job.turn)


def _measure_in_turn(turn: GpuTurn) -> None:
    """Makes inductor hold `turn` while it measures candidates, with cudnn.benchmark enabled."""
    from torch._inductor.runtime import benchmarking

    def in_turn(method: Callable[..., Any]) -> Callable[..., Any]:
        def measure(*args: Any, **kwargs: Any) -> Any:
            with turn:
                before, torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark, True
                try:
                    return method(*args, **kwargs)
                finally:
                    torch.backends.cudnn.benchmark = before

        return measure

    for kind in type(benchmarking.benchmarker).__mro__:
        if "benchmark_gpu" in vars(kind):
            kind.benchmark_gpu = in_turn(kind.benchmark_gpu)  # type: ignore[attr-defined]


def _versions() -> dict[str, str]:
    versions = {
        "torch": torch.__version__,
        "cuDNN of torch": version_text(torch.backends.cudnn.version() or 0),
    }
    with suppress(importlib.metadata.PackageNotFoundError):
        versions["triton"] = importlib.metadata.version("triton")
    return versions
