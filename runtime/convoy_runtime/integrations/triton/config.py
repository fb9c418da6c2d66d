# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The configuration of a model, config.pbtxt: Triton's message `ModelConfig`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from convoy_runtime.errors import ArtifactError

from .served import DATA_TYPES, Sample, ServedModel, ServedTensor
from .text import EnumName

__all__ = ["check_config", "model_config"]


def model_config(
    model: ServedModel,
    name: str,
    target: str,
    *,
    instances: int = 1,
    gpus: Sequence[int] = (),
    max_queue_delay: int = 0,
) -> dict[str, Any]:
    """The configuration of a model.

    Args:
        model: The model.
        name: Its name in Triton.
        target: The target of its artifact.
        instances: The number of processes that run it, on each GPU if the target is `cuda`.
        gpus: The indices of GPUs; all if none are given.
        max_queue_delay: How long a request may wait for others of its batch, in microseconds.

    Returns:
        The fields, in the form that `format_message` writes.
    """
    fields: dict[str, Any] = {
        "name": name,
        "backend": "python",
        "max_batch_size": model.max_batch_size,
        "input": [_tensor_fields(tensor) for tensor in model.inputs],
        "output": [_tensor_fields(tensor) for tensor in model.outputs],
    }
    if model.max_batch_size > 1:
        # A preferred size of 1 would make Triton run each request alone as soon as the waiting
        # requests are no other preferred size.
        batching: dict[str, Any] = {
            "preferred_batch_size": [rows for rows in model.points if rows > 1]
        }
        if max_queue_delay:
            batching["max_queue_delay_microseconds"] = max_queue_delay
        fields["dynamic_batching"] = batching
    group: dict[str, Any] = {"count": instances}
    group["kind"] = EnumName("KIND_GPU" if target == "cuda" else "KIND_CPU")
    if gpus:
        group["gpus"] = list(gpus)
    fields["instance_group"] = [group]
    fields["model_warmup"] = [_warmup_fields(model, sample) for sample in model.samples]
    return fields


def _tensor_fields(tensor: ServedTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "data_type": EnumName(DATA_TYPES[tensor.dtype]),
        "dims": list(tensor.dims),
    }


def _warmup_fields(model: ServedModel, sample: Sample) -> dict[str, Any]:
    return {
        "name": sample.name,
        "batch_size": sample.batch,
        "inputs": [
            {
                "key": tensor.name,
                "value": {
                    "data_type": EnumName(DATA_TYPES[tensor.dtype]),
                    "dims": list(dims),
                    "zero_data": True,
                },
            }
            for tensor, dims in zip(model.inputs, sample.dims, strict=True)
        ],
    }


def check_config(config: Mapping[str, Any], model: ServedModel, path: object) -> None:
    """Checks that a configuration, which may have been edited or written for another version of
    the model, is one of this artifact.

    Args:
        config: The JSON form of `ModelConfig`, as Triton gives it to a model.
        model: The description of the artifact.
        path: The artifact, for messages.

    Raises:
        ArtifactError: Triton would send other tensors than the artifact expects.
    """

    def refuse(field: str, expected: object, got: object) -> ArtifactError:
        return ArtifactError(
            problem="config.pbtxt is not that of this artifact",
            path=path,
            field=field,
            expected=str(expected),
            got=str(got),
        )

    most = int(config.get("max_batch_size", 0))
    if bool(most) != bool(model.batch) or most > model.max_batch_size:
        expected = f"1 to {model.max_batch_size}" if model.batch else f"0: {model.unbatched}"
        raise refuse("max_batch_size", expected, most)
    for field, tensors in (("input", model.inputs), ("output", model.outputs)):
        found = {each["name"]: each for each in config.get(field, ())}
        names = [tensor.name for tensor in tensors]
        if sorted(found) != sorted(names):
            raise refuse(f"names of {field}", sorted(names), sorted(found))
        for tensor in tensors:
            entry = found[tensor.name]
            if entry["data_type"] != DATA_TYPES[tensor.dtype]:
                where = f"{field} {tensor.name!r}: data_type"
                raise refuse(where, DATA_TYPES[tensor.dtype], entry["data_type"])
            dims = tuple(int(size) for size in entry["dims"])
            if len(dims) != len(tensor.dims) or any(
                own not in (-1, given) for own, given in zip(tensor.dims, dims, strict=True)
            ):
                where = f"{field} {tensor.name!r}: dims"
                raise refuse(where, list(tensor.dims), list(dims))
