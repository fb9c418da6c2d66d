# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The artifact's kernels for graphs, as plans: they are chosen, measured, checked and stored like
cuDNN's."""

from __future__ import annotations

import base64
import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convoy_runtime._abi import pointer_array
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.driver.dependent_launch import launch_dependent
from convoy_runtime.cuda.driver.device import Device, Driver
from convoy_runtime.cuda.driver.ptx import PtxCompiler, identity_of, load_code
from convoy_runtime.cuda.driver.tensor_map import tensor_map
from convoy_runtime.errors import ArtifactError, CudaError
from convoy_runtime.manifest import Graph, GraphKernel, kernel_member
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.ptx_members import unpack_ptx
from convoy_runtime.value_types import value_type

from .fingerprint import kernels_fingerprint
from .plan import Plan, Queue

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["KernelPlan", "Kernels", "allow_shared", "launch"]

#: The shared memory in bytes that a kernel may use without an attribute.
_SHARED_BYTES = 48 << 10


def allow_shared(driver: Driver, function: Any, size: int) -> None:
    """Allows the kernel `function` to use `size` bytes of dynamic shared memory. Raises
    CudaError."""
    if size > _SHARED_BYTES:
        attribute = (
            driver.module.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        )
        driver.call("cuFuncSetAttribute", function, attribute, size)


def launch(
    queue: Queue,
    function: Any,
    grid: Sequence[int],
    block: Sequence[int],
    shared_bytes: int,
    arguments: int,
    count: int,
    others: Sequence[int] = (),
) -> None:
    """Enqueues a kernel.

    Args:
        queue: The stream.
        function: The CUfunction.
        grid: The number of blocks in each dimension.
        block: The number of threads of a block in each dimension.
        shared_bytes: The dynamic shared memory in bytes.
        arguments: The host address of the kernel's arguments that are pointers.
        count: Their number.
        others: The host addresses of the arguments after them.

    Raises:
        CudaError: The driver rejects the launch.
    """
    # The driver expects the address of each argument.
    step = ctypes.sizeof(ctypes.c_void_p)
    addresses = (ctypes.c_void_p * max(1, count + len(others)))(
        *(arguments + index * step for index in range(count)), *others
    )
    place = ctypes.addressof(addresses)
    if queue.dependent_launch:
        launch_dependent(queue.driver, function, grid, block, shared_bytes, queue.stream, place)
    else:
        queue.driver.call(
            "cuLaunchKernel", function, *grid, *block, shared_bytes, queue.stream, place, 0
        )


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel on the device.

    Attributes:
        kernel: The kernel of the manifest.
        function: The CUfunction.
        image: Its machine code for this GPU.
        ptx: Identifies the PTX that the machine code was compiled from.
    """

    kernel: GraphKernel
    function: Any
    image: bytes
    ptx: str


@value_type(frozen=True, slots=True)
class KernelPlan(Plan):
    """Runs a kernel. It is valid as long as the `Kernels` that made it. Its text identifies the
    kernel's PTX, and has the machine code in base64."""

    loaded: LoadedKernel

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
        kernel, values = self.loaded.kernel, pointer_array(list(pointers))
        sizes = (kernel.grid, 1, 1), (kernel.block, 1, 1), kernel.shared_bytes
        # The driver copies arguments when it enqueues a kernel.
        maps = [
            tensor_map(queue.driver, pointers[each.tensor], graph.tensors[each.tensor].dtype, each)
            for each in kernel.tensor_maps
        ]
        number = ctypes.c_int32()
        others = [each.getPtr() for each in maps]
        if kernel.launches:
            others.append(ctypes.addressof(number))
        for number.value in range(max(1, kernel.launches)):
            launch(
                queue,
                self.loaded.function,
                *sizes,
                ctypes.addressof(values),
                len(pointers),
                others,
            )

    def text(self) -> str:
        return f"{self.loaded.ptx}:{base64.b64encode(self.loaded.image).decode()}"

    def close(self) -> None:
        pass


def _other_gpu(chip: str, here: int) -> str | None:
    """Returns the GPU that a kernel for `chip` requires; None if a GPU of compute capability `here`
    runs it. Kernels for an architecture such as sm_90a run on that one only."""
    number = int(chip.removeprefix("sm_").removesuffix("a"))
    if chip.endswith("a"):
        return chip if number != here else None
    return f"at least {chip}" if number > here else None


