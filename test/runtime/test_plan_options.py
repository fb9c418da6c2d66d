"""The values of PlanOptions: names and indices are checked, and equal restrictions have equal text,
which is the key of stored plans."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime import ArgumentError
from convoy_runtime.cuda.cudnn.enums import BehaviorNote, NumericalNote
from convoy_runtime.cuda.plans.options import PlanOptions, restrictions

NUMERICAL, BEHAVIOR = (
    ", ".join(note.name for note in notes) for notes in (NumericalNote, BehaviorNote)
)


def test_text_does_not_depend_on_order_case_and_prefix() -> None:
    one = PlanOptions(
        exclude_numerical_notes=["fft", "CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4", "Fft"],
        require_behavior_notes=("requires_filter_int8x32_reorder",),
        wgrad_engines=[3, 1, 3],
    )
    assert repr(one) == (
        "PlanOptions(exclude_numerical_notes=('FFT', 'WINOGRAD_TILE_4x4'), "
        "require_behavior_notes=('REQUIRES_FILTER_INT8x32_REORDER',), wgrad_engines=(1, 3))"
    )
    assert restrictions(repr(one), repr(replace(one, wgrad_engines=None))) == "wgrad_engines=(1, 3)"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"require_numerical_notes": ("TENSOR_CORES",)},
            "require_numerical_notes: unknown note: expected a list of names among "
            f"{NUMERICAL}, got 'TENSOR_CORES'",
        ),
        (
            {"exclude_behavior_notes": ("FFT",)},
            "exclude_behavior_notes: unknown note: expected a list of names among "
            f"{BEHAVIOR}, got 'FFT'",
        ),
        (
            {"exclude_numerical_notes": (3,)},
            "exclude_numerical_notes: invalid names of notes: expected a list of names among "
            f"{NUMERICAL}, got 3",
        ),
        (
            {"require_numerical_notes": ("FFT",), "exclude_numerical_notes": ("fft", "WINOGRAD")},
            "exclude_numerical_notes: no engine can have and lack a note: expected none of the "
            "notes of require_numerical_notes, got FFT",
        ),
        (
            {"dgrad_engines": ("41",)},
            "dgrad_engines: invalid engine indices: expected integers, e.g. (41, 62), got ('41',)",
        ),
        (
            {"exclude_wgrad_engines": 41},
            "exclude_wgrad_engines: invalid engine indices: expected integers, e.g. (41, 62), got "
            "41",
        ),
        (
            {"max_workspace_bytes": "64M"},
            "max_workspace_bytes: invalid limit: expected bytes, or None for no limit, got '64M'",
        ),
    ],
)
def test_invalid_values(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        PlanOptions(**given)
    assert str(caught.value) == message


def test_one_name_is_a_list_of_one() -> None:
    """A text is never read letter by letter."""
    assert PlanOptions(exclude_numerical_notes="FFT").exclude_numerical_notes == ("FFT",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("direction", "operation"),
    [
        ("forward", "convolution"),
        ("dgrad", "convolution_dgrad"),
        ("wgrad", "convolution_wgrad"),
    ],
)
def test_lists_of_a_direction_apply_to_its_graphs_only(direction: str, operation: str) -> None:
    allowed = PlanOptions(**{f"{direction}_engines": (1,)})  # type: ignore[arg-type]
    excluded = PlanOptions(**{f"exclude_{direction}_engines": (1,)})  # type: ignore[arg-type]
    for each in ("convolution", "convolution_dgrad", "convolution_wgrad", "matmul"):
        graph = replace(conv_graph(), ops=(each, "relu"))
        own = each == operation
        found = [options.refuses(graph, 2, set(), set()) for options in (allowed, excluded)]
        reason = f"is not one of the allowed engines of {direction}_engines"
        assert found == [reason if own else None, None]
        found = [options.refuses(graph, 1, set(), set()) for options in (allowed, excluded)]
        reason = f"is an excluded engine of exclude_{direction}_engines"
        assert found == [None, reason if own else None]
        # A list of allowed engines also excludes the artifact's kernels.
        kernels = f"{direction}_engines allows only some engines" if own else None
        assert allowed.refuses_kernels(graph) == kernels


def test_required_notes_refuse_kernels() -> None:
    graph = conv_graph()
    for name in ("require_numerical_notes", "require_behavior_notes"):
        note = "TENSOR_CORE" if "numerical" in name else "RUNTIME_COMPILATION"
        options = PlanOptions(**{name: (note,)})  # type: ignore[arg-type]
        expected = "required notes allow only engines of cuDNN"
        assert options.refuses_kernels(graph) == expected


def test_every_field_is_documented() -> None:
    documented = PlanOptions.__doc__ or ""
    assert [
        each.name for each in fields(PlanOptions) if f"\n        {each.name}:" not in documented
    ] == []
