# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Restrictions on execution plans. Each option is a guarantee: an engine that violates it is never
chosen."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from convoy_runtime.cuda.cudnn.enums import BehaviorNote, HeurMode, NumericalNote
from convoy_runtime.errors import ArgumentError
from convoy_runtime.manifest import Graph, GraphKernel, Manifest

__all__ = ["PlanOptions", "restrictions"]

_TF32 = "uses TF32, which allow_tf32=False forbids"
_TENSOR_CORES = "uses tensor cores, which allow_tensor_cores=False forbids"
_FLOAT32 = {"float32", "float64"}
#: In float32, cuDNN marks engines for these ops as using tensor cores although they do not round
#: (test/gpu/test_alternatives.py).
_EXACT_OPS = {"add", "relu"}
#: An engine may have a note for its tile size instead of the transform.
_WINOGRAD = {note for note in NumericalNote if note.name.startswith("WINOGRAD")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanOptions:
    """Restrictions on execution plans.

    `repr` names the options that differ from the defaults. It is part of the key of stored plans.

    Args:
        allow_tf32: Allow float32 graphs to use tensor cores, which round inputs to 10 bits of
            mantissa (PyTorch: torch.backends.cudnn.allow_tf32).
        allow_tensor_cores: Allow graphs of any dtype to use tensor cores.
        deterministic: Allow only engines with the same result in each run.
        allow_winograd: Allow engines that use Winograd transforms, with larger errors.
        allow_fft: Allow engines that use Fourier transforms, with larger errors.
        allow_reduced_precision_reduction: Allow engines that accumulate in less than the compute
            type (PyTorch: torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction).
        allow_runtime_compilation: Allow engines that compile a kernel at load time. Does not apply
            to the artifact's kernels, which are PTX: the driver compiles them unless their machine
            code is stored.
        max_workspace_bytes: The largest workspace of a plan in bytes.
        heuristics: The modes of cuDNN's heuristics (A, B, FALLBACK) that select untuned plans, in
            this order.
        engines: The allowed engines (CUDNN_ATTR_ENGINE_GLOBAL_INDEX); None for all.
        exclude_engines: Engines that are not allowed.
        allow_kernels: Allow the artifact's kernels instead of cuDNN's engines. They accumulate in
            float32, always in the same order.

    Raises:
        ArgumentError: A mode or an engine is invalid.
    """

    allow_tf32: bool = True
    allow_tensor_cores: bool = True
    deterministic: bool = False
    allow_winograd: bool = True
    allow_fft: bool = True
    allow_reduced_precision_reduction: bool = True
    allow_runtime_compilation: bool = True
    max_workspace_bytes: int = 512 << 20
    heuristics: tuple[str, ...] = ("A", "FALLBACK")
    engines: tuple[int, ...] | None = None
    exclude_engines: tuple[int, ...] = ()
    allow_kernels: bool = True

    def __post_init__(self) -> None:
        known = [mode.name for mode in HeurMode]
        if isinstance(self.heuristics, str) or not set(self.heuristics) <= set(known):
            raise ArgumentError(
                argument="heuristics",
                problem="unknown mode",
                expected=f"a subset of {known}",
                got=repr(self.heuristics),
            )
        object.__setattr__(self, "heuristics", tuple(self.heuristics))
        # The order of engines has no meaning.
        if self.engines is not None:
            object.__setattr__(self, "engines", _numbers("engines", self.engines))
        object.__setattr__(
            self, "exclude_engines", _numbers("exclude_engines", self.exclude_engines)
        )

    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"PlanOptions({', '.join(shown)})"

    def for_model(self, manifest: Manifest) -> PlanOptions:
        """Returns these options with the restrictions that the model was compiled with."""
        allowed = manifest.cudnn is None or manifest.cudnn.allow_tf32
        return self if allowed else replace(self, allow_tf32=False)

    def refuses_kernel(self, graph: Graph, kernel: GraphKernel) -> str | None:
        """Returns why a kernel may not run `graph`, even if cuDNN has no engine; None if it may."""
        # A kernel for products may use tensor cores.
        if graph.products is not None and not self.allow_tensor_cores:
            return _TENSOR_CORES
        return _TF32 if kernel.tf32 and not self.allow_tf32 else None

    def refuses_kernels(self, graph: Graph) -> str | None:
        """Returns why the artifact's kernels may not run `graph`; None if they may. They always may
        if the graph has no other plan."""
        if graph.preference == "only_kernel":
            return None
        if not self.allow_kernels:
            return "allow_kernels=False forbids kernels of the artifact"
        return "engines allows only some engines" if self.engines is not None else None

    def refuses(
        self, graph: Graph, engine: int, numerical: set[NumericalNote], behavior: set[BehaviorNote]
    ) -> str | None:
        """Returns why an engine may not run a graph; None if it may.

        Args:
            graph: The graph.
            engine: The index of the engine.
            numerical: Its numerical notes.
            behavior: Its behavior notes.
        """
        float32 = _is_float32(graph)
        # The operations of a graph without `ops` are unknown.
        exact = bool(graph.ops) and set(graph.ops) <= _EXACT_OPS
        # `prepare_weights` does not reorder weights for cuDNN.
        reordered = {
            BehaviorNote.REQUIRES_FILTER_INT8x32_REORDER,
            BehaviorNote.REQUIRES_BIAS_INT8x32_REORDER,
        }
        reduced = NumericalNote.REDUCED_PRECISION_REDUCTION in numerical
        rules: tuple[tuple[bool, bool, str], ...] = (
            (True, bool(behavior & reordered), "needs reordered int8 weights"),
            # These engines multiply in float16, which PyTorch never does for float32.
            (
                float32,
                NumericalNote.DOWN_CONVERT_INPUTS in numerical,
                "rounds inputs to a narrower type",
            ),
            (
                float32 and not exact and not self.allow_tf32,
                NumericalNote.TENSOR_CORE in numerical,
                _TF32,
            ),
            (not self.allow_tensor_cores, NumericalNote.TENSOR_CORE in numerical, _TENSOR_CORES),
            (
                self.deterministic,
                NumericalNote.NONDETERMINISTIC in numerical,
                "is not deterministic",
            ),
            (not self.allow_winograd, bool(numerical & _WINOGRAD), "uses Winograd transforms"),
            (not self.allow_fft, NumericalNote.FFT in numerical, "uses Fourier transforms"),
            (
                not self.allow_reduced_precision_reduction,
                reduced,
                "accumulates in less than the compute type",
            ),
            (
                not self.allow_runtime_compilation,
                BehaviorNote.RUNTIME_COMPILATION in behavior,
                "compiles at run time",
            ),
            (
                self.engines is not None,
                engine not in (self.engines or ()),
                "is not one of the allowed engines",
            ),
            (True, engine in self.exclude_engines, "is an excluded engine"),
        )
        return next((reason for applies, found, reason in rules if applies and found), None)


def _is_float32(graph: Graph) -> bool:
    """Returns whether a graph multiplies float32, or has only tensors of float32 or wider. A result
    may be narrower: it is cast when it is written."""
    floats = {tensor.dtype for tensor in graph.tensors if "float" in tensor.dtype}
    factors = graph.products.dtype if graph.products is not None else ""
    return factors in _FLOAT32 or (bool(floats) and floats <= _FLOAT32)


def _numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Returns indices of engines in order. Raises ArgumentError."""
    found = tuple(values) if isinstance(values, Iterable) else None
    if found is None or not all(isinstance(value, int) for value in found):
        raise ArgumentError(
            argument=name,
            problem="invalid engine indices",
            expected="integers, e.g. (41, 62)",
            got=repr(values),
        )
    return tuple(sorted(set(found)))


def restrictions(options: str, beside: str = "PlanOptions()") -> str:
    """Compares the texts of two PlanOptions.

    Args:
        options: The text of stored options.
        beside: The text to compare with.

    Returns:
        The options of the first text that differ, e.g. `deterministic=True`; the whole text if it
        cannot be parsed.
    """
    try:
        ours, theirs = _fields(options), _fields(beside)
    except SyntaxError:
        return options
    return ", ".join(f"{name}={value}" for name, value in ours.items() if theirs.get(name) != value)


def _fields(options: str) -> dict[str, str]:
    """Returns the text of each field. Raises SyntaxError."""
    call = ast.parse(options, mode="eval").body
    if not isinstance(call, ast.Call):
        raise SyntaxError(options)
    given = {each.arg or "": ast.unparse(each.value) for each in call.keywords}
    return {**{field.name: repr(field.default) for field in fields(PlanOptions)}, **given}
