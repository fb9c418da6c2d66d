# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The flags of `convoy compile` for dynamic sizes."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from convoy.errors import ConvoyError

if TYPE_CHECKING:
    import torch

__all__ = ["add_dynamic", "dynamic_shapes_of", "points_of"]

_DYNAMIC = re.compile(r"([A-Za-z_]\w*):(\d+)=(?:([A-Za-z_]\w*):)?(\d+)\.\.(\d+)", re.ASCII)


def add_dynamic(parser: argparse.ArgumentParser) -> None:
    """Adds the flags --dynamic and --points."""
    group = parser.add_argument_group("dynamic sizes")
    group.add_argument(
        "--dynamic",
        action="append",
        default=[],
        metavar="INPUT:DIM=[NAME:]MIN..MAX",
        help="a size that each call chooses, e.g. x:0=batch:1..64; sizes of one name are equal; "
        "the default name is INPUT_DIM; may be repeated",
    )
    group.add_argument(
        "--points",
        action="append",
        default=[],
        metavar="NAME=N,...",
        help="the values of a dynamic size to compile programs for, e.g. batch=1,8,64; may be "
        "repeated, for all combinations (default: the powers of two in the range)",
    )


def dynamic_shapes_of(
    options: argparse.Namespace,
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> dict[str, Any] | None:
    """The `dynamic_shapes` of the command line.

    Args:
        options: The parsed command line.
        module: The module.
        inputs: The example inputs.
        kwargs: The example keyword arguments.

    Returns:
        As of `torch.export.export`; None if no size is dynamic.

    Raises:
        ConvoyError: A flag is malformed, or names an unknown input.
    """
    from torch.export import Dim

    if not options.dynamic:
        return None
    names = list(inspect.signature(module.forward).bind(*inputs, **kwargs).arguments)
    shapes: dict[str, Any] = dict.fromkeys(names)
    dims: dict[str, tuple[int, int, Any]] = {}
    for text in options.dynamic:
        found = _DYNAMIC.fullmatch(text)
        if found is None:
            message = f"--dynamic {text}: expected INPUT:DIM=[NAME:]MIN..MAX, e.g. x:0=batch:1..64"
            raise ConvoyError(message)
        argument, place, name, low, high = found.groups()
        if argument not in shapes:
            message = f"--dynamic {text}: expected one of the inputs {', '.join(names)}"
            raise ConvoyError(message)
        name = name or f"{argument}_{place}"
        minimum, maximum = int(low), int(high)
        if not 1 <= minimum < maximum:
            message = f"--dynamic {text}: expected 1 <= MIN < MAX"
            raise ConvoyError(message)
        known = dims.setdefault(name, (minimum, maximum, None))
        if known[:2] != (minimum, maximum):
            message = f"--dynamic {text}: expected the range {known[0]}..{known[1]} of {name}"
            raise ConvoyError(message)
        if known[2] is None:
            dims[name] = (minimum, maximum, Dim(name, min=minimum, max=maximum))
        chosen = shapes[argument] = shapes[argument] or {}
        if int(place) in chosen:
            message = f"--dynamic {text}: expected one size for dim {place} of {argument}, got two"
            raise ConvoyError(message)
        chosen[int(place)] = dims[name][2]
    return shapes


def points_of(options: argparse.Namespace) -> dict[str, list[int]] | None:
    """The points of the command line: name of a symbol to its values; None if there are none.
    Raises ConvoyError."""
    found: dict[str, list[int]] = {}
    for text in options.points:
        name, _, values = text.partition("=")
        if not name.isidentifier() or not re.fullmatch(r"\d+(,\d+)*", values) or name in found:
            message = f"--points {text}: expected NAME=N,... once for each size, e.g. batch=1,8,64"
            raise ConvoyError(message)
        found[name] = [int(value) for value in values.split(",")]
    return found or None
