# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models with dynamic sizes as one `tcp` module with symbols: its text, its values for numbers in
place of the symbols, and what is refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

from convoy import _convoy
from convoy.compiler import compile_imported
from convoy.dynamic.symbolic_import import import_symbolic
from convoy.dynamic.symbolic_module import compile_symbolic
from convoy.errors import SymbolicSizesError
from convoy.frontend import ImportedModule
from convoy.options import CompileOptions

BATCH, LENGTH = Dim("batch", min=1, max=9), Dim("length", min=2, max=16)
ROWS, IMAGES, TOKENS = torch.randn(3, 6, 8), torch.randn(3, 4, 12, 12), torch.randint(0, 50, (3, 6))
CPU = CompileOptions.of(target="cpu")


class Model(nn.Module):
    """A function, or a module, of one input."""

    def __init__(self, body: Callable[..., Any]) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(x)


class Tokens(nn.Module):
    """Embeddings with positions as the first rows of a table, and a token in front."""

    def __init__(self, *, is_causal: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 8)
        self.positions = nn.Parameter(torch.randn(1, 16, 8))
        self.first = nn.Parameter(torch.randn(1, 1, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.is_causal = is_causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embedding(x) + self.positions[:, : x.shape[1]]
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.layer(x, src_mask=mask.to(x.dtype) if self.is_causal else None)


class Waves(nn.Module):
    """Rotates pairs of elements by angles of their position; the frequencies are a constant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        frequencies = 0.1 ** torch.arange(4.0)
        angles = torch.arange(x.shape[1])[:, None] * frequencies
        return torch.cat(
            [
                x[..., :4] * angles.cos() - x[..., 4:] * angles.sin(),
                x[..., :4] * angles.sin() + x[..., 4:] * angles.cos(),
            ],
            -1,
        )


class Window(nn.Module):
    """Attention to the last three positions: a mask that depends on the size in two dims."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        position = torch.arange(x.shape[1])
        distance = position[:, None] - position
        mask = (distance >= 0) & (distance < 3)
        return functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)


class Halves(nn.Module):
    """An image that is reduced and enlarged again, as in a U-Net."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.same = nn.Conv2d(4, 8, 3, 2, 1), nn.Conv2d(8, 4, 3, padding=1)
        self.up = nn.ConvTranspose2d(4, 4, 2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = functional.max_pool2d(x, 2) + self.same(self.down(x).relu())
        nearest = functional.interpolate(half, scale_factor=2)
        return torch.cat([self.up(half), x, nearest], 1).mean((2, 3))


BATCHES = ({0: BATCH},)
BOTH = ({0: BATCH, 1: LENGTH},)
#: A model, its example input and dynamic sizes.
SYMBOLIC: dict[str, tuple[Any, torch.Tensor, Any]] = {
    "classifier": (
        nn.Sequential(
            nn.Conv2d(4, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(200, 7),
        ),
        IMAGES,
        BATCHES,
    ),
    "sizes of images": (
        nn.Sequential(nn.Conv2d(4, 8, 3, 2, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        IMAGES,
        ({2: Dim("height", min=8, max=33), 3: Dim("width", min=5, max=20)},),
    ),
    "multiples of 2": (Halves(), IMAGES, ({0: BATCH, 2: 2 * Dim("h", min=2, max=9)},)),
    "encoder": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), ROWS, BOTH),
    "table of positions": (Tokens(is_causal=False), TOKENS, BOTH),
    "causal mask": (Tokens(is_causal=True), TOKENS, BOTH),
    "positions as numbers": (
        lambda x: x + torch.arange(2, 2 + 3 * x.shape[1], 3)[:, None],
        ROWS,
        BOTH,
    ),
    "sizes as numbers": (lambda x: x * x.shape[0] + (x.shape[1] - 1), ROWS, BOTH),
    "negative indices": (lambda x: x[:, x.sum((0, 2)).argsort() - x.shape[1]], ROWS, BOTH),
    "bilinear": (
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
        IMAGES,
        ({2: Dim("height", min=2, max=20), 3: Dim("width", min=2, max=20)},),
    ),
    "bicubic": (
        lambda x: functional.interpolate(x, scale_factor=3, mode="bicubic"),
        IMAGES,
        ({2: Dim("height", min=8, max=30)},),
    ),
    "positions in two dims": (
        lambda x: x * torch.arange(x.shape[2])[:, None] + torch.arange(x.shape[3]),
        IMAGES,
        ({2: Dim("height", min=2, max=20), 3: Dim("width", min=2, max=20)},),
    ),
    "angles in two dims": (
        lambda x: x * torch.arange(x.shape[2]).cos()[:, None] + torch.arange(x.shape[3]).cos(),
        IMAGES,
        ({2: Dim("height", min=2, max=20), 3: Dim("width", min=2, max=20)},),
    ),
    "zeros of the sizes": (
        lambda x: torch.cat([torch.zeros(x.shape[0], x.shape[1], 2), x], 2),
        ROWS,
        BOTH,
    ),
    "first and all but the first": (
        lambda x: torch.cat([x[:, :2], x[:, 1:]], 1),
        ROWS,
        ({0: BATCH, 1: Dim("length", min=3, max=16)},),
    ),
    "last element": (lambda x: x[:, -1] * 2, ROWS, BOTH),
    "last elements of two dims": (
        lambda x: x[-2:, -3:],
        ROWS,
        ({0: Dim("batch", min=3, max=9), 1: Dim("length", min=5, max=16)},),
    ),
    "waves": (Waves(), ROWS, BOTH),
    "window": (Window(), ROWS, ({0: BATCH, 1: Dim("length", min=4, max=16)},)),
    "merged dims": (lambda x: x.flatten(0, 1).softmax(0), ROWS, BOTH),
    "lstm": (nn.LSTM(8, 5, batch_first=True), ROWS, BATCHES),
    "two values": (lambda x: x.softmax(1), ROWS, ({0: Dim("batch", min=2, max=3)},)),
    "several results": (lambda x: {"sum": x.sum(1), "pair": (x + 1, x.transpose(0, 1))}, ROWS, BOTH),
}  # fmt: skip


def imported(body: Any, x: torch.Tensor, shapes: Any) -> tuple[nn.Module, ImportedModule]:
    torch.manual_seed(0)
    module = Model(body).eval()
    return module, import_symbolic(module, (x,), dynamic_shapes=shapes)


def ranges(text: str) -> dict[str, tuple[int, int, int]]:
    """Name of a symbol to its smallest and largest value, and its divisor."""
    pattern = (
        r'"tcp.symbolic_int"\(\) \{divisor = (\d+) : i64, max_val = (\d+) : i64, '
        r'min_val = (\d+) : i64, symbol_name = "(\w+)"\}'
    )
    return {
        name: (int(low), int(high), int(divisor))
        for divisor, high, low, name in re.findall(pattern, text)
    }


def at(module: ImportedModule, values: Mapping[str, int]) -> ImportedModule:
    """The module with numbers in place of the symbols."""
    given = ",".join(f"{name}={value}" for name, value in values.items())
    pipeline = f"builtin.module(tcp-specialize-symbols{{values={given}}})"
    return replace(module, text=_convoy.run_pipeline(module.text, "model", pipeline))


def resized(x: torch.Tensor, shapes: Sequence[Any], values: Mapping[str, int]) -> torch.Tensor:
    """Random elements with other sizes."""
    shape = list(x.shape)
    for dim, each in shapes[0].items():
        root = getattr(each, "root", each).__name__
        shape[dim] = values[root] * (2 if root == "h" else 1)
    return torch.randint(0, 50, shape) if x.dtype == torch.int64 else torch.randn(shape)


def in_float64(module: nn.Module, x: torch.Tensor) -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            return module.double()(x.double() if x.is_floating_point() else x)
    finally:
        torch.set_default_dtype(before)
        module.float()


@pytest.mark.parametrize("name", SYMBOLIC)
def test_values(name: str) -> None:
    """At the ends of the ranges, and between them."""
    body, x, shapes = SYMBOLIC[name]
    module, symbolic = imported(body, x, shapes)
    found = ranges(symbolic.text)
    for place in ("low", "middle", "high"):
        values = {
            symbol: {"low": low, "middle": (low + 2 * high) // 3, "high": high}[place]
            for symbol, (low, high, _) in found.items()
        }
        given = resized(x, shapes, values)
        result = compile_imported(at(symbolic, values), CPU).load(poison=True)(given)
        torch.testing.assert_close(
            result, in_float64(module, given), rtol=1e-4, atol=1e-5, check_dtype=False
        )


def test_text() -> None:
    body, x, shapes = SYMBOLIC["multiples of 2"]
    _, symbolic = imported(body, x, shapes)
    assert ranges(symbolic.text) == {"batch": (1, 9, 1), "h": (2, 9, 1)}
    assert "affine_map<()[s0, s1] -> (s0, 4, s1 * 2, 12)>" in symbolic.text
    assert re.search(
        r'"tcp.max_pool"\(%\w+\).*\(tensor<\?x4x\?x12xf32>\) -> tensor<\?x4x\?x6xf32>',
        symbolic.text,
    )


AUTO: dict[str, tuple[Callable[..., Any], int, int]] = {
    "any": (lambda x: x * 2, 1, 1),
    "dim 1 by 8": (lambda x: x.unflatten(1, (-1, 8)).sum(2), 1, 8),
    "dim 1 by 2": (lambda x: functional.pixel_unshuffle(x[None, None], 2).sum(1), 2, 2),
}


@pytest.mark.parametrize("name", AUTO)
def test_divisors(name: str, tmp_path: Path) -> None:
    """torch.export allows only multiples; a .pt2 file has its conditions too."""
    body, rows, columns = AUTO[name]
    module = Model(body).eval()
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    example = (torch.randn(6, 64),)
    program = torch.export.export(module, example, dynamic_shapes=shapes, strict=False)
    torch.export.save(program, tmp_path / "model.pt2")
    for symbolic in (
        import_symbolic(module, example, dynamic_shapes=shapes),
        import_symbolic(torch.export.load(tmp_path / "model.pt2"), ()),
    ):
        found = ranges(symbolic.text)
        assert [divisor for _, _, divisor in found.values()] == [rows, columns]
        x = torch.randn(4 * rows, 5 * columns)
        static = at(symbolic, {"x_0": x.shape[0], "x_1": x.shape[1]})
        torch.testing.assert_close(compile_imported(static, CPU)(x), module(x))


def test_weights_are_loaded_and_points_compiled() -> None:
    """One artifact of the module with symbols; the batch is padded between its points."""
    body, x, shapes = SYMBOLIC["table of positions"]
    module, symbolic = imported(body, x, shapes)
    model = compile_symbolic(symbolic, CPU, points={"batch": [2, 5], "length": [4, 16]})
    assert model.symbols[0].padded
    program = model.load(poison=True)
    for batch, length in itertools.product((1, 2, 3, 5), (4, 16)):
        given = torch.randint(0, 50, (batch, length))
        torch.testing.assert_close(
            program(given), in_float64(module, given), rtol=1e-4, atol=1e-5, check_dtype=False
        )


#: A model, its example input and dynamic sizes, and why it has no module with symbols.
REFUSED: dict[str, tuple[Any, torch.Tensor, Any, str]] = {
    "number of rows": (
        lambda x: x * (x.shape[0] + 2),
        ROWS,
        BATCHES,
        r"'arith.constant' at .*test_symbolic_import.py:\d+: has a 'value' that depends on the sizes: "
        r"dense<5.*> : .* for batch=3 and dense<4.*> for batch=2",
    ),
    "loop over the sizes": (
        nn.LSTM(8, 5, batch_first=True),
        ROWS,
        BOTH,
        r"'tcp.scan' at .*: has a 'trips' that depends on the sizes: 3 : i64 for batch=3 length=3",
    ),
    "half": (
        lambda x: x[:, x.shape[1] // 2 :],
        ROWS,
        ({1: 2 * Dim("half", min=2, max=9)},),
        r"'tcp.slice' at .*: has a 'starts' that depends on the sizes: array<i64: 0, 3, 0> for .* and",
    ),
    "table of another size": (
        lambda x: x + (torch.arange(x.shape[1]) / x.shape[1])[:, None],
        ROWS,
        BOTH,
        r"'tcp.\w+' at .*: reads the constant '.*', whose values depend on the sizes; its shape is",
    ),
    "bilinear": (
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        IMAGES,
        ({2: Dim("height", min=4, max=20), 3: Dim("width", min=5, max=20)},),
        r"'tcp.\w+' at .*: reads the constant 'resize_bilinear2d_\d+_to_\d+_\w+', whose values",
    ),
    "window at few positions": (
        Window(),
        ROWS,
        BOTH,
        r"'tcp.\w+' at .*: depends on the sizes: tcp.\w+ for batch=3 length=3 and ",
    ),
    "few values": (
        lambda x: x + 1,
        ROWS[:2],
        ({0: Dim("batch", min=1, max=2)},),
        r"expected a range with two values above 1, which tell its sizes apart, got batch: 1 to 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    body, x, shapes, reason = REFUSED[name]
    with pytest.raises(SymbolicSizesError) as raised:
        imported(body, x, shapes)
    assert re.search(reason, str(raised.value)), str(raised.value)


class Pair(nn.Module):
    """Views the second tensor of a pair."""

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return pair[0] + pair[1].unflatten(0, (-1, 4)).sum()


def test_divisor_of_a_part_of_an_input() -> None:
    symbolic = import_symbolic(
        Pair().eval(),
        ((torch.randn(3), torch.randn(12)),),
        dynamic_shapes=(({}, {0: Dim.AUTO}),),
    )
    assert [divisor for _, _, divisor in ranges(symbolic.text).values()] == [4]


class Put(nn.Module):
    """Writes at rows and columns, whose shapes must broadcast. torch.export does not check that."""

    def forward(self, x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.index_put(x, [rows, columns], torch.zeros(()))


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    indices = torch.tensor([[0, 1], [1, 2], [2, 3]])
    with pytest.raises(SymbolicSizesError) as raised:
        import_symbolic(
            Put().eval(),
            (torch.randn(4, 5), indices, indices[:, :1].clone()),
            dynamic_shapes=({}, {0: Dim.AUTO}, {0: Dim.AUTO}),
        )
    text = str(raised.value)
    assert "the model cannot be imported for rows_0=2 columns_0=3: 1 operation of the model" in text
    assert "aten.index_put (once): expected shapes that broadcast, got [2, 2] and [3, 1]" in text
