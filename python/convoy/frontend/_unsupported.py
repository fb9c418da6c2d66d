# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The error of a conversion that does not exist."""

from __future__ import annotations

__all__ = ["Unsupported"]


class Unsupported(Exception):
    """This form of an op has no conversion; the text is the reason."""
