"""LSTM, GRU and RNN on a GPU: loops over the time steps, with cuDNN's graphs and generated kernels
in their bodies, compared with PyTorch in float64. Batches of one element have slices that cuDNN
cannot read, because they are not aligned.

Cases are stored and read as those of test_kernels: `python test/gpu/test_recurrent_layers.py FOLDER`
writes them, CONVOY_RECURRENT_CASES names the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import test_kernels
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

TOLERANCE = {"float32": 5e-3, "float16": 2e-2, "bfloat16": 1e-1}
#: The network, its options, and steps, batch, features and hidden size.
NETWORKS = {
    "lstm": ("LSTM", {}, (40, 4, 32, 64)),
    "lstm_layers": ("LSTM", {"num_layers": 2, "bidirectional": True}, (100, 16, 64, 128)),
    "lstm_projection": ("LSTM", {"proj_size": 24}, (20, 3, 32, 48)),
    "lstm_odd": ("LSTM", {"bidirectional": True}, (17, 1, 5, 7)),
    "gru_layers": ("GRU", {"num_layers": 2, "bidirectional": True}, (100, 16, 64, 128)),
    "gru_odd": ("GRU", {"bidirectional": True}, (17, 1, 5, 7)),
    "rnn_tanh": ("RNN", {}, (40, 8, 32, 64)),
    "rnn_tanh_odd": ("RNN", {}, (40, 3, 5, 7)),
    "rnn_relu": ("RNN", {"nonlinearity": "relu", "bidirectional": True}, (40, 8, 32, 64)),
    "long": ("LSTM", {"num_layers": 2, "bidirectional": True}, (512, 1, 256, 256)),
}


def build(name: str):
    """The module of a case, and its input."""
    import torch
    from recurrent_cases import Recurrent

    kind, options, (steps, batch, features, hidden) = NETWORKS[name]
    torch.manual_seed(0)
    network = Recurrent(getattr(torch.nn, kind), features, hidden, **options)
    return network.eval(), (torch.randn(steps, batch, features),)


def write(name: str, dtype: str, folder: Path) -> bool:
    """Compiles one case and stores its input and expected outputs with it."""
    return test_kernels.write(name, dtype, folder, table=None, of=build)


folder = test_kernels.folder_of("CONVOY_RECURRENT_CASES")


def cases() -> list[tuple[str, str]]:
    """Every case and dtype."""
    return [(name, dtype) for name in NETWORKS for dtype in TOLERANCE]


@pytest.mark.parametrize(("name", "dtype"), cases())
def test_results_are_those_of_pytorch(name: str, dtype: str, folder: Path) -> None:
    if not (folder / f"{name}.{dtype}.convoy").exists():
        test_kernels.import_compiler()
        write(name, dtype, folder)
    test_kernels.run(folder, name, dtype, TOLERANCE)


def test_a_second_run_has_the_same_state(folder: Path) -> None:
    """A replay of the CUDA graph begins with the initial state."""
    import numpy as np

    import convoy_runtime

    path = folder / "lstm_layers.float32.convoy"
    if not path.exists():
        test_kernels.import_compiler()
        write("lstm_layers", "float32", folder)
    stored = np.load(folder / "lstm_layers.npz")
    with convoy_runtime.load(path, plan_cache=False) as program:
        first = [array.copy() for array in program.run_numpy(stored["input0"])]
        again = program.run_numpy(stored["input0"])
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)


if __name__ == "__main__":
    test_kernels.write_all(Path(sys.argv[1]), cases(), write)
