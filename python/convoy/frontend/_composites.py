# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Decomposes exported programs as `ExportedProgram.run_decompositions` does, in less time.

A composite op has a kernel for the dispatch key CompositeImplicitAutograd, which calls other
ops.
During each call, `run_decompositions` overrides the kernels of all 525 composite ops of PyTorch
2.13, which takes 0.25 s: 30 % of the compile time of a single convolution for a CPU. The override
of 440 of them is the decomposition that PyTorch applies anyway. Here these are overridden only if
the program calls them.

The private functions that are imported from PyTorch are the same in 2.13 and 2.14.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch
from torch._export.utils import (
    _collect_all_valid_cia_ops_for_aten_namespace,
    _is_preservable_cia_op,
    _special_op_to_preserve_cia,
)
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.export.exported_program import _decompose_exported_program

__all__ = ["run_decompositions"]


def run_decompositions(
    program: torch.export.ExportedProgram, table: Mapping[Any, Any]
) -> torch.export.ExportedProgram:
    """Decomposes ops.

    Args:
        program: The exported program.
        table: Op to decomposition, for all ops that are not kept.

    Returns:
        The decomposed program.
    """
    called = _called(program.graph_module)
    # Composite ops of other libraries matter only if the program calls them.
    composites = _collect_all_valid_cia_ops_for_aten_namespace() | {
        op for op in called if op.namespace != "aten" and _is_preservable_cia_op(op)
    }
    rules: dict[Any, Any] = {
        op: table.get(op, _special_op_to_preserve_cia)
        for op in composites
        if op in called or not _is_default(op, table.get(op))
    }
    with unset_fake_temporarily():
        result: torch.export.ExportedProgram = _decompose_exported_program(
            program,
            cia_to_decomp=rules,
            python_decomp_table={op: rule for op, rule in table.items() if op not in composites},
            joint_loss_index=None,
            decompose_custom_triton_ops=False,
        )
    return result


def _called(module: torch.fx.GraphModule) -> set[OpOverload]:
    """The ops that a program calls, in its subgraphs too."""
    return {
        node.target
        for each in module.modules()
        if isinstance(each, torch.fx.GraphModule)
        for node in each.graph.nodes
        if isinstance(node.target, OpOverload)
    }


def _is_default(op: Any, rule: Any) -> bool:
    """Whether a rule is the kernel by which PyTorch decomposes `op` itself."""
    return isinstance(rule, functools.partial) and rule.keywords.get("kernel") is op
