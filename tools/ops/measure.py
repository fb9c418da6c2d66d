# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the samples of one op and compares the results."""

from __future__ import annotations

import logging
import math
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tools.ops.samples import Sample, Together, database, samples_of

__all__ = ["Outcome", "measure", "write_cases"]

#: Ops that return the positions of equal elements in any order.
_ANY_ORDER = ("argsort", "kthvalue", "median", "mode", "msort", "sort", "topk")
#: The most samples in one model.
_AT_ONCE = 24


@dataclass
class Outcome:
    """What became of the samples of an op in one dtype.

    Attributes:
        op: The name of the op.
        dtype: The dtype of the samples, e.g. "float32".
        target: "cpu" or "cuda".
        right: The number of samples with PyTorch's results; for "cuda" of those that compile.
        refused: Reason to number of samples that do not compile.
        wrong: A description of each sample with other results.
        failed: A description of each sample for which the compiler failed without saying what is
            not supported.
    """

    op: str
    dtype: str
    target: str = "cpu"
    right: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def samples(self) -> int:
        return self.right + sum(self.refused.values()) + len(self.wrong) + len(self.failed)


def measure(
    name: str, dtype: torch.dtype, target: str, *, limit: int, seconds: int, folder: Path | None
) -> Outcome:
    """Compiles and runs the samples of an op.

    Args:
        name: The name of the op, a key of `database()`.
        dtype: The dtype of the samples.
        target: "cpu", or "cuda": compiles without running.
        limit: The largest number of samples.
        seconds: The largest time for one model.
        folder: Where compiled models are stored with inputs and results; None stores nothing.

    Returns:
        The outcome.
    """
    # torch.export describes data-dependent values; so does its error.
    logging.getLogger("torch").setLevel(logging.ERROR)
    op = database()[name]
    outcome = Outcome(name, str(dtype).removeprefix("torch."), target)
    samples = list(samples_of(op, dtype, limit))
    stored = 0
    for start in range(0, len(samples), _AT_ONCE):
        for group, model in _compiled(samples[start : start + _AT_ONCE], target, seconds, outcome):
            if folder is not None and all(_is_in_numpy(sample) for sample in group):
                stem = f"{name}-{stored}.{outcome.dtype}-{target}".replace("/", "_")
                write_cases(group, model, folder / stem)
                stored += 1
            if target == "cpu":
                _compare(group, model, outcome)
            else:
                outcome.right += len(group)
    return outcome


def _compiled(
    samples: list[Sample], target: str, seconds: int, outcome: Outcome
) -> Iterator[tuple[list[Sample], Any]]:
    """Compiles samples together. If that fails, compiles each half; a sample that fails alone is
    refused."""
    from convoy import compile as compile_module
    from convoy.errors import ConvoyError, FrontendError, first_line

    inputs = [x for sample in samples for x in sample.inputs]
    module = Together(samples).eval()
    try:
        with _time_limit(seconds):
            model = compile_module(module, inputs, target=target, allow_tf32=False)
    except (ConvoyError, ValueError, TypeError, TimeoutError) as error:
        if len(samples) == 1:
            if isinstance(error, FrontendError):
                reason = _reason(error)
                outcome.refused[reason] = outcome.refused.get(reason, 0) + 1
            else:
                outcome.failed.append(f"{type(error).__name__}: {first_line(error)}")
            return
        half = len(samples) // 2
        yield from _compiled(samples[:half], target, seconds, outcome)
        yield from _compiled(samples[half:], target, seconds, outcome)
        return
    yield samples, model


def _compare(samples: list[Sample], model: Any, outcome: Outcome) -> None:
    """Runs a model of samples and counts those with the expected results."""
    results = model(*(x.clone() for sample in samples for x in sample.inputs))
    # Without inputs, results are of numpy.
    found = results if isinstance(results, (tuple, list)) else [results]
    results = [torch.as_tensor(x) for x in found]
    for number, sample in enumerate(samples):
        got, results = results[: len(sample.expected)], results[len(sample.expected) :]
        differences = [
            "" if _are_other_positions(sample, *pair[:2]) else _difference(*pair)
            for pair in zip(got, sample.expected, sample.limits, strict=True)
        ]
        found = [text for text in differences if text]
        if found:
            outcome.wrong.append(f"sample {number}: {found[0]}")
        else:
            outcome.right += 1


