# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The C runtime: examples/c/run.c loads and runs artifacts, and every refusal has a message. Each
program is built with AddressSanitizer and UndefinedBehaviorSanitizer where the compiler has them."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from resnet import resnet18
from runtime_fixtures import HERE, PREPARED, ROOT, B, S, W, affine_manifest, c_compiler
from torch import Tensor, nn

import convoy
from convoy.artifact import HostTensor, write_artifact
from convoy_runtime import artifact, opening
from convoy_runtime._safetensors import write_safetensors
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import FORMAT_VERSION, Host, TensorSpec

C = ROOT / "runtime" / "c"
SOURCES = sorted(map(str, C.glob("*.c")))
X = np.array([[1, 2, 3], [-4, 5, -6]], np.float32)


def _build(folder: Path, source: Path, *flags: str) -> Path:
    out = folder / source.stem
    warnings = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    command = [c_compiler(), *warnings, "-g", f"-I{C}", *flags, str(source), *SOURCES]
    subprocess.run([*command, "-lpthread", "-ldl", "-o", str(out)], check=True)
    return out


def _sanitizers(folder: Path) -> tuple[str, ...]:
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }")
    command = [c_compiler(), *flags, str(probe), "-o", str(folder / "probe")]
    built = subprocess.run(command, capture_output=True, check=False)
    return flags if built.returncode == 0 else ()


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    error: str


