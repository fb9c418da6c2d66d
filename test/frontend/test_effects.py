# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What `forward` does besides computing its results: checks of values, random numbers of Python,
generators, and writes to tensors of its own. Each is refused or has a warning, with its line."""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from op_cases import Function
from torch import Tensor, nn

from convoy.errors import ConvoyWarning, ExportError, UnsupportedOpsError
from convoy.frontend import import_exported, import_module

_HERE = Path(__file__).name


def _line(marker: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if marker in line)


def _asserted(x: Tensor) -> Tensor:
    torch._assert_async((x > 0).all(), "positive")  # the op
    return x + 1


def _checked(x: Tensor) -> Tensor:
    count = x.sum().to(torch.int64).item()
    torch._check(count > 3)  # the check of one
    return x * count


def _checked_all(x: Tensor) -> Tensor:
    torch._check_tensor_all(x > 0)  # the check of all
    return x + 1


@pytest.mark.parametrize(
    ("function", "marker"),
    [
        (_asserted, "# the op"),
        (_checked, "# the check of one"),
        (_checked_all, "# the check of all"),
    ],
)
def test_checks_of_values_have_a_warning(function: object, marker: str) -> None:
    place = f"{_HERE}:{_line(marker)}"
    with pytest.warns(ConvoyWarning, match=f"does not check values of tensors, got .*{place}; "):
        import_module(Function(function).eval(), (torch.ones(2, 3),))


def test_assert_statement_has_a_warning(tmp_path: Path) -> None:
    """pytest rewrites those of this file."""
    path = tmp_path / "asserting.py"
    path.write_text("def run(x):\n    assert (x > 0).all()\n    return x + 1\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), path, "exec"), names)
    with pytest.warns(ConvoyWarning, match=f"got checks at {path}:2; "):
        import_module(Function(names["run"]).eval(), (torch.ones(2, 3),))


class _Asserting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch._assert_async(x.isfinite().all())  # asserts
        return x + 1


def test_checks_of_an_exported_program_have_a_warning() -> None:
    program = torch.export.export(_Asserting().eval(), (torch.ones(2, 3),))
    with pytest.warns(ConvoyWarning, match=f"got checks at .*{_HERE}:{_line('# asserts')}; "):
        import_exported(program)


def test_checks_of_shapes_and_bounds_have_no_warning() -> None:
    def checked(x: Tensor) -> Tensor:
        torch._check(x.shape[0] == 2)
        assert x.dim() == 2
        return x.narrow(0, x.sum().to(torch.int64).item(), 1)

    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvoyWarning)
        import_module(Function(checked).eval(), (torch.ones(2, 3),))


def _drawn(x: Tensor) -> Tensor:
    return x * random.random()  # draws a float


def _drawn_int(x: Tensor) -> Tensor:
    return x + torch.tensor(random.randint(0, 10**9))  # draws an integer


def _drawn_array(x: Tensor) -> Tensor:
    return x + torch.from_numpy(np.random.randn(2, 3)).float()  # draws an array


@pytest.mark.parametrize(
    ("function", "marker"),
    [
        (_drawn, "# draws a float"),
        (_drawn_int, "# draws an integer"),
        (_drawn_array, "# draws an array"),
    ],
)
def test_random_numbers_of_python_are_refused(function: object, marker: str) -> None:
    message = f"{_HERE}:{_line(marker)}: the model draws random numbers in Python, and a "
    with pytest.raises(ExportError, match=message):
        import_module(Function(function).eval(), (torch.ones(2, 3),))


def test_random_numbers_that_no_result_depends_on() -> None:
    """As in models that drop layers in training only. The caller's generator moves on by one."""

    class Dropping(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 0 if random.random() < 0.5 and self.training else x + 1

    random.seed(7)
    import_module(Dropping().eval(), (torch.ones(2, 3),))
    second = random.random()
    random.seed(7)
    assert second == [random.random(), random.random()][1]


class _Generating(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator()

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.randn(2, 3, generator=self.generator)  # generates


def test_generator_is_refused_with_its_line() -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(_Generating().eval(), (torch.ones(2, 3),))
    (op,) = caught.value.ops
    assert op.op == "aten.randn.generator"
    assert op.reason == (
        "it makes random numbers of a torch.Generator, and a compiled model is deterministic; "
        "expected random tensors as inputs"
    )
    assert [line.line for line in op.lines] == [_line("# generates")]


def test_write_to_a_plain_attribute_is_refused_with_its_line() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.total = torch.zeros(3)

        def forward(self, x: Tensor) -> Tensor:
            self.total[1:].add_(x[0, 1:])  # writes
            return x * self.total

    message = (
        f"{_HERE}:{_line('# writes')}: expected no in-place writes to constants, got one to 'total', "
        "a tensor that is neither an input, a parameter nor a buffer; return the new value instead"
    )
    with pytest.raises(ExportError, match=re.escape(message)):
        import_module(Counting().eval(), (torch.ones(2, 3),))
