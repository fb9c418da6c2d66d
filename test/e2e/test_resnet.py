"""ResNet-18 and ResNet-50 end to end without a GPU: numerics on the CPU, and for cuda the real
cuDNN finalizes every graph."""

from __future__ import annotations

import copy
import time
from pathlib import Path

import pytest
import resnet
import torch
from cudnn_library import finalize_graph

import convoy
from convoy.explain import explain_manifest
from convoy_runtime.cuda.cudnn.loading import open_cudnn


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_cpu_agrees_with_pytorch(name: str) -> None:
    module, inputs = getattr(resnet, name)()
    model = convoy.compile(module, inputs, target="cpu")
    with torch.inference_mode():
        expected = copy.deepcopy(module).double()(*(each.double() for each in inputs))
    got = model(*inputs)
    assert isinstance(got, torch.Tensor)
    error = (got.double() - expected).abs().max() / expected.abs().max()
    assert error <= 1e-4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(("name", "convolutions"), [("resnet18", 20), ("resnet50", 53)])
def test_cuda_compiles_and_cudnn_finalizes_every_graph(
    name: str, convolutions: int, dtype: str
) -> None:
    module, inputs = getattr(resnet, name)(batch=32)
    start = time.perf_counter()
    model = convoy.compile(module, inputs, target="cuda", dtype=dtype, weights=False)
    seconds = time.perf_counter() - start
    manifest = model.manifest
    graphs = [manifest.graphs[call.graph] for call in manifest.calls]
    convs = [graph for graph in graphs if "convolution" in graph.ops]
    assert len(convs) == convolutions
    # Each convolution is fused with the bias of its folded batch norm, and each except the
    # downsampling ones with its ReLU.
    assert all("add" in graph.ops for graph in convs)
    downsampling = 3 if name == "resnet18" else 4
    assert sum("relu" in graph.ops for graph in convs) == convolutions - downsampling
    residuals = 8 if name == "resnet18" else 16
    assert sum(graph.ops.count("add") == 2 for graph in convs) == residuals
    # A hand-written kernel computes the first one and the pooling after it.
    assert [graph.ops for graph in graphs if graph.symbol is None] == [
        ("identity", "convolution", "add", "relu", "maxpool")
    ]
    # No transpose except the one at the input.
    assert sum("transpose" in op.op for op in manifest.outside) <= 1
    cudnn = open_cudnn()
    for graph in manifest.graphs:
        finalize_graph(cudnn, model.members["native.so"], graph)
    assert explain_manifest(manifest).count("convolution") >= convolutions
    if name == "resnet50":
        assert seconds < 30, (
            "compiling ResNet-50 for cuda takes under 30 s on 2 cores, import included"
        )


def test_new_weights_without_the_compiler(tmp_path: Path) -> None:
    module, inputs = resnet.resnet18()
    path = tmp_path / "bare.convoy"
    convoy.compile(module, inputs, target="cpu", weights=False).save(path, weights=False)
    import convoy_runtime

    program = convoy_runtime.load(path)
    program.load_weights(dict(module.state_dict()))
    with torch.inference_mode():
        expected = module(*inputs)
    torch.testing.assert_close(
        program(*inputs), expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max())
    )
