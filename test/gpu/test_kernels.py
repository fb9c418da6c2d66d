"""Generated kernels on a GPU, compared with PyTorch in float64: every op of the frontend's cases,
with nothing on cuDNN.

On a machine with a GPU and the compiler, pytest does everything. If they are on different machines,
`python test/gpu/test_kernels.py FOLDER` compiles the cases and stores inputs and expected outputs,
and pytest reads FOLDER from the environment variable CONVOY_KERNEL_CASES; that side needs neither
torch nor the compiler.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from convoy_runtime import PlanOptions, PlanReport

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
DTYPES = ("float32", "float16", "bfloat16")
#: Largest error, relative to the largest magnitude of the output, in units of the error of a sum of
#: a few hundred rounded numbers.
TOLERANCE = {"float32": 2e-5, "float16": 1e-2, "bfloat16": 5e-2}
#: Cases in addition to op_cases: ops that surround cuDNN's graphs in real models, in sizes that
#: vectorize, split and leave remainders.
LARGE = (
    "input_nchw", "input_nchw_odd", "pointwise_large", "pointwise_remainder", "broadcast_channels",
    "broadcast_rows", "softmax_long",
    "softmax_channels", "layer_norm_long", "mean_spatial", "mean_pixels", "mean_batch", "mean_rows",
    "mean_few_rows", "mean_few_columns", "sum_column_pairs", "sum_few_long_columns",
    "resize_nearest", "pad_images", "mean_parts", "amax_all",
    "pool_channels", "pool_rows", "pool_rows_overlapping", "pool_rows_odd", "pool_lines",
    "pool_volumes", "concat_channels", "concat_rows", "concat_columns",
    "concat_odd_columns", "concat_pools", "concat_resizes", "concat_rows_norm", "concat_nested",
    "pad_spatial", "slice_channels", "transpose_large", "depthwise",
    "matmul_odd", "matmul_tokens",
)  # fmt: skip


def large(name: str):
    """The module and the shapes of its inputs."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Function(nn.Module):
        def __init__(self, function) -> None:
            super().__init__()
            self.function = function

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            return self.function(*inputs)

    class Transposed(nn.Sequential):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + super().forward(x.transpose(1, 2)).transpose(1, 2)

    def mean_of_pools(x):
        return F.max_pool2d(x.permute(0, 3, 1, 2), 2).mean((2, 3))

    def pools(x):
        y = F.max_pool2d(x, 5, 1, 2)
        z = F.max_pool2d(y, 5, 1, 2)
        return torch.cat([x, y, z, F.max_pool2d(z, 5, 1, 2)], 1)

    def resizes(x):
        small = F.max_pool2d(x, 2)
        parts = [F.interpolate(part, (64, 64), mode="bilinear") for part in (small, small.exp())]
        return torch.cat([parts[0], x, parts[1]], 1)

    def norms(x):
        return torch.cat([F.layer_norm(x, (96,)), x[:, :40], x.softmax(-1)], -1)

    def nested(x):
        inner = torch.cat([F.max_pool2d(x, 3, 1, 1), x], 1)
        return torch.cat([inner, F.avg_pool2d(inner, 3, 1, 1)], 1).mean((2, 3)), inner.mean(1)

    image = (2, 64, 56, 56)
    table = {
        "input_nchw": (nn.Conv2d(3, 8, 3), [(4, 3, 64, 64)]),
        "input_nchw_odd": (nn.Conv2d(3, 8, 3), [(3, 3, 37, 41)]),
        "pointwise_large": (Function(lambda x, y: torch.relu(x + y) * 2), [image, image]),
        "pointwise_remainder": (
            Function(lambda x, y: torch.relu(x - y)),
            [(7, 11, 13), (7, 11, 13)],
        ),
        "broadcast_channels": (Function(lambda x, y: x * y), [image, (1, 64, 1, 1)]),
        "broadcast_rows": (Function(lambda x, y: x + y), [(257, 513), (257, 1)]),
        "softmax_long": (nn.Softmax(-1), [(33, 1000)]),
        "softmax_channels": (nn.Softmax(1), [(4, 21, 31, 33)]),
        "layer_norm_long": (nn.LayerNorm(768), [(5, 197, 768)]),
        "mean_spatial": (Function(lambda x: x.mean((2, 3))), [(8, 512, 7, 7)]),
        # A reduction along columns of channels-last data.
        "mean_pixels": (Function(mean_of_pools), [(1, 14, 14, 2048)]),
        "mean_batch": (Function(mean_of_pools), [(20, 14, 14, 1000)]),
        "mean_rows": (Function(lambda x: x.mean(0)), [(1000, 96)]),
        "mean_few_rows": (Function(lambda x: x.mean(1)), [(37, 5003)]),
        "mean_few_columns": (Function(lambda x: x.mean(0)), [(5003, 19)]),
        "mean_parts": (Function(lambda x: x.mean((0, 1))), [(61, 512, 20)]),
        "amax_all": (Function(lambda x: x.amax((0, 1))), [(300, 400)]),
        "pool_channels": (
            Function(lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1)),
            [(2, 56, 56, 64)],
        ),
        # Along rows, whose windows neighboring results share.
        "pool_rows": (Function(lambda x: F.avg_pool2d(x, 2)), [(16, 64, 32, 32)]),
        "pool_rows_overlapping": (
            Function(lambda x: F.avg_pool2d(F.max_pool2d(x, 3, 2, 1), 3, 1, 1)),
            [(16, 64, 32, 32)],
        ),
        "pool_rows_odd": (Function(lambda x: F.max_pool2d(x, 3, 2, 1)), [(5, 12, 31, 45)]),
        "pool_lines": (Function(lambda x: F.max_pool1d(x, 3, 2, 1)), [(16, 64, 512)]),
        "pool_volumes": (Function(lambda x: F.avg_pool3d(x, 2)), [(4, 16, 16, 16, 32)]),
        "concat_channels": (Function(lambda x, y: torch.cat([x, y], 1)), [image, (2, 24, 56, 56)]),
        "concat_rows": (Function(lambda x, y: torch.cat([x, y], 0)), [(100, 64), (28, 64)]),
        "concat_columns": (
            Function(lambda *x: torch.cat([*x, x[0] * 2], 1)),
            [(1536, size) for size in (16, 8, 40, 0, 192)],
        ),
        "concat_odd_columns": (
            Function(lambda *x: torch.relu(torch.cat(x, 1))),
            [(1536, size) for size in (3, 8, 1, 196)],
        ),
        # Kernels that write into the concats that read their results. The product after a concat
        # has its result in memory.
        "concat_pools": (
            nn.Sequential(Function(pools), nn.Conv2d(192, 16, 1)),
            [(8, 48, 40, 40)],
        ),
        "concat_resizes": (
            nn.Sequential(Function(resizes), nn.Conv2d(192, 16, 1)),
            [(4, 64, 64, 64)],
        ),
        "concat_rows_norm": (
            nn.Sequential(Function(norms), nn.Linear(232, 16)),
            [(7000, 96)],
        ),
        "concat_nested": (Function(nested), [(4, 32, 56, 56)]),
        "sum_column_pairs": (Function(lambda x: x.sum(0)), [(64, 16384)]),
        "sum_few_long_columns": (Function(lambda x: x.sum(0)), [(5001, 96)]),
        "resize_nearest": (
            Function(lambda x: F.interpolate(x, scale_factor=2)),
            [(8, 32, 32, 32)],
        ),
        "resize_bilinear_twice": (
            Function(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
            [(8, 32, 64, 65)],
        ),
        "resize_bilinear_channels_last": (
            Function(
                lambda x: (
                    F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="bilinear")
                    .permute(0, 2, 3, 1)
                    .relu()
                )
            ),
            [(8, 31, 64, 64)],
        ),
        "resize_bilinear_three_times": (
            Function(lambda x: F.interpolate(x, scale_factor=3, mode="bilinear")),
            [(8, 32, 40, 40)],
        ),
        "pad_images": (Function(lambda x: F.pad(x, (1, 1, 1, 1))), [(16, 48, 40, 40)]),
        "pad_spatial": (Function(lambda x: F.pad(x, (1, 2, 3, 4), value=0.5)), [image]),
        "slice_channels": (Function(lambda x: x[:, 3:40:2] + 1), [image]),
        "transpose_large": (Function(lambda x: x.permute(0, 2, 3, 1) * 1.5), [(3, 200, 30, 31)]),
        "depthwise": (
            nn.Sequential(nn.Conv2d(32, 32, 3, padding=1, groups=32), nn.ReLU6()),
            [(2, 32, 28, 28)],
        ),
        "matmul_odd": (nn.Linear(131, 67), [(45, 131)]),
        "matmul_tokens": (
            # Products with the weight as the left factor, over an odd number of tokens.
            Transposed(nn.Linear(49, 72), nn.GELU(), nn.Linear(72, 49)),
            [(4, 49, 64)],
        ),
    }
    module, shapes = table[name]
    return module.eval(), tuple(torch.randn(shape) for shape in shapes)


