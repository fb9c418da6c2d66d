# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models whose `forward` computes gradients, or applies the transforms of torch.func."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from frontend_checks import check, compare_results
from op_cases import Function
from tcp_reference import run_text
from torch import Tensor, nn
from torch.autograd import forward_ad

from convoy.errors import ExportError
from convoy.frontend import import_module


def _layer(x: Tensor, weight: Tensor) -> Tensor:
    return torch.tanh(x @ weight)


def _loss(x: Tensor, weight: Tensor) -> Tensor:
    return (_layer(x, weight) ** 2).sum()


def _vjp(x: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    y, backward = torch.func.vjp(_layer, x, weight)
    return y, *backward(2 * y)


_TRANSFORMS: dict[str, Callable[..., object]] = {
    "grad": torch.func.grad(_loss, argnums=(0, 1)),
    "vjp": _vjp,
    "jvp": lambda x, w: torch.func.jvp(_layer, (x, w), (2 * x, w + 1)),
    "jacrev": torch.func.jacrev(_layer),
    "jacfwd": torch.func.jacfwd(_layer),
    "hessian": torch.func.hessian(_loss),
    "grad of each row": torch.vmap(torch.func.grad(_loss), in_dims=(0, None)),
    "vmap of vmap": torch.vmap(torch.vmap(torch.dot, (None, 1)), (0, None)),
}


@pytest.mark.parametrize("name", _TRANSFORMS)
def test_transforms(name: str) -> None:
    torch.manual_seed(0)
    check(Function(_TRANSFORMS[name]), torch.randn(3, 4), torch.randn(4, 2))


class _Energy(nn.Module):
    """An interatomic potential: the energy of positions, and the forces."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.LayerNorm(8), nn.Linear(8, 1))

    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        positions = positions.detach().requires_grad_()
        energy = self.layers(positions).sum()
        (gradient,) = torch.autograd.grad(energy, positions)
        return energy, -gradient


class _EnergyWithoutCaller(_Energy):
    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            return super().forward(positions)


def test_forces() -> None:
    imported = check(_EnergyWithoutCaller(), torch.randn(5, 3))
    assert {name for name in imported.weights if name.startswith("layers")} == {
        f"layers.{layer}.{kind}" for layer in (0, 2, 3) for kind in ("weight", "bias")
    }


def test_caller_may_enable_gradients() -> None:
    module, positions = _Energy(), torch.randn(5, 3)
    imported = import_module(module.eval(), (positions,))
    assert "forward" not in vars(module)
    expected = [each.detach() for each in module.double()(positions.double())]
    compare_results(run_text(imported.text, (positions,), imported.weights), expected, 1e-6)


class _Backward(nn.Module):
    """Adds up gradients in its parameters, which are not results."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        self.layer(x).sum().backward()
        assert self.layer.weight.grad is not None
        return self.layer.weight.grad


def test_gradients_in_parameters_are_refused() -> None:
    with pytest.raises(ExportError, match=r"test_gradients\.py:\d+"):
        import_module(_Backward().eval(), (torch.randn(2, 3),))


class _Layers(nn.Module):
    """Layers whose gradients are ops of their own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Sequential(
            nn.Conv1d(4, 8, 3), nn.GroupNorm(2, 8), nn.BatchNorm1d(8), nn.GELU()
        )
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.recurrent = nn.GRU(8, 4)
        self.last = nn.Sequential(nn.LayerNorm(4), nn.Mish(), nn.Softmax(-1))

    def energy(self, x: Tensor) -> Tensor:
        y = self.conv(x).transpose(1, 2)
        y = y + self.attention(y, y, y)[0]
        return (self.last(self.recurrent(y)[0]) ** 2).sum()

    def forward(self, x: Tensor) -> Tensor:
        return torch.func.grad(self.energy)(x)


def test_gradients_of_layers() -> None:
    check(_Layers(), torch.randn(2, 4, 9), tolerance=1e-5)


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacfwd, torch.vmap])
def test_errors_leave_no_transform_active(transform: Callable) -> None:
    """An active transform would make later ops of the process record gradients."""

    def fail(x: Tensor) -> Tensor:
        return x.sum() if (x.sum() > 0).item() else x.prod()

    with pytest.raises(ExportError):
        import_module(Function(lambda x: transform(fail)(x)).eval(), (torch.randn(3, 2),))
    assert torch._C._functorch.get_dynamic_layer_stack_depth() == 0
    assert forward_ad._current_level == -1
