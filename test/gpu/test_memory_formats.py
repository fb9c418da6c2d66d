# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Channels-last tensors on a GPU: in and out without copies, compared with PyTorch in float64.
Needs a PyTorch with CUDA.

The case is stored and read like those of test_kernels:
`python test/gpu/test_memory_formats.py FOLDER` writes it, CONVOY_FORMAT_CASES names the folder.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_kernels import folder_of, gpu, import_compiler  # noqa: F401 (gpu is a fixture)

from convoy_runtime import ArgumentError

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch has no GPU"),
]

LAST = torch.channels_last


def write(folder: Path) -> None:
    """Compiles a channels-last model, and stores its input and result with it."""
    from torch import nn

    import convoy

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1)
    ).eval().to(memory_format=LAST)  # fmt: skip
    x = torch.randn(4, 16, 32, 32).to(memory_format=LAST)
    expected = copy.deepcopy(module).double()(x.double()).detach()
    convoy.compile(module, (x,), target="cuda").save(folder / "block.convoy")
    np.savez(folder / "block.npz", x=x.numpy(), expected=expected.numpy())


folder = folder_of("CONVOY_FORMAT_CASES")


@pytest.fixture
def block(gpu: None, folder: Path) -> Iterator[tuple[Any, Any, Any]]:  # noqa: F811
    """A loaded channels-last model, its input, and the expected result."""
    import convoy_runtime

    if not (folder / "block.npz").exists():
        write(folder)
    stored = np.load(folder / "block.npz")
    x = torch.from_numpy(stored["x"]).to(memory_format=LAST)
    with convoy_runtime.load(folder / "block.convoy", plan_cache=False) as program:
        yield program, x.cuda(), torch.from_numpy(stored["expected"])


def close(got: Any, expected: Any) -> None:
    assert (got.cpu().double() - expected).abs().max() <= 5e-3 * expected.abs().max()


def test_no_copy(block: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    program, x, expected = block
    with monkeypatch.context() as patch:
        patch.delattr(type(program._exchange), "_stored")
        for stream in (None, torch.cuda.Stream().cuda_stream):
            y = program(x, stream=stream)
            torch.cuda.synchronize()
            assert y.is_contiguous(memory_format=LAST)
            close(y, expected)
        y = torch.empty_like(y)
        program.run_into([y], [x])
        close(y, expected)
    y = torch.from_dlpack(program.static_outputs[0])
    assert y.is_contiguous(memory_format=LAST)
    torch.from_dlpack(program.static_inputs[0]).copy_(x)
    torch.cuda.synchronize()
    program.replay()
    program.synchronize()
    close(y, expected)


def test_other_strides(block: tuple[Any, Any, Any]) -> None:
    program, x, expected = block
    for other in (
        x.contiguous(),
        torch.stack([x, x], -1)[..., 0],
        x.transpose(2, 3).contiguous().mT,
    ):
        y = program(other)
        assert y.is_contiguous(memory_format=LAST)
        close(y, expected)
    for array in (x.cpu().numpy(), x.cpu().contiguous().numpy()):
        [y] = program.run_numpy(array)
        close(torch.from_numpy(y), expected)
    with pytest.raises(ArgumentError, match="output '0': wrong strides"):
        program.run_into([torch.empty(expected.shape, device="cuda")], [x])


if __name__ == "__main__":
    import_compiler()
    write(Path(sys.argv[1]))