#: Cases whose results depend on the rounding to the type that they convert to, which `dtype`
#: replaces, or whose numbers only float64 holds.
OWN_TYPES = {"div_floor_half", "threshold_bfloat16", "softplus_double"}


def build(name: str):
    import torch

    if name in LARGE:
        torch.manual_seed(0)
        return large(name)
    import op_cases

    return op_cases.build(name)


def compiler() -> Any:
    """The package `convoy`. Skips the test if it is not installed: the case is not stored then, and
    cannot be written."""
    reason = "the case is not stored, and there is no compiler"
    pytest.importorskip("convoy._convoy", reason=reason, exc_type=ImportError)
    return pytest.importorskip("convoy", reason=reason)


def flat(outputs) -> list:
    import torch.utils._pytree as tree

    return tree.tree_leaves(outputs)


def write(
    name: str,
    dtype: str,
    folder: Path,
    table: Path | None,
    *,
    graphs_only: bool = False,
    of=build,
    compiled_by=None,
) -> bool:
    """Compiles one case, built by `of`, into FOLDER/NAME.DTYPE.convoy by `compiled_by`, by default
    `convoy.compile`, and stores its inputs and expected outputs with it. With `graphs_only`, cases
    without cuDNN graphs are skipped; returns whether the case was written."""
    import_compiler()
    convoy = compiler()
    import precise_results

    compiled_by = compiled_by or convoy.compile
    module, inputs = of(name)
    expected = flat(precise_results.expected_results(module, inputs))
    module, inputs = of(name)
    model = compiled_by(
        module,
        inputs,
        target="cuda",
        dtype=None if name in OWN_TYPES else dtype,
        support_table=table,
    )
    if graphs_only and not model.manifest.graphs:
        return False
    model.save(folder / f"{name}.{dtype}.convoy")
    arrays = {f"input{i}": x.detach().numpy() for i, x in enumerate(inputs)}
    arrays |= {
        f"expected{i}": (y.float() if y.is_floating_point() else y).detach().numpy()
        for i, y in enumerate(expected)
    }
    np.savez(folder / f"{name}.npz", **arrays)
    return True


