"""The `cuda` target on a real GPU, with hand-written artifacts: the PTX of a generated kernel, and
a convolution by cuDNN."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_fixtures import HERE, SCALED_RELU, affine_manifest, sizes_flag

import convoy_runtime
import convoy_runtime.opening
from convoy.artifact import HostTensor, write_artifact
from convoy_runtime import ArgumentError, CudaError, DeviceError
from convoy_runtime._native import load_native
from convoy_runtime.cuda.cudnn.enums import DataType
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.inspection import offline_planner
from convoy_runtime.manifest import Call, Cudnn, Graph, GraphTensor, TensorSpec

pytestmark = pytest.mark.gpu

X = np.array([[1, 2, 3], [-4, 5, 6]], np.float32)
W = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
IMAGE = (1, 64, 56, 56)
#: DTYPE of conv.c.
CUDNN_TYPES = {"float16": DataType.HALF, "float32": DataType.FLOAT}


@pytest.fixture(scope="module", autouse=True)
def gpu() -> None:
    pytest.importorskip("cuda.bindings")
    from convoy_runtime.cuda.driver.device import Device, open_driver

    try:
        Device(open_driver(), 0)
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.fixture
def kernel(tmp_path: Path, compile_c: Callable[..., bytes]) -> Path:
    """y = max(x * w * 2, 0)."""
    specs = [TensorSpec(name, (2, 3), "float32") for name in ("x", "y", "w", "w2")]
    manifest = affine_manifest(
        target="cuda",
        inputs=(specs[0],),
        outputs=(specs[1],),
        weights=(specs[2],),
        prepared=(specs[3],),
        arena_bytes=24,
        kernels=(SCALED_RELU,),
        cudnn=Cudnn(91900, 90000, "float32"),
    )
    members = {
        "native.so": compile_c("fake_gpu/program.c"),
        "kernels.ptx": (HERE / "scaled_relu.ptx").read_bytes(),
    }
    write_artifact(tmp_path / "kernel", manifest, members, {"w2": HostTensor("float32", W * 2)})
    return tmp_path / "kernel"


def conv_weights(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    return generator.standard_normal((64, 64, 3, 3)).astype(dtype) / np.dtype(dtype).type(
        24
    ), generator.standard_normal(64).astype(dtype)


def conv_reference(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """relu(conv(x, w) + b) in float64; 3x3, padding 1."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.maximum(
        np.einsum("nchwrs,kcrs->nkhw", windows, w.astype(np.float64), optimize=True)
        + b.astype(np.float64)[:, None, None],
        0,
    )


@pytest.fixture
def conv(tmp_path: Path, compile_c: Callable[..., bytes]) -> Callable[[str], Path]:
    """conv.c in a dtype. Memory is NHWC, so its input and output are declared as 1x56x56x64."""

    def write(dtype: str) -> Path:
        x = TensorSpec("x", (1, 56, 56, 64), dtype)
        nhwc = GraphTensor(1, "input", IMAGE, (200704, 1, 3584, 64), dtype)
        filters = GraphTensor(2, "input", (64, 64, 3, 3), (576, 1, 192, 64), dtype)
        bias = GraphTensor(3, "input", (1, 64, 1, 1), (64, 1, 64, 64), dtype)
        manifest = affine_manifest(
            target="cuda",
            inputs=(x,),
            outputs=(replace(x, name="y"),),
            weights=(TensorSpec("w", (64, 64, 3, 3), dtype), TensorSpec("b", (64,), dtype)),
            prepared=(TensorSpec("krsc", (64, 3, 3, 64), dtype), TensorSpec("b", (64,), dtype)),
            arena_bytes=0,
            graphs=(
                Graph(
                    "conv",
                    "conv_build",
                    ("convolution", "add", "relu"),
                    "model.py:9",
                    (nhwc, filters, bias, replace(nhwc, uid=4, role="output")),
                ),
            ),
            calls=(Call(0, "model.py:12"),),
            cudnn=Cudnn(91900, 90000, dtype),
        )
        w, b = conv_weights(dtype)
        weights = {
            "krsc": HostTensor(dtype, np.ascontiguousarray(w.transpose(0, 2, 3, 1))),
            "b": HostTensor(dtype, b),
        }
        write_artifact(
            tmp_path / "conv",
            manifest,
            {"native.so": compile_c("conv.c", f"-DDTYPE={CUDNN_TYPES[dtype]:d}")},
            weights,
        )
        return tmp_path / "conv"

    return write


