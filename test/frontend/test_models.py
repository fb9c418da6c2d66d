"""Whole models through the frontend: numbers by the reference, names, memory, locations, and that the C++ dialect accepts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import resnet
from frontend_checks import check, ops

from convoy.frontend import import_module

_RESNETS = [(resnet.resnet18, 20), (resnet.resnet50, 53)]


@pytest.mark.parametrize(("build", "convolutions"), _RESNETS, ids=["resnet18", "resnet50"])
def test_resnet(build: Callable, convolutions: int, convoy_opt: Callable[[str], str]) -> None:
    model, inputs = build(batch=2, size=32)
    storage = {name: tensor.data_ptr() for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
    state = set(model.state_dict())
    imported = import_module(model, inputs)
    assert {name: tensor.data_ptr() for name, tensor in imported.weights.items()}.items() <= storage.items()
    assert set(imported.weights) | set(imported.unused) == state
    assert all(name.endswith("num_batches_tracked") for name in imported.unused)
    assert imported.inputs == ("x",)
    assert imported.outputs == ("0",)
    emitted = [op.split(" ")[0] for op in ops(imported.text)]
    assert emitted.count("conv2d") == convolutions
    assert len(imported.text) < 200_000, "weights are in the text"
    assert f'"{Path(resnet.__file__)}":' in imported.text
    assert convoy_opt(imported.text).count("tcp.conv2d") == convolutions
    check(model, *inputs)
