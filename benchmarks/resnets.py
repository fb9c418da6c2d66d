"""ResNets on a GPU: the difference from PyTorch in fp64, and the time beside PyTorch eager in a CUDA graph, in one run.

Reads the artifacts that `benchmarks.build` wrote. Each is one replay of a CUDA graph, input conversion included; PyTorch runs in the same
dtype, channels-last with a channels-last input, cudnn.benchmark on, captured in a CUDA graph. Replays of all are timed in turn with CUDA
events; figures are medians in milliseconds, a ratio is the peer's time over ours.

    python -m benchmarks.resnets build/bench
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import convoy_runtime

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import resnet

__all__ = ["main"]

TOLERANCE = {"float16": 1e-2, "bfloat16": 3e-2, "float32": 5e-3, "strict": 1e-4}


def captured(module: torch.nn.Module, x: torch.Tensor) -> Callable[[], None]:
    """`module(x)` as one CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.inference_mode():
        for _ in range(3):
            module(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.inference_mode():
        module(x)
    return graph.replay


def medians(actions: dict[str, Callable[[], Any]], rounds: int = 15, target_ms: float = 10.0) -> dict[str, float]:
    """Median milliseconds of each action; a round times a batch of replays of each in turn, so that clock drift hits all alike."""
    repeats = {}
    for name, action in actions.items():
        action()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(5):
            action()
        torch.cuda.synchronize()
        repeats[name] = max(3, int(target_ms / max((time.perf_counter() - start) * 200, 1e-3)))
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(repeats[name]):
                action()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) / repeats[name])
    return {name: statistics.median(values) for name, values in times.items()}


def measure(path: Path, *, compiled: bool, tune: str) -> dict[str, Any]:
    """One artifact: correctness under NaN-poisoned memory, then time beside the peer."""
    name, kind, batch = path.stem.rsplit("-", 2)
    strict, dtype = kind == "strict", "float32" if kind == "strict" else kind
    module, (x,) = getattr(resnet, name)(batch=int(batch))
    weights = dict(module.state_dict())
    with torch.inference_mode():
        expected = copy.deepcopy(module).double().cuda()(x.double().cuda())
    start = time.perf_counter()
    with convoy_runtime.load(path, weights=weights, tune=tune):
        tuned = time.perf_counter() - start
    start = time.perf_counter()
    with convoy_runtime.load(path, weights=weights, poison=True) as program:
        got = program(x.cuda())
        torch.cuda.synchronize()
        ready = time.perf_counter() - start
        error = float((got.double() - expected).abs().max() / expected.abs().max())
    with convoy_runtime.load(path, weights=weights) as program:
        plans = [str(plan) for plan in program.plans]
        program(x.cuda())
        stream = torch.cuda.current_stream().cuda_stream
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = not strict
        peer = module.cuda().to(getattr(torch, dtype)).to(memory_format=torch.channels_last)
        image = x.cuda().to(getattr(torch, dtype)).to(memory_format=torch.channels_last)
        actions = {"convoy": lambda: program.replay(stream), "torch eager": captured(peer, image)}
        if compiled:
            # Else the compiled code of the models before counts against a limit, beyond which torch.compile runs eagerly.
            torch._dynamo.reset()
            actions["torch.compile"] = captured(torch.compile(peer), image)
        figures = medians(actions)
    limit = TOLERANCE[kind]
    return {
        "model": name, "dtype": "float32 strict" if strict else dtype, "batch": int(batch), "error": error, "limit": limit, "ms": figures,
        "first result s": ready, "first load s": tuned, "plans": plans,
    }  # fmt: skip


def main() -> int:
    """Measures every artifact of a folder; the exit code is 1 when a difference is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compile", action="store_true", help="torch.compile, captured in a CUDA graph, as one more peer")
    parser.add_argument("--tune", default="off", choices=("off", "quick", "full"), help="measure cuDNN's plans first")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    device = torch.cuda.get_device_name()
    print(f"{device}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    peers = ["torch eager", *(["torch.compile"] if options.compile else [])]
    print("| model | dtype | batch | difference from fp64 (limit) | Convoy ms |", *(f" {peer} ms | ratio |" for peer in peers))
    print("|---|---|---|---|---|" + "---|---|" * len(peers))
    rows = []
    for path in sorted(options.folder.glob("*.convoy")):
        try:
            row = measure(path, compiled=options.compile, tune=options.tune)
        except Exception as error:  # one artifact that fails must not hide the others
            print(f"| {path.stem} | failed | | {type(error).__name__}: {error} | | | |", flush=True)
            rows.append({"model": path.stem, "error": float("nan"), "limit": 0.0, "failure": str(error)})
            continue
        rows.append(row)
        ours = row["ms"]["convoy"]
        cells = [f" {row['ms'][peer]:.3f} | {row['ms'][peer] / ours:.2f} |" for peer in peers]
        head = f"| {row['model']} | {row['dtype']} | {row['batch']} | {row['error']:.1e} ({row['limit']:.0e}) | {ours:.3f} |"
        print(head, *cells, flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1))
    return int(not all(row["error"] <= row["limit"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
