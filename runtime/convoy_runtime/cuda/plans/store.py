# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Stores plans in a folder and in artifacts.

Planning may take a second, because some engines compile a kernel, and tuning takes longer.
Restoring a plan takes about 2 ms.

A file (`plan_file`) has the plans of one graph. The engine and knobs of a record are also used with
other versions of cuDNN and the driver. Stores can be copied, merged file by file (`merge`), and
each file is a valid member of an artifact.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from convoy_runtime._files import open_regular
from convoy_runtime.errors import ConvoyRuntimeWarning
from convoy_runtime.value_types import value_type

from .options import restrictions
from .plan_file import LEVELS, PlanFile, Record, file_name, read_file, write_file, write_plan

__all__ = ["PlanStore", "Scope"]


@value_type(frozen=True, slots=True)
class Scope:
    """The GPU and the versions that plans are valid for.

    Attributes:
        gpu: CUDA's name of the GPU.
        cudnn: The cuDNN version, e.g. 91900.
        driver: The CUDA version of the driver, e.g. 13000.
    """

    gpu: str
    cudnn: int
    driver: int


class PlanStore:
    """The plans for one scope.

    Args:
        folder: The folder of the store; None for no folder.
        scope: The GPU, cuDNN and driver.
        members: The members of an artifact, which may contain plan files.
        fresh: Whether `load` returns only records stored by this object.
    """

    def __init__(
        self,
        folder: Path | None,
        scope: Scope,
        members: Mapping[str, bytes | memoryview] | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.folder, self.scope, self._members, self._fresh = folder, scope, members or {}, fresh
        #: File name to new record.
        self._new: dict[str, Record] = {}
        self._warned = self._distrusted = False
        self._shipped: dict[str, PlanFile | None] = {}

    @staticmethod
    def default_folder() -> Path:
        """Returns $CONVOY_CACHE, else convoy in $XDG_CACHE_HOME, else ~/.cache/convoy."""
        if chosen := os.environ.get("CONVOY_CACHE"):
            return Path(chosen)
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "convoy"

    def load(self, graph: str, options: str) -> list[Record]:
        """Returns the records of a graph, ordered by: measured, of this cuDNN and driver, higher
        level, newer cuDNN. Unreadable files are ignored."""
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
        """Returns the record that this object stored for a graph, even if it could not be written
        to the folder."""
        return self._new.get(self.name(graph, options))

    def _known(self, graph: str, options: str) -> list[Record]:
        """Returns the records in the artifact and the folder. A file is used only if both its name
        and its content are of this graph."""
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
        """Reads a file of the folder. A plan may contain machine code, so files that any user of
        the machine can write are ignored with a warning. Raises OSError."""
        with os.fdopen(open_regular(path), "rb") as file:
            about, folder = os.fstat(file.fileno()), path.parent.stat()
            ours = about.st_uid in (0, os.geteuid()) or not folder.st_mode & stat.S_IWOTH
            if ours and not about.st_mode & stat.S_IWOTH:
                return read_file(file.read())
        if not self._distrusted:
            problem = f"{path} is not used: any user of this machine can write it"
            warnings.warn(
                f"{problem}; use a folder that only you can write",
                ConvoyRuntimeWarning,
                stacklevel=2,
            )
        self._distrusted = True
        return None

    def _member(self, name: str) -> PlanFile | None:
        """Reads a file of the artifact, once."""
        if name not in self._shipped:
            content = self._members.get(name)
            self._shipped[name] = None if content is None else read_file(content)
        return self._shipped[name]

    def others(self, graph: str, options: str) -> list[str]:
        """Returns why `load` ignores plans in the artifact for this graph: another GPU, or other
        options."""
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
                # Texts of different versions may differ without a difference in meaning.
                found.append(
                    f"plan in the artifact: expected one made with {ours or options}, got "
                    f"one made with {theirs or file.options}"
                )
        return found

    def fits(self, record: Record) -> bool:
        """Returns whether a record is of this cuDNN and driver, so that its plan can be
        restored without rebuilding."""
        return (record.cudnn, record.driver) == (self.scope.cudnn, self.scope.driver)

    def store(
        self, graph: str, options: str, level: str, plan: str, report: Mapping[str, Any]
    ) -> None:
        """Stores a plan, in addition to those of other versions. Warns if the folder cannot be
        written.

        Args:
            graph: The key of the graph.
            options: The text of the options.
            level: The level that found the plan.
            plan: Its text.
            report: Its report.
        """
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
                    f"cuDNN plans are not stored: {self.folder}: {error.strerror}",
                    ConvoyRuntimeWarning,
                    stacklevel=2,
                )
            self._warned = True

    def member(
        self, graph: str, options: str, level: str, plan: str, report: Mapping[str, Any]
    ) -> tuple[str, bytes]:
        """Returns the name and the content of a member with this plan and those that the artifact
        has for other versions. Arguments as for `store`."""
        others = [
            record
            for record in self._known(graph, options)
            if record.shipped and not self.fits(record)
        ]
        return self.name(graph, options), self.content(graph, options, level, plan, report, others)

    def name(self, graph: str, options: str) -> str:
        """Returns the file name of a graph, below the folder or in an artifact."""
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
        """Returns the content of the file of a graph with this plan and `others`."""
        record = Record(self.scope.cudnn, self.scope.driver, level, plan, report)
        return write_file(PlanFile(self.scope.gpu, graph, options, (record, *others)))
