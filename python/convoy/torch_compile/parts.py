# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A part of a graph as a loaded artifact."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

import convoy_runtime
from convoy.compiler import compile_imported
from convoy.frontend import ImportedModule, import_module
from convoy.torch_compile.cache import PartCache, content_hash
from convoy.torch_compile.options import BackendOptions
from convoy.torch_compile.weight_states import WeightStates
from convoy_runtime import ArtifactError, Program
from convoy_runtime.strides import dense_order, packed_strides, same_places

__all__ = ["Part", "PartGraph", "PartSource", "load_part"]


class PartGraph(torch.nn.Module):
    """A part as a module. Its weights are arguments of the graph, so they become buffers here,
    whose values are not used.

    Args:
        graph: A graph of aten ops whose placeholders have `meta["val"]`.
        weights: For each placeholder, whether it is a weight.
    """

    def __init__(self, graph: torch.fx.GraphModule, weights: Sequence[bool]) -> None:
        super().__init__()
        self.part = graph
        self.is_weight = list(weights)
        self.values = [node.meta["val"] for node in graph.graph.nodes if node.op == "placeholder"]
        for index, (value, weight) in enumerate(zip(self.values, weights, strict=True)):
            if weight:
                self.register_buffer(weight_name(index), _empty(value))

    def inputs(self) -> tuple[torch.Tensor, ...]:
        """Example inputs: the arguments that are not weights."""
        return tuple(
            _empty(value)
            for value, weight in zip(self.values, self.is_weight, strict=True)
            if not weight
        )

    def forward(self, *inputs: torch.Tensor) -> Any:
        given = iter(inputs)
        return self.part(
            *(
                getattr(self, weight_name(index)) if weight else next(given)
                for index, weight in enumerate(self.is_weight)
            )
        )


def weight_name(index: int) -> str:
    """The name of the weight at a position of a part's arguments."""
    return f"weight{index}"


def _empty(value: torch.Tensor) -> torch.Tensor:
    """A tensor with the strides of a dense value; a packed one of another value."""
    shape, strides = tuple(value.shape), value.stride()
    if dense_order(shape, strides) is None:
        strides = packed_strides(shape)
    return torch.empty_strided(shape, strides, dtype=value.dtype, device=value.device)


@dataclass(frozen=True)
class PartSource:
    """What a part is compiled from.

    Attributes:
        graph: A graph of aten ops whose placeholders have `meta["val"]`.
        weights: For each placeholder, whether it is a weight.
        device: The device of the part.
        options: The options of the backend.
    """

    graph: torch.fx.GraphModule
    weights: tuple[bool, ...]
    device: torch.device
    options: BackendOptions

    @cached_property
    def cache(self) -> PartCache:
        """The folder of compiled parts."""
        return PartCache(self.options.folder(), self.options.cache_bytes)

    @cached_property
    def key(self) -> str:
        """The name of the part in the cache."""
        text = f"{self.options.describe(self.device.type)} {list(self.weights)}"
        return content_hash(self.graph, self.device, text)

    def is_cached(self) -> bool:
        """Whether the cache has the part."""
        return self.options.cache and self.cache.path(self.key).exists()

    @cached_property
    def imported(self) -> ImportedModule:
        """The part in tcp. Raises FrontendError if it cannot be imported."""
        module = PartGraph(self.graph, self.weights).eval()
        return import_module(module, module.inputs(), name="part")


def load_part(source: PartSource) -> tuple[Part, bool, float]:
    """Compiles and loads a part, or loads it from the cache.

    Args:
        source: The part.

    Returns:
        The part, whether it came from the cache, and the seconds that this took.

    Raises:
        ConvoyError: The part cannot be imported or compiled.
        ConvoyRuntimeError: The part cannot be loaded.
    """
    start = time.perf_counter()
    options, cache = source.options, source.cache
    load = options.load_options(source.device)
    if source.is_cached():
        try:
            program = convoy_runtime.load(cache.path(source.key), **load)
        except ArtifactError:
            pass  # A damaged file is compiled again and replaced.
        else:
            cache.used(source.key)
            return Part(program, source), True, time.perf_counter() - start
    model = compile_imported(source.imported, options.compile_options(source.device.type))
    if options.cache and cache.prepare():
        model.save(cache.path(source.key))
        program = convoy_runtime.load(cache.path(source.key), **load)
        # After the load: the limit may be less than this file.
        cache.trim()
    else:
        program = model.load(**load)
    return Part(program, source), False, time.perf_counter() - start


class Part(torch.nn.Module):
    """A loaded part. Its call takes the arguments of the graph, weights included.

    Weights are prepared when they are first seen, and again when a tensor was replaced or written
    to.

    Args:
        program: The artifact, without weights.
        source: What it was compiled from.
    """

    def __init__(self, program: Program, source: PartSource) -> None:
        super().__init__()
        self._program = program
        self._weights = [index for index, weight in enumerate(source.weights) if weight]
        self._inputs = [index for index, weight in enumerate(source.weights) if not weight]
        self._device = source.device
        returned: Any = source.graph.graph.output_node().args[0]
        self._single = not isinstance(returned, (tuple, list))
        nodes = [returned] if self._single else list(returned)
        self._results = [node.meta["val"] for node in nodes]
        self._strides = [spec.all_strides for spec in program.outputs]
        self._is_direct = [
            same_places(tuple(value.shape), value.stride(), strides)
            for value, strides in zip(self._results, self._strides, strict=True)
        ]
        self._states = WeightStates()
        #: How often weights were loaded.
        self.loads = 0

    def forward(self, *args: Any) -> Any:
        weights = [args[index] for index in self._weights]
        if self._states.differ(weights):
            self._load_weights(weights)
            self._states.keep(weights)
        inputs = [self._input(args[index]) for index in self._inputs]
        results = [
            torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)
            for x in self._results
        ]
        targets = [
            x if same else torch.empty_strided(x.shape, strides, dtype=x.dtype, device=x.device)
            for x, strides, same in zip(results, self._strides, self._is_direct, strict=True)
        ]
        self._program.run_into(targets, inputs)
        for result, target in zip(results, targets, strict=True):
            if result is not target:
                result.copy_(target)
        return results[0] if self._single else tuple(results)

    def _load_weights(self, weights: Sequence[torch.Tensor]) -> None:
        # A part without weights may have constants, which are prepared once.
        if not self._weights and self._program.has_weights:
            return
        self._program.load_weights(
            {
                weight_name(index): weight.detach().resolve_neg().cpu()
                for index, weight in zip(self._weights, weights, strict=True)
            }
        )
        self.loads += 1

    def _input(self, tensor: torch.Tensor) -> torch.Tensor:
        """An input as the program takes it. PyTorch allows scalars of the CPU beside tensors of a
        GPU."""
        tensor = tensor.detach().resolve_neg()
        return tensor if tensor.device == self._device else tensor.to(self._device)
