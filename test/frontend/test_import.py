"""Arguments, names, locations and the torch-dialect text of an imported model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from frontend_checks import check, ops
from op_cases import build
from tcp_reference import run_text
from torch import Tensor, nn
from torch_mlir import ir

from convoy.frontend import ImportedModule, import_mlir, import_module


class _Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.unused = nn.Linear(3, 3)
        self.gain = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("offset", torch.tensor([1.0, 2.0, 3.0]), persistent=False)
        self.half = 0.5

    def forward(self, x: Tensor, mask: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
        y = self.second(self.first(x)) * self.gain + self.offset
        y = y * torch.tensor(0.5) + torch.tensor([1.0, 0.0, 1.0])
        return {"scores": y, "parts": (y * mask, mask)}


_INPUTS = (torch.randn(2, 3), torch.ones(2, 3))


@pytest.fixture(scope="module")
def tied() -> tuple[_Tied, ImportedModule]:
    torch.manual_seed(0)
    module = _Tied().eval()
    return module, import_module(module, _INPUTS, name="tied")


def _signature(text: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Argument and result attributes of @main."""
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        main = module.body.operations[0].operation
        assert main.attributes["sym_name"].value == "main"
        return tuple(  # type: ignore[return-value]
            [
                {item.name: item.attr.value for item in (entry[i] for i in range(len(entry)))}
                for entry in main.attributes[key]
            ]
            for key in ("arg_attrs", "res_attrs")
        )


def test_arguments(tied: tuple[_Tied, ImportedModule]) -> None:
    module, imported = tied
    arguments, results = _signature(imported.text)
    weights = ["second.weight", "first.bias", "second.bias", "gain", "offset", "lifted_tensor_1"]
    assert [entry["tcp.input"] for entry in arguments[:2]] == ["x", "mask"]
    assert sorted(entry["tcp.weight"] for entry in arguments[2:]) == sorted(weights)
    assert [entry["tcp.weight"] for entry in arguments[2:]] == list(imported.weights)
    assert [entry["tcp.output"] for entry in results] == ["scores", "parts.0", "parts.1"]
    assert imported.name == "tied"
    assert imported.inputs == ("x", "mask")
    assert imported.outputs == ("scores", "parts.0", "parts.1")
    assert imported.constants == {"offset", "lifted_tensor_1"}
    assert imported.aliases == {"first.weight": "second.weight"}
    assert imported.unused == ("unused.weight", "unused.bias")
    assert imported.weights["second.weight"].data_ptr() == module.first.weight.data_ptr()
    assert (
        "dense<5.000000e-01> : tensor<1x1xf32>" in imported.text
        or "dense<5.000000e-01> : tensor<f32>" in imported.text
    )


def test_imported_model_equals_pytorch(tied: tuple[_Tied, ImportedModule]) -> None:
    module, imported = tied
    got = run_text(imported.text, _INPUTS, imported.weights)
    with torch.no_grad():
        expected = module(*_INPUTS)
    for mine, theirs in zip(got, [expected["scores"], *expected["parts"]], strict=True):
        torch.testing.assert_close(mine, theirs.double(), rtol=0, atol=1e-5)


def test_non_contiguous_weight_is_copied() -> None:
    module = nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last).eval()
    imported = check(module, torch.randn(1, 2, 4, 4))
    assert imported.weights["weight"].is_contiguous()


def test_torch_text_keeps_the_torch_dialect(tied: tuple[_Tied, ImportedModule]) -> None:
    assert "torch.aten.linear" in tied[1].torch_text
    assert "vtensor.literal" not in tied[1].torch_text


class _Lines(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        x = self._helper(x)  # the call
        return self.layers(x)  # the layers

    def _helper(self, x: Tensor) -> Tensor:
        return torch.exp(x)  # the helper


def test_locations_are_lines_of_the_model() -> None:
    text = import_module(_Lines().eval(), (torch.randn(2, 3),)).text
    lines = Path(__file__).read_text().splitlines()
    number = {
        name: next(i for i, line in enumerate(lines, 1) if line.endswith(f"# the {name}"))
        for name in ("helper", "layers")
    }
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        block = module.body.operations[0].operation.regions[0].blocks[0]
        found = {op.operation.name: str(op.location) for op in block.operations}
    for op, name in (("tcp.exp", "helper"), ("tcp.matmul", "layers"), ("tcp.clamp", "layers")):
        assert found[op] == f'loc("{__file__}":{number[name]}:0)'


def test_torch_module_without_user_code_has_lines_of_torch() -> None:
    text = import_module(nn.ReLU().eval(), (torch.randn(2, 3),)).text
    assert "torch/nn/modules/activation.py" in text


def test_importing_convoy_loads_neither_torch_nor_mlir() -> None:
    code = (
        "import sys, convoy; assert not {'torch', 'torch_mlir', 'numpy'} & set(sys.modules); "
        "convoy.import_module; assert 'torch' in sys.modules"
    )
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={"PYTHONPATH": f"{root / 'python'}:{root / 'runtime'}"},
    )


# Files


