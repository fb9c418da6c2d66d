"""Programs with dynamic sizes, on the fake driver of libcuda.c."""

from __future__ import annotations

import argparse
import ctypes
import gc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, conv_manifest, hook_driver, zeros
from runtime_fixtures import affine_manifest

import convoy_runtime
from convoy.artifact import HostTensor
from convoy.dynamic.artifact import PointProgram, write_dynamic_artifact
from convoy_runtime import ArgumentError, CudaError
from convoy_runtime.__main__ import main
from convoy_runtime.cuda.driver.memory import Allocation, DeviceArray
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.program import DynamicProgram
from convoy_runtime.load_flags import add_arguments, load_arguments
from convoy_runtime.manifest import Cudnn, Manifest, TensorSpec

W = np.array([1, -2, 3], np.float32)
ORIGIN = "0123456789abcdef"


def manifest_of(shape: tuple[int, ...]) -> Manifest:
    """The manifest of rows.c."""
    return affine_manifest(
        target="cuda",
        inputs=(TensorSpec("x", shape, "float32"),),
        outputs=(TensorSpec("y", shape, "float32"), TensorSpec("z", (3,), "float32")),
        weights=(TensorSpec("w", (3,), "float32"),),
        prepared=(TensorSpec("w2", (3,), "float32", origin=ORIGIN),),
        arena_bytes=0,
        cudnn=Cudnn(91900, 90000, "float32"),
    )


@pytest.fixture(params=(0, 1), ids=("rows first", "rows last"))
def dynamic(
    request: pytest.FixtureRequest, tmp_path: Path, compile_c: Callable[..., bytes]
) -> tuple[Path, int]:
    """An artifact with points for 2 and 4 rows, and the dim of the rows."""
    place = request.param
    sizes = ("rows", "3") if place == 0 else ("3", "rows")
    points = []
    for rows in (2, 4):
        shape = (rows, 3) if place == 0 else (3, rows)
        members = {"native.so": compile_c("fake_gpu/rows.c", f"-DROWS={rows}")}
        points.append(PointProgram({"rows": rows}, manifest_of(shape), members))
    write_dynamic_artifact(
        tmp_path / "model",
        [Symbol("rows", 1, 4, 1)],
        [DynamicTensor("x", sizes, "float32")],
        [DynamicTensor("y", sizes, "float32"), DynamicTensor("z", ("3",), "float32")],
        points,
        {ORIGIN: HostTensor("float32", W * 2)},
    )
    return tmp_path / "model", place


def upload(program: CudaProgram, array: np.ndarray) -> DeviceArray:
    memory = Allocation(program._device, array.nbytes)
    with program._device.current():
        program._driver.call("cuMemcpyHtoD", memory.pointer, array.ctypes.data, array.nbytes)
    spec = TensorSpec("", array.shape, "float32")
    return DeviceArray(spec, memory.pointer, 0, memory, lambda _: None)


def peek(array: DeviceArray) -> np.ndarray:
    count = int(np.prod(array.shape))
    found = np.ctypeslib.as_array((ctypes.c_float * count).from_address(array.pointer))
    return found.reshape(array.shape).copy()


def test_points_and_padding(dynamic: tuple[Path, int]) -> None:
    path, place = dynamic
    with convoy_runtime.load(path, poison=True) as program:
        assert isinstance(program, DynamicProgram)
        one = program.point(rows=4)
        assert isinstance(one, CudaProgram)
        for rows in (2, 4, 1, 3, 2, 3):
            x = np.arange(1, 3 * rows + 1, dtype=np.float32)
            x = x.reshape((rows, 3) if place == 0 else (3, rows))
            y, z = program.run_numpy(x)
            np.testing.assert_array_equal(y, x)
            np.testing.assert_array_equal(z, W * 2)
            y, z = program(upload(one, x))
            one.synchronize()
            assert y.shape == x.shape
            np.testing.assert_array_equal(peek(y), x)
            np.testing.assert_array_equal(peek(z), W * 2)
            # What is not given is zeros, not an earlier call's rows.
            used = program.point(rows=2 if rows <= 2 else 4)
            assert isinstance(used, CudaProgram)
            full = peek(used.static_inputs[0])
            window = tuple(slice(size) for size in x.shape)
            np.testing.assert_array_equal(full[window], x)
            full[window] = 0
            assert not full.any()


