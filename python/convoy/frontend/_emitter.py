# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Creates nodes of an exported graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch._guards import detect_fake_mode

__all__ = ["Emitter"]


@dataclass(frozen=True)
class Emitter:
    """Creates nodes at a graph's insertion point, with the location of a node.

    Attributes:
        graph: The graph.
        node: The node.
    """

    graph: torch.fx.Graph
    node: torch.fx.Node

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """Creates a call of an op. Returns its node."""
        new = self.graph.call_function(target, args, kwargs)
        values = torch.fx.node.map_arg((args, kwargs), lambda each: each.meta["val"])
        mode: Any = detect_fake_mode(self.node.meta["val"])  # of one tensor or of several
        with mode:
            value = target(*values[0], **values[1])
        new.meta = {**self.node.meta, "val": value}
        new.meta.pop("tensor_meta", None)
        return new
