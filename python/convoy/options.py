"""What a compilation may choose."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from convoy_runtime import PlanOptions

__all__ = ["CompileOptions", "default_target"]

_ELEMENT_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def default_target() -> str:
    """ "cuda" where NVIDIA's driver can be loaded and finds a GPU, else "cpu"."""
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
    """Options of a compilation. Raises ValueError, with what is expected, for a value that an
    option cannot have.

    target: "cpu" or "cuda".
    dtype: "float32", "float16" or "bfloat16" to compute in, None for the model's own.
    cpu: LLVM's name of the CPU that runs the host code, or "native"; None is "native" on cpu and
        "x86-64-v3" on cuda.
    chip: the oldest GPU architecture that the generated kernels run on: "sm_80" or newer, without a
        letter after the number.
    weights: whether the artifact holds the weights' data.
    allow_tf32: whether products of float32 may be rounded to TF32, as cuDNN and PyTorch do by
        default.
    alternatives: whether graphs are offered other ways to be computed, which tuning tries: split,
        with sums in another order.
    support_table: a file to read instead of the built-in table of what cuDNN takes.
    dump_phases: a folder to write the module to after each phase.
    plan_for: GPUs to plan for, on cuda: names, as "h200", or files of cuDNN's device properties.
        The plans become part of the artifact.
    plan_options: restrictions on those plans (convoy_runtime.PlanOptions); they are found where the
        artifact is loaded with the same ones.
    """

    target: str
    dtype: str | None = None
    cpu: str | None = None
    chip: str = "sm_80"
    weights: bool = True
    allow_tf32: bool = True
    alternatives: bool = True
    support_table: Path | None = None
    dump_phases: Path | None = None
    plan_for: tuple[str, ...] = ()
    plan_options: PlanOptions | None = None

    def __post_init__(self) -> None:
        _expect("target", self.target, ("cpu", "cuda"))
        if self.dtype is not None:
            _expect("dtype", self.dtype, tuple(_ELEMENT_TYPES))
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
                f"expected plan_for with plan_options, got {self.plan_options} alone: they "
                "restrict the plans that plan_for makes"
            )
            raise ValueError(message)

    @classmethod
    def of(
        cls, *, target: str | None = None, dtype: str | torch.dtype | None = None, **options: Any
    ) -> CompileOptions:
        """Options from what a caller says: no target is `default_target()`, a dtype may be torch's,
        and a path text. Raises ValueError."""
        known = {each.name for each in fields(cls)}
        unknown = sorted(options.keys() - known)
        if unknown:
            message = (
                f"expected options out of {', '.join(sorted(known))}, got {', '.join(unknown)}"
            )
            raise ValueError(message)
        named = None if dtype is None else str(dtype).removeprefix("torch.")
        paths = {
            name: Path(options[name])
            for name in ("dump_phases", "support_table")
            if options.get(name) is not None
        }
        return cls(target=target or default_target(), dtype=named, **(options | paths))

    def pairs(self) -> list[tuple[str, str]]:
        """The options of `--convoy-pipeline`, as names and values."""
        cpu = (
            self.cpu if self.cpu is not None else "native" if self.target == "cpu" else "x86-64-v3"
        )
        pairs = [("target", self.target), ("cpu", cpu), ("chip", self.chip)]
        if self.dtype is not None:
            pairs.append(("dtype", _ELEMENT_TYPES[self.dtype]))
        if not self.allow_tf32:
            pairs.append(("allow-tf32", "false"))
        if not self.alternatives:
            pairs.append(("alternatives", "false"))
        if self.support_table is not None:
            pairs.append(("support-table", str(self.support_table)))
        return pairs


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
