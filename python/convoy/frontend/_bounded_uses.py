# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops along a dim whose size depends on values, and whose first elements are valid: what they
compute of these elements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from convoy.frontend._bounded_indices import BoundedIndices

__all__ = ["BoundedUses"]

aten = torch.ops.aten
_PRODUCTS = ("mm", "bmm", "matmul", "mv", "dot", "addmm", "addmv", "baddbmm")
#: Ops whose elements after the valid ones come last.
_SORTS = ("sort", "argsort", "topk")


class BoundedUses(BoundedIndices):
    """Replaces ops along bounded dims. Its methods return whether they did."""

    def _replaces(self, node: Node, op: OpOverload, arguments: Mapping[str, Any]) -> bool:
        """Replaces an op along a bounded dim by one on the valid elements."""
        name = op.overloadpacket.__name__
        if name == "cat":
            return self._concatenate(node, list(arguments["tensors"]), arguments["dim"])
        if name in ("constant_pad_nd", "pad"):
            return arguments.get("mode", "constant") == "constant" and self._pad(node, arguments)
        if name == "slice":
            return self._slice(node, arguments)
        if name in ("var", "std", "var_mean", "std_mean"):
            return self._variance(node, name, arguments)
        if name in _PRODUCTS:
            return self._contract(node, arguments)
        if name == "scaled_dot_product_attention":
            return self._attend(node, arguments)
        if name in ("select_scatter", "slice_scatter"):
            return self._write_slice(node, name, arguments)
        if name in _SORTS:
            return self._sort(node, name, arguments)
        if name in ("linalg_vector_norm", "norm", "argmax", "argmin"):
            return self._reduce_to_one(node, name, arguments)
        if name in ("select", "flip"):
            return self._select(node, name, arguments)
        if name in ("view", "reshape", "_unsafe_view"):
            return self._split(node, arguments)
        if name in ("index", "_unsafe_index", "index_put"):
            self._count_from_end(node, arguments)
        return False

    # Several tensors

    def _concatenate(self, node: Node, tensors: list[Node], dim: int) -> bool:
        """Moves the valid elements of each tensor to the end of those before."""
        tensors = [each for each in tensors if each.meta["val"].shape != (0,)]
        dim %= tensors[0].meta["val"].ndim
        if dim not in self._dims(tensors):
            return False
        name = self._symbols[node][dim]
        if name is not None and name not in self._sizes:
            return False
        total = node.meta["val"].shape[dim] if name is None else self._sizes[name].bound
        sizes = [each.meta["val"].shape[dim] for each in tensors]
        names = [self._symbols[each][dim] for each in tensors]
        bounded = [each for each in dict.fromkeys(names) if each is not None]
        if any(each not in self._sizes for each in bounded):
            return False

        def function(*values: torch.Tensor) -> list[torch.Tensor]:
            given, counts = values[: len(tensors)], values[len(tensors) :]
            position = torch.arange(total)
            place, end = position, torch.zeros((), dtype=torch.int64)
            for size, each in zip(sizes[:-1], names[:-1], strict=True):
                count = counts[bounded.index(each)] if each is not None else size
                end = end + count
                if each is not None:
                    place = torch.where(position >= end, place + (size - count), place)
            place = place.clamp(max=sum(sizes) - 1)
            return [torch.cat(given, dim).index_select(dim, place)]

        counts = [self._sizes[each].count for each in bounded]
        return self._put(node, function, [*tensors, *counts])

    def _pad(self, node: Node, arguments: Mapping[str, Any]) -> bool:
        """Concatenates with the value."""
        x, pads = arguments["self"], list(arguments["pad"])
        rank = x.meta["val"].ndim
        dims = [rank - 1 - at // 2 for at in range(0, len(pads), 2)]
        along = [dim for dim in dims if self._is_along(x, dim)]
        if len(along) != 1:
            return False
        (dim,) = along
        at: int = 2 * (rank - 1 - dim)
        ends, pads[at : at + 2] = pads[at : at + 2], [0, 0]
        if any(isinstance(each, Node) for each in pads):
            return False
        known = [self._numbers.get(each) if isinstance(each, Node) else None for each in ends]
        if any(
            isinstance(each, Node) and name not in self._sizes
            for each, name in zip(ends, known, strict=True)
        ):
            return False
        symbols, fill = list(self._symbols[x]), arguments["value"] or 0.0
        if any(pads):
            x = self._emit(aten.constant_pad_nd.default, x, pads, fill)
            self._symbols[x] = symbols
        pieces: list[Node] = []
        for end, name in zip(ends, known, strict=True):
            size = self._sizes[name].bound if name is not None else end
            if size < 0:
                return False
            shape = [*x.meta["val"].shape]
            shape[dim] = size
            piece = self._emit(aten.full.default, shape, fill, dtype=x.meta["val"].dtype)
            own = list(symbols)
            own[dim] = name
            self._symbols[piece] = own
            pieces.append(piece)
        return self._concatenate(node, [pieces[0], x, pieces[1]], dim)

    # Reductions

    def _variance(self, node: Node, name: str, arguments: Mapping[str, Any]) -> bool:
        x = arguments["self"]
        value = x.meta["val"]
        given = arguments.get("dim")
        dims = [each % value.ndim for each in given] if given else list(range(value.ndim))
        along = [dim for dim in dims if dim in self._dims(x)]
        if not along:
            return False
        correction = arguments.get("correction", int(arguments.get("unbiased", True)))
        correction = 1 if correction is None else correction
        keep = bool(arguments.get("keepdim"))
        others = math.prod(value.shape[dim] for dim in dims if dim not in along)
        counts = [self._sizes[self._symbols[x][dim]].count for dim in along]
        ones = self._emit(aten.ones_like.default, x)
        self._symbols[ones] = self._symbols[x]

        def function(*values: torch.Tensor) -> list[torch.Tensor]:
            given, inside, *counted = values
            wide = given.to(torch.promote_types(value.dtype, torch.float32))
            number = math.prod(counted, start=torch.full([], others))
            mean = wide.sum(dims, keepdim=True) / number
            centered = (wide - mean) * inside
            total = (centered * centered).sum(dims, keepdim=keep)
            spread = total / (number - correction).clamp(min=0)
            spread = spread.sqrt() if name.startswith("std") else spread
            results = [spread, mean if keep else mean.squeeze(dims)]
            return [each.to(value.dtype) for each in results[: 2 if "mean" in name else 1]]

        return self._put(node, function, [self._masked(x, 0.0), self._masked(ones, 0.0), *counts])

    def _reduce_to_one(self, node: Node, name: str, arguments: Mapping[str, Any]) -> bool:
        """A norm, or the position of an extreme element. Equal ones are found in order, so those
        that are not valid are not found."""
        x, dim = arguments["self"], arguments.get("dim")
        rank = x.meta["val"].ndim
        given = [dim] if isinstance(dim, int) else dim
        along = self._dims(x) & {each % rank for each in given or range(rank)}
        if not along:
            return False
        if name.startswith("arg"):
            # Without a dim, positions are those of all elements in order.
            if given is None and along != {0}:
                return False
            dtype, largest = x.meta["val"].dtype, name == "argmax"
            is_float = dtype.is_floating_point
            limits = torch.finfo(dtype) if is_float else torch.iinfo(dtype)
            fill = limits.min if largest else limits.max
            fill = math.copysign(math.inf, fill) if is_float else fill
        else:
            order = arguments.get("ord", arguments.get("p"))
            fill = 0.0 if order is None or order >= 0 else math.inf
        node.replace_input_with(x, self._masked(x, fill))
        return self._same_size(node)

    def _contract(self, node: Node, arguments: Mapping[str, Any]) -> bool:
        """A product that sums along a bounded dim: other elements are zero."""
        names = [n for n in ("self", "mat1", "mat2", "batch1", "batch2", "other") if n in arguments]
        names += [n for n in ("mat", "vec", "vec2", "tensor") if n in arguments]
        left, right = (arguments[each] for each in names[-2:])
        columns = max(right.meta["val"].ndim - 2, 0)
        if not (self._is_along(left, -1) or self._is_along(right, columns)):
            return False
        for each in {left, right}:
            node.replace_input_with(each, self._masked(each, 0.0))
        return self._same_size(node)

    def _attend(self, node: Node, arguments: Mapping[str, Any]) -> bool:
        """Attention to valid keys only."""
        query, key, value = (arguments[name] for name in ("query", "key", "value"))
        if not self._is_along(key, -2) or self._is_along(key, -1) or self._is_along(value, -1):
            return False
        name = self._symbols[key][-2]
        mask = arguments.get("attn_mask")
        if arguments.get("is_causal"):
            # A valid query attends to keys before it, which are valid.
            if mask is not None or self._symbols[query][-2] != name:
                return False
        else:
            valid = self._emit(aten.reshape.default, self._sizes[name].valid, [1, -1])
            if mask is None:
                mask = valid
            elif mask.meta["val"].dtype == torch.bool:
                mask = self._emit(aten.logical_and.default, mask, valid)
            else:
                lowest = self._emit(aten.full.default, [], -math.inf, dtype=mask.meta["val"].dtype)
                mask = self._emit(aten.where.self, valid, mask, lowest)
            node.args = (query, key, value, mask, arguments["dropout_p"], False)
            node.kwargs = {each: arguments[each] for each in ("scale", "enable_gqa")}
        for each in {key, value}:
            node.replace_input_with(each, self._masked(each, 0.0))
        return self._same_size(node)

    # Order

    def _sort(self, node: Node, name: str, arguments: Mapping[str, Any]) -> bool:
        """Elements that are not valid come after all others. Equal ones keep their order, and NaN
        is the largest number."""
        x, dim = arguments["self"], arguments["dim"]
        if not self._is_along(x, dim):
            return False
        descends = arguments["largest"] if name == "topk" else arguments["descending"]
        dtype = x.meta["val"].dtype
        fill: float | bool
        if dtype == torch.bool:
            fill = not descends
        elif dtype.is_floating_point:
            fill = -math.inf if descends else math.nan
        else:
            fill = torch.iinfo(dtype).min if descends else torch.iinfo(dtype).max
        node.replace_input_with(x, self._masked(x, fill))
        return self._same_size(node)

    def _select(self, node: Node, name: str, arguments: Mapping[str, Any]) -> bool:
        """Positions that may count from the last valid element. One without an element reads
        nothing: NaN, or the smallest integer."""
        x = arguments["self"]
        dims = arguments["dims"] if name == "flip" else [arguments["dim"]]
        along = [dim % x.meta["val"].ndim for dim in dims if self._is_along(x, dim)]
        if not along:
            return False
        if len(dims) > 1:
            return False
        (dim,) = along
        size = self._sizes[self._symbols[x][dim]]

        def reverse(value: torch.Tensor, count: torch.Tensor) -> list[torch.Tensor]:
            place = (count - 1 - torch.arange(size.bound)).clamp(min=0)
            return [value.index_select(dim, place)]

        def read(value: torch.Tensor, count: torch.Tensor, at: torch.Tensor) -> list[torch.Tensor]:
            place = torch.where(at < 0, count + at, at)
            found = (place >= 0) & (place < count)
            place = torch.where(found, place, size.bound).reshape(1)
            return [value.index_select(dim, place).squeeze(dim)]

        if name == "flip":
            return self._put(node, reverse, [x, size.count])
        # A number that may be one of a tensor.
        at = self._emit(aten.full.default, [], arguments["index"], dtype=torch.int64)
        return self._put(node, read, [x, size.count, at])
