"""Turns a graph of the manifest into an execution plan: the one that the store knows, or else a
kernel that the artifact prefers, or else the first engine configuration of cuDNN's heuristics that
the options allow and that finalizes, or else the first of its alternatives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from convoy_runtime.cuda.cudnn.configs import Config, config_of, engine_configs, heuristic_configs
from convoy_runtime.cuda.cudnn.enums import BehaviorNote, HeurMode
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.errors import CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphAlternative, GraphKernel

from .alternatives import Alternatives, StepError
from .builder import job_of
from .kernels import Kernels
from .options import PlanOptions
from .plan import Plan
from .store import LEVELS, OFFLINE, PlanStore
from .stored_plans import StoredPlans

if TYPE_CHECKING:
    from .build_pool import BuildPool, Job

__all__ = ["Planner"]


class Planner(StoredPlans):
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
        known: dict[str, Any] = {"store": store, "kernels": kernels, "alternatives": alternatives}
        super().__init__(cudnn, options, handle=handle, device=device, **known)
        self.strict = strict
        #: Engine and knobs that heuristics offered first, by graph and source, where they were
        #: asked ahead.
        self._offered: dict[tuple[str, str], list[tuple[int, dict[str, int]]]] = {}

    def plan(self, graph: Graph, build: Any) -> Plan:
        """The stored plan for `graph`, else, unless `strict`, its first kernel where the artifact
        prefers that, else the first one of the heuristics, else the first of its alternatives whose
        steps have plans. `build` is its native build function, None for a graph that has only
        kernels. Raises CudnnError when the graph itself is refused, and has no alternatives, and
        PlanError when nothing takes it, or nothing is stored and that is `strict`."""
        rejected: list[str] = []
        prefers_kernel = self._prefers_kernel(graph)
        if (known := self.stored(graph, build, rejected, self._levels(graph))) is not None:
            return known
        rejected += self._others(graph, build)
        plan = (
            next(self._kernel_plans(graph, rejected), None)
            if prefers_kernel and not self.strict
            else None
        )
        if (
            plan is None
            and prefers_kernel
            and (known := self.stored(graph, build, rejected, (OFFLINE,))) is not None
        ):
            return known
        if self.strict:
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
                with self.operation_graph(graph, build) as operations:
                    plan = next(
                        self.candidates(graph, operations, rejected, self.options.heuristics), None
                    )
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
        hint = (
            "relax the PlanOptions, or compile the model again for this GPU (with "
            "allow_tf32=False, when TF32 is what is forbidden)"
        )
        return PlanError(
            graph=graph.name, location=graph.location, tried=tried, hint=hint if tried else None
        )

    def _prefers_kernel(self, graph: Graph) -> bool:
        return graph.preference != "plan" and self._kernels is not None

    def _levels(self, graph: Graph) -> Sequence[str]:
        """The levels of work whose plans go before a kernel: what was planned offline was not
        measured either."""
        return LEVELS[1:] if self._prefers_kernel(graph) else LEVELS

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
        leave_out: Callable[[Config], bool] = lambda _: False,
        limit: int | None = None,
    ) -> Iterator[Plan]:
        """Plans that can be built for `graph`, in the order of `sources`, `limit` of each at most:
        modes of the heuristics, `engines` for every engine there is with its default knobs,
        `precompiled` for those of them that compile nothing, or `kernels` for those of the
        artifact. What cannot be built is added to `rejected` with the reason. Configurations in
        `seen` are left out, and new ones go in there. With a `pool`, engines that compile a kernel
        come behind the others of their source; `progress` hears of them. What `leave_out` says of
        `precompiled` is for another time."""
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
                    if key in seen or (source == "precompiled" and leave_out(config)):
                        continue
                    seen.add(key)
                    if pool is not None and BehaviorNote.RUNTIME_COMPILATION in config.behavior:
                        if (reason := self._refusal(graph, config)) is None:
                            later.append(config)
                        else:
                            rejected.append(f"{config}: {reason}")
                    elif (plan := self.build(graph, config, rejected)) is not None:
                        wanted -= 1
                        yield plan
                    if len(later) == wanted:
                        break
                if pool is None or not later:
                    break
                # In place of those that cannot be built others are asked for.
                for plan in self._built(graph, operations, later, rejected, pool, progress):
                    wanted -= 1
                    yield plan

    def compiled_by(
        self, graph: Graph, build: Any, sources: Iterable[tuple[str, int]]
    ) -> list[Job]:
        """What `candidates` with a pool will ask it for, of so many configurations of each source,
        as far as that is known ahead. What is wrong with a graph shows later."""
        jobs: list[Job] = []
        with suppress(CudnnError), self.operation_graph(graph, build) as operations:
            for source, limit in sources:
                if source in HeurMode.__members__:
                    offered: list[tuple[int, dict[str, int]]] = []
                    wanted = len(jobs)
                    with closing(
                        heuristic_configs(self._cudnn, operations, source, self._device, [])
                    ) as configs:
                        for config in islice(configs, limit):
                            offered.append((config.engine, config.named_knobs))
                            if (
                                BehaviorNote.RUNTIME_COMPILATION in config.behavior
                                and self._refusal(graph, config) is None
                            ):
                                jobs.append(job_of(graph, config))
                    # The heuristics for what is compiled take 20 to 60 ms.
                    if len(jobs) > wanted:
                        self._offered[graph.name, source] = offered
        return jobs

    def _configs(
        self, graph: Graph, operations: BackendDescriptor, source: str, rejected: list[str]
    ) -> Iterator[Config]:
        """What a source offers; of heuristics that were asked ahead first what they said then."""
        if source in ("engines", "precompiled"):
            yield from engine_configs(
                self._cudnn, operations, self._device, rejected, precompiled=source == "precompiled"
            )
            return
        for rank, (engine, knobs) in enumerate(self._offered.pop((graph.name, source), ())):
            # One that cannot be made so is among those that follow.
            with suppress(CudnnError):
                config = config_of(
                    self._cudnn, operations, engine, knobs, self._device, source=source, rank=rank
                )
                with closing(config.descriptor):
                    yield config
        yield from heuristic_configs(self._cudnn, operations, source, self._device, rejected)

    def by_alternatives(
        self,
        graph: Graph,
        rejected: list[str],
        plan_of: Callable[[GraphAlternative, int], Plan],
        limit: int | None = None,
    ) -> Iterator[Plan]:
        """`Alternatives.plans` with workspaces that the options and the device allow."""
        if self.alternatives is not None:
            yield from self.alternatives.plans(
                graph, rejected, plan_of, self._check_workspace, limit
            )

    def _first_of_step(self, alternative: GraphAlternative, place: int) -> Plan:
        """What a step runs on where nothing is measured."""
        assert self.alternatives is not None
        graph, build = self.alternatives.graph(alternative.steps[place])
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

    def _usable(self, kernels: Kernels, graph: Graph, rejected: list[str]) -> Iterator[GraphKernel]:
        """The kernels of `graph` that may run; why not the others goes to `rejected`."""
        for kernel in kernels.offered(graph, rejected):
            if (reason := self.options.refuses_kernel(graph, kernel)) is None:
                yield kernel
            else:
                rejected.append(f"kernel {kernel.variant}: {reason}")

    # Kernels are compiled ahead of use.

    def compiling(
        self, graphs: Iterable[tuple[Graph, Any]], tuned: Sequence[str] | None
    ) -> AbstractContextManager[None]:
        """While the `with` lasts, threads compile the kernels that `plan` needs for these graphs
        and their build functions, or, where what is stored has to be of the levels `tuned`, tuning.
        What the store turns out not to give is compiled when it is asked for."""
        if self._kernels is None:
            return nullcontext()
        return self._kernels.compiling(
            [kernel for graph, build in graphs for kernel in self._to_compile(graph, build, tuned)]
        )

    def wait_for_kernels(self) -> None:
        """Returns when nothing is being compiled, and all cores are free."""
        if self._kernels is not None:
            self._kernels.wait()

    def _to_compile(
        self, graph: Graph, build: Any, tuned: Sequence[str] | None
    ) -> Sequence[GraphKernel]:
        if self._kernels is None or not graph.kernels or self._refuses_kernels(graph) is not None:
            return ()
        record = next(
            self._records(graph, build, [], self._levels(graph) if tuned is None else tuned), None
        )
        if record is not None:
            variant = record.report.get("kernel")
            kernel = (
                None
                if variant is None
                else self._kernels.compiled_anew(graph, variant, self._text(record))
            )
            return () if kernel is None else (kernel,)
        offered = list(self._usable(self._kernels, graph, []))
        if tuned is not None:
            return offered
        return offered[:1] if self._prefers_kernel(graph) and not self.strict else ()
