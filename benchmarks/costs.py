"""What it takes to compile or tune a contender for the first time, kept beside what was compiled,
from where the next time starts."""

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
    """Seconds of all attempts until the first `complete` one, with as many as `at_once` processes
    that compiled, of what `of` names."""

    of: str
    seconds: float
    complete: bool
    at_once: int = 1


class Costs:
    """Costs by contender and case, in a folder of the cache that holds what was compiled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(
        self, key: str, name: str, seconds: float, *, complete: bool, of: str, at_once: int = 1
    ) -> Cost:
        """Counts an attempt, unless one was complete before. What `of` names is what is compiled:
        of another one nothing is known."""
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
    """What a contender compiles, or tunes: the artifact by its content, or the model by the
    versions of a peer's packages."""
    if name == "convoy":
        return hashlib.sha256(artifact.read_bytes()).hexdigest()
    versions = []
    for package in _PACKAGES["jax" if name.startswith("jax") else "torch"]:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(versions)
