"""Native libraries: compiled from text, loaded with ctypes, compared with PyTorch in float64."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from vector_cpus import CPUS, VECTOR_CPUS

from convoy import _convoy
from convoy_runtime._abi import RUN_ENTRIES
from convoy_runtime.manifest import ABI_VERSION

OPTIONS = {"target": "cpu", "cpu": "native"}


class Library:
    """A compiled program: `program(inputs, weights)` prepares the weights, runs once, and returns
    the outputs."""

    def __init__(self, folder: Path, text: str, from_phase: str = "tcp", **options: str) -> None:
        self.native, self.ptx, manifest = _convoy.compile(
            text, "test.mlir", from_phase, list((OPTIONS | options).items())
        )
        self.manifest: dict[str, Any] = json.loads(manifest)
        path = folder / "native.so"
        path.write_bytes(self.native)
        self.library = ctypes.CDLL(str(path))

    def __call__(
        self, inputs: list[np.ndarray], weights: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        def outputs(key: str) -> list[np.ndarray]:
            # 0xff bytes are NaN in every float type, so unwritten output is detected.
            return [
                np.frombuffer(bytearray(b"\xff" * _bytes(entry)), entry["dtype"]).reshape(
                    entry["shape"]
                )
                for entry in self.manifest[key]
            ]

        def pointers(arrays: list[np.ndarray]) -> Any:
            return (ctypes.c_void_p * max(1, len(arrays)))(*[array.ctypes.data for array in arrays])

        def arena(size: int) -> tuple[np.ndarray, ctypes.c_void_p]:
            buffer = np.full(size + 256, 0xFF, np.uint8)
            return buffer, ctypes.c_void_p((buffer.ctypes.data + 255) & ~255)

        prepared, results = outputs("prepared"), outputs("outputs")
        keep, at = arena(self.manifest["prepare_arena_bytes"])
        assert (
            self.library.convoy_prepare_weights(pointers(weights or []), pointers(prepared), at)
            == 0
        )
        keep, at = arena(self.manifest["arena_bytes"])
        assert (
            self.library.convoy_main(
                None, pointers(inputs), pointers(prepared), pointers(results), at
            )
            == 0
        )
        del keep
        return results


def _bytes(entry: dict[str, Any]) -> int:
    return int(np.prod(entry["shape"], dtype=np.int64)) * np.dtype(entry["dtype"]).itemsize


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _close(got: np.ndarray, expected: torch.Tensor, tolerance: float = 1e-5) -> None:
    reference = expected.double().numpy()
    assert got.shape == reference.shape
    assert np.isfinite(got).all()
    assert np.abs(got - reference).max() <= tolerance * np.abs(reference).max()


def conv_text(
    x: tuple[int, ...],
    w: tuple[int, ...],
    y: tuple[int, ...],
    stride: int,
    pad: int,
    dilation: int,
    epilogue: bool,
) -> str:
    def tensor(shape: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    bias = (1, w[0], 1, 1)
    arguments = f'%x: {tensor(x)} {{tcp.input = "x"}}'
    if epilogue:
        arguments += f', %r: {tensor(y)} {{tcp.input = "r"}}'
    arguments += f', %w: {tensor(w)} {{tcp.weight = "w"}}'
    body = f"""%0 = tcp.conv2d %x, %w {{dilation = array<i64: {dilation}, {dilation}>, pad = array<i64: {pad}, {pad}, {pad}, {pad}>,
        stride = array<i64: {stride}, {stride}>}} : {tensor(x)}, {tensor(w)} -> {tensor(y)}"""
    result = "%0"
    if epilogue:
        arguments += f', %b: {tensor(bias)} {{tcp.weight = "b"}}'
        body += f"""
    %1 = tcp.add %0, %b : {tensor(y)}, {tensor(bias)} -> {tensor(y)}
    %2 = tcp.add %1, %r : {tensor(y)}, {tensor(y)} -> {tensor(y)}
    %3 = tcp.clamp %2 {{min_float = 0.0 : f32}} : {tensor(y)} -> {tensor(y)}"""
        result = "%3"
    return f"""module attributes {{tcp.target = "cpu"}} {{
  func.func @main({arguments}) -> ({tensor(y)} {{tcp.output = "0"}}) {{
    {body}
    return {result} : {tensor(y)}
  }}
}}"""


# (images, channels in, height, width), (channels out, window), stride, pad, dilation
CONVS = [
    ((1, 3, 30, 30), (64, 7, 7), 2, 3, 1),
    ((1, 64, 14, 14), (64, 3, 3), 1, 1, 1),
    ((2, 32, 7, 7), (96, 3, 3), 1, 1, 1),
    ((1, 48, 9, 13), (40, 1, 1), 1, 0, 1),
    ((3, 16, 28, 28), (32, 1, 1), 1, 0, 1),
    ((1, 16, 15, 15), (64, 1, 1), 2, 0, 1),
    ((1, 5, 17, 19), (7, 3, 3), 1, 2, 2),
    ((1, 4, 5, 33), (37, 2, 3), 1, 0, 1),
    ((2, 3, 4, 4), (1, 4, 4), 1, 0, 1),
]


@pytest.mark.parametrize("epilogue", [False, True], ids=["plain", "epilogue"])
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize(
    "case",
    CONVS,
    ids=lambda case: "x".join(map(str, case[0] + case[1])) + f"s{case[2]}p{case[3]}d{case[4]}",
)
def test_convolution(tmp_path: Path, case: tuple[Any, ...], cpu: str, epilogue: bool) -> None:
    image, window, stride, pad, dilation = case
    x, w = _random(*image), _random(window[0], image[1], *window[1:])
    expected = torch.conv2d(
        torch.tensor(x).double(), torch.tensor(w).double(), None, stride, pad, dilation
    )
    inputs, weights = [x], [w]
    if epilogue:
        r, b = _random(*expected.shape), _random(1, window[0], 1, 1)
        expected = torch.relu(expected + torch.tensor(b) + torch.tensor(r))
        inputs, weights = [x, r], [w, b]
    program = Library(
        tmp_path,
        conv_text(x.shape, w.shape, tuple(expected.shape), stride, pad, dilation, epilogue),
        cpu=cpu,
    )
    (y,) = program(inputs, weights)
    _close(y, expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 512), (512, 1000)),
        ((5, 33), (33, 10)),
        ((64, 64), (64, 64)),
        ((4, 7, 20), (4, 20, 48)),
        ((3, 1, 8), (3, 8, 5)),
    ],
    ids=str,
)
@pytest.mark.parametrize("cpu", VECTOR_CPUS)
def test_matmul(tmp_path: Path, left: tuple[int, ...], right: tuple[int, ...], cpu: str) -> None:
    types = ["x".join(map(str, shape)) + "xf32" for shape in (left, right, (*left[:-1], right[-1]))]
    text = f"""func.func @main(%a: tensor<{types[0]}> {{tcp.input = "a"}}, %b: tensor<{types[1]}> {{tcp.input = "b"}})
        -> (tensor<{types[2]}> {{tcp.output = "0"}}) {{
      %0 = tcp.matmul %a, %b : tensor<{types[0]}>, tensor<{types[1]}> -> tensor<{types[2]}>
      return %0 : tensor<{types[2]}>
    }}"""
    a, b = _random(*left), _random(*right)
    (y,) = Library(tmp_path, text, cpu=cpu)([a, b])
    _close(y, torch.matmul(torch.tensor(a).double(), torch.tensor(b).double()))


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("CONVOY_NUM_THREADS", threads)
    x, w, r, b = (
        _random(1, 64, 28, 28),
        _random(64, 64, 3, 3),
        _random(1, 64, 28, 28),
        _random(1, 64, 1, 1),
    )
    expected = torch.relu(
        torch.conv2d(torch.tensor(x).double(), torch.tensor(w).double(), None, 1, 1)
        + torch.tensor(b)
        + torch.tensor(r)
    )
    # The text differs for each number of threads, so that each library is loaded anew and reads the
    # variable.
    program = Library(
        tmp_path,
        conv_text(x.shape, w.shape, x.shape, 1, 1, 1, True).replace('"x"', f'"x{threads}"'),
    )
    for _ in range(50):
        (y,) = program([x, r], [w, b])
        _close(y, expected)


def test_program_runs_in_a_forked_child_and_in_threads(tmp_path: Path) -> None:
    text = conv_text((1, 32, 28, 28), (32, 32, 3, 3), (1, 32, 28, 28), 1, 1, 1, False)
    native, _, manifest = _convoy.compile(text, "test.mlir", "tcp", list(OPTIONS.items()))
    (tmp_path / "native.so").write_bytes(native)
    (tmp_path / "manifest.json").write_text(manifest)
    script = """
