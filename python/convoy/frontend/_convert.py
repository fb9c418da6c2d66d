# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Converts a function of the torch dialect to `@main` of `tcp`. Decodes arguments, calls the
registered converters in order, and collects all failures into one error."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_mlir import ir

from convoy.errors import InputError, SourceLine, UnsupportedOp, UnsupportedOpsError
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._literals import Literals
from convoy.frontend._refused import reason_of
from convoy.frontend._registry import CONVERTERS, Call, Missing
from convoy.frontend._types import TensorType, parse_vtensor

__all__ = ["Argument", "Converted", "convert_function", "has_same_bytes", "source_line"]

_FILE_LINE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+)')
_NOT_CONVERTED = object()
_NUMBERS = {"aten.Int.bool": int, "aten.Int.Scalar": int, "aten.Float.Scalar": float}
_STRUCTURAL = (
    "prim.ListUnpack",
    "prim.TupleUnpack",
    "aten.__getitem__.t",
    "vtensor.literal",
    *_NUMBERS,
)


@dataclass(frozen=True)
class Argument:
    """An argument of the torch function: an input (without tensor), a weight, or a constant of one
    element (inline). `order` is that of an input's dims in memory; None if it is packed."""

    name: str
    tensor: torch.Tensor | None = None
    inline: bool = False
    order: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Converted:
    """The result of a conversion.

    Attributes:
        text: The `tcp` module.
        weights: Name to used weight, in argument order.
        made_here: The weights made by the conversion.
    """

    text: str
    weights: Mapping[str, torch.Tensor]
    made_here: frozenset[str]


def source_line(location: ir.Location) -> SourceLine:
    """File and line of an MLIR location; for a call stack, those of the innermost frame."""
    match = _FILE_LINE.search(str(location))
    return SourceLine(match[1], int(match[2])) if match else SourceLine("", 0)


def convert_function(
    function: ir.Operation,
    arguments: Sequence[Argument],
    outputs: Sequence[str],
    literals: Literals,
    orders: Sequence[tuple[int, ...] | None] = (),
    *,
    merges: bool = True,
) -> Converted:
    """Converts a function to `tcp`.

    Args:
        function: The function of the torch dialect.
        arguments: The description of each argument.
        outputs: The names of results; further ones are "0", "1", ...
        literals: Reads literals.
        orders: The order of each result's dims in memory; None, and by default, for packed ones.
        merges: Whether equal weights made by the conversion become one.

    Returns:
        The `tcp` module and its weights.

    Raises:
        UnsupportedOpsError: Ops have no conversion; lists all of them.
        InputError: An argument has a type without a `tcp` type.
    """
    with function.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        return _Conversion(function, arguments, outputs, literals, orders, merges).run()


