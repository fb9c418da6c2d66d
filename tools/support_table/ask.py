"""Asks cuDNN for engines for each graph of a folder that `python -m tools.support_table prepare`
wrote. Needs no compiler.

    python -m tools.support_table.ask FOLDER -o ANSWERS.json
    python -m tools.support_table.ask FOLDER -o ANSWERS.json --device

The first one asks for the H200 that device.json describes, without a GPU; the second one for the
GPU of this machine, and builds plans. Without a GPU, LD_LIBRARY_PATH names FOLDER/stubs: a libcuda,
an NVRTC and a cuBLASLt that do nothing. cuDNN opens them by name, and offers few engines when they
are not there.
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

__all__ = ["ask", "ask_all", "main"]


def _graph(name: str, entry: dict[str, Any]) -> Any:
    """What the planner wants to know of a graph."""
    long = {
        "f64": "float64",
        "f32": "float32",
        "f16": "float16",
        "bf16": "bfloat16",
        "f8E4M3FN": "float8_e4m3fn",
        "f8E5M2": "float8_e5m2",
    }
    tensors = [SimpleNamespace(dtype=long.get(dtype, dtype)) for dtype in entry["dtypes"]]
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


class _Asker:
    """cuDNN, for a device that is here or for one that is described."""

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
        """Engines by heuristic, in order; `strict`: whether one is left where f32 may not be
        rounded to TF32; `kinds` of kernels. With `build`, the engine of the first plan that can be
        built, and why those before it cannot."""
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
                        break  # what is asked for last adds nothing to what A has without TF32
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
                        refused = PlanOptions().refuses(graph, config.engine, numerical, behavior)
                        if (
                            refused is not None
                            or erratum_of(graph, config.engine, self.cudnn.version) is not None
                        ):
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
            # Why there are no more engines than that is of no use.
            del found["rejected"]
        return found

    def reduction(self, operator: int) -> dict[str, Any]:
        """Whether cuDNN finalizes a reduction descriptor of an operator (cudnnReduceTensorOp_t).
        That is no engine, but the most that can be asked of an operator that the compiler has no
        word for."""
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


def ask(
    folder: Path, names: list[str], *, device: bool, build: bool, journal: Path | None = None
) -> dict[str, Any]:
    """Answers by name. The name of the graph that is being asked about is written to `journal`, as
    cuDNN crashes on some."""
    index = json.loads((folder / "index.json").read_text())
    asker = _Asker(folder, device=device)
    answers, known = {}, {}
    for name in names:
        if journal is not None:
            journal.write_text(name)
        entry = index[name]
        key = tuple(entry.get(part) for part in ("library", "symbol", "reduction"))
        if key not in known:
            known[key] = (
                asker.reduction(entry["reduction"])
                if "reduction" in entry
                else asker.answer(name, entry, build=build)
            )
        answers[name] = known[key]
    return answers


def _round(
    parts: list[list[str]], one: Any, jobs: int, deadline: float
) -> Iterator[tuple[list[str], dict[str, Any] | str]]:
    """Each part with its answers or, where a process died before it was done, the graph that it was
    at, empty when it had not begun."""
    # A process a core: cuDNN compiles kernels one after the other in each. Not forked: the GPU may
    # be open here.
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool,
    ):
        futures = {
            pool.submit(one, names, journal=Path(folder) / str(i)): (i, names)
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


def ask_all(
    parts: list[list[str]], one: Any, jobs: int, deadline: float
) -> Iterator[dict[str, Any]]:
    """Answers of `one` to each part, as they come. When a process dies, which ends all others, the
    graphs that they were at are asked about alone; the one on which it dies again has an answer
    that says so. Raises TimeoutError at `deadline` (time.monotonic), and RuntimeError when all
    processes die at once."""
    while parts:
        left, suspects = [], []
        for names, answers in _round(parts, one, jobs, deadline):
            if isinstance(answers, dict):
                yield answers
            else:
                suspects += [answers] if answers else []
                left.append([name for name in names if name != answers])
        for name in suspects:
            for _, answers in _round([[name]], one, 1, deadline):
                yield (
                    answers
                    if isinstance(answers, dict)
                    else {name: {"engines": {}, "rejected": ["cuDNN crashes"]}}
                )
        if len(left) == len(parts) and not suspects:
            raise RuntimeError("the processes that ask cuDNN die before they begin")
        parts = [names for names in left if names]


def _parts(folder: Path, jobs: int) -> list[list[str]]:
    """The names of the index, in an order that has nothing to do with what they are: what comes
    first is a sample of all."""
    names = sorted(
        json.loads((folder / "index.json").read_text()), key=lambda name: zlib.crc32(name.encode())
    )
    size = min(100, -(-len(names) // jobs))
    return [names[i : i + size] for i in range(0, len(names), size)]


def main() -> int:
    """Asks and writes; 1 when not all was asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--device", action="store_true", help="ask for this machine's GPU")
    parser.add_argument("--no-build", action="store_true", help="with --device: do not build plans")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop then, with what is answered"
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
    one = partial(
        ask, options.folder, device=options.device, build=options.device and not options.no_build
    )
    try:
        for answers in ask_all(parts, one, options.jobs, time.monotonic() + options.seconds):
            document["graphs"] |= answers
            options.output.write_text(json.dumps(document, indent=0, sort_keys=True))
            print(
                f"{len(document['graphs'])} graphs in {time.perf_counter() - start:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    except TimeoutError:
        print("stopped early: time is over", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
