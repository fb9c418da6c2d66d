# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Queries cuDNN about the engines of each graph in a folder that `python -m tools.support_table
prepare` wrote. Needs no compiler.

    python -m tools.support_table.query FOLDER -o ANSWERS.json
    python -m tools.support_table.query FOLDER -o ANSWERS.json --device

The first form queries without a GPU, for an H200 described in JSON. The second queries for the GPU
of this machine, and builds plans. Without a GPU, LD_LIBRARY_PATH must contain FOLDER/stubs, with
stub libraries of libcuda, NVRTC and cuBLASLt: cuDNN opens them by name, and offers few engines
without them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from convoy_runtime._abi import BUILD_GRAPH
from convoy_runtime.cuda.cudnn.configs import heuristic_configs
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.enums import (
    Attribute,
    BehaviorNote,
    DataType,
    Descriptor,
    NumericalNote,
    Type,
)
from convoy_runtime.cuda.cudnn.errata import erratum_of
from convoy_runtime.cuda.cudnn.library import version_text
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.errors import CudnnError

__all__ = ["main", "query", "query_all"]


def _graph(name: str, entry: dict[str, Any]) -> Any:
    """Returns the attributes of a graph that the planner reads."""
    long = {
        "f64": "float64",
        "f32": "float32",
        "f16": "float16",
        "bf16": "bfloat16",
        "f8E4M3FN": "float8_e4m3fn",
        "f8E5M2": "float8_e5m2",
    }
    tensors = [
        SimpleNamespace(role="", shape=(), dtype=long.get(dtype, dtype))
        for dtype in entry["dtypes"]
    ] + [
        SimpleNamespace(role="output", shape=tuple(map(int, sizes.split("x"))), dtype="")
        for sizes in entry["results"]
    ]
    products = (
        SimpleNamespace(dtype=long.get(entry["factors"], entry["factors"]))
        if entry["factors"] is not None
        else None
    )
    return SimpleNamespace(
        name=name,
        location="",
        symbol=entry["symbol"],
        tensors=tensors,
        ops=entry["operations"],
        products=products,
    )


class _Cudnn:
    """cuDNN with this machine's GPU, or with a device described in JSON."""

    def __init__(self, folder: Path, *, device: bool) -> None:
        self.folder = folder
        self.cudnn = open_cudnn()
        self.device = (
            None
            if device
            else device_properties(self.cudnn, device_file("h200", self.cudnn.version))
        )
        self.handle = None
        if device:
            pointer = ctypes.c_void_p()
            self.cudnn.call("cudnnCreate", ctypes.byref(pointer))
            self.handle = pointer.value
        self.planner = Planner(self.cudnn, LoadOptions(), handle=self.handle, device=self.device)
        self.libraries: dict[str, ctypes.CDLL] = {}

    def answer(self, name: str, entry: dict[str, Any], *, build: bool) -> dict[str, Any]:
        """Returns the answer about a graph.

        Args:
            name: The graph's symbol.
            entry: Its entry of index.json.
            build: Whether to build plans.

        Returns:
            `engines` by heuristic, in order; `strict`, whether an engine does not round f32 to
            TF32; `kinds` of kernels; with `build`, `built`, the engine of the first plan that can
            be built; `rejected`, the reasons if there are no engines or plans.
        """
        library = self.libraries.setdefault(
            entry["library"], ctypes.CDLL(str(self.folder / entry["library"]))
        )
        graph = _graph(name, entry)
        found: dict[str, Any] = {"engines": {}, "rejected": []}
        try:
            with self.planner.builder.operation_graph(
                graph, BUILD_GRAPH((entry["symbol"], library))
            ) as operations:
                strict, kinds = False, set()
                for heuristic in ("A", "FALLBACK"):
                    if strict:
                        break  # FALLBACK cannot change the answer
                    engines: list[int] = []
                    for config in heuristic_configs(
                        self.cudnn, operations, heuristic, self.device, found["rejected"]
                    ):
                        numerical = {
                            NumericalNote(note)
                            for note in config.numerical
                            if note in NumericalNote._value2member_map_
                        }
                        behavior = {
                            BehaviorNote(note)
                            for note in config.behavior
                            if note in BehaviorNote._value2member_map_
                        }
                        if PlanOptions().refuses(graph, config.engine, numerical, behavior):
                            continue
                        if error := erratum_of(graph, config.engine, self.cudnn.version):
                            found["rejected"].append(f"engine {config.engine} {error}")
                            continue
                        engines.append(config.engine)
                        kinds.add(
                            "generated"
                            if BehaviorNote.RUNTIME_COMPILATION in behavior
                            else "precompiled"
                        )
                        strict |= (
                            PlanOptions(allow_tf32=False).refuses(
                                graph, config.engine, numerical, behavior
                            )
                            is None
                        )
                    found["engines"][heuristic] = list(dict.fromkeys(engines))
                found["strict"], found["kinds"] = strict, sorted(kinds)
                if build:
                    found["built"] = self._first(graph, operations, found["rejected"])
        except CudnnError as error:
            found["rejected"].append(f"{error.name}: {error.detail}")
        if any(found["engines"].values()) and found.get("built", 0) is not None:
            # The reasons of other engines are not needed.
            del found["rejected"]
        return found

    def reduction(self, operator: int) -> dict[str, Any]:
        """Checks whether cuDNN finalizes a reduction descriptor. For operators that dialect `cudnn`
        does not have, engines cannot be queried.

        Args:
            operator: The operator (cudnnReduceTensorOp_t).

        Returns:
            The answer, with one engine if cuDNN finalizes the descriptor.
        """
        descriptor = self.cudnn.create(Descriptor.REDUCTION)
        values = (
            (Attribute.REDUCTION_OPERATOR, Type.REDUCTION_OPERATOR_TYPE, operator),
            (Attribute.REDUCTION_COMP_TYPE, Type.DATA_TYPE, DataType.FLOAT),
        )
        try:
            for attribute, kind, value in values:
                self.cudnn.call(
                    "cudnnBackendSetAttribute",
                    descriptor.pointer,
                    attribute,
                    kind,
                    1,
                    ctypes.byref(ctypes.c_int32(value)),
                )
            descriptor.finalize()
        except CudnnError as error:
            return {"engines": {}, "rejected": [f"{error.name}: {error.detail}"]}
        finally:
            descriptor.close()
        return {"engines": {"descriptor": [0]}, "strict": True, "kinds": []}

    def _first(self, graph: Any, operations: Any, rejected: list[str]) -> int | None:
        for plan in self.planner.candidates(graph, operations, rejected, PlanOptions().heuristics):
            plan.close()
            return plan.report.engine
        return None


def query(
    folder: Path, names: list[str], *, device: bool, build: bool, journal: Path | None = None
) -> dict[str, Any]:
    """Queries cuDNN about graphs.

    Args:
        folder: The folder that `prepare` wrote.
        names: The symbols of the graphs.
        device: Whether to query for this machine's GPU.
        build: Whether to build plans.
        journal: A file that always has the symbol of the current graph, because cuDNN crashes on
            some graphs.

    Returns:
        The answers by symbol.
    """
    index = json.loads((folder / "index.json").read_text())
    cudnn = _Cudnn(folder, device=device)
    answers, known = {}, {}
    for name in names:
        if journal is not None:
            journal.write_text(name)
        entry = index[name]
        key = tuple(entry.get(part) for part in ("library", "symbol", "reduction"))
        if key not in known:
            known[key] = (
                cudnn.reduction(entry["reduction"])
                if "reduction" in entry
                else cudnn.answer(name, entry, build=build)
            )
        answers[name] = known[key]
    return answers


def _round(
    parts: list[list[str]], query_part: Any, jobs: int, deadline: float
) -> Iterator[tuple[list[str], dict[str, Any] | str]]:
    """Runs `query_part` on each part. Yields the part with its answers, or, if a process died, with
    the symbol of its current graph, empty if there was none."""
    # Several processes, because cuDNN compiles only one kernel at a time in each. They are spawned,
    # because this process may have initialized CUDA.
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool,
    ):
        futures = {
            pool.submit(query_part, names, journal=Path(folder) / str(i)): (i, names)
            for i, names in enumerate(parts)
        }
        try:
            for done in as_completed(
                futures,
                timeout=None if deadline == float("inf") else max(0.0, deadline - time.monotonic()),
            ):
                i, names = futures[done]
                journal = Path(folder) / str(i)
                try:
                    yield names, done.result()
                except BrokenProcessPool:
                    yield names, journal.read_text() if journal.exists() else ""
        except TimeoutError:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def query_all(
    parts: list[list[str]], query_part: Any, jobs: int, deadline: float
) -> Iterator[dict[str, Any]]:
    """Queries parts in several processes. If a process dies, which ends the others, their current
    graphs are queried one by one; a graph with which the process dies again is refused.

    Args:
        parts: Symbols of graphs.
        query_part: A function that returns the answers about a part, with a parameter `journal`.
        jobs: The number of processes.
        deadline: Of `time.monotonic`.

    Yields:
        Answers by symbol.

    Raises:
        TimeoutError: The deadline has passed.
        RuntimeError: The processes die before they query a graph.
    """
    while parts:
        left, suspects = [], []
        for names, answers in _round(parts, query_part, jobs, deadline):
            if isinstance(answers, dict):
                yield answers
            else:
                suspects += [answers] if answers else []
                left.append([name for name in names if name != answers])
        for name in suspects:
            for _, answers in _round([[name]], query_part, 1, deadline):
                yield (
                    answers
                    if isinstance(answers, dict)
                    else {name: {"engines": {}, "rejected": ["cuDNN crashes"]}}
                )
        if len(left) == len(parts) and not suspects:
            raise RuntimeError("the processes that query cuDNN die before the first query")
        parts = [names for names in left if names]


def _parts(folder: Path, jobs: int) -> list[list[str]]:
    """Returns the symbols of the index in a pseudorandom order, so that the first ones are a sample
    of the matrix."""
    names = sorted(
        json.loads((folder / "index.json").read_text()), key=lambda name: zlib.crc32(name.encode())
    )
    size = min(100, -(-len(names) // jobs))
    return [names[i : i + size] for i in range(0, len(names), size)]


def main() -> int:
    """Runs the command line.

    Returns:
        The exit code: 1 if the time was not sufficient for all graphs.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--device", action="store_true", help="query for this machine's GPU")
    parser.add_argument("--no-build", action="store_true", help="with --device: do not build plans")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="stop after this time, with the answers so far",
    )
    options = parser.parse_args()
    start = time.perf_counter()
    device = Device(open_driver(), 0).name if options.device else "NVIDIA H200 as described in JSON"
    document: dict[str, Any] = {
        "cudnn": version_text(open_cudnn().version),
        "device": device,
        "graphs": {},
    }
    parts = _parts(options.folder, options.jobs)
    query_part = partial(
        query, options.folder, device=options.device, build=options.device and not options.no_build
    )
    try:
        for answers in query_all(
            parts, query_part, options.jobs, time.monotonic() + options.seconds
        ):
            document["graphs"] |= answers
            options.output.write_text(json.dumps(document, indent=0, sort_keys=True))
            print(
                f"{len(document['graphs'])} graphs in {time.perf_counter() - start:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    except TimeoutError:
        print("stopped early: the time is over", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