import ctypes, json, os, sys, threading
import numpy as np
folder = sys.argv[1]
manifest = json.load(open(folder + "/manifest.json"))
library = ctypes.CDLL(folder + "/native.so")
x, w = np.ones((1, 32, 28, 28), np.float32), np.ones(manifest["prepared"][0]["shape"], np.float32)
pointers = lambda *arrays: (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
def run(times):
    for _ in range(times):
        y, arena = np.full((1, 32, 28, 28), np.nan, np.float32), np.empty(manifest["arena_bytes"] + 64, np.uint8)
        library.convoy_main(None, pointers(x), pointers(w), pointers(y), ctypes.c_void_p(arena.ctypes.data))
        assert y[0, :, 1:-1, 1:-1].min() == y[0, :, 1:-1, 1:-1].max() == 288, y
run(3)
child = os.fork()
if child == 0:
    run(3)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
failed = []
threading.excepthook = lambda arguments: failed.append(arguments)
threads = [threading.Thread(target=run, args=(30,)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(bool(failed))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_equal_text_gives_equal_bytes() -> None:
    text = conv_text((1, 8, 8, 8), (8, 8, 3, 3), (1, 8, 8, 8), 1, 1, 1, True)
    first, second = (
        _convoy.compile(text, "test.mlir", "tcp", list(OPTIONS.items())) for _ in range(2)
    )
    assert first == second


def test_text_of_the_last_phase_emits_the_same_program() -> None:
    text = conv_text((1, 8, 8, 8), (8, 8, 3, 3), (1, 8, 8, 8), 1, 1, 1, True)
    lowered = _convoy.run_phases(text, "test.mlir", "tcp", "llvm", list(OPTIONS.items()))
    assert _convoy.emit(lowered, "lowered.mlir", list(OPTIONS.items())) == _convoy.compile(
        text, "test.mlir", "tcp", list(OPTIONS.items())
    )


def test_only_the_abi_is_exported(tmp_path: Path) -> None:
    program = Library(tmp_path, conv_text((1, 8, 8, 8), (8, 8, 3, 3), (1, 8, 8, 8), 1, 1, 1, False))
    assert program.library.convoy_abi_version() == ABI_VERSION
    assert program.library.convoy_share_threads(None) != 0
    for name in ("main", "prepare_weights", "main_parallel_0", "convoy_parallel_for", *RUN_ENTRIES):
        assert not hasattr(program.library, name), name
    assert str(Path.cwd()).encode() not in program.native


def test_programs_for_a_gpu_enqueue_their_runs(tmp_path: Path) -> None:
    text = conv_text((1, 8, 8, 8), (8, 8, 3, 3), (1, 8, 8, 8), 1, 1, 1, False)
    text = text.replace('tcp.target = "cpu"', 'tcp.target = "cuda"')
    options = {**OPTIONS, "target": "cuda"}
    native, *_ = _convoy.compile(text, "test.mlir", "tcp", list(options.items()))
    (tmp_path / "native.so").write_bytes(native)
    library = ctypes.CDLL(str(tmp_path / "native.so"))
    for name in RUN_ENTRIES:
        assert hasattr(library, name), name
    library.convoy_copy_kernels.restype = ctypes.c_char_p
    kernels = re.findall(rb"\.entry (\w+)", library.convoy_copy_kernels())
    assert set(kernels) == {b"convoy_copy_8", b"convoy_copy_80"}


# The last CPU has no half-precision instructions.
@pytest.mark.parametrize("cpu", CPUS)
def test_narrow_floats_need_no_compiler_runtime_library(tmp_path: Path, cpu: str) -> None:
    text = """func.func @main(%x: tensor<33xf32> {tcp.input = "x"})
        -> (tensor<33xf16> {tcp.output = "0"}, tensor<33xf32> {tcp.output = "1"}) {
      %0 = tcp.cast %x : tensor<33xf32> -> tensor<33xf16>
      %1 = tcp.cast %x : tensor<33xf32> -> tensor<33xbf16>
      %2 = tcp.add %1, %1 : tensor<33xbf16>, tensor<33xbf16> -> tensor<33xbf16>
      %3 = tcp.cast %2 : tensor<33xbf16> -> tensor<33xf32>
      return %0, %3 : tensor<33xf16>, tensor<33xf32>
    }"""
    x = _random(33)
    # Ties, the limits of the range, subnormal numbers.
    edges = [
        1 + 2.0**-11,
        1 + 3 * 2.0**-11,
        65519,
        65520,
        2.0**-25,
        1.5 * 2.0**-24,
        -(2.0**-15) - 2.0**-26,
        np.inf,
        -np.inf,
        np.nan,
        -0.0,
    ]
    x[: len(edges)] = edges
    half, rounded = Library(tmp_path, text, cpu=cpu)([x])
    np.testing.assert_array_equal(half, torch.tensor(x).half().numpy())
    brain = torch.tensor(x).bfloat16()
    np.testing.assert_array_equal(rounded, (brain + brain).float().numpy())


def test_unresolved_symbol_is_an_error() -> None:
    text = """llvm.func @nowhere_to_be_found()
    llvm.func @convoy_abi_version() { llvm.return } llvm.func @convoy_prepare_weights() { llvm.return }
    llvm.func @convoy_sizes() { llvm.return }
    llvm.func @convoy_main() { llvm.call @nowhere_to_be_found() : () -> () llvm.return }"""
    module = f"module attributes {{tcp.manifest = {{}}}} {{ {text} }}"
    with pytest.raises(_convoy.CompilationFailed) as failure:
        _convoy.emit(module, "test.mlir", list(OPTIONS.items()))
    phase, diagnostics = failure.value.args
    assert phase == "emit"
    assert "the native library does not link" in diagnostics[0][4]
    assert "undefined symbol: nowhere_to_be_found" in diagnostics[0][4]


def test_unknown_cpu_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(_convoy.CompilationFailed) as failure:
        _convoy.compile(
            conv_text((1, 8, 8, 8), (8, 8, 3, 3), (1, 8, 8, 8), 1, 1, 1, False),
            "t",
            "tcp",
            [("target", "cpu"), ("cpu", "z80")],
        )
    phase, diagnostics = failure.value.args
    assert phase == "options"
    assert "expected cpu to be 'native' or one of" in diagnostics[0][4]
    assert "x86-64-v3" in diagnostics[0][4]
    assert "but got 'z80'" in diagnostics[0][4]


@pytest.mark.parametrize(
    ("cpu", "lanes", "feature"),
    [("x86-64", 4, "sse"), ("x86-64-v3", 8, "avx"), ("x86-64-v4", 16, "avx512f")],
)
def test_vector_width_is_that_of_the_cpu(cpu: str, lanes: int, feature: str) -> None:
    text = conv_text((1, 8, 8, 8), (64, 8, 3, 3), (1, 64, 8, 8), 1, 1, 1, False)
    options = list((OPTIONS | {"cpu": cpu}).items())
    host = _convoy.run_phases(text, "test.mlir", "tcp", "host", options)
    assert "vector.fma" in host
    assert f"vector<{lanes}xf32>" in host
    assert f"vector<{2 * lanes}xf32>" not in host
    _, _, manifest = _convoy.compile(text, "test.mlir", "tcp", options)
    assert json.loads(manifest)["host"]["cpu"] == cpu
    assert feature in json.loads(manifest)["host"]["features"]


TWO = (
    'gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "a">, '
    '#gpu.object<#nvvm.target, assembly = "b">]'
)
BINARY = 'gpu.binary @kernels [#gpu.object<#nvvm.target, {} = "text">]'


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("module {}", "expected the module to have 'tcp.manifest', which phase 'plan' adds"),
        (
            "module attributes {tcp.manifest = {a = {b = [1.5]}}} {}",
            (
                "expected 'tcp.manifest' to hold dictionaries, arrays, strings and numbers, "
                "but 'a' holds {b = [1.500000e+00]}"
            ),
        ),
        (
            f"module attributes {{tcp.manifest = {{}}}} {{ {TWO} }}",
            "expected one object, but got 2",
        ),
        (
            f"module attributes {{tcp.manifest = {{}}}} {{ {BINARY.format('fatbin')} }}",
            "expected the object to be assembly (PTX)",
        ),
    ],
    ids=["no manifest", "no JSON", "two objects", "not PTX"],
)
def test_unsupported_module_is_an_error(module: str, message: str) -> None:
    with pytest.raises(_convoy.CompilationFailed) as failure:
        _convoy.emit(module, "test.mlir", list(OPTIONS.items()))
    phase, diagnostics = failure.value.args
    assert phase == "emit"
    assert message in [each[4] for each in diagnostics]
