# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attributes of a model that its `forward` changes: refused if results depend on the calls before,
and otherwise compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from convoy.errors import ConvoyWarning, ExportError
from convoy.frontend import import_module

_HERE = Path(__file__).name


class _Cache:
    def __init__(self) -> None:
        self.values: list[Tensor] = []
        self.last: Tensor | None = None


class _Model(nn.Module):
    def __init__(self, function: Callable[[Any, Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function
        self.count = 0
        self.last: Tensor | None = None
        self.found: dict[Any, Tensor] = {}
        self.cache = _Cache()
        self.linear = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.function(self, x)


def _line(marker: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if marker in line)


def _counts(model: Any, x: Tensor) -> Tensor:
    model.count += 1  # counts
    return x * model.count


def _smooths(model: Any, x: Tensor) -> Tensor:
    y = x if model.last is None else x + model.last
    model.last = y.mean(0)  # smooths
    return y


def _keeps_first(model: Any, x: Tensor) -> Tensor:
    """The same for the same input."""
    if model.last is None:
        model.last = x.mean(0)  # keeps
    return x - model.last


def _nested(model: Any, x: Tensor) -> Tensor:
    """An attribute of a submodule."""
    calls = getattr(model.linear, "calls", 0)
    model.linear.calls = calls + 1  # of a submodule
    return model.linear(x) + calls


@pytest.mark.parametrize(
    ("function", "name", "marker"),
    [
        (_counts, "count", "# counts"),
        (_smooths, "last", "# smooths"),
        (_keeps_first, "last", "# keeps"),
        (_nested, "linear.calls", "# of a submodule"),
    ],
)
def test_results_that_depend_on_the_calls_before(function: Any, name: str, marker: str) -> None:
    message = (
        f"{_HERE}:{_line(marker)}: the model changes its attribute '{name}', and its results depend "
        "on the calls before; expected a model that takes the value as an input and returns"
    )
    with pytest.raises(ExportError, match=message):
        import_module(_Model(function).eval(), (torch.ones(2, 3),))


def _appends(model: Any, x: Tensor) -> Tensor:
    model.cache.values.append(x)
    return sum(model.cache.values, start=torch.zeros(3))


def _updates(model: Any, x: Tensor) -> Tensor:
    before = model.cache.last
    model.cache.last = x
    return x if before is None else x + before


@pytest.mark.parametrize("function", [_appends, _updates])
def test_state_in_objects_is_refused(function: Any) -> None:
    """The export leaves no tensors without values in them."""
    model = _Model(function).eval()
    with pytest.raises(ExportError, match="the model changes its attribute 'cache'"):
        import_module(model, (torch.ones(2, 3),))
    assert vars(model.cache) == {"values": [], "last": None}


def _written(model: Any, x: Tensor) -> Tensor:
    """Attention maps for inspection."""
    model.last = x.softmax(-1)
    model.found["map"] = model.last
    model.cache.values.append(model.last)
    return model.last @ x.T


def _filled(model: Any, x: Tensor) -> Tensor:
    """Caches of positions."""
    if model.count < x.shape[0]:
        model.count = x.shape[0]
        model.last = torch.arange(x.shape[0], dtype=x.dtype)
    if x.shape not in model.found:
        model.found[x.shape] = torch.arange(x.shape[1], dtype=x.dtype)
    return x + model.last[:, None] * model.found[x.shape]


def _normalized(model: Any, x: Tensor) -> Tensor:
    model.first = not hasattr(model, "first")
    return model.linear(x)


@pytest.mark.parametrize("function", [_written, _filled, _normalized])
def test_results_that_do_not_depend_on_the_calls_before(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvoyWarning)
        import_module(_Model(function).eval(), (torch.ones(2, 3),))


def _made(model: Any, x: Tensor) -> Tensor:
    model.made = x * 2
    made: Tensor = model.made
    return made


def test_attributes_that_the_model_makes_are_removed() -> None:
    model = _Model(_made).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvoyWarning)
        import_module(model, (torch.ones(2, 3),))
    assert "made" not in vars(model)


def _rarely(model: Any, x: Tensor) -> Tensor:
    model.count += 1  # rarely
    return x if model.count % 1000 else -x


def test_numbers_that_change_with_each_call_have_a_warning() -> None:
    place = f"{_HERE}:{_line('# rarely')}"
    message = f"has the values that attributes have before its export, got .*'count' at .*{place}; "
    with pytest.warns(ConvoyWarning, match=message):
        import_module(_Model(_rarely).eval(), (torch.ones(2, 3),))


def test_what_cannot_be_copied_has_a_warning() -> None:
    model = _Model(_written).eval()
    model.rows = (row for row in range(3))
    with pytest.warns(ConvoyWarning, match="got a model that changes 'last' at "):
        import_module(model, (torch.ones(2, 3),))
