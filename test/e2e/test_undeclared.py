# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls with sizes that are neither points nor padded, which compile a program."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim

import convoy
import convoy_runtime
from convoy.dynamic.model import DynamicModel
from convoy.errors import InputError
from convoy_runtime import ArgumentError, ConvoyRuntimeError
from convoy_runtime.dynamic.program import DynamicProgram


class Rows(torch.nn.Module):
    """Attention among the rows, which no padding would keep apart."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return (y @ y.mT).softmax(-1) @ y


MODULE = Rows().eval()
ROWS = Dim("rows", min=2, max=64)


@pytest.fixture(scope="module")
def model() -> DynamicModel:
    compiled = convoy.compile(
        MODULE,
        (torch.randn(1, 4, 8),),
        target="cpu",
        dynamic_shapes=({1: ROWS},),
        points={"rows": [4, 16]},
    )
    assert isinstance(compiled, DynamicModel)
    return compiled


def inputs(rows: int) -> torch.Tensor:
    return torch.randn(1, rows, 8)


def check(program: Any, rows: int, module: torch.nn.Module = MODULE) -> None:
    x = inputs(rows)
    torch.testing.assert_close(program(x), module(x))


def loaded(model: DynamicModel, **options: Any) -> DynamicProgram:
    program = model.load(**options)
    assert isinstance(program, DynamicProgram)
    return program


def test_a_call_waits(model: DynamicModel) -> None:
    with loaded(model, undeclared="wait") as program:
        for rows in (4, 7, 16, 7, 33):
            check(program, rows)
        assert program.undeclared_points == ({"rows": 7}, {"rows": 33})
        assert program.points == ({"rows": 4}, {"rows": 16})
        x = inputs(7)
        (got,) = program.run_numpy(x.numpy())
        torch.testing.assert_close(torch.from_numpy(got), MODULE(x))
        y = torch.empty(1, 7, 8)
        program.run_into([y], [x])
        torch.testing.assert_close(y, MODULE(x))
        with pytest.raises(ArgumentError, match="rows"):
            program(inputs(65))
        with pytest.raises(ArgumentError, match="wrong shape"):
            program(torch.randn(1, 7, 9))


def test_threads_share_a_compilation(model: DynamicModel) -> None:
    with loaded(model, undeclared="wait") as program, ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(check, program, 9) for _ in range(3)]
        check(program, 16)  # Points do not wait for it.
        for call in calls:
            call.result()
        assert program.undeclared_points == ({"rows": 9},)


def test_several_symbols() -> None:
    """The inputs give them in another order than the artifact."""
    columns = Dim("columns", min=2, max=64)

    class Product(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x @ y).softmax(0)

    module = Product().eval()
    model = convoy.compile(
        module,
        (torch.randn(4, 8), torch.randn(8, 6)),
        target="cpu",
        dynamic_shapes=({0: ROWS}, {1: columns}),
        points=[{"columns": 6, "rows": 4}],
    )
    for reverse in (False, True):
        if reverse:
            model = replace(
                model,
                symbols=model.symbols[::-1],
                points=tuple(dict(reversed(each.items())) for each in model.points),
            )
        with loaded(model, undeclared="wait") as program:
            x, y = torch.randn(5, 8), torch.randn(8, 9)
            torch.testing.assert_close(program(x, y), module(x, y))
            assert program.undeclared_points == ({"rows": 5, "columns": 9},)


def test_new_weights(model: DynamicModel) -> None:
    """They reach programs that were compiled before and after."""
    other = Rows().eval()
    with loaded(model, undeclared="wait") as program:
        check(program, 5)
        program.load_weights(other.state_dict())
        for rows in (4, 5, 6):
            check(program, rows, other)
    with loaded(model, undeclared="wait", weights=other.state_dict()) as program:
        check(program, 5, other)


def check_background(program: DynamicProgram) -> None:
    """Calls a program at a point until 6 rows are compiled, then with 6 rows."""
    limit = time.monotonic() + 60
    while not program.undeclared_points:
        assert time.monotonic() < limit
        check(program, 4)
    check(program, 6)


def test_in_the_background(model: DynamicModel) -> None:
    with loaded(model, undeclared="background") as program:
        with pytest.raises(
            ArgumentError, match="is being compiled: expected a later call, got rows=6"
        ):
            program(inputs(6))
        check_background(program)


def test_a_failed_compilation(model: DynamicModel) -> None:
    calls = []

    def fail(values: Mapping[str, int]) -> Any:
        calls.append(dict(values))
        message = "no such phase"
        raise ValueError(message)

    for wait in (True, False):
        with loaded(model) as program:
            program.compile_undeclared(fail, wait=wait)
            limit = time.monotonic() + 60
            with pytest.raises(ValueError, match="no such phase"):  # noqa: PT012
                while time.monotonic() < limit:
                    try:
                        program(inputs(6))
                    except ArgumentError:
                        assert not wait
            assert program.undeclared_points == ()
            check(program, 4)
    assert calls == [{"rows": 6}, {"rows": 6}]


def test_close(model: DynamicModel) -> None:
    program = loaded(model, undeclared="background")
    with pytest.raises(ArgumentError, match="is being compiled"):
        program(inputs(6))
    program.close()  # Waits for the compilation.
    with pytest.raises(ConvoyRuntimeError, match="closed"):
        program(inputs(6))
    program.close()


def test_without_it_sizes_are_refused(model: DynamicModel) -> None:
    with loaded(model) as program, pytest.raises(ArgumentError, match="has no point for them"):
        program(inputs(6))
    with pytest.raises(InputError, match="expected 'fail', 'wait' or 'background', got 'never'"):
        model.load(undeclared="never")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected all points, got one of them"):
        model.load(undeclared="wait", point={"rows": 4})


def test_a_loaded_artifact(model: DynamicModel, tmp_path: Path) -> None:
    """Another process has the artifact and the model."""
    model.save(tmp_path / "rows.convoy", weights=False)
    exported = torch.export.export(MODULE, (torch.randn(1, 4, 8),), dynamic_shapes=({1: ROWS},))
    torch.export.save(exported, tmp_path / "rows.pt2")
    with convoy_runtime.load(tmp_path / "rows.convoy", weights=MODULE.state_dict()) as program:
        assert isinstance(program, DynamicProgram)
        # A file has no names of symbols.
        with pytest.raises(
            InputError, match=r"x: float32\[1, rows, 8\], got x: float32\[1, x_1, 8\]"
        ):
            convoy.compile_undeclared(program, tmp_path / "rows.pt2")
        convoy.compile_undeclared(program, MODULE, (inputs(6),), dynamic_shapes=({1: ROWS},))
        for rows in (4, 7):
            check(program, rows)
        assert program.undeclared_points == ({"rows": 7},)
        other = Rows().eval()
        program.load_weights(other.state_dict())
        for rows in (4, 7, 8):
            check(program, rows, other)


def test_a_loaded_artifact_of_a_file(tmp_path: Path) -> None:
    exported = torch.export.export(MODULE, (torch.randn(1, 4, 8),), dynamic_shapes=({1: ROWS},))
    torch.export.save(exported, tmp_path / "rows.pt2")
    convoy.compile(tmp_path / "rows.pt2", target="cpu", points={"x_1": [4]}).save(
        tmp_path / "rows.convoy"
    )
    with convoy_runtime.load(tmp_path / "rows.convoy") as program:
        assert isinstance(program, DynamicProgram)
        convoy.compile_undeclared(program, tmp_path / "rows.pt2", wait=False)
        with pytest.raises(ArgumentError, match="is being compiled"):
            program(inputs(6))
        check_background(program)


def test_programs_without_dynamic_sizes(model: DynamicModel, tmp_path: Path) -> None:
    model.save(tmp_path / "rows.convoy")
    with (
        convoy_runtime.load(tmp_path / "rows.convoy", point={"rows": 4}) as program,
        pytest.raises(InputError, match="expected a program with dynamic sizes, got <Program"),
    ):
        convoy.compile_undeclared(program, MODULE, (inputs(4),), dynamic_shapes=({1: ROWS},))
