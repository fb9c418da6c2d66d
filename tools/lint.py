"""`make lint`, the part of C++: clang-format on every file, clang-tidy on the files that changed.

    python -m tools.lint [BASE]

BASE is a commit. Changed are the files that differ from it, committed or not. The default is the
merge base of HEAD and origin/main, or HEAD~1 where that is HEAD itself. clang-tidy needs a build
(`make build`): the compilation database, generated headers and the precompiled header.
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
#: clang-tidy takes some 20 seconds a file, so that a change of a whole folder, as a renaming, would
#: take longer than the tests.
MOST_SOURCES = 24


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs both tools. Returns 1 when one of them reports something."""
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
    """The commit that changes are counted from, or None in a clone that has no other commit."""
    head = _git("rev-parse", "HEAD")[0]
    for candidate in (["merge-base", "HEAD", "origin/main"], ["rev-parse", "--verify", "HEAD~1"]):
        result = subprocess.run(["git", *candidate], cwd=ROOT, capture_output=True, text=True)
        if result.returncode == 0 and (commit := result.stdout.strip()) != head:
            return commit
    return None


def changed_files(base: str) -> list[str]:
    """C and C++ files that differ from the commit `base` and exist, and those that git does not
    track yet."""
    changed = _git("diff", "--name-only", "--diff-filter=d", base, "--", *PATTERNS)
    return changed + _git("ls-files", "--others", "--exclude-standard", "--", *PATTERNS)


def tidy_sources(changed: Iterable[str], database: Iterable[str]) -> list[str]:
    """The C++ sources of the compilation database to check: those that changed, and for a header
    that changed the source beside it of the same name. The database lists absolute paths or paths
    relative to the root."""
    known = {os.path.relpath(ROOT / file, ROOT) for file in database}
    names = {re.sub(r"\.h$", ".cpp", file) for file in changed}
    return sorted(name for name in names & known if name.endswith(".cpp"))


def too_many(sources: Sequence[str], base: str) -> str | None:
    """Why clang-tidy is not run on so many sources, or None where it is."""
    if len(sources) <= MOST_SOURCES:
        return None
    return (
        f"lint: {len(sources)} files changed since {base[:12]}, so clang-tidy is skipped; "
        f"name a BASE that at most {MOST_SOURCES} have changed since"
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
    """The command's exit code. Its output is printed when it fails."""
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
