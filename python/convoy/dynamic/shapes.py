# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The dynamic sizes of a model: torch.export's `dynamic_shapes`, and example inputs of other
sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.dynamic_shapes import Dim

from convoy.dynamic.interface_checks import check_dims, check_results
from convoy.errors import InputError
from convoy.frontend import export_module
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import Size, parse_size, size_text
from convoy_runtime.strides import dense_order, inverse_order

__all__ = [
    "DynamicInterface",
    "dynamic_interface",
    "interface_of",
    "outputs_of",
    "resize_inputs",
    "symbol_names",
]

#: The largest value of a symbol without an upper bound.
_UNBOUNDED = 2**31 - 1
#: A tensor of the inputs, and its entry of `dynamic_shapes`.
_Leaf = tuple[torch.Tensor, Mapping[int, Any]]


@dataclass(frozen=True)
class DynamicInterface:
    """The inputs and outputs of a model with dynamic sizes.

    Attributes:
        symbols: The sizes that each call chooses.
        inputs: The inputs.
        outputs: The outputs.
        program: The exported program, with symbolic sizes.
    """

    symbols: tuple[Symbol, ...]
    inputs: tuple[DynamicTensor, ...]
    outputs: tuple[DynamicTensor, ...]
    program: torch.export.ExportedProgram


def dynamic_interface(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
) -> DynamicInterface:
    """Exports a module with symbolic sizes, which checks that it works for all of their values.

    Args:
        module: The module in evaluation mode.
        inputs: The example inputs.
        kwargs: The example keyword arguments.
        dynamic_shapes: As of `torch.export.export`.

    Returns:
        The interface.

    Raises:
        InputError: `dynamic_shapes` does not match the inputs, or no size is dynamic.
        ExportError: torch.export failed, e.g. because the model specializes a size.
    """
    leaves = _leaves(module, inputs, kwargs or {}, dynamic_shapes)
    inputs, kwargs = _without_ones(inputs, dict(kwargs or {}), leaves)
    program = export_module(module, inputs, kwargs, dynamic_shapes=dynamic_shapes)
    return interface_of(program, [_names(entry) for _, entry in leaves])


def interface_of(
    program: torch.export.ExportedProgram, names: Sequence[Mapping[int, str]] = ()
) -> DynamicInterface:
    """The interface of an exported program.

    Args:
        program: The exported program.
        names: For each input, dim to the name of its symbol. Default: input and dim, as in `x_0`.

    Returns:
        The interface.

    Raises:
        InputError: No size is dynamic, a size of an input is not of the form `2*name+1`, or a
            result is a number that depends on a size.
    """
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    given = [
        placeholders[name] for name in program.graph_signature.user_inputs if isinstance(name, str)
    ]
    tensors = [node for node in given if isinstance(node.meta["val"], torch.Tensor)]
    found: dict[Any, str] = {}
    for place, node in enumerate(tensors):
        for dim, size in enumerate(node.meta["val"].shape):
            for symbol in _symbols(size):
                chosen = names[place].get(dim) if place < len(names) else None
                found.setdefault(symbol, chosen or f"{node.name}_{dim}")
    if not found:
        message = (
            "expected a dynamic size, but all sizes of the inputs are static; mark them with "
            "dynamic_shapes, e.g. {'x': {0: torch.export.Dim('batch', min=1, max=64)}}"
        )
        raise InputError(message)
    inputs = tuple(
        DynamicTensor(
            node.name,
            tuple(_text(size, found, f"dim {dim} of input '{node.name}'")
                  for dim, size in enumerate(node.meta["val"].shape)),
            str(node.meta["val"].dtype).removeprefix("torch."),
        )
        for node in tensors
    )  # fmt: skip
    check_results(program, found)
    return DynamicInterface(_ranges(program, found), inputs, (), program)


