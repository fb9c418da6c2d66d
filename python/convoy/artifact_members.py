# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The members of an artifact, of which the manifest is one, from what the phases return."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Any

from convoy import __version__
from convoy.options import CompileOptions

if TYPE_CHECKING:
    from convoy.frontend import ImportedModule
    from convoy_runtime.manifest import FileEntry, Manifest

__all__ = ["entries_of", "manifest_of", "members_of"]

#: The version of cuDNN that graphs are built and checked against. The oldest supported version is
#: `_convoy.MINIMUM_CUDNN`.
CUDNN_BUILT_FOR = 91900


def members_of(
    imported: ImportedModule,
    native: bytes,
    ptx: Mapping[str, str],
    alternatives: Any,
) -> dict[str, bytes]:
    """The members that the compilation determines, without manifest, plans and weights.

    Args:
        imported: The imported module.
        native: The native library.
        ptx: Name to text of each PTX module; `kernels` has the generated kernels.
        alternatives: The tree of alternatives.json; None if there are none.

    Returns:
        Name to content.
    """
    from convoy_runtime._safetensors import write_safetensors
    from convoy_runtime.artifact import CONSTANTS
    from convoy_runtime.manifest import ALTERNATIVES, kernel_member
    from convoy_runtime.ptx_members import pack_ptx
    from convoy_runtime.weights import host_tensor

    members = {"native.so": native}
    members |= {
        kernel_member(name): pack_ptx(text.encode())
        for name, text in ptx.items()
        if name != "kernels"
    }
    if "kernels" in ptx:
        members["kernels.ptx"] = ptx["kernels"].encode()
    if constants := _constants(imported):
        members[CONSTANTS] = b"".join(
            write_safetensors(
                {name: host_tensor(imported.weights[name], name) for name in constants}
            )
        )
    if alternatives is not None:
        members[ALTERNATIVES] = json.dumps(alternatives, separators=(",", ":")).encode()
    return members


def manifest_of(
    imported: ImportedModule,
    options: CompileOptions,
    document: dict[str, Any],
    members: Mapping[str, bytes],
) -> Manifest:
    """The manifest of an artifact.

    Args:
        imported: The imported module.
        options: The options of the compilation.
        document: The part of manifest.json that the phases write; completed in place.
        members: Name to content of the other members.

    Returns:
        The manifest.
    """
    from convoy import _convoy
    from convoy_runtime.manifest import ABI_VERSION, FORMAT, FORMAT_VERSION
    from convoy_runtime.manifest_reader import read_manifest_tree
    from convoy_runtime.manifest_structure import Node
    from convoy_runtime.records import record_of
    from convoy_runtime.weights import host_tensor

    document |= {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "abi_version": ABI_VERSION,
        "producer": {
            "convoy": __version__,
            "llvm": _convoy.llvm_version(),
            "torch": metadata.version("torch"),
        },
        "files": {member: asdict(entry) for member, entry in entries_of(members).items()},
        "constants": _constants(imported),
        "aliases": dict(imported.aliases),
        "unused": list(imported.unused),
        "compiled_in": {
            name: host_tensor(buffer, name).array.tobytes().hex()
            for name, buffer in imported.compiled_in.items()
        },
    }
    for name in ("arguments", "results"):
        if nodes := getattr(imported, name):
            # Tuples become lists, as in a file.
            text = json.dumps([record_of(Node).tree(node) for node in nodes])
            document[name] = json.loads(text)
    if options.target == "cuda":
        document["cudnn"] = {
            "built_for": CUDNN_BUILT_FOR,
            "minimum": _convoy.MINIMUM_CUDNN,
            "io_dtype": options.dtype or "float32",
            "allow_tf32": options.allow_tf32,
            "allow_winograd": options.allow_winograd,
        }
    return read_manifest_tree(document, path=imported.name)


def entries_of(members: Mapping[str, bytes]) -> dict[str, FileEntry]:
    """The manifest's entries of members with these contents."""
    from convoy_runtime.manifest import file_entry

    return {member: file_entry([content]) for member, content in members.items()}


def _constants(imported: ImportedModule) -> list[str]:
    return [name for name in imported.weights if name in imported.constants]
