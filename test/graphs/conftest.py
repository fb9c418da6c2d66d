"""Session fixtures of the comparisons: the recording libcudnn, and the build functions of all
graphs in one library."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from graph_cases import PAIRS

from convoy_runtime.cuda.cudnn.device_files import device_file

ROOT = Path(__file__).parents[2]
LLVM = Path("/usr/lib/llvm-22/bin")
H200 = device_file("h200", 91900)


def tool(name: str) -> str:
    """A program of LLVM 22."""
    return shutil.which(f"{name}-22") or str(LLVM / name)


@pytest.fixture(scope="session")
def real_cudnn() -> Path:
    """The folder of the real libcudnn.so.9."""
    if importlib.util.find_spec("cudnn") is None:
        pytest.skip("the nvidia-cudnn-frontend wheel is not installed")
    spec = importlib.util.find_spec("nvidia.cudnn")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the nvidia-cudnn wheel is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "lib"


@pytest.fixture(scope="session")
def run_recorder(real_cudnn: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Runs record_graphs.py with the recording library; returns the folder with the recordings."""
    shim = tmp_path_factory.mktemp("recording")
    flags = ["-O1", "-shared", "-fPIC", "-fuse-ld=lld", "-Wall", "-Werror"]
    # An RPATH, not a RUNPATH: it is searched before LD_LIBRARY_PATH, whose libcudnn.so.9 is the
    # recording library itself.
    link = [
        "-Wl,--no-as-needed",
        f"-L{real_cudnn}",
        "-l:libcudnn.so.9",
        f"-Wl,--disable-new-dtags,-rpath,{real_cudnn}",
    ]
    source = Path(__file__).parent / "recording_cudnn.c"
    subprocess.run([tool("clang"), *flags, source, "-o", shim / "libcudnn.so.9", *link], check=True)

    def run(builder: str, what: Path, stdin: str, *libraries: Path) -> Path:
        folder = tmp_path_factory.mktemp(builder)
        environment = os.environ | {
            "LD_LIBRARY_PATH": os.pathsep.join(map(str, (shim, real_cudnn, *libraries))),
            "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{ROOT / 'runtime'}",
            # cuDNN then logs each finalized operation graph as JSON, with all defaults.
            "CUDNN_LOGLEVEL_DBG": "3",
            "CUDNN_LOGINFO_DBG": "1",
            "CUDNN_LOGDEST_DBG": str(folder / "cudnn.log"),
        }
        program = [
            sys.executable,
            str(Path(__file__).parent / "record_graphs.py"),
            builder,
            str(what),
            str(folder),
        ]
        done = subprocess.run(
            program, input=stdin, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        return folder

    return run


@pytest.fixture(scope="session")
def our_recordings(
    run_recorder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder with the recordings of our build functions, one for each pair."""
    from convoy import _convoy

    native, _ = _convoy.compile_graphs("".join(pair.mlir for pair in PAIRS.values()), "pairs.mlir")
    library = tmp_path_factory.mktemp("pairs") / "native.so"
    library.write_bytes(native)
    return run_recorder("ours", library, "\n".join(PAIRS))


@pytest.fixture(scope="session")
def record_frontend(run_recorder: Callable[..., Path]) -> Callable[[Mapping[str, str]], Path]:
    """Runs programs for cudnn-frontend, by name."""
    return lambda programs: run_recorder("frontend", H200, json.dumps(dict(programs)))


@pytest.fixture(scope="session")
def frontend_plans(
    run_recorder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Mapping[str, str]], Path]:
    """Runs programs for cudnn-frontend, by name, which also build a plan of each graph and
    serialize both."""
    folder = tmp_path_factory.mktemp("cublaslt")
    name = "libcublasLt.so.13"
    flags = ["-w", "-shared", "-fPIC", "-fuse-ld=lld", f"-Wl,-soname,{name}"]
    subprocess.run(
        [tool("clang"), *flags, ROOT / "test/runtime/cublaslt_stub.c", "-o", folder / name],
        check=True,
    )
    return lambda programs: run_recorder("plans", H200, json.dumps(dict(programs)), folder)
