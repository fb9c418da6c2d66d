# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes docs/ops.md."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tools.ops.measure import Outcome
from tools.ops.samples import DTYPES

__all__ = ["summary", "write_page"]

_DTYPES = [str(dtype).removeprefix("torch.") for dtype in DTYPES]


def summary(outcomes: list[Outcome]) -> str:
    """A line for each target: an op counts if all of its samples of its first dtype are right."""
    targets = sorted({outcome.target for outcome in outcomes})
    return "\n".join(_summary(target, outcomes) for target in targets)


def _summary(target: str, outcomes: list[Outcome]) -> str:
    outcomes = [outcome for outcome in outcomes if outcome.target == target]
    ops = _by_op(outcomes)
    whole = sum(_state(rows) == "all" for rows in ops.values())
    part = sum(_state(rows) == "some" for rows in ops.values())
    samples = sum(outcome.right for outcome in outcomes)
    wrong = sum(len(outcome.wrong) for outcome in outcomes)
    failed = sum(len(outcome.failed) for outcome in outcomes)
    text = f"{target}: {whole} of {len(ops)} OpInfo ops, {part} more in part, {samples} samples"
    text += f", {wrong} wrong" if target == "cpu" else " compile"
    return text + (f", {failed} failures of the compiler" if failed else "")


def write_page(path: Path, outcomes: list[Outcome]) -> None:
    """Writes the table of all ops."""
    lines = [
        "# Supported PyTorch ops",
        "",
        "The ops of PyTorch's OpInfo database",
        "(`torch.testing._internal.common_methods_invocations.op_db`) with their first samples of",
        "dense tensors. `make ops` compiles these, compares the results with PyTorch on the CPU,",
        "and writes this page. The columns of dtypes are about target cpu. `all`: every sample",
        "compiles and is right. `N of M`: the others are refused, for the reason in the last",
        "column. An empty cell: PyTorch has no samples of the dtype. The column cuda counts the",
        "samples of all dtypes that compile for target cuda; `test/gpu/test_ops.py` compares their",
        "results on a GPU.",
        "",
        *(f"    {line}" for line in summary(outcomes).splitlines()),
        "",
        f"| op | {' | '.join(_DTYPES)} | cuda | refused |",
        f"|---|{'---|' * (len(_DTYPES) + 2)}",
    ]
    on_cuda = _by_op([outcome for outcome in outcomes if outcome.target == "cuda"])
    for name, rows in _by_op([outcome for outcome in outcomes if outcome.target == "cpu"]).items():
        cells = [_cell([rows[dtype]] if dtype in rows else []) for dtype in _DTYPES]
        compiled = on_cuda.get(name, {})
        cells.append(_cell(list(compiled.values())))
        lines.append(f"| `{name}` | {' | '.join(cells)} | {_reasons(rows, compiled)} |")
    path.write_text("\n".join(lines) + "\n")


def _by_op(outcomes: list[Outcome]) -> dict[str, dict[str, Outcome]]:
    """Ops with samples that run, and their outcomes by dtype."""
    ops: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for outcome in outcomes:
        if outcome.samples:
            ops[outcome.op][outcome.dtype] = outcome
    return dict(ops)


def _state(rows: dict[str, Outcome]) -> str:
    """Whether all, some or none of the samples of the first dtype are right."""
    outcome = next(rows[dtype] for dtype in (*_DTYPES, *rows) if dtype in rows)
    if outcome.right == outcome.samples:
        return "all"
    return "some" if outcome.right else "none"


def _cell(outcomes: list[Outcome]) -> str:
    """How many of the samples of some outcomes are right."""
    samples = sum(outcome.samples for outcome in outcomes)
    right = sum(outcome.right for outcome in outcomes)
    if right == samples:
        return "all" if samples else ""
    return f"{right} of {samples}" if right else "-"


def _reasons(*targets: dict[str, Outcome]) -> str:
    """The most frequent reasons for refusals."""
    counts: dict[str, int] = defaultdict(int)
    for outcome in (outcome for rows in targets for outcome in rows.values()):
        for reason, count in outcome.refused.items():
            counts[reason] += count
        for text in outcome.wrong:
            counts[f"**wrong**: {text}"] += 1
        for text in outcome.failed:
            counts[f"**failed**: {text}"] += 1
    most = sorted(counts, key=lambda reason: -counts[reason])[:2]
    return "; ".join(most).replace("|", "\\|").replace("\n", " ")
