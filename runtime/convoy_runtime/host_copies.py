# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Copies of host arrays by several threads. One thread copies 7 GB/s, a GPU reads 50 GB/s."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["copy"]

#: Each thread copies at least this many bytes: waking it takes tens of microseconds.
_PART_BYTES: Final = 2 << 20
#: With more threads, copies for several devices wait for the memory.
_MOST_THREADS: Final = 4

_pool: Executor | None = None


def _after_fork() -> None:
    # The child does not have the threads.
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_after_fork)


def copy(to: np.ndarray, source: np.ndarray) -> None:
    """Copies all elements, and waits.

    Args:
        to: A packed array.
        source: An array of the same shape and dtype.
    """
    dim = next((dim for dim, size in enumerate(to.shape) if size > 1), None)
    parts = min(_MOST_THREADS, len(os.sched_getaffinity(0)), to.nbytes // _PART_BYTES)
    if dim is None or parts < 2:
        np.copyto(to, source)
        return
    before, size = (slice(None),) * dim, to.shape[dim]
    bounds = [size * part // parts for part in range(parts + 1)]
    places = [(*before, slice(*each)) for each in pairwise(bounds)]
    waiting = [_threads().submit(np.copyto, to[place], source[place]) for place in places[1:]]
    np.copyto(to[places[0]], source[places[0]])
    for each in waiting:
        each.result()


def _threads() -> Executor:
    global _pool
    if _pool is None:
        # Imported here, because a load does not need it.
        from concurrent.futures import ThreadPoolExecutor

        _pool = ThreadPoolExecutor(2 * _MOST_THREADS, thread_name_prefix="convoy-copy")
    return _pool
