"""Inputs and results have the memory formats of the example, without copies and transposes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor, nn

import convoy
import convoy_runtime
from convoy.cli.main import main
from convoy_runtime import ArgumentError, Program, cpu
from convoy_runtime.strides import same_places

LAST, LAST_3D = torch.channels_last, torch.channels_last_3d
IMAGE, VOLUME = (2, 3, 8, 8), (2, 3, 4, 5, 6)


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def image() -> Tensor:
    return random(*IMAGE).to(memory_format=LAST)


def volume() -> Tensor:
    return random(*VOLUME).to(memory_format=LAST_3D)


W, W3 = random(4, 3, 3, 3), random(4, 3, 3, 3, 3)

#: Functions, and their inputs.
CASES: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "argument": (lambda x: x, (image(),)),
    "relu": (torch.relu, (image(),)),
    "conv": (lambda x: F.conv2d(x, W), (image(),)),
    "conv_by_weights": (lambda x: F.conv2d(x, W.to(memory_format=LAST)), (random(*IMAGE),)),
    "conv3d_in": (lambda x: F.conv3d(x, W3).contiguous(), (volume(),)),
    "conv3d_out": (lambda x: F.conv3d(x, W3).contiguous(memory_format=LAST_3D), (volume(),)),
    "pool": (lambda x: F.max_pool2d(x, 2), (image(),)),
    "norm": (lambda x: F.layer_norm(x, (8,)), (image(),)),
    "cat": (lambda x, y: torch.cat([x, y], 1), (image(), image())),
    "mixed": (lambda x, y: (x + y, y * 2, x.contiguous()), (image(), random(*IMAGE))),
    "to_planes": (lambda x: x.relu().contiguous(), (image(),)),
    "from_planes": (lambda x: x.contiguous(memory_format=LAST), (random(*IMAGE),)),
    "transposed_in": (lambda x: x * 2, (random(2, 3, 4).transpose(1, 2),)),
    "transposed_out": (lambda x: (x.transpose(1, 2), x.exp()), (random(2, 3, 4),)),
    "product": (torch.matmul, (random(3, 4).t(), random(5, 3).t())),
    "permuted": (lambda x: x.permute(3, 0, 2, 1) + 1, (random(2, 3, 4, 5).permute(2, 3, 0, 1),)),
    "heads": (
        lambda q: F.scaled_dot_product_attention(q, q, q).transpose(1, 2).flatten(2),
        (random(2, 8, 4, 16).transpose(1, 2),),
    ),
    "bfloat16": (lambda x: x * 2, (image().bfloat16(),)),
    "one_channel": (torch.relu, (random(2, 1, 8, 8).to(memory_format=LAST),)),
    "one_row": (torch.relu, (random(2, 3, 1, 8).to(memory_format=LAST),)),
    "no_elements": (lambda x: x.t(), (random(0, 4),)),
    # PyTorch's results are not dense, ours are.
    "sliced": (lambda x: x[:, 1:], (image(),)),
    "expanded": (lambda x: x.relu().expand(4, 3, 4), (random(1, 3, 4),)),
}
NOT_DENSE = ("sliced", "expanded")


def tuple_of(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def host(tensor: Tensor) -> np.ndarray:
    return (tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor).numpy()


def forbid_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a copy of an input an error."""
    monkeypatch.delattr(cpu, "aligned_copy")


def loaded(function: Callable[..., Any], *inputs: Tensor) -> Program:
    module = function if isinstance(function, nn.Module) else Function(function)
    return convoy.compile(module.eval(), inputs, target="cpu").load(poison=True)


