"""manifest.json and alternatives.json as frozen dataclasses. `manifest_reader` and
`manifest_alternatives` read them; docs/architecture.md describes the format.

Adding or removing a field changes FORMAT_VERSION; readers ignore no field.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from math import prod

from .dtypes import DTYPES
from .value_types import value_type

__all__ = [
    "ABI_VERSION",
    "ALTERNATIVES",
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
    "Manifest",
    "OutsideOp",
    "Products",
    "Step",
    "TensorSpec",
    "file_entry",
    "kernel_member",
]

FORMAT = "convoy"
FORMAT_VERSION = 8
ABI_VERSION = 3
MANIFEST = "manifest.json"
#: Kinds of steps.
STEPS = ("call", "kernel", "copy")
#: The member that has the alternatives of graphs: few loads read it.
ALTERNATIVES = "alternatives.json"


@value_type(frozen=True, slots=True)
class TensorSpec:
    """An input, output or weight of a program, packed row-major. `dtype` is torch's name."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """The size of the packed buffer in bytes."""
        return prod(self.shape) * DTYPES[self.dtype].bytes

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@value_type(frozen=True, slots=True)
class GraphTensor:
    """An operand or result of a graph.

    Attributes:
        uid: cuDNN's unique ID.
        role: "input" or "output".
        shape: The logical shape.
        strides: In elements.
        dtype: torch's name.
    """

    uid: int
    role: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes from the first element to the end of the last one."""
        elements = 1 + sum(
            (size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)
        )
        return elements * DTYPES[self.dtype].bytes if prod(self.shape) else 0


@value_type(frozen=True, slots=True)
class GraphConstant:
    """A scalar that cuDNN reads from host memory. `bytes` is its memory in hexadecimal."""

    uid: int
    dtype: str
    bytes: str


def kernel_member(name: str) -> str:
    """The member of an artifact with the PTX of a graph's kernel."""
    return f"kernels/{name}.ptx"


@value_type(frozen=True, slots=True)
class GraphKernel:
    """A kernel that computes a graph, in the member `kernel_member(name)`. Its arguments are
    pointers to the graph's tensors.

    Attributes:
        name: The name of the function.
        variant: Identifies the kernel among those of the graph, and of an equal graph in another
            artifact.
        grid: The number of blocks.
        block: The number of threads per block.
        shared_bytes: The size of dynamic shared memory.
        chip: The oldest architecture that runs it, e.g. sm_90.
        tf32: Whether it rounds float32 factors to TF32.
    """

    name: str
    variant: str
    grid: int
    block: int
    shared_bytes: int
    chip: str
    tf32: bool = False


@value_type(frozen=True, slots=True)
class GraphStep:
    """A step of an alternative: a run of another graph.

    Attributes:
        graph: An index into `Manifest.graphs` followed by `GraphAlternatives.graphs`.
        tensors: For each tensor of that graph, an index into the tensors of the computed graph
            followed by the temporaries of the alternative.
    """

    graph: int
    tensors: tuple[int, ...]


@value_type(frozen=True, slots=True)
class GraphTemporary:
    """Memory that the steps of an alternative share. A step writes it before later ones read it, or
    with `zeros` it holds zeros and no step writes it."""

    bytes: int
    zeros: bool = False


@value_type(frozen=True, slots=True)
class GraphAlternative:
    """An alternative of `Manifest.graphs[graph]`: other graphs, run one after another. `name` has
    the ops of each step, e.g. `conv2d+bias | relu`."""

    graph: int
    name: str
    steps: tuple[GraphStep, ...]
    temporaries: tuple[GraphTemporary, ...] = ()


@value_type(frozen=True, slots=True)
class Products:
    """The arithmetic of a graph's convolutions and matrix products.

    Attributes:
        flops: Per run; a multiply-add counts as two.
        dtype: The operand type of the first one. May be a type of cuDNN that no input or output of
            a program has, e.g. float8_e4m3fn.
    """

    flops: int
    dtype: str


@value_type(frozen=True, slots=True)
class Graph:
    """A cuDNN operation graph.

    Attributes:
        name: The name of the graph.
        symbol: The build function in native.so; None if `preference` is "only_kernel" and only
            kernels compute the graph.
        ops: The ops of the group.
        location: The line of the model.
        tensors: The operands, then the results.
        constants: The scalars.
        kernels: The kernels that compute the graph.
        preference: The choice without tuning: "kernel", the first kernel; "plan", cuDNN's first
            plan; "only_kernel", a kernel because cuDNN is not used.
        alternatives: The names of the alternatives in `GraphAlternatives`, which tuning measures.
        products: The arithmetic of convolutions and matrix products, None if there are none.
        fingerprint: A hash of the build function's cuDNN calls (`cuda/plans/fingerprint.py`). None
            if the runtime has to run the function to compute it.
    """

    name: str
    symbol: str | None
    ops: tuple[str, ...]
    location: str
    tensors: tuple[GraphTensor, ...]
    constants: tuple[GraphConstant, ...] = ()
    kernels: tuple[GraphKernel, ...] = ()
    preference: str = "plan"
    alternatives: tuple[str, ...] = ()
    products: Products | None = None
    fingerprint: str | None = None


