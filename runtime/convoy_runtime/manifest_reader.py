"""Reads manifest.json strictly: a missing, unknown or ill-typed field is an error that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from .dtypes import DTYPES
from .errors import ArtifactError
from .manifest import (
    ABI_VERSION,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    Call,
    Cudnn,
    FileEntry,
    Graph,
    GraphAlternative,
    GraphConstant,
    GraphKernel,
    GraphStep,
    GraphTemporary,
    GraphTensor,
    Host,
    Kernel,
    KernelArgument,
    Manifest,
    OutsideOp,
    Products,
    TensorSpec,
    kernel_member,
)
from .manifest_alternatives import check_alternatives

__all__ = ["read_manifest"]

_T = TypeVar("_T")


def read_manifest(text: str | bytes, *, path: object = None) -> Manifest:
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

    def one(self, key: str, read: Callable[[_Object], _T]) -> _T:
        value = self.take(key, lambda value: value if isinstance(value, dict) else None, "an object")
        return _read(_Object(value, f"{self.name}.{key}" if self.name else key, self.path), read)

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

    def flag(self, key: str) -> bool:
        return self.take(key, lambda value: value if isinstance(value, bool) else None, "true or false")

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
        return value if isinstance(value, str) and re.fullmatch(r"sm_[1-9]\d+a?", value, re.ASCII) else None

    name, variant = source.take("name", _symbol, "a C identifier"), source.text("variant")
    grid, block, shared = (source.count(key) for key in ("grid", "block", "shared_bytes"))
    oldest = source.take("chip", chip, "an architecture, as sm_90")
    return GraphKernel(name, variant, grid, block, shared, oldest, tf32=source.flag("tf32"))


def _alternative(source: _Object) -> GraphAlternative:
    steps = source.each("steps", lambda step: GraphStep(step.count("graph"), step.counts("tensors")))
    temporaries = source.each("temporaries", lambda memory: GraphTemporary(memory.count("bytes"), memory.flag("zeros")))
    return GraphAlternative(source.text("name"), steps, temporaries)


def _graph(source: _Object) -> Graph:
    tensors, constants = source.each("tensors", _graph_tensor), source.each("constants", _graph_constant, optional=True)
    kernels = source.each("kernels", _graph_kernel, optional=True)
    alternatives = source.each("alternatives", _alternative, optional=True)
    choices = ("kernel", "plan", "only_kernel") if kernels else ("plan",)
    preference = "plan"
    if "preference" in source.value:
        preference = source.take("preference", lambda value: value if value in choices else None, f"one of {', '.join(choices)}")
    if preference == "only_kernel" and source.value.get("symbol") is None:
        source.value.pop("symbol", None)
        symbol = None
    else:
        symbol = source.take("symbol", _symbol, "a C identifier")
    name, ops, location = source.text("name"), source.texts("ops"), source.text("location")
    products = (
        source.one("products", lambda found: Products(found.count("flops"), found.text("dtype"))) if "products" in source.value else None
    )
    return Graph(name, symbol, ops, location, tensors, constants, kernels, preference, alternatives, products)


def _kernel(source: _Object) -> Kernel:
    def argument(source: _Object) -> KernelArgument:
        roles = ("input", "output", "inout")
        role = source.take("role", lambda value: value if value in roles else None, '"input", "output" or "inout"')
        return KernelArgument(role, source.count("bytes"))

    return Kernel(source.text("name"), source.text("location"), source.count("bytes"), source.each("arguments", argument))


def _cudnn(source: _Object) -> Cudnn:
    return Cudnn(source.count("built_for"), source.count("minimum"), source.dtype("io_dtype"), source.flag("allow_tf32"))


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

    files = source.take("files", lambda value: value if isinstance(value, dict) else None, "an object")
    has_cudnn = target == "cuda" or "cudnn" in source.value
    manifest = Manifest(
        target=target,
        producer=source.take("producer", strings, "an object of strings"),
        host=source.one("host", lambda host: Host(host.text("triple"), host.text("cpu"), host.texts("features"))),
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
        cudnn=source.one("cudnn", _cudnn) if has_cudnn else None,
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
    if (fault := check_alternatives(manifest.graphs)) is not None:
        raise refuse(*fault)
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
