# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""JAX's runners: `jax.jit` of benchmarks/jax_resnet.py with folded batch norms, NHWC. Input and
weights are on the device in the dtype of the case, in layouts that XLA chooses.

The model is timed in two ways, and the table has the faster one: consecutive asynchronous calls
with one synchronization at the end, and a loop of `LOOP` runs inside one jit, which has no dispatch
from Python. `jax-graphs` lets XLA also capture convolutions in its CUDA graphs, which is off by
default.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
from jax import lax
from jax.experimental.layout import Format, Layout

from benchmarks.jax_resnet import Weights, fold, forward
from benchmarks.runners.job import Job

__all__ = ["JaxRunner", "prepare"]

LOOP = 16
#: XLA's command buffers (CUDA graphs): the default command types and CONVOLUTION, with no minimum
#: number of commands.
_GRAPHS = {
    "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL,"
    "DYNAMIC_SLICE_FUSION,CONVOLUTION",
    "xla_gpu_graph_min_graph_size": 1,
}


class JaxRunner:
    """The model on `x` (N x H x W x 3), as a single run and as a loop."""

    def __init__(
        self,
        weights: Weights,
        x: jax.Array,
        precision: lax.Precision,
        options: dict[str, Any] | None = None,
    ) -> None:
        def run(weights: Weights, x: jax.Array) -> jax.Array:
            return forward(weights, x, precision)

        def loop(weights: Weights, x: jax.Array) -> jax.Array:
            def body(_: Any, carried: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
                # One element of the input depends on the previous run. Otherwise XLA hoists the
                # model out of the loop; an optimization_barrier does not prevent that. No result
                # is infinite, so the element keeps its value.
                x, y = carried
                x = x.at[0, 0, 0, 0].set(jnp.where(y[0, 0] < jnp.inf, x[0, 0, 0, 0], 0))
                return x, run(weights, x)

            first = jnp.zeros((x.shape[0], weights["fc"][1].shape[0]), x.dtype)
            return lax.fori_loop(0, LOOP, body, (x, first))[1]

        start = time.perf_counter()
        self._run = _compiled(run, options, weights, x)
        result = self._run().block_until_ready()
        self.seconds = time.perf_counter() - start
        self._loop = _compiled(loop, options, weights, x)
        looped = self._loop().block_until_ready()
        once, by_calls, by_loop = self._time_calls(1), self._time_calls(LOOP), self._time_loop(1)
        # XLA has simplified a loop that takes as long as one run.
        self._looping = 2 * once < by_loop * LOOP < by_calls * LOOP
        self.output = np.asarray(
            (looped if self._looping else result).astype(jnp.float32), np.float64
        )
        self.details: dict[str, Any] = {
            "one call ms": once,
            "calls ms": by_calls,
            "loop ms": by_loop,
            "timed as": f"a loop of {LOOP}" if self._looping else "calls",
            "versions": {"jax": jax.__version__, "jaxlib": jaxlib.__version__},
        }

    def time(self, repeats: int) -> float:
        """Milliseconds per run."""
        return self._time_loop(-(-repeats // LOOP)) if self._looping else self._time_calls(repeats)

    def _time_calls(self, count: int) -> float:
        return _wall(self._run, count) / count

    def _time_loop(self, count: int) -> float:
        return _wall(self._loop, count) / (count * LOOP)


def _compiled(
    function: Callable[..., jax.Array], options: dict[str, Any] | None, *arguments: Any
) -> Callable[[], jax.Array]:
    """`function` compiled and bound to arguments in the layouts that XLA chose for them."""
    shapes = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), arguments)
    compiled = (
        jax.jit(function, in_shardings=Format(Layout.AUTO))
        .lower(*shapes)
        .compile(compiler_options=options)
    )
    return functools.partial(
        compiled, *jax.tree.map(jax.device_put, arguments, compiled.input_formats[0])
    )


def _wall(run: Callable[[], jax.Array], count: int) -> float:
    """Milliseconds of `count` runs after a warm-up, until the device has finished."""
    run().block_until_ready()
    start = time.perf_counter()
    for _ in range(count):
        result = run()
    result.block_until_ready()
    return (time.perf_counter() - start) * 1e3


def prepare(job: Job) -> JaxRunner:
    """Compiles with the GPU lock held, because XLA measures algorithms during compilation."""
    state = {name: tensor.numpy() for name, tensor in job.model.state_dict().items()}
    dtype = jnp.dtype(job.case.dtype)
    precision = lax.Precision.DEFAULT if job.case.tf32 else lax.Precision.HIGHEST
    with job.turn:
        image = jnp.asarray(job.x.permute(0, 2, 3, 1).contiguous().numpy(), dtype)
        return JaxRunner(
            fold(state, dtype), image, precision, _GRAPHS if job.name == "jax-graphs" else None
        )
