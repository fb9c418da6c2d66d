"""Complex numbers under a compute type of 16 bits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy.options import CompileOptions
from convoy.phases import lower


class _Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> object:
        return self.function(x)


class _Filter(nn.Module):
    """Convolution by a product of frequencies."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.randn(4, 33, dtype=torch.complex64))

    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(x) * self.filter, n=64)


def _spectrogram(x: Tensor) -> Tensor:
    window = torch.ones(64)  # the product with it has `dtype`
    return torch.stft(x, 64, 16, window=window, return_complex=True).abs()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("model", "size"),
    [
        (_Function(lambda x: torch.fft.fft(x).abs()), (2, 1000)),
        (_Function(lambda x: torch.fft.irfft(torch.fft.rfft(x), n=1000)), (2, 1000)),
        (_Function(_spectrogram), (2, 512)),
        (_Filter(), (4, 64)),
        (_Function(lambda x: torch.view_as_complex(x).pow(3).real), (6, 2)),
    ],
)
def test_transforms_stay_in_float32(model: nn.Module, size: tuple[int, ...], dtype: str) -> None:
    """Sums exceed 65504, the largest float16, except in the spectrogram. Nothing is rounded."""
    torch.manual_seed(0)
    x = (100 + 100 * torch.rand(size)).to(getattr(torch, dtype)).float()
    got, expected = convoy.compile(model.eval(), (x,), target="cpu", dtype=dtype)(x), model(x)
    assert torch.isfinite(got).all()
    scale = expected.abs().max().item()
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5 * scale)


def test_other_ops_have_the_dtype() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 3
        return torch.fft.rfft(y).real

    from convoy.frontend import import_module

    x = torch.full((1, 8), 1000.0)
    imported = import_module(_Function(function).eval(), (x,))
    options = CompileOptions.of(target="cpu", dtype="float16")
    text = lower(imported.text, "model", from_phase="tcp", to_phase="normalize", options=options)
    types = {
        op: line for line in text.splitlines() for op in ("tcp.mul", "tcp.matmul") if op in line
    }
    assert "xf16>" in types["tcp.mul"]
    assert "xf32>" in types["tcp.matmul"]
    assert "xf16>" not in types["tcp.matmul"]


def test_parts_that_simplifications_remove() -> None:
    """No op is left that could be kept in float32."""
    model = _Function(lambda x: torch.view_as_real(torch.view_as_complex(x)) * 2).eval()
    x = torch.tensor([[0.5, 2.0], [1.0, -3.0]])
    torch.testing.assert_close(
        convoy.compile(model, (x,), target="cpu", dtype="float16")(x), model(x)
    )


def test_places_of_refused_ops() -> None:
    """The name by which ops are kept is no line of the model."""
    model = _Function(lambda x: torch.view_as_complex(x).acosh().abs()).eval()
    with pytest.raises(convoy.errors.UnsupportedOpsError) as caught:
        convoy.compile(model, (torch.ones(3, 2),), target="cpu")
    assert [line.file for op in caught.value.ops for line in op.lines] == [__file__]