@dataclass(frozen=True)
class Runner:
    """The built example."""

    path: Path

    def __call__(self, *arguments: object) -> Result:
        command = [str(self.path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert re.search("Sanitizer|runtime error", done.stderr) is None, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    folder = tmp_path_factory.mktemp("c")
    return Runner(_build(folder, ROOT / "examples/c/run.c", *_sanitizers(folder)))


def _through_files(
    run: Runner, folder: Path, model: Path, inputs: list[np.ndarray], *flags: object
) -> list[bytes]:
    """The bytes of each output."""
    listed = run(*flags, model).out.splitlines()
    outputs = [folder / f"out{i}" for i in range(sum(each.startswith("output") for each in listed))]
    sources = []
    for index, array in enumerate(inputs):
        sources.append(folder / f"in{index}")
        array.tofile(sources[-1])
    result = run(*flags, model, *sources, "-", *outputs)
    assert (result.code, result.error) == (0, "")
    return [output.read_bytes() for output in outputs]


def test_affine(run: Runner, affine: Path, tmp_path: Path) -> None:
    assert run(affine).out == "input x: float32[2, 3]\noutput y: float32[2, 3]\n"
    (got,) = _through_files(run, tmp_path, affine, [X])
    assert got == np.maximum(X * (W * S) + B, 0).astype(np.float32).tobytes()


class _Mixed(nn.Module):
    """Inputs and outputs of several dtypes, a constant and weights."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.linear = nn.Linear(8, 5)

    def forward(
        self, x: Tensor, half: Tensor, ids: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        y = torch.relu(self.conv(x)).mean((2, 3)) + torch.arange(8) * 0.25
        return self.linear(y), half * half, ids + 1, half > 0


class _Half(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 7)

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.linear(x), -1)


class _Bytes(nn.Module):
    """A table of bytes as a weight, and bytes in and out."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(255, -1, -1).to(torch.uint8))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.table[x.long()]
        return y + 200, y.float() / 255


MODELS: Mapping[str, Callable[[], tuple[nn.Module, tuple[Tensor, ...]]]] = {
    "mixed": lambda: (
        _Mixed(),
        (torch.randn(2, 3, 9, 9), torch.randn(5).half(), torch.tensor([4, 0, 1])),
    ),
    "resnet18": resnet18,
    "float16": lambda: (_Half().half(), (torch.randn(3, 16).half(),)),
    "bfloat16": lambda: (_Half().bfloat16(), (torch.randn(3, 16).bfloat16(),)),
    "uint8": lambda: (_Bytes(), (torch.arange(256).to(torch.uint8),)),
    "float64": lambda: (_Half().double(), (torch.randn(3, 16).double(),)),
}


def _host(tensor: Tensor) -> np.ndarray:
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_the_python_runtime(run: Runner, name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module, inputs = MODELS[name]()
    model = convoy.compile(module.eval(), inputs, target="cpu")
    model.save(tmp_path / "model.convoy")
    expected = model(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    arrays = [_host(each) for each in inputs]
    want = [_host(each).tobytes() for each in expected]
    assert _through_files(run, tmp_path, tmp_path / "model.convoy", arrays) == want

    # The same weights from a file, prepared by the artifact's own code.
    model.save(tmp_path / "bare.convoy", weights=False)
    weights = {
        key: HostTensor(str(value.dtype).removeprefix("torch."), _host(value).view(
            DTYPES[str(value.dtype).removeprefix("torch.")].storage))
        for key, value in module.state_dict().items()
    }  # fmt: skip
    (tmp_path / "w.safetensors").write_bytes(b"".join(write_safetensors(weights)))
    flags = ("-w", tmp_path / "w.safetensors")
    assert _through_files(run, tmp_path, tmp_path / "bare.convoy", arrays, *flags) == want


class _Positive(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x)


def test_channels_last(run: Runner, tmp_path: Path) -> None:
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    path = tmp_path / "model.convoy"
    convoy.compile(_Positive().eval(), (x,), target="cpu").save(path)
    shape = "float32[2, 3, 4, 5] strides [60, 1, 15, 3]\n"
    assert run(path).out == f"input x: {shape}output 0: {shape}"
    stored = x.permute(0, 2, 3, 1).numpy()
    want = [np.maximum(stored, 0).tobytes()]
    assert _through_files(run, tmp_path, path, [stored]) == want


@pytest.mark.parametrize(("first", "second"), [(1, 3), (2, 1), (6, 2), (0, 1), (9, '"')])
def test_strides_that_are_not_dense(
    run: Runner, affine_so: bytes, tmp_path: Path, first: int, second: object
) -> None:
    changes = {"inputs": (TensorSpec("x", (2, 3), "float32", (1, 2)),)}
    path = tmp_path / "a"
    write_artifact(path, affine_manifest(**changes), {"native.so": affine_so}, PREPARED)
    assert run(path).out.startswith("input x: float32[2, 3] strides [1, 2]\n")
    _change_manifest(path, r'("strides": \[\s*)1(,\s*)2', rf"\g<1>{first}\g<2>{second}")
    result = run(path)
    assert (result.code, "manifest.json: " in result.error) == (3, True)


def test_cmake_builds_the_example(affine: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    c_compiler()
    example = ROOT / "examples/c"
    for command in (["cmake", "-S", str(example), "-B", "."], ["cmake", "--build", "."]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert Runner(tmp_path / "run")(affine).code == 0


def test_header_is_c_and_cpp(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text('#include "convoy.h"\n')
    for language in (("-xc", "-std=c99"), ("-xc++", "-std=c++11")):
        flags = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{C}")
        command = [c_compiler(), *language, *flags, "-fsyntax-only", str(tmp_path / "c.c")]
        subprocess.run(command, check=True)


# Refusals.


def test_wrong_sizes(run: Runner, affine: Path, tmp_path: Path) -> None:
    for count, got in ((5, 20), (7, 25)):
        np.zeros(count, np.float32).tofile(tmp_path / "x")
        result = run(affine, tmp_path / "x", "-", tmp_path / "y")
        assert result.code == 5
        assert f"input x: expected 24 bytes of float32, got {got}" in result.error


def test_missing_weights(run: Runner, affine_bare: Path, tmp_path: Path) -> None:
    result = run(affine_bare)
    assert (result.code, "the artifact has no weights" in result.error) == (5, True)
    tensors = {"w": W, "s": S}
    (tmp_path / "w").write_bytes(
        b"".join(write_safetensors({k: HostTensor("float32", v) for k, v in tensors.items()}))
    )
    result = run("-w", tmp_path / "w", affine_bare)
    assert (result.code, result.error) == (5, f"run: {tmp_path / 'w'}: b: missing\n")


@pytest.mark.parametrize(
    ("b", "message"),
    [
        (B.astype(np.float64), "b: expected dtype F32, got F64"),
        (B[:2], "b: the shape differs from that of the program"),
    ],
)
def test_other_weights(
    run: Runner, affine_bare: Path, tmp_path: Path, b: np.ndarray, message: str
) -> None:
    tensors = {"w": W, "s": S, "b": b}
    pieces = write_safetensors({k: HostTensor(v.dtype.name, v) for k, v in tensors.items()})
    (tmp_path / "w").write_bytes(b"".join(pieces))
    result = run("-w", tmp_path / "w", affine_bare)
    assert (result.code, result.error) == (5, f"run: {tmp_path / 'w'}: {message}\n")


@pytest.mark.parametrize("flag", [np.array([1, 171], np.int16), np.array([1], np.int16)])
def test_buffers_that_are_compiled_in(
    run: Runner, affine_so: bytes, tmp_path: Path, flag: np.ndarray
) -> None:
    """They have the value for which the program is compiled."""
    manifest = affine_manifest(compiled_in={"flag": "0100ab00"})
    write_artifact(tmp_path / "a", manifest, {"native.so": affine_so})
    tensors = {"w": W, "s": S, "b": B, "flag": flag}
    pieces = write_safetensors({k: HostTensor(v.dtype.name, v) for k, v in tensors.items()})
    (tmp_path / "w").write_bytes(b"".join(pieces))
    result = run("-w", tmp_path / "w", tmp_path / "a")
    if flag.size == 2:
        assert (result.code, result.error) == (0, "")
        return
    message = "its value is not the one that the program is compiled for; compile the model again"
    assert (result.code, result.error) == (5, f"run: {tmp_path / 'w'}: flag: {message}\n")


def test_wrong_abi(run: Runner, compile_c: Callable[..., bytes], tmp_path: Path) -> None:
    native = compile_c("affine.c", "-DABI=99")
    write_artifact(tmp_path / "a", affine_manifest(), {"native.so": native}, PREPARED)
    result = run(tmp_path / "a")
    assert result.code == 3
    assert "the library was generated for another ABI: convoy_abi_version: expected" in result.error


@pytest.mark.parametrize("field", ["abi_version", "format_version"])
def test_wrong_version(run: Runner, affine_so: bytes, tmp_path: Path, field: str) -> None:
    path = tmp_path / "a"
    write_artifact(path, affine_manifest(), {"native.so": affine_so}, PREPARED)
    _change_manifest(path, rf'("{field}": ?)\d', r"\g<1>9")
    result = run(path)
    assert (result.code, f"manifest.json: {field}: expected" in result.error) == (3, True)


def _change_manifest(path: Path, pattern: str, replacement: str) -> None:
    """Replaces text of the manifest by text of the same size, with a correct digest."""
    content = path.read_bytes()
    text = _manifest(content).decode()
    changed = re.sub(pattern, replacement, text)
    assert changed != text
    path.write_bytes(_with_manifest(content, changed.encode()))


def _manifest(content: bytes) -> bytes:
    return content[64 : 64 + int.from_bytes(content[18:22], "little")]


def _with_manifest(content: bytes, text: bytes) -> bytes:
    size = len(_manifest(content))
    assert len(text) == size
    digest = hashlib.sha256(text).hexdigest().encode()
    return content[:64] + text + content[64 + size : -64] + digest


def test_dynamic_sizes_are_refused(run: Runner, affine: Path) -> None:
    content = affine.read_bytes()
    text = _manifest(content).decode()
    changed = text.replace('"format": "convoy"', '"format": "convoy-dynamic"')
    # Of the same size, without the indentation.
    changed = re.sub(r"\n +", "\n", changed).ljust(len(text))
    affine.write_bytes(_with_manifest(content, changed.encode()))
    result = run(affine)
    assert (result.code, "has dynamic sizes, which the C runtime does not run" in result.error) == (
        3,
        True,
    )


def test_version_of_the_format() -> None:
    assert f"#define FORMAT_VERSION {FORMAT_VERSION}\n" in (C / "artifact.c").read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"host": Host("x86_64-unknown-linux-gnu", "zen9", ("sse2", "avx9000"))},
            "the artifact was compiled for another machine: expected a CPU like zen9 with avx9000",
        ),
        (
            {"host": Host("riscv64-unknown-linux-gnu", "rocket", ())},
            "the artifact was compiled for another machine: expected a machine riscv64",
        ),
        (
            {"inputs": (TensorSpec("x", (2, 4), "float32"),)},
            "manifest.json: inputs: differs from the value that native.so was compiled for",
        ),
        ({"arena_bytes": 128}, "manifest.json: arena_bytes: differs"),
    ],
)
def test_other_programs(
    run: Runner, affine_so: bytes, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    members = {"native.so": affine_so}
    write_artifact(tmp_path / "a", affine_manifest(**changes), members, PREPARED)
    result = run(tmp_path / "a")
    assert (result.code, message in result.error) == (3, True), result.error


def test_artifact_for_a_gpu(run: Runner, tmp_path: Path) -> None:
    model = convoy.compile(nn.ReLU().eval(), (torch.randn(4),), target="cuda")
    model.save(tmp_path / "a")
    result = run(tmp_path / "a")
    assert (result.code, "target: expected cpu, got cuda" in result.error) == (3, True)


def test_failure_of_the_model(run: Runner, compile_c: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "fail.c").write_text(
        '#include "affine.c"\n'.replace("affine.c", str(HERE / "affine.c")).join(
            ("#define convoy_main never\n", "#undef convoy_main\n")
        )
        + "int32_t convoy_main(const ConvoyRuntime *r, void *const *i, void *const *p,"
        "void *const *o, void *a) { return 42; }\n"
    )
    native = compile_c(str(tmp_path / "fail.c"))
    write_artifact(tmp_path / "a", affine_manifest(), {"native.so": native}, PREPARED)
    X.tofile(tmp_path / "x")
    result = run(tmp_path / "a", tmp_path / "x", "-", tmp_path / "y")
    assert (result.code, result.error) == (6, f"run: {tmp_path / 'a'}: convoy_main returned 42\n")


def test_every_damaged_byte_of_a_member_is_noticed(
    run: Runner, affine: Path, tmp_path: Path
) -> None:
    content = affine.read_bytes()
    places = range(64, len(content), max(1, len(content) // 40))
    path = tmp_path / "damaged"
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        result = run(path)
        # Padding and the zip's directory are not read.
        if result.code == 0:
            assert run(path).out == run(affine).out
        else:
            assert result.code == 3
            assert re.search("damaged|not a Convoy artifact", result.error), result.error


def test_truncated(run: Runner, affine: Path, tmp_path: Path) -> None:
    content = affine.read_bytes()
    path = tmp_path / "truncated"
    for size in (0, 10, 63, 64, 200, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        assert run(path).code == 3


def test_changed_manifests_with_their_digest(run: Runner, affine: Path, tmp_path: Path) -> None:
    """Whatever the manifest says, a load accesses no memory out of bounds."""
    content, picked = affine.read_bytes(), random.Random(0)
    text = _manifest(content)
    codes = set()
    for _ in range(80):
        changed = bytearray(text)
        for _ in range(picked.randint(1, 3)):
            changed[picked.randrange(len(text))] = picked.choice(b'"{}[],:\\\x000129-eu ')
        (tmp_path / "a").write_bytes(_with_manifest(content, bytes(changed)))
        codes.add(run(tmp_path / "a").code)
    assert codes <= {0, 3, 5}
    assert 3 in codes


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_unreadable(run: Runner, tmp_path: Path, kind: str) -> None:
    result = run(tmp_path if kind == "folder" else tmp_path / "missing")
    assert (result.code, "cannot be read: " in result.error) == (3, True)


def test_features_are_those_of_python() -> None:
    text = (C / "host.c").read_text()
    first, second = re.findall(r"\[\] ?(?:\[2\])? ?= \{(.*?)\n\};", text, re.DOTALL)
    pairs = dict(re.findall(r'\{"([^"]+)", "([^"]+)"\}', first))
    assert pairs == artifact._CPUINFO
    assert set(re.findall(r'"([^"]+)"', second)) == artifact._NOT_SHOWN


def test_dtypes_are_those_of_python() -> None:
    rows = re.findall(r'\{"(\w+)", "(\w+)", (\d)\}', (C / "safetensors.c").read_text())
    assert [(name, tag, int(size)) for name, tag, size in rows] == [
        (each.name, each.safetensors, each.bytes) for each in DTYPES.values()
    ]


# What the example does not do: calls from several threads, in place, and with a digest.


def test_interface(affine: Path, tmp_path: Path) -> None:
    sanitizers = _sanitizers(tmp_path)
    program = Runner(_build(tmp_path, HERE / "c_interface.c", *sanitizers))
    digest = opening.open_artifact(affine).digest
    result = program(affine, digest)
    assert (result.code, result.error) == (0, "")
