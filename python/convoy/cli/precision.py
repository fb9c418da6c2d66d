# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The flags for the types that a model computes in, of `convoy compile` and `convoy bisect`."""

from __future__ import annotations

import argparse

__all__ = ["add_precision"]


def add_precision(parser: argparse.ArgumentParser, keep_float32: str) -> None:
    """Adds --dtype, --keep-float32, --no-tf32 and --no-winograd.

    Args:
        parser: The parser of the command.
        keep_float32: The help of --keep-float32 after "ops that compute in float32 whatever the
            dtype".
    """
    parser.add_argument(
        "--dtype",
        choices=("float32", "float16", "bfloat16"),
        help="compute type; default: the model's types",
    )
    parser.add_argument(
        "--keep-float32",
        action="extend",
        nargs="+",
        default=[],
        metavar="OP",
        help=f"ops that compute in float32 whatever the dtype{keep_float32}",
    )
    parser.add_argument("--no-tf32", action="store_true", help="never round float32 to TF32")
    parser.add_argument(
        "--no-winograd",
        action="store_true",
        help="never use Winograd's algorithm for convolutions",
    )
