# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures one row of the zoo: Convoy, eager PyTorch and torch.compile in one process.

Each is one CUDA graph, with weights and inputs in the dtype of the row, images channels-last. The
peers run with cudnn.benchmark.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree

import convoy_runtime
from benchmarks.zoo.model import narrowed
from benchmarks.zoo.models import MODELS, Row
from convoy_runtime.cuda.program.executor import CudaProgram

__all__ = ["PEERS", "Figures", "measure"]

PEERS = ("eager", "compile")
_TARGET_MS = 20.0


@dataclass
class Figures:
    """The figures of one row.

    Attributes:
        row: The row's name.
        ms: Milliseconds of a replay, by runner.
        errors: The largest difference from float32, relative to the largest number, by runner.
        seconds: Seconds of tuning or compilation until the first result, by runner.
        megabytes: Device memory of weights, inputs, activations and workspaces, by runner; that of
            peers is the peak of PyTorch's allocator, with weights and inputs. Code is not included.
        taken: The megabytes that a load takes from the GPU, with its code.
        parts: Seconds of the parts of Convoy's load with tuning.
        failures: The reason, by runner that failed.
        profile: Convoy's calls: a description, how often it runs, and microseconds in place.
    """

    row: str
    ms: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)
    taken: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    profile: list[tuple[str, int, float]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON."""
        return asdict(self)


def measure(
    artifact: Path,
    *,
    tune: str,
    peers: Sequence[str],
    rounds: int,
    plans: Path,
    turn: Callable[[], None] = lambda: None,
) -> Figures:
    """Measures one artifact beside its peers.

    torch.compile compiles first, then `turn` is called, and only what follows measures on the GPU.
    Rows that are prepared at the same time call it to wait for each other.

    Args:
        artifact: MODEL-DTYPE-BATCH.convoy, without weights.
        tune: The level of tuning: off, quick or full.
        peers: Some of PEERS.
        rounds: The number of interleaved rounds, after a warm-up.
        plans: The folder of tuned plans.
        turn: Returns when this row has the GPU for itself.

    Returns:
        The figures. A runner that fails has a reason instead of times.
    """
    row = Row.of(artifact)
    figures = Figures(row.key)
    module, inputs = MODELS[row.name].build(row.batch)
    module = module.cuda()
    on_device = tuple(each.cuda() for each in inputs)
    reference = _reference(module, on_device)
    module, narrow = narrowed(module, on_device, row.dtype)
    state = {name: each.cpu() for name, each in module.state_dict().items()}
    held = sum(each.nbytes for each in (*module.state_dict().values(), *narrow))
    called: dict[str, Callable[..., object]] = {"eager": module} if "eager" in peers else {}
    if "compile" in peers:
        start = time.perf_counter()
        called["compile"] = torch.compile(module)
        try:
            with torch.no_grad():
                called["compile"](*narrow)
            figures.seconds["compile"] = time.perf_counter() - start
        except Exception as error:
            del called["compile"]
            figures.failures["compile"] = f"{type(error).__name__}: {error}"
    torch.cuda.synchronize()
    torch.cuda.empty_cache()  # for the rows that prepare beside this one
    turn()
    replays: dict[str, Callable[[], object]] = {}
    programs: list[CudaProgram] = []
    start = time.perf_counter()
    try:
        with convoy_runtime.load(
            artifact, weights=state, plan_cache=plans, tune=tune, poison=True
        ) as checked:
            result = checked(*narrow)
            torch.cuda.synchronize()
            figures.seconds["convoy"] = time.perf_counter() - start
            figures.errors["convoy"] = _error(result, reference)
            figures.parts = dict(checked.timings)
        free, _ = torch.cuda.mem_get_info()
        program = convoy_runtime.load(artifact, weights=state, plan_cache=plans)
        assert isinstance(program, CudaProgram)
        programs.append(program)
        program(*narrow)
        torch.cuda.synchronize()
        figures.taken = (free - torch.cuda.mem_get_info()[0]) / 1e6
        figures.megabytes["convoy"] = program.device_bytes / 1e6
        stream = torch.cuda.current_stream().cuda_stream
        replays["convoy"] = lambda: program.replay(stream)
    except Exception as error:
        figures.failures["convoy"] = f"{type(error).__name__}: {error}"
    with torch.no_grad():
        for peer, call in called.items():
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            allocated = torch.cuda.memory_allocated()
            try:
                replays[peer], result = _captured(call, narrow)
                peak = torch.cuda.max_memory_allocated() - allocated + held
                figures.megabytes[peer] = peak / 1e6
                figures.errors[peer] = _error(result, reference)
            except Exception as error:
                figures.failures[peer] = f"{type(error).__name__}: {error}"
        figures.ms = _interleaved(replays, rounds)
    if "convoy" in figures.ms:
        figures.profile = _slowest(programs[0])
    for each in programs:
        each.close()
    replays.clear()
    gc.collect()
    torch.cuda.empty_cache()
    return figures


def _reference(module: nn.Module, inputs: Sequence[Tensor]) -> list[Tensor]:
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    with torch.no_grad():
        return [each.double().cpu() for each in _pytree.tree_leaves(module(*inputs))]


def _error(result: object, reference: Sequence[Tensor]) -> float:
    differences = [
        ((got.double().cpu() - wanted).abs().max() / wanted.abs().max()).item()
        for got, wanted in zip(_pytree.tree_leaves(result), reference, strict=True)
    ]
    return max(differences)


def _captured(
    module: Callable[..., object], inputs: Sequence[Tensor]
) -> tuple[Callable[[], object], object]:
    """One call as a CUDA graph, and its result."""
    torch.backends.cudnn.benchmark = True
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            module(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = module(*inputs)
    graph.replay()
    torch.cuda.synchronize()
    return graph.replay, result


def _interleaved(replays: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def milliseconds(replay: Callable[[], object], repeats: int) -> float:
        replay()
        torch.cuda.synchronize()
        begin.record()
        for _ in range(repeats):
            replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / repeats

    repeats = {
        name: max(3, int(_TARGET_MS / max(milliseconds(replay, 3), 1e-3)))
        for name, replay in replays.items()
    }
    times: dict[str, list[float]] = {name: [] for name in replays}
    for _ in range(rounds):
        for name, replay in replays.items():
            times[name].append(milliseconds(replay, repeats[name]))
    return {name: statistics.median(each) for name, each in times.items()}


def _slowest(program: CudaProgram) -> list[tuple[str, int, float]]:
    """The calls, those of one graph or location together: a name, with the plan of a graph, their
    number, and their microseconds in place. From the slowest on."""
    manifest = program.manifest
    plans = {report.graph: report.name for report in program.plans}
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for timing in program.profile().timings:
        if timing.kind == "graph":
            graph = manifest.graphs[manifest.calls[timing.index].graph]
            shape = "x".join(map(str, graph.tensors[-1].shape))
            name = f"{graph.name} {shape}, {plans[graph.name]}"
        elif timing.kind == "kernel":
            kernel = manifest.kernels[timing.index]
            sizes = "+".join(str(argument.bytes) for argument in kernel.arguments)
            name = f"{kernel.name} {sizes} B ({Path(kernel.location).name})"
        else:
            name = f"copy of {timing.bytes} B"
        counts[name] += 1
        totals[name] += timing.in_place_microseconds or 0.0  # type: ignore[assignment]
    return [(name, counts[name], total) for name, total in totals.most_common()]
