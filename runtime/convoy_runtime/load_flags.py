# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Command line flags of all commands that load artifacts: the expected digest, restrictions on
plans, the plan store, CUDA graphs, and the files of a run."""

from __future__ import annotations

import argparse
import re
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict

if TYPE_CHECKING:
    from .cuda.plans.options import PlanOptions

__all__ = [
    "LoadArguments",
    "add_arguments",
    "add_plans",
    "add_point",
    "add_restrictions",
    "add_tensor_files",
    "load_arguments",
    "restrictions_of",
]


class LoadArguments(TypedDict):
    """The keyword arguments of `convoy_runtime.load` that the flags of `add_arguments` set."""

    options: PlanOptions | None
    plan_cache: Path | bool
    digest: str | None
    point: dict[str, int] | None
    capture_points: list[dict[str, int]] | Literal["all"]
    max_cuda_graphs: int


#: The value of --max-workspace without a limit.
_NO_LIMIT: Final = "none"
#: The value of --capture-points that stands for all points.
_ALL: Final = "all"
#: Flags: option, field of PlanOptions, its value when given, help.
_FLAGS = (
    (
        "--no-tf32",
        "allow_tf32",
        False,
        "do not round the inputs of float32 graphs to TF32",
    ),
    (
        "--no-tensor-cores",
        "allow_tensor_cores",
        False,
        "no engines and kernels that use tensor cores, for any dtype",
    ),
    ("--deterministic", "deterministic", True, "only engines with the same result in each run"),
    ("--no-winograd", "allow_winograd", False, "no engines that use Winograd transforms"),
    ("--no-fft", "allow_fft", False, "no engines that use Fourier transforms"),
    (
        "--no-reduced-precision-reduction",
        "allow_reduced_precision_reduction",
        False,
        "no engines that accumulate in less than the compute type",
    ),
    (
        "--no-runtime-compilation",
        "allow_runtime_compilation",
        False,
        "no engines that compile a kernel at load time",
    ),
    (
        "--no-kernels",
        "allow_kernels",
        False,
        "no kernels of the artifact for graphs that have a cuDNN engine",
    ),
    ("--no-cublaslt", "allow_cublaslt", False, "no cuBLASLt for matrix products"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all flags to a command."""
    parser.add_argument(
        "--digest",
        metavar="sha256:...",
        help="expected digest of the artifact, as printed by `convoy inspect --digest`",
    )
    add_point(parser)
    graphs = parser.add_argument_group("CUDA graphs of an artifact with dynamic sizes")
    graphs.add_argument(
        "--capture-points",
        action="append",
        type=_captured,
        default=[],
        metavar="NAME=N,...",
        help="a point whose CUDA graph is captured at load, e.g. batch=8, or all for all points; "
        "may be repeated; default: each point at its first run",
    )
    graphs.add_argument(
        "--max-cuda-graphs",
        type=int,
        default=64,
        metavar="N",
        help="the largest number of CUDA graphs that are kept (default: %(default)s)",
    )
    group = parser.add_argument_group("plan store, besides the plans in the artifact")
    place = group.add_mutually_exclusive_group()
    place.add_argument(
        "--plan-cache",
        type=Path,
        default=True,
        metavar="DIR",
        help="folder of the store; default: $CONVOY_CACHE, else ~/.cache/convoy",
    )
    place.add_argument(
        "--no-plan-cache",
        dest="plan_cache",
        action="store_const",
        const=False,
        help="use only the artifact's plans, and store none",
    )
    add_restrictions(parser, "restrictions on engines")


def add_point(parser: argparse.ArgumentParser) -> None:
    """Adds the flag --point to a command."""
    parser.add_argument(
        "--point",
        type=_point,
        metavar="NAME=N,...",
        help="use one point of an artifact with dynamic sizes, e.g. batch=8",
    )


def _captured(text: str) -> dict[str, int] | str:
    return _ALL if text == _ALL else _point(text)


def _point(text: str) -> dict[str, int]:
    found = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if not name.isidentifier() or not value.isdecimal() or name in found:
            message = f"expected NAME=N,... with a number for each symbol, got {text!r}"
            raise argparse.ArgumentTypeError(message)
        found[name] = int(value)
    return found


def add_tensor_files(parser: argparse.ArgumentParser) -> None:
    """Adds the flags --input, --output and --weights to a command that runs an artifact."""
    parser.add_argument(
        "--input",
        action="append",
        type=Path,
        default=[],
        metavar="FILE.npy",
        help="an input, in order; may be repeated",
    )
    parser.add_argument(
        "--output",
        action="append",
        type=Path,
        default=[],
        metavar="FILE.npy",
        help="the file of an output, in order; may be repeated",
    )
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="FILE.safetensors",
        help="weights to use instead of the artifact's",
    )


