# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The options of a compilation."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from convoy_runtime import PlanOptions

__all__ = ["CompileOptions", "default_target"]

_ELEMENT_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def default_target() -> str:
    """Returns "cuda" if NVIDIA's driver can be loaded and finds a GPU, else "cpu"."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "cpu"
    count = ctypes.c_int()
    found = (
        driver.cuInit(0) == 0
        and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )
    return "cuda" if found else "cpu"


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """The options of a compilation. `CompileOptions.of` also accepts torch's dtypes and paths as
    text.

    Attributes:
        target: "cpu" or "cuda".
        dtype: The compute type: "float32", "float16" or "bfloat16"; None for the model's types.
        cpu: LLVM's name of the CPU that runs the host code, or "native". None is "native" on target
            "cpu" and "x86-64-v3" on "cuda".
        chip: The oldest GPU architecture that the generated kernels run on, "sm_80" to "sm_121",
            without a letter suffix.
        keep_float32: Ops that compute in float32 although `dtype` or the model has a narrower type:
            types of tcp ops ("softmax"), lines ("model.py:12") and modules ("layer1.0.conv1").
        weights: Whether the artifact contains the data of the weights.
        allow_tf32: Whether float32 products may round their factors to TF32 (10 bits of mantissa),
            the default of cuDNN and PyTorch.
        allow_winograd: Whether convolutions may use Winograd's algorithm, whose rounding errors
            are in proportion to the largest inputs near an output.
        alternatives: Whether to compile alternatives of cuDNN graphs for tuning: graphs split into
            several, or with sums in another order.
        support_table: A support table to use instead of the built-in one.
        dump_phases: A folder for the module's text after each phase.
        plan_for: GPUs to plan for, only with target "cuda": names such as "h200", or files of
            cuDNN's device properties. The plans become part of the artifact.
        plan_options: Restrictions on the plans of `plan_for`. A load with equal options uses these
            plans.

    Raises:
        ValueError: An option has an invalid value, or `plan_for` or `plan_options` do not match the
            other options.
    """

    target: str
    dtype: str | None = None
    cpu: str | None = None
    chip: str = "sm_80"
    keep_float32: tuple[str, ...] = ()
    weights: bool = True
    allow_tf32: bool = True
    allow_winograd: bool = True
    alternatives: bool = True
    support_table: Path | None = None
    dump_phases: Path | None = None
    plan_for: tuple[str, ...] = ()
    plan_options: PlanOptions | None = None

    def __post_init__(self) -> None:
        _expect("target", self.target, ("cpu", "cuda"))
        if self.dtype is not None:
            _expect("dtype", self.dtype, tuple(_ELEMENT_TYPES))
        for name in self.keep_float32:
            if not name or set(name) & set(", \t\n\"'{}"):
                message = (
                    "expected names without spaces, commas, quotes and braces in keep_float32, got "
                    f"{name!r}"
                )
                raise ValueError(message)
        from convoy import _convoy

        # The names of CPUs and GPU architectures are LLVM's.
        _convoy.check_options(self.pairs())
        if self.dump_phases is not None:
            _check_folder("dump_phases", self.dump_phases)
        if self.support_table is not None and not self.support_table.is_file():
            message = f"expected support_table to be a file, got {self.support_table}"
            raise ValueError(message)
        if self.plan_for and self.target != "cuda":
            message = f"expected target cuda with plan_for, got {self.target}, which has no plans"
            raise ValueError(message)
        if self.plan_options is not None and not self.plan_for:
            message = (
                f"expected plan_for with plan_options, got only {self.plan_options}, which "
                "restricts the plans of plan_for"
            )
            raise ValueError(message)

    @classmethod
    def of(
        cls,
        *,
        target: str | None = None,
        dtype: str | torch.dtype | None = None,
        cpu: str | None = None,
        chip: str = "sm_80",
        keep_float32: Sequence[str] = (),
        weights: bool = True,
        allow_tf32: bool = True,
        allow_winograd: bool = True,
        alternatives: bool = True,
        support_table: str | os.PathLike[str] | None = None,
        dump_phases: str | os.PathLike[str] | None = None,
        plan_for: Sequence[str] = (),
        plan_options: PlanOptions | None = None,
    ) -> CompileOptions:
        """Creates options from the arguments of `convoy.compile`. Raises ValueError."""
        return cls(
            target=target or default_target(),
            dtype=None if dtype is None else str(dtype).removeprefix("torch."),
            cpu=cpu,
            chip=chip,
            keep_float32=_names("keep_float32", keep_float32),
            weights=weights,
            allow_tf32=allow_tf32,
            allow_winograd=allow_winograd,
            alternatives=alternatives,
            support_table=None if support_table is None else Path(support_table),
            dump_phases=None if dump_phases is None else Path(dump_phases),
            plan_for=tuple(plan_for),
            plan_options=plan_options,
        )

    def pairs(self) -> list[tuple[str, str]]:
        """The options of `--convoy-pipeline` as names and values."""
        cpu = (
            self.cpu if self.cpu is not None else "native" if self.target == "cpu" else "x86-64-v3"
        )
        pairs = [("target", self.target), ("cpu", cpu), ("chip", self.chip)]
        if self.dtype is not None:
            pairs.append(("dtype", _ELEMENT_TYPES[self.dtype]))
        if self.keep_float32:
            pairs.append(("keep-float32", ",".join(self.keep_float32)))
        if not self.allow_tf32:
            pairs.append(("allow-tf32", "false"))
        if not self.allow_winograd:
            pairs.append(("allow-winograd", "false"))
        if not self.alternatives:
            pairs.append(("alternatives", "false"))
        if self.support_table is not None:
            pairs.append(("support-table", str(self.support_table)))
        return pairs


def _names(option: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        message = f"expected {option} to be a sequence of names, got the string {names!r}"
        raise ValueError(message)
    return tuple(names)


def _check_folder(name: str, path: Path) -> None:
    from convoy_runtime.errors import ArgumentError
    from convoy_runtime.output_files import checked_folder

    try:
        checked_folder(path, option=name)
    except ArgumentError as error:
        raise ValueError(str(error)) from error


def _expect(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        message = f"expected {name} to be one of {', '.join(allowed)}, got {value}"
        raise ValueError(message)
