# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Samples of PyTorch's OpInfo database on a GPU.

`python -m tools.ops --targets cuda --cases FOLDER` compiles and stores them; pytest reads FOLDER
from the environment variable CONVOY_OPS_CASES; that side needs neither PyTorch nor the compiler.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        "CONVOY_OPS_CASES" not in os.environ, reason="CONVOY_OPS_CASES names no folder of artifacts"
    ),
]

_FOLDER = Path(os.environ.get("CONVOY_OPS_CASES", "/nonexistent"))
_NAMES = sorted(path.name.removesuffix(".convoy") for path in _FOLDER.glob("*.convoy")) or ["none"]


@pytest.mark.parametrize("name", _NAMES)
def test_samples_on_the_gpu(name: str, gpu: None) -> None:  # noqa: F811
    import convoy_runtime

    stored = np.load(_FOLDER / f"{name}.npz")
    inputs = [stored[f"input{i}"] for i in range(_count(stored, "input"))]
    expected = [stored[f"expected{i}"] for i in range(_count(stored, "expected"))]
    with convoy_runtime.load(_FOLDER / f"{name}.convoy", plan_cache=False, poison=True) as program:
        results = program.run_numpy(*inputs)
    for number, (got, wanted, limit) in enumerate(
        zip(results, expected, stored["limits"], strict=True)
    ):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), number
        if limit == np.inf:  # Its values are undefined.
            continue
        if wanted.dtype.kind != "f":
            np.testing.assert_array_equal(got, wanted, err_msg=str(number))
            continue
        # NaN and infinities are where PyTorch has them.
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted), err_msg=str(number))
        infinite = np.isinf(wanted)
        np.testing.assert_array_equal(got[infinite], wanted[infinite], err_msg=str(number))
        finite = np.isfinite(wanted)
        error = np.abs(got[finite].astype("f8") - wanted[finite])
        assert error.max(initial=0) <= limit, number


def _count(stored: np.lib.npyio.NpzFile, kind: str) -> int:
    return sum(name.startswith(kind) for name in stored.files)
