"""manifest.json as frozen dataclasses. Reading is strict: a missing, unknown or ill-typed field is an error that names it.

The format is described in docs/architecture.md. A field more or less is a new FORMAT_VERSION, so nothing is ever ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any, TypeVar

from .dtypes import DTYPES
from .errors import ArtifactError

__all__ = [
    "ABI_VERSION",
    "FORMAT",
    "FORMAT_VERSION",
    "MANIFEST",
    "Call",
    "Cudnn",
    "FileEntry",
    "Graph",
    "GraphConstant",
    "GraphKernel",
    "GraphTensor",
    "Host",
    "Kernel",
    "KernelArgument",
    "Manifest",
    "OutsideOp",
    "TensorSpec",
    "kernel_member",
]

FORMAT = "convoy"
FORMAT_VERSION = 4
ABI_VERSION = 2
MANIFEST = "manifest.json"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A named tensor at the program's border: packed row-major, `shape` in elements, `dtype` by torch's name."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes of the packed buffer."""
        return prod(self.shape) * DTYPES[self.dtype].bytes

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class GraphTensor:
    """An operand or result of a graph: cuDNN's unique id, logical shape, strides in elements. `role` is input or output."""

    uid: int
    role: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes from the first element to the end of the last one."""
        elements = 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        return elements * DTYPES[self.dtype].bytes if prod(self.shape) else 0


@dataclass(frozen=True, slots=True)
class GraphConstant:
    """A number that is part of a graph, which cuDNN reads from host memory: `bytes` in hexadecimal, as they lie there."""

    uid: int
    dtype: str
    bytes: str


def kernel_member(name: str) -> str:
    """The member of an artifact with the PTX of a graph's kernel."""
    return f"kernels/{name}.ptx"


@dataclass(frozen=True, slots=True)
class GraphKernel:
    """A kernel that computes a graph, in a member of its own (`kernel_member`): given the graph's tensors as pointers, in `grid` blocks of
    `block` threads with `shared_bytes` of dynamic shared memory. `variant` tells it from the others of the graph, also of an equal graph in
    another artifact. `chip` is the oldest architecture that runs it, as sm_90."""

    name: str
    variant: str
    grid: int
    block: int
    shared_bytes: int
    chip: str


@dataclass(frozen=True, slots=True)
class Graph:
    """One cuDNN operation graph: `symbol` is its build function in native.so, `tensors` are its operands, then its results. `kernels`
    compute the same; `preference` is what runs where nothing was measured, their first (`kernel`) or cuDNN's first plan (`plan`), or
    `only_kernel` where cuDNN is not asked, and there is no build function."""

    name: str
    symbol: str | None
    ops: tuple[str, ...]
    location: str
    tensors: tuple[GraphTensor, ...]
    constants: tuple[GraphConstant, ...] = ()
    kernels: tuple[GraphKernel, ...] = ()
    preference: str = "plan"


