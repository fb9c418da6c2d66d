"""Every kernel under NVIDIA's compute-sanitizer: all variants of the kernel library, and generated
ones.

On a machine with a GPU and the compiler, pytest does everything. If they are on different machines,
`python test/gpu/test_compute_sanitizer.py FOLDER` compiles the artifacts, and
CONVOY_SANITIZER_CASES names FOLDER for pytest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import test_graph_kernels
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

HERE = Path(__file__).parent
#: Accesses out of bounds, races in shared memory, barriers that not all threads reach, reads of
#: uninitialized memory.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
#: The exit code when a tool reports an error.
REPORTED = 86
#: The folder of compute-sanitizer in a CUDA toolkit that is not on the path.
TOOLKIT = Path("/usr/local/cuda/bin")

folder = test_kernels.folder_of("CONVOY_SANITIZER_CASES")


@pytest.fixture(scope="module")
def sanitizer() -> str:
    found = shutil.which(
        "compute-sanitizer", path=os.pathsep.join([os.environ.get("PATH", ""), str(TOOLKIT)])
    )
    if found is None:
        pytest.skip("compute-sanitizer is not installed: it comes with NVIDIA's CUDA toolkit")
    return found


@pytest.fixture(scope="module")
def cases(folder: Path) -> Path:
    """The folder of artifacts; they are compiled if it is empty."""
    if not any(folder.glob("*.convoy")):
        write_all(folder)
    return folder


def run(sanitizer: str, tool: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [
        sanitizer,
        "--tool",
        tool,
        "--error-exitcode",
        str(REPORTED),
        sys.executable,
        HERE / "every_kernel.py",
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_kernel_is_clean(tool: str, sanitizer: str, cases: Path) -> None:
    done = run(sanitizer, tool, cases)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    print(*done.stdout.splitlines()[-2:], sep="\n")


@pytest.mark.parametrize("tool", TOOLS)
def test_planted_fault_is_reported(tool: str, sanitizer: str, gpu: None) -> None:  # noqa: F811
    done = run(sanitizer, tool, HERE / "planted.ptx", tool)
    assert done.returncode == REPORTED, done.stdout + done.stderr


def write_all(folder: Path) -> None:
    """Compiles the cases of test_graph_kernels, without weights, which single kernels do not need,
    and the large generated kernels of test_kernels."""
    test_kernels.import_compiler()
    import convoy

    folder.mkdir(parents=True, exist_ok=True)
    for name, dtype in test_graph_kernels.PAIRS:
        module, inputs = test_graph_kernels.build(name)
        model = convoy.compile(module, inputs, target="cuda", dtype=dtype, weights=False)
        model.save(folder / f"{name}.{dtype}.convoy", weights=False)
    table = test_kernels.write_table(folder)
    for name in test_kernels.LARGE:
        for dtype in test_kernels.DTYPES:
            module, inputs = test_kernels.large(name)
            convoy.compile(module, inputs, target="cuda", dtype=dtype, support_table=table).save(
                folder / f"generated_{name}.{dtype}.convoy"
            )


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
