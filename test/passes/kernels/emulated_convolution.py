"""Runs kernels of convolutions whose arguments and shared memory are all that a variant needs, with the
instructions of a GPU emulated on the host, from the graph on."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

import torch
from convolution import Convolution
from emulated import DEVICE, build
from torch import Tensor

from tools.convoy_opt import convoy_opt

LIMITS = {torch.float16: 5e-3, torch.bfloat16: 4e-2}
TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}


@dataclass(frozen=True)
class Conv(Convolution):
    """The epilogue is a bias, and if `scaled` a scale and a residual, and a relu."""

    dtype: torch.dtype = torch.float16
    scaled: bool = False


def library_of(folder: Path, name: str) -> ctypes.CDLL:
    """The kernels of `name`.cu."""
    return build(folder, (DEVICE / f"{name}.cu", DEVICE / "kernel_abi.h"), f"{name}.cpp")


def kernels_of(graph: str, name: str) -> list[tuple[list[int], int]]:
    """Arguments and bytes of shared memory of the variants of `name`.cu."""
    text = convoy_opt(graph, "--cudnn-attach-kernels").stdout
    arguments = re.findall(
        rf"dense<\[([-\d, ]*)\]> : tensor<\d+xi32>\)[^@]*llvm.call @convoy_{name}_\w+\(", text
    )
    entries = re.findall(rf'name = "{name}_[^"]*", shared_bytes = (\d+) : i64', text)
    assert len(arguments) == len(entries)
    return [
        ([int(word) for word in words.split(",")], int(size))
        for words, size in zip(arguments, entries, strict=True)
    ]


def run(
    library: ctypes.CDLL,
    conv: Conv,
    tensors: list[Tensor],
    kernel: tuple[list[int], int],
    blocks: int,
) -> Tensor:
    """The result. The number of blocks, which is at place `blocks` of the arguments, is at most two,
    so that each block computes several tiles."""
    words, size = kernel
    words[blocks] = min(words[blocks], 2)
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
