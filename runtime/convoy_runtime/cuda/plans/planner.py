# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the plan of a graph without measurements.

In this order: the stored plan, a kernel that the artifact prefers, the first engine configuration
of cuDNN's heuristics that the options allow and that finalizes, cuBLASLt's first algorithm, the
first alternative of the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from convoy_runtime.cuda.cudnn.configs import (
    Config,
    EngineSupport,
    engine_configs,
    heuristic_configs,
)
from convoy_runtime.cuda.cudnn.enums import HeurMode
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.errors import CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphAlternative

from .alternatives import Alternatives, StepError
from .build_jobs import Job, Offer, Query
from .builder import PlanBuilder
from .kernel_planner import KernelPlanner
from .kernels import Kernels
from .load_options import LoadOptions
from .matmuls import Matmuls
from .plan import Plan
from .plan_file import OFFLINE
from .store import PlanStore
from .stored_plans import StoredPlans

if TYPE_CHECKING:
    from .build_pool import BuildPool

__all__ = ["Planner"]


class Planner:
    """Chooses the plans of one program.

    Args:
        cudnn: The library.
        options: Restrictions on plans, and whether only stored plans are allowed (`strict`).
        handle: The cuDNN handle of the device to plan for; None on a machine without it.
        device: The properties of that device, if there is no handle.
        store: The plan store.
        kernels: The artifact's kernels; None if there is no device to run them.
        alternatives: The alternatives of the program's graphs.
        matmuls: cuBLASLt; None if there is no device to run it.

    Attributes:
        builder: Builds cuDNN's plans.
        stored: The plans of `store`.
        kernels: The plans of the artifact's kernels.
        alternatives: The argument of this name.

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
        matmuls: Matmuls | None = None,
    ) -> None:
        self.builder = PlanBuilder(cudnn, options.plan_options, handle=handle, device=device)
        self.stored = StoredPlans(self.builder, store, kernels, alternatives, matmuls)
        self.kernels = KernelPlanner(kernels, options, self.stored)
        self.alternatives, self._matmuls = alternatives, matmuls
        self._options, self._strict = options.plan_options, options.strict
        #: Graph and source to the engines and knobs that the heuristics offered in `jobs_ahead`.
        self._offered: dict[tuple[str, str], list[tuple[int, dict[str, int]]]] = {}
        #: The pool's queries, by the same keys.
        self._queries: dict[tuple[str, str], Query] = {}

    def plan(self, graph: Graph, build: Any) -> Plan:
        """Chooses the plan of a graph for a program without tuning.

        Args:
            graph: The graph.
            build: Its native build function; None if it has only kernels.

        Returns:
            The plan.

        Raises:
            CudnnError: cuDNN rejects the operation graph, and there are neither kernels nor
                alternatives.
            PlanError: No plan can be built, or `strict` is set and no plan is stored.
        """
        rejected: list[str] = []
        prefers_kernel, levels = self.kernels.prefers(graph), self.kernels.levels(graph)
        if (known := self.stored.find(graph, build, rejected, levels)) is not None:
            return known
        rejected += self.stored.others(graph, build)
        plan = (
            next(self.kernels.plans(graph, rejected), None)
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
                "`convoy tune` adds plans for this GPU and these options to the artifact; "
                "without strict cuDNN's heuristics choose"
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
                if not graph.alternatives and not graph.kernels:
                    raise
                rejected.append(str(error))
        if plan is None and not prefers_kernel:
            plan = next(self.kernels.plans(graph, rejected), None)
        if plan is None:
            plan = next(self.candidates(graph, None, rejected, ["cublaslt"], limit=1), None)
        if plan is None:
            plan = next(self.by_alternatives(graph, rejected, self._first_of_step), None)
        if plan is None:
            raise self.no_plan(graph, rejected)
        if not self.builder.lacks_memory:
            self.stored.keep(graph, build, plan)
        return plan

    @staticmethod
    def no_plan(graph: Graph, rejected: Iterable[str]) -> PlanError:
        """Returns the error for a graph without a plan."""
        tried = tuple(rejected)
        hint = (
            "relax the PlanOptions, or compile the model again for this GPU (with "
            "allow_tf32=False if TF32 is forbidden)"
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
        support: EngineSupport | None = None,
        most_compiled: int = sys.maxsize,
        slow_kernels: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[Plan]:
        """Yields the plans that can be built for `graph`, source by source.

        Args:
            graph: The graph.
            operations: Its operation graph; None if cuDNN is not used.
            rejected: Receives the reasons for configurations that cannot be built.
            sources: Modes of cuDNN's heuristics; `engines`, every engine with its default knobs;
                `precompiled`, the engines that compile no kernel; `kernels`, the artifact's;
                `cublaslt`, the algorithms of cuBLASLt, which need a `limit`.
            seen: Engine and knobs of the configurations to skip. New ones are added.
            pool: Builds the plans that compile a kernel, after the others of their source.
            progress: Called with the state of the pool's builds.
            skip: Returns whether to skip a configuration of cuDNN, without adding it to `seen`.
            limit: The largest number of plans of one source.
            support: As in `engine_configs`, for `precompiled`.
            most_compiled: The largest number of the pool's plans of one source. Further ones count
                for the limit, and are not built.
            slow_kernels: The variants of the kernels to skip, and why.
        """
        seen = set() if seen is None else seen
        for source in sources:
            if source == "kernels":
                yield from islice(self.kernels.plans(graph, rejected, slow_kernels), limit)
                continue
            if source == "cublaslt":
                if self._matmuls is not None and limit is not None:
                    yield from self._matmuls.plans(
                        graph, rejected, limit, self.builder.check_workspace
                    )
                continue
            assert operations is not None, "plans of cuDNN need an operation graph"
            configs = self._configs(graph, operations, source, rejected, support, pool)
            wanted = sys.maxsize if limit is None else limit
            most = most_compiled
            while wanted:
                later: list[Config] = []
                for config in configs:
                    key = (config.engine, config.knobs)
                    if key in seen or skip(config):
                        continue
                    seen.add(key)
                    if pool is not None and config.compiles:
                        if (reason := self.builder.refusal(graph, config)) is not None:
                            rejected.append(f"{config}: {reason}")
                        elif len(later) < most:
                            later.append(config)
                        else:
                            rejected.append(f"{config}: the program has many plans to compile")
                            wanted -= 1
                    elif (plan := self.builder.build(graph, config, rejected)) is not None:
                        wanted -= 1
                        yield plan
                    if len(later) == wanted:
                        break
                if pool is None or not later:
                    break
                # More configurations replace those that cannot be built.
                for plan in self.builder.build_in_pool(
                    graph, operations, later, rejected, pool, progress
                ):
                    wanted, most = wanted - 1, most - 1
                    yield plan

    def jobs_ahead(self, graph: Graph, build: Any, sources: Iterable[tuple[str, int]]) -> list[Job]:
        """Returns the jobs that `candidates` is known to submit to a pool.

        Args:
            graph: The graph. Errors are ignored; `candidates` raises them.
            build: Its native build function.
            sources: Each source and the number of its configurations.
        """
        jobs: list[Job] = []
        with suppress(CudnnError), self.builder.operation_graph(graph, build) as operations:
            for source, limit in sources:
                jobs += self.jobs(graph, operations, source, limit)
        return jobs

    def jobs(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        source: str,
        limit: int,
        pool: BuildPool | None = None,
    ) -> list[Job]:
        """Returns the jobs that `candidates` is known to submit to a pool for a source.

        Args:
            graph: The graph.
            operations: Its operation graph.
            source: The source; there are no jobs unless it is a mode of the heuristics.
            limit: The number of its configurations.
            pool: The pool, which may have asked the heuristics already.

        Raises:
            CudnnError: cuDNN rejects a configuration that it offered.
        """
        if source not in HeurMode.__members__:
            return []
        offered: list[tuple[int, dict[str, int]]] = []
        jobs: list[Job] = []
        with closing(self._configs(graph, operations, source, [], None, pool)) as configs:
            for config in islice(configs, limit):
                offered.append((config.engine, config.named_knobs))
                if config.compiles and self.builder.refusal(graph, config) is None:
                    jobs.append(Job.of(graph, config))
        # The heuristics for compiled engines take 20 to 60 ms.
        if offered:
            self._offered[graph.name, source] = offered
        return jobs

    def ask_ahead(
        self,
        graph: Graph,
        sources: Iterable[tuple[str, int]],
        pool: BuildPool,
        most_compiled: int,
    ) -> None:
        """Lets the pool ask the heuristics about a graph, and build the plans that compile a
        kernel, when it has nothing else to do.

        Args:
            graph: The graph.
            sources: Each source and the number of its configurations.
            pool: Receives the queries.
            most_compiled: The largest number of plans to build for a source.
        """

        def jobs_of(query: Query, offers: Sequence[Offer]) -> list[Job]:
            return [
                query.job(each.engine, each.knobs)
                for each in offers
                if each.compiles
                and self.builder.engine_refusal(graph, each.engine, each.numerical, each.behavior)
                is None
            ][:most_compiled]

        queries = {
            (graph.name, source): Query.of(graph, source, limit)
            for source, limit in sources
            if source in HeurMode.__members__
        }
        self._queries |= queries
        pool.ask(queries.values(), jobs_of)

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

    def _configs(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        source: str,
        rejected: list[str],
        support: EngineSupport | None,
        pool: BuildPool | None,
    ) -> Generator[Config, None, None]:
        """Yields the configurations of a source, first those that `jobs_ahead` or a query of
        `ask_ahead` found."""
        cudnn, device = self.builder.cudnn, self.builder.device
        if source == "engines":
            yield from engine_configs(cudnn, operations, device, rejected, precompiled=False)
            return
        if source == "precompiled":
            yield from engine_configs(
                cudnn, operations, device, rejected, precompiled=True, support=support
            )
            return
        offered = self._offered.pop((graph.name, source), [])
        query = self._queries.pop((graph.name, source), None)
        if query is not None and pool is not None:
            answer = pool.offers(query)
            if any(each.compiles for each in answer):
                offered = [(each.engine, dict(each.knobs)) for each in answer]
        for rank, (engine, knobs) in enumerate(offered):
            # The heuristics below yield a configuration that cannot be made this way.
            with suppress(CudnnError):
                config = self.builder.config(operations, engine, knobs, source=source, rank=rank)
                with closing(config.descriptor):
                    yield config
        yield from heuristic_configs(cudnn, operations, source, device, rejected)

    def _first_of_step(self, alternative: GraphAlternative, place: int) -> Plan:
        """Returns the untuned plan of a step."""
        assert self.alternatives is not None
        graph, build = self.alternatives.graph(alternative.steps[place])
        try:
            return self.alternatives.take_ownership(self.plan(graph, build))
        except (CudnnError, PlanError) as error:
            raise StepError.of(graph, error) from error
