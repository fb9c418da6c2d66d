"""The comparison of recordings detects every difference that matters, and the assumed defaults are
those of cuDNN."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from recorded import DEFAULTS, canonical, read_calls, read_log

from convoy.graphs.decode import backend_names
from convoy.graphs.model import GraphError
from convoy_runtime.attribute_types import DESCRIPTOR
from convoy_runtime.cuda.cudnn.enums import Attribute, Descriptor, Type
from convoy_runtime.recorder import Recording, Setting

_UID = Attribute.TENSOR_UNIQUE_ID


def _changed(recording: Recording, place: int, attribute: int, setting: Setting) -> Recording:
    descriptors = list(recording.descriptors)
    descriptors[place] = replace(
        descriptors[place], settings=descriptors[place].settings | {attribute: setting}
    )
    return replace(recording, descriptors=tuple(descriptors))


def test_every_difference_is_detected(our_recordings: Path) -> None:
    recording = read_calls(our_recordings / "conv_bias_residual_relu.calls")
    expected, count = canonical(recording), 0
    for place, descriptor in enumerate(recording.descriptors):
        for attribute, setting in descriptor.settings.items():
            if setting.type == DESCRIPTOR or attribute == _UID:
                continue
            data = bytes([bytes(setting.data)[0] ^ 1, *bytes(setting.data)[1:]])
            changed = _changed(recording, place, attribute, replace(setting, data=data))
            # An unknown enumerator is an error.
            with suppress(GraphError):
                assert canonical(changed) != expected, (place, attribute)
            count += 1
    assert count > 50


def test_distinct_uids_may_have_any_value(our_recordings: Path) -> None:
    recording = read_calls(our_recordings / "conv_f16.calls")
    places = [place for place, each in enumerate(recording.descriptors) if _UID in each.settings]
    other = _changed(recording, places[0], _UID, Setting(Type.INT64, 1, struct.pack("<q", 77)))
    assert canonical(other) == canonical(recording)
    same = recording.descriptors[places[1]].settings[_UID]
    assert canonical(_changed(recording, places[0], _UID, same)) != canonical(recording)


def test_swapped_operands_are_detected(our_recordings: Path) -> None:
    recording = read_calls(our_recordings / "sub.calls")
    (operation,) = [
        place
        for place, each in enumerate(recording.descriptors)
        if each.kind == Descriptor.OPERATION_POINTWISE
    ]
    first, second = Attribute.OPERATION_POINTWISE_XDESC, Attribute.OPERATION_POINTWISE_BDESC
    x, b = (recording.descriptors[operation].settings[each] for each in (first, second))
    assert canonical(
        _changed(_changed(recording, operation, first, b), operation, second, x)
    ) != canonical(recording)


#: A graph in which the attribute is not set, and the path to its value in cuDNN's log.
_UNSAID = {
    "pointwise_relu_upper_clip": ("relu_fwd", "upperClip"),
    "pointwise_relu_lower_clip_slope": ("relu_fwd", "lowerClipSlope"),
    "pointwise_elu_alpha": ("elu_fwd", "alpha"),
    "pointwise_softplus_beta": ("softplus_fwd", "beta"),
    "pointwise_swish_beta": ("swish_fwd", "beta"),
    "operation_pointwise_alpha1": ("add", "alpha1"),
    "operation_pointwise_alpha2": ("add", "alpha2"),
    "reduction_is_deterministic": ("reduce_add", "isDeterministic"),
    "tensor_is_by_value": ("add", "isByValue"),
    "tensor_vector_count": ("add", "vectCount"),
    "tensor_vectorized_dimension": ("add", "vectDim"),
    "tensor_reordering_mode": ("add", "reordering"),
}


@pytest.mark.parametrize("attribute", _UNSAID)
def test_default_is_that_of_cudnn(our_recordings: Path, attribute: str) -> None:
    name, key = _UNSAID[attribute]
    numbers = {name: number for number, name in backend_names()["attribute"].items()}
    recording = read_calls(our_recordings / f"{name}.calls")
    assert all(numbers[attribute] not in each.settings for each in recording.descriptors)
    (node,) = read_log(our_recordings)[name]
    (default,) = [defaults[attribute] for defaults in DEFAULTS.values() if attribute in defaults]
    value = node["X"][key] if attribute.startswith("tensor") else node[key]
    assert value == (f"CUDNN_TENSOR_REORDERING_{default}" if default == "NONE" else default)
