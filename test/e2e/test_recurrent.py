"""Recurrent networks: results of the CPU compared with PyTorch in float64, and programs that do not
grow with the length of the sequence. test_ops_cpu.py has the forms of the networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from recurrent_cases import Recurrent
from torch import Tensor, nn

import convoy
from convoy_runtime._native import load_native
from convoy_runtime.cuda.graphs.calls import Trace
from convoy_runtime.manifest import Manifest
from convoy_runtime.opening import open_artifact

_NETWORKS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm_projection": (nn.LSTM, {"proj_size": 24}),
    "gru": (nn.GRU, {}),
    "rnn_tanh": (nn.RNN, {}),
    "rnn_relu": (nn.RNN, {"nonlinearity": "relu"}),
}


def _network(name: str, hidden: int = 48, **options: Any) -> nn.Module:
    kind, own = _NETWORKS[name]
    torch.manual_seed(0)
    return Recurrent(kind, 40, hidden, num_layers=2, bidirectional=True, **own, **options).eval()


def _error(got: Any, expected: Any) -> float:
    return max(
        float((mine.double() - theirs).abs().max())
        for mine, theirs in zip(got, expected, strict=True)
    )


def _exact(network: nn.Module, x: Tensor) -> Any:
    with torch.no_grad():
        return network.double()(x.double())


@pytest.mark.parametrize("name", _NETWORKS)
def test_long_sequence(name: str) -> None:
    """A hidden size with a tail of vectors, and products that run on all cores."""
    network, x = _network(name), torch.randn(200, 9, 40)
    program = convoy.compile(network, (x,), target="cpu").load(poison=True)
    got = program(x)
    again = program(x)  # The state of a run starts anew.
    assert all(torch.equal(a, b) for a, b in zip(got, again, strict=True))
    assert _error(got, _exact(network, x)) < 1e-5


@pytest.mark.parametrize(("dtype", "limit"), [("float16", 5e-3), ("bfloat16", 4e-2)])
@pytest.mark.parametrize("name", _NETWORKS)
def test_narrow_types(name: str, dtype: str, limit: float) -> None:
    network, x = _network(name), torch.randn(30, 3, 40)
    program = convoy.compile(network, (x,), target="cpu", dtype=dtype).load(poison=True)
    assert _error(program(x), _exact(network, x)) < limit


def test_float64() -> None:
    network, x = _network("lstm").double(), torch.randn(20, 3, 40, dtype=torch.float64)
    got = convoy.compile(network, (x,), target="cpu").load(poison=True)(x)
    assert _error(got, _exact(network, x)) < 1e-12


class _Classifier(nn.Module):
    """Only the last state of the last layer is used."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 40)
        self.network = nn.GRU(40, 48, batch_first=True)
        self.head = nn.Linear(48, 7)

    def forward(self, tokens: Tensor) -> Tensor:
        _, last = self.network(self.embedding(tokens))
        return torch.log_softmax(self.head(last[-1]), 1)


def test_state_without_outputs() -> None:
    torch.manual_seed(0)
    model, tokens = _Classifier().eval(), torch.randint(0, 50, (2, 30))
    got = convoy.compile(model, (tokens,), target="cpu").load(poison=True)(tokens)
    with torch.no_grad():
        assert float((got.double() - model.double()(tokens)).abs().max()) < 1e-5


def _phases(name: str, steps: int, target: str) -> tuple[dict[str, int], Manifest]:
    """The number of lines of each phase's text, and the manifest."""
    compiled = convoy.compile(_network(name), (torch.randn(steps, 2, 40),), target=target)
    lines = {
        phase: text.count("\n") - text.count("#loc") for phase, text in compiled.phases.items()
    }
    return lines, compiled.manifest


#: Calls of a step on a GPU. A layer is one call for all steps, unless it has a projection: then a
#: product with its sum, a kernel for the gates, and the projection.
_CALLS = {"lstm": 0, "lstm_projection": 3, "gru": 0, "rnn_tanh": 0, "rnn_relu": 0}


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("name", _CALLS)
def test_program_does_not_grow_with_the_sequence(name: str, target: str) -> None:
    short, few = _phases(name, 16, target)
    long, many = _phases(name, 512, target)
    for phase in short.keys() - {"host", "llvm"}:
        assert long[phase] == short[phase], phase
    # Loops of many iterations are split between the cores.
    assert long["llvm"] < 1.2 * short["llvm"]
    if target == "cpu":
        return
    assert [graph.name for graph in many.graphs] == [graph.name for graph in few.graphs]
    assert len(many.kernels) == len(few.kernels)
    # Each direction of a layer has one loop: as many calls in a step, whatever their number is.
    assert len(many.steps) - len(few.steps) == _CALLS[name] * 4 * (512 - 16)


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn_tanh"])
def test_calls_of_a_run_on_the_gpu(name: str, tmp_path: Path) -> None:
    """`convoy_main` makes the calls of the manifest, with other elements in each step, and no call
    reads or writes outside of the buffers. Rows of the state that are no multiple of 16 bytes keep
    the loop."""
    trips = 7
    network = _network(name, hidden=46)
    compiled = convoy.compile(network, (torch.randn(trips, 2, 40),), target="cuda")
    compiled.save(tmp_path / "model.convoy")
    artifact = open_artifact(tmp_path / "model.convoy")
    manifest = artifact.manifest
    spans: list[tuple[int, int]] = []

    def place(sizes: Iterable[int]) -> list[int]:
        for size in sizes:
            start = (spans[-1][1] + 1023) // 512 * 512 if spans else 512
            spans.append((start, start + size))
        return [begin for begin, _ in spans[len(spans) - len(list(sizes)) :]]

    pointers = [
        place([each.bytes for each in tensors])
        for tensors in (manifest.inputs, manifest.prepared, manifest.outputs)
    ]
    (arena,) = place([manifest.arena_bytes])
    trace = Trace(manifest)
    trace.run(load_native(artifact.members["native.so"]), *pointers, arena)
    assert len(trace.calls) == len(manifest.steps)
    for access in trace.accesses:
        for begin, end in (*access.reads, *access.writes):
            assert any(low <= begin and end <= high for low, high in spans)
    # One call for the products with all inputs, and one with the state in each step.
    counts = Counter(call.index for call in trace.calls if call.kind == "graph")
    assert sorted(counts.values()) == [1] * 4 + [trips] * 4
    written = Counter(span for access in trace.accesses for span in access.writes)
    arena_reads = {span for access in trace.accesses for span in access.reads if span[0] >= arena}
    assert len(arena_reads) > 4 * trips
    assert all(
        any(begin < high and low < end for low, high in written) for begin, end in arena_reads
    )


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_a_layer_is_one_call_on_the_gpu(name: str) -> None:
    """Each direction of both layers: a product with all inputs, and a call for all steps."""
    manifest = convoy.compile(_network(name), (torch.randn(7, 2, 40),), target="cuda").manifest
    graphs = [manifest.graphs[call.graph] for call in manifest.calls]
    layers = [graph for graph in graphs if graph.ops == (name,)]
    assert len(layers) == 4
    assert len(graphs) == 8
    for graph in layers:
        assert graph.preference == "only_kernel"
        assert [kernel.launches for kernel in graph.kernels][-1] == 7
