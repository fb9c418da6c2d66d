"""Reads manifest.json strictly, and descriptions of graphs in any member."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .dtypes import DTYPES
from .json_object import (
    COUNT,
    COUNTS,
    DTYPE,
    FLAG,
    LARGEST,
    SHAPE,
    TEXT,
    TEXTS,
    Document,
    JsonObject,
    Kind,
    Record,
    choice,
)
from .manifest import (
    ABI_VERSION,
    ALTERNATIVES,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    STEPS,
    Call,
    Cudnn,
    FileEntry,
    Graph,
    GraphConstant,
    GraphKernel,
    GraphTensor,
    Host,
    Kernel,
    KernelArgument,
    Manifest,
    OutsideOp,
    Products,
    Step,
    TensorSpec,
    kernel_member,
)

__all__ = ["read_graph", "read_manifest"]


def read_manifest(text: str | bytes, *, path: object = None) -> Manifest:
    """Reads and checks manifest.json.

    Args:
        text: The text of the member.
        path: The artifact, for messages.

    Returns:
        The manifest.

    Raises:
        ArtifactError: The text is invalid, or is of another version.
    """
    document = Document(path, MANIFEST)
    source = JsonObject(document.parse(text), "", document)
    manifest = _manifest(source)
    source.done()
    _check(manifest, document)
    return manifest


def _matching(pattern: str, expected: str) -> Kind[str]:
    """A string that matches a pattern, which is compiled on first use."""
    return Kind(
        lambda value: (
            value if value.__class__ is str and re.fullmatch(pattern, value, re.ASCII) else None
        ),
        expected,
    )


def _symbol(value: Any) -> str | None:
    return value if value.__class__ is str and value.isascii() and value.isidentifier() else None


def _sha256(value: Any) -> str | None:
    return (
        value
        if value.__class__ is str and len(value) == 64 and not value.strip("0123456789abcdef")
        else None
    )


def _strings(value: Any) -> Mapping[str, str] | None:
    return (
        value
        if value.__class__ is dict and all(item.__class__ is str for item in value.values())
        else None
    )


_NAMES: Kind[Mapping[str, str]] = Kind(_strings, "an object of strings")
_SYMBOL: Kind[str] = Kind(_symbol, "a C identifier")
_SHA256: Kind[str] = Kind(_sha256, "64 hexadecimal digits")
_INT32: Kind[int] = Kind(
    lambda value: value if value.__class__ is int and 0 <= value < 1 << 31 else None,
    "an integer from 0 to 2**31 - 1",
)
_CRC32: Kind[int] = Kind(
    lambda value: value if value.__class__ is int and 0 <= value < 1 << 32 else None,
    "an integer from 0 to 2**32 - 1",
)
_SPEC = Record(TensorSpec, name=TEXT, shape=SHAPE, dtype=DTYPE)
_TENSOR = Record(
    GraphTensor, uid=COUNT, role=choice("input", "output"), shape=SHAPE, strides=COUNTS, dtype=DTYPE
)
_GRAPH_KERNEL = Record(
    GraphKernel, name=_SYMBOL, variant=TEXT, grid=_INT32, block=_INT32, shared_bytes=_INT32,
    chip=_matching(r"sm_[1-9]\d+a?", "an architecture, e.g. sm_90"), tf32=FLAG,
)  # fmt: skip
_PRODUCTS = Record(Products, flops=COUNT, dtype=TEXT)
_CALL = Record(Call, graph=COUNT, location=TEXT)
_ARGUMENT = Record(KernelArgument, role=choice("input", "output", "inout"), bytes=COUNT)
_OUTSIDE = Record(OutsideOp, op=TEXT, location=TEXT, reason=TEXT)
_CUDNN = Record(Cudnn, built_for=COUNT, minimum=COUNT, io_dtype=DTYPE, allow_tf32=FLAG)
_HOST = Record(Host, triple=TEXT, cpu=TEXT, features=TEXTS)
_FILE = Record(FileEntry, sha256=_SHA256, bytes=COUNT, crc32=_CRC32)


#: ASCII characters with no special meaning to file systems and shells.
_MEMBER = re.compile(r"[A-Za-z0-9_.-]{1,255}(?:/[A-Za-z0-9_.-]{1,255})*", re.ASCII)


def _graph_constant(source: JsonObject) -> GraphConstant:
    dtype = source.take("dtype", DTYPE)
    digits = 2 * DTYPES[dtype].bytes
    return GraphConstant(
        source.take("uid", COUNT),
        dtype,
        source.take("bytes", _matching(f"[0-9a-f]{{{digits}}}", f"{digits} hexadecimal digits")),
    )


def read_graph(source: JsonObject) -> Graph:
    """Reads the description of a graph. Raises ArtifactError."""
    tensors = source.records("tensors", _TENSOR)
    for index, tensor in enumerate(tensors):
        if len(tensor.strides) != len(tensor.shape):
            raise source.error(
                f"tensors[{index}].strides",
                f"expected {len(tensor.shape)} integers",
                tensor.strides,
            )
        if tensor.bytes > LARGEST:
            raise source.error(
                f"tensors[{index}].strides",
                "expected a tensor of less than 2**63 bytes",
                tensor.strides,
            )
    constants = source.each("constants", _graph_constant, optional=True)
    kernels = source.records("kernels", _GRAPH_KERNEL, optional=True)
    preference = "plan"
    if "preference" in source:
        choices = ("kernel", "plan", "only_kernel") if kernels else ("plan",)
        preference = source.take(
            "preference",
            Kind(lambda value: value if value in choices else None, f"one of {', '.join(choices)}"),
        )
    if preference == "only_kernel" and source.value.get("symbol") is None:
        source.value.pop("symbol", None)
        symbol = None
    else:
        symbol = source.take("symbol", _SYMBOL)
    return Graph(
        source.take("name", TEXT),
        symbol,
        source.take("ops", TEXTS),
        source.take("location", TEXT),
        tensors,
        constants,
        kernels,
        preference,
        source.take("alternatives", TEXTS) if "alternatives" in source else (),
        source.one("products", _PRODUCTS) if "products" in source else None,
        source.take("fingerprint", _SHA256)
        if "fingerprint" in source and symbol is not None
        else None,
    )


def _kernel(source: JsonObject) -> Kernel:
    name, location, size = (
        source.take("name", TEXT),
        source.take("location", TEXT),
        source.take("bytes", COUNT),
    )
    return Kernel(name, location, size, source.records("arguments", _ARGUMENT))


def _step(source: JsonObject) -> Step:
    kind = next((kind for kind in STEPS if kind in source), STEPS[0])
    return Step(kind, source.take(kind, COUNT))


def _versions(source: JsonObject) -> None:
    """Checks the format, then the versions, before the fields of this version."""
    source.take("format", Kind(lambda value: value if value == FORMAT else None, f'"{FORMAT}"'))
    for key, ours, other in (
        ("format_version", FORMAT_VERSION, "format"),
        ("abi_version", ABI_VERSION, "ABI"),
    ):
        got = source.take(key, COUNT)
        if got != ours:
            what = "newer: update convoy" if got > ours else "older: compile the model again"
            raise source.error(
                key,
                (
                    f"this runtime reads {other} version {ours}, the artifact is {what}; "
                    f"expected {ours}"
                ),
                got,
            )


def _manifest(source: JsonObject) -> Manifest:
    _versions(source)
    target = source.take("target", choice("cpu", "cuda"))
    on_cpu = target == "cpu"
    return Manifest(
        target=target,
        producer=source.take("producer", _NAMES),
        host=source.one("host", _HOST),
        inputs=source.records("inputs", _SPEC),
        outputs=source.records("outputs", _SPEC),
        weights=source.records("weights", _SPEC),
        prepared=source.records("prepared", _SPEC),
        arena_bytes=source.take("arena_bytes", COUNT),
        prepare_arena_bytes=source.take("prepare_arena_bytes", COUNT),
        files=source.named("files", _FILE),
        graphs=source.each("graphs", read_graph, optional=on_cpu),
        calls=source.records("calls", _CALL, optional=on_cpu),
        steps=source.each("steps", _step, optional=True),
        kernels=source.each("kernels", _kernel, optional=on_cpu),
        outside=source.records("outside", _OUTSIDE, optional=True),
        cudnn=source.one("cudnn", _CUDNN) if not on_cpu or "cudnn" in source else None,
        constants=source.take("constants", TEXTS) if "constants" in source else (),
        aliases=source.take("aliases", _NAMES) if "aliases" in source else {},
        unused=source.take("unused", TEXTS) if "unused" in source else (),
    )


def _check(manifest: Manifest, document: Document) -> None:
    """Checks across fields: names are unique, indices are in range, required members are listed."""
    for name in ("inputs", "outputs", "weights", "prepared"):
        seen: set[str] = set()
        for index, spec in enumerate(getattr(manifest, name)):
            if spec.name in seen:
                raise document.error(f"{name}[{index}].name", f"duplicate name {spec.name!r}")
            seen.add(spec.name)
    for index, graph in enumerate(manifest.graphs):
        twice = next(
            (name for name in graph.alternatives if graph.alternatives.count(name) > 1), None
        )
        if twice is not None:
            raise document.error(f"graphs[{index}].alternatives", f"duplicate name {twice!r}")
    for index, call in enumerate(manifest.calls):
        if call.graph >= len(manifest.graphs):
            problem = (
                f"expected less than {len(manifest.graphs)}, the number of graphs, got {call.graph}"
            )
            raise document.error(f"calls[{index}].graph", problem)
    for index, step in enumerate(manifest.steps):
        listed = {"call": manifest.calls, "kernel": manifest.kernels}.get(step.kind)
        if listed is not None and step.number >= len(listed):
            problem = (
                f"expected less than {len(listed)}, the number of {step.kind}s, got {step.number}"
            )
            raise document.error(f"steps[{index}].{step.kind}", problem)
    for member in manifest.files:
        if (
            _MEMBER.fullmatch(member) is None
            or member == MANIFEST
            or {".", ".."} & set(member.split("/"))
        ):
            raise document.error(
                "files", f"expected names of members, e.g. plans/x.json, got {member!r}"
            )
    weights = {spec.name for spec in manifest.weights}
    for key, names in (("constants", manifest.constants), ("aliases", manifest.aliases.values())):
        for name in names:
            if name not in weights:
                raise document.error(key, f"expected names of weights, got {name!r}")
    needed = [
        "native.so",
        *(["constants.safetensors"] if manifest.constants else []),
        *(["kernels.ptx"] if manifest.kernels else []),
    ]
    needed += [kernel_member(kernel.name) for graph in manifest.graphs for kernel in graph.kernels]
    needed += [ALTERNATIVES] if any(graph.alternatives for graph in manifest.graphs) else []
    for member in needed:
        if member not in manifest.files:
            raise document.error(
                "files",
                f"expected an entry for {member}, got {', '.join(manifest.files) or 'none'}",
            )
