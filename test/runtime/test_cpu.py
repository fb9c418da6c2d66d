"""A program on the host: input and output arrays, weights, threads, and refusals."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, B, Foreign, S, W, affine_manifest, reference

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import (
    ArgumentError,
    ArtifactError,
    ConvoyRuntimeError,
    DeviceError,
    ExecutionError,
    Program,
    WeightsError,
)
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.host_arrays import from_numpy
from convoy_runtime.manifest import ABI_VERSION, TensorSpec

X = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)


@pytest.fixture
def program(affine: Path) -> Program:
    return convoy_runtime.load(affine, poison=True)


def test_numpy_in_numpy_out(program: Program) -> None:
    y = program(X)
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, reference(X))
    np.testing.assert_array_equal(program.run_numpy(X)[0], y)
    assert [str(spec) for spec in program.inputs] == ["x: float32[2, 3]"]
    assert [str(spec) for spec in program.outputs] == ["y: float32[2, 3]"]
    assert [spec.name for spec in program.weights] == ["w", "s", "b"]


def test_torch_in_torch_out(program: Program) -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)
    y = program(x)
    assert isinstance(y, torch.Tensor)
    assert torch.equal(y, torch.from_numpy(reference(X)))
    assert torch.equal(program(x.T.contiguous().T), y)
    into = torch.empty(2, 3)
    program.run_into([into], [x])
    assert torch.equal(into, y)


def unaligned(x: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"...." + x.tobytes(), x.dtype)[4 // x.itemsize :].reshape(x.shape)


@pytest.mark.parametrize(
    "make",
    [lambda x: np.asfortranarray(x), lambda x: np.pad(x, 1)[1:-1, 1:-1], lambda x: x[::-1][::-1],
    unaligned],
)  # fmt: skip
def test_strided_unaligned_and_read_only_inputs(
    program: Program, make: Callable[[np.ndarray], np.ndarray]
) -> None:
    np.testing.assert_array_equal(program(make(X)), reference(X))


def test_results_are_fresh_and_outlive_the_program(affine: Path) -> None:
    with convoy_runtime.load(affine) as program:
        first, second = program(X), program(-X)
    np.testing.assert_array_equal(first, reference(X))
    np.testing.assert_array_equal(second, reference(-X))


def test_run_into_unaligned(program: Program) -> None:
    memory = np.zeros(32, np.float32)
    target = memory[1:7].reshape(2, 3)
    program.run_into([target], [X])
    np.testing.assert_array_equal(target, reference(X))
    assert memory[0] == 0
    assert not memory[7:].any()


def test_run_into_refuses(program: Program) -> None:
    with pytest.raises(
        ArgumentError, match=r"output 'y': wrong strides: expected \[3, 1\], got \[1, 2\]"
    ):
        program.run_into([np.zeros((3, 2), np.float32).T], [X])
    target = np.zeros((2, 3), np.float32)
    target.flags.writeable = False
    with pytest.raises(ArgumentError, match="output 'y': is read-only"):
        program.run_into([target], [X])
    with pytest.raises(
        ArgumentError, match=r"output 'y': wrong shape: expected \[2, 3\], got \[2, 4\]"
    ):
        program.run_into([np.zeros((2, 4), np.float32)], [X])


def test_poison_reveals_unwritten_output(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    path = tmp_path / "leaky"
    write_artifact(
        path, affine_manifest(), {"native.so": compile_c("affine.c", "-DLEAKY")}, PREPARED
    )
    y = convoy_runtime.load(path, poison=True)(X)
    assert np.isnan(y[0, 0])
    np.testing.assert_array_equal(y.reshape(-1)[1:], reference(X).reshape(-1)[1:])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((), r"inputs: wrong number: expected 1 \(x\), got 0"),
        ((X, X), r"inputs: wrong number: expected 1 \(x\), got 2"),
        ((X[0],), r"input 'x': wrong shape: expected \[2, 3\], got \[3\]"),
        ((X.astype(np.float64),), "input 'x': wrong dtype: expected float32, got float64"),
        (
            (X.astype(">f4"),),
            "input 'x': wrong dtype: expected float32, got float32 in the other byte order",
        ),
        ((X.astype(np.complex64),), "input 'x': wrong dtype: expected float32, got complex64"),
        (
            ([1, 2],),
            (
                r"input 'x': is not an array: expected an array that supports DLPack \(torch, "
                r"numpy, cupy, jax\), got list"
            ),
        ),
        (
            (np.ma.masked_less(X, 0),),
            (
                r"input 'x': has a mask: expected an array without a mask, got a masked "
                r"array; call its filled\(\) first"
            ),
        ),
        (
            (Foreign(np.zeros((2, 3), np.uint32)),),
            "wrong dtype: expected float32, got DLPack type 1, 32 bits x 1",
        ),
    ],
)
def test_wrong_arguments(program: Program, arrays: tuple[object, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        program(*arrays)


def test_wrong_torch_arguments(program: Program) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(
        ArgumentError, match="input 'x': its library does not export it: .*require.* grad"
    ):
        program(torch.zeros(2, 3, requires_grad=True))
    with pytest.raises(
        ArgumentError, match="input 'x': has torch's negative bit: .* call its resolve_neg"
    ):
        program(torch.zeros(2, 3, dtype=torch.complex64).conj().imag)
    with pytest.raises(ArgumentError, match="input 'x': (wrong device|its library)"):
        program(torch.zeros(2, 3, device="meta"))


def test_bfloat16(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "copy"
    spec = TensorSpec("x", (3,), "bfloat16")
    manifest = affine_manifest(
        inputs=(spec,), outputs=(spec,), weights=(), prepared=(), arena_bytes=0
    )
    write_artifact(path, manifest, {"native.so": compile_c("copy6.c")})
    program = convoy_runtime.load(path)
    x = torch.tensor([1.5, -2, 3e38], dtype=torch.bfloat16)
    y = program(x)
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, x)
    bits = x.view(torch.uint16).numpy()
    for aligned in (bits, unaligned(bits), np.repeat(bits, 2)[::2]):
        np.testing.assert_array_equal(program(aligned), bits)
    with pytest.raises(ArgumentError, match="wrong dtype: expected bfloat16, got float16"):
        program(x.half())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_results_in_another_order(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    spec = TensorSpec("y", (2, 3, 4), dtype, (12, 1, 3))
    stored = np.arange(24, dtype=DTYPES[dtype].storage).reshape(2, 4, 3)
    assert spec.stored.shape == stored.shape
    result = from_numpy("numpy", stored, spec)
    np.testing.assert_array_equal(result, stored.transpose(0, 2, 1))
    assert np.shares_memory(result, stored)
    # Arrays of jax are packed; jax transposes them.
    jax, taken = types.ModuleType("jax.numpy"), []
    jax.bfloat16 = np.uint16  # type: ignore[attr-defined]
    jax.from_dlpack = lambda array: taken.append(array.flags.c_contiguous) or array.copy()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax.numpy", jax)
    np.testing.assert_array_equal(from_numpy("jax", stored, spec), stored.transpose(0, 2, 1))
    assert taken == [True]


def test_threads(program: Program) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        for step in range(200):
            x = np.full((2, 3), seed * 1000 + step, np.float32)
            if not np.array_equal(program(x), reference(x)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_close(affine: Path) -> None:
    program = convoy_runtime.load(affine)
    program.close()
    program.close()
    assert program.closed
    with pytest.raises(ConvoyRuntimeError, match=r"the program .*affine\.convoy is closed"):
        program(X)
    with pytest.raises(ConvoyRuntimeError, match="is closed"):
        program.load_weights({})


def test_without_weights(affine_bare: Path) -> None:
    program = convoy_runtime.load(affine_bare)
    with pytest.raises(
        WeightsError, match="was compiled without weights: call program.load_weights"
    ):
        program(X)
    program.load_weights({"w": W, "s": S, "b": B})
    np.testing.assert_array_equal(program(X), reference(X))
    again = convoy_runtime.load(affine_bare, weights={"w": W, "s": S, "b": B})
    np.testing.assert_array_equal(again(X), reference(X))


def test_load_weights_from_file_and_state_dict(program: Program, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.numpy")
    safetensors.save_file({"w": W * 2, "s": S, "b": B}, tmp_path / "w.safetensors")
    program.load_weights(tmp_path / "w.safetensors")
    np.testing.assert_array_equal(program(X), reference(X, w=W * 2))
    state = {
        "w": torch.nn.Parameter(torch.from_numpy(W * 3)),
        "s": torch.from_numpy(S),
        "b": torch.from_numpy(B),
    }
    state["bn.num_batches_tracked"] = torch.tensor(1)
    program.load_weights(state)
    np.testing.assert_array_equal(program(X), reference(X, w=W * 3))


def test_every_wrong_weight_is_listed_and_the_old_ones_stay(
    program: Program, tmp_path: Path
) -> None:
    with pytest.raises(WeightsError) as caught:
        program.load_weights({"w": W[:2], "s": S.astype(np.float16), "extra": B})
    assert caught.value.problems == (
        "b: missing",
        "extra: unexpected",
        "w: wrong shape: expected [3], got [2]",
        "s: wrong dtype: expected float32, got float16",
    )
    assert str(caught.value).startswith(
        "the mapping: 4 weights do not match, the old ones stay in use:\n  b: missing\n"
    )
    for other in (None, 5, b"w.safetensors", object()):
        with pytest.raises(WeightsError, match=r"expected a \.safetensors file or a mapping from"):
            program.load_weights(other)  # type: ignore[arg-type]
    with pytest.raises(WeightsError, match=r"no\.safetensors: cannot be read: No such file"):
        program.load_weights(tmp_path / "no.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"junk")
    with pytest.raises(ArtifactError, match=r"bad\.safetensors: is not a safetensors file"):
        program.load_weights(tmp_path / "bad.safetensors")
    np.testing.assert_array_equal(program(X), reference(X))


def test_mismatched_native_library(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    path = tmp_path / "a"
    write_artifact(path, affine_manifest(), {"native.so": b"\x7fELF junk"})
    with pytest.raises(
        ArtifactError, match=r"native\.so: is not a shared library: 9 bytes are too few"
    ):
        convoy_runtime.load(path)
    write_artifact(path, affine_manifest(), {"native.so": compile_c("affine.c", "-DABI=99")})
    with pytest.raises(
        ArtifactError,
        match=(
            r"native\.so: convoy_abi_version: the library was generated for another ABI: "
            rf"expected {ABI_VERSION}, got 99"
        ),
    ):
        convoy_runtime.load(path)
    write_artifact(
        path, affine_manifest(), {"native.so": compile_c("affine.c", "-Dconvoy_main=other")}
    )
    with pytest.raises(ArtifactError, match=r"native\.so: the library does not export convoy_main"):
        convoy_runtime.load(path)


@pytest.mark.parametrize("failure", [OSError(38, "Function not implemented"), None])
def test_load_without_memfd(
    tmp_path: Path,
    compile_c: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
    failure: OSError | None,
) -> None:
    def none(*_: object) -> int:
        if failure is not None:
            raise failure
        # A folder from which nothing can be executed.
        opened.append(os.open(tmp_path, os.O_RDONLY))
        return opened[0]

    opened: list[int] = []
    monkeypatch.setattr(os, "memfd_create", none)
    # The flags make it a library that this process has not loaded yet.
    write_artifact(
        tmp_path / "a",
        affine_manifest(),
        {"native.so": compile_c("affine.c", f'-DOTHER="{failure}"')},
        PREPARED,
    )
    np.testing.assert_array_equal(convoy_runtime.load(tmp_path / "a")(X), reference(X))
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_status_of_main(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    path = tmp_path / "a"
    write_artifact(
        path, affine_manifest(weights=(), prepared=()), {"native.so": compile_c("fail.c")}
    )
    with pytest.raises(ExecutionError, match="convoy_main returned status 41"):
        convoy_runtime.load(path)(X)
    with pytest.raises(ExecutionError, match="convoy_prepare_weights returned status 42"):
        convoy_runtime.load(path).load_weights({})


@pytest.mark.parametrize(
    ("device", "kind", "message"),
    [
        (
            "cuda",
            DeviceError,
            r"was compiled for cpu and cannot run on cuda\n.*compile the model with target='cuda'",
        ),
        (0, DeviceError, "was compiled for cpu and cannot run on cuda"),
        ("tpu", ArgumentError, "device: unknown name: expected cpu, cuda, cuda:N or N, got 'tpu'"),
        (
            "cpu:1",
            ArgumentError,
            "device: unknown name: expected cpu, cuda, cuda:N or N, got 'cpu:1'",
        ),
    ],
)
def test_devices(
    affine: Path, device: str | int, kind: type[ConvoyRuntimeError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        convoy_runtime.load(affine, device=device)
