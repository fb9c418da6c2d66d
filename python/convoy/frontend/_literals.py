# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads the data of `torch.vtensor.literal`s in a torch-dialect file: dense attributes, and
`dense_resource`s, whose blobs are parsed from the file's text because the bindings cannot read
them."""

from __future__ import annotations

import re

import numpy as np
import torch
from torch_mlir import ir

from convoy.frontend._builder import Unsupported
from convoy.frontend._types import TensorType

__all__ = ["Literals"]

_RESOURCE = re.compile(r"dense_resource<\"?([^\">]+)\"?>")
_BLOB = re.compile(r'\b([\w$.-]+)\s*:\s*"0x([0-9A-Fa-f]+)"')
_NAME = re.compile(r'loc\("((?:[^"\\]|\\.)*)"(?!:)')
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+.\w]+")
_ALIGNMENT_DIGITS = 8  # a blob starts with its alignment, 32 bits


class Literals:
    """Reads literals and names them by their locations, or `literal0`, `literal1`, ... in order."""

    def __init__(self, text: str = "") -> None:
        _, _, metadata = text.partition("{-#")
        self._blobs = {
            key: bytes.fromhex(digits[_ALIGNMENT_DIGITS:])
            for key, digits in _BLOB.findall(metadata)
        }
        self._count = 0

    def name(self, location: ir.Location) -> str:
        """The name for the literal at `location`. Must be called once per literal."""
        match = _NAME.match(str(location))
        index, self._count = self._count, self._count + 1
        return match[1] if match else f"literal{index}"

    def read(self, value: ir.Attribute, kind: TensorType) -> torch.Tensor | float | int | bool:
        """A tensor, or a number if all elements are equal. Raises Unsupported if the data is
        missing."""
        if isinstance(value, ir.DenseElementsAttr):
            return value.get_splat_value().value if value.is_splat else _dense(value, kind)
        match = _RESOURCE.match(str(value))
        if match is None:
            msg = f"expected a dense literal, got {str(value)[:60]}"
            raise Unsupported(msg)
        if match[1] not in self._blobs:
            msg = f"expected the data of resource '{match[1]}' in the file, got none"
            raise Unsupported(msg)
        return _from_bytes(self._blobs[match[1]], kind, match[1])


def _dense(value: ir.DenseElementsAttr, kind: TensorType) -> torch.Tensor:
    if kind.dtype != torch.bfloat16:
        return torch.from_numpy(np.array(value)).to(kind.dtype).reshape(kind.shape)
    # numpy has no bfloat16: the elements are parsed from the text, where they are numbers or a
    # string of hexadecimal digits.
    body = str(value).removeprefix("dense<").rpartition("> : tensor<")[0]
    if body.startswith('"0x'):
        return _from_bytes(bytes.fromhex(body[3:-1]), kind, "literal")
    bits = [int(item, 16) if item.startswith("0x") else None for item in _NUMBER.findall(body)]
    numbers = [
        0.0 if bit is not None else float(item)
        for bit, item in zip(bits, _NUMBER.findall(body), strict=True)
    ]
    tensor = torch.tensor(numbers, dtype=torch.bfloat16)
    for index, bit in enumerate(bits):
        if bit is not None:
            tensor.view(torch.uint16)[index] = bit
    return tensor.reshape(kind.shape)


def _from_bytes(data: bytes, kind: TensorType, key: str) -> torch.Tensor:
    expected = torch.Size(kind.shape).numel() * kind.dtype.itemsize
    if len(data) != expected:
        msg = f"expected {expected} bytes of data in '{key}', got {len(data)}"
        raise Unsupported(msg)
    return torch.frombuffer(bytearray(data), dtype=kind.dtype).reshape(kind.shape)