class _Conversion:
    def __init__(
        self,
        function: ir.Operation,
        arguments: Sequence[Argument],
        outputs: Sequence[str],
        literals: Literals,
        orders: Sequence[tuple[int, ...] | None],
        merges: bool,
    ) -> None:
        self._source = function.regions[0].blocks[0]
        self._arguments = arguments
        self._outputs = outputs
        self._literals = literals
        self._orders = orders
        self._merges = merges
        self._module = ir.Module.create(ir.Location.unknown())
        with ir.InsertionPoint(self._module.body):
            self._main = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get("main"),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
                },
                regions=1,
                loc=function.location,
            )
        self._block = ir.Block.create_at_start(self._main.regions[0], [])
        self._builder = Builder(self._block, function.location, self._new_weight)
        self._values: dict[ir.Value, Any] = {}
        self._weights: dict[str, torch.Tensor] = {}
        self._weight_arguments: dict[str, ir.Value] = {}
        self._steps: dict[str, tuple[int, int, int]] = {}
        self._made_here: set[str] = set()
        self._failures: dict[tuple[str, str], list[SourceLine]] = {}

    def run(self) -> Converted:
        inputs = self._bind_arguments()
        for view in self._source.operations:
            op = view.operation
            self._builder.location = op.location
            if op.name in ("func.return", "torch.return"):
                returned = [self._values[operand] for operand in op.operands]
            else:
                self._step(op)
        if not self._failures:
            self._check_returned(returned)
        if self._failures:
            raise UnsupportedOpsError(
                UnsupportedOp(op, reason, tuple(lines))
                for (op, reason), lines in self._failures.items()
            )
        self._finish(inputs, returned)
        text = self._module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
        return Converted(text, self._weights, frozenset(self._made_here & self._weights.keys()))

    # Arguments and weights

    def _bind_arguments(self) -> list[Argument]:
        """Creates the arguments of inputs, then those of weights, as the module form requires.
        Returns the inputs."""
        inputs = []
        for is_input in (True, False):
            for value, argument in zip(self._source.arguments, self._arguments, strict=True):
                if (argument.tensor is None) != is_input:
                    continue
                kind = parse_vtensor(str(value.type))
                if isinstance(kind, str):
                    role = "input" if is_input else "weight"
                    msg = f"{role} '{argument.name}': {kind}"
                    raise InputError(msg)
                if is_input:
                    self._values[value] = self._block.add_argument(
                        kind.mlir(), ir.Location.unknown()
                    )
                    inputs.append(argument)
                elif argument.inline:
                    assert argument.tensor is not None
                    self._values[value] = self._builder.constant(argument.tensor.item(), kind)
                else:
                    assert argument.tensor is not None
                    self._values[value] = self._new_weight(argument.name, argument.tensor, kind)
        self._made_here.clear()
        return inputs

    def _new_weight(
        self,
        name: str,
        tensor: torch.Tensor,
        kind: TensorType | None = None,
        steps: tuple[int, int, int] | None = None,
    ) -> ir.Value:
        unique, count = name, 0
        while unique in self._weights:
            is_equal = unique in self._made_here and has_same_bytes(self._weights[unique], tensor)
            if is_equal and self._merges:
                return self._weight_arguments[unique]
            count += 1
            unique = f"{name}_{count}"
        kind = kind or TensorType(tuple(tensor.shape), tensor.dtype)
        argument = self._block.add_argument(kind.mlir(), ir.Location.unknown())
        self._weights[unique] = tensor
        self._weight_arguments[unique] = argument
        if steps is not None:
            self._steps[unique] = steps
        self._made_here.add(unique)
        return argument

    # One op

    def _step(self, op: ir.Operation) -> None:
        name = (
            ir.StringAttr(op.attributes["name"]).value if op.name == "torch.operator" else op.name
        )
        name = name.removeprefix("torch.")
        if name.startswith("constant."):
            self._values[op.results[0]] = _constant(name, op)
            return
        operands = [self._values[operand] for operand in op.operands]
        if name in ("prim.ListConstruct", "prim.TupleConstruct"):
            self._values[op.results[0]] = operands
            return
        results: Sequence[Any] = [_NOT_CONVERTED] * len(op.results)
        try:
            failed = any(_has_failed(operand) for operand in operands)
            if (
                name not in CONVERTERS
                and name not in _STRUCTURAL
                and not (failed and _is_about_sizes(op))
            ):
                raise Unsupported(reason_of(name))
            if not failed:
                results = self._convert(name, op, operands)
        except Unsupported as problem:
            self._fail(name, str(problem), op.location)
        for result, value in zip(op.results, results, strict=True):
            self._values[result] = value

    def _convert(self, name: str, op: ir.Operation, operands: list[Any]) -> Sequence[Any]:
        if name in ("prim.ListUnpack", "prim.TupleUnpack"):
            return list(operands[0])
        if name == "aten.__getitem__.t":
            return [operands[0][operands[1]]]
        if name == "vtensor.literal":
            return [self._literal(op)]
        if name in _NUMBERS:
            return [_NUMBERS[name](operands[0])]
        for operand in _flat(operands):
            if isinstance(operand, Missing):
                raise Unsupported(operand.reason)
        is_list = len(op.results) == 1 and "list<" in str(op.results[0].type)
        kinds: list[TensorType | None] = []  # None: torch returns None
        for result in [] if is_list else op.results:
            kind = None if str(result.type) == "!torch.none" else parse_vtensor(str(result.type))
            if isinstance(kind, str):
                is_sized = "?" not in str(result.type)
                raise Unsupported(f"result: {kind}" if is_sized else reason_of("aten.nonzero"))
            kinds.append(kind)
        tensors = tuple(kind for kind in kinds if kind is not None)
        if tensors and not is_list and all(0 in kind.shape for kind in tensors):
            return [kind and self._builder.constant(0, kind) for kind in kinds]
        made = CONVERTERS[name](self._builder, Call(name, tuple(operands), tensors))
        if is_list:
            return [list(made)]
        values = [made] if isinstance(made, ir.Value) else list(made)
        for value, kind in zip(values, kinds, strict=True):
            if isinstance(value, ir.Value) and type_of(value) != kind:
                raise Unsupported(
                    f"expected its conversion to result in {kind}, as in Torch, got "
                    f"{type_of(value)}"
                )
        return values

    def _literal(self, op: ir.Operation) -> ir.Value:
        kind = parse_vtensor(str(op.results[0].type))
        if isinstance(kind, str):
            raise Unsupported(kind)
        name = self._literals.name(op.location)
        value = self._literals.read(op.attributes["value"], kind)
        if isinstance(value, torch.Tensor):
            return self._new_weight(name, value, kind)
        return self._builder.full(value, kind)

    def _fail(self, op: str, reason: str, location: ir.Location) -> None:
        self._failures.setdefault((op, reason), []).append(source_line(location))

    # The end

    def _check_returned(self, returned: Sequence[Any]) -> None:
        for index, value in enumerate(returned):
            if not isinstance(value, ir.Value):
                reason = (
                    value.reason
                    if isinstance(value, Missing)
                    else f"expected a tensor, got {value!r}"
                )
                self._fail(f"output {index}", reason, self._builder.location)

    def _finish(self, inputs: Sequence[Argument], returned: Sequence[ir.Value]) -> None:
        ir.Operation.create(
            "func.return",
            operands=list(returned),
            loc=self._builder.location,
            ip=ir.InsertionPoint(self._block),
        )
        for view in reversed(list(self._block.operations)[:-1]):
            if not any(True for result in view.operation.results for _ in result.uses):
                view.operation.erase()
        used = {
            name for name, value in self._weight_arguments.items() if any(True for _ in value.uses)
        }
        for index in reversed(range(len(self._block.arguments) - len(inputs))):
            if list(self._weights)[index] not in used:
                self._block.erase_argument(len(inputs) + index)
        self._weights = {name: tensor for name, tensor in self._weights.items() if name in used}
        names = [*self._outputs, *map(str, range(len(self._outputs), len(returned)))]
        arguments = [value.type for value in self._block.arguments]
        kind = ir.FunctionType.get(arguments, [value.type for value in returned])
        self._main.attributes["function_type"] = ir.TypeAttr.get(kind)
        self._main.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [_describe("tcp.input", each.name, each.order) for each in inputs]
            + [_describe("tcp.weight", name, steps=self._steps.get(name)) for name in self._weights]
        )
        orders = [*self._orders, *[None] * (len(returned) - len(self._orders))]
        self._main.attributes["res_attrs"] = ir.ArrayAttr.get(
            [
                _describe("tcp.output", name, order)
                for name, order in zip(names[: len(returned)], orders, strict=True)
            ]
        )


