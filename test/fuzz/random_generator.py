"""Grows a random model step by step. A step is kept if PyTorch accepts it and its result is
well-conditioned: numbers of moderate size, integers and bools that do not depend on rounding
errors, and floating-point numbers that depend little on them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from noise import Noise
from random_model import FLOATS, Leaf, Model, Step, Track, fill, leaf_data, short
from torch import Tensor, nn

__all__ = ["DIMS", "Generator"]

#: Sizes of dims: ones, primes, and sizes at the boundary of a vector or a tile.
DIMS = (1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 9, 11, 13, 16, 17)
_LARGE_DIMS = (19, 23, 31, 32, 33, 47, 64, 65, 97, 128, 131)
_LIMIT = 6000
_RANK_LIMIT = 6
_DTYPES = FLOATS | {torch.int64, torch.int32, torch.bool}


class Generator:
    """A growing model. `add` tries a step and returns its name, or None if the step is not usable;
    `tensor` returns the contents of a value."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.dtype = self.random.choices(["float32", "float16", "bfloat16"], [14, 3, 3])[0]
        options = [None, None, None, "float16", "bfloat16", "float32"]
        self.cpu_dtype = self.random.choice([*options, None, None, None])
        self.cuda_dtype = self.random.choice(options)
        self.inputs: list[Leaf] = []
        self.weights: list[Leaf] = []
        self.steps: list[Step] = []
        self._root = nn.Module()
        self._wide_root = nn.Module()
        for root in (self._root, self._wide_root):
            wide = root is self._wide_root
            root.F32, root.F16, root.BF16 = (
                [torch.float64] * 3 if wide else [torch.float32, torch.float16, torch.bfloat16]
            )  # type: ignore[assignment]
        self._noise = Noise(seed, self.cpu_dtype)
        self._narrow, self._wide, self._noisy = (
            Track(self._root),
            Track(self._wide_root),
            Track(self._wide_root),
        )

    # Values

    def tensor(self, name: str) -> Tensor:
        """The value in float64, if it is floating-point."""
        return self._wide.values[name]

    def kind(self, name: str) -> torch.dtype:
        """The dtype of the value in the model."""
        return self._narrow.values[name].dtype

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._narrow.values[name].shape)

    def narrow(self, name: str) -> Tensor:
        """The value as PyTorch computes it in the model's dtypes."""
        return self._narrow.values[name]

    def names(
        self, accepts: Callable[[str], bool] = lambda _: True, *, weights: bool = False
    ) -> list[str]:
        """Values that `accepts` accepts: inputs and results of steps, and with `weights` values
        computed only from weights."""
        return [
            name
            for name in self._narrow.values
            if (weights or not self.constant(name)) and accepts(name)
        ]

    def constant(self, name: str) -> bool:
        """Whether a value is computed only from weights."""
        if name[0] in "pb":
            return True
        step = next((step for step in self.steps if step.name == name), None)
        return (
            step is not None
            and all(self.constant(operand) for operand in step.operands)
            and not step.module
        )

    def pick(
        self, accepts: Callable[[str], bool] = lambda _: True, *, weights: bool | None = None
    ) -> str | None:
        """A value that `accepts` accepts, more often a recent one; occasionally one computed only
        from weights."""
        names = self.names(
            accepts, weights=self.random.random() < 0.07 if weights is None else weights
        )
        if not names:
            return None
        if self.random.random() < 0.6:
            names = names[-3:]
        return self.random.choice(names)

    def is_float(self, name: str) -> bool:
        return self.kind(name).is_floating_point

    def is_base(self, name: str) -> bool:
        """Whether submodules accept the value without a cast."""
        return str(self.kind(name)) == f"torch.{self.dtype}"

    # Choices

    def dim(self) -> int:
        return (
            self.random.choice(_LARGE_DIMS)
            if self.random.random() < 0.06
            else self.random.choice(DIMS)
        )

    def dims(self, rank: int) -> tuple[int, ...]:
        """A shape of at most a few thousand elements."""
        while True:
            shape = tuple(self.dim() for _ in range(rank))
            if math.prod(shape) <= _LIMIT // 4:
                return shape

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def number(self) -> float:
        """A number in -3 to 3 and not close to zero."""
        return self.random.choice([-1, 1]) * self.random.choice(
            [0.5, 1.0, 2.0, round(self.random.uniform(0.1, 3), 3)]
        )

    # Growing

    def leaf(
        self, role: str, shape: Sequence[int], dtype: str | None = None, *, positive: bool = False
    ) -> str:
        """A new input ("x"), parameter ("p") or buffer ("b"); returns its name."""
        leaves = self.inputs if role == "x" else self.weights
        dtype = dtype or self.dtype
        leaf = Leaf(f"{role}{len(leaves)}", tuple(shape), dtype, positive)
        leaves.append(leaf)
        data = leaf_data(self.seed, leaf.name, leaf.shape, getattr(torch, dtype), positive)
        self._keep(leaf.name, data, data.double() if data.is_floating_point() else data)
        return leaf.name

    def _keep(self, name: str, narrow: Tensor, wide: Tensor, noisy: Tensor | None = None) -> None:
        self._narrow.values[name], self._wide.values[name] = narrow, wide
        self._noisy.values[name] = self._noise(wide, narrow, wide) if noisy is None else noisy

    def weight(
        self, shape: Sequence[int], dtype: str | None = None, *, positive: bool = False
    ) -> str:
        """A parameter, or a buffer if the dtype has no gradient."""
        kind = dtype or self.dtype
        role = "p" if "float" in kind and self.chance(0.7) else "b"
        return self.leaf(role, shape, self.dtype if "float" in kind else kind, positive=positive)

    def add(
        self, expression: str, *operands: str, module: str = "", shares: str = ""
    ) -> str | None:
        """Tries a step; returns the name of its result, or None if PyTorch refuses it or it is
        ill-conditioned."""
        step = Step(f"v{len(self.steps)}", expression, operands, module, shares)
        if module and not self._make_module(step):
            return None
        try:
            with torch.no_grad():
                narrow, wide, noisy = (
                    track.run(step) for track in (self._narrow, self._wide, self._noisy)
                )
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
            return None
        noisy = self._noise(noisy, narrow, wide)
        if not _is_sound(narrow, wide, noisy):
            return None
        self._keep(step.name, narrow, wide, noisy)
        self.steps.append(step)
        return step.name

    def _make_module(self, step: Step) -> bool:
        for root in (self._root, self._wide_root):
            try:
                made = eval(step.module, {"nn": nn, "torch": torch})
            except (RuntimeError, ValueError, TypeError):
                return False
            holder = nn.Module()
            setattr(holder, f"m{step.name}", made)
            fill(holder, self.seed)
            made.to(getattr(torch, self.dtype)).eval().requires_grad_(False)
            setattr(root, f"m{step.name}", made.double() if root is self._wide_root else made)
        return True

    def to(self, name: str, dtype: str) -> str:
        """The value in another dtype."""
        if str(self.kind(name)) == f"torch.{dtype}":
            return name
        return self.add(f"{{0}}.to({short(dtype)})", name) or name

    def base(self, name: str) -> str:
        """The value in the dtype of submodules."""
        return self.to(name, self.dtype)

    def module_of(self, text: str, accepts: Callable[[Any], bool]) -> dict[str, str]:
        """Arguments of `add` for a submodule: a new one, or occasionally one of an earlier step
        that `accepts` accepts."""
        earlier = [
            step.name
            for step in self.steps
            if step.module and accepts(getattr(self._root, f"m{step.name}"))
        ]
        return (
            {"shares": self.random.choice(earlier)}
            if earlier and self.chance(0.3)
            else {"module": text}
        )

    # The end

    def finish(self) -> Model:
        """Chooses the outputs: the last value, intermediate ones, occasionally a duplicate, an
        input or a weight."""
        made = [step.name for step in self.steps if not self.constant(step.name)] or [
            step.name for step in self.steps
        ]
        made = made or [self.inputs[0].name]
        used = {operand for step in self.steps for operand in step.operands}
        ends = [name for name in made if name not in used]
        outputs = [self.random.choice(ends or made[-1:])]
        outputs += [name for name in ends if name not in outputs and self.chance(0.5)]
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
            outputs.append(self.random.choice(made))
        if self.chance(0.06):
            outputs.append(self.random.choice(outputs))
        if self.chance(0.05):
            outputs.append(self.random.choice(self.inputs).name)
        if self.weights and self.chance(0.03):
            outputs.append(self.random.choice(self.weights).name)
        self.random.shuffle(outputs)
        form = (
            self.random.choice(["tensor", "tuple", "list", "dict"])
            if len(outputs) == 1
            else self.random.choice(["tuple", "list", "dict"])
        )
        model = Model(
            self.seed,
            self.dtype,
            tuple(self.inputs),
            tuple(self.weights),
            tuple(self.steps),
            tuple(outputs),
            form,
            self.cpu_dtype,
            self.cuda_dtype,
        )
        return model if self.chance(0.03) else prune(model)


