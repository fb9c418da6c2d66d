# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The devices of a load, by name."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import ArgumentError, DeviceError

__all__ = ["device_indices"]


def device_indices(
    path: object, devices: Sequence[str | int | None] | None, target: str
) -> list[int]:
    """The index of each device of a load.

    Args:
        path: The artifact, for messages.
        devices: "cpu", "cuda", "cuda:N" or N for each; None for the target's first device.
            Instead of the list, None for all visible GPUs, or on target "cpu" for the host.
        target: The target of the artifact.

    Returns:
        The indices.

    Raises:
        ArgumentError: A name is unknown, or there is no device.
        DeviceError: A device is not of the target, or the driver is missing.
    """
    if devices is None:
        return list(range(_gpus())) if target == "cuda" else [0]
    if not devices:
        raise ArgumentError(argument="devices", problem="is empty", expected="at least one device")
    found = []
    for device in devices:
        kind, index = _device(device, target)
        if kind != target:
            raise DeviceError(
                problem=f"{path} was compiled for {target} and cannot run on {kind}",
                hint=f"compile the model with target={kind!r}",
            )
        found.append(index)
    return found


def _gpus() -> int:
    """The number of GPUs that are visible. Raises DeviceError if there is no driver."""
    # Imported here, because the cpu target needs no CUDA bindings.
    from .cuda.driver.device import open_driver

    return int(open_driver().call("cuDeviceGetCount"))


def _device(device: str | int | None, target: str) -> tuple[str, int]:
    if device is None:
        return target, 0
    kind, _, number = (f"cuda:{device}" if isinstance(device, int) else str(device)).partition(":")
    if (
        kind not in ("cpu", "cuda")
        or (number and not number.isdecimal())
        or (kind == "cpu" and number not in ("", "0"))
    ):
        raise ArgumentError(
            argument="device",
            problem="unknown name",
            expected="cpu, cuda, cuda:N or N",
            got=repr(device),
        )
    return kind, int(number or 0)