def add_plans(parser: argparse.ArgumentParser) -> None:
    """Adds the flag --plans to a command that loads an artifact."""
    parser.add_argument(
        "--plans",
        action="store_true",
        help="print the plan of each graph and all others that are known, each with engine, knobs, "
        "notes, workspace, and its time or why it was dropped",
    )


def add_restrictions(
    parser: argparse.ArgumentParser, title: str, *, without: Container[str] = ()
) -> None:
    """Adds a group with a flag for each field of PlanOptions.

    Args:
        parser: The command.
        title: The title of the group.
        without: Flags to omit.
    """
    group = parser.add_argument_group(title)
    for flag, field, value, text in _FLAGS:
        if flag not in without:
            group.add_argument(flag, dest=field, action="store_const", const=value, help=text)
    for flag, field, convert, metavar, text in _VALUES:
        group.add_argument(flag, dest=field, type=convert, metavar=metavar, help=text)


def load_arguments(arguments: argparse.Namespace) -> LoadArguments:
    """The keyword arguments of `convoy_runtime.load` on a command line.

    Args:
        arguments: The parsed command line.

    Returns:
        The arguments.

    Raises:
        ArgumentError: A value is invalid.
    """
    return {
        "options": restrictions_of(arguments),
        "plan_cache": arguments.plan_cache,
        "digest": arguments.digest,
        "point": arguments.point,
        "capture_points": _ALL if _ALL in arguments.capture_points else arguments.capture_points,
        "max_cuda_graphs": arguments.max_cuda_graphs,
    }


def restrictions_of(arguments: argparse.Namespace) -> PlanOptions | None:
    """The restrictions on a command line.

    Args:
        arguments: The parsed command line.

    Returns:
        The options, or None if no flag is given.

    Raises:
        ArgumentError: A value is invalid.
    """
    from .cuda.plans.options import PlanOptions

    names = [*(field for _, field, _, _ in _FLAGS), *(field for _, field, *_ in _VALUES)]
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    if given.get("max_workspace_bytes") == _NO_LIMIT:
        given["max_workspace_bytes"] = None
    return PlanOptions(**given) if given else None


def _bytes(text: str) -> int | str:
    if text == _NO_LIMIT:
        return _NO_LIMIT
    found = re.fullmatch(r"(\d+)([KMG]?)", text, re.ASCII)
    if found is None:
        message = f"expected bytes, e.g. 65536, 64K, 64M or 2G, or none, got {text}"
        raise argparse.ArgumentTypeError(message)
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        message = f"expected numbers separated by commas, got {text}"
        raise argparse.ArgumentTypeError(message) from None


#: Flags with a value: option, field of PlanOptions, type, metavar, help.
_VALUES: Final = (
    (
        "--require-numerical-notes",
        "require_numerical_notes",
        _names,
        "NOTE,NOTE",
        "only engines with all of cuDNN's numerical notes of these names, e.g. TENSOR_CORE",
    ),
    (
        "--exclude-numerical-notes",
        "exclude_numerical_notes",
        _names,
        "NOTE,NOTE",
        "only engines with none of these numerical notes",
    ),
    (
        "--require-behavior-notes",
        "require_behavior_notes",
        _names,
        "NOTE,NOTE",
        "only engines with all of cuDNN's behavior notes of these names, e.g. "
        "SUPPORTS_CUDA_GRAPH_NATIVE_API",
    ),
    (
        "--exclude-behavior-notes",
        "exclude_behavior_notes",
        _names,
        "NOTE,NOTE",
        "only engines with none of these behavior notes",
    ),
    (
        "--max-workspace",
        "max_workspace_bytes",
        _bytes,
        "BYTES",
        "largest workspace of a plan, e.g. 64M; none for no limit",
    ),
    (
        "--heuristics",
        "heuristics",
        _names,
        "MODE,MODE",
        "modes of cuDNN's heuristics that select untuned plans",
    ),
    ("--engines", "engines", _numbers, "N,N", "use only these engines"),
    ("--exclude-engines", "exclude_engines", _numbers, "N,N", "do not use these engines"),
    *(
        flag
        for direction, text in (
            ("forward", "forward convolutions"),
            ("dgrad", "gradients of a convolution's input"),
            ("wgrad", "gradients of a convolution's filter"),
        )
        for flag in (
            (
                f"--{direction}-engines",
                f"{direction}_engines",
                _numbers,
                "N,N",
                f"use only these engines in graphs with {text}",
            ),
            (
                f"--exclude-{direction}-engines",
                f"exclude_{direction}_engines",
                _numbers,
                "N,N",
                f"do not use these engines in graphs with {text}",
            ),
        )
    ),
)
