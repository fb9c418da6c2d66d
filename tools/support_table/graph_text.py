# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Builds the text of a `cudnn.graph`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["BYTES", "GraphText", "Value", "desc", "key_of"]

#: Bytes of an element by type.
BYTES = {
    "f64": 8,
    "f32": 4,
    "f16": 2,
    "bf16": 2,
    "i64": 8,
    "i32": 4,
    "i8": 1,
    "ui8": 1,
    "f8E4M3FN": 1,
    "f8E5M2": 1,
}
_LAYOUT_NAMES = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}

#: A value's name and its type.
Value = tuple[str, str]


def desc(dims: tuple[int, ...], dtype: str, layout: str) -> str:
    """Returns the type of a tensor.

    Args:
        dims: Its dims.
        dtype: Its element type.
        layout: channels_last, channels_first, row_major, or `stride = ` and the strides.

    Returns:
        The type as text.
    """
    if layout.startswith("stride"):
        suffix = f", {layout}"
    else:
        suffix = (
            ""
            if layout == "row_major"
            else f", {_LAYOUT_NAMES[len(dims)][layout == 'channels_last']}"
        )
    return f"!cudnn.tensor_desc<{'x'.join(map(str, dims))}x{dtype}{suffix}>"


def key_of(*parts: object) -> str:
    """Joins parts to a graph's symbol.

    Args:
        parts: The parts.

    Returns:
        The symbol.
    """
    return re.sub(r"\W", "_", "__".join(str(part) for part in parts))


@dataclass
class GraphText:
    """A graph that is being built.

    Args:
        key: Its symbol.
        layout: The layout of tensors for which no other one is given.
        arguments: Declarations of its arguments.
        lines: Its operations.
        results: The number of values that operations have so far.
    """

    key: str
    layout: str
    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    results: int = 0

    def argument(self, dims: tuple[int, ...], dtype: str, layout: str = "") -> Value:
        """Adds an argument.

        Args:
            dims: The dims of the tensor.
            dtype: The element type.
            layout: As in `desc`; by default that of the graph.

        Returns:
            The value.
        """
        kind = desc(dims, dtype, layout or self.layout)
        self.arguments.append(f"%a{len(self.arguments)}: {kind}")
        return f"%a{len(self.arguments) - 1}", kind

    def scalar(self, number: str, dtype: str, rank: int) -> Value:
        """Adds a scalar constant.

        Args:
            number: Its value as text.
            dtype: The element type.
            rank: The number of dims, all of size 1.

        Returns:
            The value.
        """
        kind = desc((1,) * rank, dtype, "row_major")
        (name,) = self._names(1)
        self.lines.append(f"  {name} = cudnn.constant {number} : {dtype} -> {kind}")
        return name, kind

    def apply(
        self, head: str, operands: list[Value], tail: str, dims: tuple[int, ...], dtype: str
    ) -> Value:
        """Adds an operation with positional operands and one result.

        Args:
            head: The operation's name without `cudnn.`, and its mode.
            operands: The operands.
            tail: Its attributes.
            dims: The dims of the result.
            dtype: The element type of the result.

        Returns:
            The result.
        """
        (result,) = self.apply_many(head, operands, tail, [desc(dims, dtype, self.layout)])
        return result

    def apply_many(
        self, head: str, operands: list[Value], tail: str, results: list[str]
    ) -> list[Value]:
        """Adds an operation with positional operands.

        Args:
            head: The operation's name without `cudnn.`, and its mode.
            operands: The operands.
            tail: Its attributes.
            results: The types of the results.

        Returns:
            The results.
        """
        names = self._names(len(results))
        values, kinds = (
            ", ".join(value for value, _ in operands),
            ", ".join(kind for _, kind in operands),
        )
        self.lines.append(
            f"  {', '.join(names)} = cudnn.{head}({values}) {tail} : {kinds} -> "
            f"{', '.join(results)}"
        )
        return list(zip(names, results, strict=True))

    def named(
        self, head: str, operands: Mapping[str, Value | None], results: Mapping[str, str]
    ) -> list[Value]:
        """Adds an operation with named operands and results.

        Args:
            head: The operation's name without `cudnn.`, its mode and attributes.
            operands: The operands by name; None is omitted.
            results: The types of the results by name.

        Returns:
            The results.
        """
        names = self._names(len(results))
        given = " ".join(
            f"{name}({each[0]} : {each[1]})" for name, each in operands.items() if each
        )
        types = " ".join(f"{name}({kind})" for name, kind in results.items())
        self.lines.append(f"  {', '.join(names)} = cudnn.{head} {given} -> {types}")
        return list(zip(names, results.values(), strict=True))

    def text(self, *results: Value) -> str:
        """Returns the text of the graph.

        Args:
            results: The values that it returns.

        Returns:
            The graph as MLIR.
        """
        body = "\n".join(self.lines)
        values, kinds = (
            ", ".join(value for value, _ in results),
            ", ".join(kind for _, kind in results),
        )
        head = f"cudnn.graph @{self.key}({', '.join(self.arguments)}) -> ({kinds})"
        return f"{head} {{\n{body}\n  cudnn.return {values} : {kinds}\n}}\n"

    def _names(self, count: int) -> list[str]:
        self.results += count
        return [f"%v{number}" for number in range(self.results - count, self.results)]
