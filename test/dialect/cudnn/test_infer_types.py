"""Each op in the graphs of the lowering tests infers the shapes of its results, if its operands
determine them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tools.convoy_opt import convoy_opt_path

ROOT = Path(__file__).resolve().parents[3]
GRAPHS = sorted((ROOT / "test/passes/cudnn_to_backend/Inputs/graphs").glob("*.mlir"))
#: The results of these ops need more than the operands: the dim of blocks, the reduced or pooled
#: shape, the arrangement of elements, the length of a cache.
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
def file_and_output(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The text of a file, and the output of `convoy-infer-types` on it."""
    tool = convoy_opt_path().with_name("convoy-infer-types")
    done = subprocess.run([tool, request.param], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return request.param.read_text(), done.stdout


def test_every_op_infers_its_shapes(file_and_output: tuple[str, str]) -> None:
    text, output = file_and_output
    checked = [line for line in output.splitlines() if line.startswith("cudnn.")]
    assert not [line for line in checked if line.endswith("other shapes")]
    gradients = len(re.findall(r"mode = [dw]grad", text))
    assert [line for line in checked if line.endswith("inferred")] == [
        "cudnn.convolution: nothing inferred"
    ] * gradients


def test_every_op_is_covered(file_and_output: tuple[str, str]) -> None:
    text, output = file_and_output
    ops = [op for op in re.findall(r"= cudnn\.(\w+)", text) if op not in OPEN]
    assert sorted(re.findall(r"^cudnn\.(\w+)", output, re.MULTILINE)) == sorted(ops)
