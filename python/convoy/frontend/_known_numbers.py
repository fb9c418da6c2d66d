# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers, arrays and positions that Python reads from tensors which do not depend on inputs or
weights, as in `if positions.max() > 4096`, where the model makes the positions itself. torch.export
records ops on tensors without values, and refuses a branch on them.

Buffers that are not saved with the weights are known, too. Integers and bools that are, as a flag
`initialized`, are known if the model cannot be exported otherwise: then they are compiled in."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, Node
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot
from torch.fx.node import map_arg
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from convoy.frontend._known_masks import SELECTIONS, selected
from convoy.frontend._known_reads import depends_on_values
from convoy.frontend._known_repeats import REPEATS, repeated
from convoy.frontend._known_scalars import known_scalars

__all__ = ["ReadKnownNumbers", "known_buffers"]

#: Functions whose tuples of tensors are sizes.
_SIZED = {
    F.pad,
    torch.zeros,
    torch.ones,
    torch.empty,
    torch.full,
    torch.reshape,
    torch.Tensor.reshape,
    torch.Tensor.view,
    torch.Tensor.expand,
    torch.Tensor.repeat,
}
#: Functions that take a tensor as a number.
_NARROWS = {torch.narrow, torch.Tensor.narrow}
#: Functions whose tuples of numbers and tensors are indices.
_INDEXED = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
#: Larger tensors are not computed.
_MOST_ELEMENTS = 1 << 22
#: Larger buffers are not compiled in.
_MOST_COMPILED_IN = 1 << 10


def known_buffers(module: torch.nn.Module, *, saved: bool) -> dict[str, torch.Tensor]:
    """The buffers whose values may be known while a module is exported.

    Args:
        module: The module.
        saved: Whether to include those that are saved with the weights and may be compiled in:
            integers and bools of at most 1,024 elements.

    Returns:
        Name to buffer.
    """
    known = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for name, buffer in part.named_buffers(recurse=False, remove_duplicate=False):
            is_number = not (buffer.is_floating_point() or buffer.is_complex())
            is_read = is_number and name != "num_batches_tracked"
            may_be_saved = saved and is_read and buffer.numel() <= _MOST_COMPILED_IN
            is_usual = type(buffer) is torch.Tensor and not buffer.is_meta
            if is_usual and (name in part._non_persistent_buffers_set or may_be_saved):
                known[f"{prefix}.{name}" if prefix else name] = buffer
    return known