@dataclass(frozen=True, slots=True)
class Call:
    """A call site of a graph in `convoy_main`; `graph` is an index into `Manifest.graphs`."""

    graph: int
    location: str


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """A pointer that a kernel is given. `role` is input, output or inout; `bytes` is the size of what it points to."""

    role: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A generated kernel: its entry in kernels.ptx, and the line of the model that it came from. `bytes` is what it reads and writes, each
    element once; of an argument it may take a part."""

    name: str
    location: str
    bytes: int
    arguments: tuple[KernelArgument, ...]


@dataclass(frozen=True, slots=True)
class OutsideOp:
    """An op that no cuDNN graph took, and why: what `convoy explain` tells."""

    op: str
    location: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cudnn:
    """cuDNN versions as cudnnGetVersion gives them (9.19.0 is 91900): built for, and the oldest that will do. `allow_tf32` is whether the
    model was compiled to let products of float32 be rounded to TF32; the runtime never allows more."""

    built_for: int
    minimum: int
    io_dtype: str
    allow_tf32: bool = True


@dataclass(frozen=True, slots=True)
class Host:
    """What native.so needs of the machine: LLVM's triple, CPU name and feature names."""

    triple: str
    cpu: str
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """SHA-256 (hex) and size of a member of the artifact."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
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
    kernels: tuple[Kernel, ...] = ()
    outside: tuple[OutsideOp, ...] = ()
    cudnn: Cudnn | None = None
    #: Weights that no state dict has; their data is in the artifact (constants.safetensors), also when it was made without weights.
    constants: tuple[str, ...] = ()
    #: Other names of weights, for tensors that a model shares: name in a state dict to name in `weights`.
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: Names of a state dict that no output depends on.
    unused: tuple[str, ...] = ()
    format: str = field(default=FORMAT)
    format_version: int = field(default=FORMAT_VERSION)
    abi_version: int = field(default=ABI_VERSION)

    def to_json(self) -> str:
        """The text of manifest.json. `Manifest.from_json(m.to_json())` equals `m`."""
        tree = asdict(self)
        if self.cudnn is None:
            del tree["cudnn"]
        for key in ("constants", "aliases", "unused"):
            if not tree[key]:
                del tree[key]
        head = {key: tree.pop(key) for key in ("format", "format_version", "abi_version")}
        return json.dumps({**head, **tree}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, *, path: object = None) -> Manifest:
        """Reads and checks the text of manifest.json; `path` is only for messages. Raises ArtifactError."""
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ArtifactError(problem=f"is no JSON: {error}", path=path, member=MANIFEST) from error
        return _manifest(tree, path)


@dataclass(slots=True)
class _Object:
    """A JSON object being read. Keys are taken one by one, so that `done` can refuse what is left."""

    value: Any
    name: str
    path: object

    def __post_init__(self) -> None:
        if not isinstance(self.value, dict):
            msg = ""
            raise self.error(msg, "expected an object", self.value)
        self.value = dict(self.value)

    def error(self, key: str, expected: str, got: Any) -> ArtifactError:
        where = ".".join(part for part in (self.name, key) if part) or "top level"
        text = json.dumps(got)
        return ArtifactError(
            problem=f"{expected}, got {text if len(text) <= 80 else text[:77] + '...'}", path=self.path, member=MANIFEST, field=where
        )

    def take(self, key: str, read: Callable[[Any], _T | None], expected: str) -> _T:
        if key not in self.value:
            where = ".".join(part for part in (self.name, key) if part)
            raise ArtifactError(problem=f"is missing, expected {expected}", path=self.path, member=MANIFEST, field=where)
        got = self.value.pop(key)
        result = read(got)
        if result is None:
            raise self.error(key, f"expected {expected}", got)
        return result

    def each(self, key: str, read: Callable[[_Object], _T], *, optional: bool = False) -> tuple[_T, ...]:
        if optional and key not in self.value:
            return ()
        items = self.take(key, lambda value: value if isinstance(value, list) else None, "a list of objects")
        name = f"{self.name}.{key}" if self.name else key
        return tuple(_read(_Object(item, f"{name}[{index}]", self.path), read) for index, item in enumerate(items))

    def text(self, key: str) -> str:
        return self.take(key, _text, "a string")

    def count(self, key: str) -> int:
        return self.take(key, _count, "an integer of at least 0")

    def dtype(self, key: str) -> str:
        return self.take(key, lambda value: value if isinstance(value, str) and value in DTYPES else None, f"one of {', '.join(DTYPES)}")

    def counts(self, key: str) -> tuple[int, ...]:
        return self.take(key, lambda value: _list(value, _count), "a list of integers of at least 0")

    def texts(self, key: str) -> tuple[str, ...]:
        return self.take(key, lambda value: _list(value, _text), "a list of strings")

    def done(self) -> None:
        for key, got in self.value.items():
            raise self.error(key, "is no field of this format version", got)


def _read(source: _Object, read: Callable[[_Object], _T]) -> _T:
    result = read(source)
    source.done()
    return result


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _list(value: Any, read: Callable[[Any], _T | None]) -> tuple[_T, ...] | None:
    if not isinstance(value, list):
        return None
    items = [read(item) for item in value]
    return None if any(item is None for item in items) else tuple(item for item in items if item is not None)


def _spec(source: _Object) -> TensorSpec:
    return TensorSpec(source.text("name"), source.counts("shape"), source.dtype("dtype"))


def _graph_tensor(source: _Object) -> GraphTensor:
    role = source.take("role", lambda value: value if value in ("input", "output") else None, '"input" or "output"')
    shape = source.counts("shape")
    strides = source.take(
        "strides", lambda value: s if (s := _list(value, _count)) is not None and len(s) == len(shape) else None, f"{len(shape)} integers"
    )
    return GraphTensor(source.count("uid"), role, shape, strides, source.dtype("dtype"))


def _graph_constant(source: _Object) -> GraphConstant:
    dtype = source.dtype("dtype")
    digits = 2 * DTYPES[dtype].bytes

    def read(value: Any) -> str | None:
        return value if isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) else None

    return GraphConstant(source.count("uid"), dtype, source.take("bytes", read, f"{digits} hexadecimal digits"))


def _symbol(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*", value, re.ASCII) else None


def _graph_kernel(source: _Object) -> GraphKernel:
    def chip(value: Any) -> str | None:
        return value if isinstance(value, str) and re.fullmatch(r"sm_[1-9]\d+", value, re.ASCII) else None

    name, variant = source.take("name", _symbol, "a C identifier"), source.text("variant")
    grid, block, shared = (source.count(key) for key in ("grid", "block", "shared_bytes"))
    return GraphKernel(name, variant, grid, block, shared, source.take("chip", chip, "an architecture, as sm_90"))


def _graph(source: _Object) -> Graph:
    tensors, constants = source.each("tensors", _graph_tensor), source.each("constants", _graph_constant, optional=True)
    kernels = source.each("kernels", _graph_kernel, optional=True)
    choices = ("kernel", "plan", "only_kernel") if kernels else ("plan",)
    preference = "plan"
    if "preference" in source.value:
        preference = source.take("preference", lambda value: value if value in choices else None, f"one of {', '.join(choices)}")
    if preference == "only_kernel" and source.value.get("symbol") is None:
        source.value.pop("symbol", None)
        symbol = None
    else:
        symbol = source.take("symbol", _symbol, "a C identifier")
    return Graph(source.text("name"), symbol, source.texts("ops"), source.text("location"), tensors, constants, kernels, preference)


def _kernel(source: _Object) -> Kernel:
    def argument(source: _Object) -> KernelArgument:
        roles = ("input", "output", "inout")
        role = source.take("role", lambda value: value if value in roles else None, '"input", "output" or "inout"')
        return KernelArgument(role, source.count("bytes"))

    return Kernel(source.text("name"), source.text("location"), source.count("bytes"), source.each("arguments", argument))


def _cudnn(source: _Object) -> Cudnn:
    allow_tf32 = source.take("allow_tf32", lambda value: value if isinstance(value, bool) else None, "true or false")
    return Cudnn(source.count("built_for"), source.count("minimum"), source.dtype("io_dtype"), allow_tf32)


def _file(source: _Object) -> FileEntry:
    digest = source.take("sha256", lambda v: v if isinstance(v, str) and re.fullmatch("[0-9a-f]{64}", v) else None, "64 hexadecimal digits")
    return FileEntry(digest, source.count("bytes"))


def _versions(source: _Object) -> None:
    """Format first, then versions: a foreign or newer file must not be judged by this version's fields."""
    source.take("format", lambda value: value if value == FORMAT else None, f'"{FORMAT}"')
    for key, ours, other in (("format_version", FORMAT_VERSION, "format"), ("abi_version", ABI_VERSION, "ABI")):
        got = source.count(key)
        if got != ours:
            what = "newer: update convoy" if got > ours else "older: compile the model again"
            raise source.error(key, f"this runtime reads {other} version {ours}, the artifact is {what}; expected {ours}", got)


