"""A loaded artifact that is ready to run: the part that both targets share.

`cpu.py` and `cuda/program/executor.py` add memory and execution.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ._native import NativeLibrary
from ._safetensors import HostTensor
from .arrays import View, check, is_packed, view
from .artifact import Artifact
from .errors import ArgumentError, ConvoyRuntimeError, WeightsError
from .manifest import TensorSpec
from .weights import prepare_weights

if TYPE_CHECKING:
    pass

__all__ = ["POISON", "Program", "Progress"]

#: Told what is about to be done, how many such steps are done, and how many there are.
Progress = Callable[[str, int, int], None]

#: Every byte that `poison=True` writes; as any float type that is a NaN.
POISON = 0xFF


class Program(ABC):
    """A model that runs. Call it with one array an input, in the order of `inputs`; it returns one
    array, or a tuple of several.

    Arrays are whatever speaks DLPack; results are of the first input's library. Use it from any
    thread. It is a context manager, and `close()` gives everything back.
    """

    def __init__(self, artifact: Artifact, native: NativeLibrary, *, poison: bool) -> None:
        #: What the program is made of; None once it is closed.
        self._source: tuple[Artifact, NativeLibrary] | None = (artifact, native)
        self._poison = poison
        self._has_weights = False
        self.path = artifact.path
        #: Seconds of each part of the load that made this program: opening, hashing, plans, ...
        self.timings: Mapping[str, float] = {}
        self.manifest = artifact.manifest

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each input."""
        return self.manifest.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each output."""
        return self.manifest.outputs

    @property
    def weights(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each original weight: what `load_weights` takes."""
        return tuple(
            spec for spec in self.manifest.weights if spec.name not in self.manifest.constants
        )

    @property
    def closed(self) -> bool:
        """Whether `close()` was called."""
        return self._source is None

    @abstractmethod
    def __call__(self, *arrays: Any) -> Any:
        """Runs the model on `arrays`."""

    @abstractmethod
    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Runs the model on `inputs` and writes into the arrays `outputs`, which must be packed
        row-major."""

    @abstractmethod
    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Runs the model on host arrays and returns all outputs as host arrays, whatever the
        target. It waits for the result."""

    @abstractmethod
    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        """Makes the prepared weights, complete and checked, those of the next run."""

    def close(self) -> None:
        """Waits for the runs that are under way, and gives memory, handles, the native library and
        the mapped file back. Any thread may call it, also again, which does nothing more. A call
        that begins later, or has got no further than its arguments, raises ConvoyRuntimeError."""
        self._source = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Replaces the weights, by the code that the compiler put into the artifact; no compiler is
        needed.

        `source` is a .safetensors file or a mapping from names to host arrays, as a state_dict,
        with exactly the names, shapes and dtypes of `weights`. A tensor that the model shares may
        have any of its names, and what inference never reads may be there as well. Raises
        WeightsError with every mismatch, ArtifactError when the file is damaged, or
        ConvoyRuntimeError when the program is closed meanwhile; the old weights then stay in use. A
        run has the weights of before or those of after, never some of each.
        """
        if (made_of := self._source) is None:
            raise self._closed()
        artifact, native = made_of
        prepared = prepare_weights(native, self.manifest, source, artifact.constants())
        self._install(prepared)
        self._has_weights = True

    def _closed(self) -> ConvoyRuntimeError:
        return ConvoyRuntimeError(f"the program {self.path} is closed")

    def _check_open(self) -> None:
        if self._source is None:
            raise self._closed()

    def _check_ready(self) -> None:
        self._check_open()
        if not self._has_weights and self.manifest.prepared:
            problem = (
                f"{self.path} was compiled without weights: call "
                "program.load_weights(FILE.safetensors or a state_dict) first"
            )
            raise WeightsError(problem=problem)

    def _views(
        self,
        arrays: Sequence[Any],
        specs: Sequence[TensorSpec],
        what: str,
        device: tuple[int, int],
        stream: Callable[[Any], int] | None = None,
    ) -> list[View]:
        """Borrows and checks the arrays of one side of a call. `stream` says for each array what
        `arrays.view` is told."""
        if len(arrays) != len(specs):
            names = ", ".join(spec.name for spec in specs) or "none"
            raise ArgumentError(
                argument=f"{what}s",
                problem="wrong number",
                expected=f"{len(specs)} ({names})",
                got=str(len(arrays)),
            )
        views = []
        for array, spec in zip(arrays, specs, strict=True):
            name = f"{what} {spec.name!r}"
            got = view(array, name, stream=stream(array) if stream else None)
            check(got, spec, name, device)
            views.append(got)
        return views

    def _check_targets(self, targets: Sequence[View]) -> None:
        """Raises ArgumentError unless the arrays that `run_into` writes are packed and apart from
        one another."""
        for got, spec in zip(targets, self.outputs, strict=True):
            if not is_packed(got):
                raise ArgumentError(
                    argument=f"output {spec.name!r}",
                    problem="is not packed row-major",
                    got=f"strides {list(got.strides)}",
                )
        if len(targets) < 2:
            return
        places = sorted(
            (got.pointer, spec.bytes, spec.name)
            for got, spec in zip(targets, self.outputs, strict=True)
            if spec.bytes
        )
        for (begin, size, name), (other, _, other_name) in pairwise(places):
            if other < begin + size:
                expected = "arrays that share no memory"
                raise ArgumentError(
                    argument=f"output {other_name!r}",
                    problem=f"overlaps output {name!r}",
                    expected=expected,
                )

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<Program {self.path} {self.manifest.target} ({inputs}) -> ({outputs})>"
