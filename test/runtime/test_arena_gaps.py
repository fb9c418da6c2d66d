"""Workspaces in parts of the arena without live bytes: worked examples, and random programs that
run in every permitted order."""

from __future__ import annotations

import random

import pytest
from runtime_fixtures import affine_manifest

from convoy_runtime.cuda.graphs.arena_gaps import ArenaGaps, without_waits
from convoy_runtime.cuda.graphs.streams import (
    EVERYTHING,
    LARGE_WORKSPACE,
    Access,
    order_of,
    workspaces_of,
)

A, B, C, D = ((begin, begin + 100) for begin in (0, 100, 200, 300))


def call(reads: list[tuple[int, int]], *writes: tuple[int, int]) -> Access:
    return Access(tuple(reads), writes)


def test_workspaces_that_fit() -> None:
    manifest = affine_manifest(gap_offsets=(0, 512, 256, 0), gap_bytes=(64, 256, 300, 0))
    places = ArenaGaps(manifest, 4096).fitting([64, 257, 300, 0])
    assert places == {0: (4096, 4160), 2: (4352, 4652)}
    assert ArenaGaps(affine_manifest(), 4096).fitting([64, 257]) == {}


def test_calls_side_by_side_do_not_wait() -> None:
    # Calls 1 and 2 depend on call 0 only.
    branches = [call([A], B), call([B], C), call([B], D)]
    free = (400, 450)
    # Call 2 would wait for call 1, or call 1 would write what call 2 writes.
    assert without_waits(branches, {1: free, 2: free}) == {1: free}
    assert without_waits(branches, {1: (350, 450), 2: free}) == {2: free}
    # What call 0 reads is free afterwards.
    assert without_waits(branches, {0: free, 1: A, 2: (450, 500)}) == {
        0: free,
        1: A,
        2: (450, 500),
    }
    # Large workspaces make calls wait, and a call of everything is in order with all.
    large = (1000, 1001 + LARGE_WORKSPACE)
    assert without_waits(branches, {1: large, 2: large}) == {1: large, 2: large}
    assert without_waits([call([A], B), EVERYTHING, call([A], C)], {0: free, 2: free}) == {
        0: free,
        2: free,
    }


def test_no_calls() -> None:
    assert without_waits([], {}) == {}
    assert without_waits([call([A], B)], {}) == {}


def test_layout() -> None:
    order = order_of([call([A], B), call([A], C), call([A], D)], [0, 10, 10], lanes=2)
    layout = workspaces_of([1 << 20, 10, 10], order, [2], {0: (4096, 4096 + (1 << 20))})
    assert layout.size == 512
    assert layout.at(1024) == [(4096, 4096 + (1 << 20)), (1280, 1536), (1024, 1280)]


def _free(accesses: list[Access], index: int, byte: int) -> bool:
    """Whether a call may write any byte: the next access of a later call overwrites it."""
    for place, access in enumerate(accesses[index:]):
        if any(begin <= byte < end for begin, end in access.reads):
            return False
        if any(begin <= byte < end for begin, end in access.writes):
            return place > 0
    return False


@pytest.mark.parametrize("concurrent", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_in_random_orders(seed: int, concurrent: bool) -> None:
    generator = random.Random(seed)

    def span() -> tuple[int, int]:
        begin = generator.randrange(24)
        return begin, begin + generator.randrange(1, 6)

    count = generator.randrange(3, 14)
    accesses = [call([span() for _ in range(generator.randrange(3))], span()) for _ in range(count)]
    places = {}
    for index in range(count):
        free = [byte for byte in range(32) if _free(accesses, index, byte)]
        if free:
            begin = generator.choice(free)
            end = begin
            while end in free:
                end += 1
            places[index] = begin, end
    if concurrent:
        base = order_of(accesses, [0] * count, lanes=3)
        places = without_waits(accesses, places)
    used = [
        Access(access.reads, (*access.writes, places[index])) if index in places else access
        for index, access in enumerate(accesses)
    ]
    order = order_of(used, [0] * count, lanes=3)
    if concurrent:
        assert order.after == base.after

    def run(sequence: list[int], *, with_workspaces: bool) -> list[object]:
        memory: list[object] = [("start", byte) for byte in range(32)]
        for index in sequence:
            if with_workspaces and index in places:
                for byte in range(*places[index]):
                    memory[byte] = "workspace"
            read = tuple(
                memory[byte] for begin, end in accesses[index].reads for byte in range(begin, end)
            )
            for begin, end in accesses[index].writes:
                for byte in range(begin, end):
                    memory[byte] = hash((index, byte, read))
        return memory

    expected = run(list(range(count)), with_workspaces=False)
    for _ in range(30):
        left, sequence = set(range(count)), list[int]()
        while left:
            ready = [index for index in sorted(left) if not left & set(order.after[index])]
            sequence.append(generator.choice(ready))
            left.remove(sequence[-1])
        assert run(sequence, with_workspaces=True) == expected
