# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which tensors PyTorch's function takes for tensors of an earlier call, with tensors on the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from convoy_runtime.known_tensors import KnownTensors

torch = pytest.importorskip("torch")


def _match(known: KnownTensors, *arrays: object) -> bool:
    return any(check(*arrays) for check in known.checks)


def _tensor(**options: object) -> object:
    return torch.zeros(2, 3, **options)


def test_tensors_of_the_same_kind() -> None:
    known = KnownTensors()
    assert not _match(known, _tensor(), _tensor())
    known.add([_tensor(), _tensor(dtype=torch.int64)])
    assert _match(known, torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64))
    assert not _match(known, _tensor(dtype=torch.int64), _tensor())
    with torch.no_grad():
        assert _match(known, _tensor(), _tensor(dtype=torch.int64))


@pytest.mark.parametrize(
    "other",
    [
        lambda: torch.zeros(3, 2),
        lambda: torch.zeros(6),
        lambda: torch.zeros(3, 2).T,
        lambda: torch.zeros(2, 6)[:, ::2],
        lambda: _tensor(dtype=torch.float16),
        lambda: _tensor(device="meta"),
        lambda: _tensor(requires_grad=True),
        lambda: _tensor().to_sparse(),
        lambda: torch._neg_view(_tensor()),
        lambda: torch.nn.Parameter(_tensor(), requires_grad=False),
        lambda: None,
        lambda: [[0.0] * 3] * 2,
    ],
)
def test_other_arrays(other: Callable[[], object]) -> None:
    known = KnownTensors()
    known.add([_tensor()])
    assert not _match(known, other())


def test_conjugates() -> None:
    known = KnownTensors()
    known.add([_tensor(dtype=torch.complex64)])
    assert not _match(known, _tensor(dtype=torch.complex64).conj())


def test_tensors_in_transforms() -> None:
    """A batched tensor hides a dim."""
    known = KnownTensors()
    known.add([_tensor()])
    found = []
    torch.func.vmap(lambda x: (found.append(_match(known, x)), x)[1])(torch.zeros(4, 2, 3))
    assert found == [False]


def test_modes() -> None:
    """A mode of PyTorch in which it makes other tensors has kinds of its own."""
    known = KnownTensors()
    modes = [contextlib.nullcontext, torch.inference_mode]
    for mode in modes:
        with mode():
            assert not _match(known, _tensor())
            known.add([_tensor()])
    for mode in modes:
        with mode():
            assert _match(known, _tensor())


def test_few_kinds_are_remembered() -> None:
    known = KnownTensors()
    for size in range(1, 10):
        known.add([torch.zeros(size)])
    assert [_match(known, torch.zeros(size)) for size in range(1, 10)] == [True] * 4 + [False] * 5


def test_nothing_keeps_a_tensor_alive() -> None:
    import weakref

    known, tensor = KnownTensors(), _tensor()
    known.add([tensor])
    alive = weakref.ref(tensor)
    del tensor
    assert alive() is None


def test_without_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KnownTensors()
    known.add([])
    monkeypatch.delattr(torch._C._dynamo.guards, "TensorGuards")
    known.add([_tensor()])
    assert not _match(known, _tensor())
