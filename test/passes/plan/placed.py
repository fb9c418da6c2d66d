"""Compares a model with and without a pass that lets kernels write elsewhere. Such passes apply to
`cuda`, so the passes before them run for `cuda`, and the result on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.utils._pytree as pytree
from op_cases import Function
from torch import Tensor

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module

_BEFORE = (
    "--convert-tcp-to-linalg",
    "--convoy-fuse-elementwise",
    "--convoy-fuse-reads",
    "--convoy-fuse-shared",
    "--lower-affine",
    "--canonicalize",
    "--convoy-expand-math",
    "--plan-weight-origins",
    "--eliminate-empty-tensors",
    "--plan-bufferize",
    "--canonicalize",
    "--cse",
    "--plan-out-params",
    "--canonicalize",
)
_AFTER = ("--canonicalize", "--plan-arena", "--collect-manifest")


def check_pass(
    name: str, function: Callable[..., Any], x: Tensor, convoy_opt: Callable[..., str]
) -> tuple[str, str]:
    """Asserts that the results are the same with and without a pass, bit for bit, and PyTorch's.

    Args:
        name: The option of convoy-opt.
        function: The model.
        x: Its input.
        convoy_opt: Runs convoy-opt.

    Returns:
        The module before and after the pass.
    """
    # A CPU without fused products and sums: of a product and two sums, LLVM fuses one or the other,
    # depending on how it vectorizes the loop.
    options = convoy.CompileOptions(target="cpu", cpu="x86-64")
    imported = import_module(Function(function).eval(), (x,))
    plain = compile_imported(imported, options)
    text = plain.phases["normalize"].replace('tcp.target = "cpu"', 'tcp.target = "cuda"')
    before = convoy_opt(text, *_BEFORE)
    after = convoy_opt(before, name)
    results = []
    for planned in (before, after):
        text = convoy_opt(planned.replace('tcp.target = "cuda"', 'tcp.target = "cpu"'), *_AFTER)
        program = compile_imported(replace(imported, text=text), options, phase="plan").load()
        results.append(pytree.tree_leaves(program(x)))
    for one, other, expected in zip(*results, pytree.tree_leaves(function(x)), strict=True):
        assert torch.equal(one, other)
        torch.testing.assert_close(one, expected)
    return before, after
