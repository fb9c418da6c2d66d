# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads safetensors files from a buffer without a copy, and writes them piece by piece.

The format (https://huggingface.co/docs/safetensors): eight bytes of header length, a JSON header,
then the tensors without gaps or overlaps.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from .dtypes import BY_SAFETENSORS, DTYPES
from .errors import ArtifactError
from .json_object import LARGEST, MOST_DIMS, Document
from .value_types import value_type

__all__ = ["HostTensor", "read_safetensors", "write_safetensors"]

ALIGNMENT = 64
_HEADER_LIMIT = 100_000_000
#: The type of the parts of complex numbers. A compiled model has them as a last dim of 2.
_COMPLEX = {"C64": "F32"}


@value_type(frozen=True, slots=True)
class HostTensor:
    """A packed tensor in host memory. `array` has the tensor's shape and the storage type of
    `dtype` (uint16 for bfloat16)."""

    dtype: str
    array: np.ndarray


def read_safetensors(
    buffer: memoryview | bytes, *, path: object, member: str | None = None
) -> dict[str, HostTensor]:
    """Reads the tensors of a safetensors file.

    Args:
        buffer: The content of the file.
        path: The file, for messages.
        member: The member of an artifact, for messages.

    Returns:
        Name to tensor, a view of `buffer`.

    Raises:
        ArtifactError: The content is not a safetensors file with supported dtypes.
    """
    buffer = memoryview(buffer)

    def refuse(problem: str, name: str | None = None) -> ArtifactError:
        return ArtifactError(problem=problem, path=path, member=member, field=name)

    if len(buffer) < 8:
        msg = f"is not a safetensors file: {len(buffer)} bytes are too few"
        raise refuse(msg)
    (length,) = struct.unpack("<Q", buffer[:8])
    if length > min(len(buffer) - 8, _HEADER_LIMIT):
        msg = (
            f"is not a safetensors file, or is truncated: a header of {length} bytes in a "
            f"file of {len(buffer)}"
        )
        raise refuse(msg)
    header = Document(path, member).parse(
        bytes(buffer[8 : 8 + length]), "is not a safetensors file: the header is not JSON"
    )
    if not isinstance(header, dict):
        msg = "is not a safetensors file: the header is not an object"
        raise refuse(msg)
    header.pop("__metadata__", None)
    data = buffer[8 + length :]
    tensors, places = {}, []
    for name, entry in header.items():
        match entry:
            case {"dtype": str(tag), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if (
                all(type(d) is int and d >= 0 for d in (*shape, begin, end))
            ):
                pass
            case _:
                msg = "expected an object with dtype, shape and data_offsets"
                raise refuse(msg, name)
        if tag in _COMPLEX:
            tag, shape = _COMPLEX[tag], [*shape, 2]
        if len(shape) > MOST_DIMS or prod(size or 1 for size in shape) > LARGEST >> 3:
            msg = (
                f"expected at most {MOST_DIMS} dims whose product without zeros is below "
                f"2**60, got {_short(shape)}"
            )
            raise refuse(msg, name)
        if tag not in BY_SAFETENSORS:
            msg = f"expected a dtype of {', '.join(BY_SAFETENSORS)}, got {tag}"
            raise refuse(msg, name)
        dtype = BY_SAFETENSORS[tag]
        if not 0 <= begin <= end <= len(data) or end - begin != prod(shape) * dtype.bytes:
            msg = (
                f"bytes {begin} to {end} do not hold {tag} of shape {shape} in {len(data)} "
                "bytes of data"
            )
            raise refuse(msg, name)
        tensors[name] = HostTensor(
            dtype.name, np.frombuffer(data[begin:end], dtype=dtype.storage).reshape(shape)
        )
        places.append((begin, end, name))
    last = 0
    for begin, end, name in sorted(places):
        if begin != last:
            what = "overlaps the previous tensor" if begin < last else "leaves a gap before it"
            msg = f"{what}: expected byte {last} of the data, got {begin}"
            raise refuse(msg, name)
        last = end
    if last != len(data):
        msg = f"is not a safetensors file: its tensors have {last} bytes of data, got {len(data)}"
        raise refuse(msg)
    return tensors


def _short(shape: list[int]) -> str:
    text = str(shape)
    return text if len(text) <= 80 else f"{text[:77]}..."


def write_safetensors(tensors: Mapping[str, HostTensor]) -> Iterator[bytes | memoryview]:
    """Writes a safetensors file.

    The data begins at a multiple of 64 bytes, and tensors whose size is a multiple of 64 bytes come
    first, so that these are aligned and can be used in place.

    Args:
        tensors: Name to tensor.

    Yields:
        The pieces of the file.
    """
    order = sorted(tensors, key=lambda name: tensors[name].array.nbytes % ALIGNMENT != 0)
    header, offset = {}, 0
    for name in order:
        tensor = tensors[name]
        end = offset + tensor.array.nbytes
        header[name] = {
            "dtype": DTYPES[tensor.dtype].safetensors,
            "shape": list(tensor.array.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    yield struct.pack("<Q", len(text)) + text
    for name in order:
        yield np.ascontiguousarray(tensors[name].array).reshape(-1).view(np.uint8).data
