# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of op_cases with complex numbers: name, module, inputs. An input of the shape (..., 2) has
the real and the imaginary parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["COMPLEX_CASES"]


def _on_complex(function: Callable[..., Any]) -> Callable[..., tuple[Tensor, ...]]:
    """A function of complex numbers as one of their parts."""

    def run(*inputs: Tensor) -> tuple[Tensor, ...]:
        made = function(*(torch.view_as_complex(x) for x in inputs))
        results = made if isinstance(made, (list, tuple)) else [made]
        return tuple(torch.view_as_real(x.resolve_conj()) if x.is_complex() else x for x in results)

    return run


def _assigned(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a, b, c = x.clone(), torch.zeros_like(x), x.new_zeros(3, 4)
    a[1:, ::2] = y[1:, ::2]
    b[torch.tensor([2, 0])] = y[:2]
    c[0], c[1] = 2 - 1j, y[1]
    return a, b, c


class Rotary(nn.Module):
    """The rotary embedding of LLaMA."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(6.0), 1.0 / 100 ** (torch.arange(0, 8, 2) / 8))
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(angles), angles))

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        freqs = self.freqs_cis.view(1, 6, 1, 4)
        q, k = (torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) for x in (q, k))
        return torch.view_as_real(q * freqs).flatten(3), torch.view_as_real(k * freqs).flatten(3)


class GlobalFilter(nn.Module):
    """The layer of GFNet: a product with a learned filter of frequencies."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.randn(6, 4, 5, 2))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.filter)
        return torch.fft.irfft2(y, s=(6, 6), dim=(1, 2), norm="ortho")


class SpectralConv(nn.Module):
    """The layer of a Fourier neural operator, whose weights are complex."""

    def __init__(self) -> None:
        super().__init__()
        self.low = nn.Parameter(torch.randn(3, 4, 2, 2, dtype=torch.cfloat))
        self.high = nn.Parameter(torch.randn(3, 4, 2, 2, dtype=torch.cfloat))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.fft.rfft2(x)
        out = torch.zeros(2, 4, 6, 5, dtype=y.dtype)
        out[:, :, :2, :2] = torch.einsum("bixy,ioxy->boxy", y[:, :, :2, :2], self.low)
        out[:, :, -2:, :2] = torch.einsum("bixy,ioxy->boxy", y[:, :, -2:, :2], self.high)
        return torch.fft.irfft2(out, s=(6, 8))


class Spectrogram(nn.Module):
    """The front end of a speech model."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.stft(x, 16, 4, window=self.window, return_complex=True)
        return (y.abs() ** 2).clamp(min=1e-3).log(), y.angle().cos()


class Resynthesis(nn.Module):
    """A short-time Fourier transform and its inverse."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.stft(x, 16, 4, window=self.window, return_complex=True)
        return torch.istft(y * (0.5 + 1j), 16, 4, window=self.window, length=40)


COMPLEX_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    (
        "complex_arithmetic",
        _on_complex(lambda x, y: (x + y, x - y, x * y, x / y, -x, 2 - x, 1j * x)),
        (3, 4, 2),
        (4, 2),
    ),
    (
        "complex_and_real",
        _on_complex(lambda x: (x + x.real, x * x.imag, x.real / x, x / x.real, x.real - x, x * 3)),
        (3, 4, 2),
    ),
    (
        "complex_reciprocal",
        _on_complex(lambda x: (1 / x, (2 - 1j) / x, x / 2j, x / (1 + 1j), x.square())),
        (3, 4, 2),
    ),
    (
        "complex_alpha",
        _on_complex(lambda x, y: (torch.add(x, y, alpha=2), torch.sub(x, y, alpha=0.5j))),
        (3, 2),
        (3, 2),
    ),
    (
        "complex_conj",
        _on_complex(lambda x: (x.conj(), x.conj().imag, x.conj() * x, x.mH, x.conj_physical())),
        (3, 4, 2),
    ),
    (
        "complex_polar",
        lambda r, a: torch.view_as_real(torch.polar(r, a) + torch.complex(a, r)),
        (3, 4),
        (3, 4),
    ),
    (
        "complex_abs",
        _on_complex(
            lambda x: (x.abs(), x.angle(), x.sgn(), x.norm(), torch.linalg.vector_norm(x, dim=1))
        ),
        (3, 4, 2),
    ),
    ("angle", lambda x: (x.angle(), (x > 0).angle()), torch.tensor([2.0, -3.0, 0.0, math.nan])),
    (
        "complex_exp",
        _on_complex(lambda x: (x.exp(), x.log(), x.sqrt(), x.rsqrt(), x.log10(), x.sigmoid())),
        (3, 4, 2),
    ),
    (
        "complex_trigonometry",
        _on_complex(lambda x: (x.sin(), x.cos(), x.tan(), x.sinh(), x.cosh(), x.tanh())),
        (3, 4, 2),
    ),
    (
        "complex_pow",
        _on_complex(lambda x, y: (x**2, x**-3, x**0.5, x**1.5, x**y, 2**x, x**0, x ** (1 - 1j))),
        (3, 2),
        (3, 2),
    ),
    (
        "complex_sums",
        _on_complex(
            lambda x: (x.sum(), x.sum(1), x.mean(0, keepdim=True), x.cumsum(1), x.var(), x.std(1))
        ),
        (3, 4, 2),
    ),
    (
        "complex_matmul",
        _on_complex(
            lambda x, y: (x @ y, x[0] @ y[0], x[0] @ y[0, :, 0], torch.vdot(x[0, 0], y[0, :, 0]))
        ),
        (2, 3, 4, 2),
        (2, 4, 3, 2),
    ),
    (
        "complex_matmul_of_real",
        lambda x, y: torch.view_as_real((x + 0j) @ (y + 1j)),
        (2, 4),
        (4, 3),
    ),
    (
        "complex_addmm",
        _on_complex(
            lambda c, x, y: (
                torch.addmm(c, x, y, beta=2, alpha=1j),
                torch.addcmul(c, c, c, value=2),
            )
        ),
        (3, 3, 2),
        (3, 4, 2),
        (4, 3, 2),
    ),
    (
        "complex_einsum",
        _on_complex(lambda x, y: torch.einsum("bij,bjk->ik", x, y)),
        (2, 3, 4, 2),
        (2, 4, 3, 2),
    ),
    ("complex_linear", _on_complex(F.linear), (2, 3, 4, 2), (5, 4, 2), (5, 2)),
    (
        "complex_conv",
        _on_complex(lambda x, w, b: F.conv1d(x, w, b, padding=1)),
        (2, 3, 8, 2),
        (4, 3, 3, 2),
        (4, 2),
    ),
    (
        "complex_views",
        _on_complex(
            lambda x: (
                x.view(4, 6),
                x.mT.reshape(2, -1),
                x.permute(2, 0, 1),
                x[:, None].expand(2, 5, 3, 4),
                x.flatten(),
                x.squeeze(0),
            )
        ),
        (2, 3, 4, 2),
    ),
    (
        "complex_slices",
        _on_complex(
            lambda x: (
                x[:, 1],
                x[..., ::2],
                x[0],
                x.split(2, 2)[1],
                x.unbind(1)[2],
                x.diagonal(0, 1, 2),
                x.flip(1),
                x.roll(1, 2),
            )
        ),
        (2, 3, 4, 2),
    ),
    (
        "complex_joins",
        _on_complex(
            lambda x, y: (
                torch.cat([x, y, x.real]),
                torch.stack([x, y], 1),
                F.pad(x, (1, 2)),
                x.repeat(2, 1),
                x.tril(),
            )
        ),
        (3, 4, 2),
        (3, 4, 2),
    ),
    (
        "complex_reads",
        lambda x, i: torch.view_as_real(
            torch.view_as_complex(x)[i] + torch.view_as_complex(x).index_select(0, i[0])[:, None]
        ),
        (3, 4, 2),
        torch.tensor([[2, 0], [1, 1]]),
    ),
    ("complex_writes", _on_complex(_assigned), (3, 4, 2), (3, 4, 2)),
    (
        "complex_where",
        _on_complex(
            lambda x, y: (
                torch.where(x.real > 0, x, y),
                x.masked_fill(y.real > 0, 1j),
                torch.where(x.imag > 0, x, 0),
            )
        ),
        (3, 4, 2),
        (3, 4, 2),
    ),
    (
        "complex_compare",
        _on_complex(lambda x, y: (x == x, x != y, x.isnan(), x.isfinite(), x == 1j)),
        (3, 4, 2),
        (3, 4, 2),
    ),
    (
        "complex_casts",
        lambda x: (
            x.to(torch.cfloat).real,
            torch.view_as_real(x.to(torch.cdouble) * 1j).float(),
            torch.view_as_real(x.float().view(torch.cfloat)),
            x.float().view(torch.cfloat).view(torch.float),
        ),
        (3, 4),
    ),
    (
        "complex_creation",
        lambda x: torch.view_as_real(
            torch.full((3,), 1 - 2j) * torch.complex(x, x)
            + torch.ones(3, dtype=torch.cfloat)
            + torch.tensor(2j)
        )[..., 1],
        (3,),
    ),
    (
        "fft",
        lambda x: torch.view_as_real(
            torch.fft.fft(x) + torch.fft.fft(x, norm="ortho") + torch.fft.ifft(x)
        ),
        (3, 7),
    ),
    (
        "fft_complex",
        _on_complex(
            lambda x: (
                torch.fft.fft(x, dim=0),
                torch.fft.ifft(x, norm="forward"),
                torch.fft.fft(x, n=6),
                torch.fft.fft(x, n=3),
            )
        ),
        (4, 5, 2),
    ),
    ("fft_two_steps", lambda x: torch.view_as_real(torch.fft.fft(x, 600, norm="ortho")), (2, 560)),
    ("rfft_two_steps", lambda x: torch.view_as_real(torch.fft.rfft(x, norm="ortho")), (2, 1030)),
    (
        "irfft_two_steps",
        lambda x: (
            torch.fft.irfft(torch.view_as_complex(x)),
            torch.fft.irfft(torch.view_as_complex(x), 525),
        ),
        (2, 271, 2),
    ),
    (
        "rfft",
        lambda x: (
            torch.view_as_real(torch.fft.rfft(x)),
            torch.view_as_real(torch.fft.rfft(x, dim=0)),
            torch.fft.ihfft(x).imag,
        ),
        (4, 5),
    ),
    (
        "irfft",
        _on_complex(
            lambda x: (
                torch.fft.irfft(x),
                torch.fft.irfft(x, 7, norm="ortho"),
                torch.fft.hfft(x),
                torch.fft.irfft(x, dim=0),
            )
        ),
        (3, 5, 2),
    ),
    (
        "fft2",
        lambda x: (torch.view_as_real(torch.fft.fft2(x)), torch.fft.ifft2(torch.fft.fftn(x)).real),
        (2, 4, 5),
    ),
    (
        "irfftn",
        _on_complex(
            lambda x: (
                torch.fft.irfft2(x, s=(4, 6)),
                torch.fft.irfftn(x, norm="ortho"),
                torch.fft.irfftn(x, s=(3, 5), dim=(0, 2)),
            )
        ),
        (3, 4, 4, 2),
    ),
    (
        "fftshift",
        lambda x: torch.view_as_real(
            torch.fft.ifftshift(torch.fft.fftshift(torch.fft.fft(x)) * torch.fft.fftfreq(5), dim=1)
        ),
        (4, 5),
    ),
    ("rotary_embedding", Rotary, (2, 6, 3, 8), (2, 6, 1, 8)),
    ("fnet_mixing", lambda x: torch.fft.fft2(x, dim=(1, 2)).real, (2, 6, 8)),
    ("global_filter", GlobalFilter, (2, 6, 6, 5)),
    ("spectral_conv", SpectralConv, (2, 3, 6, 8)),
    ("spectrogram", Spectrogram, (2, 40)),
    ("resynthesis", Resynthesis, (2, 40)),
]
