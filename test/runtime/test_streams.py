"""Dependencies between calls: worked examples, and random programs that run in every permitted
order."""

from __future__ import annotations

import random

import pytest

from convoy_runtime.cuda.graphs.streams import (
    EVERYTHING,
    LARGE_WORKSPACE,
    Access,
    large_alone,
    order_of,
    serial_order,
    workspaces_of,
)

A, B, C, D = ((begin, begin + 100) for begin in (0, 100, 200, 300))


def call(reads: list[tuple[int, int]], *writes: tuple[int, int]) -> Access:
    return Access(tuple(reads), writes)


def after(*accesses: Access) -> list[tuple[int, ...]]:
    return list(order_of(accesses, [0] * len(accesses), lanes=4).after)


def test_chain_is_serial() -> None:
    chain = [call([A], B), call([B], C), call([C], A)]
    assert order_of(chain, [8, 8, 8], lanes=4) == serial_order(3)
    assert serial_order(3).serial
    assert serial_order(0).serial


def test_block_with_a_downsampling_branch() -> None:
    # conv1, downsample, conv2, conv3 + residual: downsample reads the input of conv1, and only the
    # last call needs its result.
    block = [call([A], B), call([A], C), call([B], D), call([D, C], A)]
    order = order_of(block, [64, 64, 64, 64], lanes=4)
    assert order.after == ((), (), (0,), (1, 2))
    assert order.lanes == (0, 1, 0, 0)
    assert not order.serial


@pytest.mark.parametrize(
    ("first", "second", "follows"),
    [
        (call([], A), call([A], B), True),
        (call([A], B), call([], A), True),
        (call([], A), call([], A), True),
        (call([A], B), call([A], C), False),
        (call([], A), call([], B), False),
        # One byte in common is a hazard; adjacent ranges are not.
        (call([], A), call([(99, 101)], C), True),
        (call([], A), call([(100, 101)], C), False),
        (call([], (50, 50)), call([A], B), False),
        (call([], A), EVERYTHING, True),
        (EVERYTHING, call([D], C), True),
        # In place.
        (call([A], A), call([A], A), True),
    ],
)
def test_hazards(first: Access, second: Access, follows: bool) -> None:
    assert after(first, second) == [(), (0,) if follows else ()]


def test_transitive_dependencies_are_omitted() -> None:
    assert after(call([], A), call([A], B), call([A, B], C)) == [(), (0,), (1,)]
    assert after(call([], A), call([], B), EVERYTHING, call([A, B], C)) == [(), (), (0, 1), (2,)]


def test_reused_memory() -> None:
    # B is free again after call 1: call 2 must not write there before call 1 has read it, although
    # it uses no result of call 1.
    assert after(call([A], B), call([B], C), call([A], B), call([B, C], D)) == [
        (),
        (0,),
        (1,),
        (2,),
    ]


def test_more_calls_than_lanes() -> None:
    side_by_side = [call([A], (begin, begin + 1)) for begin in range(1000, 1005)]
    order = order_of(side_by_side, [64] * 5, lanes=2)
    assert order.lanes == (0, 1, 0, 1, 0)
    assert order.after == ((), (), (0,), (1,), (2,))
    # Without workspaces the calls share nothing.
    assert order_of(side_by_side, [0] * 5, lanes=2).after == ((),) * 5


def test_calls_with_large_workspaces_share_one() -> None:
    side_by_side = [call([A], (begin, begin + 1)) for begin in range(1000, 1005)]
    large = LARGE_WORKSPACE + 1
    sizes = [large, 64, large, 0, large]
    order = order_of(side_by_side, sizes, lanes=2)
    assert order.after == ((), (), (0,), (), (2,))
    assert workspaces_of(sizes, order).size == LARGE_WORKSPACE + 256 + 256


def test_workspaces() -> None:
    order = order_of(
        [call([A], (begin, begin + 1)) for begin in range(1000, 1004)], [10, 300, 0, 20], lanes=2
    )
    assert order.lanes == (0, 1, 0, 0)
    found = workspaces_of([10, 300, 0, 20], order)
    assert (found.size, found.parts, found.own_bytes) == (
        768,
        ((0, 256), (256, 768), (0, 0), (0, 256)),
        0,
    )
    own = workspaces_of([10, 300, 0, 20], order, (3, 1))
    assert (own.size, own.parts, own.own_bytes) == (
        1024,
        ((768, 1024), (256, 768), (768, 768), (0, 256)),
        768,
    )
    assert own.at(1000)[1] == (1256, 1768)


def test_large_calls_run_by_themselves() -> None:
    small, large = call([A], (1000, 1010)), call([A], (2000, 2100))
    assert large_alone([small, large], lambda access: access.written_bytes >= 100) == [
        small,
        EVERYTHING,
    ]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_in_random_orders(seed: int) -> None:
    generator = random.Random(seed)

    def span() -> tuple[int, int]:
        begin = generator.randrange(24)
        return begin, begin + generator.randrange(1, 6)

    count = generator.randrange(2, 14)
    accesses = [call([span() for _ in range(generator.randrange(3))], span()) for _ in range(count)]
    sizes = [generator.choice((0, 3, LARGE_WORKSPACE + 3)) for _ in range(count)]
    order = order_of(accesses, sizes, lanes=3)
    layout = workspaces_of(sizes, order)

    def run(sequence: list[int]) -> list[object]:
        memory: list[object] = [("start", byte) for byte in range(32)]
        for index in sequence:
            read = tuple(
                memory[byte] for begin, end in accesses[index].reads for byte in range(begin, end)
            )
            for begin, end in accesses[index].writes:
                for byte in range(begin, end):
                    memory[byte] = hash((index, byte, read))
        return memory

    expected = run(list(range(count)))
    for _ in range(30):
        left, sequence = set(range(count)), list[int]()
        while left:
            ready = [index for index in sorted(left) if not left & set(order.after[index])]
            sequence.append(generator.choice(ready))
            left.remove(sequence[-1])
        assert run(sequence) == expected

    # Calls that may run at the same time do not share a workspace.
    reach: list[set[int]] = []
    for before in order.after:
        reach.append({*before, *(other for call in before for other in reach[call])})
    for index in range(count):
        for other in range(index):
            if sizes[index] and sizes[other] and other not in reach[index]:
                assert layout.parts[index] != layout.parts[other]
