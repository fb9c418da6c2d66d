"""Plans that outlive the process, in a folder that can be copied, and merged with another by copying its files into it.

Finding a plan may take a second, because some engines compile a kernel; tuning takes longer; restoring one takes about 2 ms. A file holds
what is known of one graph: its name is a hash of the graph's exact content, the options and the GPU's name, never an index. In it is one
record for each cuDNN and driver that it was planned with. Of a record for another cuDNN, engine and knobs are still a hint.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["LEVELS", "PlanStore", "Record", "Scope"]

#: How a plan was found, from least to most work.
LEVELS: Final = ("off", "quick", "full")
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Scope:
    """What plans are made for: the GPU's name, cuDNN's version (91900) and the driver's CUDA version (13000)."""

    gpu: str
    cudnn: int
    driver: int


@dataclass(frozen=True, slots=True)
class Record:
    """A plan as it is kept: cuDNN's JSON of it, empty for an engine whose plans cannot be written, and what is known about it."""

    cudnn: int
    driver: int
    level: str
    plan: str
    report: Mapping[str, Any]


class PlanStore:
    """A folder of records for one scope."""

    def __init__(self, folder: Path, scope: Scope) -> None:
        self.folder, self.scope = folder, scope
        self._warned = False

    @staticmethod
    def default_folder() -> Path:
        """$CONVOY_CACHE, else convoy in $XDG_CACHE_HOME, else ~/.cache/convoy."""
        if chosen := os.environ.get("CONVOY_CACHE"):
            return Path(chosen)
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "convoy"

    def load(self, graph: str, options: str) -> list[Record]:
        """What is known of a graph of this fingerprint: a record for this cuDNN and driver first, then others, newest cuDNN first. A
        file that cannot be read counts as none."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            records = [_record(each) for each in json.loads(self._path(graph, options).read_text())["records"]]
            return sorted(records, key=lambda record: (self.fits(record), record.cudnn, record.driver), reverse=True)
        return []

    def fits(self, record: Record) -> bool:
        """Whether a record is of this cuDNN and this driver, so that its plan may be restored as it is."""
        return (record.cudnn, record.driver) == (self.scope.cudnn, self.scope.driver)

    def store(self, graph: str, options: str, level: str, plan: str, report: Mapping[str, Any]) -> None:
        """Keeps a plan beside those of other versions, whole or not at all. A folder that cannot be written is worth a warning, not an
        error."""
        path = self._path(graph, options)
        known = self.load(graph, options)
        records = [Record(self.scope.cudnn, self.scope.driver, level, plan, report), *(each for each in known if not self.fits(each))]
        content = {
            "format": _FORMAT,
            "gpu": self.scope.gpu,
            "graph": graph,
            "options": options,
            "records": [asdict(record) for record in records],
        }
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(descriptor, "w") as file:
                json.dump(content, file)
            Path(name).replace(path)
        except OSError as error:
            if not self._warned:
                warnings.warn(f"cuDNN plans are not kept: {self.folder}: {error.strerror}", RuntimeWarning, stacklevel=2)
            self._warned = True

    def _path(self, graph: str, options: str) -> Path:
        key = hashlib.sha256("\n".join((self.scope.gpu, options, graph)).encode()).hexdigest()
        return self.folder / "plans" / f"{key}.json"


def _record(value: Any) -> Record:
    record = Record(**value)
    texts = isinstance(record.level, str) and isinstance(record.plan, str)
    if not (texts and isinstance(record.report, dict) and isinstance(record.cudnn, int) and isinstance(record.driver, int)):
        message = "not a record"
        raise ValueError(message)
    return record