def image(dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((1, 56, 56, 64)).astype(dtype)


def load(path: Path, **options: Any) -> CudaProgram:
    program = convoy_runtime.load(path, **{"poison": True, "plan_cache": False, **options})
    assert isinstance(program, CudaProgram)
    return program


def test_kernel(kernel: Path) -> None:
    with load(kernel) as program:
        for x in (X, -X, X * 3):
            np.testing.assert_array_equal(program.run_numpy(x)[0], np.maximum(x * (W * 2), 0))
        program.load_weights({"w": W * 5})
        np.testing.assert_array_equal(program.run_numpy(X)[0], np.maximum(X * (W * 10), 0))
        with pytest.raises(
            ArgumentError, match="input 'x': wrong device: expected cuda:0, got cpu"
        ):
            program(X)


def test_kernel_that_the_driver_refuses(
    kernel: Path, tmp_path: Path, compile_c: Callable[..., bytes]
) -> None:
    artifact = convoy_runtime.opening.open_artifact(kernel)
    members = {
        "native.so": bytes(artifact.members["native.so"]),
        "kernels.ptx": b"// no kernel\n.version 7.0\nthis is none",
    }
    write_artifact(tmp_path / "bad", artifact.manifest, members)
    with pytest.raises(
        CudaError,
        match=(
            r"cuModuleLoadDataEx failed: CUDA_ERROR_.*\n  the driver's compiler, for sm_\d+: "
            r"ptxas "
        ),
    ):
        load(tmp_path / "bad")


@pytest.mark.parametrize(
    ("dtype", "options", "tolerance"),
    [
        ("float16", PlanOptions(), 1e-2),
        ("float32", PlanOptions(), 5e-3),
        ("float32", PlanOptions(allow_tf32=False), 1e-4),
    ],
)
def test_convolution(
    conv: Callable[[str], Path], dtype: str, options: PlanOptions, tolerance: float
) -> None:
    with load(conv(dtype), options=options) as program:
        (report,) = program.plans
        assert options.allow_tf32 or "TENSOR_CORE" not in report.numerical_notes
        for seed in (0, 1):
            x = image(dtype, seed)
            (y,) = program.run_numpy(x)
            expected = conv_reference(x.transpose(0, 3, 1, 2), *conv_weights(dtype))
            assert np.abs(y.transpose(0, 3, 1, 2) - expected).max() <= tolerance * expected.max(), (
                str(report)
            )


def test_new_weights_in_the_captured_graph(conv: Callable[[str], Path]) -> None:
    with load(conv("float16")) as program:
        x, (w, b) = image("float16"), conv_weights("float16")
        program.load_weights({"w": -w, "b": b})
        expected = conv_reference(x.transpose(0, 3, 1, 2), -w, b)
        (y,) = program.run_numpy(x)
        assert np.abs(y.transpose(0, 3, 1, 2) - expected).max() <= 1e-2 * expected.max()


def test_restored_plan(conv: Callable[[str], Path], tmp_path: Path) -> None:
    path, x = conv("float16"), image("float16")
    with load(path, plan_cache=tmp_path / "cache") as program:
        (first,) = program.run_numpy(x)
        assert program.plans[0].origin == "heuristics"
    with load(path, plan_cache=tmp_path / "cache") as program:
        # Not all engines' plans can be serialized; such a plan is rebuilt from engine and knobs.
        assert program.plans[0].origin in ("stored plan", "stored engine and knobs")
        np.testing.assert_array_equal(program.run_numpy(x)[0], first)


def test_tuned_plans(conv: Callable[[str], Path], tmp_path: Path) -> None:
    path, x = conv("float16"), image("float16")
    expected = conv_reference(x.transpose(0, 3, 1, 2), *conv_weights("float16"))
    with load(path, plan_cache=tmp_path / "cache", tune="quick") as program:
        (report,) = program.plans
        (y,) = program.run_numpy(x)
    assert np.abs(y.transpose(0, 3, 1, 2) - expected).max() <= 1e-2 * expected.max()
    assert (report.origin, report.tuned) == ("tuning", "quick")
    times = [trial.microseconds for trial in report.trials if trial.microseconds is not None]
    assert len(times) > 3
    assert times == sorted(times)
    assert sum(trial.first for trial in report.trials) == 1
    with load(path, plan_cache=tmp_path / "cache", strict=True) as program:
        assert program.plans[0].engine == report.engine
        np.testing.assert_array_equal(program.run_numpy(x)[0], y)


def test_limited_tuning_by_note_and_direction(conv: Callable[[str], Path]) -> None:
    path, x = conv("float16"), image("float16")
    expected = conv_reference(x.transpose(0, 3, 1, 2), *conv_weights("float16"))
    excluded: tuple[int, ...] = ()
    for _ in range(2):
        options = PlanOptions(
            require_numerical_notes=("TENSOR_CORE",), exclude_forward_engines=excluded
        )
        with load(path, plan_cache=False, tune="limited", options=options) as program:
            (report,) = program.plans
            (y,) = program.run_numpy(x)
        assert np.abs(y.transpose(0, 3, 1, 2) - expected).max() <= 1e-2 * expected.max()
        assert report.tuned == "limited"
        assert 0 < len(report.trials) <= 5
        for trial in report.trials:
            assert "TENSOR_CORE" in trial.numerical_notes
            assert trial.engine not in excluded
        assert report.engine is not None
        excluded = (report.engine,)


def test_full_tune_builds_in_other_processes(conv: Callable[[str], Path]) -> None:
    messages: list[str] = []
    x = image("float16")
    with load(
        conv("float16"), tune="full", progress=lambda what, *_: messages.append(what)
    ) as program:
        (report,) = program.plans
        (y,) = program.run_numpy(x)
    expected = conv_reference(x.transpose(0, 3, 1, 2), *conv_weights("float16"))
    assert np.abs(y.transpose(0, 3, 1, 2) - expected).max() <= 1e-2 * expected.max()
    assert any("plans of conv compiled" in what for what in messages)
    assert [line for line in report.rejected if "process" in line or "JSON" in line] == []


@pytest.mark.parametrize("tune", ["off", "quick"])
def test_concurrent_calls(
    conv: Callable[[str], Path], tmp_path: Path, compile_c: Callable[..., bytes], tune: str
) -> None:
    """branches.c with a real convolution: a call that reads or writes too early uses another run's
    numbers, or poison."""
    simple = convoy_runtime.opening.open_artifact(conv("float16"))
    x, (graph,) = simple.manifest.inputs[0], simple.manifest.graphs
    manifest = replace(
        simple.manifest,
        outputs=(replace(x, name="y"), replace(x, name="z")),
        arena_bytes=4 * x.bytes,
        graphs=(graph,),
        calls=tuple(Call(0, f"model.py:{line}") for line in range(12, 17)),
    )
    native = compile_c(
        "fake_gpu/branches.c",
        "-DDTYPE=2",
        f"-DSLOT={x.bytes}",
        f"-DBYTES={x.bytes}",
        sizes_flag(manifest),
    )
    write_artifact(tmp_path / "branches", manifest, {"native.so": native}, simple.weights())
    weights = conv_weights("float16")
    with load(tmp_path / "branches", tune=tune) as program:
        assert tune != "off" or program.form == "small calls side by side"
        for seed in range(4):
            image_nchw = image("float16", seed).transpose(0, 3, 1, 2)
            first = conv_reference(image_nchw, *weights)
            z = conv_reference(first, *weights)
            y = conv_reference(conv_reference(z, *weights), *weights)
            for got, expected in zip(
                program.run_numpy(image("float16", seed)), (y, z), strict=True
            ):
                assert (
                    np.abs(got.transpose(0, 3, 1, 2) - expected).max() <= 2e-2 * expected.max()
                ), program.form


def check_runs(program: CudaProgram, dtype: str, seeds: Sequence[int]) -> None:
    for seed in seeds:
        x = image(dtype, seed)
        expected = conv_reference(x.transpose(0, 3, 1, 2), *conv_weights(dtype)).transpose(
            0, 2, 3, 1
        )
        assert np.abs(program.run_numpy(x)[0] - expected).max() <= 1e-2 * expected.max()


def test_programs_in_threads(conv: Callable[[str], Path], tmp_path: Path) -> None:
    """Loaded, tuned and run concurrently, each program with its own handle; and one program in all
    threads."""
    paths = {dtype: conv(dtype).rename(tmp_path / dtype) for dtype in ("float16", "float32")}

    def one(dtype: str) -> None:
        with load(paths[dtype], tune="quick") as program:
            check_runs(program, dtype, range(4))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(one, [*paths, *paths]))
        with load(paths["float16"]) as program:
            list(threads.map(lambda seed: check_runs(program, "float16", [seed]), range(8)))


