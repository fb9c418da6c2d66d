"""The kernel of stems (runtime/device/stem.cu) with the instructions of a GPU emulated on the host,
from the ops on. Results are compared with PyTorch in float64. test/gpu/test_graph_kernels.py has
the same on a GPU."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import pytest
import torch
from emulated import DEVICE, build
from torch import Tensor
from torch.nn import functional as F

from tools.convoy_opt import convoy_opt

#: The rounding of a sum of a few numbers, and to TF32.
LIMITS = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 4e-3}
TYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
PASSES = ("--tcp-form-stems", "--convert-tcp-to-cudnn", "--cudnn-attach-kernels")
Pads = tuple[int, int, int, int]


@dataclass(frozen=True)
class Stem:
    """A convolution with stride 2, bias, relu, and max pooling with windows of 3 and stride 2.

    Attributes:
        x: Images, channels, rows and columns.
        filters: The number of filters.
        taps: Rows and columns of the window.
        pad: The padding of the convolution: top, bottom, left, right.
        pool_pad: The same of the pooling.
        dtype: The type of the network.
        image: The type of the image.
        channels_last: Whether the image is channels-last.
        upper: The upper bound of the relu.
    """

    x: tuple[int, int, int, int]
    filters: int
    taps: tuple[int, int]
    pad: Pads = (0, 0, 0, 0)
    pool_pad: Pads = (0, 0, 0, 0)
    dtype: torch.dtype = torch.float16
    image: torch.dtype = torch.float32
    channels_last: bool = False
    upper: float | None = None

    def tensors(self) -> list[Tensor]:
        """Image, filters and bias, channels-first."""
        torch.manual_seed(0)
        channels = self.x[1]
        w = torch.randn(self.filters, channels, *self.taps) / (channels * self.taps[0]) ** 0.5
        return [
            torch.randn(self.x).to(self.image),
            w.to(self.dtype),
            torch.randn(self.filters).to(self.dtype),
        ]

    def expected(self) -> tuple[Tensor, Tensor]:
        """The results of the convolution and of the pooling, channels-first."""
        return self.expected_of(self.tensors())

    def expected_of(self, tensors: list[Tensor]) -> tuple[Tensor, Tensor]:
        """The same for other tensors."""
        x, w, bias = tensors
        top, bottom, left, right = self.pad
        padded = F.pad(x.to(self.dtype).double(), (left, right, top, bottom))
        conv = F.conv2d(padded, w.double(), bias.double(), stride=2).clamp(0, self.upper)
        top, bottom, left, right = self.pool_pad
        padded = F.pad(conv, (left, right, top, bottom), value=-torch.inf)
        return conv, F.max_pool2d(padded, 3, 2)

    def text(self) -> str:
        """A function with the ops."""
        network, image = TYPES[self.dtype], TYPES[self.image]
        conv, pooled = self.expected()

        def last(shape: torch.Size | tuple[int, ...], element: str = network) -> str:
            batch, channels, *sizes = shape
            return f"tensor<{'x'.join(map(str, (batch, *sizes, channels)))}x{element}>"

        def first(element: str) -> str:
            return f"tensor<{'x'.join(map(str, self.x))}x{element}>"

        given = last(self.x, image) if self.channels_last else first(image)
        w, bias = last((self.filters, self.x[1], *self.taps)), last((1, self.filters, 1, 1))
        lines = []
        if image != network:
            to = last(self.x) if self.channels_last else first(network)
            lines.append(f"%c = tcp.cast %x : {given} -> {to}")
        before = "%c" if image != network else "%x"
        if not self.channels_last:
            lines.append(
                f"%t = tcp.transpose {before} {{perm = array<i64: 0, 2, 3, 1>}} : "
                f"{first(network)} -> {last(self.x)}"
            )
            before = "%t"
        window = "channels_last, dilation = array<i64: 1, 1>, stride = array<i64: 2, 2>, pad = array<i64: "
        upper = "" if self.upper is None else f", max_float = {self.upper} : f32"
        y, p = last(conv.shape), last(pooled.shape)
        lines += [
            f"%y = tcp.conv2d {before}, %w {{{window}{', '.join(map(str, self.pad))}>}} : "
            f"{last(self.x)}, {w} -> {y}",
            f"%a = tcp.add %y, %b : {y}, {bias} -> {y}",
            f"%r = tcp.clamp %a {{min_float = 0.0 : f32{upper}}} : {y} -> {y}",
            f"%p = tcp.max_pool %r {{{window}{', '.join(map(str, self.pool_pad))}>, "
            f"kernel = array<i64: 3, 3>}} : {y} -> {p}",
            f"return %p : {p}",
        ]
        body = "\n  ".join(lines)
        return f"""
func.func @main(%x: {given}, %w: {w}, %b: {bias}) -> {p} attributes {{tcp.target = "cuda"}} {{
  {body}
}}"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    kernels = (DEVICE / name for name in ("stem.cu", "stem.h", "kernel_abi.h"))
    return build(tmp_path_factory.mktemp("emulation"), kernels, "stem.cpp")


