# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares the value of each op with PyTorch's, and ranks the ops by their effect on the
results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from convoy.bisect.probes import Probe, Traced, returning, shown, trace
from convoy.bisect.reference import Reference
from convoy.cli.arrays import array_of, tensor_of
from convoy.cli.differences import Comparison, compare_tensor, compute_type, rounding
from convoy.errors import CompileError, ConvoyError
from convoy.frontend import ImportedModule
from convoy.options import CompileOptions

__all__ = ["Finding", "OpErrors", "bisect_model"]

#: Called at the start of each step with its name.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class OpErrors:
    """The errors of an op.

    Attributes:
        probe: The op.
        alone: Its result compared with PyTorch's for the operands that it had in the program.
        effect: The change of an output if this op alone had its error, relative to the largest
            magnitude of that output: the maximum over the outputs.
    """

    probe: Probe
    alone: Comparison
    effect: float


@dataclass(frozen=True)
class Finding:
    """The result of a search.

    Attributes:
        outputs: The comparison of each output of the program.
        ops: The ops with the largest errors, by their effect, largest first.
        culprit: The op that makes the outputs differ. None if they agree.
        fused: Whether the difference disappears when the values of all ops are stored; then
            `culprit` is the first op whose value is wrong when it is computed with those before it.
        keep: The name of the culprit for `keep_float32` that improves the outputs most, or None.
        kept: The comparison of each output with `keep`.
    """

    outputs: tuple[Comparison, ...]
    ops: tuple[OpErrors, ...]
    culprit: OpErrors | None
    fused: bool = False
    keep: str | None = None
    kept: tuple[Comparison, ...] = ()


def bisect_model(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    imported: ImportedModule,
    options: CompileOptions,
    *,
    text: str | None = None,
    most: int = 10,
    progress: Progress = lambda _: None,
) -> Finding:
    """Finds the op that makes the results of a compiled model differ from PyTorch's.

    The program is compiled a second time to return the value of every op, too. An op's own error is
    the difference from PyTorch in float64 for the same operands.

    Args:
        module: The module in evaluation mode.
        inputs: Its example inputs.
        imported: The result of importing it.
        options: The options of the compilation.
        text: A tcp module to compile instead of the model's. None for the model's.
        most: The number of ops whose effect is computed.
        progress: Called at the start of each step with its name.

    Returns:
        The finding.

    Raises:
        ConvoyError: PyTorch cannot run the model in float64.
        CompileError: A compilation fails.
    """
    progress("trace")
    return _Search(trace(module, inputs, imported, text), inputs, options, progress).run(most)


