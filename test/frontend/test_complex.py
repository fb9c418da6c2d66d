# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Complex numbers as pairs of real tensors, and the matrices of Fourier transforms. The cases of
complex_cases.py compare the ops with PyTorch."""

from __future__ import annotations

import pytest
import torch
from complex_cases import SpectralConv
from frontend_checks import check, ops
from op_cases import Function
from torch import Tensor, nn

from convoy.errors import UnsupportedOpsError
from convoy.frontend import import_module


class _Filters(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.filters = nn.ParameterList(torch.randn(9, dtype=torch.cfloat) for _ in range(count))

    def forward(self, x: Tensor) -> Tensor:
        for each in self.filters:
            x = torch.fft.irfft(torch.fft.rfft(x) * each, 16)
        return x


def test_complex_weight_keeps_its_name_and_becomes_real() -> None:
    module = _Filters(1)
    imported = import_module(module.eval(), (torch.randn(2, 16),))
    weight = imported.weights["filters.0"]
    assert torch.equal(weight, torch.view_as_real(module.filters[0].detach()))
    assert "filters.0" not in imported.constants
    assert weight.data_ptr() == module.filters[0].data_ptr()


def test_name_of_a_shared_complex_weight() -> None:
    module = _Filters(2)
    module.filters[1] = module.filters[0]
    imported = import_module(module.eval(), (torch.randn(2, 16),))
    assert {*imported.aliases, *imported.aliases.values()} == {"filters.0", "filters.1"}


def test_equal_matrices_are_one_constant() -> None:
    x = torch.randn(2, 16)
    counts = [len(import_module(_Filters(n).eval(), (x,)).constants) for n in (1, 3)]
    assert counts == [3, 3]


def test_real_data_has_one_product() -> None:
    imported = check(Function(lambda x: torch.fft.fft(x).imag), torch.randn(3, 8))
    assert [op.partition(" ")[0] for op in ops(imported.text)].count("matmul") == 1


def test_part_of_a_pair_is_not_joined_with_the_other() -> None:
    imported = check(Function(lambda x: torch.polar(x, x).imag), torch.rand(3))
    assert [op.partition(" ")[0] for op in ops(imported.text)] == ["sin", "mul"]


@pytest.mark.parametrize("size", [1, 2, 509, 512, 521, 1021, 2047, 4096])
def test_sizes_of_transforms(size: int) -> None:
    module = Function(lambda x: torch.view_as_real(torch.fft.fft(x, norm="ortho")))
    check(module, torch.randn(2, size))


def test_matrices_of_a_long_transform_are_small() -> None:
    imported = import_module(
        Function(lambda x: torch.fft.fft(x).abs()).eval(), (torch.randn(1, 16384),)
    )
    assert sum(each.numel() for each in imported.weights.values()) <= 4 * 16384


def test_all_ops_without_a_rule_are_listed() -> None:
    def function(x: Tensor) -> Tensor:
        y = torch.polar(x, x)
        return torch.view_as_real(y.acosh() + y.asin() + y.acosh())

    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(function).eval(), (torch.ones(2),))
    found = {op.op: len(op.lines) for op in caught.value.ops}
    assert found == {"aten.acosh": 2, "aten.asin": 1}


def test_precision_of_float64_is_kept() -> None:
    module = Function(lambda x: torch.fft.irfft(torch.fft.rfft(x.double()) * 1j, 24))
    check(module, torch.randn(2, 24), tolerance=1e-14)


def test_exported_program_is_not_modified() -> None:
    module, x = SpectralConv().eval(), torch.randn(2, 3, 6, 8)
    from convoy.frontend import import_exported

    program = torch.export.export(module, (x,))
    import_exported(program)
    assert program.state_dict["low"].is_complex()
    torch.testing.assert_close(program.module()(x), module(x))
