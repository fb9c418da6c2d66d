"""The C code that is linked into native libraries (runtime/support), called directly: compiled as
it is there, and with sanitizers."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from runtime_fixtures import HERE, ROOT, c_compiler

SUPPORT = ROOT / "runtime/support"
LOADS = ("one", "callers", "start", "nested", "fork", "unload", "libraries", "shared")
#: Sanitizers of clang, and the clang library that each needs.
SANITIZERS = {
    "none": None,
    "address,undefined": "libclang_rt.asan-x86_64.a",
    "thread": "libclang_rt.tsan-x86_64.a",
}
#: A forked child starts its own threads, which ThreadSanitizer must permit.
FORK = "die_after_fork=0"


@dataclass(frozen=True)
class Programs:
    """support_pool.c with the library that it loads, support_calls.c and support_run.c, compiled
    with a sanitizer."""

    pool: Path
    library: Path
    calls: Path
    run: Path


@pytest.fixture(scope="module", params=SANITIZERS)
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    compiler, runtime = c_compiler(), SANITIZERS[request.param]
    flags = ["-std=gnu17", "-O2", "-g", "-Wall", "-Werror", f"-I{SUPPORT}", f"-I{ROOT}/runtime/abi"]
    if runtime is not None:
        found = subprocess.run(
            [compiler, f"-print-file-name={runtime}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if not Path(found).is_file():
            pytest.skip(
                f"{compiler} has no {runtime}: apt install libclang-rt-22-dev, as make "
                "sanitize does"
            )
        flags += [f"-fsanitize={request.param}", "-fno-sanitize-recover=undefined"]
    folder = tmp_path_factory.mktemp("support")
    programs = Programs(folder / "pool", folder / "pool.so", folder / "calls", folder / "run")
    for command in (
        ["-shared", "-fPIC", SUPPORT / "convoy_support.c", "-o", programs.library],
        [HERE / "support_pool.c", "-o", programs.pool, "-ldl", "-lpthread"],
        [HERE / "support_calls.c", SUPPORT / "convoy_calls.c", "-o", programs.calls],
        [HERE / "support_run.c", SUPPORT / "convoy_run.c", "-o", programs.run],
    ):
        subprocess.run([compiler, *flags, *command], check=True)
    return programs


def run(*command: str | Path, **variables: str) -> str:
    options = ":".join(filter(None, [os.environ.get("TSAN_OPTIONS"), FORK]))
    environment = os.environ | {"TSAN_OPTIONS": options} | variables
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("load", LOADS)
def test_pool_under_load(programs: Programs, load: str) -> None:
    run(programs.pool, programs.library, load, "200", CONVOY_NUM_THREADS="4")


def test_every_call_of_cudnn_may_fail(programs: Programs) -> None:
    assert run(programs.calls) == "13 calls, each made to fail\n"


def test_every_call_of_a_run_may_fail(programs: Programs) -> None:
    """Also the copies of rows into a larger buffer, and the zeros around them."""
    assert run(programs.run) == "31 runs\n"
