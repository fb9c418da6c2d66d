"""What `make sanitize` counts as a report, on programs with one defect each."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.lint import llvm_version
from tools.sanitize import environment, reports

DEFECTS = {
    "overflow": (
        "address,undefined",
        "volatile int i = 4; int *p = malloc(16); p[i] = 1; free(p);",
        "heap-buffer-overflow",
    ),
    "freed": (
        "address,undefined",
        "int *volatile p = malloc(16); free(p); return p[0];",
        "heap-use-after-free",
    ),
    "leak": (
        "address,undefined",
        "void *volatile p = malloc(16); p = NULL;",
        "AddressSanitizer: 16 byte(s) leaked",
    ),
    "signed": (
        "address,undefined",
        "volatile int i = 2147483647; i = i + 1;",
        "undefined-behavior",
    ),
    "abort": ("address,undefined", "abort();", "AddressSanitizer: ABRT"),
    "crash": (
        "address,undefined",
        "volatile int *volatile p = NULL; return *p;",
        "AddressSanitizer: SEGV",
    ),
    "race": (
        "thread",
        "pthread_t t; pthread_create(&t, NULL, add, NULL); add(NULL); pthread_join(t, NULL);",
        "data race",
    ),
    "none": ("address,undefined", "free(malloc(16));", None),
}
PROGRAM = """#include <pthread.h>
#include <stdlib.h>
static int count;
void *add(void *argument) {{ ++count; return argument; }}
int main(void) {{ {} return 0; }}
"""


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_one_report(tmp_path: Path, name: str) -> None:
    sanitizer, code, expected = DEFECTS[name]
    compiler = shutil.which(f"clang-{llvm_version()}")
    if compiler is None:
        pytest.skip(f"no clang-{llvm_version()}")
    runtime = "libclang_rt.tsan-x86_64.a" if sanitizer == "thread" else "libclang_rt.asan-x86_64.a"
    found = subprocess.run(
        [compiler, f"-print-file-name={runtime}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).is_file():
        package = f"libclang-rt-{llvm_version()}-dev"
        pytest.skip(f"no {runtime}: apt install {package}, as make sanitize does")
    (tmp_path / "program.c").write_text(PROGRAM.format(code))
    command = [
        compiler,
        "-g",
        f"-fsanitize={sanitizer}",
        "-w",
        tmp_path / "program.c",
        "-o",
        tmp_path / "program",
    ]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "program"], env=environment(tmp_path), check=False)
    summaries = list(reports(tmp_path).values())
    assert len(summaries) == (expected is not None)
    assert all(summary.startswith("SUMMARY") and expected in summary for summary in summaries)
