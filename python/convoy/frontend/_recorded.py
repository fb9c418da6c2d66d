# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Python code that torch.export does not record, although it has equivalent ops.

PyTorch's checks of values are branches on values, which torch.export refuses. They find invalid
arguments, or choose between computations with equal results: those of torch.cov find out whether
all weights are one. `tensor.data` makes a tensor without an op."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch.distributions import Distribution
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.nn.modules import transformer
from torch.overrides import TorchFunctionMode

from convoy.frontend._assigned_data import AssignedData
from convoy.frontend._eigenvalues import least_squares
from convoy.frontend._stacked_numbers import STACKED

__all__ = ["RecordData", "without_value_checks"]

_DATA = torch.Tensor.data.__get__  # type: ignore[attr-defined]
_SET_DATA = torch.Tensor.data.__set__  # type: ignore[attr-defined]


class RecordData(TorchFunctionMode):
    """Replaces `tensor.data` by `tensor.detach()`, and functions that check values by what they
    compute, while ops are recorded. A parameter or buffer whose data a model assigns is replaced by
    the assigned value in the ops that follow; the data of other tensors cannot be assigned.

    Args:
        module: The module that is recorded.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._data = AssignedData(module)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        args, kwargs = self._data.replaced(args, kwargs)
        if func == _SET_DATA and self._data.assign(args[0], args[1]):
            return None
        if func == _DATA and get_proxy_mode() is not None:
            return args[0].detach()
        if func == _SET_DATA and get_proxy_mode() is not None:
            msg = (
                "the model assigns to the data of a tensor, which torch.export does not record; "
                "expected tensor.copy_(value), or the value under another name"
            )
            raise RuntimeError(msg)
        if func in _COMPUTED and get_proxy_mode() is not None:
            func = _COMPUTED[func]
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def without_value_checks() -> Iterator[None]:
    """Leaves the checks out: those of the parameters and samples of distributions, and whether the
    mask of a `torch.nn.Transformer` is causal, which is a hint next to the mask."""
    validates, detect = Distribution._validate_args, transformer._detect_is_causal_mask
    Distribution.set_default_validate_args(False)
    transformer._detect_is_causal_mask = _given_hint
    try:
        yield
    finally:
        Distribution.set_default_validate_args(validates)
        transformer._detect_is_causal_mask = detect


def _given_hint(
    mask: torch.Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """The hint of the caller. Without it the mask is used as it is."""
    return is_causal is True


def _covariance(
    x: torch.Tensor,
    *,
    correction: int = 1,
    fweights: torch.Tensor | None = None,
    aweights: torch.Tensor | None = None,
) -> torch.Tensor:
    """torch.cov. A number of at most zero in place of that of samples is zero."""
    x = x.reshape(1, -1) if x.ndim < 2 else x
    x = x if x.is_floating_point() or x.is_complex() else x.to(torch.get_default_dtype())
    weights = [each for each in (fweights, aweights) if each is not None]
    one = x.new_ones(x.shape[1], dtype=x.real.dtype)
    weight = math.prod(weights, start=one)
    total = weight.sum()
    lost = correction * ((weight * aweights).sum() / total if aweights is not None else 1)
    centered = x - (x * weight).sum(1, keepdim=True) / total
    product = (centered * weight) @ centered.mH
    return (product / (total - lost).clamp(min=0)).squeeze()


def _correlation(x: torch.Tensor) -> torch.Tensor:
    """torch.corrcoef."""
    covariance = _covariance(x)
    if covariance.ndim == 0:
        return covariance / covariance
    deviation = covariance.diagonal().real.sqrt()
    found = covariance / deviation[:, None] / deviation
    if found.is_complex():
        return torch.complex(found.real.clamp(-1, 1), found.imag.clamp(-1, 1))
    return found.clamp(-1, 1)


def _gaussian_nll_loss(
    x: torch.Tensor,
    target: torch.Tensor,
    var: torch.Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> torch.Tensor:
    """torch.nn.functional.gaussian_nll_loss of variances that are not negative."""
    spread = var if isinstance(var, torch.Tensor) else torch.full_like(x, var)
    if spread.shape == x.shape[:-1]:
        spread = spread.unsqueeze(-1)
    spread = spread.clamp(min=eps)
    loss = 0.5 * (spread.log() + (x - target) ** 2 / spread)
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


_COMPUTED: dict[Any, Callable[..., Any]] = STACKED | {
    torch.cov: _covariance,
    torch.Tensor.cov: _covariance,
    torch.corrcoef: _correlation,
    torch.Tensor.corrcoef: _correlation,
    F.gaussian_nll_loss: _gaussian_nll_loss,
    torch.linalg.lstsq: least_squares,
}
