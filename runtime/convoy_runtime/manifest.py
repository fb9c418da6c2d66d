# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""manifest.json as frozen dataclasses, which define the format: each field has its type, its check
and its description. The records of its parts are in `manifest_*` modules. `manifest_reader` reads
the member, and `python -m tools.write_manifest_page` writes docs/manifest.md.

Adding or removing a field changes FORMAT_VERSION; readers ignore no field.
"""

# No `from __future__ import annotations`: `records` reads annotations.

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import field

from .json_object import (
    COUNT,
    COUNTS,
    DTYPE,
    FLAG,
    SHA256,
    STRINGS,
    TEXT,
    TEXTS,
    UINT32,
    choice,
)
from .manifest_calls import STEPS, Call, Kernel, KernelArgument, OutsideOp, Step
from .manifest_graphs import (
    Graph,
    GraphAlternative,
    GraphAlternatives,
    GraphConstant,
    GraphStep,
    GraphTemporary,
    Products,
)
from .manifest_kernels import GraphKernel, KernelTensorMap, kernel_member
from .manifest_matmul import Matmul
from .manifest_structure import Node
from .manifest_tensors import GraphTensor, TensorSpec
from .record_fields import OMITTED, OPTIONAL, Presence, about
from .records import record_of
from .value_types import value_type

__all__ = [
    "ABI_VERSION",
    "ALTERNATIVES",
    "DYNAMIC_FORMAT",
    "FORMAT",
    "FORMAT_VERSION",
    "MANIFEST",
    "STEPS",
    "Call",
    "Cudnn",
    "FileEntry",
    "Graph",
    "GraphAlternative",
    "GraphAlternatives",
    "GraphConstant",
    "GraphKernel",
    "GraphStep",
    "GraphTemporary",
    "GraphTensor",
    "Host",
    "Kernel",
    "KernelArgument",
    "KernelTensorMap",
    "Manifest",
    "Matmul",
    "OutsideOp",
    "Products",
    "Step",
    "TensorSpec",
    "file_entry",
    "kernel_member",
]

FORMAT = "convoy"
#: The format of an artifact with dynamic sizes (`convoy_runtime.dynamic.manifest`).
DYNAMIC_FORMAT = "convoy-dynamic"
FORMAT_VERSION = 15
ABI_VERSION = 5
MANIFEST = "manifest.json"
#: The member that has the alternatives of graphs: few loads read it.
ALTERNATIVES = "alternatives.json"


_ON_CUDA = Presence("if `target` is `cuda`", field="target", values=("cuda",))


@value_type(frozen=True, slots=True)
class Cudnn:
    """The use of cuDNN."""

    built_for: int = field(
        metadata=about(
            "The version that the artifact was built for, from cudnnGetVersion (9.19.0 is 91900).",
            COUNT,
        )
    )
    minimum: int = field(metadata=about("The oldest supported version.", COUNT))
    io_dtype: str = field(
        metadata=about("The `dtype` that the model was compiled for; float32 by default.", DTYPE)
    )
    allow_tf32: bool = field(
        default=True,
        metadata=about(
            "Whether the compiler was allowed to round float32 factors to TF32. The runtime never "
            "allows more.",
            FLAG,
        ),
    )
    allow_winograd: bool = field(
        default=True,
        metadata=about(
            "Whether the compiler was allowed to use Winograd's algorithm. The runtime never "
            "allows more.",
            FLAG,
        ),
    )


@value_type(frozen=True, slots=True)
class Host:
    """The machine that native.so requires."""

    triple: str = field(metadata=about("LLVM's triple.", TEXT))
    cpu: str = field(metadata=about("LLVM's name of the CPU.", TEXT))
    features: tuple[str, ...] = field(metadata=about("LLVM's names of the CPU's features.", TEXTS))


@value_type(frozen=True, slots=True)
class FileEntry:
    """A member of the artifact."""

    sha256: str = field(metadata=about("Its SHA-256 in hexadecimal.", SHA256))
    bytes: int = field(metadata=about("Its size.", COUNT))
    crc32: int = field(
        default=0,
        metadata=about(
            "Its CRC-32 in the headers of the zip file, which the manifest thus determines.", UINT32
        ),
    )


def file_entry(pieces: Iterable[bytes | memoryview]) -> FileEntry:
    """The entry of a member with this content."""
    digest, size, crc = hashlib.sha256(), 0, 0
    for piece in pieces:
        digest.update(piece)
        crc = zlib.crc32(piece, crc)
        size += len(piece)
    return FileEntry(digest.hexdigest(), size, crc)


@value_type(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of manifest.json."""

    format: str = field(default=FORMAT, metadata=about("The format.", choice(FORMAT)))
    format_version: int = field(
        default=FORMAT_VERSION,
        metadata=about(
            "The version of manifest.json and of the members. A runtime reads one version.", COUNT
        ),
    )
    abi_version: int = field(
        default=ABI_VERSION,
        metadata=about(
            "The version of the functions of native.so (`runtime/abi/convoy_abi.h`).", COUNT
        ),
    )
    target: str = field(metadata=about("Where the program runs.", choice("cpu", "cuda")))
    producer: Mapping[str, str] = field(
        metadata=about("The versions of Convoy, LLVM and PyTorch.", STRINGS)
    )
    host: Host = field(metadata=about("The machine that native.so requires."))
    inputs: tuple[TensorSpec, ...] = field(metadata=about("The inputs."))
    outputs: tuple[TensorSpec, ...] = field(metadata=about("The outputs."))
    weights: tuple[TensorSpec, ...] = field(metadata=about("The model's weights."))
    prepared: tuple[TensorSpec, ...] = field(metadata=about("The prepared weights."))
    arena_bytes: int = field(
        metadata=about(
            "The size of the memory for the temporaries of a run, and for its outputs if "
            "`output_offsets` places them there.",
            COUNT,
        )
    )
    output_offsets: tuple[int, ...] = field(
        default=(),
        metadata=about(
            "Where each of `outputs` is in the arena, in bytes; empty if outputs have memory of "
            "their own. Until a run writes an output, temporaries may have its bytes.",
            COUNTS,
            OMITTED,
        ),
    )
    live_bytes: int = field(
        default=0,
        metadata=about(
            "The largest number of bytes in the arena that are live at the same time, a lower "
            "bound of `arena_bytes`; 0 if unknown.",
            COUNT,
            OMITTED,
        ),
    )
    prepare_arena_bytes: int = field(
        metadata=about("The same for the preparation of the weights.", COUNT)
    )
    files: Mapping[str, FileEntry] = field(
        metadata=about(
            "Every other member by name. Names consist of ASCII letters, digits, `_`, `.`, `-` and "
            "`/`."
        )
    )
    graphs: tuple[Graph, ...] = field(
        default=(), metadata=about("The graphs that the program calls.", presence=_ON_CUDA)
    )
    calls: tuple[Call, ...] = field(
        default=(), metadata=about("The call sites of graphs.", presence=_ON_CUDA)
    )
    steps: tuple[Step, ...] = field(
        default=(),
        metadata=about(
            "The runtime calls of `convoy_main` in order; empty if the writer did not record "
            "them. Tools read the program from it, because only a load runs native code. A load "
            "compares it with the calls that the code makes.",
            presence=OMITTED,
        ),
    )
    live: tuple[int, ...] = field(
        default=(),
        metadata=about(
            "The bytes in the arena that are live during each of `steps`; empty if unknown.",
            COUNTS,
            OMITTED,
        ),
    )
    gap_offsets: tuple[int, ...] = field(
        default=(),
        metadata=about(
            "Where the largest part of the arena without live bytes is during each of `steps`, in "
            "bytes, a multiple of 256; empty if unknown. A runtime may place workspaces there.",
            COUNTS,
            OMITTED,
        ),
    )
    gap_bytes: tuple[int, ...] = field(
        default=(), metadata=about("The sizes of these parts.", COUNTS, OMITTED)
    )
    kernels: tuple[Kernel, ...] = field(
        default=(), metadata=about("The generated kernels.", presence=_ON_CUDA)
    )
    outside: tuple[OutsideOp, ...] = field(
        default=(),
        metadata=about("The ops in no cuDNN graph, with the reasons.", presence=OPTIONAL),
    )
    cudnn: Cudnn | None = field(
        default=None,
        metadata=about(
            "The use of cuDNN.",
            presence=Presence("if `target` is `cuda`", field="target", values=("cuda",), omit=True),
        ),
    )
    constants: tuple[str, ...] = field(
        default=(),
        metadata=about(
            "Weights that are not in a state dict. Their data is in constants.safetensors, also "
            "in an artifact without weights.",
            TEXTS,
            OMITTED,
        ),
    )
    aliases: Mapping[str, str] = field(
        default_factory=dict,
        metadata=about(
            "Other names of shared weights: name in a state dict to name in `weights`.",
            STRINGS,
            OMITTED,
        ),
    )
    unused: tuple[str, ...] = field(
        default=(),
        metadata=about("Names in a state dict that no output depends on.", TEXTS, OMITTED),
    )
    compiled_in: Mapping[str, str] = field(
        default_factory=dict,
        metadata=about(
            "The buffers that the model branches on: name in a state dict to the bytes of the "
            "value that the program is compiled for, in hexadecimal.",
            STRINGS,
            OMITTED,
        ),
    )
    arguments: tuple[Node, ...] = field(
        default=(),
        metadata=about(
            "The structure of the arguments of a call: a tuple of the positional arguments and of "
            "the dict of keyword arguments. Its tensors are `inputs`. Empty if a call takes "
            "`inputs`.",
            presence=OMITTED,
        ),
    )
    results: tuple[Node, ...] = field(
        default=(),
        metadata=about(
            "The structure of the results, whose tensors are `outputs`. Empty if a call returns "
            "one tensor, or a tuple of several.",
            presence=OMITTED,
        ),
    )

    @property
    def called_graphs(self) -> tuple[int, ...]:
        """The graphs that `convoy_main` calls, in the order of their first calls."""
        return tuple(dict.fromkeys(call.graph for call in self.calls))

    @property
    def own_outputs(self) -> tuple[TensorSpec, ...]:
        """The outputs that are not in the arena."""
        return () if self.output_offsets else self.outputs

    @property
    def graph_gaps(self) -> dict[int, int]:
        """Index of a called graph to the smallest of its calls' `gap_bytes`: a workspace up to this
        size needs no memory of its own."""
        found: dict[int, int] = {}
        for step, size in zip(self.steps, self.gap_bytes, strict=False):
            if step.kind == "call":
                graph = self.calls[step.number].graph
                found[graph] = min(size, found.get(graph, size))
        return found

    def to_json(self) -> str:
        """The text of manifest.json. The inverse of `manifest_reader.read_manifest`."""
        return json.dumps(record_of(Manifest).tree(self), indent=1) + "\n"