def test_file_written_by_torch_mlir(tmp_path: Path) -> None:
    """Text that torch-mlir's importer prints is read back; there the weights are inputs."""
    module, inputs = build("conv_bn_relu")
    imported = import_module(module, inputs)
    path = tmp_path / "model.mlir"
    path.write_text(imported.torch_text)
    again = import_mlir(path)
    assert again.name == "model"
    assert len(again.inputs) == len(imported.inputs) + len(imported.weights) + len(imported.unused)
    assert ops(again.text) == ops(imported.text)


_FILE = """
func.func @main(%image: !torch.vtensor<[1,2],f32>) -> (!torch.vtensor<[1,2],f32>, !torch.vtensor<[3],i1>) {
  %int1 = torch.constant.int 1
  %named = torch.vtensor.literal(dense<[[1.0, 2.0]]> : tensor<1x2xf32>) : !torch.vtensor<[1,2],f32> loc("fc.weight")
  %blob = torch.vtensor.literal(dense_resource<blob> : tensor<1x2xf32>) : !torch.vtensor<[1,2],f32>
  %splat = torch.vtensor.literal(dense<3.0> : tensor<1x2xf32>) : !torch.vtensor<[1,2],f32>
  %brain = torch.vtensor.literal(dense<[0.5, 0xFF80]> : tensor<2xbf16>) : !torch.vtensor<[2],bf16>
  %hex = torch.vtensor.literal(dense<"0x003F80FF"> : tensor<2xbf16>) : !torch.vtensor<[2],bf16>
  %flags = torch.vtensor.literal(dense<[true, false, true]> : tensor<3xi1>) : !torch.vtensor<[3],i1>
  %same = torch.aten.eq.Tensor %brain, %hex : !torch.vtensor<[2],bf16>, !torch.vtensor<[2],bf16> -> !torch.vtensor<[2],i1>
  %0 = torch.aten.add.Tensor %image, %named, %int1
      : !torch.vtensor<[1,2],f32>, !torch.vtensor<[1,2],f32>, !torch.int -> !torch.vtensor<[1,2],f32>
  %1 = torch.aten.mul.Tensor %0, %blob : !torch.vtensor<[1,2],f32>, !torch.vtensor<[1,2],f32> -> !torch.vtensor<[1,2],f32>
  %2 = torch.aten.mul.Tensor %1, %splat : !torch.vtensor<[1,2],f32>, !torch.vtensor<[1,2],f32> -> !torch.vtensor<[1,2],f32>
  %3 = torch.aten.mul.Tensor %2, %same : !torch.vtensor<[1,2],f32>, !torch.vtensor<[2],i1> -> !torch.vtensor<[1,2],f32>
  return %3, %flags : !torch.vtensor<[1,2],f32>, !torch.vtensor<[3],i1>
}
{-#
  dialect_resources: { builtin: { blob: "0x040000000000803F00000040" } }
#-}
"""


def test_file_with_literals(tmp_path: Path) -> None:
    path = tmp_path / "literals.mlir"
    path.write_text(_FILE)
    imported = import_mlir(path)
    assert imported.inputs == ("image",)
    assert imported.outputs == ("0", "1")
    assert list(imported.weights) == ["fc.weight", "literal1", "literal3", "literal4", "literal5"]
    assert imported.weights["literal1"].tolist() == [[1.0, 2.0]]
    assert (
        imported.weights["literal3"].tolist()
        == imported.weights["literal4"].tolist()
        == [0.5, -torch.inf]
    )
    got = run_text(imported.text, [torch.tensor([[10.0, 20.0]])], imported.weights)
    assert got[0].tolist() == [[33.0, 132.0]]
    assert got[1].tolist() == [True, False, True]
    assert f'"{path}":' in imported.text


class _Negative(nn.Module):
    """Buffers that share memory, one of them with torch's negative bit."""

    def __init__(self) -> None:
        super().__init__()
        numbers = torch.tensor([1 + 2j, 3 - 4j, 5 + 6j])
        self.register_buffer("imaginary", numbers.imag)
        self.register_buffer("negative", numbers.conj().imag)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.imaginary + 10 * self.negative


def test_weight_with_the_negative_bit() -> None:
    assert _Negative().negative.is_neg()
    imported = check(_Negative(), torch.ones(3))
    assert imported.aliases == {}
    torch.testing.assert_close(imported.weights["negative"], torch.tensor([-2.0, 4.0, -6.0]))


class _Modulated(nn.Module):
    def forward(self, x: Tensor, mod: Tensor) -> Tensor:
        return x * mod


class _ModuleKeyword(nn.Module):
    """The name of an argument of torch.fx for modules."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = _Modulated()

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.layer(x, mod=x + 1)
        return found


def test_an_argument_with_the_name_of_torch_fx_for_modules() -> None:
    x = torch.randn(2, 3)
    imported = import_module(_ModuleKeyword().eval(), (x,))
    (found,) = run_text(imported.text, [x], imported.weights)
    torch.testing.assert_close(found, x * (x + 1), check_dtype=False)