@pytest.mark.parametrize("name", CASES)
def test_strides_are_those_of_pytorch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, inputs = CASES[name]
    program = loaded(function, *inputs)
    if name != "no_elements":  # whose pointer may be any number
        forbid_copies(monkeypatch)
    expected, results = tuple_of(function(*inputs)), tuple_of(program(*inputs))
    arrays = program.run_numpy(*map(host, inputs))
    for got, array, want, spec in zip(results, arrays, expected, program.outputs, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(array, host(got))
        strides = tuple(stride // array.itemsize for stride in array.strides)
        assert same_places(spec.shape, strides, spec.all_strides)
        assert same_places(spec.shape, got.stride(), spec.all_strides)
        if name not in NOT_DENSE:
            assert same_places(spec.shape, got.stride(), want.stride())


@pytest.mark.parametrize("name", CASES)
def test_other_strides_are_copied(name: str) -> None:
    function, inputs = CASES[name]
    program = loaded(function, *inputs)
    expected = tuple_of(function(*inputs))

    def reversed_dims(x: Tensor) -> Tensor:
        dims = tuple(reversed(range(x.ndim)))
        return x.permute(dims).contiguous().permute(dims)

    others: tuple[Callable[[Tensor], Any], ...] = (
        lambda x: x.contiguous(),
        lambda x: torch.stack([x, x], -1)[..., 0],  # gaps between the elements
        reversed_dims,
        lambda x: host(x.flip(0))[::-1],  # negative strides
    )
    for other in others:
        results = tuple_of(program(*map(other, inputs)))
        for got, want in zip(results, expected, strict=True):
            array = got if isinstance(got, np.ndarray) else host(got)
            if want.dtype is torch.bfloat16:
                np.testing.assert_array_equal(array, host(want))
            else:
                np.testing.assert_allclose(array, host(want), rtol=1e-5, atol=1e-5)


def test_channels_last_results() -> None:
    x = image()
    assert loaded(torch.relu, x)(x).is_contiguous(memory_format=LAST)
    x = volume()
    assert loaded(torch.relu, x)(x).is_contiguous(memory_format=LAST_3D)
    x = random(*IMAGE)
    assert loaded(torch.relu, x)(x).is_contiguous()


def test_run_into(monkeypatch: pytest.MonkeyPatch) -> None:
    x = image()
    program = loaded(lambda x: x * 2, x)
    forbid_copies(monkeypatch)
    y = torch.empty_like(x)
    program.run_into([y], [x])
    assert torch.equal(y, x * 2)
    unaligned = torch.empty(x.numel() + 1)[1:].as_strided(x.shape, x.stride())
    program.run_into([unaligned], [x])
    assert torch.equal(unaligned, x * 2)
    before = x.clone()
    program.run_into([x], [x])
    assert torch.equal(x, before * 2)
    message = r"output '0': wrong strides: expected \[192, 1, 24, 3\], got \[192, 64, 8, 1\]"
    with pytest.raises(ArgumentError, match=message):
        program.run_into([torch.empty(IMAGE)], [x])


class Network(nn.Module):
    """A residual block in channels-last."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(32, 32, 3, 1, 1), nn.BatchNorm2d(32))

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        return torch.relu(y + self.second(y))


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_no_transpose_at_the_border(target: str) -> None:
    torch.manual_seed(0)
    module, x = Network().eval(), random(2, 16, 16, 16)
    models = {
        name: convoy.compile(
            module.to(memory_format=form), (x.to(memory_format=form),), target=target
        )
        for name, form in (("planes", torch.contiguous_format), ("last", LAST))
    }

    def transposes(model: convoy.CompiledModel) -> int:
        run = model.phases["normalize"].partition("@prepare_weights")[0]
        return run.count("tcp.transpose")

    assert {name: transposes(model) for name, model in models.items()} == {"planes": 2, "last": 0}
    assert "tcp.dim_order" not in models["planes"].phases["tcp"]
    if target == "cuda":
        assert models["last"].manifest.kernels == ()
        assert models["last"].manifest.outside == ()


def test_new_weights() -> None:
    torch.manual_seed(0)
    module, x = Network().eval().to(memory_format=LAST), random(2, 16, 8, 8).to(memory_format=LAST)
    program = loaded(module, x)
    other = Network().eval()
    for state in (other.state_dict(), other.to(memory_format=LAST).state_dict()):
        program.load_weights(state)
        got = program(x)
        torch.testing.assert_close(got, other(x), rtol=1e-4, atol=1e-4)
        assert got.is_contiguous(memory_format=LAST)


def test_from_a_pt2_file(tmp_path: Path) -> None:
    x = image()
    torch.export.save(torch.export.export(Function(torch.relu), (x,)), tmp_path / "x.pt2")
    program = convoy.compile(tmp_path / "x.pt2", target="cpu").load()
    assert program(x).is_contiguous(memory_format=LAST)


TCP = """
  func.func @main(%x: tensor<1x3x4x4xf32> {tcp.dim_order = array<i64: ORDER>, tcp.input = "x"})
      -> (tensor<1x3x4x4xf32> {tcp.dim_order = array<i64: 0, 3, 2, 1>, tcp.output = "y"}) {
    %y = tcp.abs %x : tensor<1x3x4x4xf32> -> tensor<1x3x4x4xf32>
    return %y : tensor<1x3x4x4xf32>
  }
"""


def test_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, path = tmp_path / "x.mlir", str(tmp_path / "x.convoy")
    file.write_text(TCP.replace("ORDER", "0, 2, 3, 1"))
    command = ["compile", str(file), "--compile-from", "tcp", "--target", "cpu", "-o", path]
    assert main(command) == 0
    x = random(1, 3, 4, 4)
    for form in (torch.contiguous_format, LAST):
        y = convoy_runtime.load(path)(x.to(memory_format=form))
        assert torch.equal(y, x.abs())
        assert y.stride() == (48, 1, 3, 12)
    assert main(["inspect", path]) == 0
    assert main(["run", path]) == 0
    printed = capsys.readouterr().out
    assert "input x: float32 [1, 3, 4, 4], channels_last\n" in printed
    assert "output y: float32 [1, 3, 4, 4], strides [48, 1, 3, 12]\n" in printed
    file.write_text(TCP.replace("ORDER", "0, 2, 3"))
    assert main(command) == 1
    error = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert "'tcp.dim_order' of argument #0 to be an array<i64> with a permutation" in error
