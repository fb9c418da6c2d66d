"""cuDNN's enums, as far as the runtime uses them, with the numbers of cudnn_graph.h. A test compares them with the header."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "Attribute",
    "BehaviorNote",
    "Descriptor",
    "HeurMode",
    "KnobType",
    "NumericalNote",
    "Type",
    "name_of",
]


class Descriptor(IntEnum):
    """cudnnBackendDescriptorType_t: CUDNN_BACKEND_*_DESCRIPTOR."""

    ENGINE = 2
    ENGINECFG = 3
    ENGINEHEUR = 4
    EXECUTION_PLAN = 5
    KNOB_CHOICE = 7
    VARIANT_PACK = 16
    DEVICEPROP = 38


class Attribute(IntEnum):
    """cudnnBackendAttributeName_t: CUDNN_ATTR_*."""

    ENGINEHEUR_MODE = 200
    ENGINEHEUR_OPERATION_GRAPH = 201
    ENGINEHEUR_RESULTS = 202
    ENGINEHEUR_DEVICEPROP = 204
    ENGINECFG_ENGINE = 300
    ENGINECFG_KNOB_CHOICES = 302
    ENGINECFG_WORKSPACE_SIZE = 303
    EXECUTION_PLAN_HANDLE = 400
    EXECUTION_PLAN_ENGINE_CONFIG = 401
    EXECUTION_PLAN_WORKSPACE_SIZE = 402
    EXECUTION_PLAN_JSON_REPRESENTATION = 405
    EXECUTION_PLAN_DEVICEPROP = 407
    KNOB_CHOICE_KNOB_TYPE = 600
    KNOB_CHOICE_KNOB_VALUE = 601
    VARIANT_PACK_UNIQUE_IDS = 1000
    VARIANT_PACK_DATA_POINTERS = 1001
    VARIANT_PACK_WORKSPACE = 1003
    ENGINE_GLOBAL_INDEX = 1301
    ENGINE_NUMERICAL_NOTE = 1303
    ENGINE_BEHAVIOR_NOTE = 1305
    DEVICEPROP_JSON_REPRESENTATION = 2702


class Type(IntEnum):
    """cudnnBackendAttributeType_t: CUDNN_TYPE_*."""

    HANDLE = 0
    INT64 = 3
    VOID_PTR = 6
    HEUR_MODE = 8
    KNOB_TYPE = 9
    NUMERICAL_NOTE = 11
    BACKEND_DESCRIPTOR = 15
    BEHAVIOR_NOTE = 19
    CHAR = 24


class HeurMode(IntEnum):
    """cudnnBackendHeurMode_t: CUDNN_HEUR_MODE_*."""

    B = 1
    FALLBACK = 2
    A = 3


class NumericalNote(IntEnum):
    """cudnnBackendNumericalNote_t: CUDNN_NUMERICAL_NOTE_*."""

    TENSOR_CORE = 0
    DOWN_CONVERT_INPUTS = 1
    REDUCED_PRECISION_REDUCTION = 2
    FFT = 3
    NONDETERMINISTIC = 4
    WINOGRAD = 5
    WINOGRAD_TILE_4x4 = 6
    WINOGRAD_TILE_6x6 = 7
    WINOGRAD_TILE_13x13 = 8
    STRICT_NAN_PROP = 9


class BehaviorNote(IntEnum):
    """cudnnBackendBehaviorNote_t: CUDNN_BEHAVIOR_NOTE_*."""

    RUNTIME_COMPILATION = 0
    REQUIRES_FILTER_INT8x32_REORDER = 1
    REQUIRES_BIAS_INT8x32_REORDER = 2
    SUPPORTS_CUDA_GRAPH_NATIVE_API = 3
    CUBLASLT_DEPENDENCY = 4


class KnobType(IntEnum):
    """cudnnBackendKnobType_t: CUDNN_KNOB_TYPE_*."""

    SPLIT_K = 0
    SWIZZLE = 1
    TILE_SIZE = 2
    USE_TEX = 3
    EDGE = 4
    KBLOCK = 5
    LDGA = 6
    LDGB = 7
    CHUNK_K = 8
    SPLIT_H = 9
    WINO_TILE = 10
    MULTIPLY = 11
    SPLIT_K_BUF = 12
    TILEK = 13
    STAGES = 14
    REDUCTION_MODE = 15
    CTA_SPLIT_K_MODE = 16
    SPLIT_K_SLC = 17
    IDX_MODE = 18
    SLICED = 19
    SPLIT_RS = 20
    SINGLEBUFFER = 21
    LDGC = 22
    SPECFILT = 23
    KERNEL_CFG = 24
    WORKSPACE = 25
    TILE_CGA = 26
    TILE_CGA_M = 27
    TILE_CGA_N = 28
    BLOCK_SIZE = 29
    OCCUPANCY = 30
    ARRAY_SIZE_PER_THREAD = 31
    NUM_C_PER_BLOCK = 32
    SPLIT_COLS = 33
    TILE_ROWS = 34
    TILE_COLS = 35
    LOAD_SIZE = 36
    CTA_COUNT = 37
    STREAM_K = 38
    SPLIT_P_SLC = 39
    TILE_M = 40
    TILE_N = 41
    WARP_SPEC_CFG = 42
    SWAP_AB = 43


def name_of(enum: type[IntEnum], value: int) -> str:
    """The name of a value, or its number when a newer cuDNN has one that is not known here."""
    try:
        return enum(value).name
    except ValueError:
        return str(value)
