"""`random_network(seed)`: a model with one of several mixtures of steps."""

from __future__ import annotations

import random_layers
import random_pointwise
import random_recurrent
import random_shapes
from random_generator import Generator
from random_model import Model

__all__ = ["random_network"]

_KINDS = {
    **random_layers.KINDS,
    **random_pointwise.KINDS,
    **random_recurrent.KINDS,
    **random_shapes.KINDS,
}


def random_network(seed: int) -> Model:
    """The model of a seed."""
    g = Generator(seed)
    for _ in range(g.random.choice([1, 1, 1, 2])):
        _first(g)
    # Each model has its own mixture, so that e.g. some consist only of shape ops and some only of
    # layers.
    favoured = g.random.choice(
        [random_layers.KINDS, random_pointwise.KINDS, random_shapes.KINDS, {}, {}]
    )
    kinds = list(_KINDS)
    weights = [weight * (3 if kind in favoured else 1) for kind, weight in _KINDS.items()]
    wanted = g.random.choice([1, 2, 3, 4, 5, 6, 8, 10, 14])
    for _ in range(4 * wanted):
        if len(g.steps) >= wanted:
            break
        g.random.choices(kinds, weights)[0](g)
    return g.finish()


def _first(g: Generator) -> None:
    choice = g.random.random()
    if choice < 0.45:
        random_layers.image(g, g.random.choice([1, 2, 2, 2, 3]))
    elif choice < 0.9:
        dtype = g.random.choice(
            [None, None, None, None, "float16", "bfloat16", "float32", "int64", "int32", "bool"]
        )
        g.leaf("x", g.dims(g.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5])), dtype)
    else:
        g.leaf("x", [1] * g.random.randint(0, 4))
