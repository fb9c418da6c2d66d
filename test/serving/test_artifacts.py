"""The artifacts of the tests of serving load in this environment and have the intended sizes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

import convoy_runtime


def test_environment_has_no_compiler() -> None:
    assert importlib.util.find_spec("torch") is None
    assert importlib.util.find_spec("convoy") is None


def test_static_artifact_runs(artifacts: Path) -> None:
    with convoy_runtime.load(artifacts / "mlp.convoy") as program:
        assert program(np.zeros((2, 8), np.float32)).shape == (2, 4)


def test_weights_of_another_seed_give_the_results_of_its_artifact(artifacts: Path) -> None:
    x = np.random.default_rng(0).normal(size=(3, 3, 16, 16)).astype(np.float32)
    with (
        convoy_runtime.load(artifacts / "cnn.convoy") as program,
        convoy_runtime.load(artifacts / "cnn-new.convoy") as other,
    ):
        old = program(x)
        program.load_weights(artifacts / "cnn-new.safetensors")
        assert np.array_equal(program(x), other(x))
        assert not np.array_equal(program(x), old)


def test_batches_are_padded_unless_rows_depend_on_each_other(artifacts: Path) -> None:
    padded = {}
    for name in ("cnn", "mixed", "centered"):
        with convoy_runtime.load(artifacts / f"{name}.convoy") as program:
            (symbol,) = program.symbols
            padded[name] = symbol.padded
            assert program.points == ({"batch": 1}, {"batch": 4}, {"batch": 16})
    assert padded == {"cnn": True, "mixed": True, "centered": False}
