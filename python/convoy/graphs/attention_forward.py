# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The operations of the forward pass of attention: a product, masks, a softmax, and a second
product; scales between them in FP8."""

from __future__ import annotations

from dataclasses import replace

from convoy.graphs.attention_steps import AttentionSteps
from convoy.graphs.model import Node

__all__ = ["AttentionForward"]


class AttentionForward(AttentionSteps):
    """The forward pass. cudnn-frontend: SDPA, SDPA_FP8_FWD."""

    __slots__ = ()

    def run(self) -> None:
        """Adds all operations."""
        given, results = self.entry["inputs"], self.entry["outputs"]
        batch, heads, rows, depth = self.tensors[given["Q"]].dims
        self.transpose("K", self.tensors[given["V"]].dims[2], depth)
        columns = self.tensors[given["K"]].dims[3]
        scores = self.scores((batch, heads, rows, columns))
        scores = self.scale(scores, "Attn_scale", "Descale_Q", "Descale_K")
        weights = self._dropout(self._softmax(self.masks(scores)))
        if "Amax_S" in results:
            self.reduction("AMAX", weights, results["Amax_S"])
        weights = self.scale(weights, "Scale_S")
        # Both products read operands of the type of the query.
        narrow = self.tensors[given["Q"]].data_type
        self.tensors[weights] = replace(self.tensors[weights], data_type=narrow)
        self._output(weights)

    def _output(self, weights: int) -> None:
        """Adds the second product and its scales."""
        given, results = self.entry["inputs"], self.entry["outputs"]
        ports = [port for port in ("Descale_S", "Descale_V", "Scale_O") if port in given]
        out, (rows, columns) = results["O"], self.lengths
        product = self.virtual(self.tensors[out].dims) if ports else out
        found = unscaled = self.matmul(weights, given["V"], product, M=rows, K=columns)
        for port in ports:
            unscaled = found if port == "Scale_O" else unscaled
            last = port == ports[-1]
            found = self.pointwise("MUL", found, given[port], out=out if last else None)
        if "Amax_O" in results:
            read = unscaled if "Scale_O" in given else found
            self.reduction("AMAX", read, results["Amax_O"])

    def _softmax(self, scores: int) -> int:
        given, results = self.entry["inputs"], self.entry["outputs"]
        sums = (*self.tensors[scores].dims[:3], 1)
        most = self.reduction("MAX", scores, self.virtual(sums))
        sink = given.get("SINK_TOKEN")
        if sink is not None:
            most = self.pointwise("MAX", most, sink)
        powers = self.pointwise("EXP", self.pointwise("SUB", scores, most))
        extra = None
        if sink is not None:
            moved = self.pointwise("SUB", sink, most, out=self.virtual(sums))
            extra = self.pointwise("EXP", moved)
        total = self.reduction("ADD", powers, self.virtual(sums))
        if extra is not None:
            total = self.pointwise("ADD", total, extra)
        if "Stats" in results:
            self.pointwise("ADD", most, self.pointwise("LOG", total), out=results["Stats"])
        return self.pointwise("DIV", powers, total)

    def _dropout(self, weights: int) -> int:
        given = self.entry["inputs"]
        chance = self.entry.get("dropout_probability")
        if not chance:
            return self.scale(weights, "Dropout_scale", "Dropout_mask")
        mask = self.virtual(self.tensors[weights].dims)
        ports = {port: given[port] for port in ("Seed", "Offset")}
        attributes = {"mode": "BERNOULLI", "probability": 1.0 - chance}
        self.nodes.append(Node("RNG", "", ports, {"Y": mask}, attributes))
        kept = self.pointwise("MUL", weights, mask)
        return self.pointwise("MUL", kept, self.constant(1.0 / (1.0 - chance), "FLOAT"))
