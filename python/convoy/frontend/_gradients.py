# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Exports models whose `forward` computes gradients, such as forces from an energy.

torch.export records ops before autograd sees them, so the ops of a backward pass and of the
transforms of torch.func are not recorded. Below autograd they are ops like others.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch._functorch import predispatch as _predispatch
from torch.autograd import forward_ad
from torch.export._trace import _export
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree

from convoy.frontend._objects import register_objects

__all__ = ["export_below_autograd", "has_transforms", "restored_transforms"]

_functorch = torch._C._functorch
#: The calls of torch.vmap in an exported program.
_VMAP = frozenset(
    {
        "_add_batch_dim",
        "_remove_batch_dim",
        "_vmap_decrement_nesting",
        "_vmap_increment_nesting",
        "lazy_load_decompositions",
    }
)


def export_below_autograd(
    module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """Exports a module with the ops that autograd and torch.func's transforms call.

    Args:
        module: The module.
        inputs: The example inputs.
        kwargs: The example keyword arguments.
        dynamic_shapes: As of `torch.export.export`.

    Returns:
        The exported program.

    Raises:
        Exception: As `torch.export.export`.
    """
    forward, own = module.forward, "forward" in vars(module)

    @functools.wraps(forward)
    def with_gradients(*args: Any, **kwargs: Any) -> Any:
        # A model whose caller has gradients enabled calls torch.autograd.grad only.
        with torch.enable_grad():
            results = forward(*args, **kwargs)
        register_objects(results)
        return pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, results)

    module.forward = with_gradients
    try:
        # Attention and recurrent layers become ops that have decompositions.
        with sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False):
            program: torch.export.ExportedProgram = _export(
                module,
                inputs,
                kwargs,
                dynamic_shapes=dynamic_shapes,
                strict=False,
                pre_dispatch=False,
            )
        return program
    finally:
        if own:
            module.forward = forward
        else:
            del module.forward


def has_transforms(program: torch.export.ExportedProgram) -> bool:
    """Whether an exported program has the gradients of torch.func as calls, which later steps
    cannot replace by ops, as they do with those of torch.vmap."""
    return any(
        getattr(node.target, "__module__", None) == _predispatch.__name__
        and node.target.__name__ not in _VMAP
        for graph in program.graph_module.modules()
        if isinstance(graph, torch.fx.GraphModule)
        for node in graph.graph.nodes
        if node.op == "call_function"
    )


@contextlib.contextmanager
def restored_transforms() -> Iterator[None]:
    """Leaves the transforms that an error left active: while they are, ops of the whole process
    record gradients."""
    depth, level = _functorch.get_dynamic_layer_stack_depth(), forward_ad._current_level
    try:
        yield
    except BaseException:
        _functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)
        while forward_ad._current_level > level:
            forward_ad.exit_dual_level(level=forward_ad._current_level)  # type: ignore[no-untyped-call]
        raise
