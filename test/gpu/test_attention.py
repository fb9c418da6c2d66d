# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention computed on a GPU, compared with PyTorch in float64: masks, heads that are shared, rows
that are masked as a whole, operands that are views of one product, and heads that are padded to
multiples of 16 bytes.

Cases are stored and read as those of test_kernels: `python test/gpu/test_attention.py FOLDER` writes
them, CONVOY_ATTENTION_CASES names the folder.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

TOLERANCE = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


@dataclass(frozen=True)
class Case:
    """One attention.

    Attributes:
        query: Batch, heads, rows, depth.
        key: Heads, columns, and the depth of the value.
        mask: The shape of the mask, or None.
        packed: Whether query, key and value are slices of one tensor of rows, and the result has
            heads inside of rows.
        hidden: Whether the mask is of bools, with one row that hides everything.
        on_cudnn: The dtypes in which cuDNN computes it.
        projected: The columns of the input of a product whose slices are query, key and value.
            Another product reads the result.
        written: Whether it is products and a softmax; rows that the mask hides are NaN then.
        softcap: The softcap of a written one. Scores are about as large.
        window: The columns that a row sees, up to its own index.
        options: More arguments of scaled_dot_product_attention.
    """

    query: tuple[int, int, int, int] = (2, 4, 50, 64)
    key: tuple[int, int, int] = (4, 70, 64)
    mask: tuple[int, int, int, int] | None = None
    packed: bool = False
    hidden: bool = False
    on_cudnn: tuple[str, ...] = tuple(TOLERANCE)
    projected: int | None = None
    written: bool = False
    softcap: float | None = None
    window: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


