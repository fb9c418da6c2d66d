"""How figures are said, in the text and in the page."""

from __future__ import annotations

from collections.abc import Mapping

from convoy.report.model import Choice, Report
from convoy_runtime.inspection import restrictions

__all__ = ["count", "headline", "knobs", "micro", "percent", "scale", "scope", "version"]


def micro(value: float | None) -> str:
    """Microseconds, three digits at least; a dash for None."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:.1f}"


def percent(share: float | None) -> str:
    """A part of one; a dash for None."""
    return "-" if share is None else f"{share * 100:.0f} %"


def scale(value: float | None, unit: str) -> str:
    """A number with a prefix of SI, as `1.21 MB`; a dash for None."""
    if value is None:
        return "-"
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def knobs(values: Mapping[str, int]) -> str:
    """Knobs of an engine, as `TILE_M=128, STAGES=3`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def version(number: int) -> str:
    """A version of cuDNN, 91900, as 9.19.0."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def scope(choice: Choice) -> str:
    """What a plan was made for."""
    restricted = restrictions(choice.options)
    return (
        f"{choice.gpu}, cuDNN {version(choice.cudnn)}, driver "
        f"{_driver(choice.driver)}{', ' if restricted else ''}{restricted}"
    )


def count(number: int, what: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def headline(report: Report) -> str:
    """What the report is about, and where its times are from."""
    if report.times == "measured" and report.gpu is not None:
        gpu = report.gpu
        cudnn = f", cuDNN {version(gpu.cudnn)}" if gpu.cudnn else ""
        return f"{report.model} measured on {gpu.name} (driver {_driver(gpu.driver)}{cudnn})"
    if report.times == "tuning":
        choice = next(each for each in report.choices if each.used)
        return f"{report.model}, times of graphs from its tuning ({scope(choice)})"
    return f"{report.model}, not measured"


def _driver(number: int) -> str:
    """A driver's CUDA version, 13000, as 13.0."""
    return f"{number // 1000}.{number % 1000 // 10}"
