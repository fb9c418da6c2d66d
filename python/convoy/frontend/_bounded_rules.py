# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which ops keep what they compute for each element along a dim apart. Their first results do not
depend on the elements after them, and are right for any number of further elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._ops import OpOverload

__all__ = ["NEUTRAL", "keeps_apart", "masked_index"]

aten = torch.ops.aten
#: Dims of a tensor along which its size is a bound.
Dims = Mapping[str, frozenset[int]]
#: Reductions, and the value of elements that they leave out.
NEUTRAL: dict[OpOverload, float] = {
    aten.sum.default: 0,
    aten.sum.dim_IntList: 0,
    aten.mean.default: 0,
    aten.mean.dim: 0,
    aten.prod.default: 1,
    aten.prod.dim_int: 1,
    aten.max.default: -math.inf,
    aten.amax.default: -math.inf,
    aten.max.dim: -math.inf,
    aten.softmax.int: -math.inf,
    aten.log_softmax.int: -math.inf,
    aten.logsumexp.default: -math.inf,
    aten.min.default: math.inf,
    aten.min.dim: math.inf,
    aten.amin.default: math.inf,
    aten.any.default: False,
    aten.any.dim: False,
    aten.all.default: True,
    aten.all.dim: True,
}
#: Writes at indices, and their argument.
_WRITES = {
    aten.index_put.default: "indices",
    aten.index_add.default: "index",
    aten.index_copy.default: "index",
    aten.index_fill.int_Scalar: "index",
    aten.scatter.src: "index",
    aten.scatter.value: "index",
    aten.scatter.reduce: "index",
    aten.scatter_add.default: "index",
    aten.scatter_reduce.two: "index",
}
_CREATES = (
    "new_zeros", "new_ones", "new_full", "new_empty", "full", "zeros", "ones", "empty", "arange",
)  # fmt: skip
_RESHAPES = ("view", "reshape", "_unsafe_view")
_ELEMENTWISE = (
    *_CREATES, "_to_copy", "clone", "alias", "detach", "copy", "lift_fresh_copy", "full_like",
    "zeros_like", "ones_like", "empty_like", "expand", "unsqueeze", "squeeze", "permute",
    "transpose", "t", "dropout", "embedding", "floor_divide", "where", "fill", "stack",
)  # fmt: skip
#: Ops along the dims of an argument.
_ALONG = (
    "select", "split", "split_with_sizes", "unbind", "chunk", "narrow", "softmax",
    "log_softmax", "topk", "sort", "argsort", "argmax", "argmin",
    "max", "min", "sum", "mean", "amax", "amin", "any", "all", "prod", "logsumexp", "var",
    "std", "linalg_vector_norm", "norm", "cat", "glu", "slice_scatter",
    "select_scatter", "unfold", "flip",
)  # fmt: skip
#: Ops whose first dim is that of a batch.
_BATCHED = (
    "convolution", "conv1d", "conv2d", "conv3d", "group_norm", "native_group_norm", "batch_norm",
    "_native_batch_norm_legit_no_training", "max_pool2d", "max_pool2d_with_indices", "avg_pool2d",
    "adaptive_avg_pool2d", "avg_pool1d", "adaptive_avg_pool1d", "max_pool1d", "max_pool3d",
    "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "im2col",
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
    "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d",
    "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
)  # fmt: skip


def keeps_apart(
    op: OpOverload,
    arguments: Mapping[str, Any],
    dims: Dims,
    result: Any,
    result_dims: frozenset[int],
) -> bool:
    """Whether an op computes each element along some dims by itself.

    Args:
        op: The op.
        arguments: The values of its arguments by name.
        dims: The dims of each argument; a list of tensors has those of all.
        result: The value of its result.
        result_dims: The dims of the result.

    Returns:
        Whether the op is known to do so.
    """
    name = op.overloadpacket.__name__
    if not dims:
        return True  # a new tensor
    if torch.Tag.pointwise in op.tags or name in _ELEMENTWISE:
        return "weight" not in dims
    if name in _RESHAPES:
        return _keeps_rows(arguments["self"], dims["self"], result, result_dims)
    if name in _ALONG:
        # The source of select_scatter has a dim less.
        own = [each for key, each in dims.items() if name != "select_scatter" or key != "src"]
        return not _along(op, arguments) & frozenset[int]().union(*own)
    if name in _BATCHED:
        first = _first(op)
        return set(dims) == {first} and dims[first] == {0} and not arguments.get("training")
    rule = _RULES.get(name)
    return rule is not None and rule(arguments, dims)


def takes_sizes(op: OpOverload) -> bool:
    """Whether the sizes among an op's arguments are those of its result."""
    return op.overloadpacket.__name__ in (*_CREATES, *_RESHAPES, "expand")


def masked_index(op: OpOverload, dims: Dims) -> str | None:
    """The argument of a write that has its indices, where they are bounded."""
    name = _WRITES.get(op)
    return name if name in dims else None


def _first(op: OpOverload) -> str:
    return op._schema.arguments[0].name


