# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The files of stored plans: one for each graph, set of options and GPU.

The name of a file is a hash of the graph's content, the options and the GPU's name. A file has one
record for each cuDNN and driver version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from convoy_runtime._files import write_whole
from convoy_runtime.value_types import value_type

__all__ = [
    "LEVELS",
    "OFFLINE",
    "PlanFile",
    "Record",
    "file_name",
    "read_file",
    "write_file",
    "write_plan",
]

#: The level of plans made without the GPU.
OFFLINE: Final = "offline"
#: The levels of plans, ascending: by the heuristics without and with the GPU, and by tuning.
LEVELS: Final = (OFFLINE, "off", "limited", "quick", "full", "exhaustive")
_FORMAT = 1


@value_type(frozen=True, slots=True)
class Record:
    """A stored plan.

    Attributes:
        cudnn: The cuDNN version that made it.
        driver: The CUDA version of the driver.
        level: The level that found it.
        plan: The text of the plan; empty if it cannot be written.
        report: Its report.
        shipped: Whether it is in the artifact.
    """

    cudnn: int
    driver: int
    level: str
    plan: str
    report: Mapping[str, Any]
    shipped: bool = False


@value_type(frozen=True, slots=True)
class PlanFile:
    """A file of a store.

    Attributes:
        gpu: CUDA's name of the GPU.
        graph: The key of the graph (`fingerprint`).
        options: The text of the options.
        records: The plans.
    """

    gpu: str
    graph: str
    options: str
    records: tuple[Record, ...]


def file_name(gpu: str, options: str, graph: str) -> str:
    """Returns the file of a graph, below a store's folder or in an artifact."""
    return f"plans/{hashlib.sha256(chr(10).join((gpu, options, graph)).encode()).hexdigest()}.json"


def write_plan(path: Path, content: bytes) -> None:
    """Replaces a file of a store atomically, readable for this user only. Creates its folder.
    Raises OSError."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, [content], mode=0o600)


def read_file(content: bytes | memoryview) -> PlanFile | None:
    """Returns the content of a file of a store; None if it is malformed."""
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
    """Returns the text of a file for `read_file`."""
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
