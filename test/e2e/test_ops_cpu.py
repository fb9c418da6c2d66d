"""Every op case and every small network, compiled for and run on the CPU, compared with PyTorch in
float64."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import torch
from frontend_checks import compare_results, expected_results
from imported_chunks import imported_chunk
from networks import NETWORKS
from op_cases import CASES, CHUNK, ROUNDED, build_chunk
from torch import Tensor

import convoy
from convoy.compiler import compile_imported

_NAMES = list(CASES)


def _run(compiled: convoy.CompiledModel, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    results = compiled(*inputs)
    results = results if isinstance(results, (list, tuple)) else [results]
    tensors = [torch.from_dlpack(result) for result in results]
    return [tensor.double() if tensor.dtype.is_floating_point else tensor for tensor in tensors]


@functools.cache
def _chunk(index: int, shared: Path) -> list[tuple[list[Tensor], list[Tensor]]]:
    """The results of the compiled chunk and of PyTorch for each of its cases."""
    _, flat, built = build_chunk(index)
    options = convoy.CompileOptions.of(target="cpu")
    got = iter(_run(compile_imported(imported_chunk(index, shared), options), flat))
    expected = [expected_results(module, inputs) for module, inputs in built]
    return [([next(got) for _ in theirs], theirs) for theirs in expected]


@pytest.mark.parametrize("name", _NAMES)
def test_op(name: str, shared_folder: Path) -> None:
    index, item = divmod(_NAMES.index(name), CHUNK)
    compare_results(*_chunk(index, shared_folder)[item], 5e-3 if name in ROUNDED else 1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name: str) -> None:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    module, inputs = make().eval(), (torch.randn(shape),)
    compiled = convoy.compile(module, inputs, target="cpu")
    compare_results(_run(compiled, inputs), expected_results(module, inputs), 1e-5)
