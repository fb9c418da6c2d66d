# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Constants that the sizes of a point determine, such as tables of positions. Weights of one name
are one tensor for all points, so different constants get different names."""

from __future__ import annotations

import re
from dataclasses import replace

import torch

from convoy.frontend import ImportedModule, has_same_bytes

__all__ = ["with_own_constants"]

_WEIGHT = re.compile(r'\btcp\.weight = "([^"]*)"')


def with_own_constants(imported: ImportedModule, known: dict[str, torch.Tensor]) -> ImportedModule:
    """The model of a point, whose constants have other names than different ones of earlier points.

    Args:
        imported: The model.
        known: Name to constant of all points; receives new ones.

    Returns:
        The model.
    """
    weights, names = dict[str, torch.Tensor](), dict[str, str]()
    for name, tensor in imported.weights.items():
        if name not in imported.constants:
            weights[name] = tensor
            continue
        unique, count = name, 0
        while not has_same_bytes(known.setdefault(unique, tensor), tensor):
            count += 1
            unique = f"{name}.{count}"
        weights[unique] = tensor
        names[name] = unique
    text = _WEIGHT.sub(
        lambda found: f'tcp.weight = "{names.get(found[1], found[1])}"', imported.text
    )
    return replace(imported, text=text, weights=weights, constants=frozenset(names.values()))
