# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The ResNets of examples/resnet.py in JAX, for inference: batch norms folded, NHWC, weights taken
from the torch module's state dict.

Filters are OHWI, cuDNN's layout for NHWC, so that XLA transposes no weight in a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["Weights", "fold", "forward"]

#: torch's default, which examples/resnet.py uses.
_EPSILON = 1e-5
_BATCH_NORMS = {"conv1": "bn1", "conv2": "bn2", "conv3": "bn3", "downsample.0": "downsample.1"}
_STAGES = 4

#: Name of a convolution, or `fc`, to its filter (OHWI) or matrix (in x out), and its bias.
Weights = dict[str, tuple[jax.Array, jax.Array]]


def fold(state: Mapping[str, np.ndarray], dtype: Any) -> Weights:
    """Folds batch norms in fp64 and rounds once to `dtype`.

    Args:
        state: A state dict of host arrays; filters are K x C x R x S.
        dtype: The dtype of the result.

    Returns:
        The weights for `forward`.
    """
    weights: Weights = {}
    for name, value in state.items():
        if value.ndim != 4:
            continue
        convolution = name.removesuffix(".weight")
        leaf = next(leaf for leaf in _BATCH_NORMS if convolution.endswith(leaf))
        norm = convolution.removesuffix(leaf) + _BATCH_NORMS[leaf]
        gain, shift, mean, variance = (
            state[f"{norm}.{field}"].astype(np.float64)
            for field in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gain / np.sqrt(variance + _EPSILON)
        filters = value.transpose(0, 2, 3, 1).astype(np.float64) * scale[:, None, None, None]
        weights[convolution] = jnp.asarray(filters, dtype), jnp.asarray(shift - mean * scale, dtype)
    weights["fc"] = jnp.asarray(state["fc.weight"].T, dtype), jnp.asarray(state["fc.bias"], dtype)
    return weights


def forward(
    weights: Weights, x: jax.Array, precision: lax.Precision = lax.Precision.DEFAULT
) -> jax.Array:
    """Runs the network.

    Args:
        weights: The weights from `fold`.
        x: N x H x W x 3, in the dtype of the weights.
        precision: For float32 on a GPU, DEFAULT allows TF32, HIGHEST does not.

    Returns:
        N x classes, in the dtype of the weights.
    """

    def convolve(x: jax.Array, name: str, stride: int, pad: int) -> jax.Array:
        filters, bias = weights[name]
        dims = ("NHWC", "OHWI", "NHWC")
        pads = [(pad, pad), (pad, pad)]
        return (
            lax.conv_general_dilated(
                x, filters, (stride, stride), pads, dimension_numbers=dims, precision=precision
            )
            + bias
        )

    x = jax.nn.relu(convolve(x, "conv1", 2, 3))
    x = lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)]
    )
    for stage in range(1, _STAGES + 1):
        block = 0
        while (name := f"layer{stage}.{block}") + ".conv1" in weights:
            x = _block(convolve, weights, name, x, 2 if stage > 1 and block == 0 else 1)
            block += 1
    matrix, bias = weights["fc"]
    return jnp.matmul(jnp.mean(x, axis=(1, 2)), matrix, precision=precision) + bias


def _block(
    convolve: Callable[[jax.Array, str, int, int], jax.Array],
    weights: Weights,
    name: str,
    x: jax.Array,
    stride: int,
) -> jax.Array:
    """A block of two 3x3 convolutions, or a bottleneck whose 3x3 convolution has the stride."""
    shortcut = (
        convolve(x, f"{name}.downsample.0", stride, 0) if f"{name}.downsample.0" in weights else x
    )
    if f"{name}.conv3" in weights:
        y = jax.nn.relu(convolve(x, f"{name}.conv1", 1, 0))
        y = jax.nn.relu(convolve(y, f"{name}.conv2", stride, 1))
        y = convolve(y, f"{name}.conv3", 1, 0)
    else:
        y = jax.nn.relu(convolve(x, f"{name}.conv1", stride, 1))
        y = convolve(y, f"{name}.conv2", 1, 1)
    return jax.nn.relu(y + shortcut)
