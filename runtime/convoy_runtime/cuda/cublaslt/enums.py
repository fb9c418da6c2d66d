# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The enumerators of cublasLt.h, cublas_api.h and library_types.h that the runtime uses."""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = [
    "Compute",
    "ConfigAttribute",
    "DataType",
    "DescAttribute",
    "Epilogue",
    "LayoutAttribute",
    "PreferenceAttribute",
    "Reduction",
]


class DataType(IntEnum):
    """cudaDataType, by torch's name of the type."""

    float32 = 0
    float16 = 2
    bfloat16 = 14


class Compute(IntEnum):
    """cublasComputeType_t."""

    F32 = 68
    F32_FAST_TF32 = 77


class DescAttribute(IntEnum):
    """cublasLtMatmulDescAttributes_t."""

    EPILOGUE = 7
    BIAS_POINTER = 8


class LayoutAttribute(IntEnum):
    """cublasLtMatrixLayoutAttribute_t."""

    BATCH_COUNT = 5
    STRIDED_BATCH_OFFSET = 6


class PreferenceAttribute(IntEnum):
    """cublasLtMatmulPreferenceAttributes_t."""

    MAX_WORKSPACE_BYTES = 1
    REDUCTION_SCHEME_MASK = 3
    MIN_ALIGNMENT_A_BYTES = 5
    MIN_ALIGNMENT_B_BYTES = 6
    MIN_ALIGNMENT_C_BYTES = 7
    MIN_ALIGNMENT_D_BYTES = 8


class ConfigAttribute(IntEnum):
    """cublasLtMatmulAlgoConfigAttributes_t."""

    ID = 0
    TILE_ID = 1
    SPLITK_NUM = 2
    REDUCTION_SCHEME = 3
    CTA_SWIZZLING = 4
    CUSTOM_OPTION = 5
    STAGES_ID = 6
    INNER_SHAPE_ID = 7
    CLUSTER_SHAPE_ID = 8


class Epilogue(IntFlag):
    """cublasLtEpilogue_t. The bias is added before the activation. GELU is its form with tanh."""

    DEFAULT = 1
    RELU = 2
    BIAS = 4
    GELU = 32


class Reduction(IntFlag):
    """cublasLtReductionScheme_t: how the parts of a sum that blocks share are added up."""

    NONE = 0
    INPLACE = 1
    COMPUTE_TYPE = 2
    OUTPUT_TYPE = 4
