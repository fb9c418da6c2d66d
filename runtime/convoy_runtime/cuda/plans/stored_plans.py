# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Restores and rebuilds stored plans, and stores new ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from convoy_runtime.cuda.cudnn.library import version_text
from convoy_runtime.errors import ArtifactError, CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import PlanReport

from .alternatives import Alternatives
from .builder import PlanBuilder, WorkspaceTooLarge
from .fingerprint import content_of
from .kernels import Kernels
from .matmuls import Matmuls
from .plan import CudnnPlan, Plan
from .plan_file import LEVELS, OFFLINE, Record
from .store import PlanStore

__all__ = ["StoredPlans"]

#: Part of the origin of a plan that is rebuilt, or was rebuilt before it was stored.
_REBUILT = "engine and knobs"


class StoredPlans:
    """The plans of a store.

    Args:
        builder: Rebuilds and restores cuDNN's plans.
        store: The store; None for no stored plans.
        kernels: Restores plans of kernels; None rejects them.
        alternatives: Restores plans of alternatives; None rejects them.
        matmuls: Restores plans of cuBLASLt; None rejects them.
    """

    def __init__(
        self,
        builder: PlanBuilder,
        store: PlanStore | None,
        kernels: Kernels | None,
        alternatives: Alternatives | None,
        matmuls: Matmuls | None,
    ) -> None:
        self._builder, self._options = builder, builder.options
        self._store, self._kernels, self._alternatives = store, kernels, alternatives
        self._matmuls = matmuls
        #: Graph to its key in the store.
        self._contents: dict[Graph, str | None] = {}

    def find(
        self, graph: Graph, build: Any, rejected: list[str], levels: Sequence[str] = LEVELS
    ) -> Plan | None:
        """Finds the stored plan of a graph.

        A plan is restored if this cuDNN and driver made it and cuDNN accepts it. Otherwise it is
        rebuilt from its engine and knobs, or from a kernel's PTX, and stored for this cuDNN and
        driver, so that the next load compiles nothing. A plan that was made offline with another
        cuDNN is skipped: the heuristics of the installed version are more accurate.

        Args:
            graph: The graph.
            build: Its native build function; None if it has only kernels.
            rejected: Receives the reasons for skipped records.
            levels: The acceptable tuning levels.

        Returns:
            The plan, or None if there is no record that cuDNN, the driver and the options accept.
        """
        before = len(rejected)
        for record in self.records(graph, build, rejected, levels):
            try:
                plan = self._plan_of(graph, build, record, rejected)
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
                if self._is_rebuilt(graph, record, plan) and not self._builder.lacks_memory:
                    self.keep(graph, build, plan)
                reasons = (*rejected[before:], *plan.report.rejected)
                return (
                    replace(plan, report=replace(plan.report, rejected=reasons))
                    if len(rejected) > before
                    else plan
                )
        return None

    def has(self, graph: Graph, build: Any, levels: Sequence[str]) -> bool:
        """Returns whether the store has a record for `find`, which may still reject it."""
        return next(self.records(graph, build, [], levels), None) is not None

    def keep(self, graph: Graph, build: Any, plan: Plan) -> None:
        """Stores a plan."""
        if self._store is not None and (content := self._content(graph, build)) is not None:
            self._store.store(content, repr(self._options), *_written(plan))

    def member(self, graph: Graph, build: Any, plan: Plan) -> tuple[str, bytes] | None:
        """Returns the name and the content of an artifact member with a plan; None if the graph has
        no fingerprint or there is no store."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return None
        return self._store.member(content, repr(self._options), *_written(plan))

    def others(self, graph: Graph, build: Any) -> list[str]:
        """Returns why plans in the artifact for this graph are ignored: another GPU, or other
        options."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return []
        return self._store.others(content, repr(self._options))

    def records(
        self, graph: Graph, build: Any, rejected: list[str], levels: Sequence[str]
    ) -> Iterator[Record]:
        """Yields the records for `find`, best first."""
        if self._store is None or (content := self._content(graph, build)) is None:
            return
        version = self._builder.cudnn.version
        for record in self._store.load(content, repr(self._options)):
            if record.level not in levels:
                continue
            if record.level == OFFLINE and record.cudnn != version:
                made, here = version_text(record.cudnn), version_text(version)
                rejected.append(
                    f"{_origin(record, 'plan')}: expected one made with cuDNN {here}, got "
                    f"one made with {made}"
                )
                continue
            yield record

    def text(self, record: Record) -> str:
        """Returns the text to restore a plan from; an empty string if another cuDNN or driver made
        it."""
        assert self._store is not None
        return record.plan if self._store.fits(record) else ""

    def _content(self, graph: Graph, build: Any) -> str | None:
        """Returns the key of a graph in the store. Cached: it is used several times, and recording
        a build function is slow."""
        if graph not in self._contents:
            if build is not None:
                self._contents[graph] = content_of(graph, build)
            elif self._kernels is not None:
                self._contents[graph] = self._kernels.content(graph)
        return self._contents.get(graph)

    def _plan_of(
        self, graph: Graph, build: Any, record: Record, rejected: list[str]
    ) -> Plan | None:
        """Returns the plan of a record. If it cannot be rebuilt, adds the reason to `rejected` and
        returns None."""
        if record.report.get("alternative") is not None:
            return self._restore_alternative(graph, record, rejected)
        if (variant := record.report.get("kernel")) is not None:
            return self._restore_kernel(graph, record, variant)
        if record.report.get("cublaslt") is not None:
            return self._restore_matmul(graph, record)
        self._check_engine(graph, record.report)
        if text := self.text(record):
            try:
                return self._restore(graph, record, text)
            except CudnnError as error:
                rejected.append(f"{_origin(record, 'plan')}: {error}")
        return self._rebuild(graph, build, record, rejected)

    def _is_rebuilt(self, graph: Graph, record: Record, plan: Plan) -> bool:
        """Returns whether the plan of a record was rebuilt and can be stored for later loads."""
        assert self._store is not None
        if not self._store.fits(record):
            return True
        if plan.report.kernel is not None and self._kernels is not None:
            return self._kernels.compiled_anew(graph, plan.report.kernel, record.plan) is not None
        return bool(record.plan) and plan.report.origin != _origin(record, _restored(record))

    def _check_engine(self, graph: Graph, report: Mapping[str, Any]) -> None:
        """Raises ValueError if the engine of a report may not run `graph` any more."""
        reason = self._builder.engine_refusal(
            graph, report["engine"], report["numerical_notes"], report["behavior_notes"]
        )
        if reason is not None:
            message = f"engine {report['engine']} of {graph.name} {reason}"
            raise ValueError(message)

    def _restore_alternative(self, graph: Graph, record: Record, rejected: list[str]) -> Plan:
        assert self._store is not None
        name, alternatives = str(record.report["alternative"]), self._alternatives
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
            plan = self._plan_of(inner, build, replace(record, plan=text, report=report), rejected)
            if plan is None:
                message = f"alternative {name}: step {inner.name}: {rejected[-1]}"
                raise ValueError(message)
            plans.append(alternatives.take_ownership(plan))
        found = alternatives.plan(graph, alternative, plans)
        self._builder.check_workspace(found.report.workspace_bytes)
        origin = _origin(record, _restored(record) if self._store.fits(record) else _REBUILT)
        report = PlanReport.of_record(
            record.report,
            graph,
            origin,
            workspace_bytes=found.report.workspace_bytes,
            steps=found.report.steps,
        )
        return replace(found, report=report)

    def _restore(self, graph: Graph, record: Record, text: str) -> Plan:
        report = PlanReport.of_record(record.report, graph, _origin(record, _restored(record)))
        descriptor, workspace = self._builder.from_text(text)
        return CudnnPlan(replace(report, workspace_bytes=workspace), descriptor)

    def _restore_kernel(self, graph: Graph, record: Record, variant: str) -> Plan:
        reason = self._options.refuses_kernels(graph)
        reason = reason or next(
            (
                self._options.refuses_kernel(graph, each)
                for each in graph.kernels
                if each.variant == variant
            ),
            None,
        )
        if self._kernels is None or reason is not None:
            message = f"kernel {variant}: {reason or 'there is no GPU to run it'}"
            raise ValueError(message)
        plan = self._kernels.restore(graph, variant, self.text(record))
        return replace(
            plan, report=PlanReport.of_record(record.report, graph, _origin(record, "plan"))
        )

    def _restore_matmul(self, graph: Graph, record: Record) -> Plan:
        """Restores a plan of cuBLASLt, which depends neither on cuDNN nor on the driver."""
        if self._matmuls is None:
            message = "cuBLASLt: there is no GPU to run it"
            raise ValueError(message)
        plan = self._matmuls.restore(graph, record.plan, self._builder.check_workspace)
        report = PlanReport.of_record(
            record.report,
            graph,
            _origin(record, "plan"),
            workspace_bytes=plan.report.workspace_bytes,
        )
        return replace(plan, report=report)

    def _rebuild(
        self, graph: Graph, build: Any, record: Record, rejected: list[str]
    ) -> Plan | None:
        with self._builder.operation_graph(graph, build) as operations:
            config = self._builder.config(
                operations, int(record.report["engine"]), dict(record.report["knobs"])
            )
            try:
                plan = self._builder.build(graph, config, rejected)
            finally:
                config.descriptor.close()
        if plan is None:
            return None
        report = PlanReport.of_record(
            record.report,
            graph,
            _origin(record, _REBUILT),
            workspace_bytes=plan.report.workspace_bytes,
            numerical_notes=plan.report.numerical_notes,
            behavior_notes=plan.report.behavior_notes,
        )
        return replace(plan, report=report)


def _origin(record: Record, what: str) -> str:
    """Returns the origin of a plan, or of its engine and knobs."""
    offline = "offline " if record.level == OFFLINE else ""
    return f"{offline}{what} in the artifact" if record.shipped else f"stored {offline}{what}"


def _restored(record: Record) -> str:
    """Returns the part of the origin of a restored plan. It records an earlier rebuild, because the
    plan was measured with another cuDNN or driver."""
    return f"plan made of {_REBUILT}" if _REBUILT in str(record.report.get("origin")) else "plan"


def _written(plan: Plan) -> tuple[str, str, dict[str, Any]]:
    """Returns the level, text and report of a plan, for a record."""
    return plan.report.tuned, plan.text(), asdict(plan.report)
