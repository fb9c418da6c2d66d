# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prepares the model's weights by code in the artifact, without the compiler."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._abi import pointer_array
from ._files import read_regular
from ._native import NativeLibrary
from ._safetensors import HostTensor, read_safetensors
from .arrays import CPU, View, check, is_packed, view
from .errors import ArgumentError, ExecutionError, WeightsError
from .host_arrays import aligned_copy, aligned_empty, host_array
from .manifest import Manifest
from .timings import part

__all__ = ["aligned_tensor", "host_tensor", "prepare_weights"]


@part("weights")
def prepare_weights(
    native: NativeLibrary,
    manifest: Manifest,
    source: str | os.PathLike[str] | Mapping[str, Any],
    constants: Mapping[str, HostTensor] | None = None,
) -> dict[str, HostTensor]:
    """Computes the prepared weights on the host with `convoy_prepare_weights`.

    Args:
        native: The library of the artifact.
        manifest: The manifest of the artifact.
        source: A .safetensors file, or a mapping from names to host arrays, e.g. a state_dict, with
            exactly the names, shapes and dtypes of `manifest.weights`, except those in `constants`.
            A shared tensor may have any of its names. `manifest.unused` and BatchNorm's
            `num_batches_tracked` are ignored, because inference does not read them. Those of
            `manifest.compiled_in` have the values there.
        constants: The weights that are not in a state dict.

    Returns:
        Name to prepared weight.

    Raises:
        WeightsError: The weights do not match; lists every mismatch.
        ArtifactError: The file is damaged.
        ExecutionError: The native code fails.
    """
    given = _given_weights(manifest, source, constants or {})
    prepared = {
        spec.name: HostTensor(spec.dtype, aligned_empty(spec.shape, spec.dtype))
        for spec in manifest.prepared
    }
    arena = aligned_empty((manifest.prepare_arena_bytes,), "uint8")
    status = native.prepare_weights(
        pointer_array([array.ctypes.data for array in given]),
        pointer_array([tensor.array.ctypes.data for tensor in prepared.values()]),
        arena.ctypes.data,
    )
    if status:
        raise ExecutionError(entry="convoy_prepare_weights", status=status)
    return prepared


def host_tensor(array: Any, name: str) -> HostTensor:
    """Copies a host array.

    Args:
        array: A numpy array, or an array that supports DLPack.
        name: Its name, for messages.

    Returns:
        A packed, 64-byte aligned copy.

    Raises:
        ArgumentError: The array cannot be read.
    """
    got = view(array, name)
    return HostTensor(got.dtype, aligned_copy(got))


def aligned_tensor(tensor: HostTensor) -> HostTensor:
    """The weight at a multiple of 64 bytes, so that several programs use the same copy."""
    if tensor.array.ctypes.data % 64 == 0:
        return tensor
    array = aligned_empty(tensor.array.shape, tensor.dtype)
    np.copyto(array, tensor.array)
    return HostTensor(tensor.dtype, array)


def _given_weights(
    manifest: Manifest,
    source: str | os.PathLike[str] | Mapping[str, Any],
    constants: Mapping[str, HostTensor],
) -> list[np.ndarray]:
    """The arguments of `convoy_prepare_weights`: 64-byte aligned arrays in the manifest's order."""
    origin = "the mapping"
    if not isinstance(source, Mapping):
        if not isinstance(source, (str, os.PathLike)):
            problem = (
                "expected a .safetensors file or a mapping from names to arrays, such as "
                f"module.state_dict(), got {type(source).__qualname__}"
            )
            raise WeightsError(problem=problem)
        origin, source = str(source), _read_file(Path(source))
    expected = {spec.name: spec for spec in manifest.weights}
    known = {*expected, *manifest.aliases, *manifest.unused, *manifest.compiled_in}
    problems = [
        f"{name}: unexpected"
        for name in source
        if name not in known and not str(name).endswith("num_batches_tracked")
    ]
    source = {
        **constants,
        **{name: source[alias] for alias, name in manifest.aliases.items() if alias in source},
        **source,
    }
    problems = [f"{name}: missing" for name in expected if name not in source] + problems
    problems += [
        f"{name}: its value is not the one that the program is compiled for; compile the model "
        "again"
        for name, text in manifest.compiled_in.items()
        if name in source and _hex(source[name], name) != text
    ]
    views: list[View] = []
    for name, spec in expected.items():
        if name not in source:
            continue
        value = source[name]
        try:
            if isinstance(value, HostTensor):
                got = View(
                    value.array.ctypes.data,
                    value.array.shape,
                    _strides(value.array),
                    value.dtype,
                    (CPU, 0),
                    value.array,
                )
            else:
                # Parameters are detached; their values are copied.
                got = view(_real(value.detach() if hasattr(value, "detach") else value), name)
            check(got, spec, name, (CPU, 0))
        except ArgumentError as error:
            problems.append(str(error))
            continue
        views.append(got)
    if problems:
        raise WeightsError(
            problem=f"{origin}: {len(problems)} weights do not match, the old ones stay in use:",
            problems=tuple(problems),
        )
    return [_readable(got) for got in views]


def _hex(value: Any, name: str) -> str:
    """The bytes of a host array as in `manifest.compiled_in`."""
    array = value.array if isinstance(value, HostTensor) else host_array(view(value, name))
    return array.tobytes().hex()


def _real(value: Any) -> Any:
    """A complex tensor of torch or numpy as a real one whose last dim has the real and the
    imaginary part, as compiled models have it; other arrays unchanged."""
    if getattr(value, "is_complex", bool)():
        value = value.cpu().resolve_conj().numpy()
    if not isinstance(value, np.ndarray) or value.dtype.kind != "c":
        return value
    packed = np.ascontiguousarray(value)
    return packed.view(packed.real.dtype).reshape(*value.shape, 2)


def _read_file(path: Path) -> Mapping[str, HostTensor]:
    try:
        content = read_regular(path)
    except OSError as error:
        raise WeightsError(problem=f"{path}: cannot be read: {error.strerror or error}") from error
    return read_safetensors(content, path=path)


def _strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def _readable(got: View) -> np.ndarray:
    """The elements packed and 64-byte aligned, copied only if necessary."""
    return host_array(got) if is_packed(got) and got.pointer % 64 == 0 else aligned_copy(got)
