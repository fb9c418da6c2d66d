# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Draws throughput against latency from the figures of `benchmarks.serving.clients`, as SVG.

    .venv/bin/python -m benchmarks.serving.plot build/serving-bench/{direct,ray,triton}.json \
        --output docs/serving-latency.svg

Each server has a line of its median latency, whose points are numbers of clients, and a light line
of its 99th percentile. The text has the color of the page, light or dark. Needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["draw", "main"]

#: Replaced by the style of the page, which differs between a light and a dark one.
_TEXT, _GRID = "#010203", "#040506"
_STYLE = """<style>
svg { color: #1f2328; --grid: #d0d7de }
@media (prefers-color-scheme: dark) { svg { color: #e6edf3; --grid: #30363d } }
</style>
"""
#: Colors with a contrast above 3 on white and on black, which color-blind readers tell apart.
_COLORS = ("#0f83c8", "#d1690e", "#1a9a76", "#b0619c")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the picture. Returns the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.serving.plot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("figures", nargs="+", type=Path, help="files of benchmarks.serving.clients")
    parser.add_argument("--output", type=Path, required=True, help="the SVG file")
    parser.add_argument("--title", default="", help="e.g. the model and the machine")
    options = parser.parse_args(arguments)
    found = [json.loads(path.read_text()) for path in options.figures]
    options.output.write_text(draw(found, options.title))
    return 0


def draw(found: Sequence[dict[str, Any]], title: str) -> str:
    """Draws the picture.

    Args:
        found: The content of each file of figures.
        title: The title; none if it is empty.

    Returns:
        The SVG text, which is the same for equal figures.
    """
    style = {
        "svg.fonttype": "none",  # text, which the page's reader can select
        "svg.hashsalt": "convoy",
        "font.family": "sans-serif",
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _TEXT
        ),
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(7.5, 4.8), layout="constrained")
        axes = figure.add_subplot(xscale="log", xlabel="latency in ms", ylabel="requests / s")
        for server, color in zip(found, _COLORS, strict=False):
            rates = [row["per_second"] for row in server["rows"]]
            p50, p99 = ([row[name] for row in server["rows"]] for name in ("p50", "p99"))
            axes.plot(p50, rates, "o-", color=color, label=f"{server['server']}, p50")
            axes.plot(p99, rates, ".-", color=color, alpha=0.4, label=f"{server['server']}, p99")
            for row in server["rows"]:
                axes.annotate(
                    str(row["clients"]),
                    (row["p50"], row["per_second"]),
                    xytext=(0, 6),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8,
                )
        axes.set_ylim(bottom=0)
        axes.margins(x=0.06)
        axes.grid(color=_GRID, which="major", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_formatter("{x:g}")
        figure.legend(frameon=False, title="numbers: clients", loc="outside right upper")
        if title:
            axes.set_title(title, fontsize=10)
        text = StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    drawn = text.getvalue().replace(_TEXT, "currentColor").replace(_GRID, "var(--grid)")
    head, mark, rest = drawn.partition("<defs>")
    lines = (head + _STYLE + mark + rest).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
