"""The chunks of op cases after the import."""

from __future__ import annotations

import functools
import secrets
from pathlib import Path

import torch
from op_cases import build_chunk

from convoy.frontend import ImportedModule, import_module

__all__ = ["imported_chunk"]


@functools.cache
def imported_chunk(index: int, folder: Path) -> ImportedModule:
    """Imports a chunk of op cases, or reads it from `folder`, where the first process leaves it: an
    export takes most of a chunk's time, and tests of three files in several processes need it."""
    path = folder / f"chunk-{index}.pt"
    if not path.exists():
        together, flat, _ = build_chunk(index)
        whole = folder / f"{path.name}.{secrets.token_hex(4)}"
        torch.save(import_module(together, flat), whole)
        whole.rename(path)
    imported = torch.load(path, weights_only=False)
    assert isinstance(imported, ImportedModule)
    return imported
