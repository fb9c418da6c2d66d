"""The kernel of depthwise convolutions (runtime/device/depthwise.cu) on the host, from the graph on:
every variant that the compiler chooses. Results are compared with PyTorch in float64.
test/gpu/test_graph_kernels.py has the same on a GPU."""

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

F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
LIMITS = {F16: 5e-3, BF16: 4e-2, F32: 1e-5}
TYPES = {F16: "f16", BF16: "bf16", F32: "f32"}


@dataclass(frozen=True)
class Kernel:
    """The function of a variant, its arguments, blocks and bytes of shared memory."""

    function: str
    arguments: list[int]
    blocks: int
    shared_bytes: int


def kernels_of(graph: str) -> list[Kernel]:
    """The variants of depthwise.cu."""
    text = convoy_opt(graph, "--cudnn-attach-kernels").stdout
    calls = re.findall(
        r"dense<\[([-\d, ]*)\]> : tensor<\d+xi32>\)[^@]*llvm.call @convoy_depthwise_(\w+)\(", text
    )
    entries = re.findall(r"grid = (\d+) : i64, name = \"[^\"]*\", shared_bytes = (\d+) : i64", text)
    assert len(calls) == len(entries)
    return [
        Kernel(function, [int(word) for word in words.split(",")], int(blocks), int(size))
        for (words, function), (blocks, size) in zip(calls, entries, strict=True)
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    kernels = (DEVICE / name for name in ("depthwise.cu", "kernel_abi.h"))
    return build(tmp_path_factory.mktemp("emulation"), kernels, "depthwise.cpp")


def run(
    library: ctypes.CDLL, conv: Convolution, tensors: list[Tensor], kernel: Kernel, *, scaled: bool
) -> Tensor:
    """The result of a variant."""
    memory = [each.movedim(1, -1).contiguous() if each.dim() > 1 else each for each in tensors]
    y = torch.full((conv.y[0], *conv.y[2:], conv.y[1]), torch.nan, dtype=tensors[0].dtype)
    pointers = [each.data_ptr() for each in (*memory, y)]
    if not scaled:
        pointers[3:5] = [0, 0]
    getattr(library, f"run_{kernel.function}")(
        kernel.blocks,
        kernel.shared_bytes,
        (ctypes.c_void_p * 6)(*pointers),
        (ctypes.c_int * len(kernel.arguments))(*kernel.arguments),
    )
    return y.movedim(-1, 1)


CASES = {
    "mobilenet": Convolution((2, 32, 14, 14), 32, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "strided": Convolution((1, 40, 15, 16), 40, (7, 5), (2, 3), (3, 1), (2, 2), (1, 1)),
    # Rows of the window in several parts, the last one of which has fewer taps, or as many.
    "long": Convolution((2, 32, 1, 90), 32, (1, 75), (1, 1), (0, 37), (0, 37), (1, 1)),
    "even": Convolution((1, 64, 1, 41), 64, (1, 20), (1, 2), (0, 9), (0, 8), (1, 1)),
    "dilated": Convolution((1, 12, 1, 50), 12, (1, 13), (1, 1), (0, 0), (0, 20), (1, 3)),
    "large": Convolution((1, 16, 20, 22), 16, (13, 17), (1, 1), (6, 8), (6, 8), (1, 1)),
    # More taps than the image has columns.
    "outside": Convolution((1, 8, 3, 5), 8, (1, 31), (1, 1), (0, 15), (0, 15), (1, 1)),
    # Planes; strides, padding and dilation that differ in all dims and sides.
    "video": Convolution((1, 24, 4, 14, 14), 24, (3, 3, 3), (1, 2, 2), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    "pooled": Convolution((2, 24, 4, 16, 16), 24, (3, 3, 3), (1, 8, 8), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    "uneven": Convolution((2, 12, 6, 9, 20), 12, (2, 3, 13), (2, 1, 3), (1, 0, 5), (0, 2, 4), (2, 2, 1)),
    # Channels of a thread: two, and one.
    "two": Convolution((1, 6, 9, 11), 6, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "one": Convolution((1, 5, 3, 7, 23), 5, (3, 1, 15), (1, 1, 1), (1, 0, 7), (1, 0, 7), (1, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_pytorch(library: ctypes.CDLL, name: str, dtype: torch.dtype) -> None:
    conv, scaled = CASES[name], len(name) % 2 == 0
    tensors = conv.tensors(dtype, conv.filters)
    expected = conv.expected(tensors, scaled=scaled, groups=conv.filters)
    kernels = kernels_of(conv.graph(TYPES[dtype], scaled=scaled, groups=conv.filters))
    assert kernels
    for kernel in kernels:
        y = run(library, conv, tensors, kernel, scaled=scaled)
        assert float((y.double() - expected).abs().max()) < LIMITS[dtype]


@pytest.mark.parametrize("name", ["long", "dilated", "large", "uneven"])
def test_infinite_numbers_are_in_their_windows_only(library: ctypes.CDLL, name: str) -> None:
    """The last part of a row of the window has more columns than taps."""
    conv = CASES[name]
    tensors = conv.tensors(F16, conv.filters)
    tensors[0].view(-1)[tensors[0].numel() // 3] = torch.inf
    expected = conv.expected(tensors, scaled=False, groups=conv.filters)
    for kernel in kernels_of(conv.graph("f16", scaled=False, groups=conv.filters)):
        y = run(library, conv, tensors, kernel, scaled=False)
        assert torch.equal(y.isfinite(), expected.isfinite())
