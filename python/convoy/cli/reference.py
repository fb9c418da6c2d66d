"""PyTorch beside an artifact: how far both are from float64, and the time of both on the same
inputs."""

from __future__ import annotations

import copy
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from convoy.cli.arrays import tensor_of, wide
from convoy.errors import ConvoyError

if TYPE_CHECKING:
    import torch

    from convoy.cli.differences import Comparison
    from convoy_runtime import Program

__all__ = ["Model", "Times", "compare", "compare_outputs", "same_threads", "times_ms"]

#: A median this many times the least time says more about the machine than about what was measured.
_BUSY = 3.0


class Model:
    """A PyTorch module and how the flat inputs of a program become its arguments, as those of
    `example`. Raises ConvoyError."""

    def __init__(
        self,
        module: torch.nn.Module,
        example: tuple[Any, ...],
        program: Program,
        inputs: Sequence[np.ndarray],
    ) -> None:
        import torch.utils._pytree as pytree

        leaves, self._structure = pytree.tree_flatten(example)
        if len(leaves) != len(program.inputs):
            message = (
                f"expected a model of {len(program.inputs)} inputs, as the artifact, got one "
                f"of {len(leaves)}"
            )
            raise ConvoyError(message)
        self.module = module
        self._tensors = [
            tensor_of(each, spec.dtype) for each, spec in zip(inputs, program.inputs, strict=True)
        ]

    def arguments(self, dtype: torch.dtype | None = None) -> tuple[Any, ...]:
        """What the module is called with, floating-point tensors in `dtype`."""
        import torch.utils._pytree as pytree

        tensors = [
            each if dtype is None or not each.is_floating_point() else each.to(dtype)
            for each in self._tensors
        ]
        return tuple(pytree.tree_unflatten(tensors, self._structure))

    def results(self, dtype: torch.dtype) -> dict[str, np.ndarray]:
        """The outputs of a copy of the module in `dtype`, by name, floats as float64. Raises
        RuntimeError where PyTorch cannot."""
        import torch

        from convoy.output_names import named_leaves

        with torch.inference_mode():
            found = named_leaves(copy.deepcopy(self.module).to(dtype)(*self.arguments(dtype)))
        return {
            name: (each.double() if each.is_floating_point() else each).cpu().numpy()
            for name, each in found
        }


@dataclass(frozen=True)
class Times:
    """Milliseconds of a call: the median, and the least."""

    median: float
    least: float

    def __str__(self) -> str:
        # On a busy machine a thread waits for another that has no core, in most calls.
        busy = (
            f" (the fastest {self.least:.2f}: the machine is busy)"
            if self.median > _BUSY * self.least
            else ""
        )
        return f"{self.median:.2f} ms{busy}"


def times_ms(
    actions: Mapping[str, Callable[[], Any]], *, seconds: float = 1.5, blocks: int = 8
) -> dict[str, Times]:
    """Times of each action, `seconds` of measuring each and `blocks` calls at least; an action
    waits for its result.

    The actions take turns in blocks, so that what else the machine does meets all of them. A block
    begins with calls that are not timed, for a quarter of its time: threads of the action before
    still look for work, and memory and caches are not this action's yet. The median is that of the
    blocks' medians, so that a block which the machine disturbed is one of `blocks`, however many
    calls it has.
    """
    times: dict[str, list[float]] = {name: [] for name in actions}
    least: dict[str, float] = {}
    for _ in range(blocks):
        for name, action in actions.items():
            # One call that fills its block needs no other before it, but the first.
            if not times[name] or times[name][-1] < seconds / blocks * 1e3:
                _calls(action, seconds / blocks / 4)
            calls = _calls(action, seconds / blocks)
            times[name].append(statistics.median(calls))
            least[name] = min(least.get(name, calls[0]), *calls)
    return {name: Times(statistics.median(values), least[name]) for name, values in times.items()}


def _calls(action: Callable[[], Any], seconds: float) -> list[float]:
    """Milliseconds of each call in `seconds`, of one at least."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return times


@contextmanager
def same_threads() -> Iterator[int]:
    """PyTorch computes with as many threads as programs for the CPU do: CONVOY_NUM_THREADS, or a
    core each. Gives their number."""
    import torch

    given = os.environ.get("CONVOY_NUM_THREADS", "")
    number = int(given) if given.isdecimal() and int(given) > 0 else len(os.sched_getaffinity(0))
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield number
    finally:
        torch.set_num_threads(before)


def compare_outputs(
    program: Program, model: Model, outputs: Sequence[np.ndarray], dtype: str
) -> list[Comparison]:
    """Each output beside PyTorch's in float64 and in `dtype`, what the program computes in. Raises
    ConvoyError."""
    import torch

    from convoy.cli.differences import compare_tensor, rounding

    try:
        precise = model.results(torch.float64)
    except RuntimeError as error:
        message = f"--check compares with the model in float64, which PyTorch cannot run: {error}"
        raise ConvoyError(message) from error
    names = [spec.name for spec in program.outputs]
    if list(precise) != names:
        message = (
            f"expected a model that returns {', '.join(names)}, as the artifact, got "
            f"{', '.join(precise) or 'no tensors'}"
        )
        raise ConvoyError(message)
    try:
        with rounding(dtype):
            peer = model.results(torch.float32 if dtype == "tf32" else getattr(torch, dtype))
    except RuntimeError:
        # Some operations PyTorch has on GPUs alone in half precision: without its loss, the limit
        # is the least one.
        peer = precise
    return [
        compare_tensor(spec.name, wide(got, spec.dtype), peer[spec.name], precise[spec.name], dtype)
        for spec, got in zip(program.outputs, outputs, strict=True)
    ]


def compare(
    program: Program,
    model: Model,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    *,
    allow_tf32: bool,
) -> int:
    """Prints how far the outputs and PyTorch's own are from PyTorch in float64, and the time of
    both; returns the exit code."""
    import torch

    from convoy.cli.differences import ALLOWANCE, compute_type

    dtype = compute_type(program, allow_tf32=allow_tf32)
    found = compare_outputs(program, model, outputs, dtype)
    worst = max(found, key=lambda each: each.excess)
    where = f" in output {worst.name}" if len(found) > 1 else ""
    print(
        f"largest difference from PyTorch in fp64: {worst.difference:.2e} "
        f"relative{where}, at most {worst.limit:.2e}"
    )
    print(
        f"  PyTorch in {dtype} differs by {worst.peer:.2e}; {ALLOWANCE:g} times that is "
        "accepted, or a few roundings of one number"
    )
    for each in found:
        if not each.agrees:
            print(f"  output {each.name} differs: {each.difference:.2e}, at most {each.limit:.2e}")
    arguments = model.arguments()
    with same_threads() as threads, torch.inference_mode():
        ours, peer = times_ms(
            {
                "convoy": lambda: program.run_numpy(*inputs),
                "torch": lambda: model.module(*arguments),
            }
        ).values()
    target = (
        f"cpu, {threads} threads" if program.manifest.target == "cpu" else program.manifest.target
    )
    print(
        f"time: {ours} on {target}, PyTorch {peer} on the CPU, {threads} threads "
        f"({ours.median / peer.median:.2f}x)"
    )
    return 0 if all(each.agrees for each in found) else 3