def _are_other_positions(sample: Sample, got: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether results are positions of equal elements: a sort that is not stable may return the
    positions of equal elements in any order."""
    if sample.name not in _ANY_ORDER or expected.dtype != torch.int64:
        return False
    x = sample.inputs[0]
    return any(_same_elements(x, dim, got, expected) for dim in range(x.ndim))


def _same_elements(x: torch.Tensor, dim: int, a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of positions in `dim` are of equal elements. Without keepdim, they do not
    have this dim."""
    try:
        a, b = (y.unsqueeze(dim) if y.ndim < x.ndim else y for y in (a, b))
        return torch.equal(x.gather(dim, a), x.gather(dim, b))
    except (RuntimeError, IndexError):  # They are no positions in this dim.
        return False


def _difference(got: torch.Tensor, expected: torch.Tensor, limit: float) -> str:
    """Describes how a result differs; empty if it is right."""
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"expected {expected.dtype}{[*expected.shape]}, got {got.dtype}{[*got.shape]}"
    if limit == math.inf:
        return ""
    if not got.is_floating_point():
        same = bool(torch.equal(got, expected))
        return "" if same else f"expected {expected.flatten()[:8]}, got {got.flatten()[:8]}"
    # NaN and infinities are where PyTorch has them.
    a, b = got.double(), expected.double()
    if not torch.equal(a.isnan(), b.isnan()) or not torch.equal(a.isinf(), b.isinf()):
        return f"NaN or infinities differ: expected {b.flatten()[:8]}, got {a.flatten()[:8]}"
    finite = torch.isfinite(b)
    if not torch.equal(a[~finite].nan_to_num(), b[~finite].nan_to_num()):
        return "infinities have another sign"
    error = float((a - b)[finite].abs().max()) if bool(finite.any()) else 0.0
    return "" if error <= limit else f"differs by {error:.3g}, allowed {limit:.3g}"


def write_cases(samples: list[Sample], model: Any, stem: Path) -> None:
    """Stores a compiled model as STEM.convoy and its inputs, results and limits as STEM.npz."""
    model.save(stem.with_name(f"{stem.name}.convoy"))
    inputs = [x for sample in samples for x in sample.inputs]
    arrays = {f"input{i}": x.numpy() for i, x in enumerate(inputs)}
    expected = [x for sample in samples for x in sample.expected]
    arrays |= {f"expected{i}": x.numpy() for i, x in enumerate(expected)}
    arrays["limits"] = np.array([x for sample in samples for x in _stored_limits(sample)])
    np.savez(stem.with_name(f"{stem.name}.npz"), **arrays)  # type: ignore[arg-type]


def _is_in_numpy(sample: Sample) -> bool:
    """Whether numpy has the dtypes of the inputs and results."""
    return all(x.dtype != torch.bfloat16 for x in (*sample.inputs, *sample.expected))


def _stored_limits(sample: Sample) -> list[float]:
    """The limits of a sample; infinity for positions of equal elements in any order."""
    limits = list(sample.limits)
    if sample.name in _ANY_ORDER and sample.expected[-1].dtype == torch.int64:
        limits[-1] = math.inf
    return limits


def _reason(error: Exception) -> str:
    """The reason for a refusal without the line of the model, which is one of `samples`."""
    from convoy.errors import UnsupportedOpsError, first_line

    if isinstance(error, UnsupportedOpsError):
        return "; ".join(sorted({f"{op.op}: {op.reason}" for op in error.ops}))
    return re.sub(r"(, at )?\S+\.py:\d+(: )?", "", first_line(error))


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Raises TimeoutError in the main thread after a time."""

    def stop(*_: object) -> None:
        msg = f"takes more than {seconds} s"
        raise TimeoutError(msg)

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
