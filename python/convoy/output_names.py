"""Names of the tensors in what a model takes or returns: tuples, lists, dicts and named tuples of
them, in the order of torch.utils._pytree."""

from __future__ import annotations

from typing import Any

import torch.utils._pytree as pytree

__all__ = ["named_leaves"]


def named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """Each leaf with its name: the indices, keys and field names that lead to it, joined by dots;
    "0" where the tree is a leaf itself."""
    return [
        (".".join(_text(key) for key in path) or "0", leaf)
        for path, leaf in pytree.tree_flatten_with_path(tree)[0]
    ]


def _text(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)
