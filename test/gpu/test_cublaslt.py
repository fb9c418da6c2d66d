# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""cuBLASLt's algorithms for matrix products on a GPU: each is tried and compared with cuDNN, and the
fastest with PyTorch in float64.

Cases are stored and read like those of test_kernels: `python test/gpu/test_cublaslt.py FOLDER`
writes them, CONVOY_CUBLASLT_CASES names the folder.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

DTYPES = ("float16", "bfloat16", "float32")
#: As for kernels; float32 may be rounded to TF32.
TOLERANCE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 5e-3}
EXACT = {"float32": 2e-5}
CASES = (
    "alone", "bias", "relu", "bias_relu", "gelu_tanh", "bias_gelu_tanh", "residual",
    "residual_relu", "itself", "odd", "odd_residual", "deep", "row", "batch", "batch_relu", "wide",
    "infinite",
)  # fmt: skip
#: All engines of cuDNN.
_ENGINES = tuple(range(1000))


def build(name: str) -> tuple[Any, tuple[Any, ...]]:
    """The module and its inputs: a product with an epilogue of cuBLASLt."""
    import torch
    from torch import nn

    torch.manual_seed(0)

    class More(nn.Module):
        """Repeats some columns after the module, so that its graph does not end with the cast to
        the model's type."""

        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            y = self.module(*inputs)
            return torch.cat([y, y[..., :8]], -1)

    class Residual(nn.Module):
        def __init__(self, layer: nn.Module, last: nn.Module) -> None:
            super().__init__()
            self.layer, self.last = layer, last

        def forward(self, x: torch.Tensor, other: torch.Tensor | None = None) -> torch.Tensor:
            return self.last(self.layer(x) + (x if other is None else other))

    class Batch(nn.Module):
        def __init__(self, last: nn.Module) -> None:
            super().__init__()
            self.last = last

        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return self.last(torch.bmm(x, w))

    def tanh() -> nn.Module:
        return nn.GELU(approximate="tanh")

    same = nn.Identity
    table = {
        "alone": (nn.Linear(256, 512, bias=False), [(197, 256)]),
        "bias": (nn.Linear(768, 2304), [(394, 768)]),
        "relu": (nn.Sequential(nn.Linear(320, 640, bias=False), nn.ReLU()), [(77, 320)]),
        "bias_relu": (nn.Sequential(nn.Linear(320, 640), nn.ReLU()), [(1024, 320)]),
        "gelu_tanh": (nn.Sequential(nn.Linear(256, 512, bias=False), tanh()), [(100, 256)]),
        "bias_gelu_tanh": (nn.Sequential(nn.Linear(768, 3072), tanh()), [(197, 768)]),
        "residual": (Residual(nn.Linear(3072, 768), same()), [(788, 3072), (788, 768)]),
        "residual_relu": (Residual(nn.Linear(512, 264), nn.ReLU()), [(301, 512), (301, 264)]),
        # The left factor is the residual.
        "itself": (Residual(nn.Linear(384, 384), same()), [(640, 384)]),
        "odd": (nn.Sequential(nn.Linear(131, 67), nn.ReLU()), [(45, 131)]),
        "odd_residual": (Residual(nn.Linear(50, 70), nn.ReLU()), [(33, 50), (33, 70)]),
        # Sums that blocks share.
        "deep": (nn.Linear(25088, 256), [(16, 25088)]),
        "row": (nn.Linear(2048, 1000), [(1, 2048)]),
        "batch": (Batch(same()), [(6, 64, 96), (6, 96, 72)]),
        "batch_relu": (Batch(nn.ReLU()), [(3, 33, 55), (3, 55, 77)]),
        # The result is cast to float32.
        "wide": (nn.Linear(512, 384, bias=False), [(70, 512)]),
        # relu of NaN is NaN.
        "infinite": (nn.Sequential(nn.Linear(256, 128), nn.ReLU()), [(64, 256)]),
    }
    module, shapes = table[name]
    inputs = tuple(torch.randn(shape) for shape in shapes)
    if name == "infinite":
        inputs[0][3, 5], inputs[0][9, 7], inputs[0][9, 8] = torch.nan, torch.inf, -torch.inf
    return (module if name == "wide" else More(module)).eval(), inputs


#: Compiles one case, and stores its inputs and expected outputs with it.
write = partial(test_kernels.write, table=None, of=build)
folder = test_kernels.folder_of("CONVOY_CUBLASLT_CASES")
PAIRS = [(name, dtype) for name in CASES for dtype in DTYPES]


@pytest.mark.parametrize("tf32", [True, False])
@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_every_algorithm_is_correct(
    name: str, dtype: str, tf32: bool, folder: Path, tmp_path: Path
) -> None:
    import convoy_runtime

    if dtype != "float32" and not tf32:
        pytest.skip("TF32 is for float32")
    path = folder / f"{name}.{dtype}.convoy"
    if not path.exists():
        write(name, dtype, folder)
    stored = np.load(folder / f"{name}.npz")
    inputs = [stored[key] for key in stored.files if key.startswith("input")]
    # Nothing else remains, so cuBLASLt runs the graph. The reference is an engine of cuDNN.
    options = convoy_runtime.PlanOptions(
        exclude_engines=_ENGINES, allow_kernels=False, allow_tf32=tf32
    )
    with convoy_runtime.load(
        path, tune="full", options=options, plan_cache=tmp_path, poison=True
    ) as program:
        graphs = [program.manifest.graphs[index] for index in program.manifest.called_graphs]
        assert any(graph.matmul is not None for graph in graphs), "cuBLASLt can compute the case"
        (report,) = program.plans
        print(name, dtype, report.reference, *map(str, report.trials), sep="\n  ")
        assert report.cublaslt is not None
        assert [str(trial) for trial in report.trials if trial.reason is not None] == []
        tuned = program.run_numpy(*inputs)
        dtypes = [spec.dtype for spec in program.outputs]
    tolerance = TOLERANCE if tf32 else EXACT
    for result, each, wanted in zip(tuned, dtypes, [stored["expected0"]], strict=True):
        test_kernels.compare(test_kernels.widened(result, each), wanted, tolerance[dtype])
    with convoy_runtime.load(
        path, strict=True, options=options, plan_cache=tmp_path, poison=True
    ) as program:
        (again,) = program.plans
        assert (again.origin, again.name, again.knobs) == ("stored plan", report.name, report.knobs)
        for ours, theirs in zip(program.run_numpy(*inputs), tuned, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["deep", "bias"])
def test_deterministic_algorithms_repeat_their_results(name: str, folder: Path) -> None:
    import convoy_runtime

    path = folder / f"{name}.float16.convoy"
    if not path.exists():
        write(name, "float16", folder)
    stored = np.load(folder / f"{name}.npz")
    inputs = [stored[key] for key in stored.files if key.startswith("input")]
    options = convoy_runtime.PlanOptions(
        exclude_engines=_ENGINES, allow_kernels=False, deterministic=True
    )
    with convoy_runtime.load(path, tune="full", options=options, plan_cache=False) as program:
        schemes = {trial.knobs["REDUCTION_SCHEME"] for trial in program.plans[0].trials}
        assert schemes <= {0, 2, 4}
        first = program.run_numpy(*inputs)
        for _ in range(20):
            for ours, theirs in zip(program.run_numpy(*inputs), first, strict=True):
                np.testing.assert_array_equal(ours, theirs)


if __name__ == "__main__":
    test_kernels.write_all(Path(sys.argv[1]), PAIRS, write)
