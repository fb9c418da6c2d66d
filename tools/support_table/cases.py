# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""All graphs about which cuDNN is queried: groups, graphs that grouping does not form yet, and
operations."""

from __future__ import annotations

from .attention import attention_cases
from .attention_parts import attention_parts_cases
from .data import data_cases
from .gradients import gradient_cases
from .graphs import graph_cases
from .library import AnyCase
from .matrix import group_cases
from .norms import norm_cases
from .scales import scale_cases
from .single import single_cases
from .statistics import statistics_cases

__all__ = ["all_cases"]


_FAMILIES = (
    norm_cases,
    statistics_cases,
    attention_cases,
    attention_parts_cases,
    single_cases,
    data_cases,
    scale_cases,
)


def all_cases() -> list[AnyCase]:
    """Returns every graph of the matrix once."""
    return [
        *group_cases(),
        *gradient_cases(),
        *graph_cases(),
        *(case for family in _FAMILIES for case in family()),
    ]
