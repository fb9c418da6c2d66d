# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The kernels for attention (runtime/device/attention.cu and attention_wgmma.cu) with the
instructions of a GPU emulated on the host, from the op on: every variant that the compiler chooses.
Results are compared with PyTorch in float64. test/gpu/test_graph_kernels.py has the same on a
GPU."""

from __future__ import annotations

import ctypes
import json
import re
from dataclasses import dataclass, field

import pytest
import torch
from emulated import DEVICE, build
from torch import Tensor

from tools.convoy_opt import convoy_opt

#: Relative to the largest value of all, 4 or so: f16 rounds powers and results.
LIMITS = {torch.float16: 2e-3, torch.bfloat16: 2e-2}
TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}
PASSES = ("--tcp-form-groups", "--convert-tcp-to-cudnn", "--cse", "--cudnn-attach-kernels")


@dataclass(frozen=True)
class Attention:
    """One attention.

    Attributes:
        query: Batch, heads, rows, depth.
        key: Heads, columns, and the depth of the value.
        mask: The shape of the mask, or None.
        options: The attributes of `tcp.attention` but the scale.
        dtype: The dtype.
        hidden: Whether the mask hides some columns.
    """

    query: tuple[int, int, int, int]
    key: tuple[int, int, int]
    mask: tuple[int, int, int, int] | None = None
    options: dict[str, float] = field(default_factory=dict)
    dtype: torch.dtype = torch.float16
    hidden: bool = False

    @property
    def scale(self) -> float:
        """Scores are some times as large as the usual ones."""
        return 4 / self.query[3] ** 0.5

    def tensors(self) -> list[Tensor]:
        """Query, key, value, and a mask if there is one."""
        torch.manual_seed(0)
        batch, _, _, depth = self.query
        heads, columns, width = self.key
        shapes = [self.query, (batch, heads, columns, depth), (batch, heads, columns, width)]
        found = [torch.randn(shape).to(self.dtype) for shape in shapes]
        if self.mask:
            mask = torch.randn(self.mask)
            if self.hidden:
                mask[..., : columns // 2 + 10] = -torch.inf
            found.append(mask.to(self.dtype))
        return found

    def text(self) -> str:
        """A function with the op."""
        element = TYPES[self.dtype]
        types = [f"tensor<{'x'.join(map(str, each.shape))}x{element}>" for each in self.tensors()]
        result = f"tensor<{'x'.join(map(str, (*self.query[:3], self.key[2])))}x{element}>"
        names = ["%q", "%k", "%v", "%m"][: len(types)]
        given = ", ".join(f"{name}: {each}" for name, each in zip(names, types, strict=True))
        written = {
            "causal": "causal",
            "window": f"window = {self.options.get('window')} : i64",
            "softcap": f"softcap = {self.options.get('softcap')} : f64",
        }
        options = [written[name] for name in self.options]
        mask = " mask %m" if self.mask else ""
        return f"""
