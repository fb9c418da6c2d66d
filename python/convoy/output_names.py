# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Names of the tensors in the inputs or outputs of a model: tuples, lists, dicts and named tuples,
in the order of torch.utils._pytree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch.utils._pytree as pytree

__all__ = ["leaves_with_paths", "named_leaves"]


def leaves_with_paths(tree: Any) -> list[tuple[pytree.KeyPath, Any]]:
    """The leaves of a pytree with their paths, as `torch.utils._pytree.tree_flatten_with_path`.
    Items of classes that are registered without paths, as the outputs of diffusers, have their keys
    in a dict, or their places.

    Args:
        tree: The pytree.

    Returns:
        Path and leaf.
    """
    if pytree.tree_is_leaf(tree):
        return [((), tree)]
    node = pytree.SUPPORTED_NODES[pytree._get_node_type(tree)]
    keyed: Iterable[tuple[Any, Any]]
    keys: Iterable[Any]
    if node.flatten_with_keys_fn is not None:
        keyed, _ = node.flatten_with_keys_fn(tree)
    else:
        items, _ = node.flatten_fn(tree)
        own = list(tree) if isinstance(tree, Mapping) else []
        is_dict = len(own) == len(items) and all(
            tree[k] is v for k, v in zip(own, items, strict=True)
        )
        keys = (
            map(pytree.MappingKey, own) if is_dict else map(pytree.SequenceKey, range(len(items)))
        )
        keyed = zip(keys, items, strict=True)
    return [((key, *path), leaf) for key, item in keyed for path, leaf in leaves_with_paths(item)]


def named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """The leaves of a pytree with their names.

    Args:
        tree: The pytree.

    Returns:
        Name and leaf: the indices, keys and field names of its path, joined by dots; "0" if the
        tree is a leaf.
    """
    return [
        (".".join(_text(key) for key in path) or "0", leaf)
        for path, leaf in leaves_with_paths(tree)
    ]


def _text(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)
