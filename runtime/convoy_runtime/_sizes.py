"""The memory that native code was compiled for against what the manifest says of it: what they
disagree on would be read or written out of bounds."""

from __future__ import annotations

from collections.abc import Sequence

from ._native import MEMBER, NativeLibrary
from .errors import ArtifactError
from .manifest import Manifest, TensorSpec

__all__ = ["check_sizes"]

SIZES = "convoy_sizes"
#: More than a model has tensors at its border.
_MOST = 1 << 24


def check_sizes(native: NativeLibrary, manifest: Manifest, *, path: object = None) -> None:
    """Raises ArtifactError, which names the field of the manifest, where `native` was not compiled
    for the sizes in `manifest`.

    To be called before anything of `native` is run on memory that the manifest describes; `path`
    names the artifact in messages.
    """
    numbers = iter(_numbers(native, path))
    for field in ("arena_bytes", "prepare_arena_bytes"):
        _compare(field, getattr(manifest, field), next(numbers, None), path)
    for field in ("inputs", "weights", "prepared", "outputs"):
        specs: Sequence[TensorSpec] = getattr(manifest, field)
        _compare(f"{field}, how many", len(specs), next(numbers, None), path)
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
            problem="says too much",
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
        problem = f"differs from what {MEMBER} was compiled for"
        raise ArtifactError(
            problem=problem,
            path=path,
            member="manifest.json",
            field=field,
            expected=compiled,
            got=str(manifest),
        )