def write_table(folder: Path) -> Path:
    """Writes a support table without any support."""
    path = folder / "nothing.json"
    path.write_text('{"version": 1, "about": "nothing", "rows": []}')
    return path


def stored_names(folder: Path) -> list[tuple[str, str]]:
    """Cases and dtypes of a folder written by `write`."""
    return sorted(
        (path.stem.rpartition(".")[0], path.stem.rpartition(".")[2])
        for path in folder.glob("*.convoy")
    )


def names() -> list[tuple[str, str]]:
    """Cases and dtypes: those of the folder, or the large ones."""
    folder = os.environ.get("CONVOY_KERNEL_CASES")
    if folder:
        return stored_names(Path(folder))
    return [(name, dtype) for name in LARGE for dtype in DTYPES]


@pytest.fixture(scope="module")
def gpu() -> None:
    pytest.importorskip("cuda.bindings")
    from convoy_runtime import DeviceError
    from convoy_runtime.cuda.driver.device import Device, open_driver

    try:
        Device(open_driver(), 0)
    except DeviceError as error:
        pytest.skip(str(error))


def folder_of(variable: str) -> Any:
    """Returns a fixture: the folder of cases that an environment variable names, else an empty
    one."""

    @pytest.fixture(scope="module")
    def folder(gpu: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
        given = os.environ.get(variable)
        return Path(given) if given else tmp_path_factory.mktemp("cases")

    return folder


folder = folder_of("CONVOY_KERNEL_CASES")


@pytest.mark.parametrize(("name", "dtype"), names(), ids=lambda value: value)
def test_kernels(name: str, dtype: str, folder: Path) -> None:
    if not (folder / f"{name}.{dtype}.convoy").exists():
        write(name, dtype, folder, write_table(folder))
    run(folder, name, dtype, TOLERANCE)


def run(folder: Path, name: str, dtype: str, tolerance: dict[str, float]) -> None:
    """Runs a stored case with poisoned memory and compares its outputs."""
    import convoy_runtime

    path = folder / f"{name}.{dtype}.convoy"
    stored = np.load(folder / f"{name}.npz")
    inputs = [stored[f"input{i}"] for i in range(sum(key.startswith("input") for key in stored))]
    with convoy_runtime.load(path, poison=True, plan_cache=False) as program:
        outputs = [
            widened(array, spec.dtype)
            for array, spec in zip(program.run_numpy(*inputs), program.outputs, strict=True)
        ]
        dtypes = [spec.dtype if spec.dtype in tolerance else dtype for spec in program.outputs]
    assert len(outputs) == sum(key.startswith("expected") for key in stored)
    for i, output in enumerate(outputs):
        compare(output, stored[f"expected{i}"], max(tolerance[dtype], tolerance[dtypes[i]]))


def run_with_plans(
    folder: Path, name: str, dtype: str, options: PlanOptions | None = None
) -> tuple[Sequence[PlanReport], Sequence[np.ndarray], list[np.ndarray]]:
    """Runs a stored case with poisoned memory and these options.

    Returns:
        The plans of the program's graphs, its outputs, and the expected ones.
    """
    import convoy_runtime

    stored = np.load(folder / f"{name}.npz")
    inputs = [stored[key] for key in stored.files if key.startswith("input")]
    expected = [stored[key] for key in stored.files if key.startswith("expected")]
    with convoy_runtime.load(
        folder / f"{name}.{dtype}.convoy", plan_cache=False, poison=True, options=options
    ) as program:
        return program.plans, program.run_numpy(*inputs), expected


def expect_close(
    results: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float
) -> None:
    """Compares float results; `tolerance` is relative to the largest expected number of each."""
    for result, wanted in zip(results, expected, strict=True):
        assert np.abs(result.astype("f4") - wanted).max() <= tolerance * np.abs(wanted).max()


def widened(array: np.ndarray, dtype: str) -> np.ndarray:
    """numpy has no bfloat16, so its bits are loaded: they are the upper half of a float32."""
    array = np.asarray(array)
    return (array.astype(np.uint32) << 16).view(np.float32) if dtype == "bfloat16" else array


def compare(got: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    assert got.shape == expected.shape
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected.astype(got.dtype))
        return
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.where(finite, 0, got), np.where(finite, 0, expected))
    scale = max(1.0, float(np.abs(expected[finite]).max(initial=0.0)))
    worst = float(np.abs(got[finite].astype(np.float64) - expected[finite]).max(initial=0.0))
    assert worst <= tolerance * scale, f"largest error {worst:.3g} at a scale of {scale:.3g}"


