# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The operations of attention that its forward and its backward pass share: products, masks, and
tensors between operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from convoy.graphs.model import Node, Tensor

__all__ = ["AttentionSteps"]


@dataclass(slots=True)
class AttentionSteps:
    """Collects the operations of one attention. Tensors between them are `compute`, unless given.

    Attributes:
        entry: The node of cudnn-frontend's JSON.
        tensors: uid to tensor. Receives the tensors between the operations.
        compute: The compute type.
        nodes: The operations so far, in order.
    """

    entry: Mapping[str, Any]
    tensors: dict[int, Tensor]
    compute: str
    nodes: list[Node] = field(default_factory=list)

    @property
    def lengths(self) -> tuple[int | None, int | None]:
        """The tensors of the lengths of query and key, if there is padding."""
        given = self.entry["inputs"] if self.entry.get("padding_mask") else {}
        return given.get("SEQ_LEN_Q"), given.get("SEQ_LEN_KV")

    def transpose(self, port: str, rows: int, columns: int) -> None:
        """Swaps the last two dims of an input of dims batch x heads x rows x columns, as
        cudnn-frontend does when it builds the operation graph. It may have done so already."""
        tensor = self.tensors[self.entry["inputs"][port]]
        # A square matrix is stored with contiguous rows.
        square = rows == columns and tensor.strides[3] == 1
        if tensor.dims[2:] == (rows, columns) and (rows != columns or square):
            order = (0, 1, 3, 2)
            self.tensors[tensor.uid] = replace(
                tensor,
                dims=tuple(tensor.dims[dim] for dim in order),
                strides=tuple(tensor.strides[dim] for dim in order),
            )

    def scores(self, shape: tuple[int, ...]) -> int:
        """Multiplies query and transposed key. Returns the uid of the product."""
        given, (rows, columns) = self.entry["inputs"], self.lengths
        return self.matmul(given["Q"], given["K"], self.virtual(shape), M=rows, N=columns)

    def scale(self, x: int, *ports: str) -> int:
        """Multiplies by the inputs at these ports, as far as they exist."""
        for port in ports:
            if port in self.entry["inputs"]:
                x = self.pointwise("MUL", x, self.entry["inputs"][port])
        return x

    def masks(self, scores: int) -> int:
        """Adds the bias, and masks the scores beyond the sequences and outside of the band."""
        if "Bias" in self.entry["inputs"]:
            scores = self.pointwise("ADD", scores, self.entry["inputs"]["Bias"])
        return self._bands(self._padding(scores))

    def _padding(self, scores: int) -> int:
        """Masks the scores beyond the lengths of the sequences."""
        given = self.entry["inputs"]
        if not self.entry.get("padding_mask"):
            return scores
        row, column = (self._index(scores, axis, "INT32") for axis in (2, 3))
        inside = [
            self._compare("CMP_LT", index, given[port])
            for index, port in ((row, "SEQ_LEN_Q"), (column, "SEQ_LEN_KV"))
        ]
        mask = self.pointwise("LOGICAL_AND", *inside, kind="BOOLEAN", compute="BOOLEAN")
        return self._select(scores, mask)

    def _bands(self, scores: int) -> int:
        """Masks the scores outside of the diagonal band."""
        given = self.entry["inputs"]
        rows, columns = self.tensors[scores].dims[2:]
        bottom = self.entry.get("diagonal_alignment") == "BOTTOM_RIGHT"
        lengths = [given.get("SEQ_LEN_KV"), given.get("SEQ_LEN_Q")]
        if (right := self.entry.get("right_bound")) is not None:
            row, column = self._index(scores, 2), self._index(scores, 3)
            if bottom:
                ends = [
                    length if length is not None else self.constant(size, "INT32")
                    for length, size in zip(lengths, (columns, rows), strict=True)
                ]
                row = self._integer("ADD", row, ends[0])
                row = self._integer("SUB", row, ends[1])
            if right:
                row = self._integer("ADD", row, self.constant(right, "INT32"))
            scores = self._select(scores, self._compare("CMP_GE", row, column))
        if (left := self.entry.get("left_bound")) is not None:
            row, column = self._index(scores, 2), self._index(scores, 3)
            if bottom and lengths != [None, None]:
                ends = [
                    length if length is not None else self.constant(size, "INT32")
                    for length, size in zip(lengths, (columns, rows), strict=True)
                ]
                column = self._integer("ADD", column, self.constant(left, "INT32"))
                column = self._integer("SUB", column, ends[0])
                column = self._integer("ADD", column, ends[1])
            else:
                moved = float(left - columns + rows if bottom else left)
                bound = self.constant(moved, "FLOAT")
                column = self.pointwise("ADD", column, bound, kind="FLOAT", compute="FLOAT")
            scores = self._select(scores, self._compare("CMP_GT", column, row))
        return scores

    def virtual(self, dims: tuple[int, ...], kind: str | None = None) -> int:
        """Adds a packed virtual tensor."""
        strides, stride = [], 1
        for size in reversed(dims):
            strides.append(stride)
            stride *= size
        uid = max(self.tensors) + 1
        self.tensors[uid] = Tensor(
            uid, dims, tuple(reversed(strides)), kind or self.compute, virtual=True
        )
        return uid

    def constant(self, value: float, kind: str) -> int:
        """Adds a number."""
        uid = max(self.tensors) + 1
        one = (1, 1, 1, 1)
        self.tensors[uid] = Tensor(uid, one, one, kind, by_value=True, value=value)
        return uid

    def pointwise(
        self, mode: str, *operands: int, kind: str | None = None, compute: str | None = None,
        out: int | None = None, axis: int | None = None,
    ) -> int:  # fmt: skip
        """Adds a pointwise operation, whose result has the shape of the first operand."""
        found = out if out is not None else self.virtual(self.tensors[operands[0]].dims, kind)
        ports = {f"IN_{place}": uid for place, uid in enumerate(operands)}
        attributes = {"mode": mode, "axis": axis}
        self.nodes.append(
            Node("POINTWISE", compute or self.compute, ports, {"OUT_0": found}, attributes)
        )
        return found

    def _index(self, scores: int, axis: int, compute: str | None = None) -> int:
        return self.pointwise("GEN_INDEX", scores, kind="INT32", compute=compute, axis=axis)

    def _integer(self, mode: str, left: int, right: int) -> int:
        return self.pointwise(mode, left, right, kind="INT32", compute="INT32")

    def _compare(self, mode: str, left: int, right: int) -> int:
        return self.pointwise(mode, left, right, kind="BOOLEAN", compute="BOOLEAN")

    def _select(self, scores: int, mask: int) -> int:
        low = self.constant(float("-inf"), "FLOAT")
        return self.pointwise("BINARY_SELECT", scores, low, mask)

    def reduction(self, mode: str, x: int, out: int) -> int:
        """Adds a reduction to the shape of `out`."""
        attributes = {"mode": mode, "is_deterministic": False}
        self.nodes.append(Node("REDUCTION", self.compute, {"X": x}, {"Y": out}, attributes))
        return out

    def matmul(self, a: int, b: int, out: int, **lengths: int | None) -> int:
        """Adds a product. `lengths` (M, N, K) are tensors of the numbers of valid rows."""
        known = {f"{dim}_override": uid for dim, uid in lengths.items() if uid is not None}
        ports = {"A": a, "B": b, **known}
        self.nodes.append(Node("MATMUL", self.compute, ports, {"C": out}, {"padding_value": 0.0}))
        return out