_MASKS = ((1, 1, 50, 70), (2, 1, 50, 70), (1, 4, 50, 70), (2, 4, 50, 70), (2, 1, 1, 70), (1, 1, 1, 70), (2, 4, 50, 1))  # fmt: skip
_CAUSAL = {"is_causal": True}
_HALF = ("float16", "bfloat16")
# fmt: off
CASES = {
    "plain": Case(),
    "packed": Case((2, 4, 197, 64), (4, 197, 64), packed=True),
    "packed_causal": Case((2, 4, 130, 64), (4, 130, 64), packed=True, options=_CAUSAL),
    "windows": Case((64, 3, 49, 32), (3, 49, 32), (1, 3, 49, 49), packed=True),
    "windows_of_images": Case((64, 3, 49, 32), (3, 49, 32), (64, 1, 49, 49), packed=True),
    "hidden": Case(mask=(2, 1, 50, 70), hidden=True),
    "causal_wide": Case(options=_CAUSAL),
    "causal_tall": Case((2, 4, 70, 64), (4, 50, 64), options=_CAUSAL),
    "grouped": Case((2, 8, 64, 64), (2, 64, 64), options={"enable_gqa": True, **_CAUSAL}),
    "one_row": Case((2, 8, 1, 64), (8, 333, 64)),
    "one_column": Case(key=(4, 1, 64), on_cudnn=()),
    "depth_8": Case((2, 8, 64, 8), (8, 77, 16)),
    "depth_1": Case((2, 4, 70, 1), (4, 70, 1), on_cudnn=_HALF),
    "depth_20": Case((2, 8, 64, 20), (8, 77, 20), on_cudnn=_HALF),
    "depth_20_few_rows": Case((2, 8, 4, 20), (8, 77, 20), on_cudnn=()),
    "depth_33": Case((2, 4, 130, 33), (4, 130, 33), on_cudnn=_HALF, options=_CAUSAL),
    "depth_36": Case((2, 8, 256, 36), (2, 256, 61), (2, 1, 1, 256), on_cudnn=_HALF, options={"enable_gqa": True}),
    "depth_36_hidden": Case((2, 4, 130, 36), (4, 130, 36), (2, 1, 130, 130), hidden=True, on_cudnn=_HALF),
    "depth_36_packed": Case((2, 4, 130, 36), (4, 130, 36), packed=True, on_cudnn=_HALF),
    "depth_36_projected": Case((2, 4, 256, 36), (4, 256, 36), packed=True, projected=64, on_cudnn=_HALF),
    "depth_40": Case((2, 8, 256, 40), (8, 77, 40)),
    "depth_60_projected": Case((8, 4, 16, 60), (4, 16, 60), packed=True, projected=240, on_cudnn=_HALF),
    "depth_157": Case((2, 8, 520, 157), (8, 520, 157), on_cudnn=_HALF),
    "depth_160": Case((2, 8, 64, 160), (8, 77, 160), on_cudnn=_HALF),
    "depth_256": Case((2, 8, 64, 256), (8, 77, 128), on_cudnn=_HALF, options={"scale": 0.01}),
    "depth_320": Case((1, 2, 64, 320), (2, 77, 320), on_cudnn=()),
    "written": Case(written=True),
    "written_mask": Case(mask=(2, 1, 50, 70), written=True),
    "written_hidden": Case(mask=(2, 1, 50, 70), hidden=True, written=True),
    "written_mask_of_heads": Case(mask=(1, 4, 50, 70), written=True, on_cudnn=()),
    "written_36": Case((2, 4, 256, 36), (4, 256, 36), written=True, on_cudnn=_HALF),
    "written_36_projected": Case((2, 4, 256, 36), (4, 256, 36), packed=True, projected=64, written=True, on_cudnn=_HALF),
    "written_36_mask": Case((2, 4, 256, 36), (4, 256, 36), (2, 1, 256, 256), written=True, on_cudnn=_HALF),
    "written_causal": Case((2, 4, 130, 64), (4, 130, 64), written=True, options=_CAUSAL),
    "written_softcap": Case(written=True, softcap=1.5),
    "written_softcap_mask": Case(mask=(2, 1, 50, 70), written=True, softcap=1.5),
    "written_softcap_hidden": Case(mask=(2, 1, 50, 70), hidden=True, written=True, softcap=1.5),
    "written_softcap_causal": Case((2, 4, 130, 64), (4, 130, 64), written=True, softcap=1.5, options=_CAUSAL),
    "written_softcap_grouped": Case((2, 8, 200, 128), (2, 200, 128), written=True, softcap=50.0, options=_CAUSAL),
    "written_softcap_window": Case((2, 8, 300, 64), (2, 300, 64), written=True, softcap=1.5, window=70),
    "written_softcap_36": Case((2, 4, 256, 36), (4, 256, 36), written=True, softcap=1.5, on_cudnn=_HALF),
    "written_softcap_256": Case((1, 4, 200, 256), (2, 200, 256), written=True, softcap=1.5, options=_CAUSAL, on_cudnn=_HALF),
    "written_window": Case((2, 4, 130, 64), (4, 130, 64), written=True, window=30),
    "window": Case((2, 4, 300, 64), (4, 300, 64), window=100),
    "window_hidden": Case((2, 4, 130, 64), (4, 130, 64), (2, 1, 1, 130), hidden=True, window=100),
    "window_1": Case((2, 4, 130, 64), (4, 130, 64), window=1),
    "window_grouped": Case((2, 8, 520, 96), (2, 520, 96), window=129, options={"enable_gqa": True}),
    **{f"mask_{'x'.join(map(str, shape))}": Case(mask=shape) for shape in _MASKS},
}
# fmt: on


def _has_kernel(name: str) -> bool:
    """Whether the case runs without cuDNN's engines. A projection's product needs one."""
    case = CASES[name]
    fits = max(case.query[3], case.key[2]) <= 128
    return set(_HALF) <= set(case.on_cudnn) and fits and case.projected is None


