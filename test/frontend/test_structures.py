# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The ways into `convoy.compile`, and calls and results that are nested as those of the module."""

from __future__ import annotations

import math
import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy.errors import InputError
from convoy_runtime import ArgumentError

_X = torch.arange(6.0).reshape(2, 3)


@dataclass
class Output:
    y: Tensor
    more: Any = None
    none: Any = None


torch.export.register_dataclass(Output)


class Pair(NamedTuple):
    a: Tensor
    b: Tensor


class Nested(nn.Module):
    def forward(
        self, x: Tensor, pairs: list[Pair], *, scale: float, mask: Tensor | None, names: Any
    ) -> Any:
        y = x * scale if mask is None else x * scale * mask
        pair = Pair(y + pairs[0].a, y - pairs[0].b)
        return OrderedDict(out=Output(y, [names["u"] + 1, (x,)]), pair=pair, n=3, empty=None), [y]


def _arguments(**changed: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    keywords = {"scale": 2.0, "mask": None, "names": {"u": _X + 4, 1: "text"}} | changed
    return (_X, [Pair(_X + 1, _X + 2)]), keywords


def _equal(got: Any, expected: Any) -> None:
    assert type(got) is (dict if isinstance(expected, OrderedDict) else type(expected))
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            _equal(got[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for each, wanted in zip(got, expected, strict=True):
            _equal(each, wanted)
    elif isinstance(expected, Output):
        _equal([got.y, got.more, got.none], [expected.y, expected.more, expected.none])
    elif isinstance(expected, Tensor):
        torch.testing.assert_close(got, expected)
    else:
        assert got == expected


@pytest.fixture(scope="module")
def nested() -> convoy.CompiledModel:
    args, kwargs = _arguments()
    return convoy.compile(Nested().eval(), args, kwargs, target="cpu")


def test_results_are_nested_as_those_of_the_module(nested: convoy.CompiledModel) -> None:
    args, kwargs = _arguments()
    _equal(nested(*args, **kwargs), Nested()(*args, **kwargs))


def test_flat_calls_remain(nested: convoy.CompiledModel) -> None:
    tensors = _X, _X + 1, _X + 2, _X + 4
    args, kwargs = _arguments()
    _equal(nested(*tensors), Nested()(*args, **kwargs))
    results = nested.load().run_numpy(*(x.numpy() for x in tensors))
    assert [spec.name for spec in nested.manifest.outputs] == [
        "0.out.y", "0.out.more.0", "0.out.more.1.0", "0.pair.a", "0.pair.b", "1.0"
    ]  # fmt: skip
    np.testing.assert_array_equal(results[0], (_X * 2).numpy())


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((_X,), {}, "positional arguments: wrong number: expected 2, got 1"),
        (_arguments()[0], {"scale": 2.0}, "keyword arguments: wrong names: expected scale, mask, names"),
        (*_arguments(scale=3.0),
         "argument 'scale': is compiled in: expected 2.0, got 3.0"),
        (*_arguments(scale=2), "argument 'scale': is compiled in: expected 2.0, got 2"),
        (*_arguments(mask=_X), r"argument 'mask': is compiled in: expected None, got tensor\(\[\[.*\], \["),
        ((_X, (Pair(_X, _X),)), _arguments()[1],
         r"argument 1: has another structure: expected a list, got tuple"),
        ((_X, [_X]), _arguments()[1],
         r"argument 1\[0\]: has another structure: expected .*\.Pair with the fields a, b, got Tensor"),
        (*_arguments(names={"u": _X}), r"argument 'names': wrong names: expected u, 1, got u"),
        (*_arguments(names=_X), "argument 'names': has another structure: expected a dict, got Tensor"),
        ((_X, [Pair(_X, _X[:1])]), _arguments()[1], "wrong shape: expected .*2, 3.*, got .*1, 3"),
    ],
)  # fmt: skip
def test_other_arguments_are_errors(
    nested: convoy.CompiledModel, args: Any, kwargs: Any, message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        nested(*args, **kwargs)


class Filled(nn.Module):
    """Adds a number."""

    def forward(self, x: Tensor, value: float) -> Tensor:
        return x + value


def test_nan_is_compiled_in() -> None:
    """NaN is the number that the model was compiled with, although it does not equal itself."""
    model = convoy.compile(Filled().eval(), (_X, math.nan), target="cpu")
    assert torch.isnan(model(_X, math.nan)).all()
    with pytest.raises(ArgumentError, match=r"argument 1: is compiled in: expected nan, got 0\.0"):
        model(_X, 0.0)


def test_classes_that_are_not_loaded(
    nested: convoy.CompiledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the module's classes, results have the same fields. Other classes of these names are
    not called."""
    args, kwargs = _arguments()
    module = sys.modules[Output.__module__]
    for replaced in (None, SimpleNamespace(Output=dict, Pair=namedtuple("Pair", "b a"))):
        monkeypatch.setitem(sys.modules, module.__name__, replaced)
        (results, _) = nested(*args, **kwargs)
        assert type(results["out"]) is SimpleNamespace
        torch.testing.assert_close(results["out"].y, _X * 2)
        assert type(results["pair"]).__name__ == "Pair"
        torch.testing.assert_close(results["pair"].b, _X - 2)


class _Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (self.layer(x),)


def test_a_tuple_of_one_stays_a_tuple() -> None:
    model = _Linear().eval()
    (got,) = convoy.compile(model, (_X,), target="cpu")(_X)
    torch.testing.assert_close(got, model(_X)[0])


def test_exported_programs_and_files(tmp_path: Path) -> None:
    model = _Linear().eval()
    program = torch.export.export(model, (_X,))
    torch.export.save(program, tmp_path / "model.pt2")
    for given in (program, tmp_path / "model.pt2", str(tmp_path / "model.pt2")):
        compiled = convoy.compile(given, target="cpu")
        torch.testing.assert_close(compiled(_X), model(_X))
        assert {spec.name for spec in compiled.manifest.weights} == {"layer.weight", "layer.bias"}


def test_exported_programs_that_are_refused(tmp_path: Path) -> None:
    model = _Linear().eval()
    program = torch.export.export(model, (_X,))
    with pytest.raises(InputError, match="expected no example inputs for an exported program"):
        convoy.compile(program, (_X,), target="cpu")
    (tmp_path / "other.pt2").write_text("text")
    with pytest.raises(InputError, match=r"other\.pt2: expected a file of torch\.export\.save: "):
        convoy.compile(tmp_path / "other.pt2", target="cpu")
    dynamic = torch.export.export(model, (_X,), dynamic_shapes={"x": {0: torch.export.Dim("n")}})
    with pytest.raises(InputError, match="expected points for x_0: 1 to 2147483647, whose range"):
        convoy.compile(dynamic, target="cpu")


class _NoInputs(nn.Module):
    def forward(self) -> Tensor:
        return torch.arange(3) * 2


def test_no_inputs() -> None:
    np.testing.assert_array_equal(convoy.compile(_NoInputs().eval(), target="cpu")(), [0, 2, 4])


class Ordered(dict[str, Any]):
    """As transformers' ModelOutput: in the order of assignment, and in that of fields when it is
    made again."""


torch.utils._pytree.register_pytree_node(
    Ordered,
    lambda value: (list(value.values()), list(value)),
    lambda values, keys: Ordered(sorted(zip(keys, values, strict=True))),
    serialized_type_name="test_structures.Ordered",
    flatten_with_keys_fn=lambda value: (
        [(torch.utils._pytree.MappingKey(key), each) for key, each in value.items()], list(value)
    ),
)  # fmt: skip


class Assigned(nn.Module):
    def forward(self, given: Ordered) -> Ordered:
        made = Ordered(b=given["b"] + 1, c=None)
        made["a"] = given["a"].mT * 2
        return made


@pytest.mark.parametrize("exported", [False, True])
def test_order_of_objects_that_are_made_again(exported: bool) -> None:
    given = Ordered(b=_X.mT, a=_X)
    module = Assigned().eval()
    if exported:
        model = convoy.compile(torch.export.export(module, (given,)), target="cpu")
    else:
        model = convoy.compile(module, (given,), target="cpu")
    assert [spec.name for spec in model.manifest.outputs] == ["a", "b"]
    with model.load() as program:
        arrays = {"given_a": _X.numpy(), "given_b": _X.mT.numpy()}
        a, b = program.run_numpy(*(arrays[spec.name] for spec in program.inputs))
    expected = module(given)
    np.testing.assert_array_equal(a, expected["a"])
    np.testing.assert_array_equal(b, expected["b"])


class Keyless(dict[str, Any]):
    """As diffusers' BaseOutput, which is registered without paths."""


class Wrapped:
    def __init__(self, x: Any) -> None:
        self.x = x


torch.utils._pytree.register_pytree_node(
    Keyless,
    lambda value: (list(value.values()), list(value)),
    lambda values, keys: Keyless(zip(keys, values, strict=True)),
    serialized_type_name="test_structures.Keyless",
)
torch.utils._pytree.register_pytree_node(
    Wrapped,
    lambda value: ([value.x], None),
    lambda values, _: Wrapped(*values),
    serialized_type_name="test_structures.Wrapped",
)


class Sampling(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return Keyless(sample=x + 1, more=Wrapped((x - 1,)))


def test_names_of_classes_without_paths() -> None:
    model = convoy.compile(Sampling().eval(), (_X,), target="cpu")
    assert [spec.name for spec in model.manifest.outputs] == ["sample", "more.0.0"]
    np.testing.assert_array_equal(model.load().run_numpy(_X.numpy())[1], (_X - 1).numpy())


class Combined(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(_X + 3)
        self.register_buffer("scale", _X - 2)

    def forward(self, x: Tensor, others: dict[str, Tensor], z: Tensor) -> tuple[Tensor, Tensor]:
        return x - others["y"] * 2 + z * self.weight, z * self.scale


@pytest.mark.parametrize("example", ["one tensor", "weights"])
def test_example_inputs_of_one_tensor(example: str) -> None:
    """torch.export tells tensors apart by their identity."""
    module = Combined().eval()
    one = [_X, _X, _X] if example == "one tensor" else [module.weight, module.scale, module.scale]
    model = convoy.compile(module, (one[0], {"y": one[1]}, one[2]), target="cpu")
    inputs = _X, {"y": _X.flip(0)}, _X.sin()
    for got, expected in zip(model(*inputs), module(*inputs), strict=True):
        torch.testing.assert_close(got, expected)


def test_example_inputs_of_one_tensor_with_dynamic_sizes() -> None:
    size = torch.export.Dim("n", min=1, max=4)
    module = Combined().eval()
    with torch.no_grad():
        module.weight, module.scale = nn.Parameter(_X[:1]), _X[1:]
    dynamic = {"x": {0: size}, "others": {"y": {0: size}}, "z": {0: size}}
    model = convoy.compile(module, (_X, {"y": _X}, _X), target="cpu", dynamic_shapes=dynamic)
    inputs = torch.arange(12.0).reshape(4, 3), {"y": torch.ones(4, 3)}, torch.full((4, 3), 5.0)
    for got, expected in zip(model(*inputs), module(*inputs), strict=True):
        torch.testing.assert_close(got, expected)


class Sorting(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return x.sort(1, descending=True), x.max(0)


def test_results_of_ops_have_fields() -> None:
    model = convoy.compile(Sorting().eval(), (_X,), target="cpu")
    ordered, largest = model(_X)
    torch.testing.assert_close(
        (ordered.values, largest.indices), (_X.flip(1), torch.ones(3).long())
    )
    assert isinstance(ordered, tuple)
