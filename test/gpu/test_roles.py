"""Every role of the support table computes on a GPU what PyTorch computes, with each of cuDNN's
engines that fuses it. That an engine is offered does not show that its result is right.

Cases are stored and read as those of test_kernels: `python test/gpu/test_roles.py FOLDER` writes
them, CONVOY_ROLE_CASES names the folder.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

#: Engines that generate kernels: cutlass sm_80, xmma sm_90, and those native to sm_90 and sm_80.
#: Gradients are computed by precompiled ones as well.
ENGINES = {
    "conv2d": (1, 2, 4, 7),
    "matmul": (1, 2, 4, 7),
    "dgrad2d": range(70),
    "wgrad2d": range(70),
}
TOLERANCE = {"float16": 1e-2, "float32": 5e-3}
BINARY = ("add", "mul", "sub", "div", "maximum", "minimum")
#: Shapes of the second operand beside a result of (N, C, H, W) or (B, M, N).
EXTENTS = {
    "conv2d": {
        "full": (4, 32, 6, 10), "channel": (1, 32, 1, 1), "pixels": (4, 1, 6, 10),
        "one": (1, 1, 1, 1), "gate": (4, 32, 1, 1), "spatial": (1, 1, 6, 10),
        "images": (4, 1, 1, 1),
    },
    "matmul": {
        "full": (4, 12, 32), "channel": (1, 1, 32), "pixels": (4, 12, 1), "one": (1, 1, 1),
        "gate": (4, 1, 32), "spatial": (1, 12, 1), "images": (4, 1, 1),
    },
}  # fmt: skip
UNARY = (
    "relu", "relu6", "leaky_relu", "elu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "abs",
    "neg", "exp", "log", "sqrt", "rsqrt", "erf", "reciprocal", "add_number", "mul_number",
    "div_number", "sub_number", "reversed", "square", "swish", "maximum_virtual", "hardswish",
)  # fmt: skip
#: Functions after the gradients of a convolution: those that the table takes after dgrad.
GRADIENTS = {
    "dgrad2d": ("plain", "strided", "relu", "add_channel", "add_full", "bias_relu"),
    "wgrad2d": ("plain", "strided"),
}
#: Functions that keep the zeros of a convolution's padding.
PROLOGUES = ("relu", "relu6", "leaky_relu", "elu", "gelu", "silu", "tanh", "abs", "neg", "swish")


def names() -> list[str]:
    """Every case: anchor, position and function."""
    return [
        f"{anchor}-{position}-{function}"
        for anchor in EXTENTS
        for position, functions in (
            ("after", (*UNARY, *(f"{op}_{each}" for op in BINARY for each in EXTENTS[anchor]))),
            ("before", PROLOGUES),
            ("operand", UNARY[:17]),
        )
        for function in functions
    ] + [
        f"{anchor}-after-{function}"
        for anchor, functions in GRADIENTS.items()
        for function in functions
    ]


def build_gradient(anchor: str, function: str):
    """The gradient of a convolution, and its inputs."""
    import torch
    from torch import nn

    stride, dgrad = 2 if function == "strided" else 1, anchor == "dgrad2d"

    class Gradient(nn.Module):
        def forward(
            self, g: torch.Tensor, x: torch.Tensor, w: torch.Tensor, *others: torch.Tensor
        ) -> torch.Tensor:
            y = torch.ops.aten.convolution_backward(
                g, x, w, None, [stride] * 2, [1, 1], [1, 1], False, [0, 0], 1,
                [dgrad, not dgrad, False],
            )[0 if dgrad else 1]  # fmt: skip
            for other in others:
                y = y + other
            y = torch.relu(y) if "relu" in function else y
            return torch.cat([y, y], 1)

    torch.manual_seed(0)
    shapes = [(4, 32, 12 // stride, 20 // stride), (4, 32, 12, 20), (32, 32, 3, 3)]
    if function in ("add_channel", "bias_relu"):
        shapes.append((1, 32, 1, 1))
    elif function == "add_full":
        shapes.append((4, 32, 12, 20))
    return Gradient().eval(), tuple(torch.randn(shape) for shape in shapes)


def build(name: str):
    """The module of a case and its inputs."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    anchor, position, function = name.split("-")
    if anchor in GRADIENTS:
        return build_gradient(anchor, function)
    positive = function in ("log", "sqrt", "rsqrt", "reciprocal")
    functions = {
        "relu": torch.relu, "relu6": F.relu6, "leaky_relu": partial(F.leaky_relu,
        negative_slope=0.2), "elu": F.elu, "gelu": F.gelu,
        "gelu_tanh": partial(F.gelu, approximate="tanh"), "silu": F.silu,
        "sigmoid": torch.sigmoid, "tanh": torch.tanh, "abs": torch.abs, "neg": torch.neg,
        "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
        "erf": torch.erf, "reciprocal": torch.reciprocal, "add_number": lambda x: x + 0.75,
        "mul_number": lambda x: x * 0.75, "div_number": lambda x: x / 3,
        "sub_number": lambda x: x - 0.75, "reversed": lambda x: 0.75 - x,
        "square": lambda x: x * x, "swish": lambda x: x * torch.sigmoid(x),
        "maximum_virtual": lambda x: torch.maximum(x, torch.tanh(x)), "hardswish": F.hardswish,
    }  # fmt: skip
    torch.manual_seed(0)

    class Case(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Conv2d(32, 32, 3, padding=1, bias=False)
            if positive and position == "after":
                self.layer.weight.data.abs_()

        def anchor(self, x: torch.Tensor, w: torch.Tensor | None) -> torch.Tensor:
            return self.layer(x) if w is None else torch.bmm(x, w)

        def forward(self, x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
            rest = list(others)
            w = rest.pop(0) if anchor == "matmul" else None
            if position == "before":
                y = self.anchor(functions[function](x), w)
            elif position == "operand":
                y = self.anchor(x, w) * functions[function](rest[0])
            elif rest:
                op, _, _ = function.partition("_")
                y = getattr(torch, op)(self.anchor(x, w), rest[0])
            else:
                y = functions[function](self.anchor(x, w))
            # Used twice, the result is not the group's only.
            return torch.cat([y, y], 1)

    shapes = [(4, 32, 6, 10)] if anchor == "conv2d" else [(4, 12, 32), (4, 32, 32)]
    if position == "operand":
        shapes.append(EXTENTS[anchor]["full"])
    elif position == "after" and function.partition("_")[0] in BINARY and function not in UNARY:
        shapes.append(EXTENTS[anchor][function.partition("_")[2]])
    # Products of about 1, where functions such as exp and tanh are not steep.
    inputs = [torch.randn(shape) * (0.4 if anchor == "matmul" else 1) for shape in shapes]
    if positive:
        inputs = [x.abs() + 0.1 for x in inputs]
    elif function.startswith("div_"):
        inputs[-1] = inputs[-1].abs() + 0.5
    return Case().eval(), tuple(inputs)


#: Compiles one case and stores its inputs and expected outputs with it.
write = partial(test_kernels.write, table=None, of=build)
folder = test_kernels.folder_of("CONVOY_ROLE_CASES")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", names())
def test_every_role_is_correct_with_every_engine(name: str, dtype: str, folder: Path) -> None:
    import convoy_runtime
    from convoy_runtime import PlanOptions
    from convoy_runtime.errors import PlanError

    path = folder / f"{name}.{dtype}.convoy"
    if not path.exists():
        write(name, dtype, folder)
    stored = np.load(folder / f"{name}.npz")
    inputs = [stored[key] for key in stored.files if key.startswith("input")]
    expected = stored["expected0"]
    limit = TOLERANCE[dtype] * np.abs(expected).max()
    engines = []
    for engine in ENGINES[name.partition("-")[0]]:
        try:
            program = convoy_runtime.load(
                path, options=PlanOptions(engines=(engine,)), plan_cache=False, poison=True
            )
        except PlanError:
            continue
        with program:
            (result,) = program.run_numpy(*inputs)
            assert np.abs(result.astype("f4") - expected).max() <= limit, engine
        engines.append(engine)
    assert engines, "no engine has a plan"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    count = sum(write(name, dtype, target) for name in names() for dtype in TOLERANCE)
    print(f"{count} cases")
