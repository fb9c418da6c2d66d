"""What it takes to compile or tune a contender for the first time, kept beside what was compiled, from where the next time starts."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["Costs"]


class Costs:
    """Seconds by contender and case, in a folder of the cache that holds what was compiled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, key: str, name: str, seconds: float, *, complete: bool) -> float:
        """Counts an attempt, unless one was complete before. The seconds of all attempts until the first complete one."""
        path = self._folder / f"{key}.{name}.json"
        known = json.loads(path.read_text()) if path.exists() else {"seconds": 0.0, "complete": False}
        if not known["complete"]:
            known = {"seconds": known["seconds"] + seconds, "complete": complete}
            path.write_text(json.dumps(known))
        return float(known["seconds"])