def build(name: str) -> tuple[Any, tuple[Any, ...]]:
    """The module of a case and its inputs, which every dtype represents."""
    import torch
    from torch import nn
    from torch.nn.functional import scaled_dot_product_attention

    case = CASES[name]
    batch, heads, rows, depth = case.query

    shared, columns, width = case.key
    seen = torch.ones(rows, columns, dtype=torch.bool).tril().triu(1 - (case.window or columns))

    def attend(q, k, v, mask):
        if not case.written:
            if case.window:
                mask = seen if mask is None else seen.expand(batch, 1, -1, -1) & mask
            return scaled_dot_product_attention(q, k, v, attn_mask=mask, **case.options)
        if shared != heads:
            # As transformers repeats them.
            k, v = (
                each[:, :, None]
                .expand(-1, -1, heads // shared, -1, -1)
                .reshape(batch, heads, columns, -1)
                for each in (k, v)
            )
        scores = q @ k.transpose(-1, -2) / depth**0.5
        if case.softcap:
            scores = torch.tanh(scores / case.softcap) * case.softcap
        if case.window:
            scores = scores.masked_fill(~seen, -torch.inf)
        if case.options:
            scores = scores + torch.triu(torch.full(scores.shape[-2:], -torch.inf), 1)
        if case.hidden:
            scores = scores.masked_fill(~mask, -torch.inf)
        elif mask is not None:
            scores = scores + mask
        return scores.softmax(-1) @ v

    class Plain(nn.Module):
        def forward(self, q, k, v, mask=None):
            return attend(q, k, v, mask)

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            columns = case.projected
            self.first = nn.Linear(columns, 3 * heads * depth) if columns else nn.Identity()
            self.last = nn.Linear(heads * depth, columns) if columns else nn.Identity()

        def forward(self, x, mask=None):
            x = self.first(x).reshape(batch, rows, 3, heads, depth)
            q, k, v = x.permute(2, 0, 3, 1, 4)
            y = attend(q, k, v, mask).transpose(1, 2)
            return self.last(y.reshape(batch, rows, heads * depth))

    torch.manual_seed(0)
    shapes = [case.query, (batch, shared, columns, depth), (batch, shared, columns, width)]
    if case.packed:
        shapes = [(batch, rows, case.projected or 3 * heads * depth)]
    inputs = [torch.randn(shape).bfloat16().float() for shape in shapes]
    if case.hidden:
        mask = torch.rand(case.mask) > 0.5
        mask[0, 0, min(3, case.mask[2] - 1)] = False
        inputs.append(mask)
    elif case.mask:
        inputs.append(torch.randn(case.mask).bfloat16().float())
    return (Packed() if case.packed else Plain()).eval(), tuple(inputs)


#: Compiles one case and stores its inputs and expected outputs with it.
write = partial(test_kernels.write, table=None, of=build)
folder = test_kernels.folder_of("CONVOY_ATTENTION_CASES")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_attention_is_that_of_pytorch(name: str, dtype: str, folder: Path) -> None:
    if not (folder / f"{name}.{dtype}.convoy").exists():
        write(name, dtype, folder)
    plans, results, expected = test_kernels.run_with_plans(folder, name, dtype)
    on_cudnn = any(plan.graph.startswith("attention") for plan in plans)
    assert on_cudnn == (dtype in CASES[name].on_cudnn), plans
    hidden = [np.isnan(each) for each in expected]
    assert all((np.isnan(a) == b).all() for a, b in zip(results, hidden, strict=True))
    # cuDNN's products in float32 round to TF32. Its attention does not.
    limit = TOLERANCE[dtype] if on_cudnn or dtype != "float32" else 2e-3
    test_kernels.expect_close(
        *([np.nan_to_num(each) for each in arrays] for arrays in (results, expected)), limit
    )


@pytest.mark.parametrize("dtype", _HALF)
@pytest.mark.parametrize("name", [name for name in CASES if _has_kernel(name)])
def test_the_kernel_is_that_of_pytorch(name: str, dtype: str, folder: Path) -> None:
    """Without cuDNN's engines."""
    from convoy_runtime import PlanOptions

    if not (folder / f"{name}.{dtype}.convoy").exists():
        write(name, dtype, folder)
    excluded = PlanOptions(exclude_engines=tuple(range(128)))
    plans, results, expected = test_kernels.run_with_plans(folder, name, dtype, excluded)
    (plan,) = [plan for plan in plans if plan.graph.startswith("attention")]
    assert plan.kernel is not None
    hidden = [np.isnan(each) for each in expected]
    assert all((np.isnan(a) == b).all() for a, b in zip(results, hidden, strict=True))
    test_kernels.expect_close(
        *([np.nan_to_num(each) for each in arrays] for arrays in (results, expected)),
        TOLERANCE[dtype],
    )


if __name__ == "__main__":
    pairs = [(name, dtype) for name in CASES for dtype in TOLERANCE]
    test_kernels.write_all(Path(sys.argv[1]), pairs, write)
