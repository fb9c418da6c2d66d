# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The operations of the backward pass of attention, which computes the weights again from the
statistics of the softmax."""

from __future__ import annotations

from dataclasses import replace

from convoy.graphs.attention_steps import AttentionSteps
from convoy.graphs.model import Node

__all__ = ["AttentionBackward"]


class AttentionBackward(AttentionSteps):
    """The backward pass. cudnn-frontend: SDPA_BWD.

    The sums of products of output and gradient, and the gradient of the query in float32, are not
    virtual: cudnn-frontend puts them into its own workspace, and here they are results of the
    graph.
    """

    __slots__ = ()

    def run(self) -> None:
        """Adds all operations."""
        given, results = self.entry["inputs"], self.entry["outputs"]
        batch, heads, rows, depth = self.tensors[given["Q"]].dims
        columns = self.tensors[results["dV"]].dims[2]
        self.transpose("K", columns, depth)
        self.transpose("V", columns, self.tensors[given["O"]].dims[3])
        shape = (batch, heads, rows, columns)
        lengths = self.lengths
        sums = self._sums()
        scores = self.masks(self.scale(self.scores(shape), "Attn_scale"))
        weights = self.pointwise("EXP", self.pointwise("SUB", scores, given["Stats"]))
        self._transposed_product(weights, "dO", "dV")
        products = self.matmul(
            given["dO"], given["V"], self.virtual(shape), M=lengths[0], N=lengths[1]
        )
        moved = self.pointwise("MUL", self.pointwise("SUB", products, sums), weights)
        gradient = self.scale(moved, "Attn_scale")
        self._transposed_product(gradient, "Q", "dK")
        key = self.tensors[given["K"]]
        dims = (*key.dims[:2], key.dims[3], key.dims[2])
        kept = (*key.strides[:2], key.strides[3], key.strides[2])
        turned = self._reshape(given["K"], dims, kept, self.compute)
        wide = self._stored((batch, heads, rows, depth))
        self.matmul(gradient, turned, wide, M=lengths[0], K=lengths[1])
        self.pointwise("IDENTITY", wide, out=results["dQ"])

    def _sums(self) -> int:
        """Adds the sums of output times gradient over the depth."""
        given = self.entry["inputs"]
        batch, heads, rows, depth = self.tensors[given["O"]].dims
        product = self.virtual((batch, heads, rows, depth))
        # cudnn-frontend's strides, which engines may match; the tensor has no memory.
        strides = (heads * rows * depth, rows * depth, heads * depth, 1)
        self.tensors[product] = replace(self.tensors[product], strides=strides)
        self.pointwise("MUL", given["dO"], given["O"], out=product)
        sums = self.reduction("ADD", product, self.virtual((batch, heads, rows, 1)))
        stored = self._stored((batch, heads, rows, 1))
        # The scale of dropout, which is 1 without.
        return self.pointwise("MUL", sums, self.constant(1.0, "FLOAT"), out=stored)

    def _transposed_product(self, left: int, port: str, result: str) -> None:
        """Adds the product of a transposed matrix of weights and an input, and its sum over the
        heads that share a key."""
        given, out = self.entry["inputs"], self.entry["outputs"][result]
        batch, heads, rows, columns = self.tensors[left].dims
        narrow = self.tensors[given["Q"]].data_type
        strides = (heads * rows * columns, rows * columns, 1, columns)
        turned = self._reshape(left, (batch, heads, columns, rows), strides, narrow)
        lengths = {"M": self.lengths[1], "K": self.lengths[0]}
        if self.tensors[out].dims[1] == heads:
            self.matmul(turned, given[port], out, **lengths)
            return
        whole = self.virtual((batch, heads, columns, self.tensors[given[port]].dims[3]), narrow)
        self.reduction("ADD", self.matmul(turned, given[port], whole, **lengths), out)

    def _reshape(self, x: int, dims: tuple[int, ...], strides: tuple[int, ...], kind: str) -> int:
        uid = self.virtual(dims, kind)
        self.tensors[uid] = replace(self.tensors[uid], strides=strides)
        attributes = {"dim": [], "stride": [], "reshape_mode": "VIEW_ONLY"}
        self.nodes.append(Node("RESHAPE", "", {"X": x}, {"Y": uid}, attributes))
        return uid

    def _stored(self, dims: tuple[int, ...]) -> int:
        """Adds a tensor in memory."""
        uid = self.virtual(dims, "FLOAT")
        self.tensors[uid] = replace(self.tensors[uid], virtual=False)
        return uid
