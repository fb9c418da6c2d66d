"""Every convolution of a ResNet is in a group with its bias, residual and relu. Ops outside have a
reason."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable

import pytest
import resnet

from convoy.frontend import import_module

#: Number of calls per graph pattern. ResNet-18 has 20 convolutions, ResNet-50 has 53. Each stage with
#: another shape has one that downsamples.
EXPECTED = {
    "resnet18": {"conv2d_bias": 3, "conv2d_bias_relu": 9, "conv2d_bias_residual_relu": 8},
    "resnet50": {"conv2d_bias": 4, "conv2d_bias_relu": 33, "conv2d_bias_residual_relu": 16},
}
#: The stem, which a kernel computes, contains the first convolution.
STEM = Counter(stem=1, conv2d_bias_relu=-1)
#: In bf16 the mean is a generated kernel; support_table.json has the reason.
TAIL = {"f16": {"mean": 1}, "bf16": {}, "f32": {"mean": 1}}
KERNELS = {"cast", "transpose", "pad", "reshape", "max_pool"}


@functools.cache
def _imported(name: str) -> str:
    """The model in dialect tcp, which does not depend on the compilation's dtype."""
    module, inputs = getattr(resnet, name)()
    return import_module(module, inputs).text


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("name", EXPECTED)
def test_every_convolution_is_fused(name: str, dtype: str, convoy_opt: Callable[..., str]) -> None:
    pipeline = f"--convoy-pipeline=from=tcp to=cudnn target=cuda dtype={dtype}"
    output = convoy_opt(_imported(name), pipeline)
    calls = Counter(re.findall(r"cudnn\.execute @(\w+)_\d+ ", output))
    # The last layer's cast to f32 is part of its graph.
    last = "matmul_bias" if dtype == "f32" else "matmul_bias_cast"
    expected = Counter({**EXPECTED[name], **TAIL[dtype], last: 1})
    expected.update(STEM)
    assert calls == expected

    main = output.split("@main(")[1].split("func.func")[0]
    left = set(re.findall(r"\btcp\.(\w+) %", main))
    assert left <= KERNELS | ({"reduce_mean"} if dtype == "bf16" else set())
    outside = re.findall(r'\{location = "[^"]*", op = "tcp\.(\w+)", reason = "[^"]+"\}', output)
    assert set(outside) == left
