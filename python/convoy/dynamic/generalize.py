# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Makes one `tcp` module with symbols of the modules of a model for several values of them.

The modules must have the same ops, operands and attributes. A dim whose size differs between them
becomes `?`. Its size follows from the operands of the op, or is bound to an expression of
torch.export's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch_mlir import ir

from convoy.dialects import to_text
from convoy.dynamic.correspondence import Correspondence
from convoy.dynamic.emit_symbolic import Shapes, SymbolicEmitter, shape_of
from convoy.dynamic.generalize_arguments import generalize_arguments
from convoy.dynamic.ops import described, main_function
from convoy.dynamic.rewrites import repeated, size_numbers, sliced
from convoy.dynamic.size_expressions import SizeExpressions
from convoy.errors import SymbolicSizesError
from convoy.frontend import ImportedModule
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol

__all__ = ["Generalized", "generalized"]

#: Ops whose operands do not determine each size of the result.
_FREE = ("tcp.conv_backward_data", "tcp.iota", "tcp.max_pool_backward")


def generalized(
    samples: Sequence[Mapping[str, int]],
    modules: Sequence[ImportedModule],
    symbols: Sequence[Symbol],
    inputs: Sequence[DynamicTensor],
    sizes: SizeExpressions,
) -> Generalized:
    """Makes the module with symbols.

    Args:
        samples: The value of each symbol in each sample.
        modules: The model at each sample; equal constants have equal names.
        symbols: The symbols.
        inputs: The inputs, with their sizes.
        sizes: The expressions of sizes.

    Returns:
        The module.

    Raises:
        SymbolicSizesError: Ops, attributes or constants depend on sizes.
    """
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        parsed = [ir.Module.parse(module.text) for module in modules]
        functions = [
            main_function(each, module.name) for each, module in zip(parsed, modules, strict=True)
        ]
        blocks = [function.regions[0].blocks[0] for function in functions]
        # Those of the samples, without the ops that follow.
        ops = [_operations(block) for block in blocks]
        found, emitter = Correspondence(samples), SymbolicEmitter(blocks[0], symbols, sizes)
        tables = generalize_arguments(functions, modules, symbols, inputs, found, emitter)
        made = _Ops(found, emitter)
        made.block(ops)
        _set_type(functions[0])
        return Generalized(to_text(parsed[0]), made.rewritten, tables)


@dataclass(frozen=True)
class Generalized:
    """A module with symbols.

    Attributes:
        text: Its text.
        rewritten: For each sample, the indices of those of its ops that others replace. An op is
            before those inside of it.
        tables: Name of a constant to the one of the largest sizes, of which the module reads the
            first elements.
    """

    text: str
    rewritten: Sequence[Set[int]]
    tables: Mapping[str, torch.Tensor]


