"""Random steps: recurrent networks."""

from __future__ import annotations

from random_generator import Generator

__all__ = ["KINDS"]


def recurrent(g: Generator) -> str | None:
    """Over a sequence of features, with or without a batch; its outputs or a part of its state."""
    x = g.pick(lambda name: g.is_float(name) and len(g.shape(name)) in (2, 3) and g.shape(name)[0])
    if x is None or g.chance(0.3):
        x = g.leaf("x", [g.random.randint(1, 9), g.random.randint(1, 4), g.random.randint(1, 9)])
    x = g.base(x)
    features, hidden = g.shape(x)[-1], g.random.choice([1, 3, 4, 8, 17])
    kind, options = g.random.choice(
        [("LSTM", ""), ("GRU", ""), ("RNN", ""), ("RNN", ", nonlinearity='relu'")]
    )
    if kind == "LSTM" and hidden > 3 and g.chance(0.2):
        options = ", proj_size=3"
    text = (
        f"nn.{kind}({features}, {hidden}, {g.random.choice([1, 1, 2])}, bias={g.chance(0.8)}, "
        f"batch_first={g.chance(0.5)}, bidirectional={g.chance(0.4)}{options})"
    )
    part = g.random.choice(["[0]", "[0]", "[1][0]", "[1][1]" if kind == "LSTM" else "[1]"])
    return g.add(f"{{m}}({{0}}){part}", x, module=text)


KINDS = {recurrent: 0.7}
