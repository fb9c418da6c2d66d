"""The ops of the announcement of the first cuDNN dialect, at each level: they are compiled to
artifacts with nothing added, run on the CPU, and the real cuDNN finalizes their graphs.

The .mlir files have the ops as they are in the announcement. Here each file is used as a whole; the
lit tests in the files check the IR.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cudnn_library import finalize_graph

import convoy_runtime
from convoy.cli.main import main
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.opening import open_artifact

FOLDER = Path(__file__).parent
#: The phase of each file; None is the torch dialect.
PHASES = {"Inputs/torch": None, "tcp": "tcp", "group": "tcp", "cudnn": "cudnn"}


def compiled(name: str, folder: Path, *flags: str) -> Path:
    path = folder / "model.convoy"
    phase = PHASES[name]
    source = ["--compile-from", phase] if phase else []
    arguments = ["compile", str(FOLDER / f"{name}.mlir"), *source, *flags, "-q", "-o", str(path)]
    assert main(arguments) == 0
    return path


@pytest.mark.parametrize("name", ["Inputs/torch", "tcp", "group"])
def test_result_on_the_cpu(name: str, tmp_path: Path) -> None:
    """The convolution of the relu, compared with the definition in float64."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 64, 56, 56)).astype(np.float32)
    w = rng.standard_normal((64, 64, 3, 3)).astype(np.float32)
    result = convoy_runtime.load(compiled(name, tmp_path, "--target", "cpu"))(x, w)
    padded = np.pad(np.maximum(x.astype(np.float64), 0), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwrs,kcrs->nkhw", windows, w.astype(np.float64), optimize=True)
    assert np.abs(result - expected).max() < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("name", PHASES)
def test_cudnn_finalizes_the_graph(name: str, tmp_path: Path, cudnn: Cudnn) -> None:
    """On target cuda each level is one graph, a relu and a convolution."""
    flags = ["--target", "cuda", "--no-alternatives"] if name != "cudnn" else []
    artifact = open_artifact(compiled(name, tmp_path, *flags))
    assert artifact.manifest.target == "cuda"
    (graph,) = artifact.manifest.graphs
    assert graph.ops == ("relu", "convolution")
    finalize_graph(cudnn, bytes(artifact.members["native.so"]), graph)
