"""Helpers of the runtime's tests: artifacts made without the compiler, with native libraries of a
few lines of C."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convoy.artifact import HostTensor
from convoy_runtime._zip import ZipMember, lay_out
from convoy_runtime.manifest import (
    Graph,
    GraphTensor,
    Host,
    Kernel,
    KernelArgument,
    Manifest,
    TensorSpec,
    file_entry,
)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
W, S, B = (np.array(values, np.float32) for values in ([1, -2, 3], [2], [0.5, 0, -1]))
PREPARED = {"ws": HostTensor("float32", W * S), "b": HostTensor("float32", B)}


class Foreign:
    """An array of an unknown library: only DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **_: object) -> object:
        return self.array.__dlpack__()


def c_compiler() -> str:
    """A C compiler; skips the test if there is none."""
    for name in ("clang-22", "clang", "cc"):
        if found := shutil.which(name):
            return found
    pytest.skip("no C compiler")


def affine_manifest(**changes: object) -> Manifest:
    """The manifest of affine.c."""
    fields: dict[str, object] = {
        "target": "cpu",
        "producer": {"convoy": "test"},
        "host": Host("x86_64-unknown-linux-gnu", "x86-64", ("sse2",)),
        "inputs": (TensorSpec("x", (2, 3), "float32"),),
        "outputs": (TensorSpec("y", (2, 3), "float32"),),
        "weights": (
            TensorSpec("w", (3,), "float32"),
            TensorSpec("s", (1,), "float32"),
            TensorSpec("b", (3,), "float32"),
        ),
        "prepared": (TensorSpec("ws", (3,), "float32"), TensorSpec("b", (3,), "float32")),
        "arena_bytes": 64,
        "prepare_arena_bytes": 64,
        "files": {},
    }
    return Manifest(**{**fields, **changes})  # type: ignore[arg-type]


def sizes_flag(manifest: Manifest) -> str:
    """A C compiler flag for hand-written libraries: `convoy_sizes` with the sizes of `manifest`."""
    numbers = [manifest.arena_bytes, manifest.prepare_arena_bytes]
    for specs in (manifest.inputs, manifest.weights, manifest.prepared, manifest.outputs):
        numbers += [len(specs), *(spec.bytes for spec in specs)]
    return f"-DSIZES={','.join(map(str, [len(numbers), *numbers]))}"


def conv_graph(dtype: str = "float16") -> Graph:
    """The graph that conv.c builds."""
    nhwc = GraphTensor(1, "input", (1, 64, 56, 56), (200704, 1, 3584, 64), dtype)
    filters = GraphTensor(2, "input", (64, 64, 3, 3), (576, 1, 192, 64), dtype)
    bias = GraphTensor(3, "input", (1, 64, 1, 1), (64, 1, 64, 64), dtype)
    tensors = (nhwc, filters, bias, replace(nhwc, uid=4, role="output"))
    return Graph(
        "conv_bias_relu", "conv_build", ("convolution", "add", "relu"), "model.py:9", tensors
    )


#: The kernel of fake_gpu/program.c: x and weights in, y out.
SCALED_RELU = Kernel(
    "scaled_relu",
    "model.py:3",
    72,
    (*(KernelArgument("input", 24),) * 2, KernelArgument("output", 24)),
)


def packed(manifest: bytes, members: Mapping[str, bytes]) -> bytes:
    """An artifact with this manifest and these members, whatever their contents, and correct
    digests."""
    files = [
        ZipMember(name, len(content), zlib.crc32(content))
        for name, content in {"manifest.json": manifest, **members}.items()
    ]
    layout = lay_out(files, hashlib.sha256(manifest).hexdigest())
    contents = (manifest, *members.values())
    return (
        b"".join(
            header + content for (_, header), content in zip(layout.headers, contents, strict=True)
        )
        + layout.directory
    )


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], object]) -> None:
    """Changes the manifest, as JSON, and the members of an artifact, and recomputes its digests."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(members.pop("manifest.json"))
    change(tree, members)
    tree["files"] = {name: asdict(file_entry([content])) for name, content in members.items()}
    path.write_bytes(packed(json.dumps(tree).encode(), members))


def put(key: str, *value: Any) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """For `rewrite`: sets a field of the manifest to this value, or to the list of these values."""
    return lambda tree, _: tree.update({key: value[0] if len(value) == 1 else list(value)})


def spec(name: str, *shape: int) -> dict[str, Any]:
    """A float32 input, output or weight, as in the manifest."""
    return {"name": name, "shape": list(shape), "dtype": "float32"}


def reference(x: np.ndarray, w: np.ndarray = W, s: np.ndarray = S, b: np.ndarray = B) -> np.ndarray:
    """The results of affine.c."""
    return np.maximum(x * (w * s) + b, 0).astype(np.float32)


class Gate:
    """Stops each run of the library of affine.c with -DGATE until it may continue."""

    def __init__(self) -> None:
        self._entered, self._leave = os.pipe(), os.pipe()
        self.environment = {
            "AFFINE_ENTERED": str(self._entered[1]),
            "AFFINE_LEAVE": str(self._leave[0]),
        }

    def wait(self) -> None:
        """Waits until a run is at the gate."""
        os.read(self._entered[0], 1)

    def open(self) -> None:
        """Lets one run pass."""
        os.write(self._leave[1], b"x")

    def close(self) -> None:
        for descriptor in (*self._entered, *self._leave):
            os.close(descriptor)


class Thread(threading.Thread):
    """A thread that keeps the result or the exception of its function."""

    def __init__(self, function: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._function, self.result, self.error = function, None, None  # type: ignore[var-annotated]
        self.start()

    def run(self) -> None:
        try:
            self.result = self._function()
        except BaseException as error:
            self.error = error


def in_child(function: Callable[[], None], seconds: int = 20) -> None:
    """Runs `function` in a forked child. Raises if it raises or takes longer."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            function()
        except BaseException as error:
            print("in the child:", repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
