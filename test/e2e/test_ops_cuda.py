"""Every op case compiles for the GPU in each float type, up to LLVM IR. test/gpu runs them there."""

from __future__ import annotations

import pytest
from op_cases import CASES, CHUNK, build_chunk

from convoy.frontend import import_module
from convoy.options import CompileOptions
from convoy.phases import lower


@pytest.mark.parametrize("index", range((len(CASES) + CHUNK - 1) // CHUNK))
def test_lowering(index: int) -> None:
    together, flat, _ = build_chunk(index)
    module = import_module(together, flat)
    for dtype in ("float32", "float16", "bfloat16"):
        options = CompileOptions(target="cuda", dtype=dtype)
        assert "llvm.func" in lower(
            module.text, module.name, from_phase="tcp", to_phase="llvm", options=options
        )
