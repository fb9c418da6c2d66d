# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""PTX whose kernels wait for the previous kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from convoy_runtime.cuda.driver.dependent_launch import wait_first

PTX = (Path(__file__).parent / "scaled_relu.ptx").read_bytes()
WAIT = b"griddepcontrol.wait;"


@pytest.mark.parametrize(
    ("version", "target", "new_version", "new_target"),
    [
        (b"7.0", b"sm_80", b"7.8", b"sm_90"),
        (b"7.8", b"sm_86", b"7.8", b"sm_90"),
        (b"8.0", b"sm_90a", b"8.0", b"sm_90a"),
        (b"8.6", b"sm_120", b"8.6", b"sm_120"),
        (b"10.1", b"sm_80, debug", b"10.1", b"sm_90, debug"),
    ],
)
def test_target(version: bytes, target: bytes, new_version: bytes, new_target: bytes) -> None:
    text = PTX.replace(b"7.0", version).replace(b"sm_80", target)
    found = wait_first(text)
    assert b".version %s\n" % new_version in found
    assert b".target %s\n" % new_target in found


def test_waits_before_everything_else() -> None:
    assert re.search(rb"\n\)\n\{\n\tgriddepcontrol\.wait;\n\t\.reg \.b32", wait_first(PTX))
    assert wait_first(PTX).count(WAIT) == 1


def test_every_kernel_waits_and_no_function() -> None:
    text = b"""\
.version 8.0
.target sm_90a
.address_size 64
// A comment about .entry {
.func (.param .b32 out) helper(.param .b32 in)
{
\tret;
}
.weak .entry one()
.maxntid 128
.explicitcluster
.reqnctapercluster 2, 1, 1
{
\tret;
}
.entry two(.param .u64 .ptr .align 1 two_param_0) {
\tret;
}
"""
    found = wait_first(text)
    assert found.count(WAIT) == 2
    assert b".reqnctapercluster 2, 1, 1\n{\n\t" + WAIT in found
    assert b"two_param_0) {\n\t" + WAIT in found
