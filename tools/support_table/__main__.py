# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Queries the real cuDNN about the matrix of graphs, and checks or writes the support table. Needs
no GPU. See docs/support.md.

python -m tools.support_table
    queries every graph; exit code 1 if the table and cuDNN disagree
python -m tools.support_table --write
    writes the rows of the table from the answers
python -m tools.support_table prepare FOLDER
    writes the files for tools.support_table.query on a machine with a GPU
python -m tools.support_table differences DEVICE
    compares the answers of a device, a JSON file, with those without a GPU, and writes the
    differences
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .cases import all_cases
from .differences import MEASURED, with_device, write_differences
from .document import operations_section, replace_section
from .generate import dump, generate_table
from .library import ROOT, AnyCase, prepare, query_offline
from .verdict import judge

__all__ = ["TABLE", "main"]

TABLE = ROOT / "passes/fusion/support_table.json"


def _answers(cases: Sequence[AnyCase], path: Path | None) -> dict[str, Any]:
    """Returns cuDNN's answers without a GPU, from `path` if it exists. Otherwise queries cuDNN, and
    writes them to `path`."""
    if path is not None and path.exists():
        answers: dict[str, Any] = json.loads(path.read_text())
        missing = [case.key for case in cases if case.key not in answers["graphs"]]
        if missing:
            message = (
                f"expected answers about the whole matrix, but {path} has none about "
                f"{len(missing)} graphs, e.g. {missing[0]}"
            )
            raise SystemExit(f"support: {message}; delete the file to query cuDNN again")
        return answers
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        print(f"support: building {len(cases)} graphs", flush=True)
        prepare(cases, Path(folder))
        print(f"support: querying cuDNN, after {time.perf_counter() - start:.0f} s", flush=True)
        return query_offline(Path(folder), path or Path(folder) / "answers.json")


def _check(cases: Sequence[AnyCase], answers: dict[str, Any], *, write: bool) -> int:
    if MEASURED.exists():
        answers = with_device(answers, json.loads(MEASURED.read_text()))
    table = json.loads(TABLE.read_text())
    generated = generate_table(cases, answers, table)
    if write:
        TABLE.write_text(dump(generated))
        replace_section("operations", operations_section(generated["operations"]))
        table = generated
        written = f"{len(generated['rows'])} rows, and {len(generated['operations'])} of operations"
        print(f"support: wrote {TABLE.relative_to(ROOT)}: {written}; build again to use it")
    verdict = judge(cases, answers["graphs"], table, generated)
    for reason, keys in verdict.missed.items():
        print(f"missed: {len(keys)} graphs, e.g. {keys[0]}: {reason}")
    for line in verdict.disagreements:
        print(f"disagreement: {line}")
    print(f"support: cuDNN {answers['cudnn']}, {answers['device']}")
    print(verdict)
    return int(bool(verdict.disagreements))


def main() -> int:
    """Runs the command line.

    Returns:
        The exit code: 1 if the table and cuDNN disagree.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--write", action="store_true", help="write the rows of the table from the answers"
    )
    parser.add_argument(
        "--answers",
        type=Path,
        help="file of answers; written by a first run, and read by later ones",
    )
    commands = parser.add_subparsers(dest="command")
    preparing = commands.add_parser(
        "prepare", help="write the files for queries on another machine"
    )
    preparing.add_argument("folder", type=Path)
    differing = commands.add_parser(
        "differences", help="compare a device's answers with those without a GPU"
    )
    differing.add_argument("device", type=Path)
    options = parser.parse_args()
    cases = all_cases()
    if options.command == "prepare":
        prepare(cases, options.folder)
        print(f"{len(cases)} graphs in {options.folder}")
        return 0
    answers = _answers(cases, options.answers)
    if options.command == "differences":
        print(write_differences(options.device, answers))
        return 0
    return _check(cases, answers, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
