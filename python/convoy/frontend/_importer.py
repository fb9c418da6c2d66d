"""`nn.Module` -> torch.export -> torch-mlir's FX importer -> `tcp`, and the same from a torch-dialect file.

torch.export already hands over parameters, buffers and lifted constants as inputs of its graph. Importing that graph as it stands
keeps them function arguments, so that no weight is ever turned into an attribute: that is what costs seconds and hundreds of
megabytes otherwise.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sysconfig
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.graph_signature import ExportGraphSignature, InputKind, OutputKind, TensorArgument
from torch.fx.proxy import TracerBase
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from convoy.errors import ExportError, InputError
from convoy.frontend._convert import Argument, Converted, convert_function
from convoy.frontend._literals import Literals
from convoy.frontend._registry import CONVERTERS

__all__ = ["ImportedModule", "import_module"]

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LIBRARY = sysconfig.get_path("stdlib") + "/"
_TORCH = str(Path(torch.__file__).parent) + "/"


@dataclass(frozen=True)
class ImportedModule:
    """A model in the `tcp` phase.

    `text` is generic-form MLIR with locations; `torch_text` is the torch-dialect module that it was made from. `weights` has the
    tensors that the model uses, by name, in argument order, contiguous and sharing memory with the module wherever it is
    contiguous there. `constants` names those of them that no `state_dict` holds (lifted constants, non-persistent buffers,
    tensors made by conversion). `aliases` maps each other name of a shared tensor to the name that is used, and `unused` lists
    parameters and buffers that no output needs.
    """

    name: str
    text: str
    torch_text: str
    weights: Mapping[str, torch.Tensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


def import_module(module: torch.nn.Module, example_inputs: tuple[Any, ...], *, name: str = "model") -> ImportedModule:
    """Imports `module` as it runs on `example_inputs`, whose shapes and dtypes become the compiled ones.

    Raises InputError (training mode, inputs that are no tensors, a dtype with no `tcp` type), ExportError (torch.export refuses
    the model) and UnsupportedOpsError (ops with no conversion; all of them are listed).
    """
    program = _export(module, example_inputs)
    arguments = _arguments(program)
    _keep_user_lines(program.graph)
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    function = importer.import_stateless_graph(program.graph, func_name="main").operation
    torch_text = importer.module.operation.get_asm(enable_debug_info=True)
    outputs = _output_names(program)
    converted = convert_function(function, arguments, outputs, Literals())
    return _imported(name, converted, torch_text, arguments, outputs, _shared(module, converted), program.graph_signature)


def _export(module: torch.nn.Module, example_inputs: tuple[Any, ...]) -> torch.export.ExportedProgram:
    if not isinstance(module, torch.nn.Module):
        msg = f"expected a torch.nn.Module, got {type(module).__name__}"
        raise InputError(msg)
    if not isinstance(example_inputs, tuple):
        msg = f"expected the example inputs as a tuple, got {type(example_inputs).__name__}"
        raise InputError(msg)
    if module.training:
        msg = "expected a module in evaluation mode, got one in training mode; call module.eval() first"
        raise InputError(msg)
    fast_path = torch.backends.mha.get_fastpath_enabled()
    # The fast path is one fused op without a decomposition; the slow one is made of ops that have converters.
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings(), torch.no_grad(), _own_frames():
            warnings.simplefilter("ignore")
            program = torch.export.export(module, example_inputs, strict=False)
            decomposed: torch.export.ExportedProgram = program.run_decompositions(_decompositions())
            return decomposed
    except Exception as error:
        msg = f"torch.export cannot export the module: {_last_user_line(error)}{str(error).strip() or type(error).__name__}"
        raise ExportError(msg) from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)


@contextlib.contextmanager
def _own_frames() -> Iterator[None]:
    """torch.export records the frames of functions named `forward` alone. Ops in a helper method would then get the line of its
    call, so the tracer's hook for choosing frames is replaced while exporting: it keeps every frame of the user's own files."""
    original = TracerBase._filter_traceback_frames

    def keep(tracer: TracerBase, stack: traceback.StackSummary) -> traceback.StackSummary:
        names = [frame.name for frame in stack]
        inside = stack[names.index("forward") :] if "forward" in names else []
        return traceback.StackSummary.from_list([frame for frame in inside if frame.name == "forward" or _is_own(frame.filename)])

    TracerBase._filter_traceback_frames = keep  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = original  # type: ignore[method-assign]


def _is_own(filename: str) -> bool:
    """Whether a file is neither torch's nor the standard library's (a decorator's, say)."""
    library = filename.startswith(_LIBRARY) and "site-packages" not in filename
    return not library and not filename.startswith((_TORCH, "<"))


@functools.cache
def _decompositions() -> dict[Any, Any]:
    """Everything torch can decompose, less what has a converter."""
    table = torch.export.default_decompositions().items()  # type: ignore[no-untyped-call]
    return {op: rule for op, rule in table if str(op).removesuffix(".default") not in CONVERTERS}


def _arguments(program: torch.export.ExportedProgram) -> list[Argument]:
    signature = program.graph_signature
    for output in signature.output_specs:
        if output.kind is not OutputKind.USER_OUTPUT:
            msg = f"expected a model that changes nothing in place, got one that writes to '{output.target}'"
            raise InputError(msg)
        if not isinstance(output.arg, TensorArgument):
            msg = f"expected outputs that are tensors, got {getattr(output.arg, 'value', output.arg)!r}"
            raise InputError(msg)
    arguments = []
    for spec in signature.input_specs:
        if not isinstance(spec.arg, TensorArgument):
            got = getattr(spec.arg, "value", spec.arg)
            msg = f"input '{spec.arg.name}': expected a tensor, got {got!r}"
            raise InputError(msg)
        if spec.kind is InputKind.USER_INPUT:
            arguments.append(Argument(spec.arg.name))
            continue
        assert spec.target is not None
        tensor = program.state_dict.get(spec.target)
        if tensor is None:
            tensor = program.constants[spec.target]
        assert isinstance(tensor, torch.Tensor)
        inline = spec.kind is InputKind.CONSTANT_TENSOR and tensor.numel() == 1
        # The data is read from memory, where a view that is negative or conjugate by a bit has other numbers.
        arguments.append(Argument(spec.target, tensor.detach().resolve_neg().resolve_conj().contiguous(), inline))
    return arguments


def _keep_user_lines(graph: torch.fx.Graph) -> None:
    """Cuts each stack trace to one frame, the innermost outside torch: that is the line that the user wrote, and what
    every later error shows."""
    for node in graph.nodes:
        frames = _FRAME.findall(node.meta.get("stack_trace") or "")
        own = [frame for frame in frames if _is_own(frame[0])] or frames
        if own:
            node.meta["stack_trace"] = f'File "{own[-1][0]}", line {own[-1][1]}, in forward'


def _last_user_line(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith((_TORCH, __file__))]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _output_names(program: torch.export.ExportedProgram) -> list[str]:
    """ "0", "1", ... for a tensor or a tuple of them; keys joined by dots for nested ones."""
    spec = program.call_spec.out_spec
    count = len(program.graph_signature.output_specs)
    if spec is None:
        return [str(index) for index in range(count)]
    tree = pytree.tree_unflatten(list(range(count)), spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    return [".".join(_key(key) for key in path) or "0" for path in paths]


def _key(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def _shared(module: torch.nn.Module, converted: Converted) -> dict[str, str]:
    """Names of one tensor that the module has under several."""
    used = {_identity(tensor): name for name, tensor in converted.weights.items()}
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {
        name: used[_identity(tensor)]
        for name, tensor in named
        if name not in converted.weights and tensor.numel() and _identity(tensor) in used
    }


def _identity(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.is_neg())


def _imported(
    name: str,
    converted: Converted,
    torch_text: str,
    arguments: list[Argument],
    outputs: list[str],
    aliases: dict[str, str],
    signature: ExportGraphSignature,
) -> ImportedModule:
    kept = {spec.target for spec in signature.input_specs if spec.kind is InputKind.PARAMETER or (spec.persistent and spec.target)}
    unused = [
        argument.name
        for argument in arguments
        if argument.tensor is not None and not argument.inline and argument.name not in {*converted.weights, *aliases}
    ]
    return ImportedModule(
        name=name,
        text=converted.text,
        torch_text=torch_text,
        weights=converted.weights,
        inputs=tuple(argument.name for argument in arguments if argument.tensor is None),
        outputs=tuple(outputs),
        constants=frozenset(converted.weights.keys() - kept),
        aliases=aliases,
        unused=tuple(unused),
    )
