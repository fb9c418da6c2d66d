"""The kernel of convolutions by the tensor memory accelerator (runtime/device/conv_tma.cu) with the
instructions of a GPU emulated on the host, from the graph on: the compiler chooses the kernel's
arguments, and the runtime makes its tensor maps. Results are compared with PyTorch in float64.
test/gpu/test_graph_kernels.py has the same on a GPU."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pytest
import torch
from convolution import Convolution
from emulated import DEVICE, build
from torch import Tensor

from convoy_runtime.cuda.driver.tensor_map import tensor_map
from convoy_runtime.manifest import GraphTensor, KernelTensorMap
from tools.convoy_opt import convoy_opt

LIMITS = {torch.float16: 5e-3, torch.bfloat16: 4e-2}


class Map(ctypes.Structure):
    """EmulatedMap of emulation/tma.h."""

    _fields_ = [
        ("address", ctypes.c_void_p),
        ("rank", ctypes.c_int),
        ("is_windows", ctypes.c_int),
        ("sizes", ctypes.c_uint64 * 5),
        ("pitches", ctypes.c_uint64 * 5),
        ("first", ctypes.c_int * 3),
        ("last", ctypes.c_int * 3),
        ("steps", ctypes.c_int * 3),
        ("box", ctypes.c_int * 5),
    ]


class Recorder:
    """A driver whose tensor maps are `Map`s."""

    class Enums:
        def __getattr__(self, name: str) -> str:
            return name

    module = ModuleType("driver")
    vars(module).update(
        cuuint32_t=int,
        cuuint64_t=int,
        CUtensorMapDataType=Enums(),
        CUtensorMapInterleave=Enums(),
        CUtensorMapSwizzle=Enums(),
        CUtensorMapL2promotion=Enums(),
        CUtensorMapFloatOOBfill=Enums(),
    )

    def call(
        self, function: str, kind: str, rank: int, address: int, sizes: Any, pitches: Any, *others
    ) -> Map:
        assert len(sizes) == rank
        assert all(pitch % 16 == 0 for pitch in pitches)
        made = Map(address=address, rank=rank)
        made.sizes[:rank] = sizes
        made.pitches[:rank] = [2, *pitches]
        if function == "cuTensorMapEncodeTiled":
            box, steps = others[:2]
            assert steps == [1] * rank
            made.box[:rank] = box
            return made
        assert function == "cuTensorMapEncodeIm2col"
        first, last, channels, pixels, steps = others[:5]
        bound = {4: 128, 5: 16}[rank]
        assert all(-bound <= corner < bound for corner in (*first, *last))
        assert channels == 64
        assert steps[0] == steps[-1] == 1
        made.is_windows = 1
        made.first[: rank - 2], made.last[: rank - 2] = first, last
        made.steps[: rank - 2] = steps[1:-1]
        made.box[:2] = channels, pixels
        return made


@dataclass(frozen=True)
class Conv(Convolution):
    """A convolution in groups."""

    groups: int = 1

    @property
    def w(self) -> tuple[int, ...]:
        return (self.filters, self.x[1] // self.groups, *self.taps)

    def graph(self, dtype: str) -> str:
        """With a bias, a residual and a relu."""
        bias = (1, self.filters, *(1 for _ in self.taps))
        x, w, y, b = (self.type_of(shape, dtype) for shape in (self.x, self.w, self.y, bias))
        sums = self.type_of(self.y, "f32")
        return f"""
