"""Every op of the graphs that the lowering is tested with says the shapes of its results itself,
where its operands tell them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GRAPHS = sorted((ROOT / "test/passes/cudnn_to_backend/Inputs/graphs").glob("*.mlir"))
#: Of these the result says what the operands do not: along which dim blocks lie, what is reduced,
#: what was pooled, how elements are arranged, how far a cache goes.
OPEN = {
    "block_scale_quantize",
    "constant",
    "expand_band_matrix",
    "paged_cache_load",
    "reduction",
    "resample_backward",
    "reshape",
    "rng",
}


@pytest.fixture(scope="module", params=GRAPHS, ids=lambda path: path.stem)
def answers(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A file's text, and what `convoy-infer-types` says of it."""
    tool = Path(os.environ.get("CONVOY_OPT", ROOT / "build/bin/convoy-opt")).with_name(
        "convoy-infer-types"
    )
    done = subprocess.run([tool, request.param], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return request.param.read_text(), done.stdout


def test_every_op_infers_its_shapes(answers: tuple[str, str]) -> None:
    text, said = answers
    asked = [line for line in said.splitlines() if line.startswith("cudnn.")]
    assert not [line for line in asked if line.endswith("other shapes")]
    gradients = len(re.findall(r"mode = [dw]grad", text))
    assert [line for line in asked if line.endswith("inferred")] == [
        "cudnn.convolution: nothing inferred"
    ] * gradients


def test_every_op_is_asked(answers: tuple[str, str]) -> None:
    text, said = answers
    ops = [op for op in re.findall(r"= cudnn\.(\w+)", text) if op not in OPEN]
    assert sorted(re.findall(r"^cudnn\.(\w+)", said, re.MULTILINE)) == sorted(ops)