def _manifest(tree: Any, path: object) -> Manifest:
    source = _Object(tree, "", path)
    _versions(source)
    target = source.take("target", lambda value: value if value in ("cpu", "cuda") else None, '"cpu" or "cuda"')

    def strings(value: Any) -> dict[str, str] | None:
        return value if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()) else None

    def nested(key: str, read: Callable[[_Object], _T]) -> _T:
        return _read(_Object(source.take(key, lambda value: value, "an object"), key, path), read)

    files = source.take("files", lambda value: value if isinstance(value, dict) else None, "an object")
    has_cudnn = target == "cuda" or "cudnn" in source.value
    manifest = Manifest(
        target=target,
        producer=source.take("producer", strings, "an object of strings"),
        host=nested("host", lambda host: Host(host.text("triple"), host.text("cpu"), host.texts("features"))),
        inputs=source.each("inputs", _spec),
        outputs=source.each("outputs", _spec),
        weights=source.each("weights", _spec),
        prepared=source.each("prepared", _spec),
        arena_bytes=source.count("arena_bytes"),
        prepare_arena_bytes=source.count("prepare_arena_bytes"),
        files={name: _read(_Object(entry, f"files.{name}", path), _file) for name, entry in files.items()},
        graphs=source.each("graphs", _graph, optional=target == "cpu"),
        calls=source.each("calls", lambda call: Call(call.count("graph"), call.text("location")), optional=target == "cpu"),
        kernels=source.each("kernels", _kernel, optional=target == "cpu"),
        outside=source.each("outside", lambda op: OutsideOp(op.text("op"), op.text("location"), op.text("reason")), optional=True),
        cudnn=nested("cudnn", _cudnn) if has_cudnn else None,
        constants=source.texts("constants") if "constants" in source.value else (),
        aliases=source.take("aliases", strings, "an object of strings") if "aliases" in source.value else {},
        unused=source.texts("unused") if "unused" in source.value else (),
    )
    source.done()
    _check(manifest, path)
    return manifest


