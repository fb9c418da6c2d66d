"""3x3 convolutions on the CPU by Winograd's algorithm, against PyTorch in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from vector_cpus import CPUS

import convoy

#: Input channels, output channels, rows, columns, padding.
SHAPES = {
    "even": (32, 64, 16, 16, 1),
    "odd rows": (32, 64, 15, 16, 1),
    "odd columns": (64, 32, 12, 13, 1),
    "odd, no padding": (48, 96, 17, 19, 0),
    "one row of tiles": (32, 32, 2, 130, 1),
    "one row, of half tiles": (32, 32, 3, 131, (0, 1)),
    "many channels": (512, 64, 14, 14, 1),
    "very many channels": (2048, 32, 12, 12, 1),
    "many blocks": (32, 1024, 12, 12, 1),
}


#: Input channels, output channels, frames, rows, columns, frames of the window, and the convolution's
#: stride, padding and dilation.
SHAPES_3D: dict[str, tuple[int, int, int, int, int, int, Any, Any, Any]] = {
    "even": (32, 64, 4, 12, 12, 3, 1, 1, 1),
    "odd": (64, 32, 5, 9, 11, 3, 1, 1, 1),
    "frames of several tasks": (96, 32, 11, 6, 8, 3, 1, 1, 1),
    "no padding": (32, 32, 7, 10, 13, 3, 1, 0, 1),
    "window of 1 frame": (32, 64, 5, 9, 12, 1, 1, (0, 1, 1), 1),
    "window of 2 frames": (32, 64, 5, 9, 12, 2, 1, (1, 1, 1), 1),
    "window of 7 frames": (32, 64, 8, 9, 12, 7, 1, (3, 1, 1), 1),
    "one frame of outputs": (32, 64, 3, 15, 16, 3, 1, (0, 1, 1), 1),
    "stride between frames": (32, 64, 9, 9, 12, 3, (2, 1, 1), 1, 1),
    "dilation between frames": (32, 64, 7, 9, 12, 3, 1, (2, 1, 1), (2, 1, 1)),
    "stride and dilation": (32, 64, 13, 9, 12, 3, (2, 1, 1), (2, 1, 1), (2, 1, 1)),
    "many channels": (320, 32, 3, 14, 14, 3, 1, 1, 1),
}


def compiled(
    module: nn.Module, x: torch.Tensor, folder: Path, **options: Any
) -> tuple[convoy.Model, bool]:
    """The compiled module, and whether its code has the buffers of Winograd's algorithm."""
    model = convoy.compile(module.eval(), (x,), target="cpu", dump_phases=folder, **options)
    (host,) = folder.glob("model.*.host.mlir")
    return model, "memref.alloca" in host.read_text()


class Residual(nn.Module):
    """A convolution whose epilogue reads its own input, in place of which it may be written."""

    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(x)
        return torch.relu(self.conv(x) + x) > 0.5, torch.relu(self.conv(x) + x)


def check(module: nn.Module, x: torch.Tensor, folder: Path, cpu: str) -> None:
    """Winograd's algorithm computes the module, and its result is that of PyTorch in float64."""
    model, fast = compiled(module, x, folder, cpu=cpu)
    assert fast
    got = model(x)
    wanted = module.double()(x.double())
    module.float()
    torch.testing.assert_close(got.double(), wanted, rtol=2e-5, atol=2e-5)


@torch.no_grad()
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: str, cpu: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    inputs, outputs, rows, columns, padding = SHAPES[shape]
    conv = nn.Conv2d(inputs, outputs, 3, padding=padding, bias=False)
    epilogue = nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.SiLU())
    for module, batch in ((conv, 1), (epilogue, 3)):
        check(module, torch.randn(batch, inputs, rows, columns), tmp_path, cpu)


