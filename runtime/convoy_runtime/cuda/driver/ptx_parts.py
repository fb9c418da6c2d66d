# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Splits PTX into parts that are compiled at the same time. A compiler uses one thread for each
text."""

from __future__ import annotations

import os
import re
from typing import Final

__all__ = ["split_ptx"]

#: A kernel in the form that LLVM prints: only its last line begins with a brace.
_KERNEL: Final = re.compile(rb"^(?:\.visible )?\.entry .*?^\}[ \t]*\n", re.MULTILINE | re.DOTALL)
#: Debug information refers to code of all kernels.
_SECTION: Final = b"\n\t.section"
#: Smaller parts are not faster: nvJitLink takes 9 ms for an empty one, as long as for 7 KB of
#: kernels (1280 KB take 1.76 s).
_MIN_BYTES: Final = 32 << 10


def split_ptx(text: bytes) -> list[bytes]:
    """Splits PTX into at most one part per core.

    Args:
        text: The PTX, as LLVM prints it.

    Returns:
        The parts, of about the same size. Each has some of the kernels, in order, and everything
        else.
    """
    count = min(len(os.sched_getaffinity(0)), len(text) // _MIN_BYTES)
    if count < 2 or _SECTION in text:
        return [text]
    shared = _KERNEL.sub(b"", text)
    parts: dict[int, list[bytes]] = {}
    for kernel in _KERNEL.finditer(text):
        parts.setdefault(kernel.start() * count // len(text), []).append(kernel[0])
    return [b"\n".join([shared, *kernels]) for kernels in parts.values()] or [text]
