# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares an artifact with PyTorch on the same inputs: the errors of both relative to float64, and
their times."""

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

#: The ratio of median to minimum above which the machine is considered busy.
_BUSY = 3.0


class Model:
    """A PyTorch module with the inputs of a program.

    Args:
        module: The module.
        example: Its example inputs, whose structure the flat inputs get. Constants stay.
        keywords: Its example keyword inputs, likewise.
        program: The program.
        inputs: One host array per input of the program.

    Raises:
        ConvoyError: Module and program have different numbers of inputs.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        example: tuple[Any, ...],
        keywords: Mapping[str, Any],
        program: Program,
        inputs: Sequence[np.ndarray],
    ) -> None:
        import torch
        import torch.utils._pytree as pytree

        self._leaves, self._structure = pytree.tree_flatten((example, dict(keywords)))
        self._places = [
            place for place, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)
        ]
        if len(self._places) != len(program.inputs):
            message = (
                f"expected a model with {len(program.inputs)} inputs, like the artifact, got "
                f"{len(self._places)}"
            )
            raise ConvoyError(message)
        self.module = module
        self._tensors = [
            tensor_of(each, spec.dtype) for each, spec in zip(inputs, program.inputs, strict=True)
        ]

    def arguments(self, dtype: torch.dtype | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The module's positional and keyword arguments, with floating-point tensors converted to
        `dtype`."""
        import torch.utils._pytree as pytree

        leaves = list(self._leaves)
        for place, each in zip(self._places, self._tensors, strict=True):
            leaves[place] = (
                each if dtype is None or not each.is_floating_point() else each.to(dtype)
            )
        args, kwargs = pytree.tree_unflatten(leaves, self._structure)
        return args, kwargs

    def results(self, dtype: torch.dtype) -> dict[str, np.ndarray]:
        """Runs a copy of the module in `dtype`.

        Args:
            dtype: The compute type.

        Returns:
            Name to output, floats as float64.

        Raises:
            RuntimeError: PyTorch cannot run the module in `dtype`.
        """
        import torch

        from convoy.output_names import named_leaves

        with torch.inference_mode():
            args, kwargs = self.arguments(dtype)
            found = named_leaves(_converted(copy.deepcopy(self.module), dtype)(*args, **kwargs))
        return {
            name: (each.double() if each.is_floating_point() else each).cpu().numpy()
            for name, each in found
            if isinstance(each, torch.Tensor)
        }


def _converted(module: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """The module in `dtype`. Module.to drops the imaginary parts of complex weights."""

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_complex():
            return tensor.to(dtype.to_complex())
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    module._apply(convert)  # type: ignore[no-untyped-call]
    return module


@dataclass(frozen=True)
class Times:
    """Milliseconds of a call: the median and the minimum."""

    median: float
    least: float

    def __str__(self) -> str:
        # On a busy machine, threads wait for others without a core in most calls.
        busy = (
            f" (the fastest {self.least:.2f}: the machine is busy)"
            if self.median > _BUSY * self.least
            else ""
        )
        return f"{self.median:.2f} ms{busy}"


def times_ms(
    actions: Mapping[str, Callable[[], Any]], *, seconds: float = 1.5, blocks: int = 8
) -> dict[str, Times]:
    """Times actions in alternating blocks, so that other load on the machine affects all of them.

    A block begins with a warm-up of a quarter of its time, because threads of the previous action
    may still spin and caches are cold. The result is the median of the blocks' medians, so that a
    disturbed block counts once regardless of its number of calls.

    Args:
        actions: Name to synchronous action.
        seconds: The measuring time of each action.
        blocks: The number of blocks, with at least one call each.

    Returns:
        Name to times.
    """
    times: dict[str, list[float]] = {name: [] for name in actions}
    least: dict[str, float] = {}
    for _ in range(blocks):
        for name, action in actions.items():
            # A call that fills a block is its own warm-up, except in the first block.
            if not times[name] or times[name][-1] < seconds / blocks * 1e3:
                _calls(action, seconds / blocks / 4)
            calls = _calls(action, seconds / blocks)
            times[name].append(statistics.median(calls))
            least[name] = min(least.get(name, calls[0]), *calls)
    return {name: Times(statistics.median(values), least[name]) for name, values in times.items()}


def _calls(action: Callable[[], Any], seconds: float) -> list[float]:
    """Milliseconds of each call within `seconds`, at least one."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return times


@contextmanager
def same_threads() -> Iterator[int]:
    """Makes PyTorch use the same number of threads as programs for the CPU: CONVOY_NUM_THREADS, or
    one per core. Yields the number."""
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
    """Compares each output with PyTorch's.

    Args:
        program: The program.
        model: The PyTorch model.
        outputs: One host array per output.
        dtype: The compute type of the program, as `compute_type` returns it.

    Returns:
        The comparison of each output.

    Raises:
        ConvoyError: PyTorch cannot run the model in float64, or has other outputs.
    """
    import torch

    from convoy.cli.differences import compare_tensor, rounding

    try:
        precise = model.results(torch.float64)
    except RuntimeError as error:
        message = f"--check compares with the model in float64, which PyTorch cannot run: {error}"
        raise ConvoyError(message) from error
    names = [spec.name for spec in program.outputs]
    # Fields of an object may be assigned in another order than that of its class.
    if precise.keys() != set(names):
        message = (
            f"expected a model that returns {', '.join(names)}, like the artifact, got "
            f"{', '.join(precise) or 'no tensors'}"
        )
        raise ConvoyError(message)
    try:
        with rounding(dtype):
            peer = model.results(torch.float32 if dtype == "tf32" else getattr(torch, dtype))
    except RuntimeError:
        # PyTorch lacks some half-precision operations on the CPU. Its error then counts as 0, which
        # gives the minimal limit.
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
    """Prints the errors and times of the program and of PyTorch.

    Args:
        program: The program.
        model: The PyTorch model.
        inputs: One host array per input.
        outputs: The program's outputs for `inputs`.
        allow_tf32: Whether the program was loaded with TF32 allowed.

    Returns:
        The exit code: 3 if an output exceeds its limit, else 0.
    """
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
        f"  PyTorch in {dtype} differs by {worst.peer:.2e}; the limit is {ALLOWANCE:g} times that, "
        "or a few epsilons"
    )
    for each in found:
        if not each.agrees:
            print(f"  output {each.name} differs: {each.difference:.2e}, at most {each.limit:.2e}")
    args, kwargs = model.arguments()
    with same_threads() as threads, torch.inference_mode():
        ours, peer = times_ms(
            {
                "convoy": lambda: program.run_numpy(*inputs),
                "torch": lambda: model.module(*args, **kwargs),
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
