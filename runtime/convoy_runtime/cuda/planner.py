"""Turns a graph of the manifest into an execution plan: the graph's native build function, then cuDNN's heuristics, then the first
engine configuration that the options allow and that finalizes.

With a device-properties JSON in place of a handle all of this works on a machine without a GPU, which is how it is tested.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime._native import NativeLibrary
from convoy_runtime.errors import CudnnError, DeviceError, PlanError
from convoy_runtime.manifest import Graph, Manifest

from ._cudnn import BackendDescriptor, Cudnn, open_cudnn
from ._enums import Attribute, BehaviorNote, Descriptor, HeurMode, KnobType, NumericalNote, Type, name_of
from .cache import PlanCache, fingerprint
from .errata import erratum_of
from .options import PlanOptions

__all__ = ["Plan", "PlanReport", "Planner", "device_properties", "plan_for"]

#: More than cudnnBackendKnobType_t has in any cuDNN 9.
_MAX_KNOBS = 64


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What was chosen for a graph. `rank` is the place in the list of `heuristic`; `rejected` says why those before were not taken;
    `restored` plans were chosen when the cache got them."""

    graph: str
    location: str
    engine: int
    knobs: dict[str, int]
    numerical_notes: tuple[str, ...]
    behavior_notes: tuple[str, ...]
    workspace_bytes: int
    heuristic: str
    rank: int
    rejected: tuple[str, ...]
    restored: bool = False

    def __str__(self) -> str:
        knobs = ", ".join(f"{name}={value}" for name, value in self.knobs.items())
        notes = ", ".join(self.numerical_notes + self.behavior_notes)
        chosen = f"engine {self.engine} ({self.heuristic}[{self.rank}]{', from the cache' if self.restored else ''})"
        return f"{self.graph}: {chosen} {{{knobs}}} [{notes}] workspace {self.workspace_bytes} bytes"


@dataclass(frozen=True, slots=True)
class Plan:
    """A finalized execution plan. It must outlive every CUDA graph that was captured from it (cuDNN before 9.28)."""

    descriptor: BackendDescriptor
    report: PlanReport


@dataclass(frozen=True, slots=True)
class _Config:
    """An engine configuration that the heuristics offered."""

    descriptor: BackendDescriptor
    heuristic: str
    rank: int
    engine: int
    knobs: tuple[tuple[int, int], ...]
    numerical: tuple[int, ...]
    behavior: tuple[int, ...]

    def __str__(self) -> str:
        knobs = ", ".join(f"{name_of(KnobType, kind)}={value}" for kind, value in self.knobs)
        return f"{self.heuristic}[{self.rank}] engine {self.engine} {{{knobs}}}"


def device_properties(cudnn: Cudnn, path: Path) -> BackendDescriptor:
    """A device as cuDNN describes it in JSON, so that it can be planned for elsewhere. The JSON is that of one cuDNN version."""
    descriptor = cudnn.create(Descriptor.DEVICEPROP)
    return descriptor.set(Attribute.DEVICEPROP_JSON_REPRESENTATION, Type.CHAR, path.read_text().strip().encode() + b"\0").finalize()


def plan_for(manifest: Manifest, native: NativeLibrary, device: str, options: PlanOptions | None = None) -> list[PlanReport | PlanError]:
    """What each graph of an artifact would run on, on a GPU that is not here.

    `device` is the path of a JSON of device properties, or the name of one in `devices/`, as h200. It was read from a real device by
    one cuDNN, and another may refuse it. Engines that compile a kernel need a driver even so; without one only the others are offered.
    """
    folder = Path(__file__).parent / "devices"
    known = sorted(path.stem for path in folder.glob("*.json"))
    path = folder / f"{device}.json" if device in known else Path(device)
    if not path.is_file():
        raise DeviceError(problem=f"device properties: expected {', '.join(known)} or a file, got {device}")
    cudnn = open_cudnn(manifest.cudnn.minimum if manifest.cudnn else 0)
    planner = Planner(cudnn, options or PlanOptions(), handle=None, device=device_properties(cudnn, path))
    results: list[PlanReport | PlanError] = []
    for graph in manifest.graphs:
        try:
            results.append(planner.plan(graph, native.builder(graph.symbol)).report)
        except PlanError as error:
            results.append(error)
    return results