class _Search:
    def __init__(
        self,
        traced: Traced,
        inputs: tuple[Any, ...],
        options: CompileOptions,
        progress: Progress,
    ) -> None:
        self._traced, self._options, self._progress = traced, options, progress
        self._tensors = [each.detach() for each in tree_leaves(inputs)]
        self._arrays = [array_of(each.contiguous()) for each in self._tensors]
        self._exact = Reference(traced.program, self._tensors)
        try:
            self._precise = self._exact.run()
        except RuntimeError as error:
            message = f"expected a model that PyTorch can run in float64: {error}"
            raise ConvoyError(message) from error

    def run(self, most: int) -> Finding:
        self._progress("compile")
        results, self._dtype = self._run(self._traced.imported, self._options)
        self._peer = Reference(self._traced.program, self._tensors, self._torch_dtype())
        self._peer_values = self._precise
        with suppress(RuntimeError), rounding(self._dtype):
            self._peer_values = self._peer.run()
        outputs = self._compare_outputs(results)

        self._progress("compile with the value of each op")
        probes = self._traced.probes
        probed, indices = returning(self._traced.imported, probes)
        values, _ = self._run(probed, self._options)
        self._progress("compare")
        ops = self._rank(probes, [values[index] for index in indices], most)
        if all(each.agrees for each in outputs):
            return Finding(outputs, ops, None)
        if all(each.agrees for each in self._compare_outputs(values[: len(outputs)])):
            return Finding(outputs, ops, self._first_wrong(probes), fused=True)
        # An op within its limit can have the largest effect, e.g. before a difference of sums.
        wrong = [each for each in ops if not each.alone.agrees] or list(ops)
        self._progress("compile with the op in float32")
        keep, kept = self._keep(wrong[0].probe, outputs)
        return Finding(outputs, ops, wrong[0], keep=keep, kept=kept)

    def _torch_dtype(self) -> torch.dtype:
        found = getattr(torch, "float32" if self._dtype == "tf32" else self._dtype)
        assert isinstance(found, torch.dtype)
        return found

    def _run(
        self, imported: ImportedModule, options: CompileOptions
    ) -> tuple[list[torch.Tensor], str]:
        """The outputs of a module, and the compute type."""
        from convoy.compiler import compile_imported

        with compile_imported(imported, options).load() as program:
            arrays = program.run_numpy(*self._arrays)
            tensors = [
                tensor_of(np.array(array), spec.dtype)
                for array, spec in zip(arrays, program.outputs, strict=True)
            ]
            return tensors, compute_type(program, allow_tf32=options.allow_tf32)

    def _compare_outputs(self, results: Sequence[torch.Tensor]) -> tuple[Comparison, ...]:
        precise, peer = self._exact.outputs(self._precise), self._peer.outputs(self._peer_values)
        return tuple(
            self._compare(name, got, own, exact)
            for name, got, own, exact in zip(
                self._traced.imported.outputs, results, peer, precise, strict=True
            )
        )

    def _compare(
        self, name: str, got: torch.Tensor, peer: torch.Tensor, precise: torch.Tensor
    ) -> Comparison:
        return compare_tensor(name, _wide(got), _wide(peer), _wide(precise), self._dtype)

    def _rank(
        self, probes: Sequence[Probe], values: Sequence[torch.Tensor], most: int
    ) -> tuple[OpErrors, ...]:
        """The ops with the largest errors of their own, by effect."""
        got = {probe.node: value for probe, value in zip(probes, values, strict=True)}
        alone = self._exact.run(got)
        operands = {**alone, **{node: self._exact.cast(value) for node, value in got.items()}}
        compared = []
        for probe in probes:
            peer = alone[probe.node]
            # PyTorch lacks some half-precision operations on the CPU.
            with suppress(RuntimeError), rounding(self._dtype), torch.inference_mode():
                peer = self._peer.node(probe.node, operands)
            name = probe.node.name
            compared.append(self._compare(name, got[probe.node], peer, alone[probe.node]))
        order = sorted(
            range(len(probes)),
            key=lambda index: (compared[index].excess, compared[index].difference),
            reverse=True,
        )[:most]
        found = []
        for index in order:
            node = probes[index].node
            error = operands[node].double() - alone[node].double()
            value = self._precise[node]
            value = value + error if value.is_floating_point() else operands[node]
            found.append(OpErrors(probes[index], compared[index], self._effect(node, value)))
        return tuple(sorted(found, key=lambda each: each.effect, reverse=True))

    def _effect(self, node: torch.fx.Node, value: torch.Tensor) -> float:
        """The largest change of an output, relative to its largest magnitude."""
        changes = [0.0]
        for changed, exact in zip(
            self._exact.outputs_with(self._precise, node, value),
            self._exact.outputs(self._precise),
            strict=True,
        ):
            compared = compare_tensor("", _wide(changed), _wide(exact), _wide(exact), "float64")
            changes.append(compared.difference)
        return max(changes)

    def _first_wrong(self, probes: Sequence[Probe]) -> OpErrors:
        """The first op whose value is wrong when a program returns nothing else, by binary
        search."""

        def wrong(index: int) -> Comparison:
            node = probes[index].node
            self._progress(f"compile up to {node.name}")
            module, _ = returning(self._traced.imported, [probes[index]], only=True)
            (value,), _ = self._run(module, self._options)
            return self._compare(node.name, value, self._peer_values[node], self._precise[node])

        low, high = 0, len(probes) - 1
        found = wrong(high)
        while low < high:
            middle = (low + high) // 2
            compared = wrong(middle)
            if compared.agrees:
                low = middle + 1
            else:
                high, found = middle, compared
        return OpErrors(probes[high], found, found.difference)

    def _keep(
        self, probe: Probe, outputs: Sequence[Comparison]
    ) -> tuple[str | None, tuple[Comparison, ...]]:
        """The name for `keep_float32` that improves the outputs most."""
        names = [probe.module] if probe.weighted else []
        names += [shown(probe.line), *probe.names]
        best: tuple[str | None, tuple[Comparison, ...]] = (None, ())
        least = max(each.excess for each in outputs)
        for name in names:
            kept = replace(self._options, keep_float32=(*self._options.keep_float32, name))
            try:
                results, _ = self._run(self._traced.imported, kept)
            except CompileError:
                continue  # canonicalization left no op with this name
            compared = self._compare_outputs(results)
            excess = max(each.excess for each in compared)
            if all(each.agrees for each in compared):
                return name, compared
            if excess < least / 2:
                best, least = (name, compared), excess
        return best


def _wide(tensor: torch.Tensor) -> np.ndarray:
    return (tensor.double() if tensor.is_floating_point() else tensor).cpu().numpy()
