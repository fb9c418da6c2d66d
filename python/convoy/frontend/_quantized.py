# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of models that are quantized or trained for it, on tensors of floats and integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

__all__ = ["quantized_decompositions"]

aten = torch.ops.aten


def quantized_decompositions() -> dict[Any, Callable[..., Any]]:
    """The decompositions of fake quantization and of products of int8."""
    return {
        aten.fake_quantize_per_tensor_affine_cachemask.default: _per_tensor,
        aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: _tensor_parameters,
        aten.fake_quantize_per_channel_affine_cachemask.default: _per_channel,
        aten._int_mm.default: _int_mm,
    }


def _per_tensor(
    x: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    # PyTorch divides in float32.
    inverse = float(np.float32(1) / np.float32(scale))
    quantized = torch.round(x * inverse) + zero_point
    return _dequantized(quantized, scale, zero_point, quant_min, quant_max, x.dtype)


def _tensor_parameters(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    fake_quant_enabled: torch.Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    quantized = torch.round(x * scale.reciprocal()) + zero_point
    made, mask = _dequantized(quantized, scale, zero_point, quant_min, quant_max, x.dtype)
    enabled = fake_quant_enabled != 0
    return torch.where(enabled, made, x), torch.where(enabled, mask, True)


def _per_channel(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    shape = [-1 if dim == axis % x.ndim else 1 for dim in range(x.ndim)]
    scale, zero_point = scale.reshape(shape), zero_point.reshape(shape)
    scaled = x * scale.reciprocal()
    quantized = (
        torch.round(scaled + zero_point)
        if zero_point.is_floating_point()
        else torch.round(scaled) + zero_point
    )
    return _dequantized(quantized, scale, zero_point, quant_min, quant_max, x.dtype)


def _dequantized(
    quantized: torch.Tensor,
    scale: torch.Tensor | float,
    zero_point: torch.Tensor | int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers in the range, dequantized, and which of them were in it. NaN becomes the least
    number, as in PyTorch."""
    above, below = quantized >= quant_min, quantized <= quant_max
    limited = torch.where(above, torch.where(below, quantized, quant_max), quant_min)
    return ((limited - zero_point) * scale).to(dtype), above & below


def _int_mm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.matmul(a.to(torch.int32), b.to(torch.int32))
