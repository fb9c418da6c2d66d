# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which workspaces of plans are large in relation to the memory of their program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.manifest import Manifest

__all__ = ["has_large_workspace"]

#: A large workspace exceeds this share of the program's other memory.
_LARGE_SHARE: Final = 0.15
#: The granularity of the driver's allocations: a smaller workspace may take no memory of its own.
_GRANULARITY: Final = 2 << 20


def has_large_workspace(manifest: Manifest) -> Callable[[int, Plan], bool]:
    """Returns a predicate for plans whose workspace is large in relation to the memory of the
    program. A workspace that fits in the unused part of the arena during each call of its graph is
    never large, because it takes no memory.

    Args:
        manifest: The program. Its activations, weights, inputs and outputs are counted.

    Returns:
        The predicate. Its arguments are the index of a graph, and a plan for it.
    """
    tensors = (*manifest.inputs, *manifest.own_outputs, *manifest.prepared)
    memory = manifest.arena_bytes + sum(spec.bytes for spec in tensors)
    limit = max(_GRANULARITY, int(_LARGE_SHARE * memory))
    gaps = manifest.graph_gaps

    def is_large(graph: int, plan: Plan) -> bool:
        return plan.report.workspace_bytes > max(limit, gaps.get(graph, 0))

    return is_large
