"""The kernel of convolutions of few channels (runtime/device/conv_narrow.cu) with the instructions
of a GPU emulated on the host, from the graph on: every variant that the compiler chooses. Results
are compared with PyTorch in float64. test/gpu/test_graph_kernels.py has the same on a GPU."""

from __future__ import annotations

import ctypes

import pytest
import torch
from emulated_convolution import LIMITS, TYPES, Conv, kernels_of, library_of, run

#: Places in ConvNarrowArguments of the tile, the filters, matrices, warps and buffers, and the
#: blocks. They follow seven arrays of three numbers.
TILE, BLOCKS = slice(21, 28), 28
#: Tiles as the compiler chooses for larger images: slices, rows, columns, filters, matrices and
#: buffers. None is the compiler's own.
TILES = (None, (2, 5, 9, 64, 2, 1), (1, 4, 16, 96, 2, 2), (1, 9, 13, 64, 4, 2), (3, 3, 7, 32, 4, 1))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library_of(tmp_path_factory.mktemp("emulation"), "conv_narrow")


BF16 = torch.bfloat16
CASES = {
    # The first layers of ResNet, MobileNet, VGG and R3D-18.
    "resnet": Conv((1, 4, 32, 36), 64, (7, 7), (2, 2), (3, 3), (3, 3), (1, 1)),
    "mobilenet": Conv((2, 4, 31, 33), 32, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), BF16),
    "vgg": Conv((1, 4, 17, 22), 64, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "r3d": Conv((1, 4, 3, 18, 20), 64, (3, 7, 7), (1, 2, 2), (1, 3, 3), (1, 3, 3), (1, 1, 1)),
    # Channels that fill no quad, one, or several, in rows of odd and even numbers of pixels.
    "one": Conv((2, 1, 14, 13), 8, (5, 5), (1, 1), (2, 2), (2, 2), (1, 1)),
    "two": Conv((1, 2, 11, 12), 16, (3, 4), (1, 3), (0, 2), (2, 1), (2, 1), BF16),
    "three": Conv((2, 3, 13, 16), 32, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    "six": Conv((1, 6, 12, 15), 40, (3, 3), (1, 2), (1, 0), (1, 2), (1, 2)),
    "eight": Conv((1, 8, 12, 15), 32, (3, 5), (1, 2), (1, 2), (1, 2), (1, 2)),
    "twelve": Conv((1, 12, 12, 14), 24, (3, 3), (2, 1), (1, 1), (1, 1), (1, 1), BF16),
    # Several parts of the filters, the last one of which is not full; 96 filters together.
    "wide": Conv((1, 4, 9, 10), 200, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), scaled=True),
    "patches": Conv((2, 4, 24, 28), 96, (4, 4), (4, 4), (0, 0), (0, 0), (1, 1)),
    # Strides, taps, padding and dilation that differ in all dims and sides.
    "uneven": Conv(
        (2, 4, 5, 9, 11), 48, (2, 3, 5), (2, 1, 3), (1, 0, 3), (0, 2, 1), (1, 2, 1), BF16, True
    ),
    "point": Conv((2, 4, 7, 9), 32, (1, 1), (1, 1), (0, 0), (0, 0), (1, 1)),
    "far": Conv((1, 4, 6, 7), 32, (3, 3), (1, 1), (9, 8), (7, 9), (1, 1)),
}  # fmt: skip


def with_tile(
    kernel: tuple[list[int], int], tile: tuple[int, int, int, int, int, int]
) -> tuple[list[int], int]:
    """The same with another tile, and with as much shared memory as any tile needs."""
    words = list(kernel[0])
    pixels, matrices = tile[0] * tile[1] * tile[2], tile[4]
    words[TILE] = [*tile[:5], -(-pixels // (16 * matrices)), tile[5]]
    return words, 1 << 20


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_pytorch(
    library: ctypes.CDLL, name: str, tile: tuple[int, int, int, int, int, int] | None
) -> None:
    conv = CASES[name]
    tensors = conv.tensors(conv.dtype)
    expected = conv.expected(tensors, scaled=conv.scaled)
    kernels = kernels_of(conv.graph(TYPES[conv.dtype], scaled=conv.scaled), "conv_narrow")
    assert kernels
    if tile:
        kernels = [with_tile(kernels[0], tile)]
    for kernel in kernels:
        y = run(library, conv, tensors, kernel, BLOCKS)
        assert float((y.double() - expected).abs().max()) < LIMITS[conv.dtype]


def test_infinite_numbers_are_in_their_windows_only(library: ctypes.CDLL) -> None:
    """Steps have more quads than the window, and tiles more pixels than the result."""
    conv = CASES["resnet"]
    tensors = conv.tensors(conv.dtype)
    tensors[0][0, 1, 8, 9] = torch.inf
    expected = conv.expected(tensors, scaled=conv.scaled)
    for kernel in kernels_of(conv.graph(TYPES[conv.dtype], scaled=conv.scaled), "conv_narrow"):
        y = run(library, conv, tensors, kernel, BLOCKS)
        assert torch.equal(y.isfinite(), expected.isfinite())
