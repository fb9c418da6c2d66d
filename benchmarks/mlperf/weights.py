# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random weights for artifacts that were compiled without them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from convoy_runtime._safetensors import HostTensor
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import TensorSpec

__all__ = ["random_weights"]


def random_weights(specs: Iterable[TensorSpec]) -> dict[str, HostTensor]:
    """Weights with which activations of a convolutional network stay in range.

    Args:
        specs: The weights, e.g. `program.weights`.

    Returns:
        Name to tensor: normal numbers whose variance is one divided by the inputs of an output, so
        that a sum of many residuals stays in the range of float16. Vectors are ones plus small
        numbers, or only those if the name ends with "bias" or "running_mean". Integers are zeros.
    """
    generator = np.random.default_rng(0)
    found = {}
    for spec in specs:
        storage = DTYPES[spec.dtype].storage
        if not spec.dtype.startswith(("float", "bfloat")):
            found[spec.name] = HostTensor(spec.dtype, np.zeros(spec.shape, storage))
            continue
        values = generator.standard_normal(spec.shape, np.float32)
        if len(spec.shape) > 1:
            values *= math.sqrt(1 / max(1, math.prod(spec.shape[1:])))
        else:
            values *= 0.05
            if not spec.name.endswith(("bias", "running_mean")):
                values += 1
        if spec.dtype == "bfloat16":
            found[spec.name] = HostTensor(
                spec.dtype, (values.view(np.uint32) >> 16).astype(storage)
            )
        else:
            found[spec.name] = HostTensor(spec.dtype, values.astype(storage))
    return found
