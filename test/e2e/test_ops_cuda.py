"""Every op case compiles for the GPU in each float type, up to LLVM IR. test/gpu runs them there."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from imported_chunks import imported_chunk
from op_cases import CASES, CHUNK

from convoy.options import CompileOptions
from convoy.phases import lower, phase_names


@pytest.mark.parametrize("index", range((len(CASES) + CHUNK - 1) // CHUNK))
def test_lowering(index: int, shared_folder: Path) -> None:
    module = imported_chunk(index, shared_folder)
    for dtype in ("float32", "float16"):
        options = CompileOptions(target="cuda", dtype=dtype)
        assert "llvm.func" in lower(
            module.text, module.name, from_phase="tcp", to_phase="llvm", options=options
        )
    # Each phase reads the text of the one before, as it does with --from and --to.
    text, options = module.text, CompileOptions(target="cuda", dtype="bfloat16")
    phases = phase_names()
    for before, after in itertools.pairwise(phases[phases.index("tcp") :]):
        text = lower(text, module.name, from_phase=before, to_phase=after, options=options)
    assert "llvm.func" in text
