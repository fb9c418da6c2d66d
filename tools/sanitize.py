# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`make sanitize`: runs the C++ of the compiler and the C of the runtime with sanitizers, from the
build folder BUILD (cmake/sanitize.cmake).

The lit suite and the tests of operation graphs use the instrumented convoy-opt. The instrumented
Python extension compiles the example models and the frontend's test networks for both targets, and
the files of graphs. test/runtime/test_support.py runs the support code of native libraries, also
with ThreadSanitizer. A report is a file in BUILD/reports; a process writes at most one.

    python -m tools.sanitize BUILD
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .lint import llvm_version

__all__ = ["environment", "main", "reports"]

ROOT = Path(__file__).resolve().parent.parent
#: Tests that run convoy-opt, and tests of the support code.
TESTS = (
    "test/passes/cudnn_to_backend",
    "test/passes/group",
    "test/dialect/cudnn/test_infer_types.py",
    "test/runtime/test_support.py",
)
GRAPHS = "test/passes/cudnn_to_backend/Inputs/graphs"
#: Targets and dtypes that each model is compiled for.
CHOICES = (("cpu", None), ("cuda", None), ("cuda", "float16"))

#: Options of AddressSanitizer. LLVM's archives are not instrumented.
ASAN = {
    # A vector filled by LLVM lacks the container annotations that instrumented code checks.
    "detect_container_overflow": 0,
    # llvm::BumpPtrAllocator poisons memory only in functions that are inlined into instrumented
    # code.
    "allow_user_poisoning": 0,
    # A crash is a report; LLVM's signal handlers only print a trace.
    **dict.fromkeys(
        ("handle_abort", "handle_segv", "handle_sigbus", "handle_sigfpe", "handle_sigill"), 2
    ),
}
#: Options for the Python extension: the interpreter leaks most of its allocations at exit.
ASAN_PYTHON = ASAN | {"detect_leaks": 0}


def main() -> int:
    """Runs all steps on the build folder in `sys.argv[1]`. Returns 1 on a report or a failure."""
    build = Path(sys.argv[1]).resolve()
    shutil.rmtree(build / "reports", ignore_errors=True)
    count, failed = 0, []
    for step in (run_lit, run_tests, compile_models):
        ran, broken = step(build)
        print(f"sanitize: {step.__name__}: {ran} tests, {len(broken)} failed", flush=True)
        count += ran
        failed += broken
    for name in failed:
        print(f"failed: {name}")
    found = reports(build)
    for path, summary in found.items():
        print(f"report: {path}: {summary}")
    print(f"sanitize: {count} tests, {len(found)} reports")
    return int(bool(found or failed))


def environment(build: Path, asan: dict[str, int] = ASAN) -> dict[str, str]:
    """The environment of an instrumented process.

    Args:
        build: The build folder; reports are written to its `reports` folder.
        asan: Options of AddressSanitizer.
    """
    (build / "reports").mkdir(parents=True, exist_ok=True)
    common = {"log_path": str(build / "reports/report")}
    options: dict[str, dict[str, Any]] = {
        "ASAN": asan | common,
        "UBSAN": {"print_stacktrace": 1} | common,
        "TSAN": common,
    }
    found = {
        f"{name}_OPTIONS": ":".join(f"{key}={value}" for key, value in each.items())
        for name, each in options.items()
    }
    if symbolizer := shutil.which(f"llvm-symbolizer-{llvm_version()}"):
        found |= {f"{name}_SYMBOLIZER_PATH": symbolizer for name in options}
    return os.environ | found


def reports(build: Path) -> dict[Path, str]:
    """The report files, each with its SUMMARY line, or with its first line if it has none."""

    def summary(path: Path) -> str:
        lines = [line for line in path.read_text(errors="replace").splitlines() if line.strip("= ")]
        return next(
            (line for line in lines if line.startswith("SUMMARY")), next(iter(lines), "nothing")
        )

    return {path: summary(path) for path in sorted((build / "reports").glob("report.*"))}


def run_lit(build: Path) -> tuple[int, list[str]]:
    """Runs the lit suite. Returns the number of tests and the names of those that did not pass."""
    results = build / "lit.json"
    command: list[str | Path] = [
        Path(sys.executable).with_name("lit"),
        "-q",
        "-D",
        f"tools={build / 'bin'}",
        "-o",
        results,
        ROOT / "test",
    ]
    subprocess.run(command, env=environment(build), check=False)
    tests = json.loads(results.read_text())["tests"]
    return len(tests), [test["name"] for test in tests if test["code"] != "PASS"]


def run_tests(build: Path) -> tuple[int, list[str]]:
    """Runs TESTS without lit files. Returns the number of tests and the names of those that failed
    or were skipped."""
    results = build / "pytest.xml"
    variables = environment(build) | {"CONVOY_OPT": str(build / "bin/convoy-opt")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--ignore-glob=*.mlir",
        f"--junit-xml={results}",
        *TESTS,
    ]
    subprocess.run(command, env=variables, cwd=ROOT, check=False)
    cases = list(ElementTree.parse(results).iter("testcase"))
    return len(cases), [
        f"{case.get('classname')}::{case.get('name')}" for case in cases if len(case)
    ]


def compile_models(build: Path) -> tuple[int, list[str]]:
    """Compiles models and files of graphs, each in a separate process. Returns the number of
    compilations and the messages of those that failed."""
    from convoy.frontend import import_module
    from convoy.options import CompileOptions

    (extension,) = (build / "python").glob("_convoy*.so")
    jobs: dict[str, dict[str, Any]] = {}
    for name, module, inputs in models():
        text = import_module(module, inputs).text
        for target, dtype in CHOICES:
            options = CompileOptions.of(target=target, dtype=dtype).pairs()
            jobs[f"{name} {target} {dtype or 'float32'}"] = {
                "text": text,
                "name": name,
                "options": options,
            }
    for path in sorted((ROOT / GRAPHS).glob("*.mlir")):
        jobs[f"graphs {path.name}"] = {"text": path.read_text(), "name": path.name, "options": None}

    def library(name: str) -> str:
        found = subprocess.run(
            [f"clang-{llvm_version()}", f"-print-file-name={name}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return found.stdout.strip()

    # AddressSanitizer looks up functions of libstdc++ at startup, and the interpreter does not link
    # it.
    preload = " ".join(map(library, ("libclang_rt.asan-x86_64.so", "libstdc++.so.6")))
    variables = environment(build, ASAN_PYTHON) | {"LD_PRELOAD": preload}
    command: list[str | Path] = [sys.executable, "-IS", ROOT / "tools/compile_text.py", extension]

    def compile_one(name: str) -> str | None:
        done = subprocess.run(
            command,
            input=json.dumps(jobs[name]),
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return (
            f"compiling {name}: exit status {done.returncode}\n{done.stderr[-2000:]}"
            if done.returncode
            else None
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return len(jobs), [
            failure for failure in pool.map(compile_one, jobs) if failure is not None
        ]


def models() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Name, module and inputs of each model: the functions in examples/ whose arguments all have
    defaults, and the frontend's test networks."""
    import torch

    sys.path.insert(0, str(ROOT / "examples"))  # they import each other
    for path in sorted((ROOT / "examples").glob("*.py")):
        module = _load(path)
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and all(
                each.default is not each.empty for each in _parameters(function)
            ):
                yield (name, *function())
    for name, (make, shape) in _load(ROOT / "test/frontend/networks.py").NETWORKS.items():
        torch.manual_seed(0)
        yield name, make().eval(), (torch.randn(shape),)


def _parameters(function: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
