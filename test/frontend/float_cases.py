# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of float functions for `op_cases`: name, function, and inputs as for its `_add`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["FLOAT_CASES"]

_special = torch.special
_POSITIVE = torch.tensor([0.01, 0.3, 1.0, 1.5, 2.0, 7.5, 20.0, 150.0])
_UNIT = torch.tensor([-1.0, -0.999, -0.6, -1e-5, 0.0, 0.3, 0.75, 1.0])
_ANY = torch.tensor([-30.0, -3.25, -1.0, -0.5, 0.0, 0.4, 2.5, 40.0])
_PARTS = torch.tensor([0.0, 1e-9, 0.05, 0.3, 0.5, 0.8, 0.99, 1.0])
_LEFT = torch.tensor([-7.5, -1.0, 0.0, 0.0, 3.5, 1e20, 4.0, math.inf])
_RIGHT = torch.tensor([2.0, -0.3, 3.0, -3.0, -1.25, 0.7, math.inf, math.inf])

_GRID = torch.randn(1, 3, 4, 2, generator=torch.Generator().manual_seed(2)) * 1.3
_GRID3 = torch.randn(1, 2, 3, 2, 3, generator=torch.Generator().manual_seed(3)) * 1.3


def _resized(**options: Any) -> Callable[[Tensor], Tensor]:
    return lambda x: F.interpolate(x, **options)


def _sampled(mode: str, padding: str, align_corners: bool) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda x, grid: F.grid_sample(x, grid, mode, padding, align_corners)


#: Functions of one tensor with an input in their domain.
UNARY: dict[str, tuple[Callable[[Tensor], Tensor], Tensor]] = {
    "acos": (torch.acos, _UNIT),
    "acosh": (torch.acosh, _POSITIVE + 1),
    "asin": (torch.asin, _UNIT),
    "asinh": (torch.asinh, _ANY),
    "atan": (torch.atan, _ANY),
    "atanh": (torch.atanh, _UNIT),
    "cosh": (torch.cosh, _ANY),
    "expm1": (torch.expm1, _ANY),
    "sinc": (torch.sinc, _ANY),
    "sinh": (torch.sinh, _ANY),
    "tan": (torch.tan, _ANY),
    "digamma": (torch.digamma, _ANY[1:] + 0.3),
    "erfc": (torch.erfc, _ANY),
    "erfinv": (torch.erfinv, _UNIT),
    "lgamma": (torch.lgamma, _ANY),
    "polygamma": (lambda x: torch.polygamma(3, x), _ANY[1:] + 0.3),
    "entr": (_special.entr, _PARTS),
    "erfcx": (_special.erfcx, _ANY[1:]),
    "log_ndtr": (_special.log_ndtr, _ANY),
    "ndtr": (_special.ndtr, _ANY),
    "ndtri": (_special.ndtri, _PARTS),
    "logit": (torch.logit, _PARTS),
    "logit_eps": (lambda x: torch.logit(x, 0.1), _PARTS),
    "spherical_bessel_j0": (_special.spherical_bessel_j0, _ANY),
    **{
        name: (getattr(_special, name), _POSITIVE[:-1])
        for name in (
            "bessel_j0",
            "bessel_j1",
            "bessel_y0",
            "bessel_y1",
            "i0",
            "i0e",
            "i1",
            "i1e",
            "modified_bessel_k0",
            "modified_bessel_k1",
            "scaled_modified_bessel_k0",
            "scaled_modified_bessel_k1",
        )
    },
}

