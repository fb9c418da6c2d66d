"""Plans that outlive the process: in a folder, and in artifacts.

Finding a plan may take a second, because some engines compile a kernel; tuning takes longer;
restoring one takes about 2 ms. A file holds what is known of one graph: its name is a hash of the
graph's exact content, the options and the GPU's name, never an index. In it is one record for each
cuDNN and driver that it was planned with. Of a record for another cuDNN, engine and knobs are still
a hint. So a store is moved by copying its files, stores are merged file by file (`merge`), and a
file of a store is, as it is, a member of an artifact.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from convoy_runtime._files import open_regular, write_whole
from convoy_runtime.errors import ConvoyRuntimeWarning
from convoy_runtime.value_types import value_type

from .options import restrictions

__all__ = [
    "LEVELS",
    "OFFLINE",
    "PlanFile",
    "PlanStore",
    "Record",
    "Scope",
    "file_name",
    "read_file",
    "write_file",
    "write_plan",
]

#: The level of plans that were made where the GPU was not.
OFFLINE: Final = "offline"
#: How a plan was found, from least to most work: offline or on the GPU by the heuristics, or by
#: measuring.
LEVELS: Final = (OFFLINE, "off", "quick", "full", "exhaustive")
_FORMAT = 1


@value_type(frozen=True, slots=True)
class Scope:
    """What plans are made for: the GPU's name, cuDNN's version (91900) and the driver's CUDA
    version (13000)."""

    gpu: str
    cudnn: int
    driver: int


@value_type(frozen=True, slots=True)
class Record:
    """A plan as it is kept: cuDNN's JSON of it, empty for an engine whose plans cannot be written,
    and what is known about it. `shipped` ones came with the artifact."""

    cudnn: int
    driver: int
    level: str
    plan: str
    report: Mapping[str, Any]
    shipped: bool = False


@value_type(frozen=True, slots=True)
class PlanFile:
    """A file of a store: the records of one graph (its fingerprint) on one GPU (its name) under one
    set of options (their text)."""

    gpu: str
    graph: str
    options: str
    records: tuple[Record, ...]


class PlanStore:
    """Records for one scope: those in `folder`, where new ones go, and the `members` of an
    artifact. Without a folder nothing is kept. A `fresh` store gives none but new ones, and loses
    none."""

    def __init__(
        self,
        folder: Path | None,
        scope: Scope,
        members: Mapping[str, bytes | memoryview] | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.folder, self.scope, self._members, self._fresh = folder, scope, members or {}, fresh
        #: The new records by the name of their file.
        self._new: dict[str, Record] = {}
        self._warned = self._distrusted = False
        self._shipped: dict[str, PlanFile | None] = {}

    @staticmethod
    def default_folder() -> Path:
        """$CONVOY_CACHE, else convoy in $XDG_CACHE_HOME, else ~/.cache/convoy."""
        if chosen := os.environ.get("CONVOY_CACHE"):
            return Path(chosen)
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "convoy"

    def load(self, graph: str, options: str) -> list[Record]:
        """What is known of a graph of this fingerprint, the best first: what was measured, then
        what was not; of these a record for this cuDNN and driver, then one that more work went
        into, then one of a newer cuDNN. A file that cannot be read counts as none."""
        new = self.new(graph, options)
        records = (
            self._known(graph, options) if not self._fresh else [new] if new is not None else []
        )

        def rank(record: Record) -> tuple[bool, bool, int, int, bool]:
            level = LEVELS.index(record.level)
            return (
                level > LEVELS.index("off"),
                self.fits(record),
                level,
                record.cudnn,
                not record.shipped,
            )

        return sorted(records, key=rank, reverse=True)

    def new(self, graph: str, options: str) -> Record | None:
        """What this object was given to store for a graph of this fingerprint, also where it was
        not kept."""
        return self._new.get(self.name(graph, options))

    def _known(self, graph: str, options: str) -> list[Record]:
        """What artifact and folder hold. A file's name is not believed: what is in it says what it
        is of."""
        name = self.name(graph, options)
        kept = None
        if self.folder is not None:
            with suppress(OSError):
                kept = self._read(self.folder / name)

        def records(file: PlanFile | None) -> tuple[Record, ...]:
            return (
                file.records
                if file is not None
                and (file.gpu, file.graph, file.options) == (self.scope.gpu, graph, options)
                else ()
            )

        return [
            *(replace(record, shipped=True) for record in records(self._member(name))),
            *records(kept),
        ]

    def _read(self, path: Path) -> PlanFile | None:
        """A file of the folder. A plan may hold machine code, so what any user of the machine could
        have written is left alone, with a warning. Raises OSError."""
        with os.fdopen(open_regular(path), "rb") as file:
            about, folder = os.fstat(file.fileno()), path.parent.stat()
            ours = about.st_uid in (0, os.geteuid()) or not folder.st_mode & stat.S_IWOTH
            if ours and not about.st_mode & stat.S_IWOTH:
                return read_file(file.read())
        if not self._distrusted:
            problem = f"{path} is not used: any user of this machine may have written it"
            warnings.warn(
                f"{problem}; keep plans in a folder of your own", ConvoyRuntimeWarning, stacklevel=2
            )
        self._distrusted = True
        return None

    def _member(self, name: str) -> PlanFile | None:
        """A file of the artifact, which several ask for and does not change."""
        if name not in self._shipped:
            content = self._members.get(name)
            self._shipped[name] = None if content is None else read_file(content)
        return self._shipped[name]

    def others(self, graph: str, options: str) -> list[str]:
        """Why `load` does not give plans that the artifact has for a graph of this fingerprint:
        another GPU, other options."""
        found = []
        files = (self._member(name) for name in self._members if name.startswith("plans/"))
        for file in (file for file in files if file is not None):
            if file.graph == graph and file.gpu != self.scope.gpu:
                found.append(
                    f"plan in the artifact: expected one for {self.scope.gpu}, got one "
                    f"for {file.gpu}"
                )
            elif file.graph == graph and file.options != options:
                ours, theirs = (
                    restrictions(options, file.options),
                    restrictions(file.options, options),
                )
                # Of another version's text that means the same there is nothing else to say.
                found.append(
                    f"plan in the artifact: expected one made with {ours or options}, got "
                    f"one made with {theirs or file.options}"
                )
        return found

    def fits(self, record: Record) -> bool:
        """Whether a record is of this cuDNN and this driver, so that its plan may be restored as it
        is."""
        return (record.cudnn, record.driver) == (self.scope.cudnn, self.scope.driver)

    def store(
        self, graph: str, options: str, level: str, plan: str, report: Mapping[str, Any]
    ) -> None:
        """Keeps a plan beside those of other versions, whole or not at all. A folder that cannot be
        written is worth a warning, not an error."""
        self._new[self.name(graph, options)] = Record(
            self.scope.cudnn, self.scope.driver, level, plan, report
        )
        if self.folder is None:
            return
        path = self.folder / self.name(graph, options)
        others = [
            record
            for record in self._known(graph, options)
            if not self.fits(record) and not record.shipped
        ]
        try:
            write_plan(path, self.content(graph, options, level, plan, report, others))
        except OSError as error:
            if not self._warned:
                warnings.warn(
                    f"cuDNN plans are not kept: {self.folder}: {error.strerror}",
                    ConvoyRuntimeWarning,
                    stacklevel=2,
                )
            self._warned = True

    def member(
        self, graph: str, options: str, level: str, plan: str, report: Mapping[str, Any]
    ) -> tuple[str, bytes]:
        """A plan as a member of the artifact, name and content, beside those that it has of other
        versions."""
        others = [
            record
            for record in self._known(graph, options)
            if record.shipped and not self.fits(record)
        ]
        return self.name(graph, options), self.content(graph, options, level, plan, report, others)

    def name(self, graph: str, options: str) -> str:
        """The file of a graph, below the folder or in an artifact."""
        return file_name(self.scope.gpu, options, graph)

    def content(
        self,
        graph: str,
        options: str,
        level: str,
        plan: str,
        report: Mapping[str, Any],
        others: Sequence[Record] = (),
    ) -> bytes:
        """What is in the file of a graph when this plan is its record for the scope."""
        record = Record(self.scope.cudnn, self.scope.driver, level, plan, report)
        return write_file(PlanFile(self.scope.gpu, graph, options, (record, *others)))


def file_name(gpu: str, options: str, graph: str) -> str:
    """The file for these, below a store's folder or in an artifact."""
    return f"plans/{hashlib.sha256(chr(10).join((gpu, options, graph)).encode()).hexdigest()}.json"


def write_plan(path: Path, content: bytes) -> None:
    """Writes a file of a store, in a folder that is made where it is not there, whole or not at
    all, and for this user alone. Raises OSError."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, [content], mode=0o600)


def read_file(content: bytes | memoryview) -> PlanFile | None:
    """What is in a file of a store; None when it cannot be read."""
    with suppress(ValueError, KeyError, TypeError):
        value = json.loads(bytes(content))
        return PlanFile(
            value["gpu"],
            value["graph"],
            value["options"],
            tuple(_record(each) for each in value["records"]),
        )
    return None


def write_file(file: PlanFile) -> bytes:
    """What `read_file` reads."""
    records = [asdict(record) for record in file.records]
    for record in records:
        del record["shipped"]
    return json.dumps(
        {
            "format": _FORMAT,
            "gpu": file.gpu,
            "graph": file.graph,
            "options": file.options,
            "records": records,
        }
    ).encode()


def _record(value: Any) -> Record:
    record = Record(**value)
    texts = record.level in LEVELS and isinstance(record.plan, str)
    if not (
        texts
        and isinstance(record.report, dict)
        and isinstance(record.cudnn, int)
        and isinstance(record.driver, int)
    ):
        message = "not a record"
        raise ValueError(message)
    return record
