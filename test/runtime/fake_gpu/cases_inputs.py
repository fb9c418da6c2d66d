"""The copies of inputs by a kernel at the start of the CUDA graph, and of outputs by a kernel after
it, on the fake driver of libcuda.c."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, X, hook_driver, peek, reference, stream, upload, wait

import convoy_runtime
from convoy_runtime import ArtifactError
from convoy_runtime._native import load_native
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.cuda.program.run_graph import CopyKernels, WindowCopies
from convoy_runtime.errors import CudaError

SET, ENABLE = "cuGraphExecKernelNodeSetParams", "cuGraphNodeSetEnabled"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, program: CudaProgram) -> list[str]:
    """The functions of the driver whose next call fails."""
    names: list[str] = []

    def hook(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        if name in names:
            names.remove(name)
            raise CudaError(call=name, name="CUDA_ERROR_UNKNOWN", description="described")
        return function(*arguments)

    hook_driver(monkeypatch, hook)
    return names


def result(program: CudaProgram, x: Any) -> np.ndarray:
    handle = stream(program)
    y = program(x, stream=handle)
    wait(program, handle)
    return peek(y)


def test_parameters_are_set_for_other_arrays_only(
    program: CudaProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        called[name] += 1
        return function(*arguments)

    one, other = upload(program, X), upload(program, X - 3)
    hook_driver(monkeypatch, counted)
    for x, array, expected in (
        (one, X, (1, 1)),
        (one, X, (0, 0)),
        (other, X - 3, (1, 0)),
        (one, X, (1, 0)),
    ):
        called.clear()
        np.testing.assert_array_equal(result(program, x), reference(array))
        assert (called[SET], called[ENABLE]) == expected


def test_a_launch_keeps_its_arrays(program: CudaProgram) -> None:
    """Parameters are set again while earlier runs are in flight."""
    arrays = [X + place for place in range(4)]
    given = [upload(program, each) for each in arrays]
    handle = stream(program)
    results = [program(x, stream=handle) for x in given]
    wait(program, handle)
    for y, each in zip(results, arrays, strict=True):
        np.testing.assert_array_equal(peek(y), reference(each))


def test_replays_and_host_arrays_between_calls(program: CudaProgram) -> None:
    """Neither runs the kernel: its arrays may not exist any more."""
    x = upload(program, X)
    np.testing.assert_array_equal(result(program, x), reference(X))
    del x
    handle = stream(program)

    def launch(stream: int) -> None:
        with program._device.current():
            program._loaded.capture().launch(stream)

    for run in (program.replay, launch):
        result(program, upload(program, X))
        with program._device.current():
            program._driver.call(
                "cuMemcpyHtoD", program.static_inputs[0].pointer, (X + 1).ctypes.data, X.nbytes
            )
        run(handle)
        wait(program, handle)
        np.testing.assert_array_equal(peek(program.static_outputs[0]), reference(X + 1))
    np.testing.assert_array_equal(program.run_numpy(X + 2)[0], reference(X + 2))
    x = upload(program, X + 3)
    np.testing.assert_array_equal(result(program, x), reference(X + 3))


@pytest.mark.parametrize("name", [SET, ENABLE, "cuGraphLaunch", "cuLaunchKernel"])
def test_a_run_after_a_failed_one(program: CudaProgram, refused: list[str], name: str) -> None:
    one, other = upload(program, X), upload(program, X + 1)
    for x, array in ((one, X), (other, X + 1), (one, X)):
        program.run_numpy(X)
        refused.append(name)
        with pytest.raises(CudaError, match=f"{name} failed"):
            program(x)
        assert not refused
        np.testing.assert_array_equal(result(program, x), reference(array))


@pytest.mark.parametrize(
    ("sizes", "most", "blocks"),
    [
        ([], None, 1),
        ([0], 8, 1),
        ([24], 8, 1),
        ([24, 16 * 256 * 5], 8, 5),
        ([1 << 30] * 8, 8, 256),
        ([24] * 9, 80, 1),
        ([1 << 30] * 80, 80, 25),
        ([24] * 81, None, 1),
        ([24, 1 << 31], None, 2048 // 2),
    ],
)
def test_kernel_by_number_and_size(
    compile_c: Callable[..., bytes], sizes: list[int], most: int | None, blocks: int
) -> None:
    """More arrays than a kernel takes, or larger ones than it can address, are copied by the
    driver."""
    device, native = Device(open_driver(), 0), load_native(compile_c("fake_gpu/program.c"))
    modules = FAKE.fake_modules()
    with device.current():
        kernels = CopyKernels(device)
        copies = WindowCopies(kernels, native, sizes).native
        found = copies.function is not None
        assert found == (most is not None)
        if found:
            name = ctypes.string_at(copies.function)  # The fake's CUfunction begins with it.
            assert name == f"convoy_copy_{most}".encode()
        assert copies.blocks == blocks
        assert FAKE.fake_modules() - modules == found
        kernels.close()
    assert FAKE.fake_modules() == modules


def test_an_artifact_without_kernels(artifact: Callable[..., Path]) -> None:
    """The native library of another compiler."""
    path = artifact("-Dconvoy_copy_kernels=other")
    with pytest.raises(ArtifactError, match="does not export convoy_copy_kernels"):
        convoy_runtime.load(path)
