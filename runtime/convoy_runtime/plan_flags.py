"""Which artifact is loaded, which plans may be used, and where they are kept, as flags of command
lines: the same ones wherever an artifact is loaded."""

from __future__ import annotations

import argparse
import re
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cuda.plans.options import PlanOptions

__all__ = ["add_arguments", "add_restrictions", "load_arguments", "restrictions_of"]

#: Flags of command lines, one a guarantee: option, field, value when given, help.
_FLAGS = (
    (
        "--no-tf32",
        "allow_tf32",
        False,
        "float32 graphs may not round their inputs for tensor cores",
    ),
    (
        "--no-tensor-cores",
        "allow_tensor_cores",
        False,
        "no engine and no kernel that uses tensor cores, in any type",
    ),
    ("--deterministic", "deterministic", True, "only engines whose result is the same in each run"),
    ("--no-winograd", "allow_winograd", False, "no engine that uses Winograd's transform"),
    ("--no-fft", "allow_fft", False, "no engine that uses Fourier transforms"),
    (
        "--no-reduced-precision-reduction",
        "allow_reduced_precision_reduction",
        False,
        "no engine that accumulates in less than the compute type",
    ),
    (
        "--no-runtime-compilation",
        "allow_runtime_compilation",
        False,
        "no engine that compiles a kernel when the program is loaded",
    ),
    (
        "--no-kernels",
        "allow_kernels",
        False,
        "only cuDNN's engines where there is one, no kernels of the artifact",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags to a command."""
    parser.add_argument(
        "--digest",
        metavar="sha256:...",
        help="refuse any other artifact; `convoy inspect --digest` prints it",
    )
    group = parser.add_argument_group("where plans are kept, beside those that the artifact holds")
    place = group.add_mutually_exclusive_group()
    place.add_argument(
        "--plan-cache",
        type=Path,
        default=True,
        metavar="DIR",
        help="in this folder; default: $CONVOY_CACHE, else ~/.cache/convoy",
    )
    place.add_argument(
        "--no-plan-cache",
        dest="plan_cache",
        action="store_const",
        const=False,
        help="nowhere, and none but the artifact's are found",
    )
    add_restrictions(parser, "which of cuDNN's engines may be used")


def add_restrictions(
    parser: argparse.ArgumentParser, title: str, *, without: Container[str] = ()
) -> None:
    """Adds a group of flags, one for each field of PlanOptions, but those `without` which the
    command has ones of its own."""
    group = parser.add_argument_group(title)
    for flag, field, value, text in _FLAGS:
        if flag not in without:
            group.add_argument(flag, dest=field, action="store_const", const=value, help=text)
    group.add_argument(
        "--max-workspace",
        dest="max_workspace_bytes",
        type=_bytes,
        metavar="BYTES",
        help="most memory that one plan may use, as 64M",
    )
    group.add_argument(
        "--heuristics",
        type=_names,
        metavar="MODE,MODE",
        help="modes of cuDNN's heuristics that are asked where nothing is measured",
    )
    group.add_argument(
        "--engines", type=_numbers, metavar="N,N", help="the only engines that may be used"
    )
    group.add_argument(
        "--exclude-engines", type=_numbers, metavar="N,N", help="engines that may not be used"
    )


def load_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `load` is told for the flags that a command was given."""
    return {
        "options": restrictions_of(arguments),
        "plan_cache": arguments.plan_cache,
        "digest": arguments.digest,
    }


def restrictions_of(arguments: argparse.Namespace) -> PlanOptions | None:
    """The options that a command was given; None when it was given none. Raises ArgumentError."""
    from .cuda.plans.options import PlanOptions

    names = [
        *(field for _, field, _, _ in _FLAGS),
        "max_workspace_bytes",
        "heuristics",
        "engines",
        "exclude_engines",
    ]
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    return PlanOptions(**given) if given else None


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text, re.ASCII)
    if found is None:
        message = f"expected bytes, as 65536, 64K, 64M or 2G, got {text}"
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
