"""manifest.json: round trip, and an error for every fault."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from runtime_fixtures import affine_manifest

from convoy_runtime import ArtifactError
from convoy_runtime.manifest import (
    ABI_VERSION,
    Call,
    Cudnn,
    FileEntry,
    Graph,
    GraphConstant,
    GraphKernel,
    GraphTensor,
    Kernel,
    KernelArgument,
    KernelTensorMap,
    Manifest,
    Products,
    Step,
    TensorSpec,
)
from convoy_runtime.manifest import FORMAT_VERSION as OURS
from convoy_runtime.manifest_reader import read_manifest

FILES = {"native.so": FileEntry("0" * 64, 1), "kernels.ptx": FileEntry("f" * 64, 2)}
CUDA = affine_manifest(
    target="cuda",
    files=FILES,
    graphs=(
        Graph(
            "g",
            "g_build",
            ("convolution", "add"),
            "m.py:1",
            (GraphTensor(1, "input", (1, 2), (2, 1), "float16"),),
            (GraphConstant(2, "float32", "acc52737"),),
            products=Products(64, "float16"),
            fingerprint="0" * 64,
        ),
    ),
    calls=(Call(0, "m.py:1"),),
    kernels=(Kernel("k", "m.py:2", 8, (KernelArgument("inout", 4),)),),
    steps=(Step("call", 0), Step("kernel", 0), Step("copy", 64)),
    live=(64, 128, 0),
    cudnn=Cudnn(91900, 90000, "float16"),
)

WITH_GAPS = replace(CUDA, arena_bytes=1000, gap_offsets=(0, 512, 0), gap_bytes=(1000, 488, 0))
IN_ARENA = replace(
    CUDA,
    outputs=tuple(TensorSpec(name, (100,), "float32") for name in "ab"),
    arena_bytes=1000,
    output_offsets=(512, 0),
)
KERNEL = GraphKernel("g_32x64", "32x64", grid=4, block=128, shared_bytes=65536, chip="sm_80")
WITH_KERNEL = replace(
    CUDA,
    graphs=(replace(CUDA.graphs[0], kernels=(KERNEL,), preference="kernel"),),
    files={**FILES, "kernels/g_32x64.ptx.gz": FileEntry("e" * 64, 3)},
)
WITH_MAP = replace(
    WITH_KERNEL,
    graphs=(
        replace(
            WITH_KERNEL.graphs[0],
            tensors=(GraphTensor(1, "input", (1, 16, 72), (1152, 72, 1), "float16"),),
            kernels=(replace(KERNEL, tensor_maps=(KernelTensorMap(0, (16, 72), (128, 64)),)),),
        ),
    ),
)
ONLY_KERNEL = replace(
    WITH_KERNEL,
    graphs=(
        replace(WITH_KERNEL.graphs[0], symbol=None, preference="only_kernel", fingerprint=None),
    ),
)


WITH_STRIDES = affine_manifest(
    files=FILES,
    inputs=(
        TensorSpec("x", (2, 3), "float32", (1, 2)),
        TensorSpec("image", (1, 3, 4, 4), "float32", (48, 1, 12, 3)),
    ),
)


@pytest.mark.parametrize(
    "manifest",
    [
        CUDA,
        IN_ARENA,
        WITH_GAPS,
        WITH_KERNEL,
        WITH_MAP,
        ONLY_KERNEL,
        WITH_STRIDES,
        affine_manifest(files=FILES),
    ],
)
def test_round_trip(manifest: Manifest) -> None:
    assert read_manifest(manifest.to_json()) == manifest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output_offsets": (0,)}, "output_offsets: expected a number for each of 2 outputs, got 1"),
        ({"output_offsets": (0, 256)}, "output_offsets[1]: expected a multiple of 256 from 400, "
         "the end of the output before it, to 600, where it ends with the arena, got 256"),
        ({"output_offsets": (512, 8)}, "output_offsets[1]: expected a multiple of 256 from 0"),
        ({"output_offsets": (768, 0)}, "output_offsets[0]: expected a multiple of 256 from 400"),
        ({"target": "cpu"}, "output_offsets: expected none for target cpu, got 512"),
    ],
)  # fmt: skip
def test_offsets_of_outputs(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read_manifest(replace(IN_ARENA, **change).to_json())
    assert message in str(caught.value)


def test_smallest_gap_of_each_graph() -> None:
    steps = (Step("call", 0), Step("kernel", 0), Step("call", 1), Step("call", 2))
    calls = tuple(Call(graph, "model.py:1") for graph in (0, 1, 0))
    manifest = replace(CUDA, calls=calls, steps=steps, gap_bytes=(512, 8, 300, 256))
    assert manifest.graph_gaps == {0: 256, 1: 300}
    assert CUDA.graph_gaps == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"gap_offsets": (0, 256, 0), "gap_bytes": (1000, 745, 0)},
            "gap_offsets[1]: expected a multiple of 256 up to 255, where the gap ends with the "
            "arena, got 256",
        ),
        ({"gap_offsets": (0, 8, 0)}, "gap_offsets[1]: expected a multiple of 256 up to 512"),
        ({"gap_bytes": (1001, 0, 0)}, "gap_offsets[0]: expected a multiple of 256 up to -1"),
    ],
)
def test_gaps_are_in_the_arena(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read_manifest(replace(WITH_GAPS, **change).to_json())
    assert message in str(caught.value)


def test_order_in_memory() -> None:
    packed, (x, image) = affine_manifest().inputs[0], WITH_STRIDES.inputs
    assert (packed.order, packed.all_strides, packed.stored) == (None, (3, 1), packed)
    assert (x.order, x.all_strides, x.bytes) == ((1, 0), (1, 2), packed.bytes)
    assert x.stored == TensorSpec("x", (3, 2), "float32")
    assert image.stored == TensorSpec("image", (1, 4, 4, 3), "float32")
    assert str(x) == "x: float32[2, 3] strides [1, 2]"
    assert str(image) == "image: float32[1, 3, 4, 4] channels_last"


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(tree: Any) -> None:
        *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
        for parent in parents:
            tree = tree[parent]
        if value is ...:
            del tree[last]
        else:
            tree[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("format", "onnx"), 'format: expected "convoy", got "onnx"'),
        (
            put("format_version", OURS + 1),
            (
                f"this runtime reads format version {OURS}, the artifact is newer: update "
                f"convoy; expected {OURS}, got {OURS + 1}"
            ),
        ),
        (put("format_version", 0), f"older: compile the model again; expected {OURS}, got 0"),
        (
            put("abi_version", 9),
            (
                f"abi_version: this runtime reads ABI version {ABI_VERSION}, the artifact is "
                f"newer: update convoy; expected {ABI_VERSION}, got 9"
            ),
        ),
        (put("abi_version", "1"), 'abi_version: expected an integer from 0 to 2**63 - 1, got "1"'),
        (put("target", "tpu"), 'target: expected "cpu" or "cuda", got "tpu"'),
        (put("inputs.0.dtype", "float31"), "inputs[0].dtype: expected one of float64, float32"),
        (
            put("inputs.0.shape", [1, -1]),
            (
                "inputs[0].shape: expected a list of at most 64 sizes whose product without "
                "zeros is below 2**60, got [1, -1]"
            ),
        ),
        (put("inputs.0.shape", [True]), "is below 2**60, got [true]"),
        (put("inputs.0.strides", [1]), "strides of a dense tensor of shape [2, 3], got [1]"),
        (put("inputs.0.strides", [1, 3]), "strides of a dense tensor of shape [2, 3], got [1, 3]"),
        (put("outputs.0.strides", [6, 2]), "outputs[0].strides: expected the strides of a dense"),
        (put("inputs.0.strides", [0, 1]), "strides of a dense tensor of shape [2, 3], got [0, 1]"),
        (put("inputs.0.strides", [-3, 1]), "expected a list of integers from 0 to 2**63 - 1"),
        (
            put("weights.0.strides", [1]),
            (
                "weights[0].strides: expected no strides, because weights are packed row-major, "
                "got [1]"
            ),
        ),
        (
            put("graphs.0.constants.0.bytes", "acc5"),
            'graphs[0].constants[0].bytes: expected 8 hexadecimal digits, got "acc5"',
        ),
        (
            put("graphs.0.constants.0.bytes", "acc5273x"),
            'graphs[0].constants[0].bytes: expected 8 hexadecimal digits, got "acc5273x"',
        ),
        (
            put("outputs.0.name", ...),
            "outputs[0].name: is missing, expected a string without control characters",
        ),
        (put("weights", {}), "weights: expected a list of objects, got {}"),
        (put("weights.1", 3), "weights[1]: expected an object, got 3"),
        (put("weights.1.name", "w"), "weights[1].name: duplicate name 'w'"),
        (
            put("prepared.0.colour", "red"),
            'prepared[0].colour: is not a field of this format version, got "red"',
        ),
        (put("arena_bytes", 1.5), "arena_bytes: expected an integer from 0 to 2**63 - 1, got 1.5"),
        (put("surprise", 1), "surprise: is not a field of this format version, got 1"),
        (
            put("producer", {"convoy": 1}),
            'producer: expected an object of strings, got {"convoy": 1}',
        ),
        (
            put("host.features", "avx2"),
            'host.features: expected a list of strings without control characters, got "avx2"',
        ),
        (
            put("host.cpu", ...),
            "host.cpu: is missing, expected a string without control characters",
        ),
        (
            put("graphs.0.symbol", "system(1)"),
            'graphs[0].symbol: expected a C identifier, got "system(1)"',
        ),
        (put("graphs.0.symbol", "1st"), 'graphs[0].symbol: expected a C identifier, got "1st"'),
        (put("graphs.0.symbol", "f\u00fcr"), "graphs[0].symbol: expected a C identifier, got "),
        (
            put("graphs.0.fingerprint", "0" * 31 + "g" + "0" * 32),
            "graphs[0].fingerprint: expected 64 hexadecimal digits, got ",
        ),
        (
            put("graphs.0.fingerprint", "0" * 63),
            f'graphs[0].fingerprint: expected 64 hexadecimal digits, got "{"0" * 63}"',
        ),
        (
            put("graphs.0.tensors.0.strides", [1]),
            "graphs[0].tensors[0].strides: expected 2 integers, got [1]",
        ),
        (
            put("graphs.0.tensors.0.role", "virtual"),
            'graphs[0].tensors[0].role: expected "input" or "output", got "virtual"',
        ),
        (
            put("kernels.0.arguments.0.role", "both"),
            'kernels[0].arguments[0].role: expected "input", "output" or "inout", got "both"',
        ),
        (
            put("kernels.0.bytes", ...),
            "kernels[0].bytes: is missing, expected an integer from 0 to 2**63 - 1",
        ),
        (
            put("calls.0.graph", 1),
            "calls[0].graph: expected less than 1, the number of graphs, got 1",
        ),
        (put("steps.0.call", 1), "steps[0].call: expected less than 1, the number of calls, got 1"),
        (
            put("steps.1.kernel", 7),
            "steps[1].kernel: expected less than 1, the number of kernels, got 7",
        ),
        (put("steps.2.copy", -1), "steps[2].copy: expected an integer from 0 to 2**63 - 1, got -1"),
        (put("steps.2", {"wait": 1}), "steps[2].call: is missing, expected an integer"),
        (put("live", [64, 128]), "live: expected a number for each of 3 steps, got 2"),
        (put("gap_offsets", [0]), "gap_offsets: expected a number for each of 3 steps, got 1"),
        (
            put("gap_bytes", [0] * 3),
            "gap_bytes: expected a number for each of 0 gap_offsets, got 3",
        ),
        (put("gap_bytes", [-1]), "gap_bytes: expected a list of integers from 0 to 2**63 - 1"),
        (put("steps.2.call", 0), "steps[2].copy: is not a field of this format version, got 64"),
        (
            put("graphs.0.tensors.0.strides", [2**62, 2**62]),
            "graphs[0].tensors[0].strides: expected a tensor of less than 2**63 bytes",
        ),
        (
            put("arena_bytes", 2**63),
            "arena_bytes: expected an integer from 0 to 2**63 - 1, got 9223372036854775808",
        ),
        (put("cudnn", ...), "cudnn: is missing, expected an object"),
        (put("files", {}), "files: expected an entry for native.so, got none"),
        (
            put("files", {"native.so": {"sha256": "0" * 64, "bytes": 1, "crc32": 0}}),
            "files: expected an entry for kernels.ptx, got native.so",
        ),
        (put("files.native.so", 1), "?"),
    ],
)
def test_every_fault_is_named(change: Callable[[dict[str, Any]], None], message: str) -> None:
    tree = json.loads(CUDA.to_json())
    if message == "?":
        tree["files"]["native.so"]["sha256"] = "xyz"
        message = 'files.native.so.sha256: expected 64 hexadecimal digits, got "xyz"'
    else:
        change(tree)
    with pytest.raises(ArtifactError) as caught:
        read_manifest(json.dumps(tree), path="model.convoy")
    assert str(caught.value).startswith("model.convoy: manifest.json: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("graphs.0.kernels.0.name", "g 32"),
        'graphs[0].kernels[0].name: expected a C identifier, got "g 32"'),
        (put("graphs.0.kernels.0.variant", 3),
        ("graphs[0].kernels[0].variant: expected a string without control characters, got " "3")),
        (put("graphs.0.kernels.0.grid", -1),
        "graphs[0].kernels[0].grid: expected an integer from 0 to 2**31 - 1, got -1"),
        (put("graphs.0.kernels.0.block", "1"),
        'graphs[0].kernels[0].block: expected an integer from 0 to 2**31 - 1, got "1"'),
        (put("graphs.0.kernels.0.shared_bytes", ...),
         "graphs[0].kernels[0].shared_bytes: is missing, expected an integer from 0 to 2**31 - 1"),
        (put("graphs.0.kernels.0.chip", "sm_90b"),
        'graphs[0].kernels[0].chip: expected an architecture, e.g. sm_90, got "sm_90b"'),
        (put("graphs.0.kernels.0.chip", 90),
        "graphs[0].kernels[0].chip: expected an architecture, e.g. sm_90, got 90"),
        (put("graphs.0.kernels.0.cluster", 2),
        "graphs[0].kernels[0].cluster: is not a field of this format version, got 2"),
        (put("graphs.0.kernels", {}), "graphs[0].kernels: expected a list of objects, got {}"),
        (put("graphs.0.preference", "fastest"),
        'graphs[0].preference: expected one of kernel, plan, only_kernel, got "fastest"'),
        (put("graphs.0.products", 64), "graphs[0].products: expected an object, got 64"),
        (put("graphs.0.products.flops", -1),
        "graphs[0].products.flops: expected an integer from 0 to 2**63 - 1, got -1"),
        (put("graphs.0.products.dtype", ...),
        ("graphs[0].products.dtype: is missing, expected a string without control " "characters")),
        (put("graphs.0.products.bytes", 2),
        "graphs[0].products.bytes: is not a field of this format version, got 2"),
        # A graph without kernels can only prefer a plan.
        (put("graphs.0.kernels", ...), 'graphs[0].preference: expected one of plan, got "kernel"'),
        (put("graphs.0.symbol", None), "graphs[0].symbol: expected a C identifier, got null"),
        (put("graphs.0.symbol", ...), "graphs[0].symbol: is missing, expected a C identifier"),
        (put("files", {name: {"sha256": "0" * 64, "bytes": 1, "crc32": 0} for name in FILES}),
         "files: expected an entry for kernels/g_32x64.ptx.gz, got native.so, kernels.ptx"),
    ],
)  # fmt: skip
def test_every_fault_of_a_kernel_is_named(
    change: Callable[[dict[str, Any]], None], message: str
) -> None:
    tree = json.loads(WITH_KERNEL.to_json())
    change(tree)
    with pytest.raises(ArtifactError) as caught:
        read_manifest(json.dumps(tree), path="model.convoy")
    assert f"model.convoy: manifest.json: {message}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("tensor", 1), "expected a tensor below 1, got 1"),
        (put("shape", [16, 64]),
         "expected a matrix or three dims of 2304 bytes with rows of a multiple of 16, got [16, 64]"),
        (put("shape", [96, 12]),
         "expected a matrix or three dims of 2304 bytes with rows of a multiple of 16, got [96, 12]"),
        (put("shape", [1152]),
         "expected a matrix or three dims of 2304 bytes with rows of a multiple of 16, got [1152]"),
        (put("box", [257, 64]), "expected a box of at most 256 x 64, got [257, 64]"),
        (put("box", [0, 64]), "expected a box of at most 256 x 64, got [0, 64]"),
        (put("box", [64, 32]), "expected a box of at most 256 x 64, got [64, 32]"),
        (put("low", [1, 1]),
         "expected low, high, reach and strides of two or three spatial dims, or none"),
        (put("strides", [1]),
         "expected low, high, reach and strides of two or three spatial dims, or none"),
    ],
)  # fmt: skip
def test_every_fault_of_a_tensor_map_is_named(
    change: Callable[[dict[str, Any]], None], message: str
) -> None:
    tree = json.loads(WITH_MAP.to_json())
    change(tree["graphs"][0]["kernels"][0]["tensor_maps"][0])
    with pytest.raises(
        ArtifactError, match=re.escape(f"graphs[0].kernels[0].tensor_maps[0]: {message}")
    ):
        read_manifest(json.dumps(tree))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("high", [1]),
         "expected low, high, reach and strides of two or three spatial dims, or none"),
        (put("low", [129, 0]), "expected at most 128 of padding, a reach below 256, less than 128 "
         "between the padding and the reach, and strides from 1 to 8, got 129, 0, 0 and 1"),
        (put("reach", [0, 130]), "expected at most 128 of padding, a reach below 256, less than 128 "
         "between the padding and the reach, and strides from 1 to 8, got 0, 0, 130 and 1"),
        (put("strides", [9, 1]), "expected at most 128 of padding, a reach below 256, less than 128 "
         "between the padding and the reach, and strides from 1 to 8, got 0, 0, 0 and 9"),
        (put("box", [64, 1, 64]), "expected a box of at most 256 x 64, got [64, 1, 64]"),
        (put("shape", [1, 2, 2, 4, 1, 72]), "expected images over 2 dims of 2304 bytes with rows of "
         "a multiple of 16, got [1, 2, 2, 4, 1, 72]"),
    ],
)  # fmt: skip
def test_every_fault_of_windows_is_named(
    change: Callable[[dict[str, Any]], None], message: str
) -> None:
    check_windows([1, 4, 4, 72], 2, change, message)


@pytest.mark.parametrize(
    ("shape", "dims"), [([1, 4, 2, 2, 72], 3), ([1, 4, 2, 2, 72], 2)], ids=["depth", "groups"]
)
@pytest.mark.parametrize(
    ("field", "number", "numbers"),
    [
        ("low", 17, "17, 0, 0 and 1"),
        ("high", 16, "0, 16, 0 and 1"),
        ("reach", 17, "0, 0, 17 and 1"),
    ],
)
def test_windows_with_five_dims_are_smaller(
    shape: list[int], dims: int, field: str, number: int, numbers: str
) -> None:
    message = (
        "expected at most 16 of padding, a reach below 32, less than 16 between the padding and "
        f"the reach, and strides from 1 to 8, got {numbers}"
    )
    check_windows(shape, dims, put(f"{field}.1", number), message)


def test_a_far_tap_needs_padding_and_a_short_reach() -> None:
    far = {"reach": [0, 0, 32], "high": [0, 0, 20]}
    message = (
        "expected at most 16 of padding, a reach below 32, less than 16 between the padding and "
        "the reach, and strides from 1 to 8, got 0, 20, 32 and 1"
    )
    check_windows([1, 4, 2, 2, 72], 3, lambda entry: entry.update(far), message)


def test_windows_over_three_dims_have_no_groups() -> None:
    check_windows(
        [1, 4, 2, 2, 72],
        3,
        put("shape", [1, 4, 2, 2, 9, 8]),
        "expected images over 3 dims of 2304 bytes with rows of a multiple of 16, got "
        "[1, 4, 2, 2, 9, 8]",
    )


def check_windows(
    shape: list[int], dims: int, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    """Checks that windows of one tap are valid until `change`."""
    tree = json.loads(WITH_MAP.to_json())
    entry = tree["graphs"][0]["kernels"][0]["tensor_maps"][0]
    zeros = {name: [0] * dims for name in ("low", "high", "reach")}
    entry.update(zeros, shape=shape, strides=[1] * dims)
    read_manifest(json.dumps(tree))
    change(entry)
    with pytest.raises(
        ArtifactError, match=re.escape(f"graphs[0].kernels[0].tensor_maps[0]: {message}")
    ):
        read_manifest(json.dumps(tree))


def test_tensor_map_is_of_16_bit_floats() -> None:
    tree = json.loads(WITH_MAP.to_json())
    tree["graphs"][0]["tensors"][0]["dtype"] = "float32"
    with pytest.raises(ArtifactError, match="expected a tensor of 16-bit floats, got float32"):
        read_manifest(json.dumps(tree))


@pytest.mark.parametrize("symbol", [..., None])
def test_only_kernel_graph_has_no_symbol(symbol: Any) -> None:
    tree = json.loads(ONLY_KERNEL.to_json())
    put("graphs.0.symbol", symbol)(tree)
    assert read_manifest(json.dumps(tree)) == ONLY_KERNEL
    put("graphs.0.fingerprint", "0" * 64)(tree)
    with pytest.raises(
        ArtifactError, match=r"graphs\[0\].fingerprint: is not a field of this format version"
    ):
        read_manifest(json.dumps(tree))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "top level: expected an object, got []"),
        (b"\xff", "is not JSON"),
    ],
)
def test_text_that_is_not_a_manifest(text: str | bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=message.replace("[", r"\[")):
        read_manifest(text)
