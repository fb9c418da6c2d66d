"""Chooses the plan of a graph without measuring any.

In this order: the stored plan, a kernel that the artifact prefers, the first engine configuration
of cuDNN's heuristics that the options allow and that finalizes, the first of the graph's
alternatives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from convoy_runtime.cuda.cudnn.configs import Config, engine_configs, heuristic_configs
from convoy_runtime.cuda.cudnn.enums import BehaviorNote, HeurMode
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.errors import CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphAlternative, GraphKernel

from .alternatives import Alternatives, StepError
from .builder import PlanBuilder, job_of
from .kernels import Kernels
from .load_options import LoadOptions
from .plan import Plan
from .store import LEVELS, OFFLINE, PlanStore
from .stored_plans import StoredPlans

if TYPE_CHECKING:
    from .build_pool import BuildPool, Job

__all__ = ["Planner"]


class Planner:
    """Chooses the plans of one program.

    Args:
        cudnn: The library.
        options: Restrictions on plans, and whether they have to be stored (`strict`).
        handle: The cuDNN handle of the device to plan for; None on a machine without it.
        device: The properties of that device, where there is no handle.
        store: Plans of earlier loads.
        kernels: The artifact's kernels, where the device can run them.
        alternatives: The alternatives of the program's graphs.

    Attributes:
        builder: Builds cuDNN's plans.
        stored: The plans of `store`.
        alternatives: As given.

    Raises:
        DeviceError: cuBLASLt is missing.
    """

    def __init__(
        self,
        cudnn: Cudnn,
        options: LoadOptions,
        *,
        handle: int | None,
        device: BackendDescriptor | None = None,
        store: PlanStore | None = None,
        kernels: Kernels | None = None,
        alternatives: Alternatives | None = None,
    ) -> None:
        self.builder = PlanBuilder(cudnn, options.plan_options, handle=handle, device=device)
        self.stored = StoredPlans(self.builder, store, kernels, alternatives)
        self.alternatives = alternatives
        self._options, self._strict, self._kernels = options.plan_options, options.strict, kernels
        #: Engine and knobs that heuristics offered first, by graph and source, where `jobs_ahead`
        #: ran them.
        self._offered: dict[tuple[str, str], list[tuple[int, dict[str, int]]]] = {}

    def plan(self, graph: Graph, build: Any) -> Plan:
        """Returns the plan that a program without tuning runs `graph` on.

        Args:
            graph: The graph.
            build: Its native build function; None if it has only kernels.

        Raises:
            CudnnError: cuDNN refuses the graph itself, which has no alternatives.
            PlanError: Nothing accepts the graph, or `strict` is set and no plan is stored.
        """
        rejected: list[str] = []
        prefers_kernel = self._prefers_kernel(graph)
        if (known := self.stored.find(graph, build, rejected, self._levels(graph))) is not None:
            return known
        rejected += self.stored.others(graph, build)
        plan = (
            next(self._kernel_plans(graph, rejected), None)
            if prefers_kernel and not self._strict
            else None
        )
        if (
            plan is None
            and prefers_kernel
            and (known := self.stored.find(graph, build, rejected, (OFFLINE,))) is not None
        ):
            return known
        if self._strict:
            hint = (
                "`convoy tune` puts plans for this GPU and these options into the artifact; "
                "without strict the heuristics are asked"
            )
            raise PlanError(
                graph=graph.name,
                location=graph.location,
                tried=tuple(rejected),
                hint=hint,
                strict=True,
            )
        if plan is None and build is not None:
            try:
                with self.builder.operation_graph(graph, build) as operations:
                    plan = next(
                        self.candidates(graph, operations, rejected, self._options.heuristics), None
                    )
            except CudnnError as error:
                if not graph.alternatives:
                    raise
                rejected.append(str(error))
        if plan is None:
            plan = next(self.by_alternatives(graph, rejected, self._first_of_step), None)
        if plan is None:
            raise self.no_plan(graph, rejected)
        if not self.builder.lacks_memory:
            self.stored.keep(graph, build, plan)
        return plan

    @staticmethod
    def no_plan(graph: Graph, rejected: Iterable[str]) -> PlanError:
        """Returns the error for a graph that nothing accepts."""
        tried = tuple(rejected)
        hint = (
            "relax the PlanOptions, or compile the model again for this GPU (with "
            "allow_tf32=False, when TF32 is what is forbidden)"
        )
        return PlanError(
            graph=graph.name, location=graph.location, tried=tried, hint=hint if tried else None
        )

    def candidates(
        self,
        graph: Graph,
        operations: BackendDescriptor | None,
        rejected: list[str],
        sources: Iterable[str],
        seen: set[tuple[object, ...]] | None = None,
        pool: BuildPool | None = None,
        progress: Callable[[str], None] = lambda _: None,
        skip: Callable[[Config], bool] = lambda _: False,
        limit: int | None = None,
    ) -> Iterator[Plan]:
        """Yields the plans that can be built for `graph`, source by source.

        Args:
            graph: The graph.
            operations: Its operation graph; None if it has only kernels.
            rejected: Receives the reasons why configurations cannot be built.
            sources: Modes of cuDNN's heuristics; `engines`, every engine with its default knobs;
                `precompiled`, those of them that compile no kernel; `kernels`, the artifact's.
            seen: Engine and knobs of the configurations to skip. New ones are added.
            pool: Builds the plans that compile a kernel, after the others of their source.
            progress: Called with the state of the pool's builds.
            skip: Says which configurations of `precompiled` to leave out, without adding them to
                `seen`.
            limit: The most plans of one source.
        """
        seen = set() if seen is None else seen
        for source in sources:
            if source == "kernels":
                yield from self._kernel_plans(graph, rejected)
                continue
            assert operations is not None, "only a graph's kernels need no operation graph"
            configs = self._configs(graph, operations, source, rejected)
            wanted = sys.maxsize if limit is None else limit
            while wanted:
                later: list[Config] = []
                for config in configs:
                    key = (config.engine, config.knobs)
                    if key in seen or (source == "precompiled" and skip(config)):
                        continue
                    seen.add(key)
                    if pool is not None and BehaviorNote.RUNTIME_COMPILATION in config.behavior:
                        if (reason := self.builder.refusal(graph, config)) is None:
                            later.append(config)
                        else:
                            rejected.append(f"{config}: {reason}")
                    elif (plan := self.builder.build(graph, config, rejected)) is not None:
                        wanted -= 1
                        yield plan
                    if len(later) == wanted:
                        break
                if pool is None or not later:
                    break
                # Further configurations replace those that cannot be built.
                for plan in self.builder.build_in_pool(
                    graph, operations, later, rejected, pool, progress
                ):
                    wanted -= 1
                    yield plan

    def jobs_ahead(self, graph: Graph, build: Any, sources: Iterable[tuple[str, int]]) -> list[Job]:
        """Returns the jobs that `candidates` will give to a pool, as far as they are known ahead.

        Args:
            graph: The graph. Errors in it are left for later.
            build: Its native build function.
            sources: Each source and the number of its configurations.
        """
        jobs: list[Job] = []
        with suppress(CudnnError), self.builder.operation_graph(graph, build) as operations:
            for source, limit in sources:
                if source in HeurMode.__members__:
                    offered: list[tuple[int, dict[str, int]]] = []
                    before = len(jobs)
                    with closing(
                        heuristic_configs(
                            self.builder.cudnn, operations, source, self.builder.device, []
                        )
                    ) as configs:
                        for config in islice(configs, limit):
                            offered.append((config.engine, config.named_knobs))
                            if (
                                BehaviorNote.RUNTIME_COMPILATION in config.behavior
                                and self.builder.refusal(graph, config) is None
                            ):
                                jobs.append(job_of(graph, config))
                    # The heuristics for compiled engines take 20 to 60 ms.
                    if len(jobs) > before:
                        self._offered[graph.name, source] = offered
        return jobs

    def by_alternatives(
        self,
        graph: Graph,
        rejected: list[str],
        plan_of: Callable[[GraphAlternative, int], Plan],
        limit: int | None = None,
    ) -> Iterator[Plan]:
        """Yields `Alternatives.plans` with workspaces that the options and the device allow."""
        if self.alternatives is not None:
            yield from self.alternatives.plans(
                graph, rejected, plan_of, self.builder.check_workspace, limit
            )

    def compiling(
        self, graphs: Iterable[tuple[Graph, Any]], tuned: Sequence[str] | None
    ) -> AbstractContextManager[None]:
        """Compiles kernels on threads while the `with` lasts.

        Args:
            graphs: The graphs that are planned in it, and their build functions. Kernels that turn
                out to be needed because the store's plans are refused are compiled on demand.
            tuned: The levels whose stored plans make tuning unnecessary; None without tuning.
        """
        if self._kernels is None:
            return nullcontext()
        return self._kernels.compiling(
            [kernel for graph, build in graphs for kernel in self._to_compile(graph, build, tuned)]
        )

    def wait_for_kernels(self) -> None:
        """Returns when no kernel is being compiled, and all cores are free."""
        if self._kernels is not None:
            self._kernels.wait()

    def _prefers_kernel(self, graph: Graph) -> bool:
        return graph.preference != "plan" and self._kernels is not None

    def _levels(self, graph: Graph) -> Sequence[str]:
        """Returns the levels whose stored plans go before a kernel. Offline plans do not: they were
        not measured either."""
        return LEVELS[1:] if self._prefers_kernel(graph) else LEVELS

    def _configs(
        self, graph: Graph, operations: BackendDescriptor, source: str, rejected: list[str]
    ) -> Iterator[Config]:
        """Yields the configurations of a source. What `jobs_ahead` found comes first."""
        cudnn, device = self.builder.cudnn, self.builder.device
        if source in ("engines", "precompiled"):
            yield from engine_configs(
                cudnn, operations, device, rejected, precompiled=source == "precompiled"
            )
            return
        for rank, (engine, knobs) in enumerate(self._offered.pop((graph.name, source), ())):
            # One that cannot be made in this way is among those that follow.
            with suppress(CudnnError):
                config = self.builder.config(operations, engine, knobs, source=source, rank=rank)
                with closing(config.descriptor):
                    yield config
        yield from heuristic_configs(cudnn, operations, source, device, rejected)

    def _first_of_step(self, alternative: GraphAlternative, place: int) -> Plan:
        """Returns the plan of a step where nothing is measured."""
        assert self.alternatives is not None
        graph, build = self.alternatives.graph(alternative.steps[place])
        try:
            return self.alternatives.own(self.plan(graph, build))
        except (CudnnError, PlanError) as error:
            raise StepError.of(graph, error) from error

    def _kernel_plans(self, graph: Graph, rejected: list[str]) -> Iterator[Plan]:
        if self._kernels is None or not graph.kernels:
            return
        if (reason := self._options.refuses_kernels(graph)) is not None:
            rejected.append(f"kernels: {reason}")
            return
        for kernel in self._usable(self._kernels, graph, rejected):
            yield self._kernels.plan(graph, kernel, rejected)

    def _usable(self, kernels: Kernels, graph: Graph, rejected: list[str]) -> Iterator[GraphKernel]:
        """Yields the kernels of `graph` that may run. Adds the reasons against others to
        `rejected`."""
        for kernel in kernels.offered(graph, rejected):
            if (reason := self._options.refuses_kernel(graph, kernel)) is None:
                yield kernel
            else:
                rejected.append(f"kernel {kernel.variant}: {reason}")

    def _to_compile(
        self, graph: Graph, build: Any, tuned: Sequence[str] | None
    ) -> Sequence[GraphKernel]:
        """Returns the kernels that planning or tuning `graph` needs, as far as is known ahead."""
        if (
            self._kernels is None
            or not graph.kernels
            or self._options.refuses_kernels(graph) is not None
        ):
            return ()
        levels = self._levels(graph) if tuned is None else tuned
        record = next(self.stored.records(graph, build, [], levels), None)
        if record is not None:
            variant = record.report.get("kernel")
            kernel = (
                None
                if variant is None
                else self._kernels.compiled_anew(graph, variant, self.stored.text(record))
            )
            return () if kernel is None else (kernel,)
        offered = list(self._usable(self._kernels, graph, []))
        if tuned is not None:
            return offered
        return offered[:1] if self._prefers_kernel(graph) and not self._strict else ()
