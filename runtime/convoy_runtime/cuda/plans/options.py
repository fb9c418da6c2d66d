"""Which of cuDNN's engines may be used. Each option is a guarantee: an engine that breaks it is
never chosen."""

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
#: Of float32, cuDNN marks also engines for these as using tensor cores, and they round nothing
#: (test/gpu/test_alternatives.py).
_EXACT_OPS = {"add", "relu"}
#: An engine may name the size of the tiles that it transforms in place of the transform.
_WINOGRAD = {note for note in NumericalNote if note.name.startswith("WINOGRAD")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanOptions:
    """Restrictions on execution plans.

    `allow_tf32`: graphs of float32 may use tensor cores, which round inputs to 10 bits of mantissa
    (PyTorch: torch.backends.cudnn.allow_tf32). `allow_tensor_cores`: graphs of any type may use
    them. `deterministic`: only engines whose result is the same in each run. `allow_winograd`,
    `allow_fft`: engines that transform tiles, with larger errors.
    `allow_reduced_precision_reduction`: engines that accumulate in less than the compute type
    (PyTorch: torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction).
    `allow_runtime_compilation`: engines that compile a kernel while the program is loaded; kernels
    of the artifact are PTX, which the driver compiles where their machine code is not stored.
    `max_workspace_bytes`: of one plan. `heuristics`: cuDNN's modes (A, B, FALLBACK), asked in this
    order where nothing is measured. `engines`: the only ones (CUDNN_ATTR_ENGINE_GLOBAL_INDEX) that
    may be used, when given; `exclude_engines`: those that may not. `allow_kernels`: kernels of the
    artifact may run in place of cuDNN's engines; they add in float32, always in the same order.

    Its text has what is restricted, and is part of what plans are stored by. Raises ArgumentError.
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
                expected=f"some of {known}",
                got=repr(self.heuristics),
            )
        object.__setattr__(self, "heuristics", tuple(self.heuristics))
        # In whatever order they are given, they are the same engines.
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
        """These, less what the model was compiled to forbid."""
        allowed = manifest.cudnn is None or manifest.cudnn.allow_tf32
        return self if allowed else replace(self, allow_tf32=False)

    def refuses_kernel(self, graph: Graph, kernel: GraphKernel) -> str | None:
        """Why that kernel of `graph` may not even run where cuDNN has no engine; None if it may."""
        # Nothing says of a kernel that computes products that it does without.
        if graph.products is not None and not self.allow_tensor_cores:
            return _TENSOR_CORES
        return _TF32 if kernel.tf32 and not self.allow_tf32 else None

    def refuses_kernels(self, graph: Graph) -> str | None:
        """Returns why no kernel of the artifact may run `graph`; None if one may. A graph that has
        nothing else may always run on one."""
        if graph.preference == "only_kernel":
            return None
        if not self.allow_kernels:
            return "allow_kernels=False forbids kernels of the artifact"
        return "only certain engines are asked for" if self.engines is not None else None

    def refuses(
        self, graph: Graph, engine: int, numerical: set[NumericalNote], behavior: set[BehaviorNote]
    ) -> str | None:
        """Why an engine of this index and with these notes may not run a graph; None if it may."""
        float32 = _is_float32(graph)
        # Of a graph that does not say what it computes nothing is known.
        exact = bool(graph.ops) and set(graph.ops) <= _EXACT_OPS
        # Weights would have to be stored in cuDNN's own order, which `prepare_weights` does not
        # write.
        reordered = {
            BehaviorNote.REQUIRES_FILTER_INT8x32_REORDER,
            BehaviorNote.REQUIRES_BIAS_INT8x32_REORDER,
        }
        reduced = NumericalNote.REDUCED_PRECISION_REDUCTION in numerical
        rules: tuple[tuple[bool, bool, str], ...] = (
            (True, bool(behavior & reordered), "needs reordered int8 weights"),
            # float32 stored, but float16 multiplied: never what a float32 model means, and PyTorch
            # never does it.
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
            (not self.allow_winograd, bool(numerical & _WINOGRAD), "uses Winograd's transform"),
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
                "is not one of the engines asked for",
            ),
            (True, engine in self.exclude_engines, "is an engine that was excluded"),
        )
        return next((reason for applies, found, reason in rules if applies and found), None)


def _is_float32(graph: Graph) -> bool:
    """Whether a graph multiplies float32, or computes on nothing narrower; a result may be, which
    is cast when it is written."""
    floats = {tensor.dtype for tensor in graph.tensors if "float" in tensor.dtype}
    factors = graph.products.dtype if graph.products is not None else ""
    return factors in _FLOAT32 or (bool(floats) and floats <= _FLOAT32)


def _numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Indices of engines, in order. Raises ArgumentError."""
    found = tuple(values) if isinstance(values, Iterable) else None
    if found is None or not all(isinstance(value, int) for value in found):
        raise ArgumentError(
            argument=name,
            problem="no indices of engines",
            expected="integers, as (41, 62)",
            got=repr(values),
        )
    return tuple(sorted(set(found)))


def restrictions(options: str, beside: str = "PlanOptions()") -> str:
    """What differs in the text of PlanOptions, which plans are kept with, from the text `beside`,
    as `deterministic=True`; empty where nothing does, and all of a text that is none."""
    try:
        ours, theirs = _fields(options), _fields(beside)
    except SyntaxError:
        return options
    return ", ".join(f"{name}={value}" for name, value in ours.items() if theirs.get(name) != value)


def _fields(options: str) -> dict[str, str]:
    """The text of each field. Raises SyntaxError."""
    call = ast.parse(options, mode="eval").body
    if not isinstance(call, ast.Call):
        raise SyntaxError(options)
    given = {each.arg or "": ast.unparse(each.value) for each in call.keywords}
    return {**{field.name: repr(field.default) for field in fields(PlanOptions)}, **given}
