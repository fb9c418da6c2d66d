# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Resized images, of which a thread has neighboring pixels that share what they read. Emulated and
compared with PyTorch, and with kernels that read all positions from tables, bit for bit."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor

from convoy.frontend import ImportedModule, import_module

_RANKS = {3: "linear", 4: "bilinear", 5: "trilinear"}


def _numbers(*shape: int, dtype: torch.dtype = torch.float16) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def _resized(x: Tensor, **to: object) -> Tensor:
    return F.interpolate(x, mode=_RANKS[x.ndim], **to)  # type: ignore[arg-type]


def _last(x: Tensor, **to: object) -> Tensor:
    """Resizes an image whose channels are last."""
    return _resized(x.movedim(-1, 1), **to).movedim(1, -1).contiguous()


#: The function, its inputs, and how often a thread stores and loads elements of images. A pixel alone
#: needs 4 loads, or 2 along one dim. Threads have several pixels if there are 32768 of them.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], int, int]] = {
    "twice": (lambda x: _last(x, scale_factor=2), (_numbers(4, 32, 32, 64),), 4, 9),
    "odd sizes": (lambda x: _last(x, scale_factor=2), (_numbers(3, 45, 31, 64),), 4, 9),
    "one row": (lambda x: _last(x, scale_factor=2), (_numbers(4096, 1, 3, 64),), 2, 3),
    "two rows": (lambda x: _last(x, scale_factor=2), (_numbers(512, 2, 4, 64),), 4, 9),
    "corners": (
        lambda x: _last(x, scale_factor=2, align_corners=True), (_numbers(1024, 2, 2, 64),), 4, 9,
    ),
    "three times": (lambda x: _last(x, scale_factor=3), (_numbers(4, 24, 24, 64),), 3, 6),
    "four times": (lambda x: _last(x, scale_factor=4), (_numbers(2, 32, 32, 64),), 4, 4),
    "six channels": (lambda x: _last(x, scale_factor=2), (_numbers(2, 128, 128, 6),), 24, 54),
    "volume": (lambda x: _last(x, scale_factor=2), (_numbers(4, 8, 16, 16, 64),), 4, 9),
    "float32": (
        lambda x: _last(x, scale_factor=2), (_numbers(4, 32, 32, 32, dtype=torch.float32),), 4, 9,
    ),
    "lines": (lambda x: _last(x, scale_factor=2), (_numbers(64, 128, 64),), 2, 3),
    "channels first": (lambda x: _resized(x, scale_factor=2), (_numbers(4, 64, 32, 32),), 2, 18),
    "lines first": (lambda x: _resized(x, scale_factor=2), (_numbers(64, 64, 64),), 1, 6),
    "joined": (
        lambda x, y: torch.cat([_last(x, scale_factor=2), y], -1),
        (_numbers(4, 32, 32, 64), _numbers(4, 64, 64, 32)), 4, 9,
    ),
    "epilogue": (
        lambda x, y: (_last(x, scale_factor=2) + y).relu(),
        (_numbers(4, 32, 32, 64), _numbers(4, 64, 64, 64)), 4, 13,
    ),
    # A thread has one pixel if there are few of them.
    "small": (lambda x: _last(x, scale_factor=2), (_numbers(1, 8, 8, 64),), 1, 4),
    "no integer factor": (lambda x: _last(x, size=(85, 99)), (_numbers(4, 32, 32, 64),), 1, 4),
    "twice and not": (lambda x: _last(x, size=(96, 80)), (_numbers(3, 48, 64, 64),), 2, 6),
}  # fmt: skip


def _run(imported: ImportedModule, text: str, inputs: tuple[Tensor, ...], got: Tensor) -> str:
    """Returns the text of the last kernel that multiplies."""
    text = lower_to_host(text)
    main = next(line for line in text.splitlines() if 'sym_name = "main"' in line)
    prepared = [
        imported.weights[re.sub(r"\.\d+$", "", name)]
        for name in re.findall(r'tcp\.prepared = "([^"]+)"', main)
    ]
    run_main(text, (*inputs, *prepared), [got])
    kernels = [each for each in text.split('"gpu.func"')[1:] if '"arith.mulf"' in each]
    return kernels[-1]


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, stores, loads = CASES[case]
    imported = import_module(Function(function).eval(), inputs)
    wanted = function(*(each.double() for each in inputs))
    shared, single = (torch.zeros(wanted.shape, dtype=inputs[0].dtype) for _ in range(2))
    kernel = _run(imported, imported.text, inputs, shared)
    without, count = re.subn(r"tcp\.steps = array<i64[^>]*>, ", "", imported.text)
    assert (count == 0) == (case == "no integer factor")
    assert "tcp.steps" not in without
    _run(imported, without, inputs, single)
    torch.testing.assert_close(shared, single, rtol=0, atol=0)
    torch.testing.assert_close(shared.double(), wanted, rtol=2e-3, atol=2e-3)
    assert len(re.findall(r'"(?:vector|memref)\.store"', kernel)) == stores
    # A kernel before has computed the sums along one dim, in float32, as weights are.
    image = "f16|vector<8xf16>" if inputs[0].dtype == torch.float16 else "vector<4xf32>"
    if case in ("one row", "volume"):
        image = "vector<8xf32>"
    assert len(re.findall(rf'\.load".*-> (?:{image})$', kernel, re.MULTILINE)) == loads
