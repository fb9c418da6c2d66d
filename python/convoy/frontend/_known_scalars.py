# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensors of one known number as arguments that are numbers, as in `x.split(lengths.max())`.
PyTorch's parser of arguments reads them by an op, `aten.item`, which no function sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import get_proxy_slot
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

__all__ = ["known_scalars"]


@contextmanager
def known_scalars(
    arguments: Any,
    tracer: Any,
    known: Callable[[Node], tuple[torch.Tensor | None, set[str]]],
    read: set[str],
) -> Iterator[None]:
    """Makes such tensors constants of the trace, whose reads are not recorded, while a function
    runs.

    Args:
        arguments: The arguments of the function.
        tracer: The tracer of the graph.
        known: The value of a node, None for one that is not known, and the names of the buffers
            that it depends on.
        read: Gets the names of buffers that the function reads.

    Yields:
        Nothing.
    """
    found = []
    for each in pytree.tree_leaves(arguments):
        if not isinstance(each, torch.Tensor) or each.dim() or each.is_complex():
            continue
        slot = get_proxy_slot(each, tracer, None)
        if slot is None or slot.constant is not None:
            continue
        node = slot.proxy.node
        value, names = known(node)
        if value is not None:
            with _disable_current_modes():
                slot.constant = value.clone()  # an op may write to it
            found.append((slot, len(node.users), names))
    try:
        yield
    finally:
        for slot, uses, names in found:
            slot.constant = None
            # The operand of an op is not read.
            if len(slot.proxy.node.users) == uses:
                read |= names
