# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops on the parts of complex numbers compute in float32 under a `dtype` of 16 bits, as
torch.autocast computes Fourier transforms: their sums exceed the range of float16."""

from __future__ import annotations

from dataclasses import replace

from convoy.options import CompileOptions

__all__ = ["PLACE", "with_complex_kept"]

#: The file, at line 1, in the locations of these ops.
PLACE = "<complex>"
#: The name of these ops in `keep_float32`.
_KEPT = f"{PLACE}:1"


def with_complex_kept(text: str, options: CompileOptions) -> CompileOptions:
    """Adds ops on the parts of complex numbers to `keep_float32`.

    Args:
        text: The module.
        options: The options of its compilation.

    Returns:
        The options; unchanged if the module has no such ops, or its types are not changed to
        16 bits.
    """
    if options.dtype not in ("float16", "bfloat16") or f'"{PLACE}":1' not in text:
        return options
    return replace(options, keep_float32=(*options.keep_float32, _KEPT))
