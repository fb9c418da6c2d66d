# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Protobuf's text format, which config.pbtxt is in. Only a writer, so that an export does not need
protobuf and the message classes of Triton's client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["EnumName", "format_message"]


class EnumName(str):
    """The name of an enumerator, which is written without quotes."""

    __slots__ = ()


def format_message(message: Mapping[str, Any]) -> str:
    """The text of a message.

    Args:
        message: Name of a field to its value: a bool, an int, a str, an `EnumName`, a mapping for a
            message, or a list of these for a repeated field. The entries of a map field are
            messages with the fields `key` and `value`.

    Returns:
        The text, one scalar or the begin of a message per line.
    """
    return "".join(f"{line}\n" for line in _lines(message))


def _lines(message: Mapping[str, Any]) -> Iterator[str]:
    for name, value in message.items():
        if isinstance(value, list) and not any(isinstance(each, Mapping) for each in value):
            yield f"{name}: [{', '.join(map(_scalar, value))}]"
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Mapping):
                yield f"{name} {{"
                yield from (f"  {line}" for line in _lines(each))
                yield "}"
            else:
                yield f"{name}: {_scalar(each)}"


def _scalar(value: bool | int | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | EnumName):
        return str(value)
    return f'"{"".join(_escaped(byte) for byte in value.encode())}"'


def _escaped(byte: int) -> str:
    """A byte of a quoted string: printable ASCII as it is, others as three octal digits."""
    character = chr(byte)
    return character if 32 <= byte < 127 and character not in '"\\' else f"\\{byte:03o}"
