"""Turns a graph of the manifest into an execution plan: the one that the store knows, or else the graph's native build function, then
cuDNN's heuristics, then the first engine configuration that the options allow and that finalizes.

With a device-properties JSON in place of a handle all of this works on a machine without a GPU, which is how it is tested.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime.errors import ArtifactError, CudnnError, PlanError
from convoy_runtime.manifest import Graph

from ._cudnn import BackendDescriptor, Cudnn, version_text
from ._enums import Attribute, BehaviorNote, Descriptor, NumericalNote, Type, name_of
from .configs import Config, config_of, engine_configs, heuristic_configs, knob_values
from .errata import erratum_of
from .fingerprint import fingerprint
from .kernels import Kernels
from .options import PlanOptions
from .plan import CudnnPlan, Plan, PlanReport
from .store import LEVELS, OFFLINE, PlanStore, Record

if TYPE_CHECKING:
    from .build_pool import BuildPool

__all__ = ["Planner", "no_memory_for"]


class Planner:
    """Plans graphs for the device of `handle`, or, with `handle` None, for the one that `device` describes."""

    def __init__(
        self,
        cudnn: Cudnn,
        options: PlanOptions,
        *,
        handle: int | None,
        device: BackendDescriptor | None = None,
        store: PlanStore | None = None,
        strict: bool = False,
        kernels: Kernels | None = None,
    ) -> None:
        cudnn.require_cublaslt()
        self.options, self.strict = options, strict
        self._cudnn, self._handle, self._device, self._store, self._kernels = cudnn, handle, device, store, kernels
        #: The smallest workspace that the device had no memory for.
        self._unavailable: int | None = None

    def without_workspaces_of(self, size: int) -> None:
        """From now on no plan has a workspace of `size` bytes or more, because the device has no memory for it; nor is what takes their
        place stored, because another time there may be more."""
        self._unavailable = size

    def plan(self, graph: Graph, build: Any) -> Plan:
        """The stored plan for `graph`, else, unless `strict`, its first kernel where the artifact prefers that, else the first one of the
        heuristics. `build` is its native build function, None for a graph that has only kernels. Raises CudnnError when the graph itself is
        refused and PlanError when nothing takes it, or nothing is stored and that is `strict`."""
        rejected: list[str] = []
        prefers_kernel = graph.preference != "plan" and self._kernels is not None
        # What was planned offline was not measured either: a kernel that the artifact prefers goes before it.
        if (known := self.stored(graph, build, rejected, LEVELS[1:] if prefers_kernel else LEVELS)) is not None:
            return known
        rejected += self._others(graph, build)
        plan = next(self._kernel_plans(graph, rejected), None) if prefers_kernel and not self.strict else None
        if plan is None and prefers_kernel and (known := self.stored(graph, build, rejected, (OFFLINE,))) is not None:
            return known
        if self.strict:
            tried = tuple(rejected) or ("no plan is stored for this graph, these options and this GPU",)
            hint = "`convoy tune` puts plans into the artifact; without strict the heuristics are asked"
            raise PlanError(graph=graph.name, location=graph.location, tried=tried, hint=hint)
        if plan is None and build is not None:
            with self.operation_graph(graph, build) as operations:
                plan = next(self.candidates(graph, operations, rejected, self.options.heuristics), None)
        if plan is None:
            raise self.no_plan(graph, rejected)
        if self._unavailable is None:
            self.keep(graph, build, plan)
        return plan

    @staticmethod
    def no_plan(graph: Graph, rejected: Iterable[str]) -> PlanError:
        """The error for a graph that nothing takes."""
        tried = tuple(rejected)
        hint = "relax the PlanOptions, or compile the model again for this GPU (with allow_tf32=False, when TF32 is what is forbidden)"
        return PlanError(graph=graph.name, location=graph.location, tried=tried, hint=hint if tried else None)

    # What is stored.

    def stored(self, graph: Graph, build: Any, rejected: list[str], levels: Sequence[str] = LEVELS) -> Plan | None:
        """The plan that the store has for a graph of this content, found with the work of one of `levels`: as it is where cuDNN and
        driver are those that it was made with, else by engine and knobs, or from a kernel's PTX. None when there is none that cuDNN or the
        driver takes; a plan that was made offline says less of another cuDNN than that one's own heuristics do."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return None
        for record in self._store.load(content, repr(self.options)):
            engine = record.report.get("engine")
            wrong = engine is not None and erratum_of(graph, engine, self._cudnn.version) is not None
            if record.level not in levels or wrong:
                continue
            if record.level == OFFLINE and record.cudnn != self._cudnn.version:
                made, here = version_text(record.cudnn), version_text(self._cudnn.version)
                rejected.append(f"{_origin(record, 'plan')}: expected one made with cuDNN {here}, got one made with {made}")
                continue
            try:
                if (variant := record.report.get("kernel")) is not None:
                    return self._restore_kernel(graph, record, variant)
                if self._store.fits(record) and record.plan:
                    return self._restore(graph, record)
                return self._rebuild(graph, build, record, rejected)
            except (ArtifactError, CudnnError, _TooLarge, TypeError, KeyError, ValueError) as error:
                rejected.append(f"{_origin(record, 'plan')}: {error}")
        return None

    def keep(self, graph: Graph, build: Any, plan: Plan) -> None:
        """Puts a plan into the store."""
        if self._store is not None and (content := self._content(graph, build)) is not None:
            self._store.store(content, repr(self.options), *_written(plan))

    def member(self, graph: Graph, build: Any, plan: Plan) -> tuple[str, bytes] | None:
        """A plan as a member of an artifact, name and content; None when the graph has no fingerprint, or there is no store."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return None
        return self._store.member(content, repr(self.options), *_written(plan))

    def _content(self, graph: Graph, build: Any) -> str | None:
        """What the store knows a graph by."""
        if build is not None:
            return fingerprint(build)
        return None if self._kernels is None else self._kernels.content(graph)

    def _others(self, graph: Graph, build: Any) -> list[str]:
        """Plans of the artifact for this graph that are not for this GPU or these options."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return []
        return self._store.others(content, repr(self.options))

    def _restore(self, graph: Graph, record: Record) -> Plan:
        descriptor = self._cudnn.create(Descriptor.EXECUTION_PLAN)
        try:
            self._place(descriptor)
            descriptor.set(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION, Type.CHAR, record.plan.encode() + b"\0").finalize()
            (workspace,) = descriptor.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
            self._check_workspace(workspace)
            report = PlanReport.of_record(record.report, graph, _origin(record, "plan"), workspace_bytes=workspace)
            return CudnnPlan(report, descriptor)
        except BaseException:
            descriptor.close()
            raise

    def _restore_kernel(self, graph: Graph, record: Record, variant: str) -> Plan:
        reason = None if graph.preference == "only_kernel" else self.options.refuses_kernels()
        if self._kernels is None or reason is not None:
            message = f"kernel {variant}: {reason or 'there is no GPU to run it'}"
            raise ValueError(message)
        assert self._store is not None
        plan = self._kernels.restore(graph, variant, record.plan if self._store.fits(record) else "")
        return replace(plan, report=PlanReport.of_record(record.report, graph, _origin(record, "plan")))

    def _rebuild(self, graph: Graph, build: Any, record: Record, rejected: list[str]) -> Plan | None:
        with self.operation_graph(graph, build) as operations:
            config = config_of(self._cudnn, operations, int(record.report["engine"]), dict(record.report["knobs"]), self._device)
            try:
                plan = self.build(graph, config, rejected)
            finally:
                config.descriptor.close()
        if plan is None:
            return None
        report = PlanReport.of_record(
            record.report, graph, _origin(record, "engine and knobs"),
            workspace_bytes=plan.report.workspace_bytes,
            numerical_notes=plan.report.numerical_notes, behavior_notes=plan.report.behavior_notes,
        )  # fmt: skip
        return replace(plan, report=report)

    # What cuDNN offers.

    @contextmanager
    def operation_graph(self, graph: Graph, build: Any) -> Iterator[BackendDescriptor]:
        """The finalized operation graph, destroyed at the end of the `with`."""
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
        descriptor = BackendDescriptor(self._cudnn, pointer.value or 0, "OPERATIONGRAPH")
        try:
            yield descriptor
        finally:
            descriptor.close()

    def candidates(
        self,
        graph: Graph,
        operations: BackendDescriptor | None,
        rejected: list[str],
        sources: Iterable[str],
        seen: set[tuple[object, ...]] | None = None,
        pool: BuildPool | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Iterator[Plan]:
        """Plans that can be built for `graph`, in the order of `sources`: modes of the heuristics, `engines` for every engine there is with
        its default knobs, `precompiled` for those of them that compile nothing, or `kernels` for those of the artifact. What cannot be
        built is added to `rejected` with the reason. Configurations in `seen` are left out, and new ones go in there. With a `pool`,
        engines that compile a kernel come behind the others of their source; `progress` hears of them."""
        seen = set() if seen is None else seen
        for source in sources:
            if source == "kernels":
                yield from self._kernel_plans(graph, rejected)
                continue
            assert operations is not None, "only a graph's kernels need no operation graph"
            later: list[Config] = []
            if source in ("engines", "precompiled"):
                configs = engine_configs(self._cudnn, operations, self._device, rejected, precompiled=source == "precompiled")
            else:
                configs = heuristic_configs(self._cudnn, operations, source, self._device, rejected)
            for config in configs:
                key = (config.engine, config.knobs)
                if key in seen:
                    continue
                seen.add(key)
                if pool is not None and BehaviorNote.RUNTIME_COMPILATION in config.behavior:
                    if (reason := self._refusal(graph, config)) is None:
                        later.append(config)
                    else:
                        rejected.append(f"{config}: {reason}")
                    continue
                plan = self.build(graph, config, rejected)
                if plan is not None:
                    yield plan
            if pool is not None and later:
                yield from self._built(graph, later, rejected, pool, progress)

    def neighbours(self, graph: Graph, operations: BackendDescriptor | None, plan: Plan, seen: set[tuple[object, ...]]) -> Iterator[Plan]:
        """Plans of the same engine with another value of one knob, as far as they can be built. Configurations in `seen` are left out, and
        new ones go in there."""
        report, unused = plan.report, list[str]()
        assert operations is not None, "only a graph with kernels alone has none"
        assert report.engine is not None, "a kernel has no knobs"
        values = knob_values(self._cudnn, operations, report.engine, self._device)
        changes = [(name, value) for name in report.knobs for value in values.get(name, ()) if value != report.knobs[name]]
        for rank, (name, value) in enumerate(changes):
            knobs = {**report.knobs, name: value}
            try:
                config = config_of(self._cudnn, operations, report.engine, knobs, self._device, source="knobs", rank=rank)
            except CudnnError:
                continue
            try:
                if (key := (config.engine, config.knobs)) not in seen:
                    seen.add(key)
                    if (found := self.build(graph, config, unused)) is not None:
                        yield replace(found, report=replace(found.report, rejected=()))
            finally:
                config.descriptor.close()

    def any_plans(self, graph: Graph, operations: BackendDescriptor, wanted: Callable[[Config], bool]) -> Iterator[Plan]:
        """Plans of engines with their default knobs, whatever the options say of them; less those with known errors."""
        unused: list[str] = []
        for config in engine_configs(self._cudnn, operations, self._device, unused, precompiled=False):
            if erratum_of(graph, config.engine, self._cudnn.version) is None and wanted(config):
                plan = self._finished(graph, config, unused, *_from_config(config))
                if plan is not None:
                    yield plan

    def _kernel_plans(self, graph: Graph, rejected: list[str]) -> Iterator[Plan]:
        if self._kernels is None or not graph.kernels:
            return
        if (reason := self.options.refuses_kernels()) is not None and graph.preference != "only_kernel":
            rejected.append(f"kernels: {reason}")
            return
        for kernel in self._kernels.offered(graph, rejected):
            yield self._kernels.plan(graph, kernel, rejected)

    def build(self, graph: Graph, config: Config, rejected: list[str]) -> Plan | None:
        """The plan of a configuration; None, with the reason in `rejected`, when the options or cuDNN refuse it."""
        if (reason := self._refusal(graph, config)) is not None:
            rejected.append(f"{config}: {reason}")
            return None
        return self._finished(graph, config, rejected, *_from_config(config))

    def text_of(self, graph: Graph, build: Any, engine: int, knobs: Mapping[str, int]) -> str:
        """cuDNN's JSON of the plan of an engine with these knobs. Raises CudnnError, also when the plan cannot be written."""
        with ExitStack() as stack:
            operations = stack.enter_context(self.operation_graph(graph, build))
            config = config_of(self._cudnn, operations, engine, dict(knobs), self._device)
            stack.callback(config.descriptor.close)
            plan = self._cudnn.create(Descriptor.EXECUTION_PLAN)
            stack.callback(plan.close)
            self._place(plan)
            plan.set(Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, [config.descriptor]).finalize()
            return plan.get_text(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION)

    def _built(
        self, graph: Graph, configs: Sequence[Config], rejected: list[str], pool: BuildPool, progress: Callable[[str], None]
    ) -> Iterator[Plan]:
        """The plans of configurations that the pool builds."""
        from .build_pool import Job

        jobs = [Job(graph.symbol or "", graph.name, graph.location, config.engine, config.named_knobs) for config in configs]
        for config, built in zip(
            configs, pool.build(jobs, lambda done: progress(f"{done} of {len(jobs)} plans of {graph.name} compiled")), strict=True
        ):
            if built.error:
                rejected.append(f"{config}: {built.error}")
                continue
            text = built.plan.encode() + b"\0"
            plan = self._finished(graph, config, rejected, Attribute.EXECUTION_PLAN_JSON_REPRESENTATION, Type.CHAR, text)
            if plan is not None:
                yield plan

    def _refusal(self, graph: Graph, config: Config) -> str | None:
        """Why a configuration is not to be built."""
        floats = {tensor.dtype for tensor in graph.tensors if "float" in tensor.dtype}
        float32 = bool(floats) and floats <= {"float32", "float64"}
        numerical = {NumericalNote(note) for note in config.numerical if note in NumericalNote._value2member_map_}
        behavior = {BehaviorNote(note) for note in config.behavior if note in BehaviorNote._value2member_map_}
        reason = erratum_of(graph, config.engine, self._cudnn.version)
        reason = reason or self.options.refuses(config.engine, numerical, behavior, float32=float32)
        if reason is not None:
            return reason
        try:
            # Known before the plan is built, and building may take seconds.
            self._check_workspace(config.descriptor.get(Attribute.ENGINECFG_WORKSPACE_SIZE, Type.INT64, 1)[0])
        except CudnnError as error:
            return f"{error.name}: {error.detail}"
        except _TooLarge as error:
            return str(error)
        return None

    def _finished(
        self, graph: Graph, config: Config, rejected: list[str], attribute: Attribute, kind: Type, value: Sequence[Any] | bytes
    ) -> Plan | None:
        """The plan of `config`, made from the value of one attribute; None, with the reason in `rejected`, when cuDNN refuses it."""
        descriptor = self._cudnn.create(Descriptor.EXECUTION_PLAN)
        try:
            self._place(descriptor)
            descriptor.set(attribute, kind, value).finalize()
            (workspace,) = descriptor.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
            self._check_workspace(workspace)
        except (CudnnError, _TooLarge) as error:
            descriptor.close()
            rejected.append(f"{config}: {error.name}: {error.detail}" if isinstance(error, CudnnError) else f"{config}: {error}")
            return None
        report = PlanReport(
            graph=graph.name,
            location=graph.location,
            engine=config.engine,
            knobs=config.named_knobs,
            numerical_notes=tuple(name_of(NumericalNote, note) for note in config.numerical),
            behavior_notes=tuple(name_of(BehaviorNote, note) for note in config.behavior),
            workspace_bytes=workspace,
            heuristic=config.source,
            rank=config.rank,
            rejected=tuple(rejected),
        )
        return CudnnPlan(report, descriptor)

    def _place(self, plan: BackendDescriptor) -> None:
        """Says where a plan is to run."""
        if self._handle is not None:
            plan.set(Attribute.EXECUTION_PLAN_HANDLE, Type.HANDLE, [self._handle])
        if self._device is not None:
            plan.set(Attribute.EXECUTION_PLAN_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [self._device])

    def _check_workspace(self, size: int) -> None:
        if size > self.options.max_workspace_bytes:
            message = f"workspace of {size} bytes is over the limit of {self.options.max_workspace_bytes}"
            raise _TooLarge(message)
        if self._unavailable is not None and size >= self._unavailable:
            raise _TooLarge(no_memory_for(size))


def _from_config(config: Config) -> tuple[Attribute, Type, list[Any]]:
    """The attribute that a plan is made from."""
    return Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, [config.descriptor]


def _origin(record: Record, what: str) -> str:
    """Where a plan, or its engine and knobs, came from."""
    offline = "offline " if record.level == OFFLINE else ""
    return f"{offline}{what} in the artifact" if record.shipped else f"stored {offline}{what}"


def no_memory_for(size: int) -> str:
    """Why a plan with a workspace of `size` bytes is out."""
    return f"workspace of {size} bytes cannot be allocated: the GPU's memory is full"


def _written(plan: Plan) -> tuple[str, str, dict[str, Any]]:
    """Level, JSON and report of a plan, for a record."""
    return plan.report.tuned, plan.text(), asdict(plan.report)


class _TooLarge(Exception):
    pass
