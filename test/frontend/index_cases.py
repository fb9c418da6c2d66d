# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of op_cases for indexing, writes at indices, sorting and running totals: name, module, inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

__all__ = ["INDEX_CASES"]

_NAN = float("nan")
_IDS = torch.tensor([[3, 0, 4], [1, 1, 2]])
_TIES = torch.tensor([[2.0, -1.0, 2.0, 0.0, -1.0], [1.0, _NAN, 3.0, _NAN, float("inf")]])
_LAST_NAN = torch.tensor([[-2.0, _NAN, _NAN, _NAN, _NAN], [-1.0, 0.0, 0.5, 1.0, _NAN]])
_LONGS = torch.tensor([[3, -4, 5, -4], [0, 7, -2, 7], [-(2**63), 2**63 - 1, 0, -(2**63)]])
_MANY = torch.arange(4000) * 7919 % 4001 % 9
_DIVISORS = torch.tensor([3, -4, 5, -7])
_FLAGS = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])

_BAGS = torch.tensor([1, 5, 0, 2, 1, 1, 1, 4])

INDEX_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    ("embedding", lambda w, i: F.embedding(i, w, padding_idx=0), (5, 4), _IDS),
    ("embedding_int32", lambda w, i: F.embedding(i, w), (5, 4), _IDS.int()),
    ("index_select", lambda x, i: x.index_select(1, i), (2, 5, 3), _IDS[0].clone()),
    ("index_select_last", lambda x, i: x.index_select(-1, i), (2, 3, 5), _IDS[0].clone()),
    ("index_select_scalar", lambda x, i: x.index_select(0, i), (5,), _IDS[0, 0].clone()),
    ("select_by_tensor", lambda x, i: (x[i[0, 0]], x[:, i[1, 0]] * 2, x[i[0, 2] - 5, 0], x[i[1, :1].item()], x[i[0, 0].to(torch.int16)]), (5, 3), _IDS),
    ("numbers_of_tensors", lambda x, t: (x * t.item(), x + t.item(), x - t.item(), t.item() - x, x / x.abs().max().item(), x.abs() ** t.item(), t.abs().item() ** x, x > t.item(), torch.where(x > 0, x, t.item()), torch.where(x > 0, t.item(), x), x.clamp(max=t.item()), x.clamp(t.item(), 1.5), x.clamp(-0.1, t.item()), torch.full((2, 3), t.item()), x.long() * t.item(), x.sum() * t.item()), (2, 3), ()),
    ("numbers_of_long_tensors", lambda x, i: (x * i[0].item(), i + i[0].item(), x == i[1].item()), (3,), _IDS[0].clone()),
    ("index_select_bool", lambda x, i: x.index_select(1, i), _FLAGS, _IDS[1].clone()),
    ("take", lambda x, i: x.take(i), (2, 3), _IDS - 2),
    ("gather", lambda x, i: x.gather(1, i), (3, 5), _IDS),
    ("gather_first", lambda x, i: x.gather(0, i), (5, 3), _IDS),
    ("gather_rank0", lambda x, i: x.gather(0, i), (), torch.tensor(0)),
    ("gather_int", lambda x, i: x.gather(1, i), _LONGS, _IDS % 4),
    ("take_along_dim", lambda x, i: x.take_along_dim(i, 1), (1, 5), _IDS),
    ("index_one", lambda x, i: x[:, i], (2, 5, 3), _IDS),
    ("index_negative", lambda x, i: x[i - 3], (5, 3), _IDS),
    ("index_pairs", lambda x, i, j: x[i, j], (5, 6, 3), _IDS, _IDS[1] - 2),
    ("index_middle", lambda x, i, j: x[:, i, j], (2, 5, 6), _IDS, _IDS[:, :1].clone()),
    ("index_apart", lambda x, i, j: x[i, :, j], (5, 2, 6), _IDS, _IDS),
    ("index_all", lambda x, i: x[i, i.int(), i], (5, 5, 5), _IDS),
    ("unsafe_index", lambda x, i: torch.ops.aten._unsafe_index(x, [i, None, i]), (5, 2, 6), _IDS),
    ("as_strided_rank0", lambda x: torch.as_strided(x, (), ()) * 2, ()),
    ("index_new_dim", lambda x, i: x[i, None], (5, 3), _IDS[0].clone()),
    ("argmax", lambda x: (x.argmax(), x.argmax(0), x.argmax(-1, keepdim=True)), _TIES),
    ("argmin", lambda x: (x.argmin(), x.argmin(0), x.argmin(-1, keepdim=True)), _TIES),
    ("argmin_int", lambda x: (x.argmin(1), x.argmax(1), x.argmin()), _LONGS),
    ("max_dim_indices", lambda x: (*x.max(1), *x.min(0, keepdim=True)), _TIES),
    ("max_dim_int", lambda x: (*x.max(1), *x.min(0)), _LONGS),
    ("amin_int", lambda x: (x.amin(1), x.amax(0), x.min(), x.max()), _LONGS),
    ("amax_bool", lambda x: (x.amax(1), x.amin(0)), _FLAGS),
    ("any_all", lambda x: (x.any(), x.all(), x.any(1), x.all(1, keepdim=True)), _FLAGS),
    ("any_all_float", lambda x: (x.any(1), x.all(1), x.all((0, 1))), torch.tensor([[0.0, -0.0], [_NAN, 2]])),
    ("prod", lambda x: (x.prod(), x.prod(1), x.prod(0, keepdim=True)), (4, 7)),
    ("prod_int", lambda x: (x.prod(1), x.bool().prod(0)), _LONGS[:2].clone()),
    ("cumsum", lambda x: (x.cumsum(0), x.cumsum(-1)), (3, 7)),
    ("cumsum_int", lambda x: (x.cumsum(1), x.bool().cumsum(0), x[0, 0].cumsum(0)), _LONGS[:2].clone()),
    ("cumprod", lambda x: x.cumprod(1), (3, 5)),
    ("topk", lambda x: (*x.topk(3), *x.topk(1, 0, largest=False)), (2, 5)),
    ("sort", lambda x: (*x.sort(), *x.sort(0, descending=True)), (3, 5)),
    ("sort_ties", lambda x: (x.sort(stable=True, dim=-1)[1], torch.argsort(x, dim=1, stable=True, descending=True)), _TIES),
    ("embedding_bag", lambda w, i, o: [F.embedding_bag(i, w, o, mode=m) for m in ("sum", "mean", "max")], (6, 4), _BAGS, torch.tensor([0, 3, 3, 5, 8])),
    ("embedding_bag_2d", lambda w, i, p: (F.embedding_bag(i, w, mode="mean", padding_idx=1), F.embedding_bag(i, w, mode="max", padding_idx=-5), F.embedding_bag(i, w, mode="sum", per_sample_weights=p)), (6, 4), _BAGS.reshape(2, 4).int(), (2, 4)),
    ("embedding_bag_constant", lambda w, i: (F.embedding_bag(i, w, torch.tensor([0, 2, 8]), include_last_offset=True, mode="sum"), F.embedding_bag(i[:0], w, torch.tensor([0, 0]))), (6, 4), _BAGS),
    ("sort_long", lambda x: (*x.sort(stable=True), x.round().argsort(dim=0, stable=True, descending=True), *x.topk(5, 1)), (70, 130)),
    ("sort_long_int", lambda x: (x.argsort(stable=True), (x - 2**62).argsort(descending=True, stable=True), (x % 7).int().argsort(stable=True)), torch.arange(200) * 2**40 * 997),
    ("sort_int", lambda x: (*x.sort(dim=1, stable=True), *x.sort(dim=1, stable=True, descending=True)), _LONGS),
    ("norm_orders", lambda x: tuple(torch.linalg.vector_norm(x, p, 1) for p in (0, 1, 2, 3, 0.5, float("inf"), -float("inf"))), (2, 5)),
    ("remainder_int", lambda x, y: (x % y, x % 3, x % -3, 7 % y, torch.fmod(x, y)), _LONGS, _DIVISORS),
    ("floor_divide_int", lambda x, y: (x // y, x // -3, torch.div(x, y, rounding_mode="trunc")), _LONGS, _DIVISORS),
    ("scatter", lambda x, i, u: x.scatter(1, i, u), (2, 5), _IDS, (2, 3)),
    ("scatter_first", lambda x, i, u: x.scatter(0, i, u), (5, 4), _IDS, (3, 3)),
    ("scatter_value", lambda x, i: (x.scatter(1, i, 2.5), x.scatter(1, i, 2.0, reduce="multiply")), (3, 5), _IDS),
    ("scatter_rank0", lambda x, i, u: x.scatter(0, i, u), (), torch.tensor(0), ()),
    ("scatter_add", lambda x, i, u: (x.scatter_add(1, i, u), x.scatter(1, i, u, reduce="add")), (3, 5), _IDS, (2, 3)),
    ("scatter_add_int", lambda x, i: x.scatter_add(1, i, i), _LONGS, _IDS % 4),
    ("scatter_reduce", lambda x, i, u: tuple(x.scatter_reduce(1, i, u, k, include_self=s) for k in ("sum", "prod", "mean", "amax", "amin") for s in (True, False)), (2, 5), _IDS, (2, 3)),
    ("scatter_reduce_int", lambda x, i, u: tuple(x.scatter_reduce(1, i, u, k, include_self=s) for k in ("mean", "amax", "amin") for s in (True, False)), _LONGS[:2].clone(), _IDS % 4, _LONGS[:2, 1:].clone()),
    ("index_add", lambda x, i, u: (x.index_add(1, i, u), x.index_add(1, i, u, alpha=-2.5)), (2, 5, 3), _IDS[1].clone(), (2, 3, 3)),
    # So many that the GPU sorts them.
    ("scatter_many", lambda x, i, u: (x.index_add(0, i, u), x.index_reduce(0, i, u, "amax"), x.index_copy(0, i, i[:, None].expand(4000, 2).to(x.dtype))), (9, 2), _MANY, (4000, 2)),
    ("scatter_many_rows", lambda x, i, u: (x.scatter_add(1, i, u), x.scatter_reduce(1, i[:1].expand(2, 4000), u, "amin")), (3, 9), _MANY.view(2, 2000).repeat(1, 2), (2, 4000)),
    ("index_add_bool", lambda x, i, u: x.index_add(0, i, u), _FLAGS, _IDS[1].clone(), _FLAGS),
    ("index_copy", lambda x, i, u: x.index_copy(0, i, u), (5, 4), _IDS[0].clone(), (3, 4)),
    ("index_copy_rank0", lambda x, i, u: x.index_copy(0, i, u), (5,), _IDS[0, 0].clone(), ()),
    ("index_fill", lambda x, i, v: (x.index_fill(1, i - 5, 2.5), x.index_fill(0, i % 2, v)), (2, 5), _IDS[0].clone(), ()),
    ("index_reduce", lambda x, i, u: tuple(x.index_reduce(0, i, u, k, include_self=s) for k in ("prod", "mean", "amax", "amin") for s in (True, False)), (5, 4), _IDS[1].clone(), (3, 4)),
    ("index_put", lambda x, i, u: x.index_put((i - 3,), u), (5, 4), _IDS[0].clone(), (3, 4)),
    ("index_put_accumulate", lambda x, i, u: x.index_put((i,), u, accumulate=True), (5, 4), _IDS, (2, 3, 1)),
    ("index_put_pairs", lambda x, i, j, u: x.index_put((i, j), u, accumulate=True), (5, 6, 3), _IDS, _IDS[1].clone(), (3, 1)),
    ("index_put_middle", lambda x, i, j, u: torch.ops.aten.index_put(x, [None, i, j], u), (2, 5, 6), _IDS, _IDS[:, :1].clone(), (2, 2, 3)),
    ("index_put_apart", lambda x, i, j, u: torch.ops.aten.index_put(x, [i, None, j], u), (5, 2, 6), _IDS, _IDS, (2, 3, 2)),
    ("index_put_mask", lambda x, m, u: (x.index_put((m,), u), x.index_put((m,), u, accumulate=True)), (3, 3), _FLAGS, ()),
    ("index_put_mask_values", lambda x, m, u: (x.index_put((m,), u[:, 0]), torch.ops.aten.index_put(x, [None, m[2]], u[:3, :1])), (3, 3), _FLAGS, (5, 2)),
    ("put", lambda x, i, u: (x.put(i - 4, u), x.put(i, u, accumulate=True)), (2, 3), _IDS, (2, 3)),
    ("masked_scatter", lambda x, m, u: x.masked_scatter(m, u), (2, 3, 3), _FLAGS, (12,)),
    ("slice_scatter", lambda x, u: (x.slice_scatter(u[:, :2].clone(), 1, -3, -1), x.slice_scatter(u, 1, 0, 5, 2), x.slice_scatter(u[:, :0].clone(), 1, 2, 2)), (2, 5), (2, 3)),
    ("select_scatter", lambda x, u: (x.select_scatter(u, 1, -1), x.select_scatter(u, 1, 0), x.select_scatter(u, 1, 2)), (3, 5, 2), (3, 2)),
    ("diagonal", lambda x: (x.diagonal(), x.diagonal(1, 2, 0), x.diagonal(-2, 0, 1), x.diagonal(2, 1, 2)), (3, 4, 3)),
    ("diagonal_scatter", lambda x, u: (x.diagonal_scatter(u), x.T.diagonal_scatter(u, -1), x.diagonal_scatter(u[:1].clone(), -2)), (3, 4), (3,)),
    ("scatter_dtypes", lambda x, u: (x.diagonal_scatter(u), x.select_scatter(u, 1, 1), x.as_strided_scatter(u, (3,), (2,)), x.long().diagonal_scatter(u + 0.7)), (3, 3), torch.tensor([3, -4, 5])),
    ("unfold", lambda x: (x.unfold(1, 3, 2), x.unfold(0, 2, 1), x[0, 0].unfold(0, 1, 1)), (2, 7)),
    ("as_strided", lambda x: (x.as_strided((2, 3), (1, 2), 1), torch.as_strided_copy(x, (3, 3), (1, 1))), (2, 5)),
    ("as_strided_scatter", lambda x, u: x.as_strided_scatter(u, (2, 3), (1, 2), 1), (2, 5), (2, 3)),
    ("col2im", lambda x: F.fold(x, (5, 6), (2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), (2, 12, 15)),
    ("im2col", lambda x: F.unfold(x, (2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), (2, 2, 5, 6)),
    ("cummax", lambda x: (*x.cummax(1), *x.cummin(0), *x.cummin(-1)), _TIES),
    ("cummax_int", lambda x: (*x.cummax(1), *x.cummin(1), *(x > 0).cummin(0)), _LONGS),
    ("logcumsumexp", lambda x: (x.logcumsumexp(0), x.logcumsumexp(1), (x * 1e4).logcumsumexp(1), x.masked_fill(x > 0, -float("inf")).logcumsumexp(1)), (3, 5)),
    ("kthvalue", lambda x: (*x.kthvalue(2), *x.kthvalue(3, 0, keepdim=True)), (3, 5)),
    ("median", lambda x: (x.median(), *x.median(1), *x.median(0, keepdim=True), *x[0, 0].median(0)), (3, 4)),
    ("median_nan", lambda x: (x.median(), *x.median(1), x.nanmedian(), *x.nanmedian(1, keepdim=True), *x.isnan().log().nanmedian(1)[:1]), _TIES),
    ("median_int", lambda x: (x.median(), x.median(1)[0]), _LONGS),
    ("mode", lambda x: (*x.mode(1), *x.mode(0, keepdim=True)), _LONGS),
    ("mode_float", lambda x: x.round().mode(1), (3, 9)),
    ("searchsorted", lambda s, v: (torch.searchsorted(s.sort(1)[0], v), torch.searchsorted(s.sort(1)[0], v, right=True, out_int32=True), torch.searchsorted(s.sort()[0][1], v, side="right")), (3, 5), (3, 2)),
    ("searchsorted_nan", lambda s, v: (torch.searchsorted(s, v), torch.searchsorted(s, v, right=True), torch.bucketize(v, s[0]), torch.searchsorted(s[1], v)), _LAST_NAN, _TIES[:, 1:].contiguous()),
    ("searchsorted_sorter", lambda s, v: torch.searchsorted(s, v, sorter=s.argsort(1)), (3, 5), (3, 2)),
    ("bucketize", lambda v, s: (torch.bucketize(v, s), torch.bucketize(v, s, right=True)), _TIES, torch.tensor([-1.0, 0.0, 2.0])),
    ("histc", lambda x: (x.histc(4, -1, 1), x.histc(5), (x * 0).histc(3), x.histc(4, -9, 9)), (3, 7)),
    ("std_fraction", lambda x: (x.std(1, correction=1.5), x.var(0, correction=0.5)), (3, 5)),
    ("bitwise", lambda x, y: (x & y, x | y, x ^ y, ~x, x & 6, x.int() | 5, x.to(torch.int8) ^ -3, 12 & y), _LONGS, _DIVISORS),
    ("bitwise_bool", lambda x, y: (x & y, x | y, x ^ y, ~x, x & True, torch.maximum(x, y), torch.minimum(x, y), x + y, torch.add(x, y, alpha=False)), _FLAGS, _FLAGS[2].clone()),
    ("shift", lambda x, y: (x << y, x >> y, x << 3, x.int() >> 2, x.to(torch.int8) << 7, x >> 64, 5 << y), _LONGS, _DIVISORS),
    ("gcd_lcm", lambda x, y: (torch.gcd(x[:2], y), torch.lcm(x[:2], y), torch.gcd(x[:2].int(), x[:2].int() * 0)), _LONGS, _DIVISORS),
    ("lcm_narrow", lambda x, y: (torch.lcm(x.to(torch.int8), y.to(torch.int8)), torch.lcm(x.short(), y.short())), torch.tensor([100, -128, 127, 30000]), torch.tensor([-7, 3, 126, 29999])),
    ("pow_int_tensor", lambda x, y: (x ** y, x[:2] ** x[:2].abs(), (x % 3 - 1) ** -y.abs(), x.int() ** 5, 3 ** y.abs()), _LONGS, _DIVISORS),
    ("matmul_int", lambda x, y: (x @ x.T, x @ y, y @ y, x.view(3, 2, 2) @ x[:2, :3]), _LONGS, _DIVISORS),
    ("addbmm", lambda c, x, y: torch.addbmm(c, x, y, beta=0.5, alpha=2.0), (3, 5), (2, 3, 4), (2, 4, 5)),
    ("no_elements", lambda x: (x[:0].flip(0), x[:, :0].exp() + 1, torch.cat([x[:0], x]), x[:0].sum(0), *x.split([0, 2]), x[:0].sort()[1]), (2, 3)),
    ("one_hot", lambda i: F.one_hot(i, 5), _IDS),
]  # fmt: skip
