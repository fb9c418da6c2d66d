"""Arrays that are borrowed through DLPack: of an unknown library, with strides that run backwards,
and without memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import Foreign, reference

import convoy_runtime
from convoy_runtime import ArgumentError, Program
from convoy_runtime.strides import extent

X = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)


@pytest.fixture
def program(affine: Path) -> Program:
    return convoy_runtime.load(affine, poison=True)


@pytest.mark.parametrize(
    "array",
    [X.copy(), np.asfortranarray(X), X[::-1], X[:, ::-1], X[::-1, ::-1], np.pad(X, 1)[1:-1, 1:-1]],
)
def test_any_dlpack_array(program: Program, array: np.ndarray) -> None:
    np.testing.assert_array_equal(program(Foreign(array)), reference(array))


def test_extent() -> None:
    assert extent((2, 3), (3, 1)) == (0, 6)
    assert extent((2, 3), (-3, 1)) == (-3, 3)
    assert extent((2, 3), (3, -1)) == (-2, 4)
    assert extent((2, 0), (3, -1)) == (0, 0)
    assert extent((), ()) == (0, 1)


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_tensors_of_a_tracer_are_refused(program: Program) -> None:
    torch = pytest.importorskip("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.empty(2, 3)
    message = "input 'x': has no memory: expected an array with values, not one of a tracer, got a FakeTensor"
    with pytest.raises(ArgumentError, match=message):
        program(fake)
    with pytest.raises(ArgumentError, match="input 'x': has no memory"):
        torch.func.functionalize(program)(torch.from_numpy(X))
