"""Ops that run on cuDNN on a GPU, compared with PyTorch in float64: cases of the frontend with
convolutions, products and pools, and concats of the results of cuDNN and of generated kernels.

The support table is the built-in one. Cases are stored and read like those of test_kernels:
`python test/gpu/test_cudnn_ops.py FOLDER` writes them, CONVOY_CUDNN_CASES names the folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

#: float32 is rounded to TF32 by default.
TOLERANCE = {"float32": 5e-3, "float16": 1e-2}
SUBJECTS = ("conv", "pool", "mm", "linear", "matmul", "attention", "norm2d", "mean")
CONCATS = ("concat_heads", "concat_batches", "concat_upsampled", "concat_pyramid")


def concat(name: str):
    """The module and its inputs: convolutions before and after a concat."""
    import torch
    import torch.nn.functional as F
    from torch import Tensor, nn

    class Heads(nn.Module):
        """Results of convolutions, one after another in memory."""

        def __init__(self) -> None:
            super().__init__()
            self.heads = nn.ModuleList(nn.Conv2d(32, 64, 3, padding=1) for _ in range(3))
            self.last = nn.Linear(64, 16)

        def forward(self, *images: Tensor) -> Tensor:
            parts = [
                head(x).permute(0, 2, 3, 1).flatten(1, 2)
                for head, x in zip(self.heads, images, strict=True)
            ]
            return self.last(torch.cat(parts, 1))

    class Images(nn.Module):
        def __init__(self, join, channels: int) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(32, 64, 1), nn.Conv2d(32, 64, 3, padding=1)
            self.join, self.last = join, nn.Conv2d(channels, 32, 1)

        def forward(self, x: Tensor) -> Tensor:
            return self.last(self.join(torch.relu(self.first(x)), torch.relu(self.second(x))))

    def upsampled(x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, F.interpolate(F.max_pool2d(y, 2), (48, 48), mode="bilinear")], 1)

    def pyramid(x: Tensor, y: Tensor) -> Tensor:
        first = F.max_pool2d(y, 5, 1, 2)
        return torch.cat([first, x, y, F.max_pool2d(first, 5, 1, 2)], 1)

    torch.manual_seed(0)
    table = {
        "concat_heads": (Heads(), [(1, 32, size, size) for size in (48, 24, 12)]),
        "concat_batches": (Images(lambda x, y: torch.cat([x, y], 0), 64), [(4, 32, 48, 48)]),
        "concat_upsampled": (Images(upsampled, 128), [(4, 32, 48, 48)]),
        "concat_pyramid": (Images(pyramid, 256), [(4, 32, 48, 48)]),
    }
    module, shapes = table[name]
    layout = torch.channels_last
    images = tuple(torch.randn(shape).to(memory_format=layout) for shape in shapes)
    return module.eval().to(memory_format=layout), images


def write(folder: Path) -> int:
    """Compiles each case that has a cuDNN graph; returns their number."""
    import op_cases

    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name in op_cases.CASES:
        if any(subject in name for subject in SUBJECTS):
            count += sum(
                test_kernels.write(name, dtype, folder, None, graphs_only=True)
                for dtype in TOLERANCE
            )
    for name in CONCATS:
        count += sum(
            test_kernels.write(name, dtype, folder, None, graphs_only=True, of=concat)
            for dtype in TOLERANCE
        )
    return count


def names() -> list[tuple[str, str]]:
    folder = os.environ.get("CONVOY_CUDNN_CASES")
    return test_kernels.stored_names(Path(folder)) if folder else []


@pytest.mark.skipif(not names(), reason="CONVOY_CUDNN_CASES names no folder of compiled cases")
@pytest.mark.parametrize(("name", "dtype"), names(), ids=lambda value: value)
def test_cudnn_ops(name: str, dtype: str, gpu: None) -> None:  # noqa: F811
    test_kernels.run(Path(os.environ["CONVOY_CUDNN_CASES"]), name, dtype, TOLERANCE)


def test_comparison_refuses_poison() -> None:
    """The comparison refuses a NaN where a number is expected, as in unwritten output."""
    with pytest.raises(AssertionError):
        test_kernels.compare(np.full(3, np.nan), np.ones(3), 1.0)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / part) for part in ("python", "runtime", "test/frontend")]
    print(write(Path(sys.argv[1])), "cases")
