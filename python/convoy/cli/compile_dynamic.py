# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`convoy compile` of models and modules with dynamic sizes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from convoy.cli.dynamic import dynamic_shapes_of, points_of
from convoy.cli.model_file import build_model
from convoy.cli.progress import Steps
from convoy.errors import ConvoyError, SymbolicSizesError
from convoy.options import CompileOptions
from convoy_runtime.output_files import write_text

if TYPE_CHECKING:
    from convoy.frontend import ImportedModule

__all__ = ["compile_model", "is_dynamic", "unweighted"]


def unweighted(options: argparse.Namespace, source: str) -> ImportedModule:
    """The module of a .mlir file, which has no data of weights."""
    from convoy.frontend import ImportedModule

    return ImportedModule(options.model, source, "", weights={}, inputs=(), outputs=())


def is_dynamic(options: argparse.Namespace, source: str | None) -> bool:
    """Whether the model, or the module `source`, has dynamic sizes. Raises ConvoyError for flags
    that do not belong together."""
    from convoy import frontend
    from convoy.dynamic.symbolic_module import declares_symbols

    wanted = bool(options.dynamic or options.points)
    if options.model.endswith(".pt2") and options.compile_from is None:
        if options.dynamic:
            message = "expected no --dynamic for a .pt2 file, whose sizes torch.export has chosen"
            raise ConvoyError(message)
        return wanted or frontend.has_symbols(frontend.read_exported(options.model))
    if source is not None and options.compile_from == "tcp" and declares_symbols(source):
        if options.dynamic:
            message = "expected no --dynamic for a .mlir file, which declares its symbols"
            raise ConvoyError(message)
        return True
    if wanted and (source is not None or options.model.endswith(".mlir")):
        message = (
            "expected a PyTorch model with --dynamic and --points, or a .mlir file with "
            "tcp.symbolic_int and --compile-from tcp, got a .mlir file without dynamic sizes"
        )
        raise ConvoyError(message)
    if options.points and not options.dynamic:
        message = "expected --dynamic with --points"
        raise ConvoyError(message)
    return wanted


def _read_model(options: argparse.Namespace) -> tuple[Any, tuple[Any, ...], Any, Any]:
    """A PyTorch model, its example inputs and keyword arguments, and its dynamic shapes. A .pt2
    file has only the model."""
    from convoy import frontend

    if options.model.endswith(".pt2"):
        return frontend.read_exported(options.model), (), None, None
    module, inputs, kwargs = build_model(options.model)
    return module, inputs, kwargs, dynamic_shapes_of(options, module, inputs, kwargs)


def _write_symbolic(options: argparse.Namespace, source: str | None) -> int:
    """Writes the `tcp` module of a PyTorch model with symbols as sizes."""
    from convoy.dynamic.symbolic_import import import_symbolic

    if source is not None or options.compile_to != "tcp":
        message = (
            "expected a PyTorch model with --compile-to tcp for a module with symbols as sizes, "
            f"got --compile-to {options.compile_to} of {options.model}; leave --dynamic out, or "
            "replace the symbols by numbers with convoy-opt --tcp-specialize-symbols"
        )
        raise ConvoyError(message)
    if options.points:
        message = (
            "expected no --points with --compile-to tcp, whose module has symbols instead; "
            "convoy-opt --tcp-specialize-symbols replaces them by the numbers of a point"
        )
        raise ConvoyError(message)
    steps = Steps(quiet=options.quiet or str(options.output) == "-")
    with steps:
        steps.start("import")
        try:
            module, inputs, kwargs, shapes = _read_model(options)
            imported = import_symbolic(
                module, inputs, kwargs, dynamic_shapes=shapes, progress=steps.start
            )
        except SymbolicSizesError as error:
            message = (
                f"the model has no module with symbols as sizes: {error}; an artifact has a module "
                "of numbers for each point: leave --compile-to out, and --dump-phases writes them"
            )
            raise ConvoyError(message) from error
        write_text(options.output, imported.text)
    return 0


def compile_model(options: argparse.Namespace, chosen: CompileOptions, source: str | None) -> int:
    """Compiles a model, or the module `source`, with dynamic sizes."""
    from convoy.dynamic.compile import compile_dynamic
    from convoy.dynamic.symbolic_module import compile_symbolic

    if options.compile_to is not None:
        return _write_symbolic(options, source)
    steps = Steps(quiet=options.quiet)
    with steps:
        steps.start("import")
        if source is not None:
            model = compile_symbolic(
                unweighted(options, source), chosen,
                points=points_of(options), progress=steps.start,
            )  # fmt: skip
        else:
            module, inputs, kwargs, shapes = _read_model(options)
            model = compile_dynamic(
                module, inputs, kwargs, chosen,
                dynamic_shapes=shapes, points=points_of(options), progress=steps.start,
            )  # fmt: skip
        steps.start("write")
        model.save(options.output, weights=chosen.weights)
    if not options.quiet:
        size = options.output.stat().st_size / 1e6
        print(
            f"{options.output}: {chosen.target}, {size:.1f} MB, {len(model.points)} points, "
            f"compiled in {steps.total:.1f} s"
        )
        for symbol in model.symbols:
            values = sorted({point[symbol.name] for point in model.points})
            kind = f"points only: {symbol.unpadded}" if symbol.unpadded else "padded between points"
            print(f"  {symbol}; points {', '.join(map(str, values))}; {kind}")
    return 0
