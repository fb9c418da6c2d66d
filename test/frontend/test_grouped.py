# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products with a matrix for each group of rows, as in a mixture of experts."""

from __future__ import annotations

import torch
from frontend_checks import check
from op_cases import Function
from tcp_reference import run_text
from torch import Tensor, nn

from convoy.frontend import decompositions, import_module
from convoy.frontend._grouped import grouped_mm

_OFFSETS = torch.tensor([2, 2, 5], dtype=torch.int32)
_GROUPS = (slice(0, 2), slice(2, 2), slice(2, 5))


def test_rows_are_multiplied_by_the_matrix_of_their_group() -> None:
    a, b = torch.randn(7, 4), torch.randn(3, 4, 6)
    expected = torch.zeros(7, 6)
    for group, rows in enumerate(_GROUPS):
        expected[rows] = a[rows] @ b[group]
    torch.testing.assert_close(grouped_mm(a, b, _OFFSETS), expected)


def test_columns_are_multiplied_by_the_matrix_of_their_group() -> None:
    a, b = torch.randn(3, 4, 6), torch.randn(6, 5)
    expected = torch.cat([a[group] @ b[:, each] for group, each in enumerate(_GROUPS)], 1)
    torch.testing.assert_close(grouped_mm(a, b, _OFFSETS), expected)


def test_inner_dim_is_grouped() -> None:
    a, b = torch.randn(4, 5), torch.randn(5, 6)
    expected = torch.stack([a[:, each] @ b[each] for each in _GROUPS])
    torch.testing.assert_close(grouped_mm(a, b, _OFFSETS), expected)


def test_batches_have_a_matrix_each() -> None:
    a, b, bias = torch.randn(3, 4, 5), torch.randn(3, 5, 6), torch.randn(6)
    torch.testing.assert_close(grouped_mm(a, b, bias=bias), a @ b + bias)
    assert grouped_mm(a, b, out_dtype=torch.float64).dtype == torch.float64


def test_infinite_rows_of_other_groups_do_not_matter() -> None:
    a, b = torch.ones(5, 4), torch.ones(3, 4, 6)
    a[4] = torch.inf
    result = grouped_mm(a, b, _OFFSETS)
    assert result[:4].eq(4).all()
    assert result[4].isinf().all()


class Experts(nn.Module):
    """The experts of transformers: tokens are sorted by their experts, whose products are
    grouped."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 3)
        self.experts = nn.Parameter(torch.randn(3, 6, 8))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.router(x).argmax(-1)
        ids, order = torch.sort(chosen)
        counts = torch.histc(ids.float(), bins=3, min=0, max=2)
        offsets = torch.cumsum(counts, 0, dtype=torch.int32)
        y = grouped_mm(x[order], self.experts.transpose(1, 2), offsets)
        return torch.zeros_like(y).index_copy(0, order, y)


def test_mixture_of_experts() -> None:
    torch.manual_seed(0)
    check(Experts(), torch.randn(12, 8))


def test_op_of_pytorch_is_decomposed() -> None:
    """PyTorch exports it in bfloat16 only."""
    a, b = torch.randn(5, 8), torch.randn(3, 8, 16)
    module = Function(
        lambda x, y: torch.ops.aten._grouped_mm(x.bfloat16(), y.bfloat16(), _OFFSETS).float()
    )
    imported = import_module(module.eval(), (a, b))
    (result,) = run_text(imported.text, (a, b), imported.weights)
    a, b = a.bfloat16().double(), b.bfloat16().double()
    torch.testing.assert_close(result, grouped_mm(a, b, _OFFSETS), rtol=0, atol=0.1)


def test_op_of_transformers_is_decomposed_once_it_is_registered() -> None:
    op = torch.library.custom_op(
        "transformers::grouped_mm_fallback",
        lambda input, weight, offs: grouped_mm(input, weight, offs),
        mutates_args=(),
        schema="(Tensor input, Tensor weight, Tensor offs) -> Tensor",
    )
    op.register_fake(lambda input, weight, offs: input.new_empty(input.shape[0], weight.shape[2]))
    assert torch.ops.transformers.grouped_mm_fallback.default in decompositions()
    check(Function(lambda x, w: op(x, w, _OFFSETS)), torch.randn(7, 4), torch.randn(3, 4, 6))
