"""The kernel of convolutions with few filters (runtime/device/conv_few_filters.cu) with the
instructions of a GPU emulated on the host, from the graph on: every variant that the compiler
chooses. Results are compared with PyTorch in float64. test/gpu/test_graph_kernels.py has the same
on a GPU."""

from __future__ import annotations

import ctypes

import pytest
import torch
from emulated_convolution import LIMITS, TYPES, Conv, kernels_of, library_of, run

#: Places in ConvFewFiltersArguments of the tile and of the blocks, the last one before the epilogue.
TILE, BLOCKS = slice(15, 17), 19


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library_of(tmp_path_factory.mktemp("emulation"), "conv_few_filters")


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
    kernels = kernels_of(conv.graph(TYPES[conv.dtype], scaled=conv.scaled), "conv_few_filters")
    assert kernels
    if tile:  # The last one multiplies another number of taps together, if there is one.
        kernels = [kernels[0], kernels[-1]]
    for words, size in kernels:
        if tile:
            words[TILE], size = tile, 1 << 20
        y = run(library, conv, tensors, (words, size), BLOCKS)
        assert float((y.double() - expected).abs().max()) < LIMITS[conv.dtype]


def test_infinite_numbers_are_in_their_windows_only(library: ctypes.CDLL) -> None:
    """Matrices have more columns than the filters, and groups more pixels than the tile."""
    conv = CASES["decoder"]
    tensors = conv.tensors(conv.dtype)
    tensors[0][0, 1, 8, 9] = torch.inf
    expected = conv.expected(tensors, scaled=conv.scaled)
    for kernel in kernels_of(conv.graph(TYPES[conv.dtype], scaled=conv.scaled), "conv_few_filters"):
        y = run(library, conv, tensors, kernel, BLOCKS)
        assert torch.equal(y.isfinite(), expected.isfinite())
