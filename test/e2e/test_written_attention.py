# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention that is written as products and a softmax, in the forms of real models, compared with
PyTorch: on the CPU by its results, for a GPU by the op that it becomes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy import CompileOptions
from convoy.phases import lower

_BATCH, _HEADS, _ROWS, _DEPTH = 2, 4, 12, 16
_SHAPE = (_BATCH, _HEADS, _ROWS, _DEPTH)
_LOWEST = torch.finfo(torch.float32).min
_CAUSAL = torch.ones(_ROWS, _ROWS, dtype=torch.bool).tril()
#: Which columns of each image are padding; all of the second.
_PADDING = torch.zeros(_BATCH, 1, 1, _ROWS, dtype=torch.bool)
_PADDING[0, ..., 7:] = True
_PADDING[1] = True


def _attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | float = 0.0) -> Tensor:
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(_DEPTH) + bias
    return torch.matmul(scores.softmax(-1), v)


def _additive(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """BERT: a mask of numbers, a softmax in float32."""
    scores = torch.matmul(q, k.transpose(2, 3)) * 0.25
    scores = scores + torch.where(hidden, _LOWEST, 0.0)
    weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(nn.functional.dropout(weights, 0.1, training=False), v)


def _filled(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """Rows without any score are NaN."""
    scores = (q * 0.25) @ k.transpose(-1, -2)
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v


def _filled_with_lowest(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """Rows without any score are uniform."""
    scores = q @ k.transpose(-1, -2)
    return scores.masked_fill(hidden, _LOWEST).softmax(-1) @ v


def _merged(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Bloom: one dim of batch and heads."""
    q, k, v = (each.flatten(0, 1) for each in (q, k, v))
    zeros = torch.zeros(q.shape[0], _ROWS, _ROWS)
    scores = torch.baddbmm(zeros, q, k.transpose(1, 2), beta=1.0, alpha=0.25)
    return torch.bmm(scores.softmax(-1), v).unflatten(0, (_BATCH, _HEADS))


def _einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = torch.einsum("bhmd,bhnd->bhmn", q * 0.5, k * 0.5).softmax(-1)
    return torch.einsum("bhmn,bhnd->bmhd", weights, v)


def _shared(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Llama: heads of key and value are repeated."""
    k, v = (each[:, :2, None].expand(-1, -1, 2, -1, -1).reshape(_SHAPE) for each in (k, v))
    return _attend(q, k, v, torch.where(_CAUSAL, 0.0, _LOWEST))


class _Windows(nn.Module):
    """Swin: a bias of each head, and a mask of each window of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(_HEADS, _ROWS, _ROWS))
        self.register_buffer("mask", torch.randn(1, 2, 1, _ROWS, _ROWS).sign() * 50 - 50)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k, v = (torch.cat([each, each]) for each in (q, k, v))
        scores = (q * 0.25) @ k.transpose(-1, -2) + self.bias
        scores = scores.unflatten(0, (2, 2)) + self.mask
        return scores.flatten(0, 1).softmax(-1) @ v


class _Function(nn.Module):
    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs)


def _causal_in_numbers(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attend(q, k, v, torch.triu(torch.full((_ROWS, _ROWS), -math.inf), 1))


def _causal_filled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-1, -2)
    return torch.where(_CAUSAL, scores, _LOWEST).softmax(-1) @ v


def _nearly_causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The last row sees all but the second one: no window."""
    mask = _CAUSAL.clone()
    mask[-1, 1] = False
    return _attend(q, k, v, torch.where(mask, 0.0, -math.inf))


def _softcap(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Gemma 2: a softcap before a mask that is causal, and heads that are repeated."""
    k, v = (each[:, :2, None].expand(-1, -1, 2, -1, -1).reshape(_SHAPE) for each in (k, v))
    scores = torch.matmul(q, k.transpose(2, 3)) * 0.5
    scores = torch.tanh(scores / 2.0) * 2.0
    scores = scores + torch.where(_CAUSAL, 0.0, _LOWEST)
    weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)


def _softcap_of_one(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    scores = torch.tanh(q @ k.transpose(-1, -2) * 0.25)
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v


def _window(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Mistral: the last five columns."""
    row, column = torch.arange(_ROWS)[:, None], torch.arange(_ROWS)
    seen = (column <= row) & (column > row - 5)
    return _attend(q, k, v, torch.where(seen, 0.0, _LOWEST))


def _window_of_sdpa(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    seen = _CAUSAL.triu(-4).expand(_BATCH, 1, -1, -1)
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def _padded_sdpa(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """Llama: a causal mask and one of padding. Rows without any score are 0."""
    seen = _CAUSAL.expand(_BATCH, 1, -1, -1) & ~hidden
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def _wide_window(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As many columns as there are."""
    return _attend(q, k, v, torch.where(_CAUSAL.triu(-_ROWS), 0.0, -math.inf))


#: Name: the module, whether it has a mask of padding, and what the op's text has and has not.
CASES: dict[str, tuple[nn.Module, bool, str, str]] = {
    "plain": (_Function(_attend), False, "", "mask"),
    "additive": (_Function(_additive), True, "mask", "causal"),
    "filled": (_Function(_filled), True, "mask", "causal"),
    "filled_with_lowest": (_Function(_filled_with_lowest), True, "mask", "causal"),
    "merged": (_Function(_merged), False, "", "mask"),
    "einsum": (_Function(_einsum), False, "", "mask"),
    "shared": (_Function(_shared), False, "causal", "mask"),
    "windows": (_Windows(), False, "mask", "causal"),
    "causal_in_numbers": (_Function(_causal_in_numbers), False, "causal", "mask"),
    "causal_filled": (_Function(_causal_filled), False, "causal", "mask"),
    "softcap": (
        _Function(_softcap),
        False,
        "causal, scale = 5.000000e-01 : f64, softcap = 2.",
        "mask",
    ),
    "softcap_of_one": (_Function(_softcap_of_one), True, "softcap = 1.0", "causal"),
    "window": (_Function(_window), False, "window = 5 : i64", "mask"),
    "window_of_sdpa": (_Function(_window_of_sdpa), False, "window = 5 : i64", "mask"),
    "padded_sdpa": (_Function(_padded_sdpa), True, "causal, ", "2x1x12x12"),
    "wide_window": (_Function(_wide_window), False, "causal", "window"),
    "nearly_causal": (_Function(_nearly_causal), False, "mask", "causal"),
}


def _inputs(name: str) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    tensors = tuple(torch.randn(_SHAPE, generator=generator) for _ in range(3))
    return (*tensors, _PADDING) if CASES[name][1] else tensors


@pytest.mark.parametrize("name", CASES)
def test_cpu_equals_pytorch(name: str) -> None:
    module, inputs = CASES[name][0].eval(), _inputs(name)
    with torch.no_grad():
        expected = module(*inputs)
    torch.testing.assert_close(
        torch.as_tensor(convoy.compile(module, inputs)(*inputs)), expected, equal_nan=True
    )


@pytest.mark.parametrize("name", CASES)
def test_it_is_one_op_for_a_gpu(name: str) -> None:
    module, _, has, lacks = CASES[name]
    imported = convoy.import_module(module.eval(), _inputs(name))
    options = CompileOptions(target="cuda", dtype="bfloat16")
    text = lower(imported.text, "m", from_phase="tcp", to_phase="normalize", options=options)
    (op,) = (line for line in text.splitlines() if "tcp.attention" in line)
    assert has in op
    assert lacks not in op
    assert "tcp.softmax" not in text
