"""The ops of the announcement of the first cuDNN dialect on a GPU (test/snippets), at each level:
the convolution of a relu, compared with the definition in float64.

`python test/gpu/test_snippets.py FOLDER` compiles them, and pytest reads FOLDER from the
environment variable CONVOY_SNIPPETS; that side needs no compiler.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from test_kernels import ROOT, compare, gpu, import_compiler  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

#: Each file, and the phase from which it is compiled; None is the torch dialect.
SNIPPETS = {"Inputs/torch": None, "tcp": "tcp", "group": "tcp", "cudnn": "cudnn"}
#: float32 is rounded to TF32.
TOLERANCE = 5e-3


def write(folder: Path) -> None:
    """Compiles the files to FOLDER/NAME.convoy."""
    from convoy.cli.main import main

    folder.mkdir(parents=True, exist_ok=True)
    for name, phase in SNIPPETS.items():
        source = ["--compile-from", phase] if phase else []
        path = str(ROOT / f"test/snippets/{name}.mlir")
        output = str(folder / f"{Path(name).name}.convoy")
        assert main(["compile", path, *source, "--target", "cuda", "-q", "-o", output]) == 0


@pytest.mark.skipif(
    "CONVOY_SNIPPETS" not in os.environ, reason="CONVOY_SNIPPETS names no folder of artifacts"
)
@pytest.mark.parametrize("name", [Path(name).name for name in SNIPPETS])
def test_snippets(name: str, gpu: None) -> None:  # noqa: F811
    import convoy_runtime

    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 64, 56, 56)).astype(np.float32)
    w = rng.standard_normal((64, 64, 3, 3)).astype(np.float32)
    padded = np.pad(np.maximum(x.astype(np.float64), 0), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwrs,kcrs->nkhw", windows, w.astype(np.float64), optimize=True)
    path = Path(os.environ["CONVOY_SNIPPETS"]) / f"{name}.convoy"
    try:
        program = convoy_runtime.load(path, poison=True, plan_cache=False)
    except convoy_runtime.PlanError as error:
        # The inline graph keeps the layout of the announcement, which cuDNN may refuse.
        if name != "cudnn":
            raise
        pytest.skip(str(error))
    with program:
        (result,) = program.run_numpy(x, w)
    compare(np.asarray(result), expected, TOLERANCE)


if __name__ == "__main__":
    import_compiler()
    write(Path(sys.argv[1]))