def run(library: ctypes.CDLL, stem: Stem, tensors: list[Tensor]) -> list[Tensor]:
    """The results of the kernels, channels-first."""
    text = convoy_opt(stem.text(), *PASSES).stdout
    calls = re.findall(
        r"dense<\[([-\d, ]*)\]> : tensor<\d+xi32>\)[^@]*llvm.call @(convoy_stem_b?f\w+)\(", text
    )
    entries = re.findall(
        r'block = (\d+) : i64, chip = "sm_80"[^{}]*? grid = (\d+) : i64, name = "stem_0_[^"]*", '
        r"shared_bytes = (\d+) : i64",
        text,
    )
    x, w, bias = tensors
    _, pooled = stem.expected()
    image = x.movedim(1, -1).contiguous() if stem.channels_last else x
    given = [image, w.movedim(1, -1).contiguous(), bias]
    results = []
    for (words, function), entry in zip(calls, entries, strict=True):
        threads, blocks, shared_bytes = map(int, entry)
        arguments = [int(word) for word in words.split(",")]
        y = torch.full(pooled.movedim(1, -1).shape, torch.nan, dtype=stem.dtype)
        library.run(
            ctypes.cast(getattr(library, function), ctypes.c_void_p),
            blocks,
            threads,
            shared_bytes,
            *(ctypes.c_void_p(each.data_ptr()) for each in (*given, y)),
            (ctypes.c_int * len(arguments))(*arguments),
        )
        results.append(y.movedim(-1, 1))
    return results


_ONES = (1, 1, 1, 1)
F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
# fmt: off
CASES = {
    "resnet": Stem((2, 3, 32, 64), 64, (7, 7), (3, 3, 3, 3), _ONES),
    "shufflenet": Stem((1, 3, 24, 32), 24, (3, 3), _ONES, _ONES, BF16, BF16),
    "squeezenet": Stem((1, 3, 30, 36), 64, (3, 3)),
    "squeezenet_1_0": Stem((1, 3, 27, 28), 96, (7, 7), dtype=BF16),
    # Windows of the pooling that reach beyond the convolution.
    "googlenet": Stem((1, 3, 32, 32), 64, (7, 7), (3, 3, 3, 3), (0, 1, 0, 1)),
    "beyond": Stem((1, 3, 30, 30), 32, (3, 3), _ONES, (1, 2, 1, 2)),
    # Columns of the convolution that fill their warps, and windows that reach two beyond.
    "full": Stem((1, 3, 20, 32), 32, (3, 3), _ONES, (0, 0, 0, 1)),
    "full_beyond": Stem((1, 3, 20, 32), 32, (3, 3), _ONES, (1, 0, 1, 2)),
    # One row or column of results, and sizes that are multiples of nothing.
    "one": Stem((2, 1, 9, 7), 8, (3, 3)),
    "odd": Stem((1, 3, 31, 41), 40, (5, 3), (1, 2, 1, 0), (1, 1, 1, 0), BF16, F32),
    "odd_last": Stem((2, 3, 29, 35), 16, (4, 4), _ONES, dtype=F16, image=F16, channels_last=True),
    "two_last": Stem((1, 2, 18, 24), 48, (2, 6), (1, 1, 1, 3), _ONES, BF16, channels_last=True),
    "gray_last": Stem((1, 1, 21, 20), 32, (5, 5), (2, 2, 2, 2), _ONES, channels_last=True),
    "four": Stem((1, 4, 16, 20), 64, (7, 7), (0, 1, 0, 1), (1, 1, 1, 1), F16, F16),
    "point": Stem((1, 3, 17, 23), 32, (1, 1), (0, 2, 0, 1), (0, 1, 0, 0)),
    "tf32": Stem((1, 3, 22, 26), 36, (7, 7), (3, 3, 3, 3), _ONES, F32),
    "tf32_odd": Stem((1, 3, 19, 37), 12, (3, 5), (0, 1, 0, 2), (0, 1, 0, 1), F32, channels_last=True),
    "relu6": Stem((1, 3, 20, 24), 32, (3, 3), _ONES, _ONES, upper=0.5),
    # So many columns that there is a kernel with fewer filters per block.
    "wide": Stem((1, 3, 8, 420), 64, (7, 7), (3, 3, 3, 3), _ONES),
    # Blocks of several rows, the last of which has fewer, and strips.
    "batch": Stem((40, 1, 43, 22), 8, (3, 3), (0, 0, 0, 0), (0, 1, 0, 1)),
}
# fmt: on


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_pytorch(library: ctypes.CDLL, name: str) -> None:
    stem = CASES[name]
    results = run(library, stem, stem.tensors())
    assert len(results) == 1 + (name == "wide")
    _, expected = stem.expected()
    limit = LIMITS[stem.dtype] * float(expected.abs().max())
    for y in results:
        torch.testing.assert_close(y.double(), expected, rtol=0, atol=limit)


@pytest.mark.parametrize("column", [12, 13, 14, 15])
@pytest.mark.parametrize(
    "name", ["resnet", "squeezenet", "googlenet", "odd_last", "tf32", "tf32_odd"]
)
def test_infinite_pixel_is_in_its_windows_only(
    library: ctypes.CDLL, name: str, column: int
) -> None:
    """Steps have more pixels than the window."""
    stem = CASES[name]
    x, w, bias = stem.tensors()
    x[0, 0, 8, column] = torch.inf
    (y,) = run(library, stem, [x, w, bias])
    _, expected = stem.expected_of([x, w, bias])
    assert not y.isnan().any()
    assert torch.equal(y.isfinite(), expected.isfinite())