def test_two_devices(conv: Callable[[str], Path]) -> None:
    """Concurrently, alternating and from one thread, with any current device."""
    from convoy_runtime.cuda.driver.device import open_driver

    if open_driver().call("cuDeviceGetCount") < 2:
        pytest.skip("there is only one GPU")
    path = conv("float16")
    with load(path, device=0) as first, load(path, device=1) as second:
        for seed in range(3):
            for program in (first, second):
                check_runs(program, "float16", [seed])
        with ThreadPoolExecutor(2) as threads:
            list(
                threads.map(
                    lambda program: check_runs(program, "float16", range(8)), (first, second)
                )
            )


@pytest.fixture(scope="module")
def torch() -> Any:
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("torch has no GPU")
    return module


def test_torch_in_torch_out(kernel: Path, torch: Any) -> None:
    with load(kernel) as program:
        x = torch.from_numpy(X).cuda()
        y = program(x)
        assert isinstance(y, torch.Tensor)
        assert y.device == x.device
        expected = torch.relu(x * torch.from_numpy(W * 2).cuda())
        assert torch.equal(y, expected)
        # A view that is not packed, a stream of torch, a stream that is not torch's current one,
        # the caller's arrays.
        assert torch.equal(program(x.T.contiguous().T), expected)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            z = program(x * 2)
        assert torch.equal(program(x), expected)
        side.synchronize()
        assert torch.equal(z, expected * 2)
        y = program(x, stream=side.cuda_stream)
        side.synchronize()
        assert torch.equal(y, expected)
        program.run_into([y], [-x])
        assert torch.equal(y, torch.relu(-x * torch.from_numpy(W * 2).cuda()))
        with pytest.raises(
            ArgumentError, match="input 'x': wrong device: expected cuda:0, got cpu"
        ):
            program(x.cpu())


