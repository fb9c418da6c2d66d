"""Poolings, for which cudnn-frontend's Python has no method. Its JSON has them, but version 1.32
reads windows, strides and paddings from it as fractions over 0, which cuDNN refuses. The calls up
to the refusal are compared, without the denominators, and the JSON is tested in both directions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mlir_bodies import bodies
from recorded import canonical, canonical_operation, read_refused

from convoy.graphs import (
    GraphError,
    graph_dot,
    graph_json_text,
    graph_python,
    import_graph,
    read_graph,
)
from convoy.graphs.source import record_graph


@dataclass(frozen=True)
class Pooling:
    """A resample of 8x64x56x56, as IR and as JSON."""

    mode: str
    padding_mode: str
    window: tuple[int, int]
    stride: tuple[int, int]
    pre: tuple[int, int]
    post: tuple[int, int]
    size: tuple[int, int]

    @property
    def mlir(self) -> str:
        x, y = (
            "!cudnn.tensor_desc<8x64x56x56xf16, NHWC>",
            f"!cudnn.tensor_desc<8x64x{self.size[0]}x{self.size[1]}xf16, NHWC>",
        )
        attributes = (
            f"window = {list(self.window)} stride = {list(self.stride)} pre_padding = "
            f"{list(self.pre)} post_padding = {list(self.post)}"
        )
        body = (
            f"%y = cudnn.resample {self.mode}(%x) type = f32 {attributes} padding_mode = "
            f"{self.padding_mode} : {x} -> {y}"
        )
        return f"cudnn.graph @pool(%x: {x}) -> {y} {{\n  {body}\n  cudnn.return %y : {y}\n}}\n"

    @property
    def document(self) -> dict[str, Any]:
        height, width = self.size
        sizes = {
            "window": self.window,
            "stride": self.stride,
            "pre_padding": self.pre,
            "post_padding": self.post,
        }
        node = {key: list(value) for key, value in sizes.items()}
        modes = {
            "resample_mode": self.mode.upper(),
            "padding_mode": self.padding_mode.upper(),
            "generate_index": False,
        }
        shapes = [
            ([8, 64, 56, 56], [200704, 1, 3584, 64]),
            ([8, 64, height, width], [64 * height * width, 1, 64 * width, 64]),
        ]
        common = {
            "data_type": "HALF",
            "is_virtual": False,
            "is_pass_by_value": False,
            "pass_by_value": None,
            "reordering_type": "NONE",
        }
        return {
            "context": {
                "compute_data_type": "FLOAT", "intermediate_data_type": "FLOAT",
                "io_data_type": "HALF", "name": "pool",
                "is_dynamic_shape_enabled": False, "is_override_shape_enabled": False,
                "sm_count": -1,
            },
            "gid": 0,
            "json_version": "2.0",
            "nodes": [{"tag": "RESAMPLE", "name": "resample.0", "inputs": {"X": 1},
            "outputs": {"Y": 2}, **node, **modes}],
            "tensors": [
                common | {"uid": uid, "name": f"t{uid}", "dim": dims, "stride": strides} for uid,
                (dims, strides) in enumerate(shapes, 1)
            ],
        }  # fmt: skip


POOLINGS = {
    "max": Pooling("maxpool", "neg_inf_pad", (3, 3), (2, 2), (1, 1), (1, 1), (28, 28)),
    "max_asymmetric": Pooling("maxpool", "neg_inf_pad", (2, 3), (2, 1), (0, 1), (0, 1), (28, 56)),
    "average_with_padding": Pooling(
        "avgpool_include_padding", "zero_pad", (3, 3), (2, 2), (1, 1), (1, 1), (28, 28)
    ),
    "average_without_padding": Pooling(
        "avgpool_exclude_padding", "zero_pad", (3, 3), (2, 2), (1, 1), (1, 1), (28, 28)
    ),
    "global_average": Pooling(
        "avgpool_exclude_padding", "zero_pad", (56, 56), (1, 1), (0, 0), (0, 0), (1, 1)
    ),
}


@pytest.fixture(scope="module")
def calls_folder(record_frontend: Callable[[Mapping[str, str]], Path]) -> Path:
    load = (
        "import cudnn\ndef build(**options):\n    g = cudnn.pygraph(**options)\n    "
        "g.deserialize({!r})\n    return g\n"
    )
    return record_frontend(
        {name: load.format(json.dumps(pooling.document)) for name, pooling in POOLINGS.items()}
    )


def _source(name: str, folder: Path) -> Path:
    path = folder / "pool.mlir"
    path.write_text(POOLINGS[name].mlir)
    return path


def _whole(value: Any) -> Any:
    """Converts fractions over 0 to whole numbers."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_whole(each) for each in value)
    return (
        int(value.removesuffix("/0")) if isinstance(value, str) and value.endswith("/0") else value
    )


@pytest.mark.parametrize("name", POOLINGS)
def test_same_descriptors_except_denominators(
    name: str, calls_folder: Path, tmp_path: Path
) -> None:
    theirs = canonical_operation(read_refused(calls_folder / f"{name}.calls"))
    assert (
        f"{POOLINGS[name].window[0]}/0"
        in theirs["operation_resample_fwd_desc"][0]["resample_window_dims"]
    )
    (ours,) = canonical(record_graph(_source(name, tmp_path), None))
    assert ours == _whole(theirs)


@pytest.mark.parametrize("name", POOLINGS)
def test_json_round_trip(name: str, tmp_path: Path) -> None:
    source = _source(name, tmp_path)
    assert json.loads(graph_json_text(read_graph(source, None))) == POOLINGS[name].document
    document, again = tmp_path / "pool.json", tmp_path / "again.mlir"
    document.write_text(json.dumps(POOLINGS[name].document))
    again.write_text(import_graph(document)[0])

    assert bodies(again.read_text()) == bodies(source.read_text())


def test_pooling_gradient_is_refused(tmp_path: Path) -> None:
    """cudnn-frontend has no operation for it."""
    path = tmp_path / "gradient.mlir"
    x, y = "!cudnn.tensor_desc<8x64x56x56xf16, NHWC>", "!cudnn.tensor_desc<8x64x28x28xf16, NHWC>"
    window = (
        "type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, "
        "0] padding_mode = zero_pad"
    )
    body = (
        f"%dx = cudnn.resample_backward avgpool_include_padding {window} dy(%dy : {y}) -> dx({x})"
    )
    path.write_text(
        f"cudnn.graph @gradient(%dy: {y}) -> {x} {{\n  {body}\n  cudnn.return %dx : {x}\n}}\n"
    )
    graph = read_graph(path, None)
    for form in (graph_json_text, graph_python):
        with pytest.raises(GraphError) as caught:
            form(graph)
        assert caught.value.problems == (
            "operation 0 (RESAMPLE_BWD): cudnn-frontend 1.32 has no operation for it",
        )
    assert "RESAMPLE_BWD AVGPOOL_INCLUDE_PADDING" in graph_dot(graph)