cudnn.graph @conv(%x: {x}, %w: {w}, %b: {b}, %r: {y}) -> {y} {{
  %0 = cudnn.convolution(%x, %w) {self.attributes} : {x}, {w} -> {sums}
  %1 = cudnn.pointwise add(%0, %b) type = f32 : {sums}, {b} -> {sums}
  %2 = cudnn.pointwise add(%1, %r) type = f32 : {sums}, {y} -> {sums}
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : {sums} -> {y}
  cudnn.return %3 : {y}
}}"""

    def expected(self, x: Tensor, w: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
        y = self.convolve(x.double(), w.double(), bias.double(), self.groups)
        return torch.relu(y + residual.double())


@dataclass(frozen=True)
class Kernel:
    """A kernel as the compiler describes it."""

    function: str
    arguments: list[int]
    maps: list[KernelTensorMap]
    shared_bytes: int

    def with_tile(self, sharing: int, blocks: int, columns: int) -> Kernel:
        """The same with another tile, as the compiler chooses for larger convolutions."""
        name, _, _ = self.function.rpartition("_")
        images, filters = self.maps
        across = (columns + 63) // 64 * 64
        return Kernel(
            f"{name}_{sharing}x{blocks}x{columns}",
            self.arguments,
            [
                replace(images, box=(sharing * blocks * 64, 64)),
                replace(filters, box=(across, 1, 64)),
            ],
            1 << 20,
        )


def kernel_of(graph: str) -> Kernel:
    """The first kernel of conv_tma.cu that the compiler attaches."""
    done = convoy_opt(graph, "--cudnn-attach-kernels")
    described = re.search(
        r"dense<\[([-\d, ]*)\]> : tensor<\d+xi32>\)[^@]*llvm.call @(convoy_conv_tma_\w+)\(",
        done.stdout,
    )
    entry = re.search(r"shared_bytes = (\d+) : i64, tensor_maps = \[(\{.*?\})\]", done.stdout)
    assert described
    assert entry
    maps = [
        KernelTensorMap(
            **{name: int(number) for name, number in re.findall(r"(\w+) = (\d+) :", text)},
            **{
                name: tuple(map(int, numbers.split(",")))
                for name, numbers in re.findall(r"(\w+) = \[([\d, ]*)\]", text)
            },
        )
        for text in re.findall(r"\{(.*?)\}", entry[2])
    ]
    words = [int(word) for word in described[1].split(",")]
    return Kernel(described[2], words, maps, int(entry[1]))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    kernels = (DEVICE / name for name in ("conv_tma.cu", "product.h", "kernel_abi.h"))
    return build(tmp_path_factory.mktemp("emulation"), kernels, "conv_tma.cpp")


def channels_last(tensor: Tensor) -> Tensor:
    return tensor.movedim(1, -1).contiguous()


def run(
    library: ctypes.CDLL,
    kernel: Kernel,
    conv: Conv,
    dtype: torch.dtype,
    tensors: list[Tensor],
    blocks: int,
) -> Tensor:
    """The result, of tensors with channels first. With few blocks each computes several tiles."""
    memory = [channels_last(tensor) for tensor in tensors]
    descriptions = [
        GraphTensor(uid, "input", (each.numel(),), (1,), str(dtype).removeprefix("torch."))
        for uid, each in enumerate(memory)
    ]
    maps = []
    for each in kernel.maps:
        assert each.problem(descriptions) is None
        made = tensor_map(
            Recorder(), memory[each.tensor].data_ptr(), descriptions[each.tensor].dtype, each
        )
        maps.append(made)
    words = (ctypes.c_int * len(kernel.arguments))(*kernel.arguments)
    # MatmulWgmmaArguments::blocks.
    words[4] = min(words[4], blocks)
    y = torch.full((conv.y[0], *conv.y[2:], conv.y[1]), torch.nan, dtype=dtype)
    library.run(
        dtype == torch.bfloat16,
        ctypes.cast(library[kernel.function], ctypes.c_void_p),
        kernel.shared_bytes,
        ctypes.c_void_p(memory[2].data_ptr()),
        ctypes.c_void_p(memory[3].data_ptr()),
        ctypes.c_void_p(y.data_ptr()),
        *map(ctypes.byref, maps),
        words,
    )
    return y.movedim(-1, 1)


def tensors_of(conv: Conv, dtype: torch.dtype) -> list[Tensor]:
    torch.manual_seed(0)
    shapes = (conv.x, conv.w, (1, conv.filters), conv.y)
    x, w, bias, residual = (torch.randn(shape).to(dtype) for shape in shapes)
    return [x, (w.float() / (w[0].numel() ** 0.5)).to(dtype), bias, residual]


TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}
#: The convolution, the tensor map's spatial sizes, and the type.
CASES = {
    "two": (Conv((2, 72, 9, 11), 40, (3, 2), (2, 1), (1, 2), (0, 3), (1, 3)), 2, torch.float16),
    # Strides, taps, padding and dilation that differ in all dims and sides.
    "three": (
        Conv((2, 72, 5, 6, 7), 40, (3, 2, 3), (2, 1, 3), (2, 0, 3), (1, 3, 2), (1, 3, 2)),
        3,
        torch.float16,
    ),
    "three_wide": (
        Conv((1, 136, 4, 6, 6), 200, (2, 3, 3), (1, 1, 1), (1, 1, 1), (0, 1, 1), (1, 1, 1)),
        3,
        torch.bfloat16,
    ),
    # The window has one element in the depth, or in height and width, or a size is 1.
    "flat": (
        Conv((2, 24, 3, 6, 7), 40, (1, 3, 3), (1, 2, 1), (0, 1, 0), (0, 1, 2), (1, 1, 2)),
        2,
        torch.float16,
    ),
    "temporal": (
        Conv((2, 24, 7, 3, 5), 40, (3, 1, 1), (2, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1)),
        2,
        torch.bfloat16,
    ),
    "shallow": (
        Conv((3, 24, 1, 6, 7), 40, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        3,
        torch.float16,
    ),
    "point": (
        Conv((2, 72, 3, 5, 4), 72, (1, 1, 1), (1, 1, 1), (0, 0, 0), (0, 0, 0), (1, 1, 1)),
        2,
        torch.float16,
    ),
    # Channels and filters of a group that fill neither a step nor a tile; a group with several
    # steps and tiles.
    "groups": (
        Conv((4, 160, 7, 6), 288, (3, 3), (1, 2), (1, 1), (1, 1), (1, 1), groups=4),
        2,
        torch.float16,
    ),
    "groups_wide": (
        Conv((3, 240, 6, 7), 304, (2, 3), (1, 1), (1, 0), (0, 2), (1, 2), groups=2),
        2,
        torch.bfloat16,
    ),
    # One step for each of more tiles than fit into the ring.
    "groups_point": (
        Conv((4, 192, 6, 8), 288, (1, 1), (1, 1), (16, 0), (0, 0), (1, 1), groups=4),
        2,
        torch.bfloat16,
    ),
    "groups_temporal": (
        Conv((2, 96, 5, 4, 4), 96, (3, 1, 1), (1, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1), groups=3),
        2,
        torch.float16,
    ),
}


@pytest.mark.parametrize("tile", [None, (1, 2, 96), (2, 1, 128)])
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_pytorch(
    library: ctypes.CDLL, name: str, tile: tuple[int, int, int] | None
) -> None:
    conv, dims, dtype = CASES[name]
    tensors = tensors_of(conv, dtype)
    kernel = kernel_of(conv.graph(TYPES[dtype]))
    if tile:
        kernel = kernel.with_tile(*tile)
    y = run(library, kernel, conv, dtype, tensors, blocks=2)
    assert len(kernel.maps[0].strides) == dims
    assert kernel.maps[0].has_groups == (conv.groups > 1)
    expected = conv.expected(tensors[0], tensors[1], tensors[2][0], tensors[3])
    assert float((y.double() - expected).abs().max()) < LIMITS[dtype]


def test_groups_do_not_read_others(library: ctypes.CDLL) -> None:
    """An infinite number is in the results of its group only, although a step of the sum has more
    channels than a group."""
    conv, _, dtype = CASES["groups"]
    tensors = tensors_of(conv, dtype)
    tensors[0][:, 40] = torch.inf
    y = run(library, kernel_of(conv.graph(TYPES[dtype])), conv, dtype, tensors, blocks=8)
    expected = conv.expected(tensors[0], tensors[1], tensors[2][0], tensors[3])
    own = slice(72, 144)
    finite = expected.isfinite()
    assert not finite[:, own].all()
    assert finite[:, :72].all()
    assert finite[:, 144:].all()
    assert torch.equal(y.isfinite(), finite)
    assert float((y.double() - expected)[finite].abs().max()) < LIMITS[dtype]
