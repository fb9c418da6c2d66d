# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Differences between the answers of cuDNN on a device and without one. They are stored in
device.json, which the generator of the table reads."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from .conditions import is_accepted
from .document import replace_section

__all__ = ["MEASURED", "differences", "section", "with_device", "write_differences"]

MEASURED = Path(__file__).with_name("device.json")


def _first(answer: dict[str, Any]) -> int | None:
    return next((engines[0] for engines in answer["engines"].values() if engines), None)


def _reason(answer: dict[str, Any]) -> str:
    return next(iter(answer.get("rejected", [])), "no reason given")


def differences(offline: dict[str, Any], device: dict[str, Any]) -> dict[str, Any]:
    """Compares the answers without a GPU with those of a device.

    Args:
        offline: The answers without a GPU.
        device: The answers of the device.

    Returns:
        The content of device.json: graphs that only one of the two accepts, graphs for which no
        plan can be built, and pairs of different first engines with their counts.
    """
    common = sorted(offline["graphs"].keys() & device["graphs"].keys())
    pairs = {key: (offline["graphs"][key], device["graphs"][key]) for key in common}
    both = {
        key: pair for key, pair in pairs.items() if is_accepted(pair[0]) and is_accepted(pair[1])
    }
    engines = Counter(
        f"{_first(here)} -> {_first(there)}"
        for here, there in both.values()
        if _first(here) != _first(there)
    )
    return {
        "cudnn": device["cudnn"],
        "device": device["device"],
        "graphs": len(common),
        "taken": sum(is_accepted(there) for _, there in pairs.values()),
        "refused": {
            key: _reason(there)
            for key, (here, there) in pairs.items()
            if is_accepted(here) and not is_accepted(there)
        },
        "not_built": {
            key: _reason(there) for key, (_, there) in both.items() if there.get("built", 0) is None
        },
        "taken_there_alone": [
            key
            for key, (here, there) in pairs.items()
            if is_accepted(there) and not is_accepted(here)
        ],
        "other_first_engine": dict(engines.most_common()),
    }


def with_device(answers: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Applies the differences of a device to the answers without a GPU.

    Args:
        answers: The answers without a GPU.
        measured: The content of device.json.

    Returns:
        The answers, without the engines of graphs that the device refused or for which it could
        not build a plan.
    """
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
    """Formats the differences for docs/support.md.

    Args:
        measured: The content of device.json.

    Returns:
        The text of the section.
    """
    lines = [
        f"{measured['device']}, cuDNN {measured['cudnn']}: {measured['graphs']} graphs "
        "queried without a GPU and on the device, "
        f"{measured['taken']} accepted on the device.",
        "",
        "| difference | graphs | examples |",
        "|---|---|---|",
    ]
    titles = {
        "refused": "accepted without a GPU, refused on the device",
        "not_built": "accepted by both, but the device builds no plan",
        "taken_there_alone": "accepted only on the device",
    }
    for kind, title in titles.items():
        keys = list(measured[kind])
        lines.append(
            f"| {title} | {len(keys)} | {', '.join(f'`{key}`' for key in keys[:3]) or 'none'} |"
        )
    changed = list(measured["other_first_engine"].items())
    shown = ", ".join(f"{engines} ({count})" for engines, count in changed[:8])
    lines.append(
        f"| another first engine on the device | {sum(count for _, count in changed)} | "
        f"{shown or 'none'} |"
    )
    return "\n".join(lines) + "\n"


def write_differences(device: Path, offline: dict[str, Any]) -> str:
    """Writes device.json and the section of docs/support.md.

    Args:
        device: The file with the answers of the device.
        offline: The answers without a GPU.

    Returns:
        The text of the section.
    """
    measured = differences(offline, json.loads(device.read_text()))
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n")
    text = section(measured)
    replace_section("measured", text)
    return text
