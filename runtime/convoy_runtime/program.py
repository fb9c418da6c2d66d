# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The base class of loaded artifacts.

`cpu.py` and `cuda/program/executor.py` implement memory and execution.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ._native import NativeLibrary
from ._safetensors import HostTensor
from .arrays import CPU, View, check, is_placed, view
from .artifact import Artifact
from .errors import ArgumentError, ConvoyRuntimeError, WeightsError
from .host_arrays import as_numpy
from .interface import Interface
from .manifest import TensorSpec
from .structure import flatten, is_flat, is_positional, unflatten
from .uncopied import Uncopied
from .weights import prepare_weights

__all__ = ["POISON", "Program", "Progress"]

#: Called with the name of the next step, the number of finished steps and the number of steps.
Progress = Callable[[str, int, int], None]

#: The byte that `poison=True` writes. Repeated, it is a NaN of any float type.
POISON = 0xFF


class Program(Uncopied, ABC):
    """A loaded model. Call it with the arguments of the module, or with one array per input, in the
    order of `inputs`.

    Arrays may be of any library that supports DLPack; results are of the first input's library. All
    methods are thread-safe. A `with` block closes the program at its end.

    Attributes:
        path: The artifact.
        manifest: The manifest of the artifact.
        timings: Seconds of each part of the load: opening, hashing, plans, ...
        is_point: Whether this is the program of one point of a program with dynamic sizes, whose
            weights it shares.
    """

    is_point = False

    def __init__(self, artifact: Artifact, native: NativeLibrary, *, poison: bool) -> None:
        #: None after the program is closed.
        self._source: tuple[Artifact, NativeLibrary] | None = (artifact, native)
        self._poison = poison
        self._has_weights = not artifact.manifest.prepared
        self.path = artifact.path
        self.timings: Mapping[str, float] = {}
        self.manifest = artifact.manifest
        self._positional = is_positional(artifact.manifest.arguments)
        self._flat = is_flat(artifact.manifest.results)
        #: Whether a call returns one array that is not nested.
        self._single = self._flat and len(artifact.manifest.outputs) == 1

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape, dtype and strides of each input."""
        return self.manifest.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape, dtype and strides of each output."""
        return self.manifest.outputs

    @property
    def example_inputs(self) -> tuple[TensorSpec, ...]:
        """The inputs of one call; with dynamic sizes, of a call at the last point."""
        return self.manifest.inputs

    @property
    def static_programs(self) -> Mapping[str, Program]:
        """Name of a point to its program, e.g. `batch=8`; this program with an empty name if its
        sizes are static."""
        return {"": self}

    @property
    def weights(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each of the model's weights, as `load_weights` expects them."""
        return tuple(
            spec for spec in self.manifest.weights if spec.name not in self.manifest.constants
        )

    @property
    def has_weights(self) -> bool:
        """Whether the program can run: the artifact had weights or needs none, or some were
        loaded."""
        return self._has_weights

    @property
    def is_usable(self) -> bool:
        """Whether the device works. After some errors of a kernel, e.g. an illegal address, every
        later call of this process fails on that GPU."""
        return True

    @property
    def closed(self) -> bool:
        """Whether the program is closed."""
        return self._source is None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model.

        Args:
            *args: The positional arguments of the module, or one array per input.
            **kwargs: The keyword arguments of the module.

        Returns:
            The results of the module in the same structure, as arrays of the first input's library.
            A named tuple or a dataclass has the module's own class if that class is loaded. Else it
            is a named tuple with the same fields, or a `types.SimpleNamespace`.

        Raises:
            ArgumentError: The number, structure, shape, dtype or device of the inputs, or a number,
                string or None among the arguments, differs from what was compiled.
            WeightsError: The artifact has no weights and none were loaded.
            ConvoyRuntimeError: The program is closed.
        """
        return self.nested(self._run_arrays(self.arrays_of(args, kwargs)))

    @abstractmethod
    def _run_arrays(
        self, arrays: Sequence[Any], stream: int | None = None, interface: Any = None
    ) -> tuple[Any, ...]:
        """Runs the model.

        Args:
            arrays: One array per input.
            stream: The stream of a run on a GPU, as in the call of a `CudaProgram`.
            interface: What `bound` returned, for arrays with other sizes than the program's.

        Returns:
            One array per output.
        """

    def arrays_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        """The arrays among the arguments of a call, one per input. Raises ArgumentError if the
        arguments have another structure than the module's."""
        if not kwargs and (
            self._positional
            or (
                len(args) == len(self.inputs)
                and all(hasattr(value, "__dlpack__") for value in args)
            )
        ):
            return args
        if not self.manifest.arguments:
            names = ", ".join(kwargs)
            raise ArgumentError(
                argument="keyword arguments", problem="wrong names", expected="none", got=names
            )
        return flatten(self.manifest.arguments, args, kwargs)

    def nested(self, results: tuple[Any, ...]) -> Any:
        """Nests one array per output, e.g. from `run_numpy`, like the results of a call."""
        if self._flat:
            return results[0] if len(results) == 1 else results
        return unflatten(self.manifest.results, results)

    def bound(self, interface: Interface) -> Interface:
        """Adds to an interface the data that runs of this program would compute from it."""
        return interface

    @abstractmethod
    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Runs the model and writes the results into given arrays.

        Args:
            outputs: One array per output, with its strides, without overlaps.
            inputs: One array per input.

        Raises:
            ArgumentError: An array does not match its spec, or an output has other strides, is
                read-only or overlaps another.
            WeightsError: The artifact has no weights and none were loaded.
            ConvoyRuntimeError: The program is closed.
        """

    @abstractmethod
    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Runs the model on host arrays for any target, and waits for the result.

        Args:
            *arrays: One host array per input; bfloat16 as uint16.

        Returns:
            One host array per output; bfloat16 as uint16.

        Raises:
            ArgumentError: Number, shape or dtype of the inputs differ from `inputs`.
            WeightsError: The artifact has no weights and none were loaded.
            ConvoyRuntimeError: The program is closed.
        """

    def host_inputs(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Checks the inputs of a later `run_numpy`.

        Args:
            arrays: One host array per input, of any library that supports DLPack.

        Returns:
            The arrays; those of other libraries than numpy are copied. bfloat16 is uint16.

        Raises:
            ArgumentError: Number, shape or dtype of the inputs differ from `inputs`, or there is no
                program for their sizes.
            ConvoyRuntimeError: The program is closed.
        """
        self._check_open()
        return [as_numpy(got) for got in self._views(arrays, self.inputs, "input", (CPU, 0))]

    @abstractmethod
    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        """Uses these prepared weights, complete and checked, from the next run on."""

    def install_all(self, prepared: Mapping[str, HostTensor]) -> None:
        """Uses the prepared weights of the artifact from the next run on. Raises
        ConvoyRuntimeError."""
        self._install(prepared)
        self._has_weights = True

    def close(self) -> None:
        """Waits for current runs, and releases memory, handles and the native library. May be
        called from any thread, and repeatedly. Later calls of the program raise
        ConvoyRuntimeError."""
        self._source = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Replaces the weights. Code in the artifact prepares them, without the compiler.

        A run uses either the old or the new weights, never a mix. On an error the old weights stay
        in use.

        Args:
            source: A .safetensors file, or a mapping from names to host arrays, e.g. a state_dict,
                with exactly the names, shapes and dtypes of `weights`. A shared tensor may have any
                of its names, and tensors that inference does not read are ignored.

        Raises:
            WeightsError: The weights do not match; lists every mismatch.
            ArtifactError: The file is damaged.
            ConvoyRuntimeError: The program is closed.
        """
        self.install_all(self.prepare(source))

    def prepare(
        self, source: str | os.PathLike[str] | Mapping[str, Any]
    ) -> Mapping[str, HostTensor]:
        """Prepares weights for `install_all` of this program and of other programs of the artifact.
        Arguments and errors are those of `load_weights`."""
        if (source_files := self._source) is None:
            raise self._closed()
        if self.is_point:
            problem = (
                "a point shares its weights with all others: call load_weights of the program "
                "with dynamic sizes"
            )
            raise WeightsError(problem=problem)
        artifact, native = source_files
        return prepare_weights(native, self.manifest, source, artifact.constants())

    def _closed(self) -> ConvoyRuntimeError:
        return ConvoyRuntimeError(f"the program {self.path} is closed")

    def _check_open(self) -> None:
        if self._source is None:
            raise self._closed()

    def _check_ready(self) -> None:
        self._check_open()
        if not self.has_weights:
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
        """Borrows and checks the inputs or outputs of a call. `stream` returns the `stream`
        argument of `arrays.view` for an array."""
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

    def _check_targets(self, targets: Sequence[View], specs: Sequence[TensorSpec]) -> None:
        """Raises ArgumentError unless the outputs of `run_into` have the strides of their specs and
        do not overlap."""
        for got, spec in zip(targets, specs, strict=True):
            if not is_placed(got, spec):
                raise ArgumentError(
                    argument=f"output {spec.name!r}",
                    problem="wrong strides",
                    expected=str(list(spec.all_strides)),
                    got=str(list(got.strides)),
                )
        if len(targets) < 2:
            return
        places = sorted(
            (got.pointer, spec.bytes, spec.name)
            for got, spec in zip(targets, specs, strict=True)
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
