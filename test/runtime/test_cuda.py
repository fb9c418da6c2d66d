"""The `cuda` target without a GPU: errors about missing requirements, and the executor on a fake
driver."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from runtime_fixtures import HERE, PREPARED, affine_manifest

from convoy.artifact import write_artifact
from convoy_runtime.manifest import Cudnn

pytest.importorskip("cuda.bindings")

LOAD = """
import sys
{before}
import convoy_runtime
try:
    convoy_runtime.load(sys.argv[1])
except convoy_runtime.DeviceError as error:
    print(error)
"""


@pytest.fixture(scope="session")
def driver(compile_c: Callable[..., bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CUDA driver that needs no GPU, and a matching cuDNN and cuBLASLt."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "libcuda.so.1").write_bytes(
        compile_c("fake_gpu/libcuda.c", "-Wl,-soname,libcuda.so.1")
    )
    cudnn = compile_c(
        "fake_gpu/libcudnn.c", "-Wl,-soname,libcudnn.so.9", f"-L{folder}", "-l:libcuda.so.1"
    )
    (folder / "libcudnn.so.9").write_bytes(cudnn)
    (folder / "libcublasLt.so.13").write_bytes(
        compile_c(
            "fake_gpu/libcublaslt.c",
            "-Wl,-soname,libcublasLt.so.13",
            f"-L{folder}",
            "-l:libcuda.so.1",
        )
    )
    return folder


@pytest.fixture
def artifact(tmp_path: Path, affine_so: bytes) -> Path:
    path = tmp_path / "model"
    write_artifact(
        path,
        affine_manifest(target="cuda", cudnn=Cudnn(91900, 90000, "float16")),
        {"native.so": affine_so},
        PREPARED,
    )
    return path


def load(path: Path, before: str = "", **environment: str) -> str:
    command = [sys.executable, "-c", LOAD.format(before=before), str(path)]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
    ).stdout


def test_no_driver(artifact: Path, tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("none")
    printed = load(artifact, LD_LIBRARY_PATH=str(tmp_path))
    assert printed.startswith(
        "the NVIDIA driver is missing: libcuda.so.1 cannot be loaded\n  hint: install "
        "NVIDIA's driver"
    )


def test_no_bindings(artifact: Path) -> None:
    printed = load(artifact, "sys.modules['cuda.bindings'] = None")
    assert printed.startswith("cuda.bindings cannot be imported: ")
    assert printed.endswith("hint: pip install cuda-bindings\n")


def test_no_gpu(artifact: Path, driver: Path) -> None:
    printed = load(artifact, LD_LIBRARY_PATH=str(driver), FAKE_NO_DEVICE="1")
    assert printed.startswith(
        "cuInit failed: CUDA_ERROR_NO_DEVICE (described)\n  hint: no GPU is visible: "
        "check nvidia-smi"
    )


@pytest.mark.parametrize(
    "cases", sorted(path.name for path in (HERE / "fake_gpu").glob("cases*.py"))
)
def test_cases_on_the_fake_driver(driver: Path, cases: str) -> None:
    """Runs a file of cases in a process whose only CUDA driver is the fake one."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "fake_gpu.fixtures",
        str(HERE / "fake_gpu" / cases),
    ]
    paths = {
        "LD_LIBRARY_PATH": str(driver),
        # The PTX of the cases is the fake driver's.
        "CONVOY_NVJITLINK": str(driver / "none"),
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **paths}, cwd=HERE.parents[1]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
