"""Compiles the models of `models.py` with the compiler of the development environment.

    .venv/bin/python test/serving/build_artifacts.py build/serving

For each model and each of its seeds, writes NAME.convoy and NAME.safetensors, whose weights
`load_weights` accepts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from models import MODELS, Model
from safetensors.torch import save_file

import convoy

__all__ = ["build"]


def build(folder: Path) -> None:
    """Compiles all models into a folder, which is created if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in MODELS.items():
        for suffix, seed in model.seeds.items():
            _compile(folder / f"{name}{suffix}", model, seed)


def _compile(path: Path, model: Model, seed: int) -> None:
    module, inputs = model.make(seed)
    dynamic = {} if model.points is None else {"points": model.points}
    compiled = convoy.compile(
        module, inputs, target=model.target, dynamic_shapes=model.dynamic_shapes, **dynamic
    )
    compiled.save(path.with_name(f"{path.name}.convoy"))
    save_file(module.state_dict(), path.with_name(f"{path.name}.safetensors"))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
