# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""uint8 from end to end: the manifest's dtypes, arrays that are not copied, and weights. Numbers
above 127 would be negative if a part of the compiler or runtime read them as signed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import convoy
import convoy_runtime

_X = (torch.arange(48) * 37 % 256).reshape(1, 3, 4, 4).to(torch.uint8)
_ALL = torch.arange(256).to(torch.uint8)


class _Palette(nn.Module):
    """Looks up pixels in a table of bytes, and normalizes them."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        bytes_ = torch.randint(0, 256, (256,), generator=torch.Generator().manual_seed(seed))
        self.register_buffer("table", bytes_.to(torch.uint8))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.table[x.long()]
        return y, (y.float() / 255 - 0.5) / 0.25


def test_program_has_pytorchs_dtypes(tmp_path: Path) -> None:
    model = _Palette(0).eval()
    convoy.compile(model, (_X,), target="cpu").save(tmp_path / "m.convoy")
    with convoy_runtime.load(tmp_path / "m.convoy") as program:
        specs = (*program.inputs, *program.outputs, *program.weights)
        assert [spec.dtype for spec in specs] == ["uint8", "uint8", "float32", "uint8"]
        for x in (_X, _X.numpy()):
            y, z = (torch.as_tensor(each) for each in program(x))
            assert torch.equal(y, model(_X)[0])
            torch.testing.assert_close(z, model(_X)[1])
        y = np.zeros(_X.shape, np.uint8)
        program.run_into([y, np.zeros(_X.shape, np.float32)], [_X.numpy()])
        np.testing.assert_array_equal(y, model(_X)[0].numpy())
        with pytest.raises(convoy_runtime.ArgumentError, match="uint8"):
            program(_X.to(torch.int8))


def test_weights_are_replaced(tmp_path: Path) -> None:
    convoy.compile(_Palette(0).eval(), (_X,), target="cpu").save(
        tmp_path / "m.convoy", weights=False
    )
    other = _Palette(1).eval()
    with convoy_runtime.load(tmp_path / "m.convoy", weights=other.state_dict()) as program:
        assert torch.equal(program(_X)[0], other(_X)[0])


class _Pairs(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        a, b = x[:, None], x[None]
        one = torch.maximum(b, torch.ones_like(b))
        return (
            a + b, a - b, a * b, a // one, a % one, a < b, a >= b, torch.maximum(a, b),
            torch.minimum(a, b), a >> (b % 8), a << (b % 8), a ^ b, torch.gcd(a, b),
        )  # fmt: skip


def test_every_pair_of_bytes() -> None:
    results = convoy.compile(_Pairs().eval(), (_ALL,), target="cpu")(_ALL)
    for number, (got, expected) in enumerate(zip(results, _Pairs()(_ALL), strict=True)):
        assert torch.equal(got, expected), number


class _Casts(nn.Module):
    def forward(self, x: Tensor, wide: Tensor) -> tuple[Tensor, ...]:
        return (
            *(x.to(dtype) for dtype in (torch.int8, torch.int64, torch.float16, torch.bool)),
            x.to(torch.int8).float(),
            x.to(torch.int8).to(torch.uint8).float(),
            *(wide.to(dtype).to(torch.uint8) for dtype in (torch.float32, torch.int16)),
            wide.to(torch.uint8),
        )


def test_casts_wrap_as_in_pytorch() -> None:
    wide = torch.tensor([-1.0, -1.5, 255.9, 256.0, 300.0, -300.0, 3e9 + 7, -3e9, 2.0**53 - 1])
    inputs = (_ALL, wide.double())
    results = convoy.compile(_Casts().eval(), inputs, target="cpu")(*inputs)
    for number, (got, expected) in enumerate(zip(results, _Casts()(*inputs), strict=True)):
        assert got.dtype == expected.dtype, number
        assert torch.equal(got, expected), number
