"""The chunks of op cases after the import."""

from __future__ import annotations

import io
from pathlib import Path

import torch
from op_cases import build_chunk

from convoy.frontend import ImportedModule, import_module
from convoy_runtime._files import write_whole

__all__ = ["imported_chunk"]


def imported_chunk(index: int, folder: Path) -> ImportedModule:
    """Imports a chunk of op cases, or reads it from `folder`, where the first process leaves it: an
    export takes most of a chunk's time, and tests of three files in several processes need it."""
    path = folder / f"chunk-{index}.pt"
    if not path.exists():
        together, flat, _ = build_chunk(index)
        content = io.BytesIO()
        torch.save(import_module(together, flat), content)
        write_whole(path, [content.getvalue()])  # another process never reads a part of it
    imported = torch.load(path, weights_only=False)
    assert isinstance(imported, ImportedModule)
    return imported
