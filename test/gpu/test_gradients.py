"""Gradients of convolutions, poolings, batch norm and activations computed on a GPU, compared with
those of autograd in float64.

Cases are stored and read as those of test_kernels: `python test/gpu/test_gradients.py FOLDER`
writes them, CONVOY_GRADIENT_CASES names the folder.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

TOLERANCE = {"float32": 5e-3, "float16": 1e-2, "bfloat16": 4e-2}
#: Spatial dims, batch, C, K, window, stride, padding, dilation, groups.
CONVS = {
    "conv1d": ((37,), 2, 12, 20, 3, 2, 1, 1, 1),
    "conv1d_groups": ((24,), 2, 16, 32, 3, 1, 1, 1, 4),
    "conv2d": ((13, 14), 2, 16, 24, 3, 1, 1, 1, 1),
    "conv2d_stride": ((15, 14), 2, 16, 24, 3, 2, 1, 1, 1),
    "conv2d_1x1": ((9, 8), 2, 32, 16, 1, 2, 0, 1, 1),
    "conv2d_dilated": ((15, 14), 2, 8, 16, 3, 1, 2, 2, 1),
    "conv2d_image": ((20, 22), 2, 3, 16, 7, 2, 3, 1, 1),
    "conv2d_uneven": ((9, 10), 1, 5, 7, 3, 1, 0, 1, 1),
    "conv2d_groups": ((9, 10), 2, 24, 40, 3, 2, 1, 1, 4),
    "conv2d_depthwise": ((9, 10), 2, 16, 16, 3, 1, 1, 1, 16),
    "conv2d_multiplied": ((9, 10), 2, 8, 16, 5, 2, 2, 1, 8),
    "conv3d": ((5, 8, 9), 1, 8, 16, 3, 2, 1, 1, 1),
    "conv3d_groups": ((4, 6, 5), 2, 8, 8, 2, 1, 0, 1, 2),
}
TRANSPOSED = ("conv1d", "conv2d_stride", "conv2d_groups", "conv3d")
POOLS = {
    "max_pool1d": ((2, 5, 30), (3, 2, 1)),
    "max_pool2d": ((2, 9, 14, 15), (3, 2, 1)),
    "max_pool3d": ((2, 4, 6, 7, 8), (2, 2, 0)),
    "avg_pool1d": ((2, 5, 30), (3, 2, 1)),
    "avg_pool2d": ((2, 9, 14, 15), (3, 2, 1, True, False)),
    "avg_pool3d": ((2, 4, 6, 7, 8), (2, 2, 0)),
    "adaptive_avg_pool2d": ((2, 9, 14, 15), ((4, 5),)),
    "adaptive_max_pool2d": ((2, 9, 12, 15), ((4, 5),)),
}
ACTIVATIONS = (
    "relu", "relu6", "hardtanh", "leaky_relu", "elu", "gelu", "silu", "sigmoid", "tanh",
    "softplus", "hardswish",
)  # fmt: skip


#: The suffix of convolutions whose graphs have the channels second, as in PyTorch.
FIRST = "_channels_first"


def names() -> list[str]:
    """Every case."""
    return [
        *CONVS,
        *(f"{name}{FIRST}" for name in CONVS),
        *(f"{name}_transposed" for name in TRANSPOSED),
        *POOLS,
        *ACTIVATIONS,
        "batch_norm",
        "block",
    ]


def function_of(name: str):
    """The function whose gradients a case computes, and the shapes of its inputs."""
    import torch
    from torch.nn import functional as F

    name = name.removesuffix(FIRST)
    transposed = name.endswith("_transposed")
    if (conv := name.removesuffix("_transposed")) in CONVS:
        spatial, batch, channels, outputs, window, stride, pad, dilation, groups = CONVS[conv]
        rank = len(spatial)
        taps = [window] * rank
        if transposed:
            run = getattr(F, f"conv_transpose{rank}d")
            shapes = [(batch, outputs, *spatial), (outputs, channels // groups, *taps)]

            def function(x, w):
                return run(x, w, None, stride, pad, stride - 1, groups, dilation)

        else:
            run = getattr(F, f"conv{rank}d")
            shapes = [(batch, channels, *spatial), (outputs, channels // groups, *taps)]
            shapes.append((outputs,))

            def function(x, w, b):
                return run(x, w, b, stride, pad, dilation, groups)

        return function, shapes
    if name in POOLS:
        shape, options = POOLS[name]
        return lambda x: getattr(F, name)(x, *options), [shape]
    if name == "batch_norm":
        return lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [(4, 9, 7, 8), (9,), (9,)]
    if name == "block":
        # The residual block of a network: its gradients are sums of two branches.
        def block(x, w, v, scale, shift):
            y = F.silu(F.batch_norm(F.conv2d(x, w, None, 1, 1), None, None, scale, shift, True))
            return torch.tanh(F.conv2d(y, v, None, 1, 1) * 0.1 + x)

        return block, [(2, 16, 10, 9), (16, 16, 3, 3), (16, 16, 3, 3), (16,), (16,)]
    return getattr(F, name), [(4, 6, 31)]


def build(name: str):
    """The module of a case, a graph of aten ops, and its inputs: the gradient of the function's
    result, and the function's inputs. Every dtype represents these, so that none has other
    maxima."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    function, shapes = function_of(name)
    torch.manual_seed(0)
    values = [torch.randn(shape).bfloat16().float() for shape in shapes]

    def run(gradient, *inputs):
        _, backward = torch.func.vjp(function, *inputs)
        return tuple(backward(gradient))

    gradient = torch.randn(function(*values).shape).bfloat16().float()
    return make_fx(run)(gradient, *values).eval(), (gradient, *values)