class _Ops:
    """Changes the ops of the first function."""

    def __init__(self, found: Correspondence, emitter: SymbolicEmitter) -> None:
        self._found, self._emitter = found, emitter
        #: The number of ops of each function so far, and which of them were replaced.
        self._places = [0 for _ in found.samples]
        self.rewritten = [set[int]() for _ in found.samples]

    def block(
        self, functions: Sequence[Sequence[ir.Operation]], *, is_nested: bool = False
    ) -> None:
        """Generalizes the ops of a block of each function, which end with a terminator."""
        places = [0] * len(functions)
        for first in functions[0]:
            ops: list[ir.Operation | None] = [first]
            for sample, each in enumerate(functions[1:], 1):
                op = each[places[sample]]
                is_omitted = self._is_omitted(first, op)
                ops.append(None if is_omitted else op)
                places[sample] += not is_omitted
            with _errors_about(first):
                is_replaced = self._op(first, ops)
            if is_replaced:
                continue
            self._regions(first, [op for op in ops if op is not None])
            if not is_nested:
                with _errors_about(first):
                    self._bind(first)

    def _is_omitted(self, first: ir.Operation, op: ir.Operation) -> bool:
        """Whether a slice is all of its operand in another sample, which has `op` in its place."""
        if not _is_prefix(first):
            return False
        return not _is_prefix(op) or not self._found.is_same(first.operands[0], op.operands[0])

    def _op(self, first: ir.Operation, ops: Sequence[ir.Operation | None]) -> bool:
        """Generalizes an op without its regions. Returns whether other ops replace it."""
        places = list(self._places)
        self._places = [place + (op is not None) for place, op in zip(places, ops, strict=True)]
        self._check_equal(first, ops)
        self._emitter.location, self._emitter.point = first.location, ir.InsertionPoint(first)
        # The result of a slice that is omitted is its operand.
        results = [
            [self._found.of(first.operands[0], sample)] if op is None else list(op.results)
            for sample, op in enumerate(ops)
        ]
        shapes = [[shape_of(value) for value in values] for values in zip(*results, strict=True)]
        attributes = [
            _attributes(first if op is None else op, values)
            for op, values in zip(ops, results, strict=True)
        ]
        made = self._rewritten(first, attributes, shapes)
        for values in zip(*results, strict=True):
            self._found.add(values)
        if made is not None:
            self._found.replace(first.results[0], made)
            for rewritten, place, op in zip(self.rewritten, places, ops, strict=True):
                if op is not None:
                    rewritten.add(place)
            first.erase()
        return made is not None

    def _regions(self, first: ir.Operation, ops: Sequence[ir.Operation]) -> None:
        for regions in zip(*(list(op.regions) for op in ops), strict=True):
            blocks = [region.blocks[0] for region in regions]
            with _errors_about(first):
                for values in zip(*(list(block.arguments) for block in blocks), strict=True):
                    self._found.add(values)
            self.block([_operations(block) for block in blocks], is_nested=True)

    def _check_equal(self, first: ir.Operation, ops: Sequence[ir.Operation | None]) -> None:
        """Raises SymbolicSizesError unless the ops have equal names and operands."""
        names = [first.name if op is None else op.name for op in ops]
        if len(set(names)) > 1:
            message = f"depends on the sizes: {self._found.differing(names)}"
            raise SymbolicSizesError(message)
        for op in ops:
            if op is None:
                continue
            if len(op.operands) != len(first.operands) or len(op.results) != len(first.results):
                raise SymbolicSizesError("has other operands or results for other sizes")
            for mine, other in zip(first.operands, op.operands, strict=True):
                if not self._found.is_same(mine, other):
                    raise SymbolicSizesError("has other operands for other sizes")

    def _rewritten(
        self,
        first: ir.Operation,
        attributes: Sequence[Mapping[str, ir.Attribute]],
        shapes: Sequence[Shapes],
    ) -> ir.Value | None:
        """The result of other ops that have the results of ops with different attributes; None if
        these are equal."""
        texts = [{name: str(value) for name, value in each.items()} for each in attributes]
        names = sorted({name for each in texts for name in each})
        differing = [name for name in names if len({each.get(name) for each in texts}) > 1]
        if not differing:
            return None
        made = None
        if first.name == "arith.constant":
            values = [each["value"] for each in attributes]
            made = repeated(self._emitter, values, shapes[0])
            made = made or size_numbers(self._emitter, values, shapes[0])
        elif first.name == "tcp.slice" and "strides" not in differing:
            operand = first.operands[0]
            starts = [list(ir.DenseI64ArrayAttr(each["starts"])) for each in attributes]
            strides = list(ir.DenseI64ArrayAttr(attributes[0]["strides"]))
            before = self._found.shapes[operand]
            made = sliced(self._emitter, operand, before, shapes[0], starts, strides)
        if made is None:
            name = "starts" if "starts" in differing else differing[0]
            which = self._found.differing([each.get(name) for each in texts])
            message = f"has a '{name}' that depends on the sizes: {which}"
            raise SymbolicSizesError(message)
        return made

    def _bind(self, op: ir.Operation) -> None:
        """Binds results whose sizes do not follow from the operands."""
        self._emitter.point = ir.InsertionPoint.after(op)
        for result in op.results:
            shapes = self._found.shapes[result]
            dynamic = [len(set(sizes)) > 1 for sizes in zip(*shapes, strict=True)]
            is_free = op.name in _FREE and any(dynamic)
            if op.name == "tcp.reshape":
                is_free = sum(dynamic) > 1
            elif op.name == "tcp.broadcast":
                given = self._found.shapes[op.operands[0]]
                is_free = any(
                    each and {*sizes} == {1}
                    for each, sizes in zip(dynamic, zip(*given, strict=True), strict=True)
                )
            if is_free:
                self._emitter.bind_shapes(result, shapes)


@contextmanager
def _errors_about(op: ir.Operation) -> Iterator[None]:
    """Errors begin with the op and its line."""
    try:
        yield
    except SymbolicSizesError as problem:
        message = f"{described(op)}: {problem}"
        raise SymbolicSizesError(message) from None


def _operations(block: ir.Block) -> list[ir.Operation]:
    return [view.operation for view in block.operations]


def _is_prefix(op: ir.Operation) -> bool:
    """Whether an op is a slice that begins at the first element and leaves none out."""
    if op.name != "tcp.slice":
        return False
    starts, strides = (ir.DenseI64ArrayAttr(op.attributes[n]) for n in ("starts", "strides"))
    return {*starts} == {0} and {*strides} == {1}


def _attributes(op: ir.Operation, results: Sequence[ir.Value]) -> dict[str, ir.Attribute]:
    """The attributes of an op; those of an omitted slice with its sizes."""
    found = {name: op.attributes[name] for name in op.attributes}
    if op.name == "tcp.slice":
        found["sizes"] = ir.DenseI64ArrayAttr.get(shape_of(results[0]))
    return found


def _set_type(function: ir.Operation) -> None:
    """Updates the type of a function after those of its arguments and results."""
    block = function.regions[0].blocks[0]
    returned = list(block.operations)[-1].operation.operands
    kind = ir.FunctionType.get(
        [value.type for value in block.arguments], [value.type for value in returned]
    )
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
