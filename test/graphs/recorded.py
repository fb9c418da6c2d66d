"""The calls to cuDNN that build one graph, in a form in which two recordings can be compared.

Differences without a meaning to cuDNN are ignored: the order in which descriptors are created and
attributes set, uids (numbered by first use instead), whether equal operators share a descriptor,
and whether a whole number is INT64 or a fraction over 1. An attribute at its default counts as not
set; `DEFAULTS` has the defaults, and a test checks each of them against the real library's log.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

from convoy.graphs.decode import backend_names, settings_by_name
from convoy_runtime.attribute_types import DESCRIPTOR
from convoy_runtime.cuda.cudnn.enums import Descriptor
from convoy_runtime.recorder import RecordedDescriptor, Recording, Setting

__all__ = ["DEFAULTS", "canonical", "canonical_operation", "read_calls", "read_log", "read_refused"]

#: By descriptor and attribute. Doubles are compared as doubles, floats as floats.
DEFAULTS: dict[str, dict[str, Any]] = {
    "tensor": {
        "tensor_is_virtual": False,
        "tensor_is_by_value": False,
        "tensor_vector_count": 1,
        "tensor_vectorized_dimension": -1,
        "tensor_reordering_mode": "NONE",
    },
    "pointwise": {
        "pointwise_relu_upper_clip": struct.unpack("<d", bytes.fromhex("ffffffffffffef7f"))[0],
        "pointwise_relu_lower_clip": 0.0,
        "pointwise_relu_lower_clip_slope": 0.0,
        "pointwise_elu_alpha": 1.0,
        "pointwise_softplus_beta": 1.0,
        "pointwise_swish_beta": 1.0,
    },
    "operation_pointwise": {"operation_pointwise_alpha1": 1.0, "operation_pointwise_alpha2": 1.0},
    "reduction": {"reduction_is_deterministic": False},
    "operation_block_scale_dequantize": {"operation_block_scale_dequantize_neg_scale": False},
    "operation_resample_fwd": {
        "operation_resample_fwd_alpha": 1.0,
        "operation_resample_fwd_beta": 0.0,
    },
}


def read_calls(path: Path) -> Recording:
    """The calls that the recording library wrote. A failed call, or a graph that was not finalized,
    is an error."""
    descriptors: list[RecordedDescriptor] = []
    result = None
    for line in path.read_text().splitlines():
        assert _read_call(line, descriptors) == 0, f"{path.name}: {line}"
        if (
            line.startswith("finalize ")
            and descriptors[int(line.split()[1])].kind == Descriptor.OPERATIONGRAPH
        ):
            result = int(line.split()[1])
    assert result is not None, f"{path.name}: no operation graph was finalized"
    return Recording(tuple(descriptors), result)


def read_refused(path: Path) -> Recording:
    """The calls up to the one that cuDNN refused, which finalizes an operation; the result is that
    operation."""
    lines = path.read_text().splitlines()
    refused = [line for line in lines if not line.startswith("set ") and line.split()[-1] != "0"]
    assert len(refused) == 1, refused
    (what, place, _), rest = refused[0].split(), lines[: lines.index(refused[0])]
    assert what == "finalize"
    descriptors: list[RecordedDescriptor] = []
    for line in rest:
        _read_call(line, descriptors)
    descriptors[int(place)].finalized = True
    return Recording(tuple(descriptors), int(place))


def _read_call(line: str, descriptors: list[RecordedDescriptor]) -> int:
    """Adds one call; returns its status."""
    what, *numbers = line.split(" ")
    if what == "create":
        _, kind, status = map(int, numbers)
        descriptors.append(RecordedDescriptor(kind))
    elif what == "set":
        target, attribute, kind, count, status = map(int, numbers[:5])
        data = (
            tuple(map(int, numbers[5].split(",")))
            if kind == DESCRIPTOR
            else bytes.fromhex(numbers[5])
        )
        descriptors[target].settings[attribute] = Setting(kind, count, data)
    else:
        target, status = map(int, numbers)
        descriptors[target].finalized = True
    return status


def read_log(folder: Path) -> dict[str, dict[str, Any]]:
    """The operation graphs that cuDNN finalized, by name, as its log shows them, with defaults.
    Operations contain their tensors, with the number of the first use instead of a uid."""
    found = {}
    logged = [
        json.loads(each)["operationGraph"]
        for each in re.findall(r"apiLog: type=json; val=(.*);$", _log(folder), re.MULTILINE)
    ]
    names = (folder / "finalized").read_text().split()
    for name, graph in zip(names, logged, strict=True):
        numbers: dict[str, int] = {}
        tensors = {tensor["name"]: tensor for tensor in graph["tensors"]}
        found[name] = [
            {
                key: _logged(value, tensors, numbers) if isinstance(value, str) else value
                for key, value in sorted(node.items())
            }
            for node in graph["nodes"]
        ]
    return found


def _log(folder: Path) -> str:
    return (folder / "cudnn.log").read_text()


def _logged(value: str, tensors: dict[str, dict[str, Any]], numbers: dict[str, int]) -> Any:
    return (
        tensors[value] | {"name": numbers.setdefault(value, len(numbers))}
        if value in tensors
        else value
    )


def canonical(recording: Recording) -> list[Any]:
    """The operations of a recorded graph in order, each a dictionary that contains its operator and
    tensors; then other attributes of the graph, if any."""
    uids: dict[int, int] = {}
    of_graph = settings_by_name(recording.descriptors[recording.result])
    operations = of_graph.pop("operationgraph_ops")
    of_graph.pop("operationgraph_handle", None)
    return [
        *(
            _plain(recording, each, uids)
            for each in (operations if isinstance(operations, tuple) else (operations,))
        ),
        *([of_graph] if of_graph else []),
    ]


def canonical_operation(recording: Recording) -> dict[str, Any]:
    """The same for a recording whose result is an operation."""
    return _plain(recording, recording.result, {})


def _plain(recording: Recording, place: int, uids: dict[int, int]) -> dict[str, Any]:
    descriptor = recording.descriptors[place]
    assert descriptor.finalized
    kind = backend_names()["descriptor"][descriptor.kind]
    found: dict[str, Any] = {"": kind}
    by_name = {
        backend_names()["attribute"][number]: setting
        for number, setting in descriptor.settings.items()
    }
    for name, value in sorted(settings_by_name(descriptor).items()):
        if by_name[name].type == DESCRIPTOR:
            found[name] = [
                _plain(recording, each, uids)
                for each in (value if isinstance(value, tuple) else (value,))
            ]
        elif name == "tensor_unique_id":
            found[name] = uids.setdefault(value, len(uids))
        elif name not in DEFAULTS.get(kind, {}) or not _is_default(kind, name, value):
            found[name] = value
    return found


def _is_default(kind: str, name: str, value: Any) -> bool:
    default = DEFAULTS[kind][name]
    if name == "pointwise_relu_upper_clip":
        # cudnn-frontend clips at the largest float when it computes in float; no float is above it.
        return value >= struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]
    return bool(value == default)
