# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiled parts in files, found by a hash of their content."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from importlib import metadata
from pathlib import Path

import torch

import convoy
from convoy import _convoy

__all__ = ["PartCache", "content_hash"]


def content_hash(part: torch.fx.GraphModule, device: torch.device, options: str) -> str:
    """The name of a part in the cache: a hash of its ops, of the types of its values, of the
    options, and of the versions of compiler and PyTorch. The values of weights are not hashed: a
    part is compiled without them.

    Args:
        part: A graph of aten ops whose nodes have `meta["val"]`.
        device: The device of the part.
        options: The options of the compilation as text.

    Returns:
        The hash in hexadecimal digits.
    """
    digest = hashlib.sha256()
    lines = [_versions(), device.type, options]
    for node in part.graph.nodes:
        values = [
            f"{value.dtype}{list(value.shape)}{list(value.stride())}"
            if isinstance(value, torch.Tensor)
            else repr(value)
            for value in torch.utils._pytree.tree_leaves(node.meta.get("val"))
        ]
        lines.append(f"{node.name} {node.op} {node.target} {node.args} {node.kwargs} {values}")
    digest.update("\n".join(lines).encode())
    return digest.hexdigest()


@functools.cache
def _versions() -> str:
    """The versions that a compiled part depends on, and the compiler's own content: a new build of
    the same version may compile otherwise. The CPU is not among them: loading an artifact checks
    its features."""
    compiler = Path(_convoy.__file__)
    with compiler.open("rb") as file:
        built = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{convoy.__version__} {built} {metadata.version('torch')}"


class PartCache:
    """A folder of artifacts.

    Args:
        folder: The folder. It is created for this user only.
        limit: The largest number of bytes.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder, self._limit = folder, limit

    def path(self, key: str) -> Path:
        """The file of a part, which need not exist."""
        return self._folder / f"{key}.convoy"

    def prepare(self) -> bool:
        """Creates the folder. Returns False if that is not possible."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return False
        return os.access(self._folder, os.W_OK)

    def used(self, key: str) -> None:
        """Marks a file as used, so that others are deleted first."""
        with contextlib.suppress(OSError):
            os.utime(self.path(key))

    def trim(self) -> None:
        """Deletes the files that were not used for the longest time until the rest is within the
        limit. Programs that have loaded a file keep it."""
        entries = []
        for path in self._folder.glob("*.convoy"):
            with contextlib.suppress(OSError):
                state = path.stat()
                entries.append((state.st_mtime, state.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._limit:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
