"""Numbers that are the values of tensors, in types in which a tensor would be rounded."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import convoy
import convoy_runtime


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return self.function(x, scale)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, scale: x * scale.item(),
        lambda x, scale: x / scale.item(),
        lambda x, scale: x * scale.item() / x.abs().max().item(),
        lambda x, scale: x[(scale.long() % 2).item()] > scale.item(),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_number_is_not_rounded(
    function: Callable[[Tensor, Tensor], Tensor], dtype: torch.dtype, tmp_path: object
) -> None:
    """1e5 is more than the largest float16."""
    module = _Function(function).eval()
    inputs = (torch.tensor([[0.25, -1.5, 2e-4], [1.0, 0.0, 3.0]]).to(dtype), torch.tensor(1e5))
    path = f"{tmp_path}/model.convoy"
    convoy.compile(module, inputs, target="cpu").save(path)
    with convoy_runtime.load(path) as program:
        torch.testing.assert_close(program(*inputs), module(*inputs))


def _compiled(function: Callable[..., object], inputs: tuple[Tensor, ...]) -> tuple[object, object]:
    """The results of a compiled function and of PyTorch."""
    module = _Function(function).eval()
    return convoy.compile(module, inputs, target="cpu")(*inputs), module(*inputs)


def _replaced(x: Tensor, index: int | slice, value: float | Tensor) -> Tensor:
    x = x.clone()
    x[index] = value
    return x


@pytest.mark.parametrize("number", [-2.5, 3])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.int64])
def test_arithmetic_of_numbers(dtype: torch.dtype, number: float) -> None:
    """Python's arithmetic before a number is used."""
    inputs = torch.tensor([0, -3, 1, 4]).to(dtype), torch.tensor(number)
    got, expected = _compiled(
        lambda x, t: (
            x * (t.item() * 2),
            x + -t.item(),
            x - (t.item() + t.sum().item()),
            x * (2 * t.item() - 1) / abs(t.item()),
            x * (t.item() / 4 + t.item() ** 2),
            x + t.item() // 2,
            x + (t.item() % 3 + 1),
            x.double() * (t.item() > 0),
            x + float(t),
            x + int(t),
            x.double() * bool(t > 0),
            x + round(t.item()) + math.floor(t.item()) + math.ceil(t.item()) + math.trunc(t.item()),
            x * math.sqrt(abs(t.item())),
            x + max(t.item(), 1.0) + min(t.item(), 0.25),
            torch.where(x > t.item() / 2, x, t.item() * 3),
            torch.tensor([t.item(), 2 * t.item()]),
        ),
        inputs,
    )
    torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("number", [-2.5, 3])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_arguments_of_ops(dtype: torch.dtype, number: float) -> None:
    """Numbers as arguments other than the second operand."""
    x = torch.tensor([[0.5, -3.0, 1.0], [-0.25, 4.0, 2.0]]).to(dtype)
    got, expected = _compiled(
        lambda x, t: (
            torch.floor_divide(x, t.item()),
            x // (t.item() * 2),
            x.masked_fill(x > 0, t.item()),
            x.masked_fill(x > 0, -2 * t.item()),
            x.index_fill(1, torch.tensor([0, 2]), t.item()),
            x.scatter(1, torch.tensor([[0, 2]]), t.item()),
            x.clone().fill_(t.item()),
            x.new_full((2,), t.item()),
            torch.add(x, x, alpha=t.item()),
            torch.rsub(x, 1.0, alpha=2) - t.item(),
            torch.addcmul(x, x, x + 1, value=t.item()),
            torch.addcdiv(x, x, x.abs() + 1, value=t.item()),
            torch.lerp(x, x + 1, t.item()),
            x.clamp_min(t.item()).clamp_max(t.item() * 2),
            torch.nn.functional.leaky_relu(x, t.item()),
            torch.nn.functional.elu(x, t.item()),
            torch.nn.functional.threshold(x, t.item(), 3.0),
            torch.where(x > 0, t.item(), 1.0),
            torch.linspace(t.item(), 2 * t.item(), 5),
        ),
        (x, torch.tensor(number)),
    )
    torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("place", [0, 2, -1])
def test_places(place: int) -> None:
    """Numbers as indices, and as starts of slices whose sizes are known."""

    def function(x: Tensor, t: Tensor) -> tuple[Tensor, ...]:
        start = t.item() % 3
        return (
            x[t.item()],
            x[:, t.item() - 1],
            _replaced(x, t.item(), 1.0),
            torch.narrow(x, 0, start, 2),
            _replaced(x.narrow(0, start, 2), 0, -1.0),
            torch.slice_scatter(x, x[:2] * 2, 0, 1, 3),
            torch.arange(t.item(), t.item() + 3),
            x.long() & t.item(),
            x.long() << abs(t.item()),
        )

    x = torch.arange(20.0).reshape(5, 4)
    torch.testing.assert_close(*_compiled(function, (x, torch.tensor(place))))


def test_write_at_a_number() -> None:
    """A step of a cache with static sizes."""

    def function(x: Tensor, t: Tensor) -> Tensor:
        x = x.clone()
        x.narrow(1, t.item(), 2).copy_(torch.ones(3, 2))
        return x

    torch.testing.assert_close(*_compiled(function, (torch.zeros(3, 6), torch.tensor(3))))


def test_int16_wraps_around() -> None:
    """Integers of 16 bits are not computed in float32."""
    inputs = torch.tensor([30000, -30000], dtype=torch.int16), torch.tensor(30001)
    torch.testing.assert_close(*_compiled(lambda x, t: (x * t.item(), x + t.item()), inputs))
