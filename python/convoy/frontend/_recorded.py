# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Python code that torch.export does not record, although it has equivalent ops.

PyTorch's checks of values are branches on values, which torch.export refuses. They find invalid
arguments, or choose between computations with equal results. `tensor.data` makes a tensor without
an op."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.distributions import Distribution
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.nn.modules import transformer
from torch.overrides import TorchFunctionMode

__all__ = ["RecordData", "without_value_checks"]

_DATA = torch.Tensor.data.__get__  # type: ignore[attr-defined]
_SET_DATA = torch.Tensor.data.__set__  # type: ignore[attr-defined]


class RecordData(TorchFunctionMode):
    """Replaces `tensor.data` by `tensor.detach()` while ops are recorded, and refuses an assignment
    to it, whose effect on the tensor is in no op."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func == _DATA and get_proxy_mode() is not None:
            return args[0].detach()
        if func == _SET_DATA and get_proxy_mode() is not None:
            msg = (
                "the model assigns to the data of a tensor, which torch.export does not record; "
                "expected tensor.copy_(value), or the value under another name"
            )
            raise RuntimeError(msg)
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