def test_runs_are_ordered(conv: Callable[[str], Path], torch: Any) -> None:
    with load(conv("float16")) as program:
        images = [torch.from_numpy(image("float16", seed)).cuda() for seed in range(20)]
        expected = [torch.from_numpy(program.run_numpy(each.cpu().numpy())[0]) for each in images]
        got = [program(each) for each in images]
        for one, other in zip(got, expected, strict=True):
            assert torch.equal(one.cpu(), other)


def test_static_buffers_as_torch_tensors(kernel: Path, torch: Any) -> None:
    program = load(kernel)
    x, y = (
        torch.from_dlpack(array) for array in (program.static_inputs[0], program.static_outputs[0])
    )
    x.copy_(torch.from_numpy(X))
    program.replay(torch.cuda.current_stream().cuda_stream)
    expected = torch.relu(torch.from_numpy(X) * torch.from_numpy(W * 2))
    assert torch.equal(y.cpu(), expected)
    # In a graph of the caller.
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        program.replay(side.cuda_stream)
        doubled = y * 2
    y.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(doubled.cpu(), expected * 2)
    del graph
    # The tensors keep the memory alive.
    program.close()
    assert torch.equal(y.cpu(), expected)
    del x, y, program
    gc.collect()
    torch.cuda.synchronize()


