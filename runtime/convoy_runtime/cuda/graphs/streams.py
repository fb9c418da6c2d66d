# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Computes the dependencies between the calls of a program from the memory that they access, and
the layout of their workspaces: calls that may run concurrently do not share one. Addresses and
sizes are in bytes. No device is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from convoy_runtime.cuda.driver.memory import ALIGNMENT
from convoy_runtime.value_types import value_type

__all__ = [
    "EVERYTHING",
    "LARGE_WORKSPACE",
    "Access",
    "Order",
    "Range",
    "Workspaces",
    "large_alone",
    "order_of",
    "reach_of",
    "serial_order",
    "workspaces_of",
]

#: Calls with a workspace of more bytes never run concurrently: the gain is small, since most such
#: calls fill the device, and each would need a workspace of its own. cuDNN's matrix products ask
#: for 32 MiB, more than all temporaries of many models.
LARGE_WORKSPACE = 8 << 20
#: Begin and end address.
Range = tuple[int, int]


@value_type(frozen=True, slots=True)
class Access:
    """The memory that a call reads and writes."""

    reads: tuple[Range, ...]
    writes: tuple[Range, ...]

    @property
    def written_bytes(self) -> int:
        """The number of bytes that the call writes."""
        return sum(end - begin for begin, end in self.writes)


#: The access of a call that runs alone: it waits for all previous calls, and all later calls wait
#: for it.
EVERYTHING = Access((), ((0, (1 << 64) - 1),))


@value_type(frozen=True, slots=True)
class Order:
    """The order of calls.

    Attributes:
        after: The calls that each call waits for, without indirect ones.
        lanes: The lane of each call. Calls in one lane share a workspace and run one after another.
    """

    after: tuple[tuple[int, ...], ...]
    lanes: tuple[int, ...]

    @property
    def serial(self) -> bool:
        """Whether every call waits for the previous one."""
        return all(
            before == ((index - 1,) if index else ()) for index, before in enumerate(self.after)
        )


def serial_order(count: int) -> Order:
    """Returns the order of a stream."""
    return Order(tuple((index - 1,) if index else () for index in range(count)), (0,) * count)


def order_of(accesses: Sequence[Access], workspaces: Sequence[int], *, lanes: int) -> Order:
    """Returns the order that the memory accesses require.

    A call waits for the last writer of the memory that it reads (RAW), and for the last writer
    (WAW) and later readers (WAR) of the memory that it writes.

    Args:
        accesses: The access of each call.
        workspaces: The size of each call's workspace in bytes.
        lanes: The largest number of lanes for calls with a workspace of at most LARGE_WORKSPACE
            bytes. Calls with a larger one share one more lane.

    Returns:
        The order.
    """
    direct = _hazards(accesses)
    after: list[tuple[int, ...]] = []
    reach: list[int] = []  # bit j of reach[i]: call i follows call j
    lane_of: list[int] = []
    last: list[int] = []  # the last call of each lane that has a workspace
    last_large: int | None = None
    for index, before in enumerate(direct):
        behind = _reach(before, reach)
        lane = 0
        if workspaces[index] > LARGE_WORKSPACE:
            lane = lanes
            if last_large is not None:
                before.add(last_large)
                behind = _reach(before, reach)
            last_large = index
        elif workspaces[index]:
            # The lane with the latest last call that this call already waits for; else a new lane;
            # else the lane that has been idle longest.
            free = [(call, lane) for lane, call in enumerate(last) if behind >> call & 1]
            if free:
                lane = max(free)[1]
            elif len(last) < lanes:
                lane = len(last)
                last.append(index)
            else:
                lane = last.index(min(last))
                before.add(last[lane])
                behind = _reach(before, reach)
            last[lane] = index
        lane_of.append(lane)
        reach.append(behind)
        after.append(
            tuple(
                sorted(
                    call for call in before if not any(reach[other] >> call & 1 for other in before)
                )
            )
        )
    return Order(tuple(after), tuple(lane_of))


