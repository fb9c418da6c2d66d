"""The check of one random model: reference and limits, compilation for both targets, a poisoned
run, and cuDNN's result for every graph."""

from __future__ import annotations

import contextlib
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from noise import Noise
from random_model import EPS, Leaf, Model, Track, build, leaf_data
from torch import Tensor
from torch.utils._pytree import tree_leaves

__all__ = ["Verdict", "check", "same_failure"]

#: Number of runs with amplified rounding errors.
_RUNS = 4

#: Correct refusals: a pattern of the message, and the reason.
_EXPECTED = {
    r"it has no conversion to tcp": "an op without a converter",
    r"expected a floating-point (tensor|result)[^\n]*, got (int|bool)": "integers where tcp has floating-point numbers",
    r"expected numbers, got bool": "arithmetic on bools",
}


@dataclass(frozen=True)
class Verdict:
    """`kind` is "ok", "refused" (as expected), "loose" (no output is precise enough to compare), or
    the kind of failure: "wrong", "error", "cudnn", and "invalid" if PyTorch itself cannot run the
    model; the worker pool adds "crash" and "hang". `detail` is the message, `limits` the limit of
    each output, `seconds` the CPU time of each part of the check."""

    kind: str
    detail: str = ""
    target: str = ""
    limits: tuple[float | None, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.kind not in ("ok", "refused", "loose")


def same_failure(first: Verdict, second: Verdict) -> bool:
    """Whether two verdicts are likely from the same defect: equal kind, target, and message except
    for numbers and names of values."""
    return (first.kind, first.target, _shape_of(first)) == (
        second.kind,
        second.target,
        _shape_of(second),
    )


def _shape_of(verdict: Verdict) -> str:
    if verdict.kind == "wrong":
        return verdict.detail.split(":")[0]
    text = re.sub(r"reproducer: \S+|/\S+|0x[0-9a-f]+", "", verdict.detail)
    return re.sub(r"\"[^\"]*\"|tensor<[^>]*>|%\w+|[\d., x<>()\[\]-]+", " ", text)[:160]


@dataclass(frozen=True)
class Expected:
    """An output: its value in float64, its dtype in the model, and the limit on the difference
    (None: it is not compared)."""

    exact: Tensor
    dtype: torch.dtype
    limit: float | None


def check(model: Model, targets: tuple[str, ...] = ("cpu", "cuda")) -> Verdict:
    """Compiles `model` for each target, and runs it on the CPU."""
    clock = _Clock()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return replace(_check(model, targets, clock), seconds=clock.seconds)
        except Exception as error:
            return Verdict(
                "error", f"{type(error).__name__}: {error}", clock.target, (), clock.seconds
            )


def _check(model: Model, targets: tuple[str, ...], clock: _Clock) -> Verdict:
    from convoy.compiler import compile_imported
    from convoy.errors import CompileError, UnsupportedOpsError
    from convoy.frontend import import_module
    from convoy.options import CompileOptions

    try:
        with clock("reference"), torch.no_grad():
            inputs = tuple(_data(model, leaf) for leaf in model.inputs)
            module = build(model, getattr(torch, model.dtype))
            module(*inputs)
            expected = reference(model, inputs)
    except Exception as error:
        return Verdict("invalid", f"{type(error).__name__}: {error}")
    limits = tuple(each.limit for each in expected)
    refused = ""
    try:
        with clock("export"):
            imported = import_module(module, inputs)
    except UnsupportedOpsError as error:
        return _refusal(error, "")
    for target in targets:
        clock.target = target
        option = model.cpu_dtype if target == "cpu" else model.cuda_dtype
        try:
            with clock(f"compile for {target}"):
                compiled = compile_imported(
                    imported, CompileOptions.of(target=target, dtype=option)
                )
        except CompileError as error:
            verdict = _refusal(error, target)
            if verdict.failed:
                return verdict
            refused = verdict.detail
            continue
        if target == "cuda":
            with clock("cuDNN"):
                problem = _finalize(compiled)
            if problem:
                return Verdict("cudnn", problem, target)
            continue
        with clock("run"), compiled.load(poison=True) as program:
            got = program(*inputs)
        got = [torch.from_dlpack(each) for each in tree_leaves(got)]
        problem = compare(got, expected)
        if problem:
            return Verdict("wrong", problem, target, limits)
    if refused:
        return Verdict("refused", refused)
    loose = all(limit is None for limit in limits)
    return Verdict("loose" if loose else "ok", "", "", limits)


def _data(model: Model, leaf: Leaf) -> Tensor:
    return leaf_data(model.seed, leaf.name, leaf.shape, getattr(torch, leaf.dtype), leaf.positive)


def _refusal(error: Exception, target: str) -> Verdict:
    text = str(error)
    for pattern, why in _EXPECTED.items():
        if found := re.search(pattern, text):
            line = next(line for line in text.splitlines() if found[0] in line)
            return Verdict("refused", f"{why}: {line.strip()}", target)
    return Verdict("error", f"{type(error).__name__}: {text}", target)


def reference(model: Model, inputs: tuple[Tensor, ...]) -> list[Expected]:
    """The outputs. A limit is several times the effect of amplified rounding errors on the output
    plus PyTorch's own error. There is none if errors dominate the output."""
    narrow = Track(build(model, getattr(torch, model.dtype)))
    wide_module = build(model, torch.float64)
    wide = Track(wide_module)
    noise = [Noise(run, model.cpu_dtype) for run in range(_RUNS)]
    noisy = [Track(wide_module) for _ in noise]

    def put(name: str, small: Tensor, large: Tensor, moved: list[Tensor]) -> None:
        narrow.values[name], wide.values[name] = small, large
        for track, move, value in zip(noisy, noise, moved, strict=True):
            track.values[name] = move(value, small, large)

    data = dict(zip([leaf.name for leaf in model.inputs], inputs, strict=True))
    data |= {leaf.name: getattr(narrow.module, leaf.name).detach() for leaf in model.weights}
    for name, value in data.items():
        large = value.double() if value.is_floating_point() else value
        put(name, value, large, [large] * _RUNS)
    for step in model.steps:
        put(step.name, narrow.run(step), wide.run(step), [track.run(step) for track in noisy])

    expected = []
    for name in model.outputs:
        exact, small = wide.values[name], narrow.values[name]
        limit = _limit(exact, small, [track.values[name] for track in noisy], model)
        expected.append(Expected(exact, small.dtype, limit))
    return expected


def _limit(exact: Tensor, small: Tensor, noisy: list[Tensor], model: Model) -> float | None:
    if not exact.is_floating_point():
        return 0.0 if all(torch.equal(exact, other) for other in noisy) else None
    if not exact.isfinite().all() or any(not other.isfinite().all() for other in noisy):
        return None
    dtypes = [small.dtype, *([getattr(torch, model.cpu_dtype)] if model.cpu_dtype else [])]
    scale = float(exact.abs().max())
    floor = 4 * scale * max(EPS[dtype] for dtype in dtypes)
    moved = max(float((other - exact).abs().max()) for other in noisy)
    own = float((small.double() - exact).abs().max())
    limit = max(floor, 3 * moved, 4 * own)
    return limit if limit <= 0.5 * scale or limit < 1e-6 else None


def compare(got: list[Tensor], expected: list[Expected]) -> str:
    """The difference that exceeds the limits, or nothing."""
    if len(got) != len(expected):
        return f"number of outputs: expected {len(expected)}, got {len(got)}"
    for index, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
        if mine.shape != theirs.exact.shape:
            return (
                f"shape: output {index}: expected {tuple(theirs.exact.shape)}, got "
                f"{tuple(mine.shape)}"
            )
        if mine.dtype != theirs.dtype:
            return f"dtype: output {index}: expected {theirs.dtype}, got {mine.dtype}"
        if theirs.limit is None:
            continue
        error = float((mine.double() - theirs.exact.double()).abs().max())
        if not error <= theirs.limit:
            what = "not a number" if error != error else "numbers"
            scale = float(theirs.exact.double().abs().max())
            return (
                f"{what}: output {index} differs by {error:.3g}, limit {theirs.limit:.3g}, "
                f"scale {scale:.3g}"
            )
    return ""


def _finalize(compiled: Any) -> str:
    """Finalizes the graphs with the real cuDNN, including steps of alternatives; returns cuDNN's
    error, or nothing."""
    from cudnn_library import finalize_graph

    from convoy_runtime.cuda.cudnn.loading import open_cudnn
    from convoy_runtime.manifest import ALTERNATIVES
    from convoy_runtime.manifest_alternatives import read_alternatives

    graphs = list(compiled.manifest.graphs)
    if ALTERNATIVES in compiled.members:
        graphs += read_alternatives(
            compiled.members[ALTERNATIVES], compiled.manifest, path="model"
        ).graphs
    cudnn = open_cudnn()
    for graph in graphs:
        try:
            finalize_graph(cudnn, compiled.members["native.so"], graph)
        except AssertionError as error:
            return f"{'+'.join(graph.ops)}: {error}"
    return ""


class _Clock:
    """CPU seconds of each step, and the current target."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.target = ""

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] = time.process_time() - start