FLOAT_CASES: list[Any] = [
    *((name, function, x) for name, (function, x) in UNARY.items()),
    ("atan2", torch.atan2, _LEFT, _RIGHT),
    ("hypot", torch.hypot, _LEFT, _RIGHT),
    ("logaddexp", torch.logaddexp, _LEFT, _RIGHT),
    ("logaddexp2", torch.logaddexp2, _LEFT, _RIGHT),
    ("xlogy", lambda x, y: (torch.xlogy(x, y), torch.xlogy(2.0, y)), _LEFT, _RIGHT),
    ("xlog1py", _special.xlog1py, _LEFT, _RIGHT),
    ("copysign", lambda x, y: (torch.copysign(x, y), torch.copysign(x, -2.0)), _LEFT, _RIGHT),
    ("signbit", lambda x: (torch.signbit(x), torch.signbit(x.long())), _UNIT * -0.0 - _ANY),
    ("isinf", lambda x: (x.isinf(), x.isfinite(), x.isposinf(), x.long().isinf()), _RIGHT),
    ("fmax", lambda x, y: (torch.fmax(x, y), torch.fmin(x, y), torch.fmax(x.log(), y)), _LEFT, _RIGHT),
    ("round_decimals", lambda x: (x.round(decimals=2), x.round(decimals=-1)), _ANY),
    ("fmod", lambda x, y: (torch.fmod(x, y), x.fmod(-0.75)), _LEFT[:5], _RIGHT[:5]),
    ("nearest_fraction", _resized(size=(7, 3)), (1, 2, 5, 4)),
    # The factor counts and not the sizes, which are 3 and 6.
    ("nearest_factor", _resized(scale_factor=2.3), (1, 2, 3)),
    ("nearest_exact_fraction", _resized(size=(7, 3, 2), mode="nearest-exact"), (1, 2, 5, 4, 4)),
    ("bilinear_antialias", _resized(size=(3, 9), mode="bilinear", antialias=True), (1, 2, 8, 6)),
    ("bicubic_antialias", _resized(size=(3, 4), mode="bicubic", antialias=True), (1, 2, 8, 6)),
    ("bilinear_one_pixel", _resized(size=(1, 1), mode="bilinear"), (1, 2, 4, 3)),
    ("bilinear_many_taps", _resized(size=(2, 2), mode="bilinear", antialias=True), (1, 1, 40, 4)),
    ("grid_sample", _sampled("bilinear", "zeros", False), (1, 2, 5, 6), _GRID),
    ("grid_sample_border", _sampled("bilinear", "border", True), (1, 2, 5, 6), _GRID),
    ("grid_sample_reflection", _sampled("bilinear", "reflection", False), (1, 2, 5, 6), _GRID),
    ("grid_sample_one_row", _sampled("bilinear", "reflection", True), (1, 2, 1, 6), _GRID),
    ("grid_sample_nearest", _sampled("nearest", "reflection", True), (1, 2, 5, 6), _GRID),
    ("grid_sample_bicubic", _sampled("bicubic", "zeros", True), (1, 2, 5, 6), _GRID),
    ("grid_sample_bicubic_border", _sampled("bicubic", "border", False), (1, 2, 5, 6), _GRID),
    ("grid_sample_3d", _sampled("bilinear", "zeros", False), (1, 2, 3, 5, 4), _GRID3),
    ("grid_sample_3d_nearest", _sampled("nearest", "border", False), (1, 2, 3, 5, 4), _GRID3),
    ("dist", lambda x, y: tuple(torch.dist(x, y, p) for p in (0, 1, 2, 3.5, math.inf)), (3, 4), (4,)),
    ("cdist", lambda x, y: tuple(torch.cdist(x, y, p) for p in (0.0, 1.0, 2.0, 3.0, math.inf)), (2, 3, 4), (5, 4)),
    ("cdist_many", torch.cdist, (30, 3), (27, 3)),
    ("pdist", lambda x: (F.pdist(x), F.pdist(x, 1.0)), (5, 4)),
    ("bilinear_product", F.bilinear, (2, 4), (2, 3), (5, 4, 3), (5,)),
    ("ldexp", lambda x, y: (torch.ldexp(x, y), torch.ldexp(x.long(), y)), (2, 3), torch.tensor([-3, 0, 9])),
    ("ldexp_range", lambda x, y: (torch.ldexp(x, y), torch.ldexp(x, y.float() / 4)), torch.tensor([0.0, 1e-30, 3e38, 2e-38]), torch.tensor([200, 180, -200, 150])),
    ("threshold_nan", lambda x: F.threshold(x.log(), 0.1, 20.0), _ANY),
    ("rrelu", lambda x: F.rrelu(x, 0.1, 0.4), (2, 3)),
    ("multilabel_margin_loss", lambda x, y: tuple(F.multilabel_margin_loss(x, y, reduction=r) for r in ("none", "mean", "sum")), (3, 4), torch.tensor([[0, 3, -1, 2], [-1, 0, 0, 0], [2, 1, 3, 0]])),
    # Between an infinite bound and another one, the weight decides whether the result is NaN.
    ("lerp_infinite", lambda x, y, w: (x.lerp(y, w), *(x.lerp(y, each) for each in (0.25, 0.5, 1))), _LEFT, _RIGHT, _PARTS),
    ("softmax_number", lambda x: (x.softmax(0), x.log_softmax(-1), (x / 0).softmax(0), (x / 0).log_softmax(0)), ()),
    ("prelu_number", lambda x, w: F.prelu(x, w), torch.tensor(-1.5), (1,)),
    ("flip_number", lambda x: x.flip(0), ()),
    # The epsilon of float16 would be larger than the squares.
    ("rms_norm_half", lambda x: F.rms_norm(x, (4,)), torch.linspace(-0.02, 0.03, 8).half().view(2, 4)),
    ("linear_infinite", _resized(size=9, mode="linear", align_corners=True), torch.tensor([[[math.inf, 1.0, 2.0, -1.0, 0.5]]])),
    # The logarithm shows the digits of a result that is close to 0.
    ("softplus_small", lambda x: (F.softplus(x).log(), F.logsigmoid(-x).neg().log()), torch.tensor([-80.0, -60.5, -16.1, -7.3, -1.5, 0.0, 3.0])),
    ("softplus_double", lambda x: F.softplus(x).log(), torch.tensor([-500.0, -36.1, -7.3, 0.0, 3.0]).double()),
    ("celu_small", lambda x: (F.celu(x, 0.7) / x, torch.ops.aten.elu(x, 1.1, 1.2, 1.3) / x), torch.tensor([-1e-6, -1e-3, -2.0, 3.0])),
    ("renorm_half", lambda x: torch.renorm(x.half(), 2, 0, 1.0), (2, 3)),
    ("multilabel_margin_loss_row", F.multilabel_margin_loss, (4,), torch.tensor([3, -1, 1, 0])),
]  # fmt: skip