def _along(op: OpOverload, arguments: Mapping[str, Any]) -> frozenset[int]:
    """The dims along which an op computes; all without an argument."""
    first = arguments[_first(op)]
    rank = max(each.ndim for each in (first if isinstance(first, (list, tuple)) else [first]))
    given = next((arguments[n] for n in ("dim", "dims", "dimension") if n in arguments), None)
    if given is None or given == []:
        return frozenset(range(rank))
    return frozenset(each % rank for each in (given if isinstance(given, list) else [given]))


def _keeps_rows(
    x: torch.Tensor, dims: frozenset[int], result: torch.Tensor, result_dims: frozenset[int]
) -> bool:
    """Whether a reshape keeps a dim and the elements before it, or the dim is the first of those
    that become one, or the opposite."""
    if len(dims) != 1 or len(result_dims) != 1:
        return False
    (before,), (after,) = dims, result_dims
    return math.prod(x.shape[:before]) == math.prod(result.shape[:after])


def _layer_norm(arguments: Mapping[str, Any], dims: Dims) -> bool:
    kept = arguments["input"].ndim - len(arguments["normalized_shape"])
    return set(dims) == {"input"} and max(dims["input"]) < kept


def _linear(arguments: Mapping[str, Any], dims: Dims) -> bool:
    return set(dims) == {"input"} and arguments["input"].ndim - 1 not in dims["input"]


def _product(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """Matrix products, of the last two arguments that are tensors."""
    names = [n for n in ("self", "mat1", "mat2", "batch1", "batch2", "other") if n in arguments]
    left, right = names[-2:]
    rows, columns = arguments[left].ndim - 1, max(arguments[right].ndim - 2, 0)
    return rows not in dims.get(left, ()) and columns not in dims.get(right, ())


def _attention(arguments: Mapping[str, Any], dims: Dims) -> bool:
    return all(max(each) < arguments[name].ndim - 2 for name, each in dims.items())


def _slice(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """The first elements from a start on; the size of the result is checked."""
    rank = arguments["self"].ndim
    if arguments["dim"] % rank not in dims["self"]:
        return True
    return (arguments["start"] or 0) >= 0 and arguments["step"] == 1


def _pad(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """Dims are padded from the last one on."""
    padded: int = arguments["self"].ndim - len(arguments["pad"]) // 2
    return max(dims["self"]) < padded


def _search(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """Each value is searched among the same numbers."""
    sequence = arguments.get("boundaries", arguments.get("sorted_sequence"))
    return set(dims) == {"self"} and sequence.ndim == 1


def _grid_sample(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """Images and places apart."""
    return dims.get("input", set()) <= {0} and arguments["grid"].ndim - 1 not in dims["grid"]


def _repeat(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """Dims are repeated from the last one on."""
    repeats = arguments["repeats"]
    added = len(repeats) - arguments["self"].ndim
    return all(repeats[added + dim] == 1 for dim in dims["self"])


def _read(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """The dim that is indexed has its size."""
    rank = max(arguments["self"].ndim, 1)
    return arguments["dim"] % rank not in dims.get("self", ())


def _scatter(arguments: Mapping[str, Any], dims: Dims) -> bool:
    """One index for each element, in each row or in all."""
    own = dims.get("self", frozenset())
    return own <= dims.get("index", frozenset()) and _read(arguments, dims)


_RULES: dict[str, Callable[[Mapping[str, Any], Dims], bool]] = {
    "layer_norm": _layer_norm,
    "native_layer_norm": _layer_norm,
    "rms_norm": _layer_norm,
    "linear": _linear,
    "matmul": _product,
    "mm": _product,
    "bmm": _product,
    "addmm": _product,
    "baddbmm": _product,
    "scaled_dot_product_attention": _attention,
    "pad": _pad,
    "constant_pad_nd": _pad,
    "repeat": _repeat,
    "bucketize": _search,
    "searchsorted": _search,
    "grid_sampler": _grid_sample,
    "grid_sampler_2d": _grid_sample,
    "grid_sampler_3d": _grid_sample,
    # Indices are those of elements.
    "index": lambda arguments, dims: True,
    "_unsafe_index": lambda arguments, dims: True,
    "index_select": lambda arguments, dims: True,
    "gather": lambda arguments, dims: True,
    # The indices of what is written are masked.
    "index_put": lambda arguments, dims: True,
    "index_add": lambda arguments, dims: True,
    "index_copy": lambda arguments, dims: True,
    "index_fill": _read,
    "scatter": _scatter,
    "scatter_add": _scatter,
    "scatter_reduce": _scatter,
    "masked_scatter": lambda arguments, dims: dims == {"source": {0}},
    # Of the first elements.
    "cumsum": lambda arguments, dims: True,
    "cumprod": lambda arguments, dims: True,
    "cummax": lambda arguments, dims: True,
    "cummin": lambda arguments, dims: True,
    "logcumsumexp": lambda arguments, dims: True,
    "slice": _slice,
}
