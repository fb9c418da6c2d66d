"""Which calls of a program have to follow which, found from the memory that they touch; and where
each call's workspace lies, so that calls that may run side by side do not share one. Addresses and
sizes are in bytes; nothing here needs a device.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from convoy_runtime.cuda.driver.memory import ALIGNMENT
from convoy_runtime.value_types import value_type

__all__ = [
    "EVERYTHING",
    "Access",
    "Order",
    "Range",
    "Workspaces",
    "large_alone",
    "order_of",
    "serial_order",
    "workspaces_of",
]

#: First byte, and the one behind the last.
Range = tuple[int, int]


@value_type(frozen=True, slots=True)
class Access:
    """What one call reads and what it writes."""

    reads: tuple[Range, ...]
    writes: tuple[Range, ...]

    @property
    def written_bytes(self) -> int:
        """Bytes that the call writes."""
        return sum(end - begin for begin, end in self.writes)


#: The access of a call that is to run alone: it follows all calls before it, and all later ones
#: follow it.
EVERYTHING = Access((), ((0, 1 << 64),))


@value_type(frozen=True, slots=True)
class Order:
    """`after[i]` are the calls that call i has to follow directly; those that they follow are left
    out. `lanes[i]` is the lane whose workspace call i has: calls of one lane that have a workspace
    follow one another. There are at most as many as `order_of` was told."""

    after: tuple[tuple[int, ...], ...]
    lanes: tuple[int, ...]

    @property
    def serial(self) -> bool:
        """Whether every call follows the one before it."""
        return all(
            before == ((index - 1,) if index else ()) for index, before in enumerate(self.after)
        )


def serial_order(count: int) -> Order:
    """The order of a stream."""
    return Order(tuple((index - 1,) if index else () for index in range(count)), (0,) * count)


def order_of(accesses: Sequence[Access], workspaces: Sequence[int], *, lanes: int) -> Order:
    """The order that memory asks for: a call follows the last writer of what it reads (RAW), and
    the last writer (WAW) and the readers since (WAR) of what it writes. `workspaces` is the size of
    each call's workspace; calls that have one are put on `lanes` lanes."""
    direct = _hazards(accesses)
    after: list[tuple[int, ...]] = []
    reach: list[int] = []  # bit j of reach[i]: call i follows call j
    lane_of: list[int] = []
    last: list[int] = []  # the last call of each lane that has a workspace
    for index, before in enumerate(direct):
        behind = _reach(before, reach)
        lane = 0
        if workspaces[index]:
            # The lane whose last call this one follows anyway, the latest such; else a new one;
            # else the one that has been idle longest.
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


def _reach(before: set[int], reach: Sequence[int]) -> int:
    found = 0
    for call in before:
        found |= reach[call] | 1 << call
    return found


def _hazards(accesses: Sequence[Access]) -> list[set[int]]:
    """The calls that each call conflicts with; earlier conflicts that these stand for are left
    out."""
    # Memory is cut at every border, so that a piece is touched as a whole or not at all.
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
    """`size` bytes in all; call i has the part `parts[i]`, counted from the first byte. `own` are
    the calls whose part nobody else uses; their parts lie together, in the first `own_bytes`."""

    size: int
    parts: tuple[Range, ...]
    own: tuple[int, ...]
    own_bytes: int

    def at(self, pointer: int) -> list[Range]:
        """The parts, when the first byte is at `pointer`."""
        return [(pointer + begin, pointer + end) for begin, end in self.parts]


def workspaces_of(sizes: Sequence[int], order: Order, own: Sequence[int] = ()) -> Workspaces:
    """A part for each lane, as large as its largest call needs, and one for each call in `own`."""

    def aligned(size: int) -> int:
        return -(-size // ALIGNMENT) * ALIGNMENT

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
    return Workspaces(end, parts, tuple(own), own_bytes)


def large_alone(accesses: Sequence[Access], large: Callable[[Access], bool]) -> list[Access]:
    """The same accesses, but calls that are `large` run beside no other."""
    return [EVERYTHING if large(access) else access for access in accesses]
