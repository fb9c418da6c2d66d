"""Alternatives of cuDNN graphs on a GPU: each is tried and computes what its graph computes.

Cases are stored and read like those of test_kernels: `python test/gpu/test_alternatives.py FOLDER`
writes them, CONVOY_ALTERNATIVE_CASES names the folder.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

DTYPES = ("float16", "bfloat16", "float32")
#: Products round float32 to TF32.
TOLERANCE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 5e-3}
#: The names of the alternatives of each case.
CASES = {
    "bias_relu": ("conv2d | bias+relu", "conv2d+bias | relu"),
    "residual": (
        "conv2d | residual+bias+relu",
        "conv2d+bias+residual+relu",
        "conv2d+bias | residual+relu",
    ),
    "no_bias": ("conv2d | relu", "conv2d+bias+relu"),
    "prologue": ("relu | conv2d+bias", "relu+conv2d | bias", "relu | conv2d | bias"),
    "one_dim": ("conv1d | bias+swish", "conv1d+bias | swish"),
    "swish": ("conv2d | bias+swish", "conv2d+bias | swish"),
    "matmul": ("matmul | bias+gelu", "matmul+bias | gelu"),
    # Groups that are more than a chain.
    "hardswish": (
        "conv2d | bias+add_scalar+relu_clip+mul_virtual+div_scalar",
        "conv2d+bias | add_scalar+relu_clip+mul_virtual+div_scalar",
    ),
    "scale": ("conv2d | bias+sigmoid+scale", "conv2d+bias | sigmoid+scale"),
    # One number a pixel. cuDNN supports no such operand in pointwise operations alone.
    "pixels": (),
    # One number an image and channel, which no graph of a convolution has: cuDNN 9.19 accepts it
    # and faults or is wrong.
    "gate": ("conv2d | bias",),
    "gated": ("matmul | bias+tanh+mul_virtual", "matmul+bias | tanh+mul_virtual"),
    "reversed": ("matmul | neg+add_scalar+mul_virtual",),
}
PAIRS = [(name, dtype) for name in CASES for dtype in DTYPES]


def build(name: str):
    """The module and its inputs: one cuDNN group, with a result that is used twice."""
    import torch
    from torch import nn

    class Twice(nn.Module):
        def __init__(self, *layers: nn.Module) -> None:
            super().__init__()
            self.layers = nn.Sequential(*layers)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.layers(x)
            return torch.cat([y, y], 1)

    class Residual(nn.Module):
        """Channels are the last dim of the residual."""

        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            y = torch.relu(self.layer(x) + other.movedim(-1, 1))
            return torch.cat([y, y], 1)

    class Swish(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.sigmoid(x)

    class ChannelsLast(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.movedim(-1, 1)

    class Gate(nn.Module):
        """A layer times a function of another input, as squeeze-and-excitation and gated units."""

        def __init__(self, layer: nn.Module, function: nn.Module) -> None:
            super().__init__()
            self.layer, self.function = layer, function

        def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
            y = self.layer(x) * self.function(gate)
            return torch.cat([y, y], 1)

    class Reversed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = 1 - x
            return y * y

    torch.manual_seed(0)
    # Without the pooling, a gate of one pixel would be in the original order.
    pool = (ChannelsLast(), nn.MaxPool2d(2))
    module, shapes = {
        "bias_relu": (Twice(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()), [(8, 64, 28, 28)]),
        "residual": (Residual(nn.Conv2d(64, 256, 1)), [(8, 64, 28, 28), (8, 28, 28, 256)]),
        "no_bias": (Twice(nn.Conv2d(64, 128, 3, 2, 1, bias=False), nn.ReLU()), [(8, 64, 28, 28)]),
        # A pooling before it makes the image channels-last.
        "prologue": (
            Twice(nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1)),
            [(8, 64, 56, 56)],
        ),
        "one_dim": (Twice(nn.Conv1d(64, 64, 3, padding=1), nn.SiLU()), [(8, 64, 200)]),
        "matmul": (Twice(nn.Linear(256, 512), nn.GELU()), [(128, 256)]),
        "hardswish": (
            Twice(nn.Conv2d(64, 64, 3, padding=1), nn.Hardswish()),
            [(8, 64, 28, 28)],
        ),
        "swish": (Twice(nn.Conv2d(64, 128, 1), Swish()), [(8, 64, 28, 28)]),
        "scale": (
            Gate(nn.Conv2d(64, 64, 3, padding=1), nn.Sequential(*pool, nn.Sigmoid())),
            [(8, 64, 28, 28), (1, 2, 2, 64)],
        ),
        "pixels": (
            Gate(nn.Conv2d(64, 64, 3, padding=1), nn.Sequential(*pool)),
            [(8, 64, 28, 28), (8, 56, 56, 1)],
        ),
        "gate": (
            Gate(nn.Conv2d(64, 64, 3, padding=1), nn.Sequential(*pool, nn.Sigmoid())),
            [(8, 64, 28, 28), (8, 2, 2, 64)],
        ),
        "gated": (Gate(nn.Linear(256, 512), nn.Tanh()), [(128, 256), (128, 512)]),
        "reversed": (Twice(nn.Linear(256, 512, bias=False), Reversed()), [(128, 256)]),
    }[name]
    return module.eval(), tuple(torch.randn(shape) for shape in shapes)


def write(name: str, dtype: str, folder: Path) -> None:
    """Compiles one case, which must have its alternatives, and stores its inputs and expected
    outputs with it."""
    from convoy_runtime.opening import open_artifact

    test_kernels.write(name, dtype, folder, table=None, of=build)
    manifest = open_artifact(folder / f"{name}.{dtype}.convoy").manifest
    (index,) = manifest.called_graphs
    assert set(manifest.graphs[index].alternatives) == set(CASES[name])


folder = test_kernels.folder_of("CONVOY_ALTERNATIVE_CASES")


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_every_alternative_is_correct(
    name: str, dtype: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import convoy_runtime
    from convoy_runtime.cuda.tuning.levels import TUNE_LEVELS

    # As fast as that level, but with all alternatives measured completely.
    monkeypatch.setitem(
        TUNE_LEVELS, "quick", replace(TUNE_LEVELS["quick"], alternatives=None, gives_up=False)
    )
    path = folder / f"{name}.{dtype}.convoy"
    if not path.exists():
        write(name, dtype, folder)
    with convoy_runtime.load(path, tune="quick", plan_cache=False) as program:
        (report,) = program.plans
        print(
            name,
            dtype,
            *(
                f"{each.name} {each.microseconds:.2f} us"
                for each in report.trials
                if each.microseconds
            ),
            sep=", ",
        )
        assert {
            trial.alternative: trial.reason for trial in report.trials if trial.alternative
        } == dict.fromkeys(CASES[name])
    # Without tuning the graph itself runs, with poisoned memory; compared with PyTorch.
    test_kernels.run(folder, name, dtype, TOLERANCE)


#: By case, steps whose tensors all have one size, and their computation.
STEPS = {
    ("no_bias", "relu_0"): lambda x: np.maximum(x, 0),
    ("residual", "residual_relu_0"): lambda x, other: np.maximum(x + other, 0),
}


@pytest.mark.parametrize(("name", "step"), STEPS)
def test_pointwise_operations_alone_round_nothing(name: str, step: str, folder: Path) -> None:
    """cuDNN notes tensor cores for all of their float32 engines; using them would lose 13 bits."""
    import convoy_runtime
    from convoy_runtime.cuda.tuning.scratch import Scratch, read_tensor
    from convoy_runtime.opening import open_artifact

    path = folder / f"{name}.float32.convoy"
    if not path.exists():
        write(name, "float32", folder)
    with convoy_runtime.load(path, plan_cache=False) as program:
        instance = program._loaded
        (graph,) = [
            graph for graph in open_artifact(path).alternatives().graphs if graph.name == step
        ]
        planner, device, queue = instance._planner, instance._device, instance._queue
        count = 0
        with (
            device.current(),
            planner.builder.operation_graph(
                graph, instance._native.builder(graph.symbol)
            ) as operations,
        ):
            for plan in planner.candidates(graph, operations, [], ["A", "FALLBACK"]):
                scratch = Scratch(device, queue.stream, graph, plan.report.workspace_bytes)
                plan.enqueue(queue, graph, scratch.sets[0], scratch.workspace)
                tensors = zip(graph.tensors, scratch.sets[0], strict=True)
                *inputs, output = (
                    read_tensor(device.driver, queue.stream, pointer, tensor.bytes, tensor.dtype)
                    for tensor, pointer in tensors
                )
                np.testing.assert_array_equal(
                    output, STEPS[name, step](*inputs), err_msg=str(plan.report)
                )
                scratch.close()
                plan.close()
                count += 1
        assert count > 0


if __name__ == "__main__":
    test_kernels.write_all(Path(sys.argv[1]), PAIRS, write)
