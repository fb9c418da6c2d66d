"""Planning for a GPU that is not here, for callers that must work where the packages of the `cuda` target are not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cuda.offline import OfflinePlanner, OfflinePlans

__all__ = ["OfflinePlanner", "OfflinePlans", "offline_planner"]


def offline_planner(device: str, minimum: int = 0) -> OfflinePlanner:
    """A planner for `device`: the name of a GPU whose properties are known, as h200, or a file of them. `minimum` is the oldest cuDNN that
    will do, as 90000. Raises DeviceError when cuDNN, cuBLASLt or the properties are not there."""
    from .cuda.offline import OfflinePlanner

    return OfflinePlanner(device, minimum)