class Kernels:
    """Compiles the artifact's kernels for graphs on demand.

    Args:
        device: The GPU, which is current.
        artifact: The artifact.

    Attributes:
        others: Other kernels that a thread compiles, if any.
    """

    def __init__(self, device: Device, artifact: Artifact) -> None:
        self._device, self._members, self._files = device, artifact.members, artifact.manifest.files
        self._compiler = PtxCompiler(device, self._text)
        self._modules: list[Any] = []
        self.others: Future[Any] | None = None

    def offered(self, graph: Graph, rejected: list[str]) -> Iterator[GraphKernel]:
        """Yields the kernels of `graph` that this GPU can run, in the order of the artifact. Adds
        the reasons for rejected kernels to `rejected`."""
        here = self._device.capability
        shared = self._device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN") if graph.kernels else 0
        for kernel in graph.kernels:
            if (wanted := _other_gpu(kernel.chip, here)) is not None:
                rejected.append(
                    f"kernel {kernel.variant}: expected a GPU of {wanted}, got sm_{here}"
                )
            elif kernel.shared_bytes > shared:
                wanted = (
                    f"expected a GPU with {kernel.shared_bytes} bytes of shared memory for a block"
                )
                rejected.append(f"kernel {kernel.variant}: {wanted}, got {shared}")
            else:
                yield kernel

    def compiling(self, kernels: Iterable[GraphKernel]) -> AbstractContextManager[None]:
        """Compiles these kernels in order on threads inside the `with`. `plan` and `restore` use
        the results and raise the errors."""
        return self._compiler.ahead([kernel_member(kernel.name) for kernel in kernels])

    def wait(self) -> None:
        """Returns when no kernel is being compiled."""
        self._compiler.wait()
        if self.others is not None:
            self.others.exception()

    def plan(self, graph: Graph, kernel: GraphKernel, rejected: Sequence[str] = ()) -> KernelPlan:
        """Returns `kernel` as a plan of `graph`. Raises ArtifactError if the driver rejects its
        PTX."""
        try:
            return self._plan(
                graph, kernel, self._compiler.machine_code(kernel_member(kernel.name)), rejected
            )
        except CudaError as error:
            raise ArtifactError(
                problem=f"kernel {kernel.name} cannot be loaded: {error}",
                member=kernel_member(kernel.name),
            ) from error

    def restore(self, graph: Graph, variant: str, text: str) -> KernelPlan:
        """Restores the plan of a kernel from the text of an earlier plan. The kernel is compiled if
        the text was made from other PTX.

        Args:
            graph: The graph.
            variant: The variant of the kernel.
            text: The text of the earlier plan.

        Returns:
            The plan.

        Raises:
            ValueError: The artifact has no such kernel for this GPU, or `text` has no valid machine
                code.
            ArtifactError: The driver rejects the PTX.
        """
        kernel = self._offered(graph, variant)
        if kernel is None:
            offered = ", ".join(each.variant for each in self.offered(graph, [])) or "none"
            message = f"kernel {variant}: expected one of the artifact, got {offered}"
            raise ValueError(message)
        if not self._is_of(kernel, text):
            return self.plan(graph, kernel)
        try:
            return self._plan(
                graph, kernel, base64.b64decode(text.partition(":")[2], validate=True)
            )
        except (CudaError, ValueError) as error:
            message = f"kernel {variant}: its machine code cannot be loaded: {error}"
            raise ValueError(message) from error

    def compiled_anew(self, graph: Graph, variant: str, text: str) -> GraphKernel | None:
        """Returns the kernel that `restore` has to compile; None if it restores `text`."""
        kernel = self._offered(graph, variant)
        return None if kernel is None or self._is_of(kernel, text) else kernel

    def content(self, graph: Graph) -> str:
        """Returns the store key of a graph that has only kernels."""
        return kernels_fingerprint(graph, self._members)

    def close(self) -> None:
        """Unloads all kernels. Graphs captured from them must not run afterwards."""
        for module in self._modules:
            with suppress(CudaError):
                self._device.driver.call("cuModuleUnload", module)
        self._modules.clear()

    def _plan(
        self, graph: Graph, kernel: GraphKernel, image: bytes, rejected: Sequence[str] = ()
    ) -> KernelPlan:
        """Returns `kernel` as a plan of `graph`, from machine code. Raises CudaError."""
        module = load_code(self._device, image)
        self._modules.append(module)
        function = self._device.driver.call("cuModuleGetFunction", module, kernel.name.encode())
        allow_shared(self._device.driver, function, kernel.shared_bytes)
        report = PlanReport(
            graph=graph.name, location=graph.location, engine=None, kernel=kernel.variant,
            knobs={}, numerical_notes=(), behavior_notes=(),
            workspace_bytes=0, heuristic="kernels", rank=graph.kernels.index(kernel),
            rejected=tuple(rejected), origin="kernel",
        )  # fmt: skip
        return KernelPlan(report, LoadedKernel(kernel, function, image, self._identity(kernel)))

    def _text(self, member: str) -> bytes:
        return unpack_ptx(self._members[member], member)

    def _offered(self, graph: Graph, variant: str) -> GraphKernel | None:
        return next((each for each in self.offered(graph, []) if each.variant == variant), None)

    def _is_of(self, kernel: GraphKernel, text: str) -> bool:
        """Returns whether `text` has the machine code of this kernel. The same variant from another
        version of the compiler, or for a graph of another name, has other code."""
        return text.partition(":")[0] == self._identity(kernel)

    def _identity(self, kernel: GraphKernel) -> str:
        return identity_of(self._device, self._files[kernel_member(kernel.name)].sha256)
