"""What kernels write into the concats that read it (`plan-concat-in-place`) is the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from placed import check_pass
from torch import Tensor


def _pools(x: Tensor) -> Tensor:
    """Each pool reads the slice of the one before, and the concat copies the input between."""
    y = F.max_pool2d(x, 3, 1, 1)
    z = F.max_pool2d(y, 3, 1, 1)
    return torch.cat([y, x, z, F.max_pool2d(z, 3, 1, 1)], 1)


def _resizes(x: Tensor) -> Tensor:
    return torch.cat(
        [F.interpolate(part, size=(9, 11), mode="bilinear") for part in (x, torch.relu(x))], 1
    )


def _rows(x: Tensor) -> Tensor:
    rows = x.permute(0, 2, 3, 1)
    return torch.cat([rows.softmax(3).amax(3, keepdim=True), rows.tanh(), rows], 3)


def _reshaped(x: Tensor) -> Tensor:
    parts = [F.max_pool2d(x, 2).flatten(2), F.max_pool2d(x, 3).flatten(2)]
    return torch.cat(parts, 2).transpose(1, 2).contiguous()


def _nested(x: Tensor) -> tuple[Tensor, Tensor]:
    """The inner result is a slice of the outer one."""
    inner = torch.cat([F.max_pool2d(x, 3, 1, 1), x], 3)
    return torch.cat([inner, F.avg_pool2d(inner, 3, 1, 1)], 1), inner.mean((2, 3))


def _repeated(x: Tensor) -> tuple[Tensor, Tensor]:
    y = F.max_pool2d(x, 3, 1, 1)
    return torch.cat([y, x, y], 0), y + 1


#: The subviews of results.
_FUNCTIONS = {_pools: 4, _resizes: 2, _rows: 3, _reshaped: 2, _nested: 4, _repeated: 2}


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_results_are_the_same(function, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 6, 8).to(memory_format=torch.channels_last)
    copied, placed = check_pass("--plan-concat-in-place", function, x, convoy_opt)
    assert placed.count("memref.subview") - copied.count("memref.subview") == _FUNCTIONS[function]
