# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What PlanOptions allow cuBLASLt. Each option is a guarantee, so cuBLASLt is refused where it
gives none."""

from __future__ import annotations

import sys

from convoy_runtime.cuda.cublaslt.enums import Reduction
from convoy_runtime.manifest import Graph

from .options import PlanOptions

__all__ = ["allowed_reductions", "max_workspace", "refuses_cublaslt"]

_ALL = Reduction.INPLACE | Reduction.COMPUTE_TYPE | Reduction.OUTPUT_TYPE


def refuses_cublaslt(options: PlanOptions, graph: Graph) -> str | None:
    """Returns why cuBLASLt may not run `graph`; None if it may."""
    numerical, behavior = options.exclude_numerical_notes, options.exclude_behavior_notes
    rules = (
        (not options.allow_cublaslt, "allow_cublaslt=False forbids it"),
        (
            "CUBLASLT_DEPENDENCY" in behavior,
            "exclude_behavior_notes forbids its note CUBLASLT_DEPENDENCY",
        ),
        (
            not options.allow_tensor_cores,
            "may use tensor cores, which allow_tensor_cores=False forbids",
        ),
        (
            "TENSOR_CORE" in numerical,
            "may use tensor cores, which exclude_numerical_notes forbids",
        ),
        # It has NVRTC's functions.
        (
            not options.allow_runtime_compilation,
            "may compile at run time, which allow_runtime_compilation=False forbids",
        ),
        (
            "RUNTIME_COMPILATION" in behavior,
            "may compile at run time, which exclude_behavior_notes forbids",
        ),
    )
    reason = next((reason for applies, reason in rules if applies), None)
    return reason or options.demands_engine(graph)


def allowed_reductions(options: PlanOptions, graph: Graph) -> Reduction:
    """Returns the schemes that may add up the parts of a sum of `graph` that blocks share."""
    excluded, allowed = options.exclude_numerical_notes, _ALL
    # In the output, blocks add up in an order that cuBLASLt does not document.
    if options.deterministic or "NONDETERMINISTIC" in excluded:
        allowed &= ~Reduction.INPLACE
    reduced = (
        not options.allow_reduced_precision_reduction or "REDUCED_PRECISION_REDUCTION" in excluded
    )
    if reduced and graph.tensors[-1].dtype != "float32":
        allowed &= Reduction.COMPUTE_TYPE
    return allowed


def max_workspace(options: PlanOptions) -> int:
    """Returns the largest workspace in bytes."""
    limit = options.max_workspace_bytes
    return sys.maxsize if limit is None else limit
