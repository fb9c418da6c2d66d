# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`convoy bisect` names planted culprits, and --keep-float32 removes their difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from cli_fixtures import ROOT, TINY
from resnet import resnet18
from torch import Tensor, nn

import convoy
from convoy import frontend
from convoy.bisect import Finding, bisect_model
from convoy.cli.main import main
from convoy.errors import CompileError
from convoy.options import CompileOptions


def _plant(text: str, weight: str) -> str:
    """Rounds the operand of the convolution with this weight to bfloat16, in the line of the
    convolution."""
    names = re.findall(r'"?tcp\.(?:input|weight)"? = "([^"]+)"', text)
    argument = f"%arg{names.index(weight)}"
    pattern = (
        rf"""^(?P<to> *%\d+ = "tcp.conv2d")\((?P<x>%\w+), {argument}\)(?P<attributes>.*?) : """
    )
    pattern += r"\((?P<type>tensor<[^>]*>), (?P<rest>.* (?P<loc>loc\(.*\)))$"
    found = re.search(pattern, text, re.MULTILINE)
    assert found, weight
    kind = found["type"]
    narrow = kind.replace("f32", "bf16")
    lines = (
        f'%narrow = "tcp.cast"({found["x"]}) : ({kind}) -> {narrow} {found["loc"]}',
        f'%wide = "tcp.cast"(%narrow) : ({narrow}) -> {kind} {found["loc"]}',
        f"{found['to']}(%wide, {argument}){found['attributes']} : ({kind}, {found['rest']}",
    )
    return text[: found.start()] + "\n".join(lines) + text[found.end() :]


def _bisect(
    module: nn.Module, inputs: tuple[Tensor, ...], text: str | None = None, **options: str
) -> Finding:
    chosen = CompileOptions.of(target="cpu", **options)
    imported = frontend.import_module(module.eval(), inputs)
    return bisect_model(module, inputs, imported, chosen, text=text)


