"""What a device answers otherwise than cuDNN does without one. The measured differences are data,
which the table is made from too."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from .document import replace_section
from .table import taken

__all__ = ["MEASURED", "differences", "section", "with_device", "write_differences"]

MEASURED = Path(__file__).with_name("device.json")


def _first(answer: dict[str, Any]) -> int | None:
    return next((engines[0] for engines in answer["engines"].values() if engines), None)


def _reason(answer: dict[str, Any]) -> str:
    return next(iter(answer.get("rejected", [])), "no reason given")


def differences(offline: dict[str, Any], device: dict[str, Any]) -> dict[str, Any]:
    """Graphs that are taken in one place alone, graphs of which no plan can be built, and how often
    the first engine is another."""
    common = sorted(offline["graphs"].keys() & device["graphs"].keys())
    pairs = {key: (offline["graphs"][key], device["graphs"][key]) for key in common}
    both = {key: pair for key, pair in pairs.items() if taken(pair[0]) and taken(pair[1])}
    engines = Counter(
        f"{_first(here)} -> {_first(there)}"
        for here, there in both.values()
        if _first(here) != _first(there)
    )
    return {
        "cudnn": device["cudnn"],
        "device": device["device"],
        "graphs": len(common),
        "taken": sum(taken(there) for _, there in pairs.values()),
        "refused": {
            key: _reason(there)
            for key, (here, there) in pairs.items()
            if taken(here) and not taken(there)
        },
        "not_built": {
            key: _reason(there) for key, (_, there) in both.items() if there.get("built", 0) is None
        },
        "taken_there_alone": [
            key for key, (here, there) in pairs.items() if taken(there) and not taken(here)
        ],
        "other_first_engine": dict(engines.most_common()),
    }


def with_device(answers: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Answers without the engines of graphs that the device refused, or of which it could build no
    plan."""
    graphs = dict(answers["graphs"])
    for kind in ("refused", "not_built"):
        for key, reason in measured[kind].items():
            if key in graphs:
                graphs[key] = {
                    **graphs[key],
                    "engines": {},
                    "rejected": [f"on {measured['device']}: {reason}"],
                }
    return {**answers, "graphs": graphs}


def section(measured: dict[str, Any]) -> str:
    """The differences as text of docs/support.md."""
    lines = [
        f"{measured['device']}, cuDNN {measured['cudnn']}: {measured['graphs']} graphs "
        "asked about in both places, "
        f"{measured['taken']} taken there.",
        "",
        "| difference | graphs | such as |",
        "|---|---|---|",
    ]
    titles = {
        "refused": "taken without a GPU, refused there",
        "not_built": "taken in both places, no plan can be built there",
        "taken_there_alone": "taken there alone",
    }
    for kind, title in titles.items():
        keys = list(measured[kind])
        lines.append(
            f"| {title} | {len(keys)} | {', '.join(f'`{key}`' for key in keys[:3]) or 'none'} |"
        )
    changed = list(measured["other_first_engine"].items())
    shown = ", ".join(f"{engines} ({count})" for engines, count in changed[:8])
    lines.append(
        f"| another engine comes first there | {sum(count for _, count in changed)} | "
        f"{shown or 'none'} |"
    )
    return "\n".join(lines) + "\n"


def write_differences(device: Path, offline: dict[str, Any]) -> str:
    """Compares the device's answers with `offline`; writes the data and the section of the
    document. Returns the section."""
    measured = differences(offline, json.loads(device.read_text()))
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n")
    text = section(measured)
    replace_section("measured", text)
    return text
