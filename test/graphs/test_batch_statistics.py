"""The statistics of a batch over several graphs. cudnn-frontend's C++ writes these operations to
JSON but does not read them, and its Python has no method for them. So the JSON is compared with the
names in its headers, and read by our own importer."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from mlir_bodies import bodies
from operation_graphs import GRAPHS

from convoy.graphs import GraphError, graph_json_text, graph_python, import_graph, read_graph
from convoy.graphs.kinds import BY_TAG

TAGS = {
    "bn_finalize_training": ("BN_FINALIZE", "BN_finalize"),
    "bn_bwd_weights": ("DBN_WEIGHT", "DBN_weight"),
}


@pytest.fixture(scope="module")
def headers() -> dict[str, str]:
    """cudnn-frontend's headers, by name."""
    try:
        files = distribution("nvidia-cudnn-frontend").files or ()
    except PackageNotFoundError:
        pytest.skip("the nvidia-cudnn-frontend wheel is not installed")
    wanted = {"serialize.h", "bn_finalize.h", "dbn_weight.h", "graph_interface.h"}
    return {
        each.name: Path(str(each.locate())).read_text() for each in files if each.name in wanted
    }


def _source(name: str, folder: Path) -> Path:
    path = folder / "graph.mlir"
    path.write_text(GRAPHS[name])
    return path


@pytest.mark.parametrize("name", TAGS)
def test_json_round_trip(name: str, tmp_path: Path) -> None:
    source, path = _source(name, tmp_path), tmp_path / "graph.json"
    document = json.loads(graph_json_text(read_graph(source, None)))
    (node,) = document["nodes"]
    tag = TAGS[name][0]
    kind = BY_TAG[tag]
    assert {key: value for key, value in node.items() if key not in ("inputs", "outputs")} == {
        "tag": tag, "name": f"{tag.lower()}.0", "compute_data_type": "FLOAT",
    }  # fmt: skip
    assert list(node["inputs"]) == list(kind.inputs.values())
    assert list(node["outputs"]) == list(kind.outputs.values())
    path.write_text(json.dumps(document))
    assert bodies(import_graph(path)[0]) == bodies(source.read_text())


@pytest.mark.parametrize("name", TAGS)
def test_port_names_are_in_the_headers(name: str, headers: dict[str, str]) -> None:
    tag, prefix = TAGS[name]
    found = {
        side: re.findall(
            rf"{{{prefix}_attributes::{side}_names::\w+, \"(\w+)\"}}", headers["serialize.h"]
        )
        for side in ("input", "output")
    }
    assert set(found["input"]) == set(BY_TAG[tag].inputs.values())
    assert set(found["output"]) == set(BY_TAG[tag].outputs.values())
    node = headers[{"BN_FINALIZE": "bn_finalize.h", "DBN_WEIGHT": "dbn_weight.h"}[tag]]
    assert "compute_type = CUDNN_DATA_FLOAT" in node
    # The flaw: no reader handles the tag.
    assert f'"tag": "{tag}"' in node
    assert 'tag == "MATMUL"' in headers["graph_interface.h"]
    assert f'tag == "{tag}"' not in headers["graph_interface.h"]


@pytest.mark.parametrize("name", TAGS)
def test_python_form_is_refused(name: str, tmp_path: Path) -> None:
    tag = TAGS[name][0]
    with pytest.raises(GraphError) as caught:
        graph_python(read_graph(_source(name, tmp_path), None))
    assert caught.value.problems == (
        f"{tag} has no method",
        f"cudnn-frontend 1.32 drops a {tag} when it reads JSON",
    )


def test_inexpressible_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphError) as caught:
        graph_json_text(read_graph(_source("bn_finalize_no_running", tmp_path), None))
    assert caught.value.problems == (
        "operation 0 (BN_FINALIZE): no tensor at PREV_RUNNING_MEAN, which it requires",
        "operation 0 (BN_FINALIZE): no tensor at PREV_RUNNING_VAR, which it requires",
    )
    with pytest.raises(GraphError) as caught:
        graph_json_text(read_graph(_source("bn_finalize_inference", tmp_path), None))
    assert caught.value.problems == (
        (
            "operation 0 (BN_FINALIZE_INFERENCE): bn_finalize of cudnn-frontend 1.32 always has "
            "the mode training"
        ),
    )
    path = tmp_path / "half.mlir"
    path.write_text(GRAPHS["bn_bwd_weights"].replace("type = f32", "type = f16"))
    with pytest.raises(GraphError) as caught:
        graph_json_text(read_graph(path, None))
    assert caught.value.problems == (
        "operation 0 (DBN_WEIGHT): compute type HALF; it always sets FLOAT",
    )


def test_compute_type_is_checked(tmp_path: Path) -> None:
    document = json.loads(graph_json_text(read_graph(_source("bn_bwd_weights", tmp_path), None)))
    document["nodes"][0]["compute_data_type"] = "HALF"
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(document))
    with pytest.raises(GraphError) as caught:
        import_graph(path)
    assert caught.value.problems == (
        "node 0 (DBN_WEIGHT): expected the compute type FLOAT, got HALF",
    )
