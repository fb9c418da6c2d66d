# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The C++ part of `make lint`: clang-format on every file, clang-tidy on changed files.

    python -m tools.lint [BASE]

BASE is the commit that files are compared with; uncommitted changes count. The default is the merge
base of HEAD and origin/main, or HEAD~1 if that is HEAD. clang-tidy needs a build (`make build`):
the compilation database, generated headers and the precompiled header.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["MOST_SOURCES", "changed_files", "main", "tidy_sources", "too_many"]

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "build/compile_commands.json"
PATTERNS = ("*.c", "*.cpp", "*.cu", "*.h")
#: clang-tidy takes about 20 seconds per file. On a change of a whole folder, e.g. a renaming, it
#: would take longer than the tests.
MOST_SOURCES = 24


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs both tools. Returns 1 when one of them reports a problem."""
    base = (sys.argv[1:] if arguments is None else list(arguments))[:1]
    version = llvm_version()
    files = _git("ls-files", "--cached", "--others", "--exclude-standard", "--", *PATTERNS)
    present = [file for file in files if (ROOT / file).is_file()]
    if _run(f"clang-format-{version}", "--dry-run", "--Werror", *present):
        return 1
    return _tidy(version, base[0] if base else default_base())


def llvm_version() -> str:
    """The major version of LLVM that CMakeLists.txt pins, e.g. "22"."""
    text = (ROOT / "CMakeLists.txt").read_text()
    pin = re.search(r"CONVOY_LLVM_VERSION (\d+)", text)
    if pin is None:
        raise ValueError("expected CONVOY_LLVM_VERSION in CMakeLists.txt")
    return pin[1]


def default_base() -> str | None:
    """The default BASE, or None in a clone with a single commit."""
    head = _git("rev-parse", "HEAD")[0]
    for candidate in (["merge-base", "HEAD", "origin/main"], ["rev-parse", "--verify", "HEAD~1"]):
        result = subprocess.run(["git", *candidate], cwd=ROOT, capture_output=True, text=True)
        if result.returncode == 0 and (commit := result.stdout.strip()) != head:
            return commit
    return None


def changed_files(base: str) -> list[str]:
    """Existing C and C++ files that differ from the commit `base`, and untracked ones."""
    changed = _git("diff", "--name-only", "--diff-filter=d", base, "--", *PATTERNS)
    return changed + _git("ls-files", "--others", "--exclude-standard", "--", *PATTERNS)


def tidy_sources(changed: Iterable[str], database: Iterable[str]) -> list[str]:
    """Selects the sources for clang-tidy.

    Args:
        changed: Changed files, relative to the root. A header selects the source of the same name.
        database: The files of the compilation database, absolute or relative to the root.

    Returns:
        The selected `.cpp` files that are in the database, relative to the root and sorted.
    """
    known = {os.path.relpath(ROOT / file, ROOT) for file in database}
    names = {re.sub(r"\.h$", ".cpp", file) for file in changed}
    return sorted(name for name in names & known if name.endswith(".cpp"))


def too_many(sources: Sequence[str], base: str) -> str | None:
    """The message when there are too many sources for clang-tidy, else None."""
    if len(sources) <= MOST_SOURCES:
        return None
    return (
        f"lint: {len(sources)} files changed since {base[:12]}, so clang-tidy is skipped; "
        f"choose a BASE with at most {MOST_SOURCES} changed files"
    )


def _tidy(version: str, base: str | None) -> int:
    if not (ROOT / DATABASE).is_file():
        print(f"lint: no {DATABASE}, so clang-tidy is skipped; `make build` writes it")
        return 0
    if base is None:
        print("lint: no commit to compare with, so clang-tidy is skipped")
        return 0
    database = json.loads((ROOT / DATABASE).read_text())
    sources = tidy_sources(changed_files(base), (entry["file"] for entry in database))
    if (reason := too_many(sources, base)) is not None:
        print(reason)
        return 0
    print(f"lint: clang-tidy on {len(sources)} files that changed since {base[:12]}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(
            pool.map(lambda file: _run(f"clang-tidy-{version}", "-p", "build", file), sources)
        )
    return int(any(codes))


def _run(*command: str) -> int:
    """Runs a command, and prints its output when it fails. Returns the exit code."""
    result = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode:
        print(result.stdout, end="")
    return result.returncode


def _git(*arguments: str) -> list[str]:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
