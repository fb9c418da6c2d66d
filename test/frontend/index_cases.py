# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of op_cases for indexing, sorting and running totals: name, module, inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

__all__ = ["INDEX_CASES"]

_NAN = float("nan")
_IDS = torch.tensor([[3, 0, 4], [1, 1, 2]])
_TIES = torch.tensor([[2.0, -1.0, 2.0, 0.0, -1.0], [1.0, _NAN, 3.0, _NAN, float("inf")]])
_LONGS = torch.tensor([[3, -4, 5, -4], [0, 7, -2, 7], [-(2**63), 2**63 - 1, 0, -(2**63)]])
_DIVISORS = torch.tensor([3, -4, 5, -7])
_FLAGS = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])

INDEX_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    ("embedding", lambda w, i: F.embedding(i, w, padding_idx=0), (5, 4), _IDS),
    ("embedding_int32", lambda w, i: F.embedding(i, w), (5, 4), _IDS.int()),
    ("index_select", lambda x, i: x.index_select(1, i), (2, 5, 3), _IDS[0].clone()),
    ("index_select_last", lambda x, i: x.index_select(-1, i), (2, 3, 5), _IDS[0].clone()),
    ("index_select_scalar", lambda x, i: x.index_select(0, i), (5,), _IDS[0, 0].clone()),
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
    ("sort_int", lambda x: (*x.sort(dim=1, stable=True), *x.sort(dim=1, stable=True, descending=True)), _LONGS),
    ("norm_orders", lambda x: tuple(torch.linalg.vector_norm(x, p, 1) for p in (0, 1, 2, 3, 0.5, float("inf"), -float("inf"))), (2, 5)),
    ("remainder_int", lambda x, y: (x % y, x % 3, x % -3, 7 % y, torch.fmod(x, y)), _LONGS, _DIVISORS),
    ("floor_divide_int", lambda x, y: (x // y, x // -3, torch.div(x, y, rounding_mode="trunc")), _LONGS, _DIVISORS),
    ("one_hot", lambda i: F.one_hot(i, 5), _IDS),
]  # fmt: skip
