"""The kernel of convolutions with few filters (runtime/device/conv_few_filters.cu) with the
instructions of a GPU emulated on the host, from the graph on: every variant that the compiler
chooses. Results are compared with PyTorch in float64. test/gpu/test_graph_kernels.py has the same
on a GPU."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import pytest
import torch
from convolution import Convolution
from emulated import DEVICE, build
from torch import Tensor

from tools.convoy_opt import convoy_opt

LIMITS = {torch.float16: 5e-3, torch.bfloat16: 4e-2}
TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}
#: Places in ConvFewFiltersArguments of the tile and of the blocks, the last one before the epilogue.
TILE, BLOCKS = slice(15, 17), 19


@dataclass(frozen=True)
class Conv(Convolution):
    """The epilogue is a bias, and if `scaled` a scale and a residual, and a relu."""

    dtype: torch.dtype = torch.float16
    scaled: bool = False


def kernels_of(graph: str) -> list[tuple[list[int], int]]:
    """Arguments and bytes of shared memory of the variants of conv_few_filters.cu."""
    done = convoy_opt(graph, "--cudnn-attach-kernels")
    arguments = re.findall(
        r"dense<\[([-\d, ]*)\]> : tensor<\d+xi32>\)[^@]*llvm.call @convoy_conv_few_filters_\w+\(",
        done.stdout,
    )
    entries = re.findall(
        r'name = "conv_few_filters_[^"]*", shared_bytes = (\d+) : i64', done.stdout
    )
    assert len(arguments) == len(entries)
    return [
        ([int(word) for word in words.split(",")], int(size))
        for words, size in zip(arguments, entries, strict=True)
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    kernels = (DEVICE / name for name in ("conv_few_filters.cu", "kernel_abi.h"))
    return build(tmp_path_factory.mktemp("emulation"), kernels, "conv_few_filters.cpp")


def run(
    library: ctypes.CDLL, conv: Conv, tensors: list[Tensor], kernel: tuple[list[int], int]
) -> Tensor:
    """The result. There are at most two blocks, so that each computes several tiles."""
    words, size = kernel
    words[BLOCKS] = min(words[BLOCKS], 2)
    memory = [each.movedim(1, -1).contiguous() if each.dim() > 1 else each for each in tensors]
    y = torch.full((conv.y[0], *conv.y[2:], conv.y[1]), torch.nan, dtype=conv.dtype)
    pointers = [ctypes.c_void_p(each.data_ptr()) for each in memory]
    if not conv.scaled:
        pointers[3:] = [None, None]
    library.run(
        conv.dtype == torch.bfloat16,
        size,
        *pointers,
        ctypes.c_void_p(y.data_ptr()),
        (ctypes.c_int * len(words))(*words),
    )
    return y.movedim(-1, 1)


BF16 = torch.bfloat16
CASES = {
    # The last layers of a decoder, of a diffusion model, and of networks for super-resolution.
    "decoder": Conv((2, 128, 18, 20), 3, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "diffusion": Conv((1, 320, 16, 16), 4, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), BF16),
    "resolution": Conv((1, 64, 17, 19), 3, (9, 9), (1, 1), (4, 4), (4, 4), (1, 1)),
    "depth": Conv((1, 32, 19, 17), 1, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), BF16),
    "mask": Conv((3, 32, 16, 18), 2, (1, 1), (1, 1), (0, 0), (0, 0), (1, 1)),
    # Channels that fill no step, or steps that are not read at once; whole pieces of filters.
    "pieces": Conv((1, 24, 16, 17), 5, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), scaled=True),
    "steps": Conv((1, 168, 16, 16), 12, (2, 2), (1, 1), (0, 1), (1, 0), (1, 1), BF16, True),
    "eight": Conv((1, 40, 16, 17), 8, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), scaled=True),
    # Strides, taps, padding and dilation that differ in both dims and sides.
    "uneven": Conv((2, 48, 40, 33), 7, (3, 5), (2, 1), (1, 0), (0, 3), (1, 2), BF16, True),
    "volume": Conv((2, 32, 5, 9, 11), 3, *((each,) * 3 for each in (1, 1, 0, 0, 1)), BF16),
    "far": Conv((1, 24, 8, 9), 3, (3, 3), (1, 1), (9, 8), (7, 9), (1, 1)),
}


@pytest.mark.parametrize("tile", [None, (1, 8), (4, 16)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_pytorch(
    library: ctypes.CDLL, name: str, tile: tuple[int, int] | None
) -> None:
    conv = CASES[name]
    tensors = conv.tensors(conv.dtype)
    expected = conv.expected(tensors, scaled=conv.scaled)
    kernels = kernels_of(conv.graph(TYPES[conv.dtype], scaled=conv.scaled))
    assert kernels
    if tile:  # The last one multiplies another number of taps together, if there is one.
        kernels = [kernels[0], kernels[-1]]
    for words, size in kernels:
        if tile:
            words[TILE], size = tile, 1 << 20
        y = run(library, conv, tensors, (words, size))
        assert float((y.double() - expected).abs().max()) < LIMITS[conv.dtype]


def test_infinite_numbers_are_in_their_windows_only(library: ctypes.CDLL) -> None:
    """Matrices have more columns than the filters, and groups more pixels than the tile."""
    conv = CASES["decoder"]
    tensors = conv.tensors(conv.dtype)
    tensors[0][0, 1, 8, 9] = torch.inf
    expected = conv.expected(tensors, scaled=conv.scaled)
    for kernel in kernels_of(conv.graph(TYPES[conv.dtype], scaled=conv.scaled)):
        y = run(library, conv, tensors, kernel)
        assert torch.equal(y.isfinite(), expected.isfinite())
