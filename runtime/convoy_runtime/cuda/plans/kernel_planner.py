# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the artifact's kernels that may run a graph, and those that are compiled ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any

from convoy_runtime.manifest import Graph, GraphKernel

from .kernels import Kernels
from .load_options import LoadOptions
from .plan import Plan
from .plan_file import LEVELS
from .stored_plans import StoredPlans

__all__ = ["KernelPlanner"]


class KernelPlanner:
    """Makes plans of the artifact's kernels that the options allow.

    Args:
        kernels: The kernels; None if there is no device to run them.
        options: Restrictions on plans, and whether only stored plans are allowed (`strict`).
        stored: The stored plans.
    """

    def __init__(self, kernels: Kernels | None, options: LoadOptions, stored: StoredPlans) -> None:
        self._kernels, self._stored = kernels, stored
        self._options, self._strict = options.plan_options, options.strict

    def prefers(self, graph: Graph) -> bool:
        """Returns whether a kernel of `graph` has priority over cuDNN's heuristics."""
        return graph.preference != "plan" and self._kernels is not None

    def levels(self, graph: Graph) -> Sequence[str]:
        """Returns the levels whose stored plans have priority over a kernel. Offline plans do not,
        because they are not measured either."""
        return LEVELS[1:] if self.prefers(graph) else LEVELS

    def variants(self, graph: Graph) -> list[str]:
        """Returns the variants of the kernels of `graph` that may run."""
        if self._kernels is None or self._options.refuses_kernels(graph) is not None:
            return []
        return [kernel.variant for kernel in self._usable(self._kernels, graph, [])]

    def plans(
        self,
        graph: Graph,
        rejected: list[str],
        slow: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[Plan]:
        """Yields the plans of the kernels of a graph.

        Args:
            graph: The graph.
            rejected: Receives the reasons for rejected kernels.
            slow: The variants to skip, and why.

        Yields:
            The plans, in the order of the artifact.

        Raises:
            ArtifactError: The driver rejects a kernel.
        """
        if self._kernels is None or not graph.kernels:
            return
        if (reason := self._options.refuses_kernels(graph)) is not None:
            rejected.append(f"kernels: {reason}")
            return
        for kernel in self._usable(self._kernels, graph, rejected):
            if (reason := slow.get(kernel.variant)) is not None:
                rejected.append(f"kernel {kernel.variant}: {reason}")
            else:
                yield self._kernels.plan(graph, kernel, rejected)

    def compiling(
        self, graphs: Iterable[tuple[Graph, Any]], tuned: Sequence[str] | None
    ) -> AbstractContextManager[None]:
        """Compiles kernels on threads inside the `with`.

        Args:
            graphs: The graphs to plan, and their build functions. Kernels that are needed because
                stored plans are rejected are compiled on demand.
            tuned: The levels whose stored plans make tuning unnecessary; None without tuning.
        """
        if self._kernels is None:
            return nullcontext()
        return self._kernels.compiling(
            [
                kernel
                for graph, build in graphs
                for kernel in self._to_compile(self._kernels, graph, build, tuned)
            ]
        )

    def wait(self) -> None:
        """Returns when no kernel is being compiled, and all cores are free."""
        if self._kernels is not None:
            self._kernels.wait()

    def _usable(self, kernels: Kernels, graph: Graph, rejected: list[str]) -> Iterator[GraphKernel]:
        """Yields the kernels of `graph` that may run. Adds the reasons for rejected kernels to
        `rejected`."""
        for kernel in kernels.offered(graph, rejected):
            if (reason := self._options.refuses_kernel(graph, kernel)) is None:
                yield kernel
            else:
                rejected.append(f"kernel {kernel.variant}: {reason}")

    def _to_compile(
        self, kernels: Kernels, graph: Graph, build: Any, tuned: Sequence[str] | None
    ) -> Sequence[GraphKernel]:
        """Returns the kernels that are known to be needed to plan or tune `graph`."""
        if not graph.kernels or self._options.refuses_kernels(graph) is not None:
            return ()
        levels = self.levels(graph) if tuned is None else tuned
        record = next(self._stored.records(graph, build, [], levels), None)
        if record is not None:
            variant = record.report.get("kernel")
            kernel = (
                None
                if variant is None
                else kernels.compiled_anew(graph, variant, self._stored.text(record))
            )
            return () if kernel is None else (kernel,)
        offered = list(self._usable(kernels, graph, []))
        if tuned is not None:
            return offered
        return offered[:1] if self.prefers(graph) and not self._strict else ()