def test_memory_and_weights_are_shared(dynamic: tuple[Path, int]) -> None:
    path, place = dynamic
    gc.collect()
    before = FAKE.fake_allocated()
    program = convoy_runtime.load(path)
    assert isinstance(program, DynamicProgram)
    small, large = program.point(rows=2), program.point(rows=4)
    assert isinstance(small, CudaProgram)
    assert isinstance(large, CudaProgram)
    assert small.static_inputs[0].pointer == large.static_inputs[0].pointer
    # The largest point's x, y, z and no arena, and one weight, in parts of 256 bytes.
    assert FAKE.fake_allocated() - before == 4 * 256 + 256
    assert small.device_bytes == large.device_bytes == 4 * 256 + 256
    program.load_weights({"w": W * 10})
    for rows in (2, 3, 4):
        x = np.zeros((rows, 3) if place == 0 else (3, rows), np.float32)
        np.testing.assert_array_equal(program.run_numpy(x)[1], W * 20)
    program.close()
    program.close()
    with pytest.raises(convoy_runtime.ConvoyRuntimeError, match="is closed"):
        small.run_numpy(np.zeros((2, 3), np.float32))
    del small, large, program
    gc.collect()
    assert FAKE.fake_allocated() == before


def test_streams_take_turns(dynamic: tuple[Path, int]) -> None:
    """Programs of several points share their buffers, so a run waits for the other's."""
    path, place = dynamic
    with convoy_runtime.load(path) as program:
        assert isinstance(program, DynamicProgram)
        one = program.point(rows=4)
        assert isinstance(one, CudaProgram)
        with one._device.current():
            streams = [int(one._driver.call("cuStreamCreate", 1)) for _ in range(2)]
        given, got = [], []
        for index, rows in enumerate((4, 2, 3, 1)):
            shape = (rows, 3) if place == 0 else (3, rows)
            given.append(np.full(shape, index + 1, np.float32))
            got.append(program(upload(one, given[-1]), stream=streams[index % 2])[0])
        program.point(rows=2).synchronize()  # type: ignore[attr-defined]
        for x, y in zip(given, got, strict=True):
            np.testing.assert_array_equal(peek(y), x)