def outputs_of(interface: DynamicInterface, specs: Sequence[Any]) -> tuple[DynamicTensor, ...]:
    """The outputs of a program with symbolic sizes.

    Args:
        interface: Its interface, whose outputs are not known yet.
        specs: The outputs at one point.

    Returns:
        The outputs, with the names of the specs.
    """
    found = symbol_names(interface)
    returned = interface.program.graph.output_node().args[0]
    values = [each.meta["val"] for each in returned if isinstance(each, torch.fx.Node)]
    values = [value for value in values if isinstance(value, torch.Tensor)]
    return tuple(
        DynamicTensor(
            spec.name, tuple(_output_text(size, found) for size in value.shape), spec.dtype
        )
        for spec, value in zip(specs, values, strict=True)
    )


def resize_inputs(
    interface: DynamicInterface,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    values: Mapping[str, int],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Example inputs of other sizes, with repeated or fewer slices of the given ones.

    Args:
        interface: The interface.
        inputs: The example inputs.
        kwargs: The example keyword arguments.
        values: The value of each symbol.

    Returns:
        The inputs and keyword arguments.
    """
    shapes = iter([tuple(_size(t).at(values) for t in each.sizes) for each in interface.inputs])
    return _map_tensors(inputs, dict(kwargs or {}), lambda tensor: _resized(tensor, next(shapes)))


def _resized(tensor: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """A tensor of another shape with slices of `tensor`, and its order of dims in memory."""
    result = tensor.detach()
    for dim, size in enumerate(shape):
        if size != result.shape[dim]:
            index = torch.arange(size, device=result.device) % result.shape[dim]
            result = result.index_select(dim, index)
    order = dense_order(tuple(tensor.shape), tuple(tensor.stride()))
    if order is None or list(order) == sorted(order):
        return result
    return result.permute(order).contiguous().permute(inverse_order(order))


def _map_tensors(
    inputs: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[torch.Tensor], Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with changed tensors."""
    changed = pytree.tree_map_only(torch.Tensor, change, (inputs, kwargs))
    return changed[0], changed[1]


# dynamic_shapes


def _leaves(
    module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: Mapping[str, Any], spec: Any
) -> list[_Leaf]:
    """Each tensor of the inputs with its entry of `dynamic_shapes`, dim to Dim."""
    try:
        bound = inspect.signature(module.forward).bind(*inputs, **kwargs)
    except TypeError as error:
        message = f"the example inputs do not match the arguments of forward: {error}"
        raise InputError(message) from error
    if isinstance(spec, Mapping):
        unknown = spec.keys() - bound.arguments.keys()
        if unknown:
            message = (
                f"expected names of inputs in dynamic_shapes ({', '.join(bound.arguments)}), got "
                f"{', '.join(sorted(map(str, unknown)))}"
            )
            raise InputError(message)
        entries = [spec.get(name) for name in bound.arguments]
    else:
        given = list(spec or ())
        entries = given + [None] * (len(bound.arguments) - len(given))
    return [
        leaf
        for (name, value), entry in zip(bound.arguments.items(), entries, strict=False)
        for leaf in _pair(value, entry, name)
    ]


def _pair(value: Any, entry: Any, name: str) -> list[_Leaf]:
    if isinstance(value, torch.Tensor):
        dims = dict(entry if isinstance(entry, Mapping) else enumerate(entry or ()))
        check_dims(value, dims, name)
        return [(value, {int(dim) % value.dim(): each for dim, each in dims.items()})]
    if isinstance(value, Mapping):
        by_key = entry if isinstance(entry, Mapping) else {}
        return [leaf for key, each in value.items() for leaf in _pair(each, by_key.get(key), name)]
    children = pytree.tree_flatten(value, is_leaf=lambda each: each is not value)[0]
    if len(children) == 1 and children[0] is value:
        return []
    entries = list(entry) if isinstance(entry, (list, tuple)) else []
    entries += [None] * (len(children) - len(entries))
    return [
        leaf
        for child, each in zip(children, entries, strict=True)
        for leaf in _pair(child, each, name)
    ]


def _names(entry: Mapping[int, Any]) -> dict[int, str]:
    """The names of the Dims of an entry; derived dims have the name of their root, and hints such
    as Dim.AUTO have none."""
    roots = {dim: getattr(each, "root", each) for dim, each in entry.items()}
    return {dim: each.__name__ for dim, each in roots.items() if hasattr(each, "__name__")}


def _without_ones(
    inputs: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[_Leaf]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Example inputs whose dynamic sizes are not 1, because torch.export makes a size of 1
    static."""
    rest = iter(leaves)

    def change(tensor: torch.Tensor) -> torch.Tensor:
        _, entry = next(rest)
        shape = [
            _enough(entry[dim]) if dim in entry and _is_dynamic(entry[dim]) and size == 1 else size
            for dim, size in enumerate(tensor.shape)
        ]
        return _resized(tensor, tuple(shape))

    return _map_tensors(inputs, kwargs, change)


def _is_dynamic(each: Any) -> bool:
    return each is not None and not isinstance(each, int) and each is not Dim.STATIC


def _enough(each: Any) -> int:
    """A size above 1 in the range of a Dim. Equal Dims have equal sizes."""
    low, high = getattr(each, "min", 2), getattr(each, "max", 2)
    return int(max(2, low)) if high >= 2 else 1


# Sizes


def _symbols(size: Any) -> set[Any]:
    return set(size.node.expr.free_symbols) if isinstance(size, torch.SymInt) else set()


def _linear(size: Any, names: Mapping[Any, str]) -> Size | None:
    """A size as a factor of one symbol and an offset, or None."""
    if not isinstance(size, torch.SymInt):
        return Size("", 0, int(size))
    expression = size.node.expr
    if expression.is_number:
        return Size("", 0, int(expression))
    symbols = expression.free_symbols
    if len(symbols) != 1 or not symbols <= names.keys():
        return None
    (symbol,) = symbols
    offset, factor = (
        expression.subs(symbol, 0),
        expression.subs(symbol, 1) - expression.subs(symbol, 0),
    )
    is_linear = (factor * symbol + offset - expression).expand() == 0
    if not is_linear or not factor.is_integer or not offset.is_integer or factor <= 0:
        return None
    return Size(names[symbol], int(factor), int(offset))


def _text(size: Any, names: Mapping[Any, str], where: str) -> str:
    found = _linear(size, names)
    if found is None:
        message = f"{where}: expected a size such as 2*name+1 of one symbol, got {size}"
        raise InputError(message)
    return size_text(found)


def _output_text(size: Any, names: Mapping[Any, str]) -> str:
    found = _linear(size, names)
    return "?" if found is None else size_text(found)


def _size(text: str) -> Size:
    found = parse_size(text)
    assert found is not None
    return found


def symbol_names(interface: DynamicInterface) -> dict[Any, str]:
    """The symbols of the exported program and their names."""
    found: dict[Any, str] = {}
    placeholders = {n.name: n for n in interface.program.graph.nodes if n.op == "placeholder"}
    for tensor in interface.inputs:
        for size, text in zip(
            placeholders[tensor.name].meta["val"].shape, tensor.sizes, strict=True
        ):
            for symbol in _symbols(size):
                found[symbol] = _size(text).symbol
    return found


def _ranges(program: torch.export.ExportedProgram, names: Mapping[Any, str]) -> tuple[Symbol, ...]:
    symbols = []
    for symbol, name in names.items():
        bounds = program.range_constraints.get(symbol)
        low = 1 if bounds is None else max(1, int(bounds.lower))
        # torch's infinity is larger than each integer.
        bounded = bounds is not None and bool(bounds.upper < _UNBOUNDED)
        high = int(bounds.upper) if bounded else _UNBOUNDED
        symbols.append(Symbol(name, low, high, 1))
    seen = [symbol.name for symbol in symbols]
    twice = next((name for name in seen if seen.count(name) > 1), None)
    if twice is not None:
        message = f"expected one symbol '{twice}', got two; use one Dim for equal sizes"
        raise InputError(message)
    return tuple(symbols)
