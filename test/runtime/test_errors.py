"""Errors of the runtime cross processes, and name a missing package."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from convoy_runtime import errors
from convoy_runtime.errors import ConvoyRuntimeError

ERRORS = [
    errors.ArtifactError(problem="is damaged", path="m.convoy", member="native.so", expected="1"),
    errors.ArgumentError(argument="input 'x'", problem="wrong dtype", expected="a", got="b"),
    errors.WeightsError(
        problem="2 weights do not match:", problems=("a: missing", "b: unexpected")
    ),
    errors.DeviceError(problem="no GPU", hint="use a GPU"),
    errors.CudaError(call="cuInit", name="CUDA_ERROR_UNKNOWN", description="unknown"),
    errors.CudnnError(call="cudnnCreate", status=1, name="FAILED", location="model.py:1"),
    errors.PlanError(graph="g0", location="model.py:1", tried=("a: no",)),
    errors.ExecutionError(entry="convoy_main", status=2),
    errors.PackageError(package="Ray Serve", user="convoy_runtime.integrations.ray", extra="ray"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_error_is_equal_after_pickling(error: ConvoyRuntimeError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_integration_names_its_missing_package() -> None:
    code = "import sys; sys.modules['ray'] = None; import convoy_runtime.integrations.ray"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "convoy_runtime.errors.PackageError: convoy_runtime.integrations.ray needs Ray Serve, which "
        "is not installed\n  hint: pip install 'convoy-runtime[ray]'\n"
    )


def test_missing_package_is_an_import_error() -> None:
    assert issubclass(errors.PackageError, ImportError)
