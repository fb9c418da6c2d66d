"""Kernels of several ops that do not depend on each other, on a GPU, compared with PyTorch in float64:
ops of other sizes, that transpose through shared memory, and over rows.

`python test/gpu/test_sibling_kernels.py FOLDER` compiles the cases where there is no GPU, as in
test_kernels.py; pytest reads FOLDER from CONVOY_SIBLING_CASES.
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

NAMES = ("frequencies", "sizes", "tables", "transposes", "rows", "heads")


def build(name: str):
    """The module and its inputs."""
    import torch
    from torch import nn

    class Function(nn.Module):
        def __init__(self, function, *modules: nn.Module) -> None:
            super().__init__()
            self.function = function
            self.layers = nn.ModuleList(modules)

        def forward(self, *inputs: torch.Tensor):
            return self.function(*self.layers, *inputs)

    torch.manual_seed(0)

    def frequencies(x):
        parts = [x]
        for octave in range(6):
            parts += [torch.sin(2.0**octave * x), torch.cos(2.0**octave * x)]
        return torch.cat(parts, -1)

    def sizes(x):
        y = x[:, :1].exp()
        return y, x.repeat(1, 30).tanh(), torch.sigmoid(x[:3]), y.flip(0) * 3

    def tables(*arguments):
        *layers, indices = arguments
        return tuple(layer(indices[:, i]) for i, layer in enumerate(layers))

    def transposes(x):
        return x.transpose(1, 2).tanh() * 2, x[:, :40].exp(), x.flip(1).transpose(1, 2).sigmoid()

    def rows(x):
        return x.softmax(-1), x.flip(1).tanh(), (x.roll(1, 0) * 2).softmax(-1), x.sigmoid()

    def heads(x):
        return x[:, :300].softmax(-1), x[:, 300:340].softmax(-1), x[:, 340:].relu().sum(1)

    table = {
        "frequencies": lambda: (Function(frequencies), (4096, 3)),
        "sizes": lambda: (Function(sizes), (37, 12)),
        "tables": lambda: (Function(tables, *(nn.Embedding(11, 64) for _ in range(9))), (500, 9)),
        "transposes": lambda: (Function(transposes), (3, 70, 90)),
        "rows": lambda: (Function(rows), (33, 70, 97)),
        "heads": lambda: (Function(heads), (200, 700)),
    }
    module, shape = table[name]()
    inputs = {
        # Multiples of a sixteenth, whose products with a frequency are exact in every dtype.
        "frequencies": lambda: torch.randint(-32, 33, shape) / 16,
        "tables": lambda: torch.randint(11, shape),
    }
    return module.eval(), (inputs.get(name, lambda: torch.randn(shape))(),)


def write_siblings(name: str, dtype: str, folder: Path) -> bool:
    """Writes a case with nothing on cuDNN."""
    return write(name, dtype, folder, write_table(folder), of=build)


def names() -> list[tuple[str, str]]:
    given = os.environ.get("CONVOY_SIBLING_CASES")
    if given:
        return stored_names(Path(given))
    return [(name, dtype) for name in NAMES for dtype in DTYPES]


folder = folder_of("CONVOY_SIBLING_CASES")


@pytest.mark.parametrize(("name", "dtype"), names(), ids=lambda value: value)
def test_siblings(name: str, dtype: str, folder: Path) -> None:
    from convoy_runtime.opening import open_artifact

    if not (folder / f"{name}.{dtype}.convoy").exists():
        write_siblings(name, dtype, folder)
    manifest = open_artifact(folder / f"{name}.{dtype}.convoy").manifest
    assert any("siblings" in kernel.name for kernel in manifest.kernels)
    run(folder, name, dtype, TOLERANCE)


if __name__ == "__main__":
    write_all(
        Path(sys.argv[1]), [(name, dtype) for name in NAMES for dtype in DTYPES], write_siblings
    )
