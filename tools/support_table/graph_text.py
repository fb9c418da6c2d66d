"""Text of a `cudnn.graph`, operation by operation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["BYTES", "GraphText", "Value", "desc", "key_of"]

#: Bytes of an element.
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
_WORDS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}

#: A value and its type.
Value = tuple[str, str]


def desc(dims: tuple[int, ...], dtype: str, layout: str) -> str:
    """A tensor's type: `layout` is channels_last, channels_first or row_major, or the strides after
    `stride = `."""
    if layout.startswith("stride"):
        word = f", {layout}"
    else:
        word = "" if layout == "row_major" else f", {_WORDS[len(dims)][layout == 'channels_last']}"
    return f"!cudnn.tensor_desc<{'x'.join(map(str, dims))}x{dtype}{word}>"


def key_of(*parts: object) -> str:
    """A symbol that names a graph."""
    return re.sub(r"\W", "_", "__".join(str(part) for part in parts))


@dataclass
class GraphText:
    """A graph named `key` whose tensors lie in `layout` where nothing else is said."""

    key: str
    layout: str
    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    results: int = 0

    def argument(self, dims: tuple[int, ...], dtype: str, layout: str = "") -> Value:
        """A tensor that is given."""
        kind = desc(dims, dtype, layout or self.layout)
        self.arguments.append(f"%a{len(self.arguments)}: {kind}")
        return f"%a{len(self.arguments) - 1}", kind

    def scalar(self, number: str, dtype: str, rank: int) -> Value:
        """A number that is part of the graph."""
        kind = desc((1,) * rank, dtype, "row_major")
        (name,) = self._names(1)
        self.lines.append(f"  {name} = cudnn.constant {number} : {dtype} -> {kind}")
        return name, kind

    def apply(
        self, head: str, operands: list[Value], tail: str, dims: tuple[int, ...], dtype: str
    ) -> Value:
        """An operation of one result whose operands have no names; returns the result."""
        (result,) = self.apply_many(head, operands, tail, [desc(dims, dtype, self.layout)])
        return result

    def apply_many(
        self, head: str, operands: list[Value], tail: str, results: list[str]
    ) -> list[Value]:
        """An operation whose operands have no names, and results of the types `results`."""
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
        """An operation whose operands have names; those that are None are left out. `results` are
        types by name."""
        names = self._names(len(results))
        given = " ".join(
            f"{name}({each[0]} : {each[1]})" for name, each in operands.items() if each
        )
        made = " ".join(f"{name}({kind})" for name, kind in results.items())
        self.lines.append(f"  {', '.join(names)} = cudnn.{head} {given} -> {made}")
        return list(zip(names, results.values(), strict=True))

    def text(self, *results: Value) -> str:
        """The whole graph, which returns `results`."""
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