class Planner:
    """Plans graphs for the device of `handle`, or, with `handle` None, for the one that `device` describes."""

    def __init__(
        self,
        cudnn: Cudnn,
        options: PlanOptions,
        *,
        handle: int | None,
        device: BackendDescriptor | None = None,
        cache: PlanCache | None = None,
    ) -> None:
        cudnn.require_cublaslt()
        self._cudnn, self._options, self._handle, self._device, self._cache = cudnn, options, handle, device, cache

    def plan(self, graph: Graph, build: Any) -> Plan:
        """The first plan for `graph`. `build` is its native build function. Raises CudnnError when the graph itself is refused and
        PlanError when no engine takes it."""
        rejected: list[str] = []
        content = fingerprint(build) if self._cache is not None else None
        if content is not None and (restored := self._restore(graph, content, rejected)) is not None:
            return restored
        with self.operation_graph(graph, build) as operations:
            for plan in self.candidates(graph, operations, rejected):
                if content is not None:
                    self._store(content, plan)
                return plan
        hint = None
        if rejected:
            hint = "relax the PlanOptions, or compile the model again for this GPU (with allow_tf32=False, when TF32 is what is forbidden)"
        raise PlanError(graph=graph.name, location=graph.location, tried=tuple(rejected), hint=hint)

    def _restore(self, graph: Graph, content: str, rejected: list[str]) -> Plan | None:
        """The plan that the cache has for a graph of this content; None when there is none that cuDNN takes."""
        entry = self._cache.load(content, repr(self._options)) if self._cache is not None else None
        if entry is None or erratum_of(graph, entry.get("report", {}).get("engine", -1), self._cudnn.version):
            return None
        descriptor = self._cudnn.create(Descriptor.EXECUTION_PLAN)
        try:
            self._place(descriptor)
            descriptor.set(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION, Type.CHAR, entry["plan"].encode() + b"\0").finalize()
            (workspace,) = descriptor.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
            self._check_workspace(workspace)
            known = {**entry["report"], "graph": graph.name, "location": graph.location, "workspace_bytes": workspace, "restored": True}
            lists = {name: tuple(known[name]) for name in ("numerical_notes", "behavior_notes", "rejected")}
            return Plan(descriptor, PlanReport(**{**known, **lists}))
        except (CudnnError, _TooLarge, TypeError, KeyError) as error:
            descriptor.close()
            rejected.append(f"cache: {error}")
            return None

    def _store(self, content: str, plan: Plan) -> None:
        try:
            text = plan.descriptor.get_text(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION)
        except CudnnError:
            # Not every engine's plans can be written (cuDNN's release notes name some); such a plan is made again each time.
            return
        if self._cache is not None:
            self._cache.store(content, repr(self._options), {"plan": text, "report": asdict(plan.report)})

    def _place(self, plan: BackendDescriptor) -> None:
        """Says where a plan is to run."""
        if self._handle is not None:
            plan.set(Attribute.EXECUTION_PLAN_HANDLE, Type.HANDLE, [self._handle])
        if self._device is not None:
            plan.set(Attribute.EXECUTION_PLAN_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [self._device])

    def operation_graph(self, graph: Graph, build: Any) -> _Operations:
        """The finalized operation graph; a context manager that destroys it."""
        reports: list[CudnnError] = []

        def report(status: int, call: bytes, location: bytes) -> None:
            where = location.decode(errors="replace") or graph.location
            reports.append(self._cudnn.error(status, f"graph {graph.name}: {call.decode(errors='replace')}", where))

        callback = ConvoyCudnn.REPORT(report)
        table = self._cudnn.table(callback)
        pointer = ctypes.c_void_p()
        status = build(ctypes.byref(table), self._handle, ctypes.byref(pointer))
        if status:
            raise reports[0] if reports else self._cudnn.error(status, f"graph {graph.name}: {graph.symbol}", graph.location)
        return _Operations(BackendDescriptor(self._cudnn, pointer.value or 0, "OPERATIONGRAPH"))

    def candidates(self, graph: Graph, operations: _Operations, rejected: list[str]) -> Iterator[Plan]:
        """Plans that can be built for `graph`, in the order of the heuristics; what cannot is added to `rejected` with the reason."""
        floats = {tensor.dtype for tensor in graph.tensors if "float" in tensor.dtype}
        float32 = bool(floats) and floats <= {"float32", "float64"}
        seen: set[tuple[object, ...]] = set()
        for heuristic in self._options.heuristics:
            for config in self._configs(operations.descriptor, heuristic, rejected):
                key = (config.engine, config.knobs)
                if key in seen:
                    continue
                seen.add(key)
                plan = self._build(graph, config, float32, rejected)
                if plan is not None:
                    yield plan

    def _configs(self, operations: BackendDescriptor, heuristic: str, rejected: list[str]) -> Iterator[_Config]:
        with ExitStack() as stack:
            heuristics = self._cudnn.create(Descriptor.ENGINEHEUR)
            stack.callback(heuristics.close)
            try:
                heuristics.set(Attribute.ENGINEHEUR_OPERATION_GRAPH, Type.BACKEND_DESCRIPTOR, [operations])
                heuristics.set(Attribute.ENGINEHEUR_MODE, Type.HEUR_MODE, [HeurMode[heuristic]])
                if self._device is not None:
                    heuristics.set(Attribute.ENGINEHEUR_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [self._device])
                heuristics.finalize()
                count = heuristics.count(Attribute.ENGINEHEUR_RESULTS, Type.BACKEND_DESCRIPTOR)
                found = heuristics.get_descriptors(Attribute.ENGINEHEUR_RESULTS, Descriptor.ENGINECFG, count) if count else []
                if not found:
                    # The list is what is left after cuDNN's own checks; its last error says why nothing is.
                    rejected.append(f"heuristic {heuristic}: no engine: {_reasons(self._cudnn.last_error())}")
            except CudnnError as error:
                rejected.append(f"heuristic {heuristic}: {error.name}: {error.detail}")
                return
            for rank, descriptor in enumerate(found):
                stack.callback(descriptor.close)
                try:
                    config = self._describe(descriptor, heuristic, rank)
                except CudnnError as error:
                    rejected.append(f"{heuristic}[{rank}]: {error.name}: {error.detail}")
                    continue
                yield config

    def _describe(self, descriptor: BackendDescriptor, heuristic: str, rank: int) -> _Config:
        (engine,) = descriptor.get_descriptors(Attribute.ENGINECFG_ENGINE, Descriptor.ENGINE, 1)
        (index,) = engine.get(Attribute.ENGINE_GLOBAL_INDEX, Type.INT64, 1)
        numerical = engine.get(Attribute.ENGINE_NUMERICAL_NOTE, Type.NUMERICAL_NOTE)
        behavior = engine.get(Attribute.ENGINE_BEHAVIOR_NOTE, Type.BEHAVIOR_NOTE)
        knobs = []
        # Asked for its number of knobs, a configuration says 0; so room for all of them is made.
        for choice in descriptor.get_descriptors(Attribute.ENGINECFG_KNOB_CHOICES, Descriptor.KNOB_CHOICE, _MAX_KNOBS):
            (kind,) = choice.get(Attribute.KNOB_CHOICE_KNOB_TYPE, Type.KNOB_TYPE, 1)
            (value,) = choice.get(Attribute.KNOB_CHOICE_KNOB_VALUE, Type.INT64, 1)
            knobs.append((kind, value))
        return _Config(descriptor, heuristic, rank, index, tuple(sorted(knobs)), tuple(sorted(numerical)), tuple(sorted(behavior)))

    def _build(self, graph: Graph, config: _Config, float32: bool, rejected: list[str]) -> Plan | None:
        numerical = {NumericalNote(note) for note in config.numerical if note in NumericalNote._value2member_map_}
        behavior = {BehaviorNote(note) for note in config.behavior if note in BehaviorNote._value2member_map_}
        reason = erratum_of(graph, config.engine, self._cudnn.version) or self._options.refuses(numerical, behavior, float32=float32)
        if reason is not None:
            rejected.append(f"{config}: {reason}")
            return None
        descriptor = self._cudnn.create(Descriptor.EXECUTION_PLAN)
        try:
            self._place(descriptor)
            descriptor.set(Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, [config.descriptor])
            # Known before the plan is built, and building may take seconds.
            self._check_workspace(config.descriptor.get(Attribute.ENGINECFG_WORKSPACE_SIZE, Type.INT64, 1)[0])
            descriptor.finalize()
            (workspace,) = descriptor.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
            self._check_workspace(workspace)
        except CudnnError as error:
            descriptor.close()
            rejected.append(f"{config}: {error.name}: {error.detail}")
            return None
        except _TooLarge as error:
            descriptor.close()
            rejected.append(f"{config}: {error}")
            return None
        report = PlanReport(
            graph=graph.name,
            location=graph.location,
            engine=config.engine,
            knobs={name_of(KnobType, kind): value for kind, value in config.knobs},
            numerical_notes=tuple(name_of(NumericalNote, note) for note in config.numerical),
            behavior_notes=tuple(name_of(BehaviorNote, note) for note in config.behavior),
            workspace_bytes=workspace,
            heuristic=config.heuristic,
            rank=config.rank,
            rejected=tuple(rejected),
        )
        return Plan(descriptor, report)

    def _check_workspace(self, size: int) -> None:
        if size > self._options.max_workspace_bytes:
            message = f"workspace of {size} bytes is over the limit of {self._options.max_workspace_bytes}"
            raise _TooLarge(message)


class _TooLarge(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Operations:
    """An operation graph, destroyed at the end of a `with`."""

    descriptor: BackendDescriptor

    def __enter__(self) -> _Operations:
        return self

    def __exit__(self, *_: object) -> None:
        self.descriptor.close()


def _reasons(text: str) -> str:
    """The innermost reason of each engine in cuDNN's text: a block an engine, its warnings from the inside out; each reason once."""
    lines = (next((line for line in block.splitlines() if "Reason:" in line), "") for block in text.split("\n\n"))
    return "; ".join(dict.fromkeys(line.removeprefix("Warning: ").strip() for line in lines if line)) or "no reason given"
