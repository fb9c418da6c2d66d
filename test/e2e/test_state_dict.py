"""Replaces weights without the compiler, for models whose weights and state dict differ: shared
tensors, unused parameters, buffers that are not saved, constants in the code."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file, save_model
from torch import Tensor, nn

import convoy
import convoy_runtime
from convoy_runtime.errors import ArtifactError, WeightsError
from convoy_runtime.manifest_reader import read_manifest


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.idle = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("offset", torch.tensor([1.0, 2.0, 3.0]), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.second(self.first(x))) + self.offset
        return y * torch.tensor([0.5, 0.25, 0.125])


_X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))


def _model(seed: int) -> _Model:
    torch.manual_seed(seed)
    return _Model().eval()


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("state_dict") / "model.convoy"
    convoy.compile(_model(0), (_X,), target="cpu").save(path, weights=False)
    return path


def _differs(program: convoy_runtime.Program, model: nn.Module) -> float:
    with torch.no_grad():
        return float((torch.from_dlpack(program(_X)) - model(_X)).abs().max())


def test_load_state_dict_of_the_model(artifact: Path) -> None:
    with convoy_runtime.load(artifact) as program:
        for seed in (0, 1):
            program.load_weights(_model(seed).state_dict())
            assert _differs(program, _model(seed)) < 1e-5
        assert _differs(program, _model(0)) > 1e-2


def test_file_with_the_other_name_of_a_shared_tensor(artifact: Path, tmp_path: Path) -> None:
    """safetensors keeps only one name of a shared tensor, which may be the other one."""
    path = tmp_path / "weights.safetensors"
    save_model(_model(2), str(path))
    with convoy_runtime.load(artifact, weights=path) as program:
        assert _differs(program, _model(2)) < 1e-5
    for gone in ("first.weight", "second.weight"):
        state = _model(2).state_dict()
        del state[gone]
        with convoy_runtime.load(artifact, weights=state) as program:
            assert _differs(program, _model(2)) < 1e-5


def test_weights_lists_required_names(artifact: Path) -> None:
    with convoy_runtime.load(artifact) as program:
        names = {spec.name for spec in program.weights}
        assert names <= _model(0).state_dict().keys()
        state = {
            name: value
            for name, value in _model(0).state_dict().items()
            if not name.endswith("first.bias")
        }
        with pytest.raises(WeightsError, match=r"first\.bias: missing"):
            program.load_weights(state)
        with pytest.raises(WeightsError, match=r"other: unexpected"):
            program.load_weights({**_model(0).state_dict(), "other": torch.ones(1)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"constants": ["nothing"]}, r"constants: expected names of weights, got 'nothing'"),
        (
            {"aliases": {"first.weight": "nothing"}},
            r"aliases: expected names of weights, got 'nothing'",
        ),
        ({"aliases": {"first.weight": 1}}, r"aliases: expected an object of strings"),
        ({"unused": [1]}, r"unused: expected a list of strings without control characters"),
    ],
)
def test_manifest_is_checked(artifact: Path, change: dict[str, object], message: str) -> None:
    with zipfile.ZipFile(artifact) as archive:
        tree = json.loads(archive.read("manifest.json"))
    assert tree["constants"] == ["offset", "lifted_tensor_0"]
    assert len(tree["aliases"]) == 1
    assert {"idle.weight", "idle.bias"} <= set(tree["unused"])
    with pytest.raises(ArtifactError, match=message):
        read_manifest(json.dumps({**tree, **change}))
    del tree["files"]["constants.safetensors"]
    with pytest.raises(ArtifactError, match=r"expected an entry for constants\.safetensors"):
        read_manifest(json.dumps(tree))


class _Complex(nn.Module):
    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.filter = nn.Parameter(torch.randn(5, dtype=torch.cfloat))

    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(x) * self.filter, 8)


def test_complex_weights(tmp_path: Path) -> None:
    """From a state dict, a conjugated view, numpy arrays, a file, and as the real tensor that the
    artifact has."""
    x, path = torch.randn(2, 8), tmp_path / "filter.safetensors"
    convoy.compile(_Complex(0).eval(), (x,), target="cpu").save(tmp_path / "model.convoy")
    with convoy_runtime.load(tmp_path / "model.convoy") as program:
        for seed, change in enumerate(
            (
                lambda value: value,
                lambda value: value.conj_physical().conj(),
                lambda value: value.numpy(),
                torch.view_as_real,
            )
        ):
            module = _Complex(seed)
            program.load_weights({"filter": change(module.filter.detach())})
            torch.testing.assert_close(torch.from_dlpack(program(x)), module(x))
        module = _Complex(4)
        save_file(module.state_dict(), path)
        program.load_weights(path)
        torch.testing.assert_close(torch.from_dlpack(program(x)), module(x))
