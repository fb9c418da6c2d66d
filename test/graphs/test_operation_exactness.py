"""The builders of norms, attention and data movement make the same calls to cuDNN as cudnn-frontend
does for the same graphs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from operation_graphs import GRAPHS
from operation_programs import PROGRAMS
from recorded import canonical, read_calls

ROOT = Path(__file__).parents[2]
LLVM = Path("/usr/lib/llvm-22/bin")
MATH_PREC = "operation_genstats_math_prec"


def tool(name: str) -> str:
    return shutil.which(f"{name}-22") or str(LLVM / name)


@pytest.fixture(scope="module")
def builder_recordings(
    run_recorder: Callable[..., Path],
    convoy_opt: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The folder with the recordings of our builders."""
    folder = tmp_path_factory.mktemp("builders")
    flags = [
        "--convert-cudnn-graphs-to-backend=minimum-version=91900",
        "--convert-cudnn-backend-to-llvm",
    ]
    text = "".join(GRAPHS[name] for name in PROGRAMS)
    lowered = convoy_opt(text, *flags)
    source, library = folder / "graphs.ll", folder / "graphs.so"
    subprocess.run(
        [tool("mlir-translate"), "--mlir-to-llvmir", "-o", source],
        input=lowered,
        text=True,
        check=True,
    )
    calls = ROOT / "runtime/support/convoy_calls.c"
    subprocess.run(
        [
            tool("clang"),
            "-w",
            "-O0",
            "-shared",
            "-fPIC",
            "-fuse-ld=lld",
            source,
            calls,
            "-o",
            library,
        ],
        check=True,
    )
    return run_recorder("ours", library, "\n".join(PROGRAMS))


@pytest.fixture(scope="module")
def frontend_recordings(record_frontend: Callable[[Mapping[str, str]], Path]) -> Path:
    return record_frontend(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_descriptors(name: str, builder_recordings: Path, frontend_recordings: Path) -> None:
    for folder in (builder_recordings, frontend_recordings):
        error = folder / f"{name}.error"
        assert not error.exists(), error.read_text()
    ours, theirs = (
        canonical(read_calls(folder / f"{name}.calls"))
        for folder in (builder_recordings, frontend_recordings)
    )
    if name == "gen_stats":
        # cudnn-frontend 1.32 passes its own enumerator for the type of x: its HALF is cuDNN's INT8.
        assert (ours[0].pop(MATH_PREC), theirs[0].pop(MATH_PREC)) == ("FLOAT", "INT8")
    assert ours == theirs
