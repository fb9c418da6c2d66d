"""Fixtures of the runtime's tests."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from runtime_fixtures import HERE, PREPARED, ROOT, Gate, affine_manifest, c_compiler

from convoy.artifact import write_artifact


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Compiles a C file of this folder to a shared library and returns its bytes. Hundreds of tests
    need the same few libraries, so each is compiled once."""

    @functools.cache
    def compile_one(source: str, *flags: str) -> bytes:
        out = tmp_path_factory.mktemp("native") / "native.so"
        command = [
            c_compiler(),
            "-shared",
            "-fPIC",
            "-O1",
            "-Wall",
            f"-I{ROOT}/runtime/abi",
            *flags,
            str(HERE / source),
            # Only programs on a GPU call them.
            str(ROOT / "runtime/support/convoy_run.c"),
            str(HERE / "copy_kernels.c"),
            "-o",
            str(out),
        ]
        subprocess.run(command, check=True)
        return out.read_bytes()

    return compile_one


@pytest.fixture(scope="session")
def affine_so(compile_c: Callable[..., bytes]) -> bytes:
    """The library of affine.c."""
    return compile_c("affine.c")


@pytest.fixture
def affine(tmp_path: Path, affine_so: bytes) -> Path:
    """An artifact of affine.c with its weights."""
    path = tmp_path / "affine.convoy"
    write_artifact(path, affine_manifest(), {"native.so": affine_so}, PREPARED)
    return path


@pytest.fixture
def affine_bare(tmp_path: Path, affine_so: bytes) -> Path:
    """The same without weights."""
    path = tmp_path / "bare.convoy"
    write_artifact(path, affine_manifest(), {"native.so": affine_so})
    return path


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """A gate that stops runs of the artifact `gated`."""
    made = Gate()
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AFFINE_GATE", "main")
    yield made
    made.close()


@pytest.fixture
def gated(tmp_path: Path, compile_c: Callable[..., bytes]) -> Path:
    """An artifact of affine.c with -DGATE."""
    write_artifact(
        tmp_path / "gated",
        affine_manifest(),
        {"native.so": compile_c("affine.c", "-DGATE")},
        PREPARED,
    )
    return tmp_path / "gated"
