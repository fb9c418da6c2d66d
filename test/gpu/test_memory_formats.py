# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Channels-last tensors on a GPU: in and out without copies, compared with PyTorch in float64.
Needs the compiler and a PyTorch with CUDA."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from test_kernels import gpu  # noqa: F401 (the fixture)

from convoy_runtime import ArgumentError

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch has no GPU"),
]

LAST = torch.channels_last


@pytest.fixture
def block(gpu: None) -> tuple[Any, Any, Any]:  # noqa: F811
    """A loaded channels-last model, its input, and the expected result."""
    from torch import nn

    import convoy

    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1)
    ).eval().to(memory_format=LAST)  # fmt: skip
    x = torch.randn(4, 16, 32, 32).to(memory_format=LAST)
    expected = copy.deepcopy(module).double()(x.double()).detach()
    program = convoy.compile(module, (x,), target="cuda").load()
    return program, x.cuda(), expected


def close(got: Any, expected: Any) -> None:
    assert (got.cpu().double() - expected).abs().max() <= 5e-3 * expected.abs().max()


def test_no_copy(block: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    program, x, expected = block
    with monkeypatch.context() as patch:
        patch.delattr(type(program._exchange), "_stored")
        for stream in (None, torch.cuda.Stream().cuda_stream):
            y = program(x, stream=stream)
            torch.cuda.synchronize()
            assert y.is_contiguous(memory_format=LAST)
            close(y, expected)
        y = torch.empty_like(y)
        program.run_into([y], [x])
        close(y, expected)
    y = torch.from_dlpack(program.static_outputs[0])
    assert y.is_contiguous(memory_format=LAST)
    torch.from_dlpack(program.static_inputs[0]).copy_(x)
    torch.cuda.synchronize()
    program.replay()
    program.synchronize()
    close(y, expected)


def test_other_strides(block: tuple[Any, Any, Any]) -> None:
    program, x, expected = block
    for other in (
        x.contiguous(),
        torch.stack([x, x], -1)[..., 0],
        x.transpose(2, 3).contiguous().mT,
    ):
        y = program(other)
        assert y.is_contiguous(memory_format=LAST)
        close(y, expected)
    for array in (x.cpu().numpy(), x.cpu().contiguous().numpy()):
        [y] = program.run_numpy(array)
        close(torch.from_numpy(y), expected)
    with pytest.raises(ArgumentError, match="output '0': wrong strides"):
        program.run_into([torch.empty(expected.shape, device="cuda")], [x])
