# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""cuBLASLt's algorithms for matrix products, as plans: they are measured, checked and stored like
cuDNN's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from convoy_runtime.cuda.cublaslt.errata import erratum
from convoy_runtime.cuda.cublaslt.library import CublasLt, version_text
from convoy_runtime.cuda.cublaslt.matmul import Algorithm, Product, create_handle
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.errors import DeviceError
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.value_types import value_type

from .builder import WorkspaceTooLarge
from .matmul_options import allowed_reductions, max_workspace, refuses_cublaslt
from .options import PlanOptions
from .plan import Plan, Queue

__all__ = ["MatmulPlan", "Matmuls"]


@dataclass(frozen=True, eq=False)
class LoadedAlgorithm:
    """An algorithm for a product on the device.

    Attributes:
        product: The product.
        algorithm: The algorithm.
        version: The version of cuBLASLt that made it.
    """

    product: Product
    algorithm: Algorithm
    version: int


@value_type(frozen=True, slots=True)
class MatmulPlan(Plan):
    """Runs a matrix product with cuBLASLt. It is valid as long as the `Matmuls` that made it. Its
    text is cuBLASLt's version and the cublasLtMatmulAlgo_t in hexadecimal."""

    loaded: LoadedAlgorithm

    @property
    def code(self) -> object:
        return self.loaded

    def enqueue(
        self,
        queue: Queue,
        graph: Graph,
        pointers: Sequence[int],
        workspace: int,
        *,
        call: int | None = None,
        location: str | None = None,
    ) -> None:
        what = f"graph {graph.name}" if call is None else f"graph {graph.name}, call {call}"
        self.loaded.product.run(
            self.loaded.algorithm, pointers, workspace, queue.stream, what=what, location=location
        )

    def text(self) -> str:
        return f"{self.loaded.version}:{self.loaded.algorithm.data.hex()}"

    def close(self) -> None:
        pass


class Matmuls:
    """Makes plans of cuBLASLt's algorithms. Library, handle and descriptors are created on first
    use.

    Args:
        cudnn: cuDNN, which depends on cuBLASLt.
        options: Restrictions on plans.
    """

    def __init__(self, cudnn: Cudnn, options: PlanOptions) -> None:
        self._cudnn, self._options = cudnn, options
        self._stack = ExitStack()
        self._opened: tuple[CublasLt, int] | None = None
        self._products: dict[Graph, Product] = {}

    def plans(
        self,
        graph: Graph,
        rejected: list[str],
        limit: int,
        check_workspace: Callable[[int], None],
    ) -> Iterator[Plan]:
        """Yields plans of the algorithms that cuBLASLt expects to be the fastest.

        Args:
            graph: The graph. If it is no product, there are none.
            rejected: Receives the reasons for rejected algorithms.
            limit: The largest number of algorithms.
            check_workspace: Raises WorkspaceTooLarge.
        """
        if graph.matmul is None:
            return
        if (reason := refuses_cublaslt(self._options, graph)) is not None:
            rejected.append(f"cuBLASLt: {reason}")
            return
        try:
            product = self._product(graph)
            found = product.algorithms(
                limit, max_workspace(self._options), allowed_reductions(self._options, graph)
            )
        except DeviceError as error:
            rejected.append(f"cuBLASLt: {_first_line(error)}")
            return
        if not found:
            rejected.append("cuBLASLt: it has no algorithm")
        for rank, algorithm in enumerate(found):
            try:
                self._check(graph, algorithm)
                check_workspace(algorithm.workspace_bytes)
            except (ValueError, WorkspaceTooLarge) as error:
                rejected.append(f"cublaslt[{rank}] cuBLASLt {algorithm.number}: {error}")
                continue
            yield self._plan(graph, product, algorithm, rank, rejected)

    def restore(
        self, graph: Graph, text: str, check_workspace: Callable[[int], None]
    ) -> MatmulPlan:
        """Restores a plan, without cuBLASLt's heuristics.

        Args:
            graph: The graph.
            text: The text of the earlier plan.
            check_workspace: Raises WorkspaceTooLarge.

        Returns:
            The plan.

        Raises:
            ValueError: The graph is no product, the options forbid cuBLASLt or the algorithm,
                another version of cuBLASLt made it, cuBLASLt rejects it, or `text` is malformed.
            WorkspaceTooLarge: The workspace exceeds a limit.
        """
        if graph.matmul is None:
            message = "cuBLASLt: the graph is no matrix product"
            raise ValueError(message)
        if (reason := refuses_cublaslt(self._options, graph)) is not None:
            message = f"cuBLASLt: {reason}"
            raise ValueError(message)
        version, _, data = text.partition(":")
        try:
            product, here = self._product(graph), self._open()[0].version
            if int(version) != here:
                message = (
                    f"expected an algorithm of cuBLASLt {version_text(here)}, got one of "
                    f"{version_text(int(version))}"
                )
                raise ValueError(message)
            algorithm = product.check(bytes.fromhex(data))
        except DeviceError as error:
            message = f"cuBLASLt: {_first_line(error)}"
            raise ValueError(message) from error
        self._check(graph, algorithm)
        check_workspace(algorithm.workspace_bytes)
        return self._plan(graph, product, algorithm, 0, ())

    def close(self) -> None:
        """Destroys all handles and descriptors. Graphs captured from the plans must not run
        afterwards."""
        self._products.clear()
        self._opened = None
        self._stack.close()

    def _open(self) -> tuple[CublasLt, int]:
        """Returns cuBLASLt and a handle for the current device. Raises DeviceError."""
        if self._opened is None:
            library = CublasLt(self._cudnn.require_cublaslt())
            self._opened = library, create_handle(library, self._stack)
        return self._opened

    def _product(self, graph: Graph) -> Product:
        """Returns the product of a graph. Raises DeviceError."""
        if graph not in self._products:
            library, handle = self._open()
            tf32 = self._options.allow_tf32
            self._products[graph] = Product(library, handle, graph, self._stack, tf32=tf32)
        return self._products[graph]

    def _check(self, graph: Graph, algorithm: Algorithm) -> None:
        """Raises ValueError if the options forbid an algorithm, or it is known to be wrong."""
        if (problem := erratum(graph, algorithm)) is not None:
            raise ValueError(problem)
        reduction = algorithm.reduction
        if reduction & ~allowed_reductions(self._options, graph):
            message = (
                f"it splits sums with the reduction {reduction.name or int(reduction)}, which the "
                "options forbid"
            )
            raise ValueError(message)

    def _plan(
        self,
        graph: Graph,
        product: Product,
        algorithm: Algorithm,
        rank: int,
        rejected: Sequence[str],
    ) -> MatmulPlan:
        report = PlanReport(
            graph=graph.name, location=graph.location, engine=None, cublaslt=algorithm.number,
            knobs=algorithm.parameters, numerical_notes=(), behavior_notes=(),
            workspace_bytes=algorithm.workspace_bytes, heuristic="cublaslt", rank=rank,
            rejected=tuple(rejected), origin="cuBLASLt",
        )  # fmt: skip
        return MatmulPlan(report, LoadedAlgorithm(product, algorithm, self._open()[0].version))


def _first_line(error: DeviceError) -> str:
    """Returns the message of an error without its hint."""
    return str(error).partition("\n")[0]
