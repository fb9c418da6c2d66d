# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Formatting helpers of the text and the page."""

from __future__ import annotations

from convoy.report.model import Choice, Report
from convoy_runtime.inspection import restrictions, version_text

__all__ = ["count", "headline", "micro", "percent", "scale", "scope"]


def micro(value: float | None) -> str:
    """Formats microseconds; a dash for None."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:.1f}"


def percent(share: float | None) -> str:
    """Formats a fraction as a percentage; a dash for None."""
    return "-" if share is None else f"{share * 100:.0f} %"


def scale(value: float | None, unit: str) -> str:
    """Formats a number with an SI prefix, e.g. `1.21 MB`; a dash for None."""
    if value is None:
        return "-"
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def scope(choice: Choice) -> str:
    """Formats the GPU, versions and restrictions of a plan."""
    restricted = restrictions(choice.options)
    return (
        f"{choice.gpu}, cuDNN {version_text(choice.cudnn)}, driver "
        f"{_driver(choice.driver)}{', ' if restricted else ''}{restricted}"
    )


def count(number: int, what: str) -> str:
    """Formats a count, e.g. `1 call`, `2 calls`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def headline(report: Report) -> str:
    """The title of a report: the model and the origin of the times."""
    if report.times == "measured" and report.gpu is not None:
        gpu = report.gpu
        cudnn = f", cuDNN {version_text(gpu.cudnn)}" if gpu.cudnn else ""
        return f"{report.model} measured on {gpu.name} (driver {_driver(gpu.driver)}{cudnn})"
    if report.times == "tuning":
        choice = next(each for each in report.choices if each.used)
        return f"{report.model}, times of graphs from tuning ({scope(choice)})"
    return f"{report.model}, not measured"


def _driver(number: int) -> str:
    """Formats the CUDA version of a driver, e.g. 13.0 for 13000."""
    return f"{number // 1000}.{number % 1000 // 10}"
