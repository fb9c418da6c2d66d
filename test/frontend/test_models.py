"""Whole models through the frontend: results by the reference interpreter, names, memory,
locations, and whether the C++ dialect accepts the text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import resnet
import torch
from frontend_checks import check, compare_results, expected_results, ops
from networks import NETWORKS
from safetensors.torch import save_file
from tcp_reference import run_text

from convoy.frontend import import_module


@pytest.mark.parametrize(
    ("build", "convolutions"),
    [(resnet.resnet18, 20), (resnet.resnet50, 53)],
    ids=["resnet18", "resnet50"],
)
def test_resnet(build: Callable, convolutions: int, convoy_opt: Callable[[str], str]) -> None:
    model, inputs = build(batch=2, size=64)
    storage = {
        name: tensor.data_ptr()
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]
    }
    imported = import_module(model, inputs)
    assert {
        name: tensor.data_ptr() for name, tensor in imported.weights.items()
    }.items() <= storage.items()
    assert set(imported.weights) | set(imported.unused) == set(model.state_dict())
    assert all(name.endswith("num_batches_tracked") for name in imported.unused)
    assert imported.inputs == ("x",)
    assert imported.outputs == ("0",)
    emitted = [op.split(" ")[0] for op in ops(imported.text)]
    assert emitted.count("conv2d") == convolutions
    assert len(imported.text) < 200_000, "the text contains weights"
    assert f'"{Path(resnet.__file__)}":' in imported.text
    compare_results(
        run_text(imported.text, inputs, imported.weights), expected_results(model, inputs), 1e-9
    )
    assert convoy_opt(imported.text).count("tcp.conv2d") == convolutions


@pytest.mark.parametrize("build", [resnet.resnet18, resnet.resnet50])
def test_resnet_keeps_activations_in_range(build: Callable) -> None:
    model, inputs = build(size=64)
    seen: list[float] = []
    for module in model.modules():
        if isinstance(module, torch.nn.ReLU):
            module.register_forward_hook(
                lambda _module, _inputs, output: seen.append(float(output.abs().max()))
            )
    with torch.no_grad():
        model(*inputs)
    assert min(seen) > 0.1
    assert max(seen) < 1000, "float16 would overflow"


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_resnet_loads_a_state_dict(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {name: tensor.clone() for name, tensor in resnet.resnet18()[0].state_dict().items()}
    state["fc.bias"] += 1
    path = tmp_path / f"weights.{suffix}"
    save_file(state, path) if suffix == "safetensors" else torch.save(state, path)
    monkeypatch.setenv("RESNET18_WEIGHTS", str(path))
    assert torch.equal(resnet.resnet18()[0].fc.bias, state["fc.bias"])


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name: str, convoy_opt: Callable[[str], str]) -> None:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    imported = check(make(), torch.randn(shape), tolerance=1e-6)
    assert convoy_opt(imported.text).count("= tcp.") >= len(ops(imported.text))
