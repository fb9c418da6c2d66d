# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Matrix products of graphs with cuBLASLt: descriptors, algorithms and runs.

cuBLASLt stores matrices by columns. Row-major matrices are the transposed ones to it, so it
computes the transposed product, with the factors in reverse order: A is the right factor, B the
left one. A bias is then a column that is added to each column.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import ExitStack
from ctypes import c_float, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Final

from convoy_runtime.cuda.driver.device import forked
from convoy_runtime.errors import CublasError
from convoy_runtime.manifest import Graph
from convoy_runtime.value_types import value_type

from .enums import (
    Compute,
    ConfigAttribute,
    DataType,
    DescAttribute,
    Epilogue,
    LayoutAttribute,
    PreferenceAttribute,
    Reduction,
)
from .library import ALGORITHM_BYTES, CublasLt, HeuristicResult

__all__ = ["Algorithm", "Product", "create_handle"]

#: The alignment of the tensors of a graph in bytes.
_ALIGNMENT: Final = 16
_INVALID_VALUE: Final = 7
_ACTIVATIONS: Final = {
    "none": Epilogue(0),
    "relu": Epilogue.RELU,
    "gelu_tanh": Epilogue.GELU,
}
_ALIGNMENTS: Final = (
    PreferenceAttribute.MIN_ALIGNMENT_A_BYTES,
    PreferenceAttribute.MIN_ALIGNMENT_B_BYTES,
    PreferenceAttribute.MIN_ALIGNMENT_C_BYTES,
    PreferenceAttribute.MIN_ALIGNMENT_D_BYTES,
)
#: Two attributes have 16 bits, the others 32.
_SHORT: Final = (ConfigAttribute.INNER_SHAPE_ID, ConfigAttribute.CLUSTER_SHAPE_ID)


@value_type(frozen=True, slots=True)
class Algorithm:
    """An algorithm for a product.

    Attributes:
        data: Its cublasLtMatmulAlgo_t.
        workspace_bytes: The size of its workspace in bytes.
        number: cuBLASLt's number of the algorithm.
        parameters: The name of each parameter (CUBLASLT_ALGO_CONFIG_*) to its value.
    """

    data: bytes
    workspace_bytes: int
    number: int
    parameters: dict[str, int]

    @property
    def reduction(self) -> Reduction:
        """How the parts of a sum that blocks share are added up."""
        return Reduction(self.parameters[ConfigAttribute.REDUCTION_SCHEME.name])


def create_handle(library: CublasLt, stack: ExitStack) -> int:
    """Returns a handle for the current device, which is destroyed with `stack`. Raises
    CublasError."""
    handle = library.create("cublasLtCreate")
    stack.callback(_destroy, library, "cublasLtDestroy", handle)
    return handle


