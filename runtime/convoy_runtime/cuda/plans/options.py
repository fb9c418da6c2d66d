# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Restrictions on execution plans. Each option is a guarantee: an engine that violates it is never
chosen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain

from convoy_runtime.cuda.cudnn.enums import BehaviorNote, NumericalNote
from convoy_runtime.errors import ArgumentError
from convoy_runtime.manifest import Graph, GraphKernel, Manifest

from .option_values import engine_numbers, heuristic_modes, note_names, workspace_limit

__all__ = ["PlanOptions", "restrictions"]

_TF32 = "uses TF32, which allow_tf32=False forbids"
_TENSOR_CORES = "uses tensor cores, which allow_tensor_cores=False forbids"
_FLOAT32 = {"float32", "float64"}
#: In float32, cuDNN marks engines for these ops as using tensor cores although they do not round
#: (test/gpu/test_alternatives.py).
_EXACT_OPS = {"add", "relu"}
#: An engine may have a note for its tile size instead of the transform.
_WINOGRAD = {note for note in NumericalNote if note.name.startswith("WINOGRAD")}
#: Direction of a convolution, in names of options, to the operation in `Graph.ops`.
_DIRECTIONS = {
    "forward": "convolution",
    "dgrad": "convolution_dgrad",
    "wgrad": "convolution_wgrad",
}


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
        require_numerical_notes: Allow only engines with all of these numerical notes
            (CUDNN_NUMERICAL_NOTE_*), e.g. ("TENSOR_CORE",).
        exclude_numerical_notes: Allow only engines with none of them. A list has exactly these
            notes: `allow_winograd` also covers those of its tile sizes.
        require_behavior_notes: Allow only engines with all of these behavior notes
            (CUDNN_BEHAVIOR_NOTE_*).
        exclude_behavior_notes: Allow only engines with none of them.
        max_workspace_bytes: The largest workspace of a plan in bytes; None for no limit.
        heuristics: The modes of cuDNN's heuristics (A, B, FALLBACK) that select untuned plans, in
            this order.
        engines: The allowed engines (CUDNN_ATTR_ENGINE_GLOBAL_INDEX); None for all.
        exclude_engines: Engines that are not allowed.
        forward_engines: The allowed engines of graphs with a forward convolution, in addition to
            `engines`; None for all.
        exclude_forward_engines: Engines that are not allowed in these graphs.
        dgrad_engines: The same for graphs with a convolution's gradient of the input.
        exclude_dgrad_engines: Engines that are not allowed in these graphs.
        wgrad_engines: The same for graphs with a convolution's gradient of the filter.
        exclude_wgrad_engines: Engines that are not allowed in these graphs.
        allow_kernels: Allow the artifact's kernels instead of cuDNN's engines. They accumulate in
            float32, always in the same order.
        allow_cublaslt: Allow cuBLASLt for matrix products.

    Raises:
        ArgumentError: A mode, a note, an engine or the limit is invalid, or a note is both required
            and excluded.
    """

    allow_tf32: bool = True
    allow_tensor_cores: bool = True
    deterministic: bool = False
    allow_winograd: bool = True
    allow_fft: bool = True
    allow_reduced_precision_reduction: bool = True
    allow_runtime_compilation: bool = True
    require_numerical_notes: tuple[str, ...] = ()
    exclude_numerical_notes: tuple[str, ...] = ()
    require_behavior_notes: tuple[str, ...] = ()
    exclude_behavior_notes: tuple[str, ...] = ()
    max_workspace_bytes: int | None = 512 << 20
    heuristics: tuple[str, ...] = ("A", "FALLBACK")
    engines: tuple[int, ...] | None = None
    exclude_engines: tuple[int, ...] = ()
    forward_engines: tuple[int, ...] | None = None
    exclude_forward_engines: tuple[int, ...] = ()
    dgrad_engines: tuple[int, ...] | None = None
    exclude_dgrad_engines: tuple[int, ...] = ()
    wgrad_engines: tuple[int, ...] | None = None
    exclude_wgrad_engines: tuple[int, ...] = ()
    allow_kernels: bool = True
    allow_cublaslt: bool = True

    def __post_init__(self) -> None:
        def assign(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        assign("heuristics", heuristic_modes(self.heuristics))
        workspace_limit(self.max_workspace_bytes)
        for name in (each.name for each in fields(self) if each.name.endswith("engines")):
            if (given := getattr(self, name)) is not None:
                assign(name, engine_numbers(name, given))
        for kind, notes in (("numerical", NumericalNote), ("behavior", BehaviorNote)):
            required, excluded = f"require_{kind}_notes", f"exclude_{kind}_notes"
            for name in (required, excluded):
                assign(name, note_names(name, getattr(self, name), notes))
            if both := set(getattr(self, required)) & set(getattr(self, excluded)):
                raise ArgumentError(
                    argument=excluded,
                    problem="no engine can have and lack a note",
                    expected=f"none of the notes of {required}",
                    got=", ".join(sorted(both)),
                )

    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"PlanOptions({', '.join(shown)})"

    def for_model(self, manifest: Manifest) -> PlanOptions:
        """Returns these options with the restrictions that the model was compiled with."""
        if manifest.cudnn is None:
            return self
        return replace(
            self,
            allow_tf32=self.allow_tf32 and manifest.cudnn.allow_tf32,
            allow_winograd=self.allow_winograd and manifest.cudnn.allow_winograd,
        )

    def refuses_kernel(self, graph: Graph, kernel: GraphKernel) -> str | None:
        """Returns why a kernel may not run `graph`, even if cuDNN has no engine; None if it may."""
        # A kernel for products may use tensor cores.
        if graph.products is not None and not self.allow_tensor_cores:
            return _TENSOR_CORES
        if graph.products is not None and "TENSOR_CORE" in self.exclude_numerical_notes:
            return "may use tensor cores, which exclude_numerical_notes forbids"
        return _TF32 if kernel.tf32 and not self.allow_tf32 else None

    def refuses_kernels(self, graph: Graph) -> str | None:
        """Returns why the artifact's kernels may not run `graph`; None if they may. They always may
        if the graph has no other plan."""
        if graph.preference == "only_kernel":
            return None
        if not self.allow_kernels:
            return "allow_kernels=False forbids kernels of the artifact"
        return self.demands_engine(graph)

    def demands_engine(self, graph: Graph) -> str | None:
        """Returns why only engines of cuDNN may run `graph`; None if others may."""
        if self.require_numerical_notes or self.require_behavior_notes:
            return "required notes allow only engines of cuDNN"
        return next(
            (
                f"{name} allows only some engines"
                for name, allowed, _ in self._engine_lists(graph)
                if allowed is not None
            ),
            None,
        )

    def _engine_lists(
        self, graph: Graph
    ) -> Iterator[tuple[str, tuple[int, ...] | None, tuple[int, ...]]]:
        """Yields the lists of engines that apply to a graph: the name of the option, the allowed
        engines (None for all) and the excluded ones."""
        yield "engines", self.engines, self.exclude_engines
        for direction, operation in _DIRECTIONS.items():
            if operation in graph.ops:
                name = f"{direction}_engines"
                yield name, getattr(self, name), getattr(self, f"exclude_{name}")

    def _refuses_notes(
        self, numerical: set[NumericalNote], behavior: set[BehaviorNote]
    ) -> str | None:
        """Returns which list of notes forbids an engine with these notes; None if none does."""
        found = {note.name for note in chain(numerical, behavior)}
        for kind in ("numerical", "behavior"):
            for name in getattr(self, f"require_{kind}_notes"):
                if name not in found:
                    return f"has no note {name}, which require_{kind}_notes demands"
            for name in getattr(self, f"exclude_{kind}_notes"):
                if name in found:
                    return f"has the note {name}, which exclude_{kind}_notes forbids"
        return None

    def _refuses(self, graph: Graph, engine: int) -> str | None:
        """Returns which list of engines forbids an engine; None if none does."""
        for name, allowed, excluded in self._engine_lists(graph):
            one = name == "engines"
            if allowed is not None and engine not in allowed:
                return "is not one of the allowed engines" + ("" if one else f" of {name}")
            if engine in excluded:
                return "is an excluded engine" + ("" if one else f" of exclude_{name}")
        return None

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
            # cuBLASLt's engine has no note of tensor cores, and rounds float32 to TF32 (9.19.0 on
            # an H100: an error of 3e-4, test/gpu/test_tf32.py).
            (
                float32 and not exact and not self.allow_tf32,
                NumericalNote.TENSOR_CORE in numerical
                or BehaviorNote.CUBLASLT_DEPENDENCY in behavior,
                _TF32,
            ),
            (
                not self.allow_tensor_cores,
                NumericalNote.TENSOR_CORE in numerical
                or BehaviorNote.CUBLASLT_DEPENDENCY in behavior,
                _TENSOR_CORES,
            ),
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
        )
        reason = next((reason for applies, found, reason in rules if applies and found), None)
        return reason or self._refuses_notes(numerical, behavior) or self._refuses(graph, engine)


def _is_float32(graph: Graph) -> bool:
    """Returns whether a graph multiplies float32, or has only tensors of float32 or wider. A result
    may be narrower: it is cast when it is written."""
    floats = {tensor.dtype for tensor in graph.tensors if "float" in tensor.dtype}
    factors = graph.products.dtype if graph.products is not None else ""
    return factors in _FLOAT32 or (bool(floats) and floats <= _FLOAT32)


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
