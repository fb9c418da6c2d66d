# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A model that is compiled for several points, and its artifact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from convoy.compiled_model import CompiledModel
from convoy.dynamic.artifact import PointProgram, write_dynamic_artifact
from convoy.errors import InputError
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.manifest import Manifest

if TYPE_CHECKING:
    from convoy_runtime import Program

__all__ = ["DynamicModel"]


@dataclass(frozen=True)
class DynamicModel:
    """A compiled model with dynamic sizes, in memory. Calling it runs the model.

    Attributes:
        symbols: The sizes that each call chooses.
        inputs: The inputs.
        outputs: The outputs.
        points: The value of each symbol at each point.
        models: The compiled model of each point. Weights of equal origin are the same arrays.
        seconds: Step of the compilation to its time.
    """

    symbols: tuple[Symbol, ...]
    inputs: tuple[DynamicTensor, ...]
    outputs: tuple[DynamicTensor, ...]
    points: tuple[Mapping[str, int], ...]
    models: tuple[CompiledModel, ...]
    seconds: Mapping[str, float]
    _compile: Callable[[Mapping[str, int]], CompiledModel] = field(repr=False)
    _programs: list[Program] = field(default_factory=list, init=False, repr=False)

    def save(self, path: str | os.PathLike[str], *, weights: bool = True) -> None:
        """Writes the artifact atomically.

        Args:
            path: The file. A symbolic link is followed.
            weights: Whether to include the data of the weights.

        Raises:
            ArtifactWriteError: `path` cannot be written, or is not a regular file.
        """
        write_dynamic_artifact(
            path,
            self.symbols,
            self.inputs,
            self.outputs,
            [
                PointProgram(point, model.manifest, model.members)
                for point, model in zip(self.points, self.models, strict=True)
            ],
            self._weights() if weights else None,
        )

    def load(
        self, *, undeclared: Literal["fail", "wait", "background"] = "fail", **options: Any
    ) -> Program:
        """Loads the model. Arguments and errors are those of `convoy_runtime.load`.

        Args:
            undeclared: What a call does whose sizes are in the ranges, but neither a point nor
                padded. "fail": it raises ArgumentError. "wait": it compiles and loads a program for
                them. "background": it raises ArgumentError until such a program is ready, which is
                compiled in another thread. These programs have memory and weights of their own.
            **options: The keyword arguments of `convoy_runtime.load`.

        Returns:
            The program, a `convoy_runtime.dynamic.program.DynamicProgram`.
        """
        import convoy_runtime
        from convoy_runtime.dynamic.program import DynamicProgram

        if undeclared not in ("fail", "wait", "background"):
            message = f"undeclared: expected 'fail', 'wait' or 'background', got {undeclared!r}"
            raise InputError(message)
        if undeclared != "fail" and options.get("point") is not None:
            message = f"undeclared={undeclared!r}: expected all points, got one of them"
            raise InputError(message)
        with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
            path = Path(folder) / "model.convoy"
            self.save(path)
            program = convoy_runtime.load(path, **options)
        if undeclared != "fail":
            assert isinstance(program, DynamicProgram)

            def make(values: Mapping[str, int]) -> Program:
                return self._compile(values).load(**options)

            program.compile_undeclared(make, wait=undeclared == "wait")
        return program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model; the first call loads it.

        Args:
            *args: The positional arguments of the module, or one array per input.
            **kwargs: The keyword arguments of the module.

        Returns:
            What the module returns, with arrays of the first input's library.
        """
        if not self._programs:
            self._programs.append(self.load())
        return self._programs[0](*args, **kwargs)

    def explain(self) -> str:
        """Describes the groups of each point."""
        lines = []
        for point, model in zip(self.points, self.models, strict=True):
            lines.append(" ".join(f"{name}={value}" for name, value in point.items()))
            lines.append(model.explain())
        return "\n".join(lines)

    def _weights(self) -> dict[str, HostTensor] | None:
        """Origin to prepared weight; None if compiled without weights."""
        found: dict[str, HostTensor] = {}
        for model in self.models:
            if model.prepared is None:
                return None
            for spec in model.manifest.prepared:
                found.setdefault(spec.origin, model.prepared[spec.name])
        return found


def shared(model: CompiledModel, known: dict[str, HostTensor]) -> CompiledModel:
    """The model of a point, with the weights of earlier points in place of equal ones.

    Args:
        model: The compiled model.
        known: Origin to prepared weight; receives new ones.

    Returns:
        The model, without the text of its phases.
    """
    if model.prepared is None:
        return replace(model, phases={})
    prepared = {}
    for spec in model.manifest.prepared:
        mine = model.prepared[spec.name]
        other = known.setdefault(spec.origin, mine)
        if other is not mine and not _same(mine.array, other.array):
            message = f"two values of the prepared weight '{spec.name}' with the same origin"
            raise AssertionError(message)
        prepared[spec.name] = other
    return replace(model, phases={}, prepared=prepared)


def check_equal_interfaces(manifests: Sequence[Manifest], points: Sequence[Any]) -> None:
    """Raises InputError if the results of the points differ in more than sizes, as those of
    squeeze() on a size of 1."""
    first = manifests[0]
    for manifest, point in zip(manifests, points, strict=True):
        for name in ("inputs", "outputs"):
            kinds = [
                [(spec.name, len(spec.shape), spec.dtype) for spec in getattr(each, name)]
                for each in (first, manifest)
            ]
            if kinds[0] != kinds[1]:
                message = (
                    f"the {name} at {dict(point)} differ from those at {dict(points[0])}: expected "
                    f"{kinds[0]}, got {kinds[1]}; compile that point by itself"
                )
                raise InputError(message)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays have the same bytes."""
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    left, right = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (a, b))
    return np.array_equal(left, right)