@pytest.mark.usefixtures("fake_cudnn")
def test_workspaces_are_shared(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    """All graphs use one workspace of the largest size."""
    points, weights = [], {}
    for rows in (1, 2):
        size = f"{rows} * IMAGE"
        sizes = f"-DSIZES=12, 0, 64, 1, {size}, 2, FILTERS, BIAS, 2, FILTERS, BIAS, 1, {size}"
        manifest = conv_manifest()
        x = replace(manifest.inputs[0], shape=(rows, 64, 56, 56))
        prepared = tuple(replace(spec, origin=spec.name * 16) for spec in manifest.prepared)
        weights = {spec.origin: zeros(manifest)[spec.name] for spec in prepared}
        manifest = replace(
            manifest, inputs=(x,), outputs=(replace(x, name="y"),), prepared=prepared
        )
        members = {"native.so": compile_c("conv.c", sizes)}
        points.append(PointProgram({"rows": rows}, manifest, members))
    shape = ("rows", "64", "56", "56")
    write_dynamic_artifact(
        tmp_path / "model",
        [Symbol("rows", 1, 2, 1)],
        [DynamicTensor("x", shape, "float16")],
        [DynamicTensor("y", shape, "float16")],
        points,
        weights,
    )
    for tune in ("off", "quick"):
        with convoy_runtime.load(
            tmp_path / "model", plan_cache=False, tune=tune, options=PlanOptions(engines=(41,))
        ) as program:
            memory = [point_of(program, rows)._loaded.capture().memory for rows in (1, 2)]
            assert memory[0] is memory[1]
            assert memory[0] is not None
            used = [report.workspace_bytes for report in program.plans]
            assert memory[0].size == max(used) > 0
            # Two images and a result of two images, and the weights, in parts of 256 bytes.
            tensors = 2 * (2 * 64 * 56 * 56 * 2) + sum(
                -(-tensor.array.nbytes // 256) * 256 for tensor in weights.values()
            )
            assert point_of(program, 2).device_bytes == max(used) + tensors + 256


def given_rows(place: int, rows: int, value: float = 1) -> np.ndarray:
    return np.full((rows, 3) if place == 0 else (3, rows), value, np.float32)


def point_of(program: convoy_runtime.Program, rows: int) -> CudaProgram:
    assert isinstance(program, DynamicProgram)
    found = program.point(rows=rows)
    assert isinstance(found, CudaProgram)
    return found


def test_graphs_are_captured_on_first_use(dynamic: tuple[Path, int]) -> None:
    path, place = dynamic
    gc.collect()
    # A graph and its instance, and what uploads it before the launch.
    graphs, uploads = FAKE.fake_graphs(), FAKE.fake_uploads()
    with convoy_runtime.load(path) as program:
        small, large = point_of(program, 2), point_of(program, 4)
        assert (small.is_captured, large.is_captured) == (False, False)
        assert (FAKE.fake_graphs(), FAKE.fake_uploads()) == (graphs, uploads)
        for rows in (1, 2):
            program.run_numpy(given_rows(place, rows))
            assert (small.is_captured, large.is_captured) == (True, False)
            assert (FAKE.fake_graphs(), FAKE.fake_uploads()) == (graphs + 2, uploads + 1)
        large.replay()
        assert (small.is_captured, large.is_captured) == (True, True)
    assert FAKE.fake_graphs() == graphs


def test_graphs_captured_at_load(dynamic: tuple[Path, int]) -> None:
    path, place = dynamic
    for chosen, captured in (([{"rows": 4}], (False, True)), ("all", (True, True))):
        with convoy_runtime.load(path, capture_points=chosen) as program:
            points = point_of(program, 2), point_of(program, 4)
            assert (points[0].is_captured, points[1].is_captured) == captured
            np.testing.assert_array_equal(
                program.run_numpy(given_rows(place, 3))[0], given_rows(place, 3)
            )
    for options, message in (
        ({"capture_points": [{"rows": 3}]}, "no such point: expected one of: rows=2, rows=4"),
        ({"capture_points": "some"}, "expected 'all' or a list of points, got 'some'"),
        ({"capture_points": "all", "max_cuda_graphs": 1}, "at most max_cuda_graphs=1, got 2"),
        ({"max_cuda_graphs": 0}, "max_cuda_graphs: out of range: expected at least 1, got 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            convoy_runtime.load(path, **options)  # type: ignore[arg-type]


def test_flags_of_cuda_graphs(
    dynamic: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = dynamic
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for flags, captured, most in (
        ([], (False, False), 64),
        (["--capture-points", "rows=4", "--max-cuda-graphs", "1"], (False, True), 1),
        (["--capture-points", "rows=2", "--capture-points", "rows=4"], (True, True), 64),
        (["--capture-points", "all"], (True, True), 64),
    ):
        given = load_arguments(parser.parse_args(flags))
        assert given["max_cuda_graphs"] == most
        with convoy_runtime.load(path, **given) as program:
            points = point_of(program, 2), point_of(program, 4)
            assert (points[0].is_captured, points[1].is_captured) == captured
    command = [str(path), "--run", "--capture-points", "all", "--max-cuda-graphs", "1"]
    assert main(command) == ArgumentError.exit_code
    assert "at most max_cuda_graphs=1, got 2" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parser.parse_args(["--capture-points", "some"])
    assert "expected NAME=N,..." in capsys.readouterr().err


def test_a_switch_between_captured_points(
    dynamic: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It allocates nothing, since results come from a pool, and waits for nothing."""
    path, place = dynamic
    with convoy_runtime.load(path, capture_points="all") as program:
        one = point_of(program, 4)
        given = {rows: upload(one, given_rows(place, rows)) for rows in (1, 2, 3, 4)}
        for x in given.values():
            program(x)
        names = []

        def record(name: str, function: Callable[..., object], *arguments: object) -> object:
            names.append(name)
            return function(*arguments)

        hook_driver(monkeypatch, record)
        for rows in (4, 2, 3, 1, 4):
            program(given[rows])
        # Outputs are copied by a kernel launch; inputs by a kernel node, whose parameters are set.
        copies = {"cuLaunchKernel", "cuGraphExecKernelNodeSetParams"}
        expected = {"cuCtxGetCurrent", "cuStreamIsCapturing", "cuGraphLaunch", "cuEventRecord"}
        assert expected <= set(names) <= expected | copies | {"cuCtxPushCurrent", "cuCtxPopCurrent"}


@pytest.mark.parametrize("most", [1, 2])
def test_the_least_recently_used_graph_goes(dynamic: tuple[Path, int], most: int) -> None:
    """Also while its run is in flight: the fake driver runs nothing before a wait."""
    path, place = dynamic
    gc.collect()
    graphs, early = FAKE.fake_graphs(), FAKE.fake_early()
    with convoy_runtime.load(path, max_cuda_graphs=most) as program:
        small, large = point_of(program, 2), point_of(program, 4)
        results = []
        for step, rows in enumerate((4, 2, 2, 3, 1, 4)):
            x = given_rows(place, rows, step)
            results.append((x, program(upload(large, x))[0]))
            assert FAKE.fake_graphs() - graphs <= 2 * most
            assert (large if rows > 2 else small).is_captured
        assert small.is_captured == (most == 2)
        large.synchronize()
        for x, y in results:
            np.testing.assert_array_equal(peek(y), x)
    assert (FAKE.fake_graphs(), FAKE.fake_early()) == (graphs, early)


def test_no_memory_for_another_graph(
    dynamic: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are destroyed. Without others, the call fails, and a later one succeeds."""
    path, place = dynamic
    full = True
    gc.collect()
    graphs, early = FAKE.fake_graphs(), FAKE.fake_early()
    with convoy_runtime.load(path) as program:
        small, large = point_of(program, 2), point_of(program, 4)
        x = given_rows(place, 4, 7)
        y = program(upload(large, x))[0]

        def fail(name: str, function: Callable[..., object], *arguments: object) -> object:
            if name == "cuGraphInstantiate" and (full or large.is_captured):
                raise CudaError(call=name, name="CUDA_ERROR_OUT_OF_MEMORY", description="full")
            return function(*arguments)

        hook_driver(monkeypatch, fail)
        with pytest.raises(CudaError, match="CUDA_ERROR_OUT_OF_MEMORY"):
            program.run_numpy(given_rows(place, 2))
        np.testing.assert_array_equal(peek(y), x)
        assert FAKE.fake_graphs() == graphs
        full = False
        for rows, captured in ((4, large), (2, small)):
            given = given_rows(place, rows, rows)
            np.testing.assert_array_equal(program.run_numpy(given)[0], given)
            assert captured.is_captured
        assert not large.is_captured
    assert (FAKE.fake_graphs(), FAKE.fake_early()) == (graphs, early)


def test_first_use_in_the_callers_capture(dynamic: tuple[Path, int]) -> None:
    """The graphs are captured, and one is destroyed, while the caller captures its stream."""
    path, place = dynamic
    with convoy_runtime.load(path, max_cuda_graphs=1) as program:
        one = point_of(program, 4)
        call, module = one._driver.call, one._driver.module
        pairs = [
            (upload(one, given_rows(place, rows, 7)), upload(one, given_rows(place, rows, 0)))
            for rows in (2, 4)
        ]
        program(pairs[0][0])
        with one._device.current():
            side = int(call("cuStreamCreate", 1))
            z = upload(one, np.zeros(3, np.float32))
            call(
                "cuStreamBeginCapture",
                side,
                module.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            )
            for x, y in reversed(pairs):
                program.run_into([y, z], [x], stream=side)
            graph = call("cuStreamEndCapture", side)
            instance = call("cuGraphInstantiate", graph, 0)
            call("cuGraphLaunch", instance, side)
            call("cuStreamSynchronize", side)
            for x, y in pairs:
                np.testing.assert_array_equal(peek(y), peek(x))
            for name, what in (("cuGraphExecDestroy", instance), ("cuGraphDestroy", graph)):
                call(name, what)


def test_sizes_without_a_point(dynamic: tuple[Path, int]) -> None:
    path, place = dynamic
    with convoy_runtime.load(path) as program:
        x = np.zeros((5, 3) if place == 0 else (3, 5), np.float32)
        with pytest.raises(
            ArgumentError, match="the value of rows is not in its range: expected 1 to 4, got 5"
        ):
            program.run_numpy(x)