def prune(model: Model) -> Model:
    """The model without the steps, weights and inputs that no output needs. At least one input is
    kept."""
    needed = set(model.outputs)
    steps = []
    for step in reversed(model.steps):
        if step.name in needed:
            needed |= {*step.operands, step.shares}
            steps.append(step)
        elif step.name in {each.shares for each in steps}:
            needed |= {*step.operands}
            steps.append(step)
    inputs = tuple(leaf for leaf in model.inputs if leaf.name in needed) or model.inputs[:1]
    weights = tuple(leaf for leaf in model.weights if leaf.name in needed)
    return Model(
        **{**vars(model), "steps": tuple(reversed(steps)), "inputs": inputs, "weights": weights}
    )


def _is_sound(narrow: Tensor, wide: Tensor, noisy: Tensor) -> bool:
    if not (
        1 <= narrow.numel() <= _LIMIT and narrow.dim() <= _RANK_LIMIT and narrow.dtype in _DTYPES
    ):
        return False
    if narrow.shape != wide.shape:
        return False
    if not narrow.is_floating_point():
        small = narrow.dtype == torch.bool or int(narrow.abs().max()) < 10000
        return small and torch.equal(narrow, wide) and torch.equal(wide, noisy)
    if not (narrow.isfinite().all() and noisy.isfinite().all()):
        return False
    scale = float(wide.abs().max())
    spread = max(float((noisy - wide).abs().max()), float((narrow.double() - wide).abs().max()))
    return scale <= 60 and (scale == 0 or scale >= 1e-3) and spread <= 0.1 * max(scale, 1e-3)
