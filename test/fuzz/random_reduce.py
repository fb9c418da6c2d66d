"""Reduces a failing model as long as it fails in the same way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from random_check import Verdict, same_failure
from random_generator import prune
from random_model import Leaf, Model, Step, Track, build, leaf_data

__all__ = ["reduce_model"]


def reduce_model(
    model: Model, verdict: Verdict, judge: Callable[[Model], Verdict], *, seconds: float = 120
) -> tuple[Model, Verdict]:
    """The smallest model found within `seconds` that fails like `verdict` by `judge`, and its
    verdict."""
    deadline = time.monotonic() + seconds
    tried = {model}
    again = True
    while again:
        again = False
        for candidate in _candidates(model):
            if time.monotonic() > deadline:
                return model, verdict
            if candidate in tried:
                continue
            tried.add(candidate)
            found = judge(candidate)
            if same_failure(found, verdict):
                model, verdict, again = candidate, found, True
                break
    return model, verdict


def _candidates(model: Model) -> Iterator[Model]:
    """Simpler models, the largest reductions first."""
    if len(set(model.outputs)) > 1:
        for name in dict.fromkeys(model.outputs):
            yield prune(replace(model, outputs=(name,)))
    if len(model.outputs) > 1:
        for index in range(len(model.outputs)):
            yield prune(replace(model, outputs=model.outputs[:index] + model.outputs[index + 1 :]))
    for change in ({"cpu_dtype": None}, {"cuda_dtype": None}, {"form": "tuple"}):
        yield replace(model, **change)
    if len(prune(model).steps) < len(model.steps):
        yield prune(model)
    values = _values(model)
    for index in reversed(range(len(model.steps))):
        yield from _without(model, index, values)
    for step in model.steps:
        if step.shares:
            made = next(each.module for each in model.steps if each.name == step.shares)
            yield _with_step(model, replace(step, shares="", module=made))
    for index in range(len(model.weights)):
        yield _as_input(model, index)
    yield from _smaller(model)
    for dtype in ("float16", "bfloat16"):
        yield _replace_text(
            model, {dtype: "float32", "F16" if dtype == "float16" else "BF16": "F32"}
        )


def _without(model: Model, index: int, values: dict[str, torch.Tensor]) -> Iterator[Model]:
    """Without a step: an operand of the same type replaces it, or else a new input. The operands of
    an output become outputs."""
    step = model.steps[index]
    rest = model.steps[:index] + model.steps[index + 1 :]
    sharing = next((each for each in rest if each.shares == step.name), None)
    if sharing is not None:
        rest = tuple(
            replace(each, shares="", module=step.module) if each is sharing else each
            for each in rest
        )
        rest = tuple(
            replace(each, shares=sharing.name) if each.shares == step.name else each
            for each in rest
        )
    if step.name in model.outputs and step.operands:
        for operand in dict.fromkeys(step.operands):
            yield prune(_renamed(replace(model, steps=rest), step.name, operand))
    if step.name not in values:
        return
    value = values[step.name]
    for operand in dict.fromkeys(step.operands):
        if operand in values and (values[operand].shape, values[operand].dtype) == (
            value.shape,
            value.dtype,
        ):
            yield prune(_renamed(replace(model, steps=rest), step.name, operand))
    positive = (
        bool(value.dtype == torch.bool or float(value.double().min()) > 0)
        and value.dtype != torch.bool
    )
    leaf = Leaf(
        f"x{_free(model)}", tuple(value.shape), str(value.dtype).removeprefix("torch."), positive
    )
    yield prune(
        _renamed(replace(model, steps=rest, inputs=(*model.inputs, leaf)), step.name, leaf.name)
    )


def _renamed(model: Model, old: str, new: str) -> Model:
    def name(text: str) -> str:
        return new if text == old else text

    steps = tuple(replace(step, operands=tuple(map(name, step.operands))) for step in model.steps)
    return replace(model, steps=steps, outputs=tuple(map(name, model.outputs)))


def _as_input(model: Model, index: int) -> Model:
    leaf = model.weights[index]
    made = replace(leaf, name=f"x{_free(model)}")
    changed = replace(
        model,
        inputs=(*model.inputs, made),
        weights=model.weights[:index] + model.weights[index + 1 :],
    )
    return _renamed(changed, leaf.name, made.name)


def _free(model: Model) -> int:
    return 1 + max((int(leaf.name[1:]) for leaf in model.inputs), default=-1)


def _with_step(model: Model, step: Step) -> Model:
    return replace(
        model, steps=tuple(step if each.name == step.name else each for each in model.steps)
    )


_NUMBER = re.compile(r"(?<![\w.{])\d+(?![\w.}])")


def _smaller(model: Model) -> Iterator[Model]:
    """Reduces one size at all places; then one dim of one leaf."""
    leaves = (*model.inputs, *model.weights)
    for size in sorted({size for leaf in leaves for size in leaf.shape if size > 1}, reverse=True):
        for less in dict.fromkeys((1, 2, 4, size // 2, size - 1)):
            if 0 < less < size:
                yield _replace_number(model, size, less)
    for leaf in leaves:
        for dim, size in enumerate(leaf.shape):
            for less in dict.fromkeys((1, 2, size // 2)):
                if 0 < less < size:
                    made = replace(leaf, shape=(*leaf.shape[:dim], less, *leaf.shape[dim + 1 :]))
                    yield replace(
                        model,
                        inputs=tuple(made if each == leaf else each for each in model.inputs),
                        weights=tuple(made if each == leaf else each for each in model.weights),
                    )


def _replace_number(model: Model, old: int, new: int) -> Model:
    def text(value: str) -> str:
        return _NUMBER.sub(lambda match: str(new) if int(match[0]) == old else match[0], value)

    def leaf(value: Leaf) -> Leaf:
        return replace(value, shape=tuple(new if size == old else size for size in value.shape))

    return replace(
        model,
        inputs=tuple(map(leaf, model.inputs)),
        weights=tuple(map(leaf, model.weights)),
        steps=tuple(
            replace(step, expression=text(step.expression), module=text(step.module))
            for step in model.steps
        ),
    )


def _replace_text(model: Model, names: dict[str, str]) -> Model:
    """Other dtypes."""
    text = model.to_json()
    for old, new in names.items():
        text = re.sub(rf"(?<![\w]){old}(?![\w])", new, text)
    return Model.from_json(text)


def _values(model: Model) -> dict[str, torch.Tensor]:
    """PyTorch's result for each step, as far as it can be computed."""
    with torch.no_grad():
        track = Track(build(model, getattr(torch, model.dtype)))
        for leaf in model.inputs:
            track.values[leaf.name] = leaf_data(
                model.seed, leaf.name, leaf.shape, getattr(torch, leaf.dtype), leaf.positive
            )
        for leaf in model.weights:
            track.values[leaf.name] = getattr(track.module, leaf.name)
        try:
            for step in model.steps:
                track.values[step.name] = track.run(step)
        except Exception:
            return {}
    return track.values
