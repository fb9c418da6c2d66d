"""Asks the real cuDNN which graphs it has engines for, and compares or writes the support table.
Needs no GPU; docs/support.md explains.

python -m tools.support_table                        ask about the whole matrix; 1 when the table
disagrees
python -m tools.support_table --write                write the rows of the table from the answers
python -m tools.support_table prepare FOLDER         what a machine with a GPU needs to be asked
(tools.support_table.ask)
python -m tools.support_table differences DEVICE     compare its answers, a JSON, with those without
a GPU, and write them down
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
from .library import ROOT, Asked, ask_offline, prepare
from .made import dump, make_table
from .verdict import judge

__all__ = ["TABLE", "main"]

TABLE = ROOT / "passes/fusion/support_table.json"


def _answers(cases: Sequence[Asked], known: Path | None) -> dict[str, Any]:
    """cuDNN's answers without a GPU, or those of an earlier run, from `known`."""
    if known is not None and known.exists():
        answers: dict[str, Any] = json.loads(known.read_text())
        missing = [case.key for case in cases if case.key not in answers["graphs"]]
        if missing:
            message = (
                f"expected answers about the whole matrix, got none about {len(missing)} "
                f"graphs such as {missing[0]}: {known} is old"
            )
            raise SystemExit(f"support: {message}; delete it, and cuDNN is asked again")
        return answers
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        print(f"support: building {len(cases)} graphs", flush=True)
        prepare(cases, Path(folder))
        print(f"support: asking cuDNN, after {time.perf_counter() - start:.0f} s", flush=True)
        return ask_offline(Path(folder), known or Path(folder) / "answers.json")


def _check(cases: Sequence[Asked], answers: dict[str, Any], *, write: bool) -> int:
    if MEASURED.exists():
        answers = with_device(answers, json.loads(MEASURED.read_text()))
    table = json.loads(TABLE.read_text())
    made = make_table(cases, answers, table)
    if write:
        TABLE.write_text(dump(made))
        replace_section("operations", operations_section(made["operations"]))
        table = made
        written = f"{len(made['rows'])} rows and {len(made['operations'])} of operations"
        print(f"support: wrote {TABLE.relative_to(ROOT)}: {written}; build again to use it")
    verdict = judge(cases, answers["graphs"], table, made)
    for reason, keys in verdict.missed.items():
        print(f"missed: {len(keys)} graphs such as {keys[0]}: {reason}")
    for line in verdict.disagreements:
        print(f"disagreement: {line}")
    print(f"support: cuDNN {answers['cudnn']}, {answers['device']}")
    print(verdict)
    return int(bool(verdict.disagreements))


def main() -> int:
    """Parses the command line and does it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--write", action="store_true", help="write the rows of the table from the answers"
    )
    parser.add_argument(
        "--answers",
        type=Path,
        help="answers of an earlier run; written here when the file is not there",
    )
    commands = parser.add_subparsers(dest="command")
    preparing = commands.add_parser("prepare", help="write what another machine needs to be asked")
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