def import_compiler() -> None:
    """Makes the compiler and the frontend's cases importable when a case file is run as a
    script."""
    parts = [str(ROOT / part) for part in ("python", "runtime", "test/frontend")]
    sys.path[:0] = [part for part in parts if part not in sys.path]


def write_all(
    folder: Path, pairs: Sequence[tuple[str, str]], write: Callable[[str, str, Path], object]
) -> None:
    """Writes cases by name and dtype; each must compile."""
    import_compiler()
    folder.mkdir(parents=True, exist_ok=True)
    for name, dtype in pairs:
        write(name, dtype, folder)
    print(len(pairs), "cases")


def main(folder: Path) -> int:
    """Writes every case that compiles and lists the others; returns 1 if there are others."""
    import_compiler()
    import op_cases

    folder.mkdir(parents=True, exist_ok=True)
    table = write_table(folder)
    failed = []
    for name, dtype in [(name, dtype) for name in LARGE for dtype in DTYPES] + [
        (name, "float32") for name in op_cases.CASES
    ]:
        if (folder / f"{name}.{dtype}.convoy").exists():
            continue
        try:
            write(name, dtype, folder, table)
        except Exception as error:
            failed.append(name)
            print(f"{name} {dtype}: {type(error).__name__}: {error}")
    print(f"{len(failed)} failed: {' '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
