"""Sizes in an artifact or a weights file that cannot be allocated or mapped raise a clear error,
not a signal, a MemoryError or an error of numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, affine_manifest, put, rewrite, spec

import convoy_runtime
from convoy.artifact import HostTensor, write_artifact
from convoy_runtime import ArtifactError, ConvoyRuntimeError
from convoy_runtime._elf import elf_problem
from convoy_runtime._native import load_native
from convoy_runtime._safetensors import read_safetensors, write_safetensors
from convoy_runtime.host_arrays import aligned_empty
from convoy_runtime.opening import open_artifact


@pytest.mark.parametrize("field", ["arena_bytes", "prepare_arena_bytes"])
def test_more_memory_than_available(
    tmp_path: Path, compile_c: Callable[..., bytes], field: str
) -> None:
    """On load, not on the first call, and in bytes."""
    size = 1 << 61
    write_artifact(
        tmp_path / "a",
        affine_manifest(**{field: size}),
        {"native.so": compile_c("affine.c", f"-DARENA={size}")},
        PREPARED,
    )
    with pytest.raises(ArtifactError, match=f"cannot allocate {size} bytes for {field}"):
        convoy_runtime.load(tmp_path / "a")


def test_results_larger_than_memory(affine: Path) -> None:
    rewrite(affine, put("outputs", [spec("y", 1 << 57)]))
    with pytest.raises(ArtifactError, match=f"cannot allocate {1 << 59} bytes for outputs"):
        convoy_runtime.load(affine)
    with pytest.raises(
        ConvoyRuntimeError,
        match=rf"cannot allocate {1 << 59} bytes for float32 of shape \[{1 << 57}\]",
    ):
        aligned_empty((1 << 57,), "float32")


@pytest.mark.parametrize(
    "shape", [[1] * 65, [0, 1 << 70], [0, 1 << 60], [1 << 30, 1 << 30], [1 << 63]]
)
def test_invalid_shapes(affine: Path, shape: list[int]) -> None:
    rewrite(affine, put("inputs", [spec("x", *shape)]))
    with pytest.raises(
        ArtifactError,
        match=(
            r"inputs\[0\]\.shape: expected a list of at most 64 sizes whose product without "
            r"zeros is below"
        ),
    ):
        open_artifact(affine)


def test_every_truncation_of_the_library_is_an_error(affine_so: bytes) -> None:
    """With correct digests. The file must contain everything that the dynamic loader maps, or it
    gets a SIGBUS."""
    whole = 0
    for length in (*range(0, 1000), *range(1000, len(affine_so), 61)):
        if elf_problem(affine_so[:length]) is None:
            # Only section headers are missing, which are not mapped.
            load_native(affine_so[:length])
            whole += 1
    assert whole < len(affine_so) / 61 / 2
    assert elf_problem(affine_so) is None


def test_a_truncated_library_in_an_artifact(affine: Path, affine_so: bytes) -> None:
    rewrite(affine, lambda _, members: members.update({"native.so": affine_so[:5000]}))
    with pytest.raises(
        ArtifactError,
        match=(
            r"native\.so: is truncated or damaged: expected a segment up to byte \d+, got "
            r"5000 bytes"
        ),
    ):
        convoy_runtime.load(affine)


@pytest.mark.parametrize(
    ("place", "content", "message"),
    [
        (0, b"\x7fELG", "is not a shared library of a 64-bit little-endian machine"),
        (4, b"\x01", "is not a shared library of a 64-bit"),
        (16, b"\x02", "is not a shared library of a 64-bit"),
        (32, b"\xff" * 8, "expected program headers up to byte"),
        (54, b"\x01", "expected program headers up to byte"),
        (56, b"\xff\xff", "expected program headers up to byte"),
        (56, b"\0\0", "it has no segments to load"),
        (64 + 40, bytes(8), "exceeds its 0 bytes"),
    ],
)
def test_invalid_headers_of_a_library(
    affine_so: bytes, place: int, content: bytes, message: str
) -> None:
    changed = bytearray(affine_so)
    changed[place : place + len(content)] = content
    assert message in str(elf_problem(bytes(changed)))
    with pytest.raises(ArtifactError, match=message):
        load_native(bytes(changed))


def header(**tensors: tuple[str, list[int], list[int]]) -> bytes:
    text = ", ".join(
        f'"{name}": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": {place}}}'
        for name, (dtype, shape, place) in tensors.items()
    )
    return len(text := f"{{{text}}}").to_bytes(8, "little") + text.encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(w=("F32", [0, 1 << 70], [0, 0])),
        r"w: expected at most 64 dims whose product without zeros is below 2\*\*60"),
        (header(w=("F32", [1] * 65, [0, 4])) + bytes(4), "w: expected at most 64 dims"),
        (header(w=("F32", [0, 1 << 60], [0, 0])), "w: expected at most 64 dims"),
        (header(a=("F32", [2], [0, 8]), b=("F32", [2], [4, 12])) + bytes(12),
        "b: overlaps .*: expected byte 8 of the data, got 4"),
        (header(a=("F32", [1], [0, 4]), b=("F32", [1], [0, 4])) + bytes(4),
        "b: overlaps the previous tensor"),
        (header(a=("F32", [1], [0, 4]), b=("F32", [1], [8, 12])) + bytes(12),
        "b: leaves a gap before it: expected byte 4 of the data"),
        (header(a=("F32", [1], [4, 8])) + bytes(8),
        "a: leaves a gap before it: expected byte 0 of the data"),
        (header(a=("F32", [1], [0, 4])) + bytes(9),
        "is not a safetensors file: its tensors have 4 bytes of data, got 9"),
        (header(a=("F32", [1], [-4, 0])),
        "a: expected an object with dtype, shape and data_offsets"),
        (b'\x20' + bytes(7) + b'{"a": {"dtype": "F32", "a": 1}, "a": 2}'.ljust(32)[:32],
        "the header is not JSON"),
    ],
)  # fmt: skip
def test_invalid_safetensors(content: bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        read_safetensors(content, path="w.safetensors")


def test_safetensors_with_empty_tensors() -> None:
    given = {
        "a": HostTensor("float32", np.zeros((0, 3), np.float32)),
        "b": HostTensor("float32", np.ones(3, np.float32)),
    }
    given["c"] = HostTensor("float32", np.zeros((2, 0), np.float32))
    read = read_safetensors(b"".join(write_safetensors(given)), path="x")
    assert {name: each.array.shape for name, each in read.items()} == {
        "a": (0, 3),
        "b": (3,),
        "c": (2, 0),
    }
