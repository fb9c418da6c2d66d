"""Builds cuDNN's execution plans: a graph's native build function gives an operation graph, an
engine configuration of it, or the JSON of a plan, gives a plan, when the options allow it and it
finalizes.

With a device-properties JSON in place of a handle all of this works on a machine without a GPU,
which is how it is tested.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime.cuda.cudnn.configs import Config, config_of, engine_configs, knob_values
from convoy_runtime.cuda.cudnn.enums import Attribute, BehaviorNote, Descriptor, NumericalNote, Type
from convoy_runtime.cuda.cudnn.errata import erratum_of
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph

from .options import PlanOptions
from .plan import CudnnPlan, Plan, PlanReport, json_text

if TYPE_CHECKING:
    from .build_pool import BuildPool, Job

__all__ = ["PlanBuilder", "WorkspaceTooLarge", "job_of", "no_memory_for"]


#: Knobs that choose among kernels have fewer values.
_LONG = 64


class WorkspaceTooLarge(Exception):
    """A plan's workspace is over a limit, which the text says."""


class PlanBuilder:
    """Builds plans for the device of `handle`, or, with `handle` None, for the one that `device`
    describes."""

    def __init__(
        self,
        cudnn: Cudnn,
        options: PlanOptions,
        *,
        handle: int | None,
        device: BackendDescriptor | None = None,
    ) -> None:
        cudnn.require_cublaslt()
        self.options = options
        self._cudnn, self._handle, self._device = cudnn, handle, device
        #: The smallest workspace that the device had no memory for.
        self._unavailable: int | None = None

    def without_workspaces_of(self, size: int) -> None:
        """From now on no plan has a workspace of `size` bytes or more, because the device has no
        memory for it; nor is what takes their place stored, because another time there may be
        more."""
        self._unavailable = size

    @contextmanager
    def operation_graph(self, graph: Graph, build: Any) -> Iterator[BackendDescriptor]:
        """The finalized operation graph, destroyed at the end of the `with`."""
        reports: list[CudnnError] = []

        def report(status: int, call: bytes, location: bytes) -> None:
            where = location.decode(errors="replace") or graph.location
            reports.append(
                self._cudnn.error(
                    status, f"graph {graph.name}: {call.decode(errors='replace')}", where
                )
            )

        callback = ConvoyCudnn.REPORT(report)
        table = self._cudnn.table(callback)
        pointer = ctypes.c_void_p()
        status = build(ctypes.byref(table), self._handle, ctypes.byref(pointer))
        if status:
            raise (
                reports[0]
                if reports
                else self._cudnn.error(
                    status, f"graph {graph.name}: {graph.symbol}", graph.location
                )
            )
        descriptor = BackendDescriptor(self._cudnn, pointer.value or 0, "OPERATIONGRAPH")
        try:
            yield descriptor
        finally:
            descriptor.close()

    def build(self, graph: Graph, config: Config, rejected: list[str]) -> Plan | None:
        """The plan of a configuration; None, with the reason in `rejected`, when the options or
        cuDNN refuse it."""
        if (reason := self._refusal(graph, config)) is not None:
            rejected.append(f"{config}: {reason}")
            return None
        return self._finished(graph, config, rejected, *_from_config(config))

    def from_text(self, text: str) -> tuple[BackendDescriptor, int]:
        """The plan that cuDNN's JSON `text` is of, and its workspace in bytes. Raises CudnnError,
        WorkspaceTooLarge."""
        return self._made(
            Attribute.EXECUTION_PLAN_JSON_REPRESENTATION, Type.CHAR, text.encode() + b"\0"
        )

    def text_of(self, graph: Graph, build: Any, engine: int, knobs: Mapping[str, int]) -> str:
        """cuDNN's JSON of the plan of an engine with these knobs; nothing when the plan cannot be
        written. Raises CudnnError."""
        with ExitStack() as stack:
            operations = stack.enter_context(self.operation_graph(graph, build))
            config = config_of(self._cudnn, operations, engine, dict(knobs), self._device)
            stack.callback(config.descriptor.close)
            plan = self._cudnn.create(Descriptor.EXECUTION_PLAN)
            stack.callback(plan.close)
            self._place(plan)
            plan.set(
                Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, [config.descriptor]
            ).finalize()
            return json_text(plan)

    def neighbours(
        self,
        graph: Graph,
        operations: BackendDescriptor | None,
        plan: Plan,
        seen: set[tuple[object, ...]],
        pool: BuildPool | None = None,
        progress: Callable[[str], None] = lambda _: None,
        *,
        every: bool = False,
    ) -> Iterator[Plan]:
        """Plans of the same engine with another value of one knob, as far as they can be built;
        with `every` also of a knob that the plan leaves to the engine. Configurations in `seen` are
        left out, and new ones go in there. With a `pool`, that builds those that compile a kernel;
        `progress` hears of them."""
        report, unused = plan.report, list[str]()
        assert operations is not None, "only a graph with kernels alone has none"
        assert report.engine is not None, "a kernel has no knobs"
        later: list[Config] = []
        values = knob_values(self._cudnn, operations, report.engine, self._device)
        names = values if every else report.knobs
        changes = [
            (name, value)
            for name in names
            for value in _tried(values.get(name, range(0)))
            if value != report.knobs.get(name)
        ]
        for rank, (name, value) in enumerate(changes):
            knobs = {**report.knobs, name: value}
            try:
                config = config_of(
                    self._cudnn,
                    operations,
                    report.engine,
                    knobs,
                    self._device,
                    source="knobs",
                    rank=rank,
                )
            except CudnnError:
                continue
            try:
                if (key := (config.engine, config.knobs)) in seen:
                    continue
                seen.add(key)
                if pool is not None and BehaviorNote.RUNTIME_COMPILATION in config.behavior:
                    later += [config] if self._refusal(graph, config) is None else []
                elif (found := self.build(graph, config, unused)) is not None:
                    yield replace(found, report=replace(found.report, rejected=()))
            finally:
                config.descriptor.close()
        if pool is not None and later:
            for found in self._built(graph, operations, later, unused, pool, progress):
                yield replace(found, report=replace(found.report, rejected=()))

    def any_plans(
        self, graph: Graph, operations: BackendDescriptor, wanted: Callable[[Config], bool]
    ) -> Iterator[Plan]:
        """Plans of engines with their default knobs, whatever the options say of them; less those
        with known errors."""
        unused: list[str] = []
        for config in engine_configs(
            self._cudnn, operations, self._device, unused, precompiled=False
        ):
            if erratum_of(graph, config.engine, self._cudnn.version) is None and wanted(config):
                plan = self._finished(graph, config, unused, *_from_config(config))
                if plan is not None:
                    yield plan

    def _built(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        configs: Sequence[Config],
        rejected: list[str],
        pool: BuildPool,
        progress: Callable[[str], None],
    ) -> Iterator[Plan]:
        """The plans of configurations that the pool builds, or that this process does where no
        other one can."""
        jobs = [job_of(graph, config) for config in configs]
        for config, built in zip(
            configs,
            pool.build(
                jobs, lambda done: progress(f"{done} of {len(jobs)} plans of {graph.name} compiled")
            ),
            strict=True,
        ):
            plan = None
            if built.not_here:
                # Its descriptor is gone; cuDNN has taken the same configuration before.
                again = config_of(
                    self._cudnn, operations, config.engine, config.named_knobs, self._device
                )
                with closing(again.descriptor):
                    plan = self.build(graph, replace(config, descriptor=again.descriptor), rejected)
            elif built.error:
                rejected.append(f"{config}: {built.error}")
            else:
                text = built.plan.encode() + b"\0"
                plan = self._finished(
                    graph,
                    config,
                    rejected,
                    Attribute.EXECUTION_PLAN_JSON_REPRESENTATION,
                    Type.CHAR,
                    text,
                )
            if plan is not None:
                yield plan

    def _refuses(
        self, graph: Graph, engine: int, numerical: Iterable[str], behavior: Iterable[str]
    ) -> str | None:
        """Why an engine with the notes of these names may not run `graph`: it is known to be wrong,
        or the options forbid it."""
        known = NumericalNote.__members__, BehaviorNote.__members__
        notes = (
            {known[0][name] for name in numerical if name in known[0]},
            {known[1][name] for name in behavior if name in known[1]},
        )
        return erratum_of(graph, engine, self._cudnn.version) or self.options.refuses(
            graph, engine, *notes
        )

    def _refusal(self, graph: Graph, config: Config) -> str | None:
        """Why a configuration is not to be built."""
        if (
            reason := self._refuses(
                graph, config.engine, config.numerical_notes, config.behavior_notes
            )
        ) is not None:
            return reason
        try:
            # Known before the plan is built, and building may take seconds.
            self._check_workspace(
                config.descriptor.get(Attribute.ENGINECFG_WORKSPACE_SIZE, Type.INT64, 1)[0]
            )
        except CudnnError as error:
            return f"{error.name}: {error.detail}"
        except WorkspaceTooLarge as error:
            return str(error)
        return None

    def _finished(
        self,
        graph: Graph,
        config: Config,
        rejected: list[str],
        attribute: Attribute,
        kind: Type,
        value: Sequence[Any] | bytes,
    ) -> Plan | None:
        """The plan of `config`, made from the value of one attribute; None, with the reason in
        `rejected`, when cuDNN refuses it."""
        try:
            descriptor, workspace = self._made(attribute, kind, value)
        except (CudnnError, WorkspaceTooLarge) as error:
            rejected.append(
                f"{config}: {error.name}: {error.detail}"
                if isinstance(error, CudnnError)
                else f"{config}: {error}"
            )
            return None
        report = PlanReport(
            graph=graph.name,
            location=graph.location,
            engine=config.engine,
            knobs=config.named_knobs,
            numerical_notes=config.numerical_notes,
            behavior_notes=config.behavior_notes,
            workspace_bytes=workspace,
            heuristic=config.source,
            rank=config.rank,
            rejected=tuple(rejected),
        )
        return CudnnPlan(report, descriptor)

    def _made(
        self, attribute: Attribute, kind: Type, value: Sequence[Any] | bytes
    ) -> tuple[BackendDescriptor, int]:
        """A plan, made from the value of one attribute, and its workspace in bytes. Raises
        CudnnError, WorkspaceTooLarge."""
        descriptor = self._cudnn.create(Descriptor.EXECUTION_PLAN)
        try:
            self._place(descriptor)
            descriptor.set(attribute, kind, value).finalize()
            (workspace,) = descriptor.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
            self._check_workspace(workspace)
            return descriptor, workspace
        except BaseException:
            descriptor.close()
            raise

    def _place(self, plan: BackendDescriptor) -> None:
        """Says where a plan is to run."""
        if self._handle is not None:
            plan.set(Attribute.EXECUTION_PLAN_HANDLE, Type.HANDLE, [self._handle])
        if self._device is not None:
            plan.set(Attribute.EXECUTION_PLAN_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [self._device])

    def _check_workspace(self, size: int) -> None:
        if size > self.options.max_workspace_bytes:
            message = (
                f"workspace of {size} bytes is over the limit of {self.options.max_workspace_bytes}"
            )
            raise WorkspaceTooLarge(message)
        if self._unavailable is not None and size >= self._unavailable:
            raise WorkspaceTooLarge(no_memory_for(size))


def _tried(values: range) -> Iterable[int]:
    """Those of a knob's values that are worth a try: of long ranges, as of parts that a sum is
    split into, the powers of two."""
    return (
        values
        if len(values) <= _LONG
        else sorted({values[0], *(1 << bit for bit in range(64) if 1 << bit in values)})
    )


def job_of(graph: Graph, config: Config) -> Job:
    """What a pool builds the plan of a configuration from."""
    from .build_pool import Job

    return Job(graph.symbol or "", graph.name, graph.location, config.engine, config.named_knobs)


def _from_config(config: Config) -> tuple[Attribute, Type, list[Any]]:
    """The attribute that a plan is made from."""
    return Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, [config.descriptor]


def no_memory_for(size: int) -> str:
    """Why a plan with a workspace of `size` bytes is out."""
    return f"workspace of {size} bytes cannot be allocated: the GPU's memory is full"
