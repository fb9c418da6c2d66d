# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`torch.compile(model, backend="convoy")` on the CPU: every model runs, the results are PyTorch's,
and the report says which ops are compiled."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import convoy.torch_compile as backend
from convoy_runtime import cpu


class Net(nn.Module):
    """A convolution, and attention over its pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.BatchNorm2d(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = F.silu(self.norm(self.conv(x))).flatten(2).mT
        y = y + F.scaled_dot_product_attention(y, y, y)
        return self.head(y.mean(1))


def same(got: Tensor, expected: Tensor, limit: float = 1e-5) -> None:
    torch.testing.assert_close(got, expected, rtol=limit, atol=limit)


def ops_left() -> set[str]:
    return {op for report in backend.reports() for op, _ in report.left}


@torch.no_grad()
def test_whole_graph_is_one_part(compiled: Callable[..., Any]) -> None:
    model, x = Net().eval(), torch.randn(2, 3, 9, 8)
    same(compiled(model)(x), model(x))
    (report,) = backend.reports()
    assert len(report.parts) == 1
    assert report.parts[0].ops == report.ops
    assert report.parts[0].flops == report.flops > 0
    assert "100.0 % of the FLOPs" in backend.summary()


@torch.library.custom_op("convoy_backend_test::twice", mutates_args=())
def twice(x: Tensor) -> Tensor:
    return x * 2


@twice.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch.no_grad()
def test_other_ops_run_in_eager_mode(compiled: Callable[..., Any]) -> None:
    weight = torch.randn(6, 6)

    def run(x: Tensor) -> tuple[Tensor, Tensor]:
        y = F.gelu(x @ weight)
        s = torch.igamma(y.abs() + 1, y.abs() + 2)
        return torch.relu(twice(y) @ weight).sum(1), s

    x = torch.randn(4, 6)
    for got, expected in zip(compiled(run)(x), run(x), strict=True):
        same(got, expected)
    (report,) = backend.reports()
    assert len(report.parts) == 2
    assert report.left == {
        ("aten.igamma.default", "it has no conversion to tcp"): 1,
        ("convoy_backend_test.twice.default", "it has no conversion to tcp"): 1,
    }
    assert "not compiled: convoy_backend_test.twice.default (1)" in str(report)


@torch.no_grad()
def test_refusal_of_a_form_leaves_the_part(compiled: Callable[..., Any]) -> None:
    """The frontend refuses the op for its arguments, which the list of ops does not show."""
    complex_numbers = torch.randn(4, dtype=torch.complex64)

    def run(x: Tensor) -> Tensor:
        return torch.relu(x @ x + 1) * torch.view_as_real(complex_numbers * 2)[:, 0]

    x = torch.randn(4, 4)
    same(compiled(run)(x), run(x))
    assert backend.reports()[0].parts
    assert any("complex64" in reason for _, reason in backend.reports()[0].left)


@torch.no_grad()
def test_small_parts_are_left(compiled: Callable[..., Any]) -> None:
    x = torch.randn(4)
    same(compiled(lambda x: torch.relu(x) + 1)(x), torch.relu(x) + 1)
    assert "its part has 2 ops, fewer than min_ops = 4" in backend.summary()
    same(compiled(lambda x: torch.relu(x) + 2, min_ops=1)(x), torch.relu(x) + 2)
    assert backend.reports()[1].parts


@torch.no_grad()
def test_random_ops_are_left(compiled: Callable[..., Any]) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(1.0), nn.Linear(4, 4)).train()
    same(compiled(model)(torch.randn(2, 4)), model[2].bias.expand(2, 4))
    assert any("random" in reason for _, reason in backend.reports()[0].left)


@torch.no_grad()
def test_graph_breaks(compiled: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)

    def run(x: Tensor) -> Tensor:
        y = torch.relu(first(x))
        print("between")
        return second(y)

    x = torch.randn(2, 4)
    same(compiled(run)(x), second(torch.relu(first(x))))
    assert capsys.readouterr().out == "between\n"
    assert sum(len(report.parts) for report in backend.reports()) == 2


class Counting(nn.Module):
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(x.softmax(-1).sum(0))
        return x @ x.T * self.count


@torch.no_grad()
def test_writes_to_buffers(compiled: Callable[..., Any]) -> None:
    model, other = Counting(), Counting()
    run, x = compiled(model), torch.randn(4, 4)
    for _ in range(3):
        same(run(x), other(x))
        same(model.count, other.count)


@torch.no_grad()
def test_new_shapes(compiled: Callable[..., Any]) -> None:
    """Dynamo makes sizes symbolic at the second shape; each shape is compiled once."""
    model = Net().eval()
    run = compiled(model)
    for batch in (2, 3, 5, 3, 5):
        x = torch.randn(batch, 3, 8, 8)
        same(run(x), model(x))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2
    assert [len(report.parts) for report in backend.reports()] == [1, 1, 1]


@torch.no_grad()
def test_more_shapes_than_allowed_run_in_eager_mode(compiled: Callable[..., Any]) -> None:
    model = Net().eval()
    run = compiled(model, max_shapes=1)
    for batch in (2, 3, 5, 6):
        x = torch.randn(batch, 3, 8, 8)
        same(run(x), model(x))
    assert len(backend.reports()) == 2


@dataclass
class Result:
    y: Tensor
    more: dict[str, Tensor]


@torch.no_grad()
def test_structures(compiled: Callable[..., Any]) -> None:
    layer = nn.Linear(4, 4)

    def run(x: Tensor, *, scale: float, mask: Tensor | None = None) -> Result:
        y = layer(x) * scale
        return Result(y if mask is None else y * mask, {"sum": y.sum(1), "x": x})

    x = torch.randn(3, 4)
    fast = compiled(run)
    for keywords in ({"scale": 2.0}, {"scale": 3.0, "mask": torch.ones(3, 4)}):
        got, expected = fast(x, **keywords), run(x, **keywords)
        assert isinstance(got, Result)
        same(got.y, expected.y)
        same(got.more["sum"], expected.more["sum"])
        assert got.more["x"] is x


@torch.no_grad()
def test_memory_formats(compiled: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Conv2d(3, 8, 3).eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    run = compiled(model)
    run(x)
    with monkeypatch.context() as patch:  # A copy of an input or of a result would be an error.
        patch.delattr(cpu, "aligned_copy")
        patch.setattr(Tensor, "copy_", None)
        got = run(x)
    same(got, model(x))
    assert got.stride() == model(x).stride()
    planes = run(x.contiguous())
    same(planes, got)
    assert planes.stride() == model(x.contiguous()).stride()


@torch.no_grad()
def test_new_weights(compiled: Callable[..., Any]) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    run, x = compiled(model), torch.randn(2, 4)
    same(run(x), model(x))
    model[0].weight.mul_(2)
    same(run(x), model(x))
    model[2].bias.data = torch.randn(4)
    same(run(x), model(x))
    model.load_state_dict({name: torch.randn_like(v) for name, v in model.state_dict().items()})
    same(run(x), model(x))


def test_constants_without_weights(compiled: Callable[..., Any]) -> None:
    """The conversion makes tables, which the part has beside no weights of the model."""

    def resized(x: Tensor) -> Tensor:
        return F.interpolate((x @ x.mT).relu(), size=(5, 11), mode="bilinear")

    x = torch.rand(1, 2, 8, 8)
    run = compiled(resized)
    for each in (x, x + 1):
        torch.testing.assert_close(run(each), resized(each))
    assert backend.reports()[0].parts


def test_training(compiled: Callable[..., Any]) -> None:
    """Forward and backward are compiled; weights that change in each step become inputs."""
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, 1, 1), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten(), nn.Linear(64, 5)
    )
    other = copy.deepcopy(model)
    run = compiled(model)
    steps = [torch.optim.SGD(each.parameters(), 0.1) for each in (model, other)]
    for _ in range(5):
        x, y = torch.randn(4, 3, 4, 4), torch.randint(0, 5, (4,))
        for function, step in zip((run, other), steps, strict=True):
            step.zero_grad()
            F.cross_entropy(function(x), y).backward()
            step.step()
        for got, expected in zip(model.parameters(), other.parameters(), strict=True):
            same(got, expected, 1e-4)
        same(model[1].running_var, other[1].running_var)
    kinds = [report.name.split()[0] for report in backend.reports()]
    assert kinds == ["forward", "backward", "forward"]
    assert all(report.parts for report in backend.reports())


@torch.no_grad()
def test_cache(compiled: Callable[..., Any], tmp_path: Path) -> None:
    model, x = Net().eval(), torch.randn(2, 3, 8, 8)
    expected = model(x)
    for cached in (False, True):
        torch._dynamo.reset()
        backend.reset()
        same(compiled(model)(x), expected)
        assert [part.cached for part in backend.reports()[0].parts] == [cached]
    (file,) = (tmp_path / "cache").iterdir()
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    # A damaged file is compiled again, and replaced.
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    torch._dynamo.reset()
    backend.reset()
    same(compiled(model)(x), expected)
    assert not backend.reports()[0].parts[0].cached
    assert file.read_bytes() != damaged
    # Other weights have the same content; other options do not.
    torch._dynamo.reset()
    backend.reset()
    other = Net().eval()
    same(compiled(other)(x), other(x))
    same(compiled(Net().eval(), dtype="bfloat16")(x), torch.zeros(2, 5), 10)
    assert [report.parts[0].cached for report in backend.reports()] == [True, False]


@torch.no_grad()
def test_cache_is_limited(compiled: Callable[..., Any], tmp_path: Path) -> None:
    x = torch.randn(4, 4)
    for number in range(3):
        torch._dynamo.reset()
        compiled(lambda x, number=number: x @ x + number, cache_bytes=1)(x)
    assert list((tmp_path / "cache").iterdir()) == []
    assert [len(report.parts) for report in backend.reports()] == [1, 1, 1]
    compiled(lambda x: x @ x - 1, cache=False)(x)
    assert list((tmp_path / "cache").iterdir()) == []


@torch.no_grad()
def test_compute_type(compiled: Callable[..., Any]) -> None:
    model, x = nn.Linear(64, 64).eval(), torch.randn(4, 64)
    error = (compiled(model, dtype=torch.bfloat16)(x) - model(x)).abs().max()
    assert 1e-4 < error < 0.1


@torch.no_grad()
def test_inductor_runs_the_rest(
    compiled: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def run(x: Tensor) -> Tensor:
        return torch.relu(x @ x) + torch.special.zeta(x.abs() + 2, 1.5)

    x = torch.rand(4, 4)
    same(compiled(run, fallback="inductor")(x), run(x))
    assert "inductor cannot compile" not in caplog.text
    assert ops_left() == {"aten.abs.default", "aten.add.Tensor", "aten.special_zeta.other_scalar"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"tuning": "full"},
            "unknown options of the backend convoy: tuning; expected any of dtype",
        ),
        (
            {"tune": "most"},
            "tune: expected one of off, limited, quick, full, exhaustive, got 'most'",
        ),
        ({"fallback": "xla"}, "fallback: expected one of eager, inductor, got 'xla'"),
        ({"min_ops": 0}, "min_ops: expected a positive integer, got 0"),
        ({"dtype": "float8"}, "expected .*float8"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    run = torch.compile(lambda x: x + 1, backend="convoy", options=options)
    with pytest.raises(Exception, match=message):
        run(torch.ones(2))


def test_modes() -> None:
    assert backend.BackendOptions.of(None, None).tune == "off"
    assert backend.BackendOptions.of(None, "max-autotune").tune == "full"
    assert backend.BackendOptions.of({"tune": "quick"}, "max-autotune").tune == "quick"
    with pytest.raises(ValueError, match="mode: expected one of default, reduce-overhead, max-a"):
        backend.BackendOptions.of(None, "fastest")


def test_nothing_compiled() -> None:
    assert backend.summary() == "no graph was compiled"