def compile_channels_first(module, inputs, *, dtype: str, **options):
    """`convoy.compile` with no other normalization than that of the compute type. Convolutions
    stay as they are."""
    from convoy import _convoy
    from convoy.compiler import compile_imported
    from convoy.frontend import import_module
    from convoy.options import CompileOptions

    imported = import_module(module, inputs)
    chosen = CompileOptions.of(dtype=dtype, **options)
    short = dict(chosen.pairs())["dtype"]
    pipeline = f"builtin.module(func.func(tcp-set-dtype{{dtype={short}}}))"
    text = _convoy.run_pipeline(imported.text, "module", pipeline)
    return compile_imported(replace(imported, text=text), chosen, phase="normalize")


def write(name: str, dtype: str, folder: Path) -> bool:
    """Compiles one case and stores its inputs and expected outputs with it."""
    by = compile_channels_first if name.endswith(FIRST) else None
    return test_kernels.write(name, dtype, folder, table=None, of=build, compiled_by=by)


folder = test_kernels.folder_of("CONVOY_GRADIENT_CASES")


def cases() -> list[tuple[str, str]]:
    """Every case and dtype."""
    return [(name, dtype) for name in names() for dtype in TOLERANCE]


@pytest.mark.parametrize(("name", "dtype"), cases())
def test_gradients_are_those_of_autograd(name: str, dtype: str, folder: Path) -> None:
    if not (folder / f"{name}.{dtype}.convoy").exists():
        write(name, dtype, folder)
    plans, results, expected = test_kernels.run_with_plans(folder, name, dtype)
    graphs = [plan.graph for plan in plans]
    conv = name.removesuffix(FIRST)
    # The support table has no grouped gradients with the channels second: they are kernels.
    grouped = conv in CONVS and CONVS[conv][-1] > 1
    for kind in ("dgrad", "wgrad") if name in CONVS or (conv in CONVS and not grouped) else ():
        assert any(graph.startswith(kind) for graph in graphs), graphs
    test_kernels.expect_close(results, expected, TOLERANCE[dtype])


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    count = sum(write(name, dtype, target) for name, dtype in cases())
    print(f"{count} cases")