@value_type(frozen=True, slots=True)
class GraphAlternatives:
    """alternatives.json: the alternatives of the manifest's graphs, and the graphs that are only
    steps of alternatives."""

    graphs: tuple[Graph, ...] = ()
    alternatives: tuple[GraphAlternative, ...] = ()

    def of(self, graph: int) -> tuple[GraphAlternative, ...]:
        """The alternatives of `Manifest.graphs[graph]`, in order."""
        return tuple(each for each in self.alternatives if each.graph == graph)

    def to_json(self) -> str:
        """The text of alternatives.json. The inverse of
        `manifest_alternatives.read_alternatives`."""
        tree = {
            "graphs": [_graph_tree(graph) for graph in self.graphs],
            "alternatives": [asdict(each) for each in self.alternatives],
        }
        return json.dumps(tree, separators=(",", ":")) + "\n"


@value_type(frozen=True, slots=True)
class Call:
    """A call site of a graph in `convoy_main`; `graph` is an index into `Manifest.graphs`."""

    graph: int
    location: str


@value_type(frozen=True, slots=True)
class Step:
    """A runtime call of `convoy_main`. `kind` is "call" or "kernel", where `number` is an index
    into `Manifest.calls` or `Manifest.kernels`, or "copy" of `number` bytes."""

    kind: str
    number: int


@value_type(frozen=True, slots=True)
class KernelArgument:
    """A pointer argument of a kernel. `role` is "input", "output" or "inout"; `bytes` is the size
    of the memory."""

    role: str
    bytes: int


@value_type(frozen=True, slots=True)
class Kernel:
    """A generated kernel.

    Attributes:
        name: Its entry in kernels.ptx.
        location: The line of the model.
        bytes: The bytes that it reads and writes, each element once. It may use a part of an
            argument.
        arguments: The pointers.
    """

    name: str
    location: str
    bytes: int
    arguments: tuple[KernelArgument, ...]


@value_type(frozen=True, slots=True)
class OutsideOp:
    """An op in no cuDNN graph, and the reason. `convoy explain` prints it."""

    op: str
    location: str
    reason: str


@value_type(frozen=True, slots=True)
class Cudnn:
    """The use of cuDNN.

    Attributes:
        built_for: The version that the artifact was built for, from cudnnGetVersion (9.19.0 is
            91900).
        minimum: The oldest supported version.
        io_dtype: The `dtype` that the model was compiled for; float32 by default.
        allow_tf32: Whether the compiler was allowed to round float32 factors to TF32. The runtime
            never allows more.
    """

    built_for: int
    minimum: int
    io_dtype: str
    allow_tf32: bool = True


@value_type(frozen=True, slots=True)
class Host:
    """The machine that native.so requires: LLVM's triple, CPU name and feature names."""

    triple: str
    cpu: str
    features: tuple[str, ...]


@value_type(frozen=True, slots=True)
class FileEntry:
    """A member of the artifact: its SHA-256 in hexadecimal, its size in bytes and its CRC-32."""

    sha256: str
    bytes: int
    crc32: int = 0


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
    """The description of an artifact."""

    target: str
    producer: Mapping[str, str]
    host: Host
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weights: tuple[TensorSpec, ...]
    prepared: tuple[TensorSpec, ...]
    arena_bytes: int
    prepare_arena_bytes: int
    files: Mapping[str, FileEntry]
    graphs: tuple[Graph, ...] = ()
    calls: tuple[Call, ...] = ()
    #: The steps of the program in order; empty if the writer did not record them.
    steps: tuple[Step, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    outside: tuple[OutsideOp, ...] = ()
    cudnn: Cudnn | None = None
    #: Weights that are not in a state dict. Their data is in constants.safetensors, also in an
    #: artifact without weights.
    constants: tuple[str, ...] = ()
    #: Other names of shared weights: name in a state dict to name in `weights`.
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: Names in a state dict that no output depends on.
    unused: tuple[str, ...] = ()
    format: str = field(default=FORMAT)
    format_version: int = field(default=FORMAT_VERSION)
    abi_version: int = field(default=ABI_VERSION)

    @property
    def called_graphs(self) -> tuple[int, ...]:
        """The graphs that `convoy_main` calls, in the order of their first calls."""
        return tuple(dict.fromkeys(call.graph for call in self.calls))

    def to_json(self) -> str:
        """The text of manifest.json. The inverse of `manifest_reader.read_manifest`."""
        tree = asdict(self)
        if self.cudnn is None:
            del tree["cudnn"]
        tree["graphs"] = [_graph_tree(graph) for graph in self.graphs]
        tree["steps"] = [{step.kind: step.number} for step in self.steps]
        for key in ("steps", "constants", "aliases", "unused"):
            if not tree[key]:
                del tree[key]
        head = {key: tree.pop(key) for key in ("format", "format_version", "abi_version")}
        return json.dumps({**head, **tree}, indent=1) + "\n"


def _graph_tree(graph: Graph) -> dict[str, object]:
    """A graph as a JSON object, without empty optional fields."""
    tree = asdict(graph)
    for key in ("constants", "kernels", "alternatives", "products", "fingerprint"):
        if not tree[key]:
            del tree[key]
    return tree