def _describe(
    key: str,
    name: str,
    order: tuple[int, ...] | None = None,
    steps: tuple[int, int, int] | None = None,
) -> ir.DictAttr:
    """The attributes of an argument or result."""
    entries = {key: ir.StringAttr.get(name)}
    if order is not None:
        entries["tcp.dim_order"] = ir.DenseI64ArrayAttr.get(list(order))
    if steps is not None:
        entries["tcp.steps"] = ir.DenseI64ArrayAttr.get(list(steps))
    return ir.DictAttr.get(entries)


def _flat(operands: Sequence[Any]) -> list[Any]:
    return [
        item
        for operand in operands
        for item in (_flat(operand) if isinstance(operand, list) else [operand])
    ]


def _has_failed(operand: Any) -> bool:
    return any(item is _NOT_CONVERTED for item in _flat([operand]))


def _is_about_sizes(op: ir.Operation) -> bool:
    """Whether an op has no tensor result. Checks and arithmetic on data-dependent sizes follow from
    an op that is already listed."""
    return not any("tensor" in str(result.type) for result in op.results)


def _constant(name: str, op: ir.Operation) -> Any:
    """The Python value of a `torch.constant.*`."""
    if name == "constant.none":
        return None
    value = op.attributes["value"]
    if name in ("constant.str", "constant.device"):
        return ir.StringAttr(value).value
    if name == "constant.bool":
        return bool(ir.BoolAttr(value).value)
    if isinstance(value, ir.FloatAttr):
        return float(ir.FloatAttr(value).value)
    return int(ir.IntegerAttr(value).value)


def has_same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Stricter than torch.equal, for which 1 equals 1.0 and 0.0 equals -0.0."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    # A copy, because a tensor of one element may have any stride.
    a, b = (each.flatten().clone(memory_format=torch.contiguous_format) for each in (a, b))
    return torch.equal(a.view(torch.uint8), b.view(torch.uint8))