class ReadKnownNumbers(TorchFunctionMode):
    """Computes the numbers while ops are recorded.

    Args:
        module: The module that is exported.
        buffers: Those whose values are known, by name.

    Attributes:
        read: The names of buffers that numbers depend on.
    """

    def __init__(self, module: torch.nn.Module, buffers: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._module, self._buffers = module, buffers
        self._values: dict[Graph, _Values] = {}
        self.read: set[str] = set()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if torch.compiler.is_dynamo_compiling():  # the body of a higher-order op
            return func(*args, **(kwargs or {}))
        mode = get_proxy_mode()
        if mode is not None and mode.tracer.graph not in self._values:
            # Before the first op, because the model may assign and write to its buffers.
            buffers = self._traced_buffers(mode.tracer)
            self._values[mode.tracer.graph] = _Values(mode.tracer, buffers)
        if func in REPEATS and mode is not None:
            found = repeated(self._known_arguments, args, kwargs or {})
            if found is not None:
                return found
        known = self._known_arguments(args) if depends_on_values(func, args) else None
        if known is None and func in SELECTIONS and mode is not None:
            found = selected(self._known_arguments, func, args, kwargs or {})
            if found is not None:
                return found
        if known is None:
            if func in _NARROWS:
                args = [args[0], *map(self._as_number, args[1:])]
            elif func not in _INDEXED:
                args = [self._with_numbers(each, is_size=func in _SIZED) for each in args]
            if mode is None:
                return func(*args, **(kwargs or {}))
            values = self._values[mode.tracer.graph]
            with known_scalars((args, kwargs), mode.tracer, values.of, self.read):
                return func(*args, **(kwargs or {}))
        with _disable_current_modes():
            # Copies, because an array shares the memory of its tensor.
            own = [each.clone() if isinstance(each, torch.Tensor) else each for each in known]
            found = func(*own, **(kwargs or {}))
        # A recorded copy, to which the model may write.
        return pytree.tree_map_only(torch.Tensor, torch.clone, found)

    def knows(self, args: Sequence[Any]) -> bool:
        """Whether the values of all tensors among some arguments are known.

        Args:
            args: The arguments of a function.

        Returns:
            Whether a number that is read from them is computed while ops are recorded.
        """
        return self._known_arguments(args) is not None

    def _with_numbers(self, argument: Any, *, is_size: bool) -> Any:
        """An argument; sizes in tuples, as in `F.pad(x, (2, extra))`, as numbers if they are
        known."""
        if type(argument) not in (tuple, list):
            return argument
        if not is_size and not any(isinstance(each, int) for each in argument):
            return argument
        return type(argument)(map(self._as_number, argument))

    def _as_number(self, size: Any) -> Any:
        if not isinstance(size, torch.Tensor) or size.is_floating_point() or size.dim():
            return size
        known = self._known_arguments([size])
        return size if known is None else int(known[0])

    def _known_arguments(self, args: Sequence[Any]) -> list[Any] | None:
        """Arguments with the values of tensors; None if one is unknown."""
        mode = get_proxy_mode()
        if mode is None:
            return None
        known = []
        for each in args:
            value = self._known(each, mode.tracer) if isinstance(each, torch.Tensor) else each
            if value is None:
                return None
            known.append(value)
        return known

    def _known(self, tensor: torch.Tensor, tracer: Any) -> torch.Tensor | None:
        slot = get_proxy_slot(tensor, tracer, None)
        if slot is None:
            return None
        found: torch.Tensor | None
        found, read = self._values[tracer.graph].of(slot.proxy.node)
        self.read |= read
        return found

    def _traced_buffers(self, tracer: Any) -> dict[Node, tuple[str, torch.Tensor]]:
        """The arguments of the graph that are buffers: while the module runs, its tensors are those
        of the trace. A buffer at another place than its own is one that the model assigned."""
        arguments = [node for node in tracer.graph.nodes if node.op == "placeholder"]
        nodes = {}
        for place, (name, traced) in enumerate(self._tensors()):
            slot = get_proxy_slot(traced, tracer, None) if name in self._buffers else None
            if slot is not None and slot.proxy.node in arguments[place : place + 1]:
                nodes[slot.proxy.node] = (name, self._buffers[name])
        return nodes

    def _tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Parameters and buffers in the order in which they are arguments of the graph."""
        yield from self._module.named_parameters(remove_duplicate=False)
        yield from self._module.named_buffers(remove_duplicate=False)


class _Values:
    """The values of the nodes of a graph that depend on constants only. They are computed in the
    order of the graph, because ops that are recorded may write to tensors."""

    def __init__(self, tracer: Any, buffers: Mapping[Node, tuple[str, torch.Tensor]]) -> None:
        self._root, self._graph, self._buffers = tracer.root, tracer.graph, buffers
        self._last: Node = self._graph._root
        self._known: dict[Node, Any] = {}
        self._read: dict[Node, set[str]] = {}
        self._attributes: dict[str, torch.Tensor] = {}

    def of(self, node: Node) -> tuple[Any, set[str]]:
        """The value of a node after all ops that are recorded, None if it is not known, and the
        names of the buffers that it depends on."""
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            while self._last.next is not self._graph._root:
                self._last = self._last.next
                self._compute(self._last)
        return self._known.get(node), self._read.get(node, set())

    def _compute(self, node: Node) -> None:
        if node in self._buffers:
            name, buffer = self._buffers[node]
            if buffer.numel() <= _MOST_ELEMENTS:
                self._known[node], self._read[node] = buffer.detach().clone(), {name}
            return
        if node.op == "get_attr":
            value = self._attribute(str(node.target))
            if value is not None:
                self._known[node] = value
            return
        is_op = isinstance(node.target, OpOverload)
        if node.op != "call_function" or not (is_op or node.target is operator.getitem):
            return
        if self._is_computable(node):
            args, kwargs = map_arg((node.args, node.kwargs), self._known.__getitem__)
            try:
                self._known[node] = node.target(*args, **kwargs)  # type: ignore[operator]
                self._note_reads(node)
                return
            except (RuntimeError, NotImplementedError):  # the model gets the error of torch.export
                pass
        if is_op:
            for written in _written(node):
                self._forget(written)

    def _note_reads(self, node: Node) -> None:
        """The buffers that a value depends on, and with it the tensors that the op writes to."""
        read = set().union(*(self._read.get(each, set()) for each in node.all_input_nodes))
        if not read:
            return
        storages = {_storage(each) for each in _tensors(self._known[node])}
        for changed in _written(node) if isinstance(node.target, OpOverload) else ():
            storages |= {_storage(each) for each in _tensors(self._known[changed])}
        for other, value in self._known.items():
            if other is node or any(_storage(each) in storages for each in _tensors(value)):
                self._read[other] = self._read.get(other, set()) | read

    def _is_computable(self, node: Node) -> bool:
        tags = getattr(node.target, "tags", ())
        if torch.Tag.nondeterministic_seeded in tags:
            return False
        results = [leaf for leaf in pytree.tree_leaves(node.meta.get("val")) if leaf is not None]
        return all(each in self._known for each in node.all_input_nodes) and all(
            isinstance(leaf, torch.Tensor)
            and all(isinstance(size, int) for size in leaf.shape)
            and leaf.numel() <= _MOST_ELEMENTS
            for leaf in results
        )

    def _attribute(self, name: str) -> torch.Tensor | None:
        """A copy of a constant that the model makes of numbers."""
        value = getattr(self._root, name, None)
        if isinstance(value, FakeTensor):
            value = value.constant
        if type(value) is not torch.Tensor or value.numel() > _MOST_ELEMENTS:
            return None
        return self._attributes.setdefault(name, value.clone())

    def _forget(self, written: Node) -> None:
        """Drops a tensor to which something unknown is written, and those that share its memory."""
        storages = {_storage(each) for each in _tensors(self._known.get(written))}
        self._known = {
            node: value
            for node, value in self._known.items()
            if not any(_storage(each) in storages for each in _tensors(value))
        }


def _written(node: Node) -> Iterator[Node]:
    """The operands that an op writes to."""
    for index, argument in enumerate(node.target._schema.arguments):  # type: ignore[union-attr]
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name)
            yield from (each for each in pytree.tree_leaves(given) if isinstance(each, Node))


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
