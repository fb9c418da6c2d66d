"""Ops that run on cuDNN on a GPU, compared with PyTorch in float64: cases of the frontend with
convolutions, products and pools.

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