def _check(manifest: Manifest, path: object) -> None:
    """What one field cannot say of itself: names are unique, indices are in range, the members that are needed are listed."""

    def refuse(name: str, problem: str) -> ArtifactError:
        return ArtifactError(problem=problem, path=path, member=MANIFEST, field=name)

    for name in ("inputs", "outputs", "weights", "prepared"):
        seen: set[str] = set()
        for index, spec in enumerate(getattr(manifest, name)):
            if spec.name in seen:
                msg = f"{name}[{index}].name"
                raise refuse(msg, f"{spec.name!r} is there twice")
            seen.add(spec.name)
    for index, call in enumerate(manifest.calls):
        if call.graph >= len(manifest.graphs):
            msg = f"calls[{index}].graph"
            raise refuse(msg, f"expected less than {len(manifest.graphs)}, the number of graphs, got {call.graph}")
    weights = {spec.name for spec in manifest.weights}
    for key, names in (("constants", manifest.constants), ("aliases", manifest.aliases.values())):
        for name in names:
            if name not in weights:
                raise refuse(key, f"expected names of weights, got {name!r}")
    needed = ["native.so", *(["constants.safetensors"] if manifest.constants else []), *(["kernels.ptx"] if manifest.kernels else [])]
    needed += [kernel_member(kernel.name) for graph in manifest.graphs for kernel in graph.kernels]
    for member in needed:
        if member not in manifest.files:
            msg = "files"
            raise refuse(msg, f"expected an entry for {member}, got {', '.join(manifest.files) or 'none'}")
