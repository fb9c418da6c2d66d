"""Turns a graph of the manifest into an execution plan: the one that the store knows, or else a kernel that the artifact prefers, or else
the first engine configuration of cuDNN's heuristics that the options allow and that finalizes, or else the first of its alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from convoy_runtime.errors import ArtifactError, CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphKernel, GraphStep

from ._cudnn import BackendDescriptor, Cudnn, version_text
from ._enums import BehaviorNote
from .alternatives import Alternatives, StepError
from .builder import PlanBuilder, WorkspaceTooLarge
from .configs import Config, config_of, engine_configs, heuristic_configs
from .errata import erratum_of
from .fingerprint import content_of
from .kernels import Kernels
from .options import PlanOptions
from .plan import CudnnPlan, Plan, PlanReport
from .store import LEVELS, OFFLINE, PlanStore, Record

if TYPE_CHECKING:
    from .build_pool import BuildPool

__all__ = ["Planner"]


class Planner(PlanBuilder):
    """Chooses plans: those of `store`, kernels, and what can be built."""

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
        alternatives: Alternatives | None = None,
    ) -> None:
        super().__init__(cudnn, options, handle=handle, device=device)
        self.strict = strict
        self.alternatives = alternatives
        self._store, self._kernels = store, kernels
        #: What the store knows graphs by that were asked about.
        self._contents: dict[Graph, str | None] = {}

    def plan(self, graph: Graph, build: Any) -> Plan:
        """The stored plan for `graph`, else, unless `strict`, its first kernel where the artifact prefers that, else the first one of the
        heuristics, else the first of its alternatives whose steps have plans. `build` is its native build function, None for a graph that
        has only kernels. Raises CudnnError when the graph itself is refused, and has no alternatives, and PlanError when nothing takes it,
        or nothing is stored and that is `strict`."""
        rejected: list[str] = []
        prefers_kernel = self._prefers_kernel(graph)
        if (known := self.stored(graph, build, rejected, self._levels(graph))) is not None:
            return known
        rejected += self._others(graph, build)
        plan = next(self._kernel_plans(graph, rejected), None) if prefers_kernel and not self.strict else None
        if plan is None and prefers_kernel and (known := self.stored(graph, build, rejected, (OFFLINE,))) is not None:
            return known
        if self.strict:
            hint = "`convoy tune` puts plans for this GPU and these options into the artifact; without strict the heuristics are asked"
            raise PlanError(graph=graph.name, location=graph.location, tried=tuple(rejected), hint=hint, strict=True)
        if plan is None and build is not None:
            try:
                with self.operation_graph(graph, build) as operations:
                    plan = next(self.candidates(graph, operations, rejected, self.options.heuristics), None)
            except CudnnError as error:
                if not graph.alternatives:
                    raise
                rejected.append(str(error))
        if plan is None:
            plan = next(self.by_alternatives(graph, rejected, self._first_of_step), None)
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
        for record in self._records(graph, build, rejected, levels):
            try:
                return self._from_record(graph, build, record, rejected)
            except (ArtifactError, CudnnError, WorkspaceTooLarge, TypeError, KeyError, ValueError) as error:
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
        """What the store knows a graph by. Planning one asks several times, and recording its build function takes a while."""
        if graph not in self._contents:
            if build is not None:
                self._contents[graph] = content_of(graph, build)
            elif self._kernels is not None:
                self._contents[graph] = self._kernels.content(graph)
        return self._contents.get(graph)

    def _others(self, graph: Graph, build: Any) -> list[str]:
        """Plans of the artifact for this graph that are not for this GPU or these options."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return []
        return self._store.others(content, repr(self.options))

    def _records(self, graph: Graph, build: Any, rejected: list[str], levels: Sequence[str]) -> Iterator[Record]:
        """What the store has for `stored`, the best first."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return
        for record in self._store.load(content, repr(self.options)):
            engine = record.report.get("engine")
            wrong = engine is not None and erratum_of(graph, engine, self._cudnn.version) is not None
            if record.level not in levels or wrong:
                continue
            if record.level == OFFLINE and record.cudnn != self._cudnn.version:
                made, here = version_text(record.cudnn), version_text(self._cudnn.version)
                rejected.append(f"{_origin(record, 'plan')}: expected one made with cuDNN {here}, got one made with {made}")
                continue
            yield record

    def _text(self, record: Record) -> str:
        """What a plan can be restored from as it is; nothing where cuDNN or the driver are others than those that it was made with."""
        assert self._store is not None
        return record.plan if self._store.fits(record) else ""

    def _prefers_kernel(self, graph: Graph) -> bool:
        return graph.preference != "plan" and self._kernels is not None

    def _levels(self, graph: Graph) -> Sequence[str]:
        """The levels of work whose plans go before a kernel: what was planned offline was not measured either."""
        return LEVELS[1:] if self._prefers_kernel(graph) else LEVELS

    def _from_record(self, graph: Graph, build: Any, record: Record, rejected: list[str]) -> Plan | None:
        """The plan of a record of the store; None, with the reason in `rejected`, when it has to be made anew and cannot be."""
        if record.report.get("alternative") is not None:
            return self._restore_alternative(graph, record, rejected)
        if (variant := record.report.get("kernel")) is not None:
            return self._restore_kernel(graph, record, variant)
        if text := self._text(record):
            return self._restore(graph, record, text)
        return self._rebuild(graph, build, record, rejected)

    def _restore_alternative(self, graph: Graph, record: Record, rejected: list[str]) -> Plan:
        assert self._store is not None
        name, alternatives = str(record.report["alternative"]), self.alternatives
        alternative = next((each for each in graph.alternatives if each.name == name), None)
        if alternative is None or alternatives is None:
            message = (
                f"alternative {name}: expected one of the artifact, got {', '.join(each.name for each in graph.alternatives) or 'none'}"
            )
            raise ValueError(message)
        plans = []
        texts = alternatives.texts(alternative, record.plan)
        for step, text, report in zip(alternative.steps, texts, record.report["steps"], strict=True):
            inner, build = alternatives.graph(step)
            plan = self._from_record(inner, build, replace(record, plan=text, report=report), rejected)
            if plan is None:
                message = f"alternative {name}: step {inner.name}: {rejected[-1]}"
                raise ValueError(message)
            plans.append(alternatives.own(plan))
        found = alternatives.plan(graph, alternative, plans)
        self._check_workspace(found.report.workspace_bytes)
        origin = _origin(record, "plan" if self._store.fits(record) else "engine and knobs")
        changes = {"workspace_bytes": found.report.workspace_bytes, "steps": found.report.steps}
        return replace(found, report=PlanReport.of_record(record.report, graph, origin, **changes))

    def _restore(self, graph: Graph, record: Record, text: str) -> Plan:
        report = PlanReport.of_record(record.report, graph, _origin(record, "plan"))
        descriptor, workspace = self.from_text(text)
        return CudnnPlan(replace(report, workspace_bytes=workspace), descriptor)

    def _restore_kernel(self, graph: Graph, record: Record, variant: str) -> Plan:
        reason = self._refuses_kernels(graph)
        reason = reason or next((self.options.refuses_kernel(each) for each in graph.kernels if each.variant == variant), None)
        if self._kernels is None or reason is not None:
            message = f"kernel {variant}: {reason or 'there is no GPU to run it'}"
            raise ValueError(message)
        plan = self._kernels.restore(graph, variant, self._text(record))
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

    def by_alternatives(
        self, graph: Graph, rejected: list[str], plan_of: Callable[[GraphStep], Plan], limit: int | None = None
    ) -> Iterator[Plan]:
        """`Alternatives.plans` with workspaces that the options and the device allow."""
        if self.alternatives is not None:
            yield from self.alternatives.plans(graph, rejected, plan_of, self._check_workspace, limit)

    def _first_of_step(self, step: GraphStep) -> Plan:
        """What a step runs on where nothing is measured."""
        assert self.alternatives is not None
        graph, build = self.alternatives.graph(step)
        try:
            return self.alternatives.own(self.plan(graph, build))
        except (CudnnError, PlanError) as error:
            raise StepError.of(graph, error) from error

    def _kernel_plans(self, graph: Graph, rejected: list[str]) -> Iterator[Plan]:
        if self._kernels is None or not graph.kernels:
            return
        if (reason := self._refuses_kernels(graph)) is not None:
            rejected.append(f"kernels: {reason}")
            return
        for kernel in self._usable(self._kernels, graph, rejected):
            yield self._kernels.plan(graph, kernel, rejected)

    def _refuses_kernels(self, graph: Graph) -> str | None:
        """Why `graph` is not to run on a kernel. Where there is nothing else, the options say nothing."""
        return None if graph.preference == "only_kernel" else self.options.refuses_kernels()

    def _usable(self, kernels: Kernels, graph: Graph, rejected: list[str]) -> Iterator[GraphKernel]:
        """The kernels of `graph` that may run; why not the others goes to `rejected`."""
        for kernel in kernels.offered(graph, rejected):
            if (reason := self.options.refuses_kernel(kernel)) is None:
                yield kernel
            else:
                rejected.append(f"kernel {kernel.variant}: {reason}")

    # Kernels are compiled ahead of use.

    def compiling(self, graphs: Iterable[tuple[Graph, Any]], tuned: Sequence[str] | None) -> AbstractContextManager[None]:
        """While the `with` lasts, threads compile the kernels that `plan` needs for these graphs and their build functions, or, where what
        is stored has to be of the levels `tuned`, tuning. What the store turns out not to give is compiled when it is asked for."""
        if self._kernels is None:
            return nullcontext()
        return self._kernels.compiling([kernel for graph, build in graphs for kernel in self._to_compile(graph, build, tuned)])

    def wait_for_kernels(self) -> None:
        """Returns when nothing is being compiled, and all cores are free."""
        if self._kernels is not None:
            self._kernels.wait()

    def _to_compile(self, graph: Graph, build: Any, tuned: Sequence[str] | None) -> Sequence[GraphKernel]:
        if self._kernels is None or not graph.kernels or self._refuses_kernels(graph) is not None:
            return ()
        record = next(self._records(graph, build, [], self._levels(graph) if tuned is None else tuned), None)
        if record is not None:
            variant = record.report.get("kernel")
            kernel = None if variant is None else self._kernels.compiled_anew(graph, variant, self._text(record))
            return () if kernel is None else (kernel,)
        offered = list(self._usable(self._kernels, graph, []))
        if tuned is not None:
            return offered
        return offered[:1] if self._prefers_kernel(graph) and not self.strict else ()


def _origin(record: Record, what: str) -> str:
    """Where a plan, or its engine and knobs, came from."""
    offline = "offline " if record.level == OFFLINE else ""
    return f"{offline}{what} in the artifact" if record.shipped else f"stored {offline}{what}"


def _written(plan: Plan) -> tuple[str, str, dict[str, Any]]:
    """Level, JSON and report of a plan, for a record."""
    return plan.report.tuned, plan.text(), asdict(plan.report)
