# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`torch.compile(model, backend="convoy")` on a GPU, compared with eager mode in float64. Needs the
compiler and a PyTorch with CUDA."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from test_kernels import gpu  # noqa: F401 (the fixture)

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch has no GPU"),
]


@pytest.fixture
def options(gpu: None, tmp_path: Path) -> dict[str, Any]:  # noqa: F811
    import convoy.torch_compile

    torch._dynamo.reset()
    convoy.torch_compile.reset()
    torch.manual_seed(0)
    return {"cache_dir": tmp_path}


def network() -> Any:
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, 1, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Linear(256, 10),
    ).cuda()  # fmt: skip


def close(got: Any, expected: Any, limit: float = 5e-3) -> None:
    expected = expected.double()
    assert (got.double() - expected).abs().max() <= limit * expected.abs().max()


def test_inference(options: dict[str, Any]) -> None:
    import convoy.torch_compile

    model = network().eval()
    run = torch.compile(model, backend="convoy", options=options)
    exact = copy.deepcopy(model).double()
    with torch.no_grad():
        for batch in (4, 4, 7, 2):
            x = torch.randn(batch, 3, 32, 32, device="cuda")
            got = run(x)
            assert got.device == x.device
            close(got, exact(x.double()))
        model[0].weight.mul_(2)
        close(run(x), copy.deepcopy(model).double()(x.double()))
    assert all(len(report.parts) == 1 for report in convoy.torch_compile.reports())
    assert all(not report.left for report in convoy.torch_compile.reports())


def test_half_and_other_streams(options: dict[str, Any]) -> None:
    model = network().eval()
    exact = copy.deepcopy(model).double()
    run = torch.compile(model.half(), backend="convoy", options=options)
    x = torch.randn(8, 3, 32, 32, device="cuda").half()
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        results = [run(x * scale) for scale in (1, 0.5, 2)]
    stream.synchronize()
    for got, scale in zip(results, (1, 0.5, 2), strict=True):
        close(got, exact((x * scale).double()), 2e-2)


def test_other_ops_run_in_eager_mode(options: dict[str, Any]) -> None:
    def run(x: Any) -> Any:
        y = torch.relu(x @ x.mT) @ x
        return torch.igamma(y + 1, y + 2).mean() + (y @ y.mT).softmax(-1)

    x = torch.randn(48, 64, device="cuda")
    with torch.no_grad():
        close(torch.compile(run, backend="convoy", options=options)(x), run(x.double()))


def test_training(options: dict[str, Any]) -> None:
    model = network().train()
    exact = copy.deepcopy(model).double()
    run = torch.compile(model, backend="convoy", options=options)
    steps = [torch.optim.SGD(each.parameters(), 0.01) for each in (model, exact)]
    for _ in range(4):
        x, y = torch.randn(8, 3, 16, 16, device="cuda"), torch.randint(0, 10, (8,), device="cuda")
        for function, given, step in ((run, x, steps[0]), (exact, x.double(), steps[1])):
            step.zero_grad()
            torch.nn.functional.cross_entropy(function(given), y).backward()
            step.step()
        for got, expected in zip(model.parameters(), exact.parameters(), strict=True):
            close(got, expected)