func.func @main({given}) -> {result} attributes {{tcp.target = "cuda"}} {{
  %o = tcp.attention %q, %k, %v{mask} {{{", ".join([f"scale = {self.scale} : f64", *options])}}}
      : {", ".join(types)} -> {result}
  return %o : {result}
}}"""

    def expected(self) -> tuple[Tensor, Tensor]:
        """The result, and the logarithms of sums of exponentials."""
        q, k, v, *masks = (each.double() for each in self.tensors())
        k, v = (each.repeat_interleave(q.shape[1] // k.shape[1], 1) for each in (k, v))
        scores = q @ k.mT * self.scale
        if softcap := self.options.get("softcap"):
            scores = softcap * torch.tanh(scores / softcap)
        for mask in masks:
            scores = scores + mask
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool)
        if "causal" in self.options:
            seen = seen.tril()
        if window := self.options.get("window"):
            seen = seen.triu(1 - int(window))
        scores = scores.masked_fill(~seen, -torch.inf)
        return scores.softmax(-1).nan_to_num(0) @ v, scores.logsumexp(-1)


@dataclass(frozen=True)
class Kernel:
    """A variant of the graph."""

    name: str
    function: str
    arguments: tuple[int, ...]
    blocks: int
    threads: int
    shared_bytes: int


def kernels_of(attention: Attention) -> list[Kernel]:
    """The variants that the compiler chooses."""
    text = convoy_opt(attention.text(), *PASSES).stdout
    calls = re.findall(
        r"dense<\[([-\d, ]*)\]> : tensor<\d+xi32>\)[^@]*llvm.call @(convoy_attention_\w+)\(", text
    )
    entries = re.findall(
        r"block = (\d+) : i64, chip[^{}]*? grid = (\d+) : i64, "
        r'name = "[^"]*", shared_bytes = (\d+) : i64[^{}]*? variant = ("[^"]*")',
        text,
    )
    assert len(calls) == len(entries) > 0
    return [
        Kernel(
            json.loads(variant),
            function,
            tuple(map(int, words.split(","))),
            int(grid),
            int(block),
            int(size),
        )
        for (words, function), (block, grid, size, variant) in zip(calls, entries, strict=True)
    ]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, ctypes.CDLL]:
    """The kernels, by whether they are for the tensor cores of sm_90a."""

    def library(name: str) -> ctypes.CDLL:
        files = [DEVICE / each for each in (f"{name}.cu", "attention.h", "kernel_abi.h")]
        return build(tmp_path_factory.mktemp(name), files, f"{name}.cpp")

    return {False: library("attention"), True: library("attention_wgmma")}


def run(library: ctypes.CDLL, attention: Attention, kernel: Kernel) -> tuple[Tensor, Tensor]:
    """The results of a kernel."""
    q, k, v, *mask = attention.tensors()
    y = torch.full((*q.shape[:3], v.shape[3]), torch.nan, dtype=q.dtype)
    stats = torch.full(q.shape[:3], torch.nan)
    tensors = [q, k, v, *(mask or [None]), y, stats]
    library.run(
        ctypes.cast(getattr(library, kernel.function), ctypes.c_void_p),
        kernel.blocks,
        kernel.threads,
        kernel.shared_bytes,
        *(None if each is None else ctypes.c_void_p(each.data_ptr()) for each in tensors),
        (ctypes.c_int * len(kernel.arguments))(*kernel.arguments),
    )
    return y, stats


_CAUSAL = {"causal": True}
_BF16 = torch.bfloat16
# fmt: off
CASES = {
    "plain": Attention((1, 2, 100, 64), (1, 90, 64)),
    "causal": Attention((1, 2, 130, 32), (2, 130, 32), options=_CAUSAL, dtype=_BF16),
    "mask": Attention((1, 2, 70, 64), (2, 150, 64), (1, 2, 70, 150)),
    "hidden": Attention((1, 2, 70, 64), (2, 200, 64), (1, 1, 1, 200), hidden=True),
    "narrow": Attention((2, 1, 40, 24), (1, 50, 16), options={"softcap": 1.5}),
    "softcap": Attention((1, 2, 100, 64), (1, 90, 64), options={"softcap": 3.0}),
    "softcap_50": Attention((1, 2, 100, 64), (1, 90, 64), options={"softcap": 50.0}, dtype=_BF16),
    "softcap_row": Attention((1, 2, 70, 64), (2, 150, 64), (1, 1, 1, 150), {"softcap": 3.0}),
    "softcap_mask": Attention((1, 2, 70, 72), (2, 140, 72), (1, 1, 70, 140), {"softcap": 3.0}),
    "softcap_causal": Attention((1, 2, 200, 96), (1, 200, 96), None, {**_CAUSAL, "softcap": 3.0}),
    "window": Attention((1, 2, 200, 64), (1, 200, 64), None, {**_CAUSAL, "window": 30}),
    "window_wide": Attention((1, 2, 300, 64), (1, 300, 64), None, {**_CAUSAL, "window": 150, "softcap": 3.0}),
    "window_1": Attention((1, 1, 130, 64), (1, 130, 64), None, {**_CAUSAL, "window": 1}),
    "window_only": Attention((1, 2, 140, 64), (1, 140, 64), (1, 1, 140, 140), {"window": 70, "softcap": 3.0}),
    # The last rows see no column.
    "window_tall": Attention((1, 2, 200, 64), (1, 90, 64), None, {"window": 40}),
}
# fmt: on


@pytest.mark.parametrize("name", CASES)
def test_every_variant_is_pytorchs(name: str, libraries: dict[bool, ctypes.CDLL]) -> None:
    attention = CASES[name]
    expected, logarithms = attention.expected()
    kernels = kernels_of(attention)
    assert any("wgmma" in each.name for each in kernels) or name == "narrow"
    for kernel in kernels:
        y, stats = run(libraries["wgmma" in kernel.name], attention, kernel)
        limit = LIMITS[attention.dtype] * float(expected.abs().max())
        torch.testing.assert_close(y.double(), expected, rtol=0, atol=limit, msg=kernel.name)
        # Rows that see no column have no logarithm.
        seen = logarithms.isfinite()
        torch.testing.assert_close(stats.double()[seen], logarithms[seen], rtol=0, atol=2e-4)
