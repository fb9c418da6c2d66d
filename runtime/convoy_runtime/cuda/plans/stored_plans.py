"""Plans that were made before: what the store has for a graph, restored or made anew, and what goes
into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from convoy_runtime.cuda.cudnn.configs import config_of
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn, version_text
from convoy_runtime.errors import ArtifactError, CudnnError
from convoy_runtime.manifest import Graph

from .alternatives import Alternatives
from .builder import PlanBuilder, WorkspaceTooLarge
from .fingerprint import content_of
from .kernels import Kernels
from .options import PlanOptions
from .plan import CudnnPlan, Plan, PlanReport
from .store import LEVELS, OFFLINE, PlanStore, Record

__all__ = ["StoredPlans"]

#: In the origin of a plan that is not restored whole, also of one that was made so before it was
#: stored.
_ANEW = "engine and knobs"


class StoredPlans(PlanBuilder):
    """The plans of `store`, some of which are kernels, or alternatives of graphs."""

    def __init__(
        self,
        cudnn: Cudnn,
        options: PlanOptions,
        *,
        handle: int | None,
        device: BackendDescriptor | None,
        store: PlanStore | None,
        kernels: Kernels | None,
        alternatives: Alternatives | None,
    ) -> None:
        super().__init__(cudnn, options, handle=handle, device=device)
        self.alternatives = alternatives
        self._store, self._kernels = store, kernels
        #: What the store knows graphs by that were asked about.
        self._contents: dict[Graph, str | None] = {}

    def stored(
        self, graph: Graph, build: Any, rejected: list[str], levels: Sequence[str] = LEVELS
    ) -> Plan | None:
        """The plan that the store has for a graph of this content, found with the work of one of
        `levels`: as it is where cuDNN and driver are those that it was made with and cuDNN takes
        it, else by engine and knobs, or from a kernel's PTX. None when there is none that cuDNN,
        the driver and the options take; a plan that was made offline says less of another cuDNN
        than that one's own heuristics do. What is made anew is stored for this cuDNN and driver, so
        that the next load compiles nothing."""
        before = len(rejected)
        for record in self._records(graph, build, rejected, levels):
            try:
                plan = self._from_record(graph, build, record, rejected)
            except (
                ArtifactError,
                CudnnError,
                WorkspaceTooLarge,
                TypeError,
                KeyError,
                ValueError,
            ) as error:
                rejected.append(f"{_origin(record, 'plan')}: {error}")
                continue
            if plan is not None:
                if self._is_new(graph, record, plan) and self._unavailable is None:
                    self.keep(graph, build, plan)
                reasons = (*rejected[before:], *plan.report.rejected)
                return (
                    replace(plan, report=replace(plan.report, rejected=reasons))
                    if len(rejected) > before
                    else plan
                )
        return None

    def keep(self, graph: Graph, build: Any, plan: Plan) -> None:
        """Puts a plan into the store."""
        if self._store is not None and (content := self._content(graph, build)) is not None:
            self._store.store(content, repr(self.options), *_written(plan))

    def member(self, graph: Graph, build: Any, plan: Plan) -> tuple[str, bytes] | None:
        """A plan as a member of an artifact, name and content; None when the graph has no
        fingerprint, or there is no store."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return None
        return self._store.member(content, repr(self.options), *_written(plan))

    def _content(self, graph: Graph, build: Any) -> str | None:
        """What the store knows a graph by. Planning one asks several times, and recording its build
        function takes a while."""
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

    def is_stored(self, graph: Graph, build: Any, levels: Sequence[str]) -> bool:
        """Whether the store has something for `stored`, which may yet not be what it has to be."""
        return next(self._records(graph, build, [], levels), None) is not None

    def _records(
        self, graph: Graph, build: Any, rejected: list[str], levels: Sequence[str]
    ) -> Iterator[Record]:
        """What the store has for `stored`, the best first."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return
        for record in self._store.load(content, repr(self.options)):
            if record.level not in levels:
                continue
            if record.level == OFFLINE and record.cudnn != self._cudnn.version:
                made, here = version_text(record.cudnn), version_text(self._cudnn.version)
                rejected.append(
                    f"{_origin(record, 'plan')}: expected one made with cuDNN {here}, got "
                    f"one made with {made}"
                )
                continue
            yield record

    def _text(self, record: Record) -> str:
        """What a plan can be restored from as it is; nothing where cuDNN or the driver are others
        than those that it was made with."""
        assert self._store is not None
        return record.plan if self._store.fits(record) else ""

    def _from_record(
        self, graph: Graph, build: Any, record: Record, rejected: list[str]
    ) -> Plan | None:
        """The plan of a record of the store; None, with the reason in `rejected`, when it has to be
        made anew and cannot be."""
        if record.report.get("alternative") is not None:
            return self._restore_alternative(graph, record, rejected)
        if (variant := record.report.get("kernel")) is not None:
            return self._restore_kernel(graph, record, variant)
        self._check_report(graph, record.report)
        if text := self._text(record):
            try:
                return self._restore(graph, record, text)
            except CudnnError as error:
                rejected.append(f"{_origin(record, 'plan')}: {error}")
        return self._rebuild(graph, build, record, rejected)

    def _is_new(self, graph: Graph, record: Record, plan: Plan) -> bool:
        """Whether the plan of a record was made anew, of what else is in it, and can be restored
        from now on."""
        assert self._store is not None
        if not self._store.fits(record):
            return True
        if plan.report.kernel is not None and self._kernels is not None:
            return self._kernels.compiled_anew(graph, plan.report.kernel, record.plan) is not None
        return bool(record.plan) and plan.report.origin != _origin(record, _whole(record))

    def _check_report(self, graph: Graph, report: Mapping[str, Any]) -> None:
        """Raises ValueError when the engine of a report may not run `graph`, whoever found that it
        may when the plan was stored."""
        reason = self._refuses(
            graph, report["engine"], report["numerical_notes"], report["behavior_notes"]
        )
        if reason is not None:
            message = f"engine {report['engine']} of {graph.name} {reason}"
            raise ValueError(message)

    def _restore_alternative(self, graph: Graph, record: Record, rejected: list[str]) -> Plan:
        assert self._store is not None
        name, alternatives = str(record.report["alternative"]), self.alternatives
        if name not in graph.alternatives or alternatives is None:
            message = (
                f"alternative {name}: expected one of the artifact, got "
                f"{', '.join(graph.alternatives) or 'none'}"
            )
            raise ValueError(message)
        alternative = alternatives.of(graph)[graph.alternatives.index(name)]
        plans = []
        texts = alternatives.texts(alternative, record.plan)
        for step, text, report in zip(
            alternative.steps, texts, record.report["steps"], strict=True
        ):
            inner, build = alternatives.graph(step)
            plan = self._from_record(
                inner, build, replace(record, plan=text, report=report), rejected
            )
            if plan is None:
                message = f"alternative {name}: step {inner.name}: {rejected[-1]}"
                raise ValueError(message)
            plans.append(alternatives.own(plan))
        found = alternatives.plan(graph, alternative, plans)
        self._check_workspace(found.report.workspace_bytes)
        origin = _origin(record, _whole(record) if self._store.fits(record) else _ANEW)
        changes = {"workspace_bytes": found.report.workspace_bytes, "steps": found.report.steps}
        return replace(found, report=PlanReport.of_record(record.report, graph, origin, **changes))

    def _restore(self, graph: Graph, record: Record, text: str) -> Plan:
        report = PlanReport.of_record(record.report, graph, _origin(record, _whole(record)))
        descriptor, workspace = self.from_text(text)
        return CudnnPlan(replace(report, workspace_bytes=workspace), descriptor)

    def _restore_kernel(self, graph: Graph, record: Record, variant: str) -> Plan:
        reason = self._refuses_kernels(graph)
        reason = reason or next(
            (
                self.options.refuses_kernel(graph, each)
                for each in graph.kernels
                if each.variant == variant
            ),
            None,
        )
        if self._kernels is None or reason is not None:
            message = f"kernel {variant}: {reason or 'there is no GPU to run it'}"
            raise ValueError(message)
        plan = self._kernels.restore(graph, variant, self._text(record))
        return replace(
            plan, report=PlanReport.of_record(record.report, graph, _origin(record, "plan"))
        )

    def _rebuild(
        self, graph: Graph, build: Any, record: Record, rejected: list[str]
    ) -> Plan | None:
        with self.operation_graph(graph, build) as operations:
            config = config_of(
                self._cudnn,
                operations,
                int(record.report["engine"]),
                dict(record.report["knobs"]),
                self._device,
            )
            try:
                plan = self.build(graph, config, rejected)
            finally:
                config.descriptor.close()
        if plan is None:
            return None
        report = PlanReport.of_record(
            record.report, graph, _origin(record, _ANEW),
            workspace_bytes=plan.report.workspace_bytes,
            numerical_notes=plan.report.numerical_notes, behavior_notes=plan.report.behavior_notes,
        )  # fmt: skip
        return replace(plan, report=report)

    def _refuses_kernels(self, graph: Graph) -> str | None:
        """Why `graph` is not to run on a kernel. Where there is nothing else, the options say
        nothing."""
        return None if graph.preference == "only_kernel" else self.options.refuses_kernels()


def _origin(record: Record, what: str) -> str:
    """Where a plan, or its engine and knobs, came from."""
    offline = "offline " if record.level == OFFLINE else ""
    return f"{offline}{what} in the artifact" if record.shipped else f"stored {offline}{what}"


def _whole(record: Record) -> str:
    """What a plan is that is restored whole: one that was made anew before was measured with
    another cuDNN or driver, and still says so."""
    return f"plan made of {_ANEW}" if _ANEW in str(record.report.get("origin")) else "plan"


def _written(plan: Plan) -> tuple[str, str, dict[str, Any]]:
    """Level, JSON and report of a plan, for a record."""
    return plan.report.tuned, plan.text(), asdict(plan.report)
