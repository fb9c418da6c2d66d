"""Collects every .mlir file under test/ as one test: lit runs those of a folder together, and each
reports its own result. Also has shared fixtures."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tools.convoy_opt import convoy_opt as run_convoy_opt
from tools.convoy_opt import convoy_opt_path

if TYPE_CHECKING:
    from convoy_runtime.cuda.cudnn.library import Cudnn

ROOT = Path(__file__).resolve().parent.parent

# Elapsed time says nothing about a test on a busy machine.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session")
def convoy_opt() -> Callable[..., str]:
    """Runs `convoy-opt` with the given flags on text and returns its output; skips if it is not
    built."""
    if not (path := convoy_opt_path()).exists():
        pytest.skip(f"{path} is not built")
    return lambda text, *flags: run_convoy_opt(text, *flags).stdout


@pytest.fixture(scope="session")
def cudnn() -> Cudnn:
    """The real cuDNN, which finalizes graphs without a GPU; skips if the library is not
    installed."""
    from convoy_runtime.cuda.cudnn.loading import open_cudnn
    from convoy_runtime.errors import DeviceError

    try:
        return open_cudnn()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of pytest that all its processes share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def cublaslt(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A stub cuBLASLt for planning, unless there is a real one; without any, cuDNN ends the
    process."""
    try:
        ctypes.CDLL("libcublasLt.so.13")
    except OSError:
        compiler = next(
            (found for name in ("clang-22", "clang", "cc") if (found := shutil.which(name))), None
        )
        if compiler is None:
            pytest.skip("no C compiler")
        path = tmp_path_factory.mktemp("stub") / "libcublasLt.so.13"
        source = ROOT / "test/runtime/cublaslt_stub.c"
        subprocess.run(
            [
                compiler,
                "-shared",
                "-fPIC",
                "-Wl,-soname,libcublasLt.so.13",
                str(source),
                "-o",
                str(path),
            ],
            check=True,
        )
        ctypes.CDLL(str(path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest test first: at the end, one worker would run it alone, for four minutes."""
    items.sort(key=lambda item: not item.path.is_relative_to(ROOT / "test/wheel"))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if (
        file_path.suffix == ".mlir"
        and "Inputs" not in file_path.parts
        and "// RUN:" in file_path.read_text()
    ):
        return LitFile.from_parent(parent, path=file_path)
    return None


class LitFile(pytest.File):
    def collect(self) -> Iterable[pytest.Item]:
        yield LitItem.from_parent(self, name="lit")


class LitItem(pytest.Item):
    """One lit test."""

    def runtest(self) -> None:
        code, output = lit_results(self.session, self.path.parent)[self.path.resolve()]
        if code != "PASS":
            raise LitFailure(f"{code}\n{output}")

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> object:
        return (
            str(excinfo.value)
            if isinstance(excinfo.value, LitFailure)
            else super().repr_failure(excinfo)
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"lit: {self.path.relative_to(ROOT)}"


class LitFailure(Exception):
    """A failed lit test; the message is lit's output."""


def lit_results(session: pytest.Session, folder: Path) -> dict[Path, tuple[str, str]]:
    """Result code and output of each collected lit test of a folder, by path; lit runs at the first
    call for the folder. A session is one worker of pytest-xdist, which has one core and most of the
    folder's tests."""
    cached: dict[Path, dict[Path, tuple[str, str]]] = session.__dict__.setdefault("_lit", {})
    if folder not in cached:
        items = (item for item in session.items if isinstance(item, LitItem))
        cached[folder] = _run_lit([str(item.path) for item in items if item.path.parent == folder])
    return cached[folder]


def _run_lit(files: list[str]) -> dict[Path, tuple[str, str]]:
    # Workers would write the file of test times at the same time.
    options = ["-q", "--skip-test-time-recording"]
    if "PYTEST_XDIST_WORKER" in os.environ:
        options.append("-j1")
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "lit.json"
        done = subprocess.run(
            [Path(sys.executable).with_name("lit"), *options, "-o", str(report), *files],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise LitFailure(done.stdout + done.stderr)
        tests = json.loads(report.read_text())["tests"]
    base = ROOT / "test"
    return {
        (base / test["name"].split(" :: ")[1]).resolve(): (test["code"], test.get("output", ""))
        for test in tests
    }
