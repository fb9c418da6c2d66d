# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks that the manifest has the memory sizes that the native code was compiled for. A difference
would lead to accesses out of bounds."""

from __future__ import annotations

from collections.abc import Sequence

from ._native import MEMBER, NativeLibrary
from .errors import ArtifactError
from .manifest import Manifest, TensorSpec

__all__ = ["check_sizes"]

SIZES = "convoy_sizes"
#: Far above the number of tensors of a model's interface.
_MOST = 1 << 24


def check_sizes(native: NativeLibrary, manifest: Manifest, *, path: object = None) -> None:
    """Checks the sizes in `manifest`, before native code runs on memory that it describes.

    Args:
        native: The library of the artifact.
        manifest: The manifest of the artifact.
        path: The artifact, for messages.

    Raises:
        ArtifactError: `native` was compiled for other sizes; names the field of the manifest.
    """
    numbers = iter(_numbers(native, path))
    for field in ("arena_bytes", "prepare_arena_bytes"):
        _compare(field, getattr(manifest, field), next(numbers, None), path)
    for field in ("inputs", "weights", "prepared", "outputs"):
        specs: Sequence[TensorSpec] = getattr(manifest, field)
        _compare(f"number of {field}", len(specs), next(numbers, None), path)
        for index, spec in enumerate(specs):
            _compare(f"{field}[{index}] ({spec}), bytes", spec.bytes, next(numbers, None), path)
    if next(numbers, None) is not None:
        raise ArtifactError(
            problem="has more numbers than the manifest has tensors",
            path=path,
            member=MEMBER,
            field=SIZES,
        )


def _numbers(native: NativeLibrary, path: object) -> Sequence[int]:
    numbers = native.sizes()
    count = numbers[0] if numbers else -1
    if not 0 <= count <= _MOST:
        expected = f"at most {_MOST} numbers"
        raise ArtifactError(
            problem="has an invalid count",
            path=path,
            member=MEMBER,
            field=SIZES,
            expected=expected,
            got=str(count),
        )
    found: list[int] = numbers[1 : 1 + count]
    return found


def _compare(field: str, manifest: int, native: int | None, path: object) -> None:
    if manifest != native:
        compiled = "nothing" if native is None else str(native)
        problem = f"differs from the value that {MEMBER} was compiled for"
        raise ArtifactError(
            problem=problem,
            path=path,
            member="manifest.json",
            field=field,
            expected=compiled,
            got=str(manifest),
        )
