# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loads a model given as `FILE.py:FUNCTION` or as a .pt2 file on the command line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convoy.errors import ConvoyError

if TYPE_CHECKING:
    import torch

__all__ = ["MODEL_HELP", "ModelFileError", "build_model"]

MODEL_HELP = (
    "FILE.py:FUNCTION, or a .pt2 file of torch.export.save; the function takes no arguments and "
    "returns (module, (example input, ...)), or with keyword inputs (module, (example input, ...), "
    "{name: example input})"
)


class ModelFileError(ConvoyError):
    """The model file cannot be loaded, or its function does not return a model."""


def build_model(name: str) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]:
    """Imports FILE.py and calls FUNCTION, or reads a .pt2 file.

    Args:
        name: FILE.py:FUNCTION, or a .pt2 file.

    Returns:
        The module in evaluation mode, example inputs, and example keyword inputs.

    Raises:
        ModelFileError: The file cannot be imported, or the function fails or does not return
            (module, (tensor, ...)) or (module, (tensor, ...), {name: tensor}).
        InputError: The .pt2 file cannot be read, or has no example inputs.
    """
    import torch

    if name.endswith(".pt2"):
        return _exported(name)
    path_text, _, function_name = name.rpartition(":")
    if not path_text or not function_name.isidentifier():
        message = f"expected FILE.py:FUNCTION, got {name}"
        raise ModelFileError(message)
    path = Path(path_text)
    if not path.is_file():
        message = f"{path}: no such file"
        raise ModelFileError(message)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        message = f"{path}: expected a Python file"
        raise ModelFileError(message)
    loaded = importlib.util.module_from_spec(spec)
    # dataclasses and torch.export look modules up by name.
    sys.modules.setdefault(spec.name, loaded)
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(loaded)
    except Exception as error:
        message = f"{path}: cannot be imported: {type(error).__name__}: {error}"
        raise ModelFileError(message) from error
    finally:
        sys.path.pop(0)
    function = getattr(loaded, function_name, None)
    if not callable(function):
        found = ", ".join(
            sorted(
                each
                for each, value in vars(loaded).items()
                if callable(value) and not each.startswith("_")
            )
        )
        message = f"{path}: expected a function {function_name}, found {found or 'none'}"
        raise ModelFileError(message)
    try:
        result = function()
    except Exception as error:
        message = f"{name}: the function failed: {type(error).__name__}: {error}"
        raise ModelFileError(message) from error
    fits = (
        isinstance(result, tuple)
        and len(result) in (2, 3)
        and isinstance(result[0], torch.nn.Module)
        and isinstance(result[1], tuple)
        and all(isinstance(each, dict) for each in result[2:])
    )
    if not fits:
        message = (
            f"{name}: expected (module, (tensor, ...)) or (module, (tensor, ...), {{name: tensor}})"
            f", got {_described(result)}"
        )
        raise ModelFileError(message)
    return result[0].eval(), result[1], result[2] if len(result) == 3 else {}


def _exported(path: str) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]:
    from convoy.errors import InputError
    from convoy.frontend import read_exported

    program = read_exported(path)
    if program.example_inputs is None:
        message = f"{path}: expected an exported program with example inputs, got one without"
        raise InputError(message)
    args, kwargs = program.example_inputs
    return program.module(), args, kwargs


def _described(value: Any) -> str:
    """The types in a function's result, two levels deep."""
    if not isinstance(value, tuple):
        return type(value).__name__
    inner = [
        f"({', '.join(type(leaf).__name__ for leaf in each)})"
        if isinstance(each, tuple)
        else type(each).__name__
        for each in value
    ]
    return f"({', '.join(inner)})"
