"""manifest.json and alternatives.json as frozen dataclasses; `manifest_reader` and
`manifest_alternatives` read them. The format is described in docs/architecture.md.

A field more or less is a new FORMAT_VERSION, so nothing is ever ignored.
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
    """A named tensor at the program's border: packed row-major, `shape` in elements, `dtype` by
    torch's name."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes of the packed buffer."""
        return prod(self.shape) * DTYPES[self.dtype].bytes

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@value_type(frozen=True, slots=True)
class GraphTensor:
    """An operand or result of a graph: cuDNN's unique id, logical shape, strides in elements.
    `role` is input or output."""

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
    """A number that is part of a graph, which cuDNN reads from host memory: `bytes` in hexadecimal,
    as they lie there."""

    uid: int
    dtype: str
    bytes: str


def kernel_member(name: str) -> str:
    """The member of an artifact with the PTX of a graph's kernel."""
    return f"kernels/{name}.ptx"


@value_type(frozen=True, slots=True)
class GraphKernel:
    """A kernel that computes a graph, in a member of its own (`kernel_member`): given the graph's
    tensors as pointers, in `grid` blocks of `block` threads with `shared_bytes` of dynamic shared
    memory. `variant` tells it from the others of the graph, also of an equal graph in another
    artifact. `chip` is the oldest architecture that runs it, as sm_90; with `tf32` it rounds
    float32 factors to TF32."""

    name: str
    variant: str
    grid: int
    block: int
    shared_bytes: int
    chip: str
    tf32: bool = False


@value_type(frozen=True, slots=True)
class GraphStep:
    """A run of another graph on behalf of a graph: `Manifest.graphs[graph]`, or, numbered on behind
    these, one of `GraphAlternatives.graphs`. `tensors` says what each tensor of that other graph
    is: a tensor of the graph that is computed, by its place, or a temporary, by its place behind
    those."""

    graph: int
    tensors: tuple[int, ...]


@value_type(frozen=True, slots=True)
class GraphTemporary:
    """Memory that the steps of an alternative share: what one of them writes for those after it, or
    zeros, which none writes."""

    bytes: int
    zeros: bool = False


@value_type(frozen=True, slots=True)
class GraphAlternative:
    """Other graphs that, run one after another, compute what `Manifest.graphs[graph]` computes.
    `name` has the parts of each, as `conv2d+bias | relu`."""

    graph: int
    name: str
    steps: tuple[GraphStep, ...]
    temporaries: tuple[GraphTemporary, ...] = ()


@value_type(frozen=True, slots=True)
class Products:
    """What a graph's convolutions and matrix products compute: `flops` of a run, a multiply-add as
    two, and the `dtype` of the first one's operands, which may be a type of cuDNN's that no tensor
    at a program's border has, as float8_e4m3fn."""

    flops: int
    dtype: str


@value_type(frozen=True, slots=True)
class Graph:
    """One cuDNN operation graph: `symbol` is its build function in native.so, `tensors` are its
    operands, then its results. `kernels` compute the same; `preference` is what runs where nothing
    was measured, their first (`kernel`) or cuDNN's first plan (`plan`), or `only_kernel` where
    cuDNN is not asked, and there is no build function. `alternatives` are the names of those in
    `GraphAlternatives`, which compute the same as well; tuning tries them. `products` is None where
    it has none. `fingerprint` is a hash of the calls that the build function makes
    to cuDNN (`cuda/plans/fingerprint.py`); where it is None the runtime computes it by running the
    function."""

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
    """alternatives.json: the alternatives of the manifest's graphs, and the graphs that are steps
    of them and nothing else."""

    graphs: tuple[Graph, ...] = ()
    alternatives: tuple[GraphAlternative, ...] = ()

    def of(self, graph: int) -> tuple[GraphAlternative, ...]:
        """Those of `Manifest.graphs[graph]`, in their order."""
        return tuple(each for each in self.alternatives if each.graph == graph)

    def to_json(self) -> str:
        """The text of alternatives.json.
        `manifest_alternatives.read_alternatives(a.to_json(), manifest)` equals `a`."""
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
    """What `convoy_main` asks of the runtime at one place of the program: `kind` is `call` or
    `kernel`, whose `number` is an index into `Manifest.calls` or `Manifest.kernels`, or `copy`, of
    `number` bytes."""

    kind: str
    number: int


@value_type(frozen=True, slots=True)
class KernelArgument:
    """A pointer that a kernel is given. `role` is input, output or inout; `bytes` is the size of
    what it points to."""

    role: str
    bytes: int


@value_type(frozen=True, slots=True)
class Kernel:
    """A generated kernel: its entry in kernels.ptx, and the line of the model that it came from.
    `bytes` is what it reads and writes, each element once; of an argument it may take a part."""

    name: str
    location: str
    bytes: int
    arguments: tuple[KernelArgument, ...]


@value_type(frozen=True, slots=True)
class OutsideOp:
    """An op that no cuDNN graph took, and why: what `convoy explain` tells."""

    op: str
    location: str
    reason: str


@value_type(frozen=True, slots=True)
class Cudnn:
    """cuDNN versions as cudnnGetVersion gives them (9.19.0 is 91900): built for, and the oldest
    that will do. `allow_tf32` is whether the model was compiled to let products of float32 be
    rounded to TF32; the runtime never allows more."""

    built_for: int
    minimum: int
    io_dtype: str
    allow_tf32: bool = True


@value_type(frozen=True, slots=True)
class Host:
    """What native.so needs of the machine: LLVM's triple, CPU name and feature names."""

    triple: str
    cpu: str
    features: tuple[str, ...]


@value_type(frozen=True, slots=True)
class FileEntry:
    """SHA-256 (hex) and size of a member of the artifact, and the CRC-32 that the zip has of it."""

    sha256: str
    bytes: int
    crc32: int = 0


def file_entry(pieces: Iterable[bytes | memoryview]) -> FileEntry:
    """The entry of a member whose content are these pieces."""
    digest, size, crc = hashlib.sha256(), 0, 0
    for piece in pieces:
        digest.update(piece)
        crc = zlib.crc32(piece, crc)
        size += len(piece)
    return FileEntry(digest.hexdigest(), size, crc)


@value_type(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything that an artifact says about itself."""

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
    #: The program in its order; empty where its writer did not know it.
    steps: tuple[Step, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    outside: tuple[OutsideOp, ...] = ()
    cudnn: Cudnn | None = None
    #: Weights that no state dict has; their data is in the artifact (constants.safetensors), also
    #: when it was made without weights.
    constants: tuple[str, ...] = ()
    #: Other names of weights, for tensors that a model shares: name in a state dict to name in
    #: `weights`.
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: Names of a state dict that no output depends on.
    unused: tuple[str, ...] = ()
    format: str = field(default=FORMAT)
    format_version: int = field(default=FORMAT_VERSION)
    abi_version: int = field(default=ABI_VERSION)

    @property
    def called_graphs(self) -> tuple[int, ...]:
        """The graphs that `convoy_main` calls, in the order of their first calls."""
        return tuple(dict.fromkeys(call.graph for call in self.calls))

    def to_json(self) -> str:
        """The text of manifest.json. `manifest_reader.read_manifest(m.to_json())` equals `m`."""
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
    """A graph as JSON has it: without what it does not have."""
    tree = asdict(graph)
    for key in ("constants", "kernels", "alternatives", "products", "fingerprint"):
        if not tree[key]:
            del tree[key]
    return tree
