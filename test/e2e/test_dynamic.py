"""Models with dynamic sizes on the CPU, against PyTorch."""

from __future__ import annotations

import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from dynamic_models import BATCH, Head, Tokens, close_to, compiled
from torch.export import Dim

import convoy
import convoy_runtime
from convoy.dynamic.constants import with_own_constants
from convoy.dynamic.model import DynamicModel
from convoy.frontend import ImportedModule
from convoy_runtime import ArgumentError, ArtifactError
from convoy_runtime.dynamic.program import DynamicProgram
from convoy_runtime.opening import open_artifact


@pytest.fixture(scope="module")
def head() -> tuple[torch.nn.Module, DynamicModel]:
    torch.manual_seed(0)
    module = Head().eval()
    model = compiled(
        module,
        (torch.randn(1, 3, 16, 16),),
        dynamic_shapes={"image": {0: BATCH}},
        points={"batch": [1, 4, 8]},
    )
    return module, model


@torch.no_grad()
def test_batches(head: tuple[torch.nn.Module, DynamicModel], tmp_path: Path) -> None:
    module, model = head
    assert [str(symbol) for symbol in model.symbols] == ["batch: 1 to 8"]
    assert [str(each) for each in model.inputs] == ["image: float32[batch, 3, 16, 16]"]
    assert [str(each) for each in model.outputs] == ["0: float32[batch, 4]"]
    model.save(tmp_path / "head")
    with convoy_runtime.load(tmp_path / "head") as program:
        assert isinstance(program, DynamicProgram)
        assert program.points == ({"batch": 1}, {"batch": 4}, {"batch": 8})
        for batch in (1, 4, 8, 4):
            image = torch.randn(batch, 3, 16, 16)
            close_to(program(image), module(image))
            close_to(program(image.to(memory_format=torch.channels_last)), module(image))
            close_to(torch.from_numpy(program.run_numpy(image.numpy())[0]), module(image))
            result = torch.empty(batch, 4)
            program.run_into([result], [image])
            close_to(result, module(image))
        one = program.point(batch=4)
        close_to(one(torch.ones(4, 3, 16, 16)), module(torch.ones(4, 3, 16, 16)))


def test_one_copy_of_the_weights(
    head: tuple[torch.nn.Module, DynamicModel], tmp_path: Path
) -> None:
    _, model = head
    first = model.models[0].prepared
    assert first is not None
    for each in model.models[1:]:
        assert each.prepared is not None
        shared = [
            any(array is other for other in first.values()) for array in each.prepared.values()
        ]
        assert all(shared)
    model.save(tmp_path / "head")
    names = zipfile.ZipFile(tmp_path / "head").namelist()
    assert names.count("weights.safetensors") == 1
    assert not any(name.startswith("points/") and "weights" in name for name in names)


@torch.no_grad()
def test_new_weights(head: tuple[torch.nn.Module, DynamicModel], tmp_path: Path) -> None:
    module, model = head
    model.save(tmp_path / "head", weights=False)
    program = convoy_runtime.load(tmp_path / "head")
    image = torch.randn(4, 3, 16, 16)
    with pytest.raises(convoy_runtime.WeightsError, match="compiled without weights"):
        program(image)
    program.load_weights(module.state_dict())
    close_to(program(image), module(image))
    with pytest.raises(convoy_runtime.WeightsError, match="conv.bias: missing"):
        program.load_weights({"conv.weight": module.state_dict()["conv.weight"]})
    close_to(program(image), module(image))
    assert isinstance(program, DynamicProgram)
    with pytest.raises(convoy_runtime.WeightsError, match="a point shares its weights"):
        program.point(batch=4).load_weights(module.state_dict())


