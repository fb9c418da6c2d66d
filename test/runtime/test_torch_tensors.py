"""Calls of a program on the host with PyTorch's tensors, which it reads and makes without DLPack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from runtime_fixtures import reference
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import convoy_runtime
from convoy_runtime import ArgumentError, Program
from convoy_runtime import dlpack as exchange

X = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)
EXPECTED = torch.from_numpy(reference(X))


def tensor() -> Tensor:
    """A tensor of PyTorch's own allocator, whose memory is 64-byte aligned."""
    return torch.from_numpy(X).clone()


@pytest.fixture
def program(affine: Path) -> Program:
    return convoy_runtime.load(affine, poison=True)


@pytest.fixture
def borrowed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the arrays that are imported by DLPack."""
    names: list[str] = []

    def borrow(array: object, name: str, **options: object) -> object:
        names.append(name)
        return real(array, name, **options)  # type: ignore[arg-type]

    real = exchange.borrow
    monkeypatch.setattr("convoy_runtime.arrays.borrow", borrow)
    return names


def test_aligned_tensors_are_read_in_place(program: Program, borrowed: list[str]) -> None:
    x, results = tensor(), []
    for _ in range(3):
        results.append(program(x))
    assert not borrowed
    assert all(torch.equal(result, EXPECTED) for result in results)
    assert len({result.data_ptr() for result in results}) == 3
    assert results[0].is_contiguous()


@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.cat([torch.zeros(1), x.flatten()])[1:].view(2, 3),
        lambda x: x.t().contiguous().t(),
        lambda x: torch.nn.functional.pad(x, (1, 1))[:, 1:-1],
    ],
    ids=["unaligned", "transposed", "part"],
)
def test_other_tensors_are_copied(
    program: Program, borrowed: list[str], make: Callable[[Tensor], Tensor]
) -> None:
    # Also after a call with a tensor that is known then.
    for _ in range(2):
        assert torch.equal(program(make(tensor())), EXPECTED)
        program(tensor())
    assert borrowed == ["input 'x'"] * 2


def test_modes_of_pytorch(program: Program, borrowed: list[str]) -> None:
    """In a mode that intercepts PyTorch's calls, a tensor that PyTorch makes may have no memory, or
    be an allocation of a traced graph."""
    x = tensor()
    # The second time, the tensor is known.
    for count in (1, 2):
        with FakeTensorMode():
            y = program(x)
        assert type(y) is Tensor
        assert torch.equal(y, EXPECTED)
        traced = make_fx(lambda z: z + program(x))(x)
        assert torch.equal(traced(x), x + EXPECTED)
        assert len(borrowed) == 2 * count
        program(x)


@pytest.mark.parametrize(
    "transform",
    [
        lambda program, x: torch.func.vmap(program)(x[None]),
        lambda program, x: torch.func.jvp(program, (x,), (x,)),
        lambda program, x: torch.func.grad(lambda z: program(z).sum())(x),
        lambda program, x: program(x.clone().requires_grad_()),
        lambda program, x: program(torch._neg_view(x)),
    ],
    ids=["vmap", "jvp", "grad", "requires_grad", "negative"],
)
def test_tensors_without_plain_memory_are_refused(
    program: Program, transform: Callable[[Program, Tensor], object]
) -> None:
    for _ in range(2):
        with pytest.raises(ArgumentError, match="input 'x'"):
            transform(program, tensor())
        program(tensor())


def test_fake_tensors_are_refused(program: Program) -> None:
    for _ in range(2):
        with FakeTensorMode(), pytest.raises(ArgumentError, match="not one of a tracer"):
            program(torch.empty(2, 3))
        program(tensor())


def test_transforms_of_functions_that_capture_a_tensor(program: Program) -> None:
    x = tensor()
    for _ in range(2):
        y = torch.func.vmap(lambda z: z + program(x))(torch.zeros(4, 2, 3))
        assert torch.equal(y, EXPECTED.expand(4, 2, 3))
        gradient = torch.func.grad(lambda z: (z * program(x)).sum())(torch.zeros(2, 3))
        assert torch.equal(gradient, EXPECTED)
        program(x)


def test_modes_of_gradients(program: Program, borrowed: list[str]) -> None:
    x = tensor()
    with torch.inference_mode():
        assert torch.equal(program(x), EXPECTED)
        inside = program(x.clone())
    with torch.no_grad():
        assert torch.equal(program(x), EXPECTED)
    assert torch.equal(program(x), EXPECTED)
    assert not program(x).requires_grad
    assert torch.equal(program(inside), torch.from_numpy(reference(EXPECTED.numpy())))
    assert not borrowed
