# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The function that torch.compile calls with each graph of Dynamo."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import _disable_current_modes

from convoy.frontend import decompositions
from convoy.torch_compile.graph import compile_graph
from convoy.torch_compile.options import BackendOptions
from convoy.torch_compile.parts import Part
from convoy.torch_compile.weight_states import is_counted

__all__ = ["convoy"]


def convoy(
    graph: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compiles a graph for inference, or for training, where forward and backward are graphs of
    their own. Parts are compiled at the first call.

    Args:
        graph: The graph of Dynamo.
        example_inputs: Its arguments.
        options: The fields of `BackendOptions`.
        mode: The mode of torch.compile: "default", "reduce-overhead" or "max-autotune".

    Returns:
        The compiled function.

    Raises:
        TypeError: An option is unknown.
        ValueError: An option has an invalid value.
    """
    chosen = BackendOptions.of(options, mode)
    compiler = aot_autograd(
        fw_compiler=partial(_compile, kind="forward", options=chosen),
        bw_compiler=partial(_compile, kind="backward", options=chosen),
        inference_compiler=partial(_compile, kind="inference", options=chosen),
        decompositions=decompositions(),
    )
    # Fused attention of PyTorch has no decomposition; its definition by products and softmax has.
    with sdpa_kernel(SDPBackend.MATH):
        compiled: Callable[..., Any] = compiler(graph, example_inputs)
    return compiled


def _compile(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], *, kind: str, options: BackendOptions
) -> Callable[..., Any]:
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    static = metadata.static_input_indices if metadata is not None and kind != "backward" else ()
    return _Compiled(graph, frozenset(static or ()), kind, options)


class _Compiled:
    """A graph, compiled at its first call, with symbolic sizes at the first call of each shape."""

    def __init__(
        self,
        graph: torch.fx.GraphModule,
        static: frozenset[int],
        kind: str,
        options: BackendOptions,
    ) -> None:
        self._graph, self._static, self._kind, self._options = graph, static, kind, options
        values = [node.meta.get("val") for node in graph.graph.nodes if node.op == "placeholder"]
        #: AOTAutograd calls the graph with a list.
        self._boxed_call = True
        #: The positions of arguments that decide about shapes; none if all shapes are fixed.
        self._symbolic = [
            index
            for index, value in enumerate(values)
            if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
            or (
                isinstance(value, torch.Tensor)
                and any(isinstance(size, torch.SymInt) for size in (*value.shape, *value.stride()))
            )
        ]
        self._variants: dict[tuple[Any, ...], torch.fx.GraphModule] = {}
        self._lock = threading.Lock()

    def __call__(self, args: list[Any]) -> Any:
        key = tuple(_shape_of(args[index]) for index in self._symbolic)
        variant = self._variants.get(key)
        if variant is None:
            with self._lock:
                variant = self._variants.get(key) or self._variant(key, args)
        results = variant(*args)
        if self._kind == "forward" and self._static and _is_trained(variant):
            self._static = frozenset()
            self._variants.clear()
        return results

    @torch.no_grad()
    def _variant(self, key: tuple[Any, ...], args: Sequence[Any]) -> torch.fx.GraphModule:
        if self._symbolic and len(self._variants) >= self._options.max_shapes:
            return self._graph
        # AOTAutograd makes the first call in a mode that checks custom ops; in it, torch.export
        # cannot trace.
        with _disable_current_modes():
            graph = (
                _with_fixed_shapes(self._graph, args)
                if self._symbolic
                else copy.deepcopy(self._graph)
            )
            static = frozenset(index for index in self._static if is_counted(args[index]))
            made = compile_graph(graph, static, self._kind, self._options)
        self._variants[key] = made
        return made


def _is_trained(graph: torch.fx.GraphModule) -> bool:
    """Whether weights change from call to call. They become inputs then, which are read as they
    are, since preparing them is for many calls."""
    return any(isinstance(part, Part) and part.loads > 2 for part in graph.children())


def _shape_of(value: Any) -> Any:
    return (value.shape, value.stride()) if isinstance(value, torch.Tensor) else value


def _with_fixed_shapes(graph: torch.fx.GraphModule, args: Sequence[Any]) -> torch.fx.GraphModule:
    """The graph for the shapes of its arguments; symbolic sizes become numbers. Arguments stay as
    they are."""
    tensors = [index for index, value in enumerate(args) if isinstance(value, torch.Tensor)]

    def run(*values: Any) -> Any:
        given = list(args)
        for index, value in zip(tensors, values, strict=True):
            given[index] = value
        return graph(*given)

    examples = [torch.empty_like(args[index]) for index in tensors]
    fixed = make_fx(run, tracing_mode="fake")(*examples)
    # Numbers become unused placeholders, so that positions stay the same.
    nodes = list(fixed.graph.nodes)
    for index, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            nodes.pop(0)
            continue
        with fixed.graph.inserting_before(nodes[0]):
            fixed.graph.placeholder(f"number_{index}").meta["val"] = value
    fixed.recompile()
    return fixed
