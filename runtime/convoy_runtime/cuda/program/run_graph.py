# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The CUDA graph of a program. It begins with a kernel that copies the inputs of a run into the
static buffers: native code sets the kernel's parameters before the launch (`convoy_begin_run`).
Another kernel copies the outputs after it (`convoy_end_run`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

from convoy_runtime._abi import COPY_THREADS, ConvoyCopies, ConvoyCopy, ConvoyGraph
from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.driver.ptx import load_ptx
from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.cuda.plans.kernels import launch
from convoy_runtime.cuda.plans.plan import Queue

from .resources import call_quietly

__all__ = ["CopyKernels", "RunGraph", "WindowCopies"]

#: The number of copies of each kernel of `convoy_copy_kernels`.
_COPIES: Final = (8, 80)
#: The kernels compute places in 32 bits.
_MOST_BYTES: Final = (1 << 31) - 1
#: The bytes for each thread, and the most blocks of all copies, which fill a large GPU.
_THREAD_BYTES: Final = 16
_MOST_BLOCKS: Final = 2048


class CopyKernels:
    """The kernels of `convoy_copy_kernels` on a GPU, which programs share. The driver compiles them
    on first use.

    Args:
        device: The GPU, which is current in every call.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._module: Any = None
        self._functions: dict[int, Any] = {}

    def function(self, native: NativeLibrary, most: int) -> Any:
        """Returns the CUfunction of the kernel of `most` copies. Raises ArtifactError,
        CudaError."""
        if self._module is None:
            self._module = load_ptx(self._device, native.copy_kernels())
        if most not in self._functions:
            name = f"convoy_copy_{most}".encode()
            self._functions[most] = self._device.driver.call(
                "cuModuleGetFunction", self._module, name
            )
        return self._functions[most]

    def close(self) -> None:
        """Unloads the kernels. Errors of earlier work on the device are ignored."""
        module, self._module = self._module, None
        self._functions = {}
        if module is not None:
            call_quietly(self._device.driver, "cuModuleUnload", module)


class WindowCopies:
    """The copies of a program's inputs or outputs by one kernel.

    Args:
        kernels: The kernels.
        native: The native library of the program.
        sizes: The size of each buffer in bytes.

    Attributes:
        native: The ConvoyCopies. Copies of 0 rows do nothing.

    Raises:
        ArtifactError: The native library has no kernels.
        CudaError: The driver rejects them.
    """

    def __init__(self, kernels: CopyKernels, native: NativeLibrary, sizes: Sequence[int]) -> None:
        most = next((most for most in _COPIES if 0 < len(sizes) <= most), None)
        if max(sizes, default=0) > _MOST_BYTES:
            most = None
        self._function = None if most is None else kernels.function(native, most)
        self._copies = (ConvoyCopy * (most or 1))()
        self._count = len(sizes)
        largest = -(-max(sizes, default=0) // (_THREAD_BYTES * COPY_THREADS))
        blocks = max(1, min(largest, _MOST_BLOCKS // max(1, len(sizes))))
        function = None if self._function is None else int(self._function)
        self.native = ConvoyCopies(function, self._copies, blocks, 0)

    def enqueue(self, queue: Queue) -> Any:
        """Enqueues the kernel on a stream that is captured, and returns its node; None if there is
        no kernel. Raises CudaError."""
        if self._function is None:
            return None
        grid, block = (self.native.blocks, self._count, 1), (COPY_THREADS, 1, 1)
        launch(queue, self._function, grid, block, 0, 0, 0, [ctypes.addressof(self._copies)])
        (node,) = queue.driver.call("cuStreamGetCaptureInfo", queue.stream)[3]
        return node


class RunGraph:
    """The CUDA graph of a program.

    Args:
        capture: Captures the program; its argument enqueues what all calls wait for.
        queue: The stream.
        inputs: The copies of the inputs.
        outputs: The copies of the outputs.

    Attributes:
        address: The address of its ConvoyGraph.

    Raises:
        CudaError: The driver fails.
    """

    def __init__(
        self,
        capture: Callable[[Callable[[], None]], Captured],
        queue: Queue,
        inputs: WindowCopies,
        outputs: WindowCopies,
    ) -> None:
        #: Their memory is the argument of the kernels.
        self._copies = inputs, outputs
        self._node: Any = None

        def enqueue() -> None:
            self._node = inputs.enqueue(queue)

        self._captured = capture(enqueue)
        try:
            node = None if self._node is None else int(self._node)
            handle = self._captured.handle
            self._native = ConvoyGraph(handle, node, inputs.native, outputs.native, 1, 0)
            self.address = ctypes.addressof(self._native)
            self._disable()
            self._captured.upload(queue.stream)
        except BaseException:
            self._captured.close()
            raise

    @property
    def memory(self) -> Allocation | None:
        """Memory that only the graph uses."""
        return self._captured.memory

    @property
    def graph(self) -> Any:
        """The CUgraph, in which the kernel copies nothing."""
        return self._captured.graph

    def launch(self, stream: int) -> None:
        """Enqueues a run on the content of the static buffers. Raises CudaError."""
        self._disable()
        self._captured.launch(stream)

    def close(self) -> None:
        """Destroys the graph. No launch may be active."""
        self._captured.close()

    def _disable(self) -> None:
        if self._node is not None and self._native.enabled:
            captured = self._captured
            captured.driver.call("cuGraphNodeSetEnabled", captured.instance, self._node, 0)
            self._native.enabled = 0
