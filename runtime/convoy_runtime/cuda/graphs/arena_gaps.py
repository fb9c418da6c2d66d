# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Places the workspaces of calls in parts of the arena that are not in use during the call.

Example: a convolution at the bottom of a U-Net has an engine with a workspace of 33 MB. The arena
has the size of the first layers, and most of it has no live bytes during this call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from convoy_runtime.manifest import Manifest

from .streams import LARGE_WORKSPACE, Access, Range, reach_of

__all__ = ["ArenaGaps", "without_waits"]


class ArenaGaps:
    """The largest part of the arena without live bytes, for each call of a program.

    Args:
        manifest: The program. Without `gap_offsets`, no call has such a part.
        arena: The pointer of the arena.
    """

    def __init__(self, manifest: Manifest, arena: int) -> None:
        self._gaps: list[Range] = [
            (arena + offset, arena + offset + size)
            for offset, size in zip(manifest.gap_offsets, manifest.gap_bytes, strict=True)
        ]

    def fitting(self, sizes: Sequence[int]) -> dict[int, Range]:
        """Returns the calls with workspaces that fit, and where they are.

        Args:
            sizes: The size of each call's workspace in bytes.

        Returns:
            Index of a call to the place of its workspace.
        """
        return {
            call: (begin, begin + size)
            for call, ((begin, end), size) in enumerate(zip(self._gaps, sizes, strict=False))
            if 0 < size <= end - begin
        }


def without_waits(accesses: Sequence[Access], places: Mapping[int, Range]) -> dict[int, Range]:
    """Selects the workspaces that make no call wait for another one, and those that are large:
    their calls run alone anyway.

    Args:
        accesses: The access of each call, without its workspace.
        places: Index of a call to the place of its workspace.

    Returns:
        The selected places.
    """
    if not places:
        return {}
    reach = reach_of(accesses)
    users = [
        (call, *span)
        for call, access in enumerate(accesses)
        for span in (*access.reads, *access.writes)
    ]
    calls, begins, ends = (np.array(each, np.uint64) for each in zip(*users, strict=True))

    def is_ordered(call: int, other: int) -> bool:
        return call == other or bool(reach[max(call, other)] >> min(call, other) & 1)

    selected: dict[int, Range] = {}
    for call, (begin, end) in places.items():
        sharing = {
            *calls[(begins < end) & (ends > begin)].tolist(),
            *(other for other, place in selected.items() if place[0] < end and begin < place[1]),
        }
        if end - begin > LARGE_WORKSPACE or all(is_ordered(call, other) for other in sharing):
            selected[call] = begin, end
    return selected
