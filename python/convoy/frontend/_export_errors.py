# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What errors of torch.export say about a model."""

from __future__ import annotations

import re
import traceback
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import Graph
from torch.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound,
)
from torch.fx.proxy import TracerBase
from torch.utils import _pytree as pytree

from convoy.frontend._source_lines import innermost, own_lines, own_lines_of

__all__ = ["NOT_RECORDED", "VALUE_ERRORS", "last_user_line", "reason_of_export"]

_RUNNING = re.compile(r"While executing .*?target=(?:torch\.ops\.)?([\w.]+)")
#: Torch's lists of backends, which follow the description of an error.
_BACK_ENDS = re.compile(
    r" This could be because the operator doesn't exist for this backend.*", re.DOTALL
)
#: What torch.export says about tensors that are computed without an op that it records.
NOT_RECORDED = "We found a fake tensor in the exported program constant's list"
_NEEDS_REGISTRATION = re.compile(r"Found <class '([^']+)'> in output, which is not a known type")
#: What torch.export says about a write to a tensor that is neither an input nor a buffer.
_WRITTEN = re.compile(r"Constant (\S+) is mutated in the forward method")
_READS_VALUES = (
    "it reads the values of a tensor while the model is exported, where only shapes are known; "
    "expected a model that computes it after the compiled part"
)
_DATA_DEPENDENT = (
    "the model has control flow or shapes that depend on the values of a tensor; expected "
    "dependence on the shapes of the inputs only: torch.where selects by values, and those of a "
    "buffer with persistent=False are known"
)
#: Parts of torch's errors about code that reads the memory of tensors.
_READS_MEMORY = (
    "data is not allocated yet",
    "Cannot access data pointer of Tensor",
    ".numpy() is not supported for tensor subclasses",
)
_OP_ERRORS = (DataDependentOutputException, DynamicOutputShapeException)
#: The last is about a mask beside other indices, as in `x[mask, i]`.
VALUE_ERRORS = (*_OP_ERRORS, PendingUnbackedSymbolNotFound)
#: What Python says about a set or a key of a dict with a number that is not known.
_HASHED = "unhashable type: non-nested Sym"
#: What torch.export says about a write to an input that shares memory with another one.
_SHARED = "expected compiled_fn to be GraphModule"
_HIDDEN = (
    "the model computes a tensor in a way that torch.export does not record, such as "
    "tensor.backward(); expected a model that consists of ops on tensors"
)


def reason_of_export(error: Exception) -> str:
    """The description in torch's message, without traces, lists of backends and advice on debugging
    torch."""
    if isinstance(error, GuardOnDataDependentSymNode):
        return _DATA_DEPENDENT + _what_is_read(error)
    if NOT_RECORDED in str(error):
        return _HIDDEN
    if isinstance(error, PendingUnbackedSymbolNotFound):
        return _DATA_DEPENDENT
    if isinstance(error, _OP_ERRORS):
        return f"{error.func}: {_READS_VALUES}"
    text = str(error).strip()
    if written := _WRITTEN.search(text):
        return (
            f"expected no in-place writes to constants, got one to '{written[1]}', a tensor that "
            "is neither an input, a parameter nor a buffer; return the new value instead"
        )
    if text.startswith(_HASHED):
        return (
            "the model has a set or a dict with a number that depends on the values of a tensor or "
            "on a dynamic size; expected numbers that depend on static shapes only, or on a buffer "
            "with persistent=False, whose values are known"
        )
    if _SHARED in text:
        return (
            "the model writes to one of several inputs that share memory; expected example inputs "
            "of their own memory: clone() them"
        )
    if any(part in text for part in _READS_MEMORY):
        return f"{_READS_VALUES}, or uses ops, such as torch.stack in place of numpy.stack"
    if found := _NEEDS_REGISTRATION.search(text):
        kind = found[1].rpartition(".")[2]
        return (
            "expected tensors in tuples, lists, dicts, named tuples and attributes of objects, got "
            f"{kind}; "
            f"torch.export.register_dataclass({kind}) registers it"
        )
    if "nested_tensor" in text:
        return (
            "the model makes a nested tensor, whose rows differ in length; expected dense tensors: "
            "pad the rows and mask what is padded"
        )
    running = _RUNNING.search(text)
    op = f"{running[1].removesuffix('.default')}: " if running else ""
    return op + (_BACK_ENDS.sub("", text.partition("\n\n")[0]).strip() or type(error).__name__)


def _what_is_read(error: GuardOnDataDependentSymNode) -> str:
    """The op that computes the values on which control flow depends, and what to do about NMS."""
    hint = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.endswith("torchvision/ops/boxes.py"):
            hint = "; hint: it selects boxes by their values; compile the model up to the selection"
    for frame, _ in traceback.walk_tb(error.__traceback__):
        tracer = frame.f_locals.get("self")
        if isinstance(tracer, TracerBase) and isinstance(
            graph := getattr(tracer, "graph", 0), Graph
        ):
            for node in graph.nodes:
                if _symbols(node.meta.get("val")) & error.cond.free_symbols:
                    op = str(node.target).removesuffix(".default")
                    own = own_lines(node.stack_trace)
                    place = f" at {innermost(own)}" if own else ""
                    return f"; the values are those of {op}{place}{hint}"
    return hint


def _symbols(value: Any) -> set[Any]:
    """The symbols in a number, or in the sizes of tensors."""
    found: set[Any] = set()
    for leaf in pytree.tree_leaves(value):
        for size in leaf.shape if isinstance(leaf, torch.Tensor) else (leaf,):
            if isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                found |= size.node.expr.free_symbols
    return found


def last_user_line(error: BaseException) -> str:
    """The innermost line of the model's source in the stack, or, if torch runs a recorded graph, in
    the trace of its message."""
    own = own_lines_of(error)
    own += own_lines(str(error)) if _RUNNING.search(str(error)) else []
    if own:
        return f"{innermost(own)}: "
    return _line_of_write(error) or _last_node_line(error)


def _line_of_write(error: BaseException) -> str:
    """The line of the last op on the value that a model writes to a tensor of its own."""
    written = _WRITTEN.search(str(error))
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__)) if written else []):
        values = list(frame.f_locals.values())
        names = {
            spec.arg.name
            for value in values
            if isinstance(value, ExportGraphSignature)
            for spec in value.output_specs
            if written and spec.target == written[1]
        }
        graphs = [value.graph for value in values if isinstance(value, torch.fx.GraphModule)]
        for node in (node for graph in graphs for node in graph.nodes):
            if node.name in names and (own := own_lines(node.stack_trace)):
                return f"{innermost(own)}: "
    return ""


def _last_node_line(error: BaseException) -> str:
    """The line of the innermost op that torch was running, if it runs a graph of its own."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            trace = value.meta.get("stack_trace") if isinstance(value, torch.fx.Node) else None
            if own := own_lines(trace):
                return f"{innermost(own)}: "
    return ""
