# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Assignments to the data of parameters: the module stays as it is, and a model that uses the
tensor itself is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from convoy.errors import ExportError
from convoy.frontend import import_module


class _Merged(nn.Module):
    """Also assigns a plain attribute, so that a copy of it is run."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.merged = nn.Linear(3, 4), nn.Linear(3, 4)

    def merge(self) -> None:
        self.weight = self.layer.weight.data * 2
        self.merged.weight.data = self.weight  # assigned

    def forward(self, x: Tensor) -> Any:
        self.merge()
        return self.merged(x)


class _Before(_Merged):
    def forward(self, x: Tensor) -> Any:
        y = self.merged(x)
        self.merge()
        return y


class _Result(_Merged):
    def forward(self, x: Tensor) -> Any:
        return super().forward(x), self.merged.weight


def _line(marker: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(marker))


def test_the_module_keeps_its_parameters() -> None:
    module = _Merged().eval()
    before = module.merged.weight.clone()
    imported = import_module(module, (torch.ones(2, 3),))
    assert torch.equal(module.merged.weight, before)
    assert imported.weights.keys() == {"layer.weight", "merged.bias"}
    assert imported.unused == ("layer.bias", "merged.weight")


@pytest.mark.parametrize("model", [_Before, _Result])
def test_a_use_of_the_tensor_itself_is_refused(model: type[_Merged]) -> None:
    with pytest.raises(ExportError) as caught:
        import_module(model().eval(), (torch.ones(2, 3),))
    assert str(caught.value) == (
        f"torch.export cannot export the module: {__file__}:{_line('# assigned')}: the model assigns "
        "to the data of 'merged.weight', and uses the tensor itself before or as a result; expected "
        "a model that takes the value as an input and returns the new one"
    )
