"""Norms, softmaxes and running totals on a GPU, one kernel each, compared with PyTorch in float64: rows of odd sizes
that a part of a warp, a warp or a block computes, in registers or not.

`python test/gpu/test_rows.py FOLDER` compiles the cases where there is no GPU, as in
test_kernels.py; pytest reads FOLDER from CONVOY_ROW_CASES.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from test_kernels import (
    DTYPES,
    TOLERANCE,
    folder_of,
    gpu,
    run,
    stored_names,
    write,
    write_all,
    write_table,
)  # fmt: skip

pytestmark = pytest.mark.gpu
__all__ = ["gpu"]

#: Rows and elements of a row.
SIZES = (
    (5, 1), (33, 7), (1, 31), (300, 97), (200, 768), (17, 1024), (1, 1024), (5000, 40), (9, 3072),
    (6, 8192), (3, 50257), (0, 768),
)  # fmt: skip
FUNCTIONS = ("layer_norm", "rms_norm", "softmax", "log_softmax", "normalize", "residual", "several")
#: Norms over several dims, and layouts.
OTHERS = (
    "layer_norm_dims", "group_norm", "group_norm_odd", "group_norm_few", "group_norm_long",
    "group_norm_convs", "group_norm_long_convs", "group_norm_longest", "group_norm_single",
    "group_norm_parts", "group_norm_uneven_parts", "layer_norm_longest",
    "instance_norm", "instance_norm_last", "instance_norm_parts", "instance_norm_uneven_parts",
    "layer_norm_channels",
    "softmax_heads", "softmax_flat", "softmax_parts", "softmax_many_parts", "logsumexp_parts",
    "sliced",
    "softmax_across_9", "softmax_across_17", "softmax_across_64", "softmax_across_100",
    "softmax_across_257", "norm_across", "group_norm_runs_8", "group_norm_runs_4",
    "group_norm_runs_2", "group_norm_runs_odd", "group_norm_runs_short", "group_norm_runs_long",
    "group_norm_runs_packed",
    "softmax_odd", "sum_odd", "log_softmax_packed", "running_sum_warp", "running_sum_block", "running_sum_odd",
    "running_sum_parts", "running_sum_uneven_parts", "running_sum_across",
    "running_sum_transposed", "running_sum_integers", "running_product",
)  # fmt: skip
NAMES = (*(f"{name}-{rows}x{length}" for name in FUNCTIONS for rows, length in SIZES), *OTHERS)


def build(name: str):
    """The module and its inputs."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Function(nn.Module):
        def __init__(self, function, *modules: nn.Module) -> None:
            super().__init__()
            self.function = function
            self.layers = nn.ModuleList(modules)

        def forward(self, *inputs: torch.Tensor):
            return self.function(*self.layers, *inputs)

    torch.manual_seed(0)
    name, _, size = name.partition("-")
    rows, length = map(int, size.split("x")) if size else (0, 1)
    shape = (rows, length)

    def channels_last(groups, channels, *size):
        """A group norm between convolutions, whose groups have few channels."""
        return (
            nn.Sequential(
                nn.Conv2d(4, channels, 1),
                nn.GroupNorm(groups, channels),
                nn.SiLU(),
                nn.Conv2d(channels, 4, 1),
            ),
            [size],
        )

    def norm_across(x, y):
        total = x + y
        return total, F.normalize(total, dim=1).relu()

    def residual(norm, x, y):
        total = x + y
        return total, F.gelu(norm(total))

    def masked(x):
        # Rounding to 16 bits does not change which elements are masked.
        return torch.where(x < 0, -torch.inf, x)

    def several(x):
        return x.softmax(-1), x.log_softmax(-1), x.amax(-1), F.normalize(x, dim=-1)

    image = torch.channels_last
    table = {
        "layer_norm": lambda: (nn.LayerNorm(length), [shape]),
        "rms_norm": lambda: (nn.RMSNorm(length), [shape]),
        "softmax": lambda: (nn.Softmax(-1), [shape]),
        "log_softmax": lambda: (nn.LogSoftmax(-1), [shape]),
        "normalize": lambda: (Function(lambda x: F.normalize(x, dim=-1)), [shape]),
        "residual": lambda: (Function(residual, nn.LayerNorm(length)), [shape, shape]),
        "several": lambda: (Function(several), [shape]),
        "layer_norm_dims": lambda: (nn.LayerNorm((6, 7, 5)), [(11, 6, 7, 5)]),
        "group_norm": lambda: (nn.GroupNorm(8, 64), [(3, 64, 12, 12)]),
        "group_norm_odd": lambda: (nn.GroupNorm(3, 15), [(2, 15, 7, 9)]),
        "group_norm_few": lambda: (nn.GroupNorm(2, 64), [(1, 64, 20, 20)]),
        "group_norm_long": lambda: (nn.GroupNorm(4, 40), [(1, 40, 64, 64)]),
        "group_norm_convs": lambda: (
            nn.Sequential(
                nn.Conv2d(16, 80, 3), nn.GroupNorm(8, 80), nn.SiLU(), nn.Conv2d(80, 16, 1)
            ).to(memory_format=image),
            [(2, 16, 20, 20)],
        ),
        "group_norm_long_convs": lambda: (
            nn.Sequential(
                nn.Conv2d(4, 40, 1), nn.GroupNorm(4, 40), nn.SiLU(), nn.Conv2d(40, 4, 1)
            ).to(memory_format=image),
            [(2, 4, 64, 64)],
        ),
        "group_norm_longest": lambda: (nn.GroupNorm(2, 40), [(1, 40, 64, 64)]),
        "group_norm_single": lambda: (
            nn.Sequential(nn.Conv2d(4, 48, 1), nn.GroupNorm(1, 48), nn.Conv2d(48, 4, 1)),
            [(1, 4, 40, 40)],
        ),
        "group_norm_parts": lambda: (
            nn.Sequential(
                nn.Conv2d(4, 128, 1), nn.GroupNorm(32, 128), nn.SiLU(), nn.Conv2d(128, 4, 1)
            ),
            [(1, 4, 128, 64)],
        ),
        "group_norm_uneven_parts": lambda: (
            nn.Sequential(nn.Conv2d(4, 40, 1), nn.GroupNorm(4, 40), nn.Conv2d(40, 4, 1)),
            [(2, 4, 59, 61)],
        ),
        "layer_norm_longest": lambda: (nn.LayerNorm((3, 20001)), [(2, 3, 20001)]),
        "instance_norm": lambda: (nn.InstanceNorm2d(24, affine=True), [(2, 24, 15, 17)]),
        "instance_norm_last": lambda: (
            nn.Sequential(nn.Conv2d(8, 24, 1), nn.InstanceNorm2d(24), nn.Conv2d(24, 8, 1)),
            [(2, 8, 15, 17)],
        ),
        "instance_norm_parts": lambda: (
            nn.Sequential(nn.Conv3d(3, 24, 1), nn.InstanceNorm3d(24), nn.Conv3d(24, 8, 1)),
            [(1, 3, 32, 32, 32)],
        ),
        "instance_norm_uneven_parts": lambda: (
            nn.Sequential(nn.Conv2d(8, 37, 1), nn.InstanceNorm2d(37), nn.Conv2d(37, 8, 1)),
            [(3, 8, 45, 77)],
        ),
        "layer_norm_channels": lambda: (
            Function(
                lambda conv, norm, x: norm(conv(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2),
                nn.Conv2d(8, 96, 3),
                nn.LayerNorm(96),
            ),
            [(2, 8, 14, 14)],
        ),
        "softmax_heads": lambda: (
            Function(lambda x, m: (x * 0.125 + m).softmax(-1)),
            [(2, 4, 50, 50), (2, 1, 1, 50)],
        ),
        "softmax_parts": lambda: (
            Function(lambda x: (masked(x).softmax(-1), masked(x[:, 2:]).log_softmax(-1))),
            [(2, 131074)],
        ),
        "softmax_many_parts": lambda: (nn.Softmax(1), [(66, 65792)]),
        "logsumexp_parts": lambda: (Function(lambda x: x.logsumexp((-1,))), [(17, 24000)]),
        "softmax_across_9": lambda: (nn.Softmax(1), [(5, 9, 31, 33)]),
        "softmax_across_17": lambda: (nn.LogSoftmax(1), [(5, 17, 29, 31)]),
        "softmax_across_64": lambda: (nn.Softmax(1), [(3, 64, 40, 40)]),
        "softmax_across_100": lambda: (nn.Softmax(0), [(100, 4099)]),
        "softmax_across_257": lambda: (nn.Softmax(1), [(1, 257, 4096)]),
        "norm_across": lambda: (Function(norm_across), [(1, 40, 64, 65), (1, 40, 64, 65)]),
        "group_norm_runs_8": lambda: channels_last(8, 64, 256, 4, 8, 8),
        "group_norm_runs_4": lambda: channels_last(16, 64, 70, 4, 12, 12),
        "group_norm_runs_2": lambda: channels_last(32, 64, 64, 4, 20, 20),
        "group_norm_runs_odd": lambda: channels_last(6, 48, 100, 4, 9, 11),
        "group_norm_runs_short": lambda: channels_last(8, 64, 256, 4, 3, 3),
        "group_norm_runs_long": lambda: channels_last(16, 128, 64, 4, 21, 23),
        "group_norm_runs_packed": lambda: channels_last(32, 256, 32, 4, 27, 29),
        "softmax_odd": lambda: (nn.Softmax(-1), [(300, 1001)]),
        "log_softmax_packed": lambda: (nn.LogSoftmax(-1), [(133, 16400)]),
        "sum_odd": lambda: (Function(lambda x: x.sum(-1).relu()), [(150, 4099)]),
        "running_sum_warp": lambda: (Function(lambda x: (x * 2).cumsum(-1) + 1), [(1030, 512)]),
        "running_sum_block": lambda: (Function(lambda x: x.cumsum(-1)), [(3, 5000)]),
        "running_sum_odd": lambda: (Function(lambda x: x.cumsum(-1)), [(3, 5001)]),
        "running_sum_parts": lambda: (Function(lambda x: x.cumsum(-1)), [(2, 40000)]),
        "running_sum_uneven_parts": lambda: (Function(lambda x: x.cumsum(-1)), [(1, 16411)]),
        "running_sum_across": lambda: (Function(lambda x: x.cumsum(1)), [(2, 40, 2080)]),
        "running_sum_transposed": lambda: (Function(lambda x: x.cumsum(1)), [(4, 600, 40)]),
        "running_sum_integers": lambda: (Function(lambda x: (x < 0).cumsum(0) * 3), [(70, 33)]),
        "running_product": lambda: (Function(lambda x: (x * 0.1 + 1).cumprod(-1)), [(40, 300)]),
        "softmax_flat": lambda: (
            Function(lambda x: torch.relu(x.flatten(1).softmax(-1).view(3, 8, 64))),
            [(3, 8, 64)],
        ),
        "sliced": lambda: (
            Function(lambda x: torch.cat([x[:, 3:40].softmax(-1), x[:, :5]], 1)),
            [(70, 43)],
        ),
    }
    module, shapes = table[name]()
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.5, 0.5)
    return module.eval(), tuple(torch.randn(each) for each in shapes)


def write_rows(name: str, dtype: str, folder: Path) -> bool:
    """Writes a case with nothing on cuDNN, whose convolutions may round to TF32."""
    return write(name, dtype, folder, write_table(folder), of=build)


def names() -> list[tuple[str, str]]:
    given = os.environ.get("CONVOY_ROW_CASES")
    if given:
        return stored_names(Path(given))
    return [(name, dtype) for name in NAMES for dtype in DTYPES]


folder = folder_of("CONVOY_ROW_CASES")


@pytest.mark.parametrize(("name", "dtype"), names(), ids=lambda value: value)
def test_rows(name: str, dtype: str, folder: Path) -> None:
    if not (folder / f"{name}.{dtype}.convoy").exists():
        write_rows(name, dtype, folder)
    run(folder, name, dtype, TOLERANCE)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]), [(name, dtype) for name in NAMES for dtype in DTYPES], write_rows)
