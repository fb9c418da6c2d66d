"""Every converter: the torch ops that it receives and the ops and attributes that it emits
(golden.txt), the results of the reference interpreter compared with PyTorch in float64, and whether
the C++ dialect parses and verifies the text.

An export has a fixed cost, so one import has many cases; the ops of a case are those that its
outputs are computed from. `CONVOY_UPDATE_GOLDEN=1 pytest test/frontend/test_ops.py` rewrites
golden.txt; read the diff before committing it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from frontend_checks import compare_results, describe, expected_results
from imported_chunks import imported_chunk
from op_cases import CASES, CHUNK, ROUNDED, build, build_chunk
from tcp_reference import run_text
from torch import Tensor
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect

from convoy.frontend import ImportedModule, import_module

_GOLDEN = Path(__file__).with_name("golden.txt")
_NAMES = list(CASES)
_NO_OPS = ("torch.constant", "torch.prim.List", "torch.prim.Tuple", "arith.constant", "func.return")


@dataclass(frozen=True)
class _Chunk:
    """Cases imported together: for each the torch ops, the tcp ops, and the results of the
    reference interpreter and of PyTorch."""

    imported: ImportedModule
    torch_ops: list[list[str]]
    tcp_ops: list[list[str]]
    got: list[list[Tensor]]
    expected: list[list[Tensor]]


@functools.cache
def _chunk(index: int, shared: Path) -> _Chunk:
    _, flat, built = build_chunk(index)
    imported = imported_chunk(index, shared)
    expected = [expected_results(module, one) for module, one in built]
    counts = [len(one) for one in expected]
    got = _split(run_text(imported.text, flat, imported.weights), counts)
    return _Chunk(
        imported,
        _slices(imported.torch_text, counts),
        _slices(imported.text, counts),
        got,
        expected,
    )


def _split(items: list[Tensor], counts: list[int]) -> list[list[Tensor]]:
    rest = iter(items)
    return [[next(rest) for _ in range(count)] for count in counts]


def _slices(text: str, counts: list[int]) -> list[list[str]]:
    """For each group of results of the function, the ops that they are computed from, in order."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    with context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        block = module.body.operations[0].operation.regions[0].blocks[0]
        ops = [op.operation for op in block.operations]
        position = {result: index for index, op in enumerate(ops) for result in op.results}
        returned = iter(ops[-1].operands)
        slices = []
        for count in counts:
            wanted, todo = set(), [next(returned) for _ in range(count)]
            while todo:
                value = todo.pop()
                if value in position and position[value] not in wanted:
                    wanted.add(position[value])
                    todo += ops[position[value]].operands
            slices.append(
                [
                    describe(ops[index])
                    for index in sorted(wanted)
                    if not ops[index].name.startswith(_NO_OPS)
                ]
            )
        return slices


def _read() -> dict[str, list[str]]:
    golden: dict[str, list[str]] = {}
    name = ""
    if _GOLDEN.exists():
        for line in _GOLDEN.read_text().splitlines():
            if line.startswith("  "):
                golden[name].append(line.strip())
            else:
                name, _, torch_ops = line.partition(":")
                golden[name] = [torch_ops.strip()]
    return golden


@pytest.fixture(scope="module")
def golden() -> Iterator[dict[str, list[str]]]:
    lines = _read()
    yield lines
    if os.environ.get("CONVOY_UPDATE_GOLDEN"):
        text = [
            f"{name}: {lines[name][0]}\n" + "".join(f"  {op}\n" for op in lines[name][1:])
            for name in _NAMES
            if name in lines
        ]
        _GOLDEN.write_text("".join(text))


@pytest.mark.parametrize("name", _NAMES)
def test_emitted_ops_match_golden(
    name: str, golden: dict[str, list[str]], shared_folder: Path
) -> None:
    index, item = divmod(_NAMES.index(name), CHUNK)
    chunk = _chunk(index, shared_folder)
    emitted = [" ".join(chunk.torch_ops[item]), *chunk.tcp_ops[item]]
    if os.environ.get("CONVOY_UPDATE_GOLDEN"):
        golden[name] = emitted
    assert emitted == golden[name]


@pytest.mark.parametrize("name", _NAMES)
def test_results_equal_pytorch(name: str, shared_folder: Path) -> None:
    index, item = divmod(_NAMES.index(name), CHUNK)
    chunk = _chunk(index, shared_folder)
    compare_results(chunk.got[item], chunk.expected[item], 2e-3 if name in ROUNDED else 1e-6)


@pytest.mark.parametrize("index", range(-(-len(_NAMES) // CHUNK)))
def test_dialect_accepts_the_text(
    index: int, convoy_opt: Callable[[str], str], shared_folder: Path
) -> None:
    text = _chunk(index, shared_folder).imported.text
    assert convoy_opt(text).count("= tcp.") == text.count('= "tcp.')


def test_golden_has_no_other_names(golden: dict[str, list[str]]) -> None:
    assert golden.keys() == CASES.keys()


def test_comparison_detects_a_wrong_result() -> None:
    x = torch.randn(2, 3)
    imported = import_module(build("exp")[0], (x,))
    with pytest.raises(AssertionError):
        compare_results(
            run_text(imported.text, [x], imported.weights), [torch.exp(x).double() * 1.0001], 1e-6
        )
