"""The batches of benchmarks.mlperf on a GPU: one kernel and separate copies fill the input of a
program with the same samples.

`python test/gpu/test_mlperf.py FILE` checks an artifact where there is no compiler.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from test_kernels import gpu

import convoy_runtime
from benchmarks.mlperf.device import DeviceEngine
from benchmarks.mlperf.engine import SLOTS
from benchmarks.mlperf.weights import random_weights

pytestmark = pytest.mark.gpu
__all__ = ["gpu"]


def input_rows(engine: DeviceEngine, count: int) -> np.ndarray:
    """The bytes of the first samples of the last batch."""
    array = torch.utils.dlpack.from_dlpack(engine._inputs[engine.size_for(count)])
    order = engine.programs[engine.size_for(count)].inputs[0].order or range(array.dim())
    rows = array.permute(*order)[:count].contiguous()
    return rows.cpu().numpy().view(np.uint8).reshape(count, -1)


def check_artifact(path: Path, batches: Sequence[Sequence[int]]) -> None:
    """Compares what batches read with the samples.

    Args:
        path: The artifact.
        batches: The samples of each batch.
    """
    with convoy_runtime.load(path) as program:
        program.load_weights(random_weights(program.weights))
        for gather in ("kernel", "copies"):
            engine = DeviceEngine(program, gather=gather)
            engine.load(range(1 + max(map(max, batches))))
            for number, batch in enumerate(batches):
                engine.start(number % SLOTS, batch)
                engine.finish(number % SLOTS)
                expected = np.stack([engine._row(index) for index in batch])
                np.testing.assert_array_equal(input_rows(engine, len(batch)), expected)
            engine.close()


@pytest.mark.usefixtures("gpu")
def test_gather(tmp_path: Path) -> None:
    import convoy

    module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()).eval().half()
    images = torch.rand(2, 3, 16, 16).half().to(memory_format=torch.channels_last)
    shapes = ({0: torch.export.Dim("batch", min=1, max=8)},)
    points = {"batch": [1, 4, 8]}
    convoy.compile(
        module, (images,), target="cuda", dynamic_shapes=shapes, points=points, weights=False
    ).save(tmp_path / "model.convoy", weights=False)
    check_artifact(tmp_path / "model.convoy", [[3], [5, 1], [7, 0, 2, 2, 6], [*range(8)]])


if __name__ == "__main__":
    check_artifact(Path(sys.argv[1]), [[3], [5, 1, 2], [9, 0, 2, 2, 6], [*range(64)]])
    print("gathered samples are equal")
