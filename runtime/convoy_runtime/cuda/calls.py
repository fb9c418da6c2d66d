"""The functions that `convoy_main` calls on the `cuda` target: run a graph, launch a kernel, copy. All of them only enqueue work.

An exception cannot pass through native code: it is kept, the call returns a status, `convoy_main` returns it at once, and the
exception is raised where `convoy_main` was called.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_void_p
from functools import cache
from typing import Any

from convoy_runtime._abi import ABI_VERSION, ConvoyRuntime, pointer_array
from convoy_runtime._native import NativeLibrary
from convoy_runtime.errors import ArtifactError, ExecutionError
from convoy_runtime.manifest import Graph, Manifest

from ._cudnn import BackendDescriptor, Cudnn
from ._driver import Driver
from ._enums import Attribute, Descriptor, Type
from .plan import Plan

__all__ = ["Calls", "variant_pack"]

#: The status that a callback returns when it has kept an exception.
RAISED = -1
#: Beyond this many bytes of shared memory a kernel has to be allowed them first.
SHARED_BYTES = 48 << 10


@cache
def _numbers(graph: Graph) -> tuple[ctypes.Array[ctypes.c_char], ...]:
    """Host memory with the graph's constants. It is never freed, because cuDNN reads it whenever a variant pack with its address is run."""
    return tuple(ctypes.create_string_buffer(bytes.fromhex(each.bytes)) for each in graph.constants)


def variant_pack(cudnn: Cudnn, graph: Graph, pointers: Sequence[int], workspace: int) -> BackendDescriptor:
    """The arguments of one execution: where the tensors of the graph lie, in the order of the manifest, its constants, the workspace."""
    pack = cudnn.create(Descriptor.VARIANT_PACK)
    uids = [tensor.uid for tensor in graph.tensors] + [constant.uid for constant in graph.constants]
    pack.set(Attribute.VARIANT_PACK_UNIQUE_IDS, Type.INT64, uids)
    pack.set(Attribute.VARIANT_PACK_DATA_POINTERS, Type.VOID_PTR, [*pointers, *map(ctypes.addressof, _numbers(graph))])
    pack.set(Attribute.VARIANT_PACK_WORKSPACE, Type.VOID_PTR, [workspace])
    pack.finalize()
    return pack


class Calls:
    """The ConvoyRuntime table of one program, and what its functions need."""

    def __init__(
        self,
        manifest: Manifest,
        driver: Driver,
        stream: int,
        *,
        cudnn: Cudnn | None,
        handle: int | None,
        plans: Mapping[int, Plan],
        kernels: Sequence[Any],
        workspace: int,
    ) -> None:
        self._manifest, self._driver, self._stream = manifest, driver, stream
        self._cudnn, self._handle, self._plans, self._kernels, self._workspace = cudnn, handle, plans, kernels, workspace
        self._packs: dict[int, tuple[tuple[int, ...], BackendDescriptor]] = {}
        self._raised: BaseException | None = None
        self._callbacks = (
            ConvoyRuntime.EXECUTE(self._guard(self._execute)),
            ConvoyRuntime.LAUNCH(self._guard(self._launch)),
            ConvoyRuntime.COPY(self._guard(self._copy)),
        )
        self._table = ConvoyRuntime(ABI_VERSION, 0, None, *self._callbacks)

    def run(self, native: NativeLibrary, inputs: list[int], prepared: list[int], outputs: list[int], arena: int) -> None:
        """Enqueues the whole program on the stream. Raises what a callback raised, or ExecutionError."""
        self._raised = None
        arguments = pointer_array(inputs), pointer_array(prepared), pointer_array(outputs)
        status = native.main(ctypes.byref(self._table), *arguments, arena)
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if status:
            raise ExecutionError(entry="convoy_main", status=status)

    def close(self) -> None:
        """Destroys the variant packs."""
        for _, pack in self._packs.values():
            pack.close()
        self._packs.clear()

    def _guard(self, function: Callable[..., None]) -> Callable[..., int]:
        def guarded(_context: int | None, *arguments: Any) -> int:
            try:
                function(*arguments)
            except BaseException as error:
                self._raised = error
                return RAISED
            return 0

        return guarded

    def _execute(self, call: int, pointers: Any, count: int) -> None:
        sites = self._manifest.calls
        if not 0 <= call < len(sites):
            msg = f"convoy_main runs call {call} of {len(sites)}"
            raise self._mismatch(msg)
        site = sites[call]
        graph = self._manifest.graphs[site.graph]
        if count != len(graph.tensors):
            msg = f"call {call} passes {count} pointers to graph {graph.name}, which has {len(graph.tensors)} tensors"
            raise self._mismatch(msg)
        cudnn = self._cudnn
        if cudnn is None:
            msg = f"call {call} runs a graph, but the manifest lists none"
            raise self._mismatch(msg)
        plan = self._plans[site.graph].descriptor
        pack = self._pack(cudnn, call, graph, tuple(pointer or 0 for pointer in pointers[:count]))
        cudnn.call(
            "cudnnBackendExecute", self._handle, plan.pointer, pack.pointer, what=f"graph {graph.name}, call {call}", location=site.location
        )

    def _pack(self, cudnn: Cudnn, call: int, graph: Graph, pointers: tuple[int, ...]) -> BackendDescriptor:
        known = self._packs.get(call)
        if known is not None and known[0] == pointers:
            return known[1]
        pack = variant_pack(cudnn, graph, pointers, self._workspace)
        self._packs[call] = pointers, pack
        return pack

    def _launch(self, kernel: int, grid: Any, block: Any, shared_bytes: int, arguments: Any, count: int) -> None:
        if not 0 <= kernel < len(self._kernels):
            msg = f"convoy_main launches kernel {kernel} of {len(self._kernels)}"
            raise self._mismatch(msg)
        function = self._kernels[kernel]
        if shared_bytes > SHARED_BYTES:
            attribute = self._driver.module.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._driver.call("cuFuncSetAttribute", function, attribute, shared_bytes)
        # The driver wants the address of each argument's value, and here each argument's value is a pointer.
        first = ctypes.cast(arguments, c_void_p).value or 0
        addresses = (c_void_p * max(1, count))(*(first + index * ctypes.sizeof(c_void_p) for index in range(count)))
        sizes = (*grid[:3], *block[:3], shared_bytes)
        self._driver.call("cuLaunchKernel", function, *sizes, self._stream, ctypes.addressof(addresses), 0)

    def _copy(self, destination: int | None, source: int | None, size: int) -> None:
        if size:
            self._driver.call("cuMemcpyDtoDAsync", destination or 0, source or 0, size, self._stream)

    def _mismatch(self, problem: str) -> ArtifactError:
        return ArtifactError(problem=problem, member="native.so")
