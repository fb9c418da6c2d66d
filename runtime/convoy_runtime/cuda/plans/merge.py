"""Stores of plans as one: a record of each file, cuDNN and driver, the one that most work went
into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from convoy_runtime.artifact import open_artifact
from convoy_runtime.errors import ArgumentError
from convoy_runtime.value_types import value_type

from .store import LEVELS, PlanFile, Record, file_name, read_file, write_file, write_plan

__all__ = ["Merged", "merge"]


@value_type(frozen=True, slots=True)
class Merged:
    """What became of the files of the sources, in a count for each: `new` ones, `better` ones,
    whose records were more or found with more work than those that were there, and those that are
    `known`; `unreadable` are the places of what is no file of a store."""

    new: int
    better: int
    known: int
    unreadable: tuple[str, ...]


def merge(folder: Path, sources: Sequence[Path]) -> Merged:
    """Puts the plans of `sources`, folders of stores or artifacts, into the store in `folder`. Each
    file is written whole or not at all, so that this may end at any moment, and be done again.
    Raises ArgumentError for a source that is neither, ArtifactError, OSError."""
    # Looked at before anything is written.
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
        # What lies there may be of another graph, or none at all.
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
    """A record for each cuDNN and driver: of several the one that most work went into, the first of
    those."""
    best: dict[tuple[int, int], Record] = {}
    for record in records:
        scope = record.cudnn, record.driver
        if scope not in best or LEVELS.index(record.level) > LEVELS.index(best[scope].level):
            best[scope] = record
    return tuple(best.values())


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a store, or of an artifact, each with its place. Raises ArgumentError,
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
        expected = "an artifact, or a folder with plans/ in it, as ~/.cache/convoy"
        raise ArgumentError(argument=str(source), problem="is no store of plans", expected=expected)
