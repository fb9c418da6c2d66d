"""The real cuDNN has an engine for every step of alternatives. Needs no GPU."""

from __future__ import annotations

import re
import zlib
from itertools import product
from pathlib import Path

import pytest
from operation_graphs import Graph

from tools.convoy_opt import convoy_opt
from tools.support_table.conditions import is_accepted
from tools.support_table.library import prepare, query_offline, refusals
from tools.support_table.matrix import Case, group_cases

#: The alternatives of one of this many groups are queried.
EVERY = 20
GRAPH = re.compile(r"^  cudnn\.graph @(\w+)\(.*?^  }$", re.DOTALL | re.MULTILINE)


def _sample() -> list[Case]:
    """Returns a fixed sample of the groups that the table accepts."""
    chosen = [case for case in group_cases() if zlib.crc32(case.key.encode()) % EVERY == 0]
    refused = refusals(chosen)
    return [case for case in chosen if case.key not in refused]


def _steps(cases: list[Case], options: str = "") -> list[Graph]:
    """Returns the graphs that `cudnn-add-alternatives` creates for `cases`."""
    text = "\n".join(case.text for case in cases)
    called = {case.key for case in cases}
    text = convoy_opt(
        text, "--cudnn-order-operations", f"--cudnn-add-alternatives={options}"
    ).stdout
    return [Graph(match[1], match[0]) for match in GRAPH.finditer(text) if match[1] not in called]


def test_cudnn_has_an_engine_for_every_step(tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not installed")
    steps = _steps(_sample())
    assert len(steps) > 100
    # Steps with and without an anchor.
    kinds = {
        name: sum(name in step.text for step in steps)
        for name in ("cudnn.pointwise", "cudnn.convolution", "cudnn.matmul")
    }
    assert min(kinds.values()) > 10, kinds
    prepare(steps, tmp_path)
    answers = query_offline(tmp_path, tmp_path / "answers.json")["graphs"]
    without = {
        step.key: answers[step.key]["rejected"]
        for step in steps
        if not is_accepted(answers[step.key])
    }
    assert not without


STEM = """
cudnn.graph @stem_{filters}_{taps}_{channels}(%x: !cudnn.tensor_desc<{image}xf32>, %w: !cudnn.tensor_desc<{filter}xf32, NHWC>,
    %b: !cudnn.tensor_desc<1x{filters}x1x1xf32, NHWC>) -> !cudnn.tensor_desc<{pooled}xf32, NHWC>
    attributes {{cudnn.preference = "only_kernel"}} {{
  %0 = cudnn.pointwise identity(%x) type = f32 : !cudnn.tensor_desc<{image}xf32> -> !cudnn.tensor_desc<{image}xf32, NHWC>
  %1 = cudnn.convolution(%0, %w) type = f32 spatial_stride = [2, 2] pre_padding = [{pad}, {pad}] post_padding = [{pad}, {pad}]
    dilation = [1, 1] : !cudnn.tensor_desc<{image}xf32, NHWC>, !cudnn.tensor_desc<{filter}xf32, NHWC>
    -> !cudnn.tensor_desc<{result}xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !cudnn.tensor_desc<{result}xf32, NHWC>, !cudnn.tensor_desc<1x{filters}x1x1xf32, NHWC>
    -> !cudnn.tensor_desc<{result}xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0{clip} : !cudnn.tensor_desc<{result}xf32, NHWC>
    -> !cudnn.tensor_desc<{result}xf32, NHWC>
  %4 = cudnn.resample maxpool(%3) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
    padding_mode = neg_inf_pad : !cudnn.tensor_desc<{result}xf32, NHWC> -> !cudnn.tensor_desc<{pooled}xf32, NHWC>
  cudnn.return %4 : !cudnn.tensor_desc<{pooled}xf32, NHWC>
}}
"""


def _stem(filters: int, taps: int, channels: int) -> str:
    image, result = f"8x{channels}x64x96", f"8x{filters}x32x48"
    clip = " upper_clip = 6.0" if taps == 5 else ""
    shapes = {
        "image": image,
        "filter": f"{filters}x{channels}x{taps}x{taps}",
        "result": result,
        "pooled": f"8x{filters}x16x24",
    }
    return STEM.format(
        **shapes, filters=filters, taps=taps, channels=channels, pad=taps // 2, clip=clip
    )


def test_cudnn_has_an_engine_without_tf32_for_the_steps_of_a_stem(tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not installed")
    stems = [_stem(*shape) for shape in product((32, 64), (1, 3, 5, 7), (1, 3, 4))]
    text = convoy_opt("\n".join(stems), "--cudnn-add-alternatives").stdout
    steps = [
        Graph(match[1], match[0])
        for match in GRAPH.finditer(text)
        if not match[1].startswith("stem")
    ]
    # One convolution per stem, and two poolings.
    assert len(steps) == len(stems) + 2
    prepare(steps, tmp_path)
    answers = query_offline(tmp_path, tmp_path / "answers.json")["graphs"]
    assert [step.key for step in steps if not answers[step.key]["strict"]] == []


def test_cudnn_has_an_engine_without_tf32_for_every_step_that_may_not_use_it(
    tmp_path: Path,
) -> None:
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not installed")
    cases = [case for case in group_cases() if case.dtype == "f32"]
    refused = refusals(cases, allow_tf32=False)
    steps = _steps([case for case in cases if case.key not in refused], "allow-tf32=false")
    # Steps with the other order of sums, and with biases of zeros.
    assert len(steps) > 50
    prepare(steps, tmp_path)
    answers = query_offline(tmp_path, tmp_path / "answers.json")["graphs"]
    assert [step.key for step in steps if not answers[step.key]["strict"]] == []