def test_planted_convolution_of_resnet18(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = f"{ROOT}/examples/resnet.py:resnet18"
    text = frontend.import_module(*resnet18()).text
    planted = tmp_path / "planted.mlir"
    planted.write_text(_plant(text, "layer3.0.conv1.weight"))
    assert main(["bisect", model, "--target", "cpu", "--tcp", str(planted), "-q"]) == 3
    out = capsys.readouterr().out
    assert "output 0 differs from PyTorch" in out
    place = r"aten.conv2d \(tcp.conv2d\) at \S*examples/resnet.py:(\d+) in layer3.0.conv1"
    culprit = re.search(rf"^culprit: {place}$", out, re.MULTILINE)
    assert culprit, out
    kept = rf"^  --keep-float32 \S*examples/resnet.py:{culprit[1]}: output 0 agrees, "
    assert re.search(kept, out, re.MULTILINE), out

    # The same module without the difference.
    planted.write_text(text)
    assert (
        main(["bisect", model, "--target", "cpu", "--tcp", str(planted), "-q", "--most", "1"]) == 0
    )
    out = capsys.readouterr().out
    assert out.endswith("every output agrees\n")


class _Overflow(nn.Module):
    """The product of the second layer exceeds the range of float16."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.large, self.last = (nn.Linear(16, 16) for _ in range(3))
        with torch.no_grad():
            self.large.weight.mul_(4e5)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.first(x))
        y = self.large(y)
        return self.last(torch.tanh(y / y.abs().amax(-1, keepdim=True)))


@pytest.fixture
def overflow() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    return _Overflow().eval(), (torch.randn(4, 16),)


def test_reduced_precision_is_kept_away(overflow: tuple[nn.Module, tuple[Tensor, ...]]) -> None:
    module, inputs = overflow
    exact = module.double()(inputs[0].double())
    module.float()

    def error(*keep: str) -> float:
        model = convoy.compile(module, inputs, target="cpu", dtype="float16", keep_float32=keep)
        return float((model(*inputs).double() - exact.detach()).abs().nan_to_num(1e9).max())

    assert error() > 1
    names = [f"{Path(__file__).name}:{_line('y = self.large(y)')}"]
    names += [f"{Path(__file__).name}:{_line('return self.last(torch.tanh')}"]
    assert error(*names) < 1e-2


def _line(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


def test_agreement(overflow: tuple[nn.Module, tuple[Tensor, ...]]) -> None:
    found = _bisect(*overflow)
    assert found.culprit is None
    assert all(each.agrees for each in found.outputs)
    assert found.ops


def test_ops_on_the_parts_of_complex_numbers() -> None:
    class Spectrum(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.fft.irfft(torch.fft.rfft(x) * (1 + 2j), 8)

    found = _bisect(Spectrum(), (torch.randn(2, 8),), dtype="bfloat16")
    assert any("tcp.matmul" in each.probe.names and each.effect > 0 for each in found.ops)


class _Nested(nn.Module):
    def forward(self, x: Tensor) -> dict[str, object]:
        return {"sum": x.exp() + 1, "parts": (x.sin(), [x.cos()])}


def test_nested_results() -> None:
    """The values of all ops are results in no structure."""
    finding = _bisect(_Nested(), (torch.randn(2, 3),))
    assert finding.culprit is None
    assert len(finding.outputs) == 3


def test_effects_are_of_the_op_alone() -> None:
    """An op with an error that no output depends on has no effect."""

    class Unread(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.a(x) + self.b(x) * 0.0

    torch.manual_seed(0)
    module, inputs = Unread(), (torch.randn(1, 3, 8, 8),)
    text = frontend.import_module(module.eval(), inputs).text
    found = _bisect(module, inputs, _plant(text, "b.weight"))
    effects = {each.probe.module: each for each in found.ops if "tcp.conv2d" in each.probe.names}
    assert found.culprit is None
    assert not effects["b"].alone.agrees
    assert effects["b"].effect == 0
    found = _bisect(module, inputs, _plant(text, "a.weight"))
    assert found.culprit is not None
    assert found.culprit.probe.module == "a"
    assert found.culprit.effect == pytest.approx(found.outputs[0].difference, rel=0.2)


def test_unknown_name_lists_near_ones(overflow: tuple[nn.Module, tuple[Tensor, ...]]) -> None:
    with pytest.raises(CompileError, match=r"but got 'lagre'; the nearest are large, "):
        convoy.compile(*overflow, target="cpu", dtype="float16", keep_float32=["lagre"])


@pytest.mark.parametrize("name", ["", "a b", "a,b", "'"])
def test_invalid_name(name: str) -> None:
    with pytest.raises(ValueError, match="expected names without spaces, commas"):
        CompileOptions.of(target="cpu", keep_float32=(name,))
    with pytest.raises(ValueError, match="expected keep_float32 to be a sequence of names"):
        CompileOptions.of(target="cpu", keep_float32="softmax")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep = ["--dtype", "float16", "--keep-float32", "conv1", "tcp.matmul", "--target", "cpu"]
    out = tmp_path / "tiny.mlir"
    assert (
        main(["compile", f"{TINY}:tiny", *keep, "--compile-to", "normalize", "-o", str(out)]) == 0
    )
    types = re.findall(r"tcp\.(conv2d|matmul) .*-> tensor<\S*x(f\d+)>", out.read_text())
    assert types == [("conv2d", "f32"), ("conv2d", "f16"), ("matmul", "f32")]
    assert main(["bisect", f"{TINY}:tiny", *keep, "-q"]) == 0
    assert "every output agrees" in capsys.readouterr().out
    assert main(["bisect", f"{TINY}:tiny", "--target", "cpu", "--most", "0"]) == 1
    assert "expected --most of at least 1, got 0" in capsys.readouterr().err


def test_module_of_another_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.mlir"
    other.write_text("func.func @other() { return }")
    assert main(["bisect", f"{TINY}:tiny", "--target", "cpu", "--tcp", str(other)]) == 1
    assert "expected a tcp module with a function @main, got none" in capsys.readouterr().err