def test_memory_is_released(kernel: Path, compile_c: Callable[..., bytes]) -> None:
    def free() -> int:
        from convoy_runtime.cuda.driver.device import Device, open_driver

        with Device(open_driver(), 0).current():
            return int(open_driver().call("cuMemGetInfo")[0])

    def once() -> None:
        artifact = convoy_runtime.opening.open_artifact(kernel)
        manifest = replace(artifact.manifest, arena_bytes=256 << 20)
        native = compile_c("fake_gpu/program.c", f"-DARENA={manifest.arena_bytes}")
        members = {"native.so": native, "kernels.ptx": bytes(artifact.members["kernels.ptx"])}
        big = kernel.with_name("big")
        write_artifact(big, manifest, members, artifact.weights())
        with load(big) as program:
            program.run_numpy(X)

    once()
    before = free()
    for _ in range(4):
        once()
    assert before - free() < 256 << 20


def test_profile(kernel: Path, conv: Callable[[str], Path]) -> None:
    with load(kernel) as program:
        assert [timing.kind for timing in program.profile().timings] == ["kernel", "copy"]
        # Afterwards the inputs are random, the weights are not.
        np.testing.assert_array_equal(program.run_numpy(X)[0], np.maximum(X * (W * 2), 0))
    with load(conv("float16"), poison=False) as program:
        profile = program.profile()
    gpu = profile.gpu
    # The driver's figure and the measured copy speed of the memory are consistent.
    assert (
        0.4
        < gpu.copy_bytes_per_second / (gpu.memory_clock_khz * 1e3 * 2 * gpu.memory_bus_bits / 8)
        < 1
    )
    (timing,) = profile.timings
    assert timing.microseconds is not None
    # 0.9 MB and 0.23 GFLOP cannot be faster, and no plan of the heuristics is so slow. The program
    # is this call.
    assert 872_576 / gpu.copy_bytes_per_second * 1e6 < timing.microseconds < 100
    assert profile.replay_microseconds < 3 * timing.microseconds + 10
    # In place, everything is in the cache.
    assert timing.in_place_microseconds is not None
    assert 0.5 < timing.in_place_microseconds < 1.5 * timing.microseconds + 1


def test_offline_plans_from_the_properties_of_this_gpu(
    conv: Callable[[str], Path], tmp_path: Path
) -> None:
    from convoy_runtime.cuda.cudnn.device_properties import read_properties
    from convoy_runtime.cuda.cudnn.loading import open_cudnn

    described = tmp_path / "here.json"
    described.write_text(read_properties(open_cudnn(), 0))
    artifact = convoy_runtime.opening.open_artifact(conv("float16"))
    plans = offline_planner(str(described)).plan(
        artifact.manifest, load_native(artifact.members["native.so"])
    )
    assert len(plans.members) == 1
    members = {"native.so": bytes(artifact.members["native.so"]), **plans.members}
    write_artifact(tmp_path / "planned", artifact.manifest, members, artifact.weights())
    with load(tmp_path / "planned", strict=True) as program:
        (report,) = program.plans
        assert (report.origin, report.tuned) == ("offline plan in the artifact", "offline")
        x = image("float16")
        (y,) = program.run_numpy(x)
    w, b = conv_weights("float16")
    expected = conv_reference(x.transpose(0, 3, 1, 2), w, b).transpose(0, 2, 3, 1)
    assert float(np.abs(y - expected).max() / expected.max()) < 1e-2
