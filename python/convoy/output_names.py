# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Names of the tensors in the inputs or outputs of a model: tuples, lists, dicts and named tuples,
in the order of torch.utils._pytree."""

from __future__ import annotations

from typing import Any

import torch.utils._pytree as pytree

__all__ = ["named_leaves"]


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
        for path, leaf in pytree.tree_flatten_with_path(tree)[0]
    ]


def _text(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)
