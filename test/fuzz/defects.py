"""Defects that tests inject into a worker, by the name of a function."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

__all__ = [
    "RELU_IS_ABS",
    "outputs_are_zero",
    "relu_aborts",
    "relu_hangs",
    "relu_is_abs",
    "relu_raises",
]

#: The text of `relu_is_abs`, for a script.
RELU_IS_ABS = """
import convoy.frontend
from convoy.dialects import tcp
from convoy.frontend._registry import CONVERTERS
CONVERTERS["aten.relu"] = lambda b, call: b.unary(tcp.AbsOp, call.args[0])
"""


def _relu(converter: Any) -> None:
    import convoy.frontend  # noqa: F401, which fills the table
    from convoy.frontend._registry import CONVERTERS

    CONVERTERS["aten.relu"] = converter


def relu_is_abs() -> None:
    from convoy.dialects import tcp

    _relu(lambda b, call: b.unary(tcp.AbsOp, call.args[0]))


def relu_aborts() -> None:
    _relu(lambda b, call: os.abort())


def relu_hangs() -> None:
    _relu(lambda b, call: time.sleep(100))


def relu_raises() -> None:
    def fail(b: Any, call: Any) -> None:
        raise KeyError("relu")

    _relu(fail)


def outputs_are_zero() -> None:
    from convoy_runtime.cpu import CpuProgram

    if not hasattr(CpuProgram, "call_before"):
        CpuProgram.call_before = CpuProgram._call  # type: ignore[attr-defined]

        def call(self: Any, inputs: Any, outputs: Any) -> None:
            self.call_before(inputs, outputs)
            for pointer, spec in zip(outputs, self.outputs, strict=True):
                ctypes.memset(pointer, 0, spec.bytes)

        CpuProgram._call = call  # type: ignore[method-assign]
