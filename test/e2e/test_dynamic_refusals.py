"""Models, points and sizes that artifacts with dynamic sizes cannot have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from dynamic_models import BATCH, Head, compiled
from torch.export import Dim

import convoy
from convoy.errors import ExportError, InputError


def test_refused_points() -> None:
    module, inputs = Head().eval(), (torch.randn(2, 3, 16, 16),)
    shapes = {"image": {0: BATCH}}
    for points, message in (
        ({"batch": [9]}, "points: expected values of batch: 1 to 8, got 9"),
        ({"batch": 4}, "points: expected a list of values of batch, got 4"),
        ({"size": [4]}, "points: expected values of batch, got size"),
        ([], "points: expected at least one point, got none"),
        ([{"batch": True}], "got True"),
    ):
        with pytest.raises(InputError, match=message):
            compiled(module, inputs, dynamic_shapes=shapes, points=points)
    with pytest.raises(
        InputError, match=r"expected names of inputs in dynamic_shapes \(image\), got x"
    ):
        compiled(module, inputs, dynamic_shapes={"x": {0: BATCH}})
    with pytest.raises(InputError, match="expected a dynamic size, but all sizes"):
        compiled(module, inputs, dynamic_shapes={"image": None})
    with pytest.raises(InputError, match="expected dynamic_shapes with points"):
        convoy.compile(module, inputs, target="cpu", points={"batch": [1]})
    large = Dim("batch", min=1, max=1 << 30)
    with pytest.raises(InputError, match="too many powers of two to compile all"):
        compiled(module, inputs, dynamic_shapes={"image": {0: large}})


def test_a_model_that_specializes() -> None:
    class Fixed(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(4, 6)

    with pytest.raises(ExportError, match="batch"):
        compiled(
            Fixed(), (torch.randn(4, 6),), dynamic_shapes={"x": {0: Dim("batch", min=1, max=8)}}
        )


def test_results_that_differ_in_rank() -> None:
    class Squeezed(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.squeeze()

    with pytest.raises(InputError, match="the outputs at {'batch': 2} differ from those at"):
        compiled(
            Squeezed(),
            (torch.randn(2, 6),),
            dynamic_shapes={"x": {0: BATCH}},
            points={"batch": [1, 2]},
        )


def test_dims_that_the_examples_do_not_have() -> None:
    module, inputs = Head().eval(), (torch.randn(9, 3, 16, 16),)
    for dim in (4, -5):
        with pytest.raises(
            InputError, match=rf"input 'image': expected a dim from 0 to 3 .* {dim}"
        ):
            compiled(module, inputs, dynamic_shapes={"image": {dim: BATCH}})
    with pytest.raises(InputError, match="of size 1 to 8 in dim 0, the range of batch, got 9"):
        compiled(module, inputs, dynamic_shapes={"image": {0: BATCH}})


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (lambda x: (x * 2, x.shape[0]), r"result\[1\]: .* got batch; leave it out"),
        (lambda x: {"y": x * 2, "n": [2 * x.shape[0] + 1]}, r"result\['n'\]\[0\]: .* got 2\*batch"),
        (lambda x: (x * 2, x.shape[0] / 2), r"result\[1\]: expected a tensor, or a number"),
    ],
)
def test_numbers_of_sizes_among_the_results(
    results: Callable[[torch.Tensor], Any], message: str
) -> None:
    """They would be those of a point, whatever the sizes of a call."""

    class Numbers(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return results(x)

    for points in ([4], [2, 4]):
        with pytest.raises(InputError, match=message):
            compiled(
                Numbers(),
                (torch.randn(3, 6),),
                dynamic_shapes={"x": {0: BATCH}},
                points={"batch": points},
            )


def test_numbers_that_are_the_same_for_all_sizes() -> None:
    class Numbers(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x * 2, x.shape[1], 0.5, None

    model = compiled(
        Numbers(), (torch.randn(3, 6),), dynamic_shapes={"x": {0: BATCH}}, points={"batch": [4]}
    )
    assert model(torch.ones(3, 6))[1:] == (6, 0.5, None)
