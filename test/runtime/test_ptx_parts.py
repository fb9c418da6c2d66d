"""Splits of PTX for several compilers."""

from __future__ import annotations

import os
import re

import pytest

from convoy_runtime.cuda.driver.ptx_parts import split_ptx

_HEAD = b"//\n// Generated\n//\n\n.version 7.0\n.target sm_80\n.address_size 64\n\n"
_SHARED = (
    b".extern .shared .align 16 .b8 memory[];\n.global .align 4 .b8 table[4] = {1, 2, 3, 4};\n"
)


def _kernel(index: int, size: int) -> bytes:
    """A kernel with an inner scope, of about `size` bytes."""
    body = b"\tmov.u32 %r1, 0;\n" * (size // 17)
    return (
        b"\t// .globl\tk%d\n.visible .entry k%d(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n"
        b"{ \n\t{ // scope\n\t}\n$L_%d: \n%s} \n" % (index, index, index, body)
    )


@pytest.fixture(autouse=True)
def _cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)))


def test_each_kernel_is_in_one_part_and_the_rest_in_all() -> None:
    kernels = [_kernel(index, 4000 + 500 * (index % 5)) for index in range(40)]
    function = b".func helper()\n{ \n\tret;\n} \n"
    parts = split_ptx(_HEAD + _SHARED + b"".join(kernels[:20]) + function + b"".join(kernels[20:]))
    assert len(parts) == 4
    for part in parts:
        assert part.startswith(_HEAD + _SHARED)
        assert part.count(function) == 1
    names = [re.findall(rb"\.entry (\w+)\(", part) for part in parts]
    assert [name for part in names for name in part] == [b"k%d" % index for index in range(40)]
    # The texts of kernels, without the comment before them.
    bodies = [kernel[kernel.index(b".visible") :] for kernel in kernels]
    assert all(sum(body in part for part in parts) == 1 for body in bodies)
    sizes = [len(part) for part in parts]
    assert max(sizes) < 1.3 * min(sizes)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_HEAD + b"".join(_kernel(i, 1000) for i in range(40)), id="small"),
        pytest.param(
            _HEAD + b"".join(_kernel(i, 8000) for i in range(40)) + b"\n\t.section\t.debug_info\n",
            id="debug information",
        ),
        pytest.param(_HEAD + _kernel(0, 400_000), id="one kernel"),
        pytest.param(b"junk " * 50_000, id="no PTX"),
    ],
)
def test_texts_that_are_not_split(text: bytes) -> None:
    assert b"".join(split_ptx(text)).split() == text.split()
    assert len(split_ptx(text)) == 1