def reach_of(accesses: Sequence[Access]) -> list[int]:
    """Returns the calls that each call must follow, as bits: bit j of number i for call j."""
    reach: list[int] = []
    for before in _hazards(accesses):
        reach.append(_reach(before, reach))
    return reach


def _reach(before: set[int], reach: Sequence[int]) -> int:
    found = 0
    for call in before:
        found |= reach[call] | 1 << call
    return found


def _hazards(accesses: Sequence[Access]) -> list[set[int]]:
    """Returns the calls that each call conflicts with, without earlier conflicts that follow from
    these."""
    # Memory is split at every border, so that a call accesses each piece either whole or not.
    borders = sorted(
        {
            border
            for access in accesses
            for span in (*access.reads, *access.writes)
            for border in span
        }
    )
    writer: list[int | None] = [None] * len(borders)
    readers: list[set[int]] = [set() for _ in borders]

    def pieces(span: Range) -> range:
        return range(bisect_left(borders, span[0]), bisect_left(borders, span[1]))

    found: list[set[int]] = []
    for index, access in enumerate(accesses):
        before: set[int] = set()
        for span in access.reads:
            for piece in pieces(span):
                if (other := writer[piece]) is not None:
                    before.add(other)
                readers[piece].add(index)
        for span in access.writes:
            for piece in pieces(span):
                if (other := writer[piece]) is not None:
                    before.add(other)
                before |= readers[piece]
                writer[piece], readers[piece] = index, set()
        before.discard(index)
        found.append(before)
    return found


@value_type(frozen=True, slots=True)
class Workspaces:
    """The layout of all workspaces in one allocation.

    Attributes:
        size: The bytes of the allocation.
        parts: The part of each call, relative to the first byte.
        own: The calls whose part no other call uses.
        own_bytes: The size of the leading bytes that hold the parts of `own`.
        elsewhere: The workspaces outside of the allocation: index of a call to its addresses.
    """

    size: int
    parts: tuple[Range, ...]
    own: tuple[int, ...]
    own_bytes: int
    elsewhere: Mapping[int, Range]

    def at(self, pointer: int) -> list[Range]:
        """Returns the workspaces, with those in an allocation at `pointer`."""
        return [
            self.elsewhere.get(call, (pointer + begin, pointer + end))
            for call, (begin, end) in enumerate(self.parts)
        ]


def workspaces_of(
    sizes: Sequence[int],
    order: Order,
    own: Sequence[int] = (),
    elsewhere: Mapping[int, Range] = MappingProxyType({}),
) -> Workspaces:
    """Lays out the workspaces of all calls.

    Args:
        sizes: The size of each call's workspace in bytes.
        order: The order of the calls.
        own: The calls that get a separate part.
        elsewhere: The workspaces outside of the allocation: index of a call to its addresses.

    Returns:
        A layout with a part for each call in `own`, then a part for each lane, of the size of its
        largest workspace.
    """

    def aligned(size: int) -> int:
        return -(-size // ALIGNMENT) * ALIGNMENT

    sizes = [0 if call in elsewhere else size for call, size in enumerate(sizes)]
    end, place = 0, dict[int, int]()
    for call in own:
        place[call] = end
        end += aligned(sizes[call])
    own_bytes, begin = end, dict[int, int]()
    for lane in sorted(set(order.lanes)):
        begin[lane] = end
        shared = (
            size
            for call, size in enumerate(sizes)
            if order.lanes[call] == lane and call not in place
        )
        end += aligned(max(shared, default=0))
    begins = [
        place[call] if call in place else begin[lane] for call, lane in enumerate(order.lanes)
    ]
    parts = tuple((first, first + aligned(size)) for first, size in zip(begins, sizes, strict=True))
    return Workspaces(end, parts, tuple(own), own_bytes, elsewhere)


def large_alone(accesses: Sequence[Access], large: Callable[[Access], bool]) -> list[Access]:
    """Returns the accesses, with `EVERYTHING` for calls that are `large`, so that they run
    alone."""
    return [EVERYTHING if large(access) else access for access in accesses]
