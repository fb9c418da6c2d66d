# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Merges plan stores. Of several records for one cuDNN and driver version, the one with the highest
tuning level is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from convoy_runtime.errors import ArgumentError
from convoy_runtime.opening import open_artifact
from convoy_runtime.value_types import value_type

from .plan_file import LEVELS, PlanFile, Record, file_name, read_file, write_file, write_plan

__all__ = ["Merged", "merge"]


@value_type(frozen=True, slots=True)
class Merged:
    """The outcome of a merge.

    Attributes:
        new: The number of added files.
        better: The number of files with more records, or records of a higher level, than in the
            store.
        known: The number of files that add nothing.
        unreadable: The files that cannot be read.
    """

    new: int
    better: int
    known: int
    unreadable: tuple[str, ...]


def merge(folder: Path, sources: Sequence[Path]) -> Merged:
    """Adds plans to a store. Each file is replaced atomically, so that a merge may be interrupted
    and repeated.

    Args:
        folder: The folder of the store.
        sources: Folders of stores, and artifacts.

    Returns:
        The outcome.

    Raises:
        ArgumentError: A source is neither a store nor an artifact.
        ArtifactError: An artifact is damaged.
        OSError: A file cannot be read or written.
    """
    # All sources are read before the first write.
    files = [each for source in sources for each in _files(source)]
    counts, unreadable = {"new": 0, "better": 0, "known": 0}, []
    for place, content in files:
        file = read_file(content)
        if file is None:
            unreadable.append(place)
            continue
        path = folder / file_name(file.gpu, file.options, file.graph)
        kept: PlanFile | None = None
        with suppress(FileNotFoundError):
            kept = read_file(path.read_bytes())
        # The file of the store may belong to another graph, or be unreadable.
        same = kept is not None and (kept.gpu, kept.options, kept.graph) == (
            file.gpu,
            file.options,
            file.graph,
        )
        before = kept.records if kept is not None and same else ()
        records = _best((*before, *file.records))
        if records == before:
            counts["known"] += 1
            continue
        write_plan(path, write_file(replace(file, records=records)))
        counts["better" if before else "new"] += 1
    return Merged(**counts, unreadable=tuple(unreadable))


def _best(records: Iterable[Record]) -> tuple[Record, ...]:
    """Returns one record for each cuDNN and driver: the first one of the highest level."""
    best: dict[tuple[int, int], Record] = {}
    for record in records:
        scope = record.cudnn, record.driver
        if scope not in best or LEVELS.index(record.level) > LEVELS.index(best[scope].level):
            best[scope] = record
    return tuple(best.values())


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of each file of a store or an artifact. Raises ArgumentError,
    ArtifactError."""
    if (source / "plans").is_dir():
        yield from (
            (str(path), path.read_bytes()) for path in sorted((source / "plans").glob("*.json"))
        )
    elif source.is_file():
        members = open_artifact(source, any_host=True).members
        yield from (
            (f"{source}: {name}", bytes(content))
            for name, content in members.items()
            if name.startswith("plans/")
        )
    else:
        expected = "an artifact, or a folder that contains plans/, e.g. ~/.cache/convoy"
        raise ArgumentError(argument=str(source), problem="is not a plan store", expected=expected)