class Product:
    """The product of a graph.

    Args:
        library: cuBLASLt.
        handle: A handle for the device.
        graph: The graph, which has a product.
        tf32: Whether factors of float32 may be rounded to TF32.
        stack: Destroys the descriptors.

    Raises:
        CublasError: cuBLASLt rejects the product.
    """

    def __init__(
        self, library: CublasLt, handle: int, graph: Graph, stack: ExitStack, *, tf32: bool
    ) -> None:
        assert graph.matmul is not None, "the graph is no product"
        self._library, self._matmul = library, graph.matmul
        tensors, matmul = graph.tensors, graph.matmul
        batch, rows, depth, columns = matmul.sizes(tensors)
        factor, result = tensors[matmul.left].dtype, tensors[-1].dtype
        compute = Compute.F32_FAST_TF32 if tf32 and factor == "float32" else Compute.F32
        self._desc = library.create("cublasLtMatmulDescCreate", compute, DataType.float32)
        stack.callback(_destroy, library, "cublasLtMatmulDescDestroy", self._desc)
        epilogue = _ACTIVATIONS[matmul.activation]
        if matmul.bias is not None:
            epilogue |= Epilogue.BIAS
            # Algorithms depend on the alignment of the pointer.
            self._set_bias(_ALIGNMENT)
        self._set(DescAttribute.EPILOGUE, c_uint32(epilogue or Epilogue.DEFAULT))

        def layout(dtype: str, height: int, width: int, batches: int) -> int:
            found = library.create(
                "cublasLtMatrixLayoutCreate", DataType[dtype], width, height, width
            )
            stack.callback(_destroy, library, "cublasLtMatrixLayoutDestroy", found)
            if batch > 1:
                # Without an offset, one matrix is used for the whole batch.
                offset = height * width if batches > 1 else 0
                for attribute, value in (
                    (LayoutAttribute.BATCH_COUNT, c_int32(batch)),
                    (LayoutAttribute.STRIDED_BATCH_OFFSET, c_int64(offset)),
                ):
                    library.set("cublasLtMatrixLayoutSetAttribute", found, attribute, value)
            return found

        right = layout(factor, depth, columns, tensors[matmul.right].shape[0])
        left = layout(factor, rows, depth, tensors[matmul.left].shape[0])
        summed = layout(result, rows, columns, batch)
        self._layouts = right, left, summed, summed
        self._handle = handle

    def algorithms(
        self, count: int, max_workspace_bytes: int, reductions: Reduction
    ) -> list[Algorithm]:
        """Returns the most promising algorithms.

        Args:
            count: The largest number of algorithms.
            max_workspace_bytes: The largest workspace in bytes.
            reductions: The allowed schemes of reductions.

        Returns:
            The algorithms, those that cuBLASLt expects to be the fastest first.

        Raises:
            CublasError: cuBLASLt has none.
        """
        library = self._library
        found, number = (HeuristicResult * count)(), c_int32()
        with ExitStack() as stack:
            preference = library.create("cublasLtMatmulPreferenceCreate")
            stack.callback(_destroy, library, "cublasLtMatmulPreferenceDestroy", preference)
            values: list[tuple[PreferenceAttribute, Any]] = [
                (PreferenceAttribute.MAX_WORKSPACE_BYTES, c_uint64(max_workspace_bytes)),
                (PreferenceAttribute.REDUCTION_SCHEME_MASK, c_uint32(reductions)),
                *((attribute, c_uint32(_ALIGNMENT)) for attribute in _ALIGNMENTS),
            ]
            for attribute, value in values:
                library.set("cublasLtMatmulPreferenceSetAttribute", preference, attribute, value)
            library.call(
                "cublasLtMatmulAlgoGetHeuristic",
                self._handle,
                self._desc,
                *self._layouts,
                preference,
                count,
                found,
                ctypes.byref(number),
            )
        return [
            self._algorithm(bytes(each.algorithm), each.workspace)
            for each in found[: number.value]
            if each.state == 0
        ]

    def check(self, data: bytes) -> Algorithm:
        """Returns the algorithm of a cublasLtMatmulAlgo_t that this version made.

        Args:
            data: The cublasLtMatmulAlgo_t.

        Raises:
            CublasError: cuBLASLt does not support it for this product and device.
        """
        if len(data) != ALGORITHM_BYTES:
            raise self._library.error(_INVALID_VALUE, "cublasLtMatmulAlgoCheck")
        result = HeuristicResult()
        self._library.call(
            "cublasLtMatmulAlgoCheck",
            self._handle,
            self._desc,
            *self._layouts,
            data,
            ctypes.byref(result),
        )
        return self._algorithm(data, result.workspace)

    def run(
        self,
        algorithm: Algorithm,
        pointers: Sequence[int],
        workspace: int,
        stream: int,
        *,
        what: str,
        location: str | None,
    ) -> None:
        """Enqueues the product.

        Args:
            algorithm: The algorithm.
            pointers: The pointer of each tensor of the graph.
            workspace: The pointer of the workspace.
            stream: The handle of the stream.
            what: The call, for messages.
            location: The source location, for messages.

        Raises:
            CublasError: cuBLASLt rejects the run.
        """
        matmul, result = self._matmul, pointers[-1]
        if matmul.bias is not None:
            self._set_bias(pointers[matmul.bias])
        residual = None if matmul.residual is None else pointers[matmul.residual]
        right, left, summand, sum_ = self._layouts
        # cuBLASLt reads the factors of the products and of the residual when it enqueues the run.
        alpha, beta = c_float(1.0), c_float(0.0 if residual is None else 1.0)
        self._library.call(
            "cublasLtMatmul",
            self._handle,
            self._desc,
            ctypes.addressof(alpha),
            pointers[matmul.right],
            right,
            pointers[matmul.left],
            left,
            ctypes.addressof(beta),
            result if residual is None else residual,
            summand,
            result,
            sum_,
            algorithm.data,
            workspace,
            algorithm.workspace_bytes,
            stream,
            what=what,
            location=location,
        )

    def _algorithm(self, data: bytes, workspace: int) -> Algorithm:
        values = {each.name: self._parameter(data, each) for each in ConfigAttribute}
        number = values.pop(ConfigAttribute.ID.name)
        return Algorithm(data, workspace, number, values)

    def _parameter(self, data: bytes, attribute: ConfigAttribute) -> int:
        value: Any = c_int32()
        size = 2 if attribute in _SHORT else 4
        written = c_size_t()
        try:
            self._library.call(
                "cublasLtMatmulAlgoConfigGetAttribute",
                data,
                attribute,
                ctypes.addressof(value),
                size,
                ctypes.byref(written),
            )
        except CublasError:
            # Older versions lack the last ones.
            if attribute not in _SHORT:
                raise
        return int(value.value)

    def _set(self, attribute: DescAttribute, value: Any) -> None:
        self._library.set("cublasLtMatmulDescSetAttribute", self._desc, attribute, value)

    def _set_bias(self, pointer: int) -> None:
        self._set(DescAttribute.BIAS_POINTER, c_void_p(pointer))


def _destroy(library: CublasLt, name: str, pointer: int) -> None:
    """Destroys an object. A forked child must not destroy those of its parent."""
    if not forked():
        getattr(library.library, name)(pointer)
