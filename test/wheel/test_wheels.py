# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The wheels, installed into fresh virtual environments: the runtime alone, and the compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.wheels import build_wheels

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements-dev.lock"

MODEL = """
import torch

def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()).eval()

def inputs():
    return (torch.linspace(-1, 1, 3 * 16 * 16).reshape(1, 3, 16, 16),)

def small():
    return model(), inputs()
"""

COMPILE = """
import sys
import numpy, torch
import convoy, convoy._convoy, convoy_runtime, model

for package in (convoy, convoy._convoy, convoy_runtime):
    assert package.__file__.startswith(sys.prefix), package.__file__
(x,) = model.inputs()
with convoy.compile(model.model(), (x,)).load() as program:
    torch.testing.assert_close(program(x), model.model()(x))
numpy.save("x.npy", x.numpy())
numpy.save("y.npy", model.model()(x).detach().numpy())
assert "convoy" in torch.compiler.list_backends()
torch.testing.assert_close(torch.compile(model.model(), backend="convoy")(x), model.model()(x))
"""

RUN = """
import sys
import numpy, convoy_runtime

assert convoy_runtime.__file__.startswith(sys.prefix), convoy_runtime.__file__
with convoy_runtime.load("model.convoy") as program:
    (y,) = program.run_numpy(numpy.load("x.npy"))
numpy.testing.assert_allclose(y, numpy.load("y.npy"), rtol=1e-4, atol=1e-5)
assert not {"torch", "convoy"} & set(sys.modules)
"""


class Environment:
    """A virtual environment in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)

    def __call__(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        """Runs a program of bin/ without the variables of the tests; returns what it prints."""
        command = [str(self.folder / "bin" / program), *arguments]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder / "home")}
        ran = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    def pip(self, *arguments: str) -> str:
        # pip's own configuration names the package index of this machine; HOME may hold it.
        command = [str(self.folder / "bin" / "python"), "-m", "pip", *arguments]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    def packages(self) -> set[str]:
        lines = self.pip("list", "--format=freeze").splitlines()
        return {line.split("==")[0].lower() for line in lines} - {"pip", "setuptools", "wheel"}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_wheels(tmp_path_factory.mktemp("dist"))


def test_install_compile_run_uninstall(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    compiler = Environment(tmp_path / "compiler")
    # Compiling all of PyTorch to bytecode takes 13 s, and the test imports a part of it.
    compiler.pip("install", "-q", "--no-compile", "-c", str(LOCK), *map(str, wheels))
    assert compiler("convoy", "--version") == f"convoy {_version(wheels[0])}\n"
    compiler("python", "-c", COMPILE, cwd=tmp_path)
    # torch-mlir brings another LLVM: either may be loaded first.
    compiler("python", "-c", "import torch_mlir.ir, convoy._convoy")
    compiler("python", "-c", "import convoy._convoy, torch_mlir.ir")
    compiler("convoy", "compile", "model.py:small", "-o", "model.convoy", cwd=tmp_path)
    for arguments in (
        ["compile", "model.py:small", "--target", "cuda", "-o", "gpu.convoy"],
        ["explain", "gpu.convoy", "--html", "report.html"],
    ):
        compiler("convoy", *arguments, cwd=tmp_path)
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")

    runtime = Environment(tmp_path / "runtime")
    runtime.pip("install", "-q", "-c", str(LOCK), str(wheels[0]))
    assert runtime.packages() == {"convoy-runtime", "numpy"}
    runtime("python", "-c", RUN, cwd=tmp_path)

    for environment in (compiler, runtime):
        installed = environment.packages() & {"convoy-compiler", "convoy-runtime"}
        environment.pip("uninstall", "-q", "-y", *installed)
        assert not [*environment.folder.glob("[bl]i[bn]/**/*convoy*")]


def test_files_of_the_wheels(wheels: tuple[Path, Path]) -> None:
    runtime, compiler = ({*ZipFile(wheel).namelist()} for wheel in wheels)
    assert {name.split("/")[0].split("-")[0] for name in runtime} == {"convoy_runtime"}
    assert {name.split("/")[0].split("-")[0] for name in compiler} == {"convoy", "convoy_compiler"}
    for folder, names in (("python/convoy", compiler), ("runtime/convoy_runtime", runtime)):
        root = (ROOT / folder).parent
        tracked = subprocess.run(
            ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True
        )
        files = {str((ROOT / name).relative_to(root)) for name in tracked.stdout.splitlines()}
        assert {name for name in files if not name.endswith(".md")} <= names
    licences = {Path(name).name for name in compiler if "/licenses/" in name and name[-1] != "/"}
    assert licences == {
        "LICENSE",
        "d3.LICENSE",
        "dagre.LICENSE",
        "libzstd-dev.txt",
        "llvm-22-dev.txt",
        "nanobind.txt",
        "zlib1g-dev.txt",
    }
    assert any(name.endswith("/licenses/LICENSE") for name in runtime)


def _version(wheel: Path) -> str:
    return wheel.name.split("-")[1]
