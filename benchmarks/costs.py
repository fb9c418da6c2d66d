# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Stores the time of the first compilation or tuning of a runner in the cache folder, since later
runs start from the cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Cost", "Costs", "identity"]

_PACKAGES = {"torch": ("torch", "triton"), "jax": ("jax", "jaxlib")}


@dataclass(frozen=True, slots=True)
class Cost:
    """The time of a first compilation or tuning.

    Attributes:
        of: What was compiled, as `identity` returns it.
        seconds: The sum over all attempts until the first complete one.
        complete: Whether an attempt completed.
        at_once: The largest number of processes that compiled at the same time.
    """

    of: str
    seconds: float
    complete: bool
    at_once: int = 1


class Costs:
    """Costs by case and runner, stored in a folder of the cache."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(
        self, key: str, name: str, seconds: float, *, complete: bool, of: str, at_once: int = 1
    ) -> Cost:
        """Adds an attempt, unless an earlier one was complete.

        Args:
            key: `Case.key`.
            name: The runner, for Convoy with its tuning level.
            seconds: The time of this attempt.
            complete: Whether it completed.
            of: What was compiled. A stored cost with another `of` is discarded.
            at_once: The number of processes that compiled at the same time.

        Returns:
            The stored cost.
        """
        path = self._folder / f"{key}.{name}.json"
        known = Cost(of, 0.0, False)
        with suppress(OSError, ValueError, TypeError):
            found = Cost(**json.loads(path.read_text()))
            known = found if found.of == of else known
        if not known.complete:
            known = Cost(of, known.seconds + seconds, complete, max(known.at_once, at_once))
            path.write_text(json.dumps(asdict(known)))
        return known


def identity(name: str, artifact: Path) -> str:
    """Identifies what a runner compiles or tunes: for Convoy the SHA-256 of the artifact, for a
    peer the versions of its packages."""
    if name == "convoy":
        return hashlib.sha256(artifact.read_bytes()).hexdigest()
    versions = []
    for package in _PACKAGES["jax" if name.startswith("jax") else "torch"]:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(versions)