@torch.no_grad()
@pytest.mark.parametrize("cpu", ["native", "x86-64"])
@pytest.mark.parametrize(
    ("rows", "columns", "dilation"),
    [(16, 16, 2), (25, 28, 4), (27, 31, 3), (30, 18, 5), (17, 40, 2)],
)
def test_dilation(rows: int, columns: int, dilation: int, cpu: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(32, 64, 3, padding=dilation, dilation=dilation, bias=False)
    epilogue = nn.Sequential(conv, nn.BatchNorm2d(64), nn.SiLU())
    for module, batch in ((conv, 2), (epilogue, 1)):
        check(module, torch.randn(batch, 32, rows, columns), tmp_path, cpu)


@torch.no_grad()
@pytest.mark.parametrize("cpu", ["native", "x86-64"])
@pytest.mark.parametrize("shape", SHAPES_3D)
def test_shapes_3d(shape: str, cpu: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    inputs, outputs, frames, rows, columns, taps, stride, padding, dilation = SHAPES_3D[shape]
    conv = nn.Conv3d(inputs, outputs, (taps, 3, 3), stride, padding, dilation, bias=False)
    epilogue = nn.Sequential(conv, nn.BatchNorm3d(outputs), nn.SiLU())
    for module, batch in ((conv, 1), (epilogue, 2)):
        check(module, torch.randn(batch, inputs, frames, rows, columns), tmp_path, cpu)


@torch.no_grad()
@pytest.mark.parametrize(
    ("conv", "size"), [(nn.Conv2d, (13, 14)), (nn.Conv3d, (5, 7, 8))], ids=["2-D", "3-D"]
)
def test_epilogue_with_a_mask_and_a_residual(
    conv: type[nn.Conv2d | nn.Conv3d], size: tuple[int, ...], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    module, x = Residual(conv(64, 64, 3, padding=1)), torch.randn(2, 64, *size)
    model, fast = compiled(module, x, tmp_path)
    assert fast
    mask, got = model(x)
    expected, wanted = module.double()(x.double())
    torch.testing.assert_close(got.double(), wanted, rtol=2e-5, atol=2e-5)
    assert (mask == expected).float().mean() > 0.999
    assert torch.equal(mask, got > 0.5)


@torch.no_grad()
@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan, 3e38])
def test_results_that_are_not_finite(value: float, tmp_path: Path) -> None:
    """An infinite input reaches only the outputs whose window contains it, with its sign."""
    torch.manual_seed(0)
    conv = nn.Conv2d(32, 64, 3, padding=1)
    conv.weight.abs_().add_(0.01)
    x = torch.rand(1, 32, 16, 17)
    x[0, 3, 5, 6] = value
    x[0, 5, 5, 9] = value
    model, fast = compiled(conv, x, tmp_path)
    assert fast
    got, wanted = model(x), conv(x)
    torch.testing.assert_close(got, wanted, rtol=2e-5, atol=2e-5, equal_nan=True)
    far = torch.ones_like(got, dtype=torch.bool)
    far[..., 4:7, 5:11] = False
    assert got[far].isfinite().all()


@torch.no_grad()
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan, 3e38])
def test_results_that_are_not_finite_3d(value: float, stride: int, tmp_path: Path) -> None:
    """As above. Frames beyond the window's have no infinite results either."""
    torch.manual_seed(0)
    conv = nn.Conv3d(32, 64, 3, (stride, 1, 1), padding=1)
    conv.weight.abs_().add_(0.01)
    x = torch.rand(1, 32, 11, 12, 13)
    x[0, 3, 4, 5, 6] = value
    x[0, 5, 4, 5, 9] = value
    model, fast = compiled(conv, x, tmp_path)
    assert fast
    got, wanted = model(x), conv(x)
    torch.testing.assert_close(got, wanted, rtol=2e-5, atol=2e-5, equal_nan=True)
    far = torch.ones_like(got, dtype=torch.bool)
    far[:, :, 4 // stride - 1 : 5 // stride + 1, 4:7, 5:11] = False
    assert got[far].isfinite().all()


@torch.no_grad()
def test_transforms_that_overflow(tmp_path: Path) -> None:
    """Differences of inputs overflow, but no result does."""
    conv = nn.Conv2d(32, 32, 3, padding=1, bias=False)
    conv.weight.fill_(2**-40)
    x = torch.full((1, 32, 16, 16), 2.5e38)
    x[..., ::2, :] = -2.5e38
    model, fast = compiled(conv, x, tmp_path)
    assert fast
    wanted = conv.double()(x.double())
    torch.testing.assert_close(model(x).double(), wanted, rtol=1e-5, atol=1e23)


@torch.no_grad()
def test_can_be_switched_off(tmp_path: Path) -> None:
    """Without the algorithm an output far from a large input has no error from it."""
    conv = nn.Conv2d(32, 32, 3, padding=1)
    x = torch.rand(1, 32, 16, 16)
    x[0, :, 3, 4] = 1e20
    model, fast = compiled(conv, x, tmp_path, allow_winograd=False)
    assert not fast
    wanted = conv.double()(x.double())
    torch.testing.assert_close(model(x).double(), wanted, rtol=1e-4, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize(
    "conv",
    [
        nn.Conv2d(32, 64, 3, padding=1, stride=2),
        nn.Conv2d(32, 64, 3, padding=(2, 3), dilation=(2, 3)),
        nn.Conv2d(32, 64, 3, padding=7, dilation=7),
        nn.Conv2d(32, 64, (3, 1)),
        nn.Conv2d(64, 64, 3, padding=1, groups=16),
        nn.Conv2d(3, 64, 3, padding=1),
        nn.Conv3d(32, 64, 3, padding=1, stride=2),
        nn.Conv3d(32, 64, 3, padding=1, dilation=(1, 2, 1)),
        nn.Conv3d(32, 64, (3, 1, 1)),
        nn.Conv3d(64, 64, 3, padding=1, groups=2),
        nn.Conv3d(3, 64, 3, padding=1),
    ],
    ids=[
        *["stride", "two dilations", "large dilation"],
        *["3x1", "groups of few channels", "few channels"],
        *["3-D stride", "3-D dilation", "3x1x1", "3-D groups", "3-D few channels"],
    ],
)
def test_other_convolutions_are_direct(conv: nn.Conv2d | nn.Conv3d, tmp_path: Path) -> None:
    torch.manual_seed(0)
    x = torch.randn(1, conv.in_channels, *(len(conv.kernel_size) * [20]))
    model, fast = compiled(conv, x, tmp_path)
    assert not fast
    torch.testing.assert_close(model(x), conv(x), rtol=1e-5, atol=1e-5)
