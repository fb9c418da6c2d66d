# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Running sums and products in generated kernels, emulated and compared with PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_module
from tools.convoy_opt import convoy_opt


def _random(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def _numbers(*shape: int) -> Tensor:
    return (100 * _random(*shape)).long() - 30


def _sum(x: Tensor) -> Tensor:
    return x.cumsum(-1)


#: The function, its input, and the number of kernels.
CASES: dict[str, tuple[Callable[[Tensor], Tensor], Tensor, int]] = {
    "part of a warp": (_sum, _random(5, 8), 1),
    "part of a warp, odd": (_sum, _random(3, 7), 1),
    "a warp": (_sum, _random(3, 1000), 1),
    "several groups of a warp": (_sum, _random(1024, 256), 1),
    "a block": (_sum, _random(2, 5000), 1),
    "rows of odd length": (_sum, _random(3, 5001), 1),
    "half precision": (_sum, _random(2, 4096, dtype=torch.float16), 1),
    "with what is before and after it": (
        lambda x: (x.float() * 2).cumsum(-1).add(1).half(), _random(3, 1024, dtype=torch.float16), 1
    ),
    "parts": (_sum, _random(2, 40_000), 3),
    "parts and a rest": (_sum, _random(1, 16_411), 5),
    "parts in half precision": (_sum, _random(1, 32_768, dtype=torch.float16), 3),
    "integers": (_sum, _numbers(3, 300), 1),
    "products": (lambda x: (x + 0.5).cumprod(-1), _random(3, 300), 1),
    "products of integers": (lambda x: x.cumprod(-1), _numbers(3, 300), 1),
    "few rows along another dim": (lambda x: x.cumsum(1), _random(2, 50, 6), 1),
    "many rows along another dim": (lambda x: x.cumsum(1), _random(2, 40, 2080), 1),
    "transposed": (lambda x: x.cumsum(0), _random(2000, 30), 3),
    "twice": (lambda x: x.cumsum(-1).cumsum(-1), _random(3, 300), 2),
    "a softmax before it": (lambda x: x.softmax(-1).cumsum(-1), _random(3, 300), 2),
    "flipped": (lambda x: x.flip(-1).cumsum(-1).flip(-1), _random(3, 300), 3),
}  # fmt: skip


def _run(function: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, int]:
    imported = import_module(Function(function).eval(), (x,))
    text = lower_to_host(imported.text)
    got = torch.empty_like(function(x))
    return got, run_main(text, [x], [got])


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, x, launches = CASES[case]
    got, found = _run(function, x)
    if x.dtype == torch.float16:
        torch.testing.assert_close(got, function(x.double()).half(), rtol=1e-3, atol=1e-3)
    elif x.is_floating_point():
        torch.testing.assert_close(got.double(), function(x.double()), rtol=2e-5, atol=1e-6)
    else:
        assert torch.equal(got, function(x))
    assert found == launches


_LOOP = """
func.func @main(%x: tensor<1x54000xf32> {tcp.input = "x"}) -> (tensor<1x54000xf32> {tcp.output = "0"})
    attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %y = tensor.empty() : tensor<1x54000xf32>
  %row = tensor.empty() : tensor<1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<1xf32>) -> tensor<1xf32>
  %0:2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x54000xf32>) outs(%y, %start : tensor<1x54000xf32>, tensor<1xf32>) {
  ^bb0(%e: f32, %o: f32, %total: f32):
    %next = arith.addf %total, %e : f32
    linalg.yield %next, %next : f32, f32
  } -> (tensor<1x54000xf32>, tensor<1xf32>)
  return %0#0 : tensor<1x54000xf32>
}
"""


def test_row_that_does_not_stay_in_registers() -> None:
    """Its groups are a loop, all threads of which take part in each turn."""
    text = convoy_opt(
        _LOOP, "--convoy-pipeline=from=linalg to=host target=cuda", "--mlir-print-op-generic"
    ).stdout
    x, got = _random(1, 54_000), torch.empty(1, 54_000)
    assert run_main(text, [x], [got]) == 1
    torch.testing.assert_close(got.double(), x.double().cumsum(-1), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("count", [61, 3000, 40_000])
def test_totals_never_fall(count: int) -> None:
    """Zeros do not change a total, although its addends are in another order."""
    x = _random(2, count) * 100
    x[:, count // 3 + 1 :] = 0
    total, _ = _run(_sum, x)
    assert (total.diff(dim=1) >= 0).all()
    after = total[:, count // 3 :]
    assert torch.equal(after, after[:, :1].expand_as(after))
