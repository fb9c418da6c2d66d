"""Engines of cuDNN that give wrong results, as data. They are never chosen; each rule says how it
was found."""

from __future__ import annotations

from convoy_runtime.manifest import Graph
from convoy_runtime.value_types import value_type

__all__ = ["ERRATA", "Erratum", "erratum_of"]


@value_type(frozen=True, slots=True)
class Erratum:
    """`engine` must not run a graph that has one of `ops` and a tensor of `dtype`, from version
    `first` to `last` (as 91900)."""

    ops: frozenset[str]
    dtype: str
    engine: int
    first: int
    last: int
    what: str


#: `last` is open (99999) until a later version has been seen to be right.
ERRATA = (
    Erratum(
        ops=frozenset({"maxpool", "avgpool_include_padding", "avgpool_exclude_padding"}),
        dtype="bfloat16",
        engine=3,
        first=90000,
        last=99999,
        what=(
            "reads beyond its input in bfloat16 (9.19.0 on an H200: compute-sanitizer "
            "reports invalid reads, results are NaN)"
        ),
    ),
)


def erratum_of(graph: Graph, engine: int, version: int) -> str | None:
    """What is wrong with `engine` on `graph` in this version of cuDNN; None when nothing is
    known."""
    dtypes = {tensor.dtype for tensor in graph.tensors}
    for rule in ERRATA:
        if (
            rule.engine == engine
            and rule.first <= version <= rule.last
            and rule.dtype in dtypes
            and rule.ops & set(graph.ops)
        ):
            return rule.what
    return None
