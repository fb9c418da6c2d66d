# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The options of the torch.compile backend."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from convoy.options import CompileOptions
from convoy_runtime.inspection import default_plan_cache

if TYPE_CHECKING:
    from convoy_runtime import PlanOptions

__all__ = ["BackendOptions"]

_TUNE = ("off", "limited", "quick", "full", "exhaustive")
_FALLBACKS = ("eager", "inductor")
#: `mode` of torch.compile to `tune`. Runs are CUDA graphs in every mode.
_MODES = {"default": "off", "reduce-overhead": "off", "max-autotune": "full"}


@dataclass(frozen=True)
class BackendOptions:
    """The keys of `torch.compile(..., backend="convoy", options={...})`.

    Attributes:
        dtype: The compute type of the parts, as `convoy.compile` takes it; None for the model's.
        keep_float32: Ops that compute in float32 whatever `dtype` is.
        allow_tf32: Whether float32 products may be rounded to TF32. None: if PyTorch allows it for
            both `torch.backends.cuda.matmul` and `torch.backends.cudnn`.
        allow_winograd: Whether convolutions may use Winograd's algorithm.
        tune: The `tune` of `convoy_runtime.load`: how much of cuDNN's plans is measured when a part
            is loaded on a GPU. None: "full" with torch.compile's mode "max-autotune", else "off".
        plan_options: Restrictions on cuDNN's plans.
        min_ops: The fewest ops of a part without convolutions and matrix products; smaller ones are
            left to `fallback`, since each part is a call of its own.
        fallback: What runs the rest of the graph: "eager" or "inductor".
        cache: Whether compiled parts are kept in files for later processes.
        cache_dir: The folder of the files. None: `torch_compile` in $CONVOY_CACHE, else in
            $XDG_CACHE_HOME/convoy, else in ~/.cache/convoy.
        cache_bytes: The largest size of the folder; the files that were not used for the longest
            time are deleted.
        max_shapes: The most shapes for which one graph with symbolic sizes is compiled; further
            shapes run by `fallback`.
    """

    dtype: str | torch.dtype | None = None
    keep_float32: tuple[str, ...] = ()
    allow_tf32: bool | None = None
    allow_winograd: bool = True
    tune: str | None = None
    plan_options: PlanOptions | None = None
    min_ops: int = 4
    fallback: str = "eager"
    cache: bool = True
    cache_dir: str | os.PathLike[str] | None = None
    cache_bytes: int = 8 << 30
    max_shapes: int = 32

    @staticmethod
    def of(options: Mapping[str, Any] | None, mode: str | None) -> BackendOptions:
        """Checks the options of torch.compile.

        Args:
            options: The argument `options` of torch.compile.
            mode: The argument `mode` of torch.compile.

        Returns:
            The options.

        Raises:
            TypeError: An option is unknown.
            ValueError: An option has an invalid value.
        """
        given = dict(options or {})
        known = [field.name for field in fields(BackendOptions)]
        if unknown := sorted(given.keys() - set(known)):
            message = (
                f"unknown options of the backend convoy: {', '.join(unknown)}; "
                f"expected any of {', '.join(known)}"
            )
            raise TypeError(message)
        if mode is not None and mode not in _MODES:
            message = f"mode: expected one of {', '.join(_MODES)}, got {mode!r}"
            raise ValueError(message)
        if given.get("tune") is None:
            given["tune"] = _MODES[mode or "default"]
        if "keep_float32" in given:
            given["keep_float32"] = tuple(given["keep_float32"])
        chosen = BackendOptions(**given)
        for name, valid in (("tune", _TUNE), ("fallback", _FALLBACKS)):
            if getattr(chosen, name) not in valid:
                message = f"{name}: expected one of {', '.join(valid)}, got {given[name]!r}"
                raise ValueError(message)
        for name in ("min_ops", "max_shapes", "cache_bytes"):
            value = getattr(chosen, name)
            if not isinstance(value, int) or value < 1:
                message = f"{name}: expected a positive integer, got {value!r}"
                raise ValueError(message)
        chosen.compile_options("cpu")
        return chosen

    def compile_options(self, target: str) -> CompileOptions:
        """The options of a part's compilation.

        Args:
            target: "cpu" or "cuda".

        Returns:
            The options.

        Raises:
            ValueError: An option has an invalid value.
        """
        tf32 = self.allow_tf32
        if tf32 is None:
            tf32 = torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32
        return CompileOptions.of(
            target=target,
            dtype=self.dtype,
            keep_float32=self.keep_float32,
            allow_tf32=tf32,
            allow_winograd=self.allow_winograd,
            weights=False,
        )

    def folder(self) -> Path:
        """The folder of compiled parts."""
        if self.cache_dir is not None:
            return Path(self.cache_dir)
        return default_plan_cache() / "torch_compile"

    def load_options(self, device: torch.device) -> dict[str, Any]:
        """The keyword arguments of `convoy_runtime.load` for a part on a device."""
        if device.type != "cuda":
            return {}
        return {"device": device.index or 0, "options": self.plan_options, "tune": self.tune}

    def describe(self, target: str) -> str:
        """The options that change a compiled part, as text."""
        return repr(self.compile_options(target))
