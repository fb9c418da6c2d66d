# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The data of a report that the scripts of its page draw."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from convoy.report.model import Report, Step

__all__ = ["KINDS", "op_kind", "page_data"]

#: Kind of op to the names of ops that decide it, most expensive first.
_OPS: Final = {
    "attention": r"sdpa|attention",
    "convolution": r"conv",
    "product": r"matmul|mm|linear|gemm",
    "norm": r"norm|softmax",
    "reduction": r"reduc|pool|resample|sum|mean|amax|argmax",
    "copy": r"copy|transpose|reshape|concat|slice|gather|pad|cast",
}
#: The kinds of op in the order of the legend.
KINDS: Final = (*_OPS, "elementwise")


def op_kind(step: Step) -> str:
    """The kind of the most expensive op of a call, one of `KINDS`."""
    text = step.name if step.kind == "kernel" else step.form
    found = (kind for kind, pattern in _OPS.items() if re.search(pattern, text))
    return next(found, "elementwise")


def page_data(report: Report, places: Mapping[str, str]) -> str:
    """The data as JSON that is safe inside a script element.

    Args:
        report: The report.
        places: Location to the anchor of its source line.

    Returns:
        The JSON, without `<`.
    """
    steps = []
    for number, step in enumerate(report.steps):
        choice = report.choice_of(step)
        steps.append(
            {
                "number": number,
                "name": step.name,
                "op": op_kind(step),
                "rows": step.form.split(" + "),
                "location": step.location,
                "place": places.get(step.location),
                "bytes": step.bytes,
                "flops": step.flops,
                "rate": step.rate,
                "alone": step.microseconds,
                "inPlace": step.in_place_microseconds,
                "limit": step.limit_microseconds,
                "share": step.share,
                "bound": step.bound,
                "live": step.live_bytes,
                "after": step.after,
                "runner": choice.name if choice is not None else step.untuned,
            }
        )
    gpu = report.gpu
    speeds = None if gpu is None else {"copy": gpu.copy_bytes, "flops": dict(gpu.flops)}
    page = {"steps": steps, "gpu": speeds, "arena": report.arena_bytes}
    text = json.dumps(page, separators=(",", ":"))
    # `</script>` and `<!--` would end or change the script element.
    return text.replace("<", "\\u003c")
