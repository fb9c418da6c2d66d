# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Proves that a program for a large size also computes smaller ones: that no op mixes the rows of a
symbol, so that the first rows of the results depend on the first rows of the inputs alone.

The proof compares the `tcp` modules of one model at several values of the symbol. They must have
the same ops, attributes and constants; a size must be the same in all, or a multiple of the symbol.
Then it follows the rows from op to op (`padding_rules`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch_mlir import ir

from convoy.dynamic.ops import described, main_function
from convoy.dynamic.padding_rules import RULES, Mark, Mixed, Operand, OpView
from convoy.frontend import ImportedModule

__all__ = ["why_not_padded"]

#: Attributes that the types determine.
_OF_TYPES = {"tcp.slice": {"sizes"}}


def why_not_padded(modules: Mapping[int, ImportedModule], least: int) -> str:
    """Whether calls can be padded to a larger value of a symbol.

    Args:
        modules: Value of the symbol to the model at that value, of at least two values. The other
            symbols have the same values.
        least: The smallest value of the symbol.

    Returns:
        An empty string if they can, else the reason with the line of the model.
    """
    values = sorted(modules, reverse=True)
    # Constants that differ between points have different names.
    for value in values[1:]:
        if own := modules[value].constants ^ modules[values[0]].constants:
            return f"the constant '{min(own)}' depends on the size, such as torch.arange of it"
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        parsed = [ir.Module.parse(modules[value].text) for value in values]
        try:
            _Proof(values, least).run(
                [
                    main_function(each, modules[value].name)
                    for value, each in zip(values, parsed, strict=True)
                ]
            )
        except Mixed as problem:
            return str(problem)
    return ""


class _Proof:
    """A proof for the modules at `values`, in decreasing order. Marks are those of the first."""

    def __init__(self, values: Sequence[int], least: int) -> None:
        self._values, self._least = values, least
        self._marks: dict[ir.Value, Mark | None] = {}
        #: The values of all modules; those that correspond have one number.
        self._numbers: dict[ir.Value, int] = {}

    def run(self, functions: Sequence[ir.Operation]) -> None:
        """Raises Mixed if rows may be mixed, or are not the first rows of a result."""
        blocks = [function.regions[0].blocks[0] for function in functions]
        for index, arguments in enumerate(_together(blocks, lambda block: block.arguments)):
            try:
                dim, size = self._dim_of(arguments)
            except Mixed as problem:
                message = f"argument {index}: {problem}"
                raise Mixed(message) from None
            self._number(arguments)
            self._marks[arguments[0]] = None if dim is None else self._whole(dim, size)
        self._block(blocks)

    def _whole(self, dim: int, size: int) -> Mark:
        return Mark(dim, 1, size // self._values[0])

    def _dim_of(self, values: Sequence[ir.Value]) -> tuple[int | None, int]:
        """The dim of values whose size is a multiple of the symbol, and its size in the first
        module. Raises Mixed for other differences."""
        shapes = [_shape(value) for value in values]
        if any(len(shape) != len(shapes[0]) for shape in shapes):
            raise Mixed("a tensor has another rank for another size")
        found = [dim for dim, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
        if not found:
            return None, 0
        if len(found) > 1:
            raise Mixed("a tensor has two dims that depend on the size")
        dim = found[0]
        multiple, rest = divmod(shapes[0][dim], self._values[0])
        sizes = [multiple * value for value in self._values]
        if rest or [shape[dim] for shape in shapes] != sizes:
            raise Mixed("a tensor has a size that is no multiple of it")
        return dim, shapes[0][dim]

    def _block(self, blocks: Sequence[ir.Block]) -> None:
        for views in _together(blocks, lambda block: block.operations):
            ops = [view.operation for view in views]
            try:
                self._check_equal(ops)
                if ops[0].name == "func.return":
                    self._return(ops[0])
                elif ops[0].name != "tcp.yield":
                    self._step(ops)
            except Mixed as problem:
                if str(problem).startswith("'"):
                    raise
                message = f"{described(ops[0])}: {problem}"
                raise Mixed(message) from None

    def _return(self, op: ir.Operation) -> None:
        for result in op.operands:
            mark = self._marks[result]
            if mark is not None and mark.outer not in (None, 1):
                raise Mixed("a result has the rows between others")

    def _check_equal(self, ops: Sequence[ir.Operation]) -> None:
        """Raises Mixed unless the ops are the same but for sizes."""
        first = _attributes(ops[0])
        for op in ops[1:]:
            if op.name != ops[0].name or len(op.operands) != len(ops[0].operands):
                raise Mixed(f"is '{op.name}' for another size")
            if _attributes(op) != first:
                raise Mixed("has attributes that depend on the size")
            for mine, other in zip(ops[0].operands, op.operands, strict=True):
                if self._numbers[mine] != self._numbers[other]:
                    raise Mixed("has other operands for another size")

    def _number(self, values: Sequence[ir.Value]) -> None:
        """Records that values of the modules correspond."""
        number = len(self._numbers)
        self._numbers.update(dict.fromkeys(values, number))

    def _step(self, ops: Sequence[ir.Operation]) -> None:
        results = []
        for values in _together(ops, lambda op: op.results):
            self._number(values)
            results.append(self._dim_of(values)[0])
        for operands in _together(ops, lambda op: op.operands):
            self._dim_of(operands)
        if ops[0].name == "tcp.scan":
            marks = self._scan(ops)
        elif ops[0].name == "tcp.isolated_group":
            marks = self._group(ops)
        else:
            marks = [self._rule(ops[0], results[0])]
        for value, dim, mark in zip(ops[0].results, results, marks, strict=True):
            if (dim, mark and mark.dim) not in ((None, None), (dim, dim)):
                raise Mixed("has a result with other rows")
            self._marks[value] = mark

    def _rule(self, op: ir.Operation, dim: int | None) -> Mark | None:
        if op.name not in RULES:
            raise Mixed("is not known to keep rows apart")
        operands = [Operand(_shape(value), self._marks[value]) for value in op.operands]
        return RULES[op.name](
            OpView(op, operands, _shape(op.results[0]), dim, self._values[0], self._least)
        )

    def _group(self, ops: Sequence[ir.Operation]) -> list[Mark | None]:
        """The marks of the results of groups, whose bodies use only the operands."""
        blocks = [op.regions[0].blocks[0] for op in ops]
        given = [self._marks[value] for value in ops[0].operands]
        self._marks.update(zip(blocks[0].arguments, given, strict=True))
        self._number_arguments(blocks)
        self._block(blocks)
        return self._yielded(blocks[0])

    def _number_arguments(self, blocks: Sequence[ir.Block]) -> None:
        for values in _together(blocks, lambda block: block.arguments):
            self._number(values)

    def _yielded(self, block: ir.Block) -> list[Mark | None]:
        return [self._marks[value] for value in list(block.operations)[-1].operation.operands]

    def _scan(self, ops: Sequence[ir.Operation]) -> list[Mark | None]:
        """The marks of the results of loops, whose state may start with equal rows."""
        carried, sliced, _ = ir.DenseI32ArrayAttr(ops[0].attributes["operandSegmentSizes"])
        given = [self._marks[value] for value in ops[0].operands]
        for mark in given[carried : carried + sliced]:
            if mark is not None and mark.dim == 0:
                raise Mixed("has steps that depend on the size")
        blocks = [op.regions[0].blocks[0] for op in ops]
        self._number_arguments(blocks)
        state = given[:carried]
        while True:
            elements = [
                mark and mark._replace(dim=mark.dim - 1)
                for mark in given[carried : carried + sliced]
            ]
            marks = [*state, *elements, *given[carried + sliced :]]
            self._marks.update(zip(blocks[0].arguments, marks, strict=True))
            self._block(blocks)
            yielded = self._yielded(blocks[0])
            if yielded[:carried] == state:
                break
            for before, after in zip(state, yielded[:carried], strict=True):
                if before is not None and before.outer is not None:
                    raise Mixed("has a state with other rows after a step")
                if before is None and after is not None:
                    raise Mixed("has a state with other rows after a step")
            state = yielded[:carried]
        return [
            *state,
            *(mark and mark._replace(dim=mark.dim + 1) for mark in yielded[carried:]),
        ]


def _together(things: Sequence[Any], items: Any) -> Iterator[tuple[Any, ...]]:
    """The items of several things, one of each. Raises Mixed if their numbers differ."""
    lists = [list(items(thing)) for thing in things]
    if any(len(each) != len(lists[0]) for each in lists):
        raise Mixed("the model has other ops for another size")
    yield from zip(*lists, strict=True)


def _shape(value: ir.Value) -> tuple[int, ...]:
    """The shape of a tensor; that of another value, such as a number, is empty."""
    if not isinstance(value.type, ir.RankedTensorType):
        return ()
    return tuple(value.type.shape)


def _attributes(op: ir.Operation) -> dict[str, str]:
    """The attributes of an op but for sizes. A splat is its number."""
    skipped = _OF_TYPES.get(op.name, set())
    return {name: _text(op.attributes[name]) for name in op.attributes if name not in skipped}


def _text(attribute: ir.Attribute) -> str:
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return str(attribute.get_splat_value())
    return str(attribute)