@torch.no_grad()
def test_two_padded_sizes() -> None:
    """One of them is padded in a call."""

    class Pair(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x[:, None] + y, x.exp()

    module = Pair()
    rows, columns = Dim("rows", min=1, max=8), Dim("columns", min=1, max=8)
    model = compiled(
        module,
        (torch.randn(2, 3), torch.randn(5, 3)),
        dynamic_shapes={"x": {0: rows}, "y": {0: columns}},
        points={"rows": [2, 8], "columns": [4, 8]},
    )
    assert all(symbol.padded for symbol in model.symbols)
    program = model.load(poison=True)
    for shape in ((8, 4), (5, 8), (8, 3), (2, 7), (1, 4)):
        x, y = torch.randn(shape[0], 3), torch.randn(shape[1], 3)
        close_to(program(x, y), module(x, y))
    with pytest.raises(ArgumentError, match="has no point for them"):
        program(torch.randn(5, 3), torch.randn(3, 3))


@torch.no_grad()
def test_padded_batches(head: tuple[torch.nn.Module, DynamicModel], tmp_path: Path) -> None:
    module, model = head
    assert model.symbols[0].padded
    model.save(tmp_path / "head")
    with convoy_runtime.load(tmp_path / "head", poison=True) as program:
        for batch in (2, 3, 5, 8, 7, 1):
            image = torch.randn(batch, 3, 16, 16)
            for given in (image, image.to(memory_format=torch.channels_last)):
                got = program(given)
                assert got.shape == (batch, 4)
                close_to(got, module(image))
            close_to(torch.from_numpy(program.run_numpy(image.numpy())[0]), module(image))
            result = torch.empty(batch, 4)
            program.run_into([result], [image])
            close_to(result, module(image))


@torch.no_grad()
def test_calls_of_several_threads(head: tuple[torch.nn.Module, DynamicModel]) -> None:
    module, model = head
    program, failures = model.load(), []

    def call(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for step in range(20):
            image = torch.randn((1, 4, 8)[(seed + step) % 3], 3, 16, 16, generator=generator)
            try:
                close_to(program(image), module(image))
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_wrong_sizes(head: tuple[torch.nn.Module, DynamicModel]) -> None:
    symbols = tuple(replace(symbol, unpadded="a reason") for symbol in head[1].symbols)
    program = replace(head[1], symbols=symbols).load()
    for shape, message in (
        ((3, 3, 16, 16), "has no point for them: expected one of: batch=1, batch=4, batch=8, got batch=3"),
        ((9, 3, 16, 16), "dim 0 of input 'image': the value of batch is not in its range: expected 1 to 8, got 9"),
        ((0, 3, 16, 16), "expected 1 to 8, got 0"),
        ((4, 3, 16, 8), r"wrong shape: expected \[batch, 3, 16, 16\], got \[4, 3, 16, 8\]"),
        ((4, 3, 16), r"wrong shape: expected \[batch, 3, 16, 16\], got \[4, 3, 16\]"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=message):
            program(torch.zeros(shape))
    with pytest.raises(ArgumentError, match="wrong dtype: expected float32, got float64"):
        program(torch.zeros(4, 3, 16, 16, dtype=torch.float64))
    with pytest.raises(ArgumentError, match=r"wrong number: expected 1 \(image\), got 2"):
        program(torch.zeros(1), torch.zeros(1))
    part = slice(0, 2)
    smaller = replace(head[1], points=head[1].points[part], models=head[1].models[part]).load()
    with pytest.raises(ArgumentError, match="batch=4; smaller values of batch are padded, got"):
        smaller(torch.zeros(5, 3, 16, 16))
    assert isinstance(program, DynamicProgram)
    with pytest.raises(ArgumentError, match="no such point: expected one of: batch=1, batch=4"):
        program.point(batch=2)


@torch.no_grad()
def test_two_symbols_and_a_nested_result() -> None:
    torch.manual_seed(0)
    module = Tokens().eval()
    batch, length = Dim("batch", min=1, max=4), Dim("length", min=2, max=32)
    sizes = {0: batch, 1: length}
    ids, mask = torch.randint(0, 50, (2, 8)), torch.ones(2, 8, dtype=torch.bool)
    model = compiled(
        module,
        (ids, mask),
        dynamic_shapes={"ids": sizes, "mask": sizes},
        points=[{"batch": 1, "length": 8}, {"batch": 4, "length": 8}, {"batch": 2, "length": 16}],
    )
    program = model.load()
    for shape in ((1, 8), (4, 8), (2, 16)):
        ids, mask = torch.randint(0, 50, shape), torch.rand(shape) > 0.3
        mask[:, 0] = True
        got, wanted = program(ids, mask), module(ids, mask)
        assert list(got) == ["all", "first"]
        for name in wanted:
            close_to(got[name], wanted[name])
    with pytest.raises(
        ArgumentError,
        match="input 'mask': wrong size of dim 1: expected length = 8, because length is 8 in dim 1 of input 'ids', got 7",
    ):
        program(torch.zeros(1, 8, dtype=torch.long), torch.ones(1, 7, dtype=torch.bool))


@torch.no_grad()
def test_derived_sizes() -> None:
    class Pair(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, x]) + y

    half = Dim("half", min=1, max=8)
    module = Pair()
    model = compiled(
        module,
        (torch.randn(2, 3), torch.randn(4, 3)),
        dynamic_shapes={"x": {0: half}, "y": {0: 2 * half}},
        points={"half": [1, 3]},
    )
    assert [each.sizes[0] for each in (*model.inputs, *model.outputs)] == [
        "half",
        "2*half",
        "2*half",
    ]
    program = model.load()
    x, y = torch.randn(3, 3), torch.randn(6, 3)
    close_to(program(x, y), module(x, y))
    with pytest.raises(ArgumentError, match=r"expected 2\*half = 6, because half is 3"):
        program(x, torch.randn(7, 3))


@torch.no_grad()
def test_exported_programs_and_auto(tmp_path: Path) -> None:
    module = Head().eval()
    exported = torch.export.export(
        module, (torch.randn(2, 3, 16, 16),), dynamic_shapes={"image": {0: Dim.AUTO}}
    )
    model = convoy.compile(exported, target="cpu", points={"image_0": [1, 2]})
    image = torch.randn(1, 3, 16, 16)
    close_to(model(image), module(image))
    sizes = {"image": {0: Dim.AUTO}}
    model = compiled(
        module, (torch.randn(2, 3, 16, 16),), dynamic_shapes=sizes, points={"image_0": [1, 2]}
    )
    close_to(model(image), module(image))
    torch.export.save(exported, tmp_path / "head.pt2")
    model = convoy.compile(tmp_path / "head.pt2", target="cpu", points={"image_0": [3]})
    image = torch.randn(3, 3, 16, 16)
    close_to(model(image), module(image))


def test_artifacts_of_points(head: tuple[torch.nn.Module, DynamicModel], tmp_path: Path) -> None:
    head[1].save(tmp_path / "head")
    point = open_artifact(tmp_path / "head", point={"batch": 4})
    assert point.manifest.inputs[0].shape == (4, 3, 16, 16)
    weights = point.weights()
    assert weights is not None
    assert weights.keys() == {spec.name for spec in point.manifest.prepared}
    with pytest.raises(ArgumentError, match="has no such point: expected one of: batch=1"):
        open_artifact(tmp_path / "head")
    damaged = bytearray((tmp_path / "head").read_bytes())
    for offset in range(0, len(damaged), 997):
        changed = bytearray(damaged)
        changed[offset] ^= 1
        (tmp_path / "damaged").write_bytes(changed)
        with pytest.raises(ArtifactError):
            convoy_runtime.load(tmp_path / "damaged")


def test_a_constant_of_one_element_has_any_stride() -> None:
    known: dict[str, torch.Tensor] = {}
    for value, name in ((1.0, "table"), (1.0, "table"), (2.0, "table.1")):
        tensor = torch.full((2,), value)[::2]
        module = ImportedModule(
            "model", "", "", {"table": tensor}, (), (), constants=frozenset({"table"})
        )
        assert with_own_constants(module, known).constants == {name}
