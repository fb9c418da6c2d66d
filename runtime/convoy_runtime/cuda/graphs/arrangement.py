# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arranges the calls of a program in time, and their workspaces in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from .arena_gaps import ArenaGaps, without_waits
from .streams import (
    Access,
    Order,
    Workspaces,
    large_alone,
    order_of,
    serial_order,
    workspaces_of,
)

__all__ = ["Arrangement", "Branches"]

#: The calls that may run concurrently: `none`; `small`, those that write less than one tile per
#: multiprocessor and leave multiprocessors idle; or `all`.
Branches = Literal["none", "small", "all"]

#: The most calls with a workspace that run concurrently. Each needs its own workspace.
_MAX_LANES: Final = 4
#: The arrangements that are kept: those of the forms of one choice of plans.
_KEPT: Final = 4
#: Bytes that a multiprocessor writes at a time: a tile of 128 x 128 halves.
_TILE_BYTES: Final = 128 * 128 * 2


class Arrangement:
    """Computes orders and workspaces of one program.

    Args:
        accesses: The access of each call, without its workspace.
        gaps: The parts of the arena that are not in use.
        multiprocessors: The number of multiprocessors of the GPU.
    """

    def __init__(self, accesses: Sequence[Access], gaps: ArenaGaps, multiprocessors: int) -> None:
        self._accesses, self._gaps = accesses, gaps
        self._wave_bytes = multiprocessors * _TILE_BYTES
        # A load asks three times for the arrangement that it captures.
        self._arrange_once = lru_cache(_KEPT)(self._arrange)

    def arrange(
        self, branches: Branches, sizes: Sequence[int], own: Sequence[int]
    ) -> tuple[Order, Workspaces]:
        """Returns the order of the calls, and their workspaces: in memory of their own, in the
        arena where they fit and no call must wait for them, and in memory that others share.

        Args:
            branches: The calls that may run concurrently.
            sizes: The size of each call's workspace in bytes.
            own: The calls whose workspaces have memory of their own.

        Returns:
            The order and the workspaces.
        """
        return self._arrange_once(branches, tuple(sizes), tuple(own))

    def _arrange(
        self, branches: Branches, sizes: tuple[int, ...], own: tuple[int, ...]
    ) -> tuple[Order, Workspaces]:
        shared = [0 if call in own else size for call, size in enumerate(sizes)]
        placed = self._gaps.fitting(shared)
        if branches == "none":
            order = serial_order(len(sizes))
        else:
            accesses = list(self._accesses)
            if branches == "small":
                accesses = large_alone(accesses, self._is_large)
            placed = without_waits(accesses, placed)
            for call, place in placed.items():
                access = accesses[call]
                accesses[call] = Access(access.reads, (*access.writes, place))
                shared[call] = 0
            order = order_of(accesses, shared, lanes=_MAX_LANES)
        return order, workspaces_of(sizes, order, own, placed)

    def _is_large(self, access: Access) -> bool:
        return access.written_bytes >= self._wave_bytes
