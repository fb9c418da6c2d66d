"""The graphs of cudnn-frontend's samples are imported, from the JSON before and after it builds the
operation graph. The compiler's verifiers accept them, the real cuDNN finalizes them, and it gets the
same descriptors from our builders as from cudnn-frontend. Graphs that need a later cuDNN are refused
by name, as cudnn-frontend or cuDNN refuses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from frontend_samples import SAMPLES
from recorded import canonical, read_calls

from convoy.graphs import GraphError, graph_json_text, graph_python, import_graph, read_graph
from convoy.graphs.frontend_import import read_serialized

#: Samples that need a later cuDNN than 9.19: the message of cudnn-frontend with that version, and
#: our problem.
_SLICE = ("Slice backend operation requires 9.22.0", "node 0: SLICE requires cuDNN 9.22; ")
_TRANSPOSE = ("Transpose requires cuDNN v9.22.0", "node 0: TRANSPOSE requires cuDNN 9.22; ")
_RESHAPE = (
    "Reshape mode LOGICAL requires cuDNN 9.22.0",
    "reshape.0 has the reshape mode LOGICAL, which requires cuDNN 9.22; ",
)
_OVERRIDE = (
    "Override shape support requires cudnn 9.21.0",
    "is_override_shape_enabled requires cuDNN 9.21; ",
)
_IR = "cudnn IR has the operations of cuDNN 9.19"
LATER = {
    "matmul_mxfp8_override_shape": _OVERRIDE,
    "matmul_override_shape": _OVERRIDE,
    "moe_grouped_matmul_backward": (
        "Moe grouped matmul bwd requires cuDNN v9.22.0",
        "node 0: MOE_GROUPED_MATMUL_BWD requires cuDNN 9.22; ",
    ),
    "reshape": _RESHAPE,
    "reshape_relu": _RESHAPE,
    "slice_matmul": _SLICE,
    "slice_with_step": _SLICE,
    "transpose": _TRANSPOSE,
    "transpose_add": _TRANSPOSE,
}
#: A function that changes the scores is in neither form of the JSON; only the first one tells.
_FUNCTION = "sdpa_forward_flexible"
IMPORTED = [name for name in SAMPLES if name not in LATER]
#: Samples whose operations are listed in another order: cudnn-frontend lists products and masks
#: before or after what they depend on.
_ORDER = {
    "matmul_mxfp8", "matmul_mxfp8_odd", "matmul_mxfp8_quantize", "matmul_mxfp8_swiglu",
    "matmul_nvfp4", "matmul_scaled_int4", "matmul_scaled_odd_tiles", "matmul_scaled_tiles",
    "sdpa_backward_causal",
}  # fmt: skip
#: Form and sample, or sample, whose descriptors differ: the attributes that do.
_DIMS = {"tensor_dimensions", "tensor_strides"}
DIFFERENT: dict[str | tuple[str, str], set[str]] = {
    # Set for the mode scatter only; cuDNN takes it for all modes.
    "moe_grouped_matmul_int4": {"operation_moe_grouped_matmul_top_k"},
    # cudnn-frontend 1.32 passes its own enumerator for the type.
    "scale_bias_relu_conv_genstats": {"operation_genstats_math_prec"},
    # A number has one dim there and at least three here.
    "sdpa_forward": _DIMS,
    "sdpa_forward_paged": _DIMS,
    # cudnn-frontend leaves the dims of a virtual maximum as those of the scores.
    "sdpa_forward_sink": _DIMS,
    # The JSON before the operation graph does not say so.
    ("validated", "sdpa_forward_custom_dropout"): {"tensor_is_by_value"},
    ("validated", "sdpa_forward_dynamic_shape"): {"operationgraph_is_dynamic_shape_enabled"},
}
FORMS = ("validated", "built")

_PROGRAM = """
from frontend_samples import build as sample

def build(**options):
    return sample({name!r}, **options)
"""


@pytest.fixture(scope="module")
def theirs(record_frontend: Callable[[Mapping[str, str]], Path]) -> Path:
    """The folder with cudnn-frontend's JSON, its calls to cuDNN, and its errors."""
    return record_frontend({name: _PROGRAM.format(name=name) for name in SAMPLES})


@pytest.fixture(scope="module")
def forms(theirs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """Form and sample to the JSON, named after the sample."""
    found: dict[str, dict[str, Path]] = {form: {} for form in FORMS}
    for form, end in zip(FORMS, (".validated.json", ".json"), strict=True):
        folder = tmp_path_factory.mktemp(form)
        for name in SAMPLES:
            if (written := theirs / f"{name}{end}").exists():
                found[form][name] = folder / f"{name}.json"
                found[form][name].write_bytes(written.read_bytes())
    return found


@pytest.fixture(scope="module", params=FORMS)
def ours(
    request: pytest.FixtureRequest, forms: dict[str, dict[str, Path]],
    run_recorder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Path]:  # fmt: skip
    """The form, and the folder with the calls to cuDNN of our builders of the imported graphs."""
    from convoy import _convoy

    form: str = request.param
    texts = {
        name: import_graph(forms[form][name])[0]
        for name in IMPORTED
        if (form, name) != ("validated", _FUNCTION)
    }
    native, _ = _convoy.compile_graphs("".join(texts.values()), f"{form}.mlir")
    library = tmp_path_factory.mktemp(f"{form}_builders") / "native.so"
    library.write_bytes(native)
    return form, run_recorder("ours", library, "\n".join(texts))


def _unnumbered(operation: object) -> str:
    """An operation without the numbers of its tensors, as text."""
    return json.dumps(_without_uids(operation), sort_keys=True)


def _without_uids(tree: object) -> object:
    if isinstance(tree, dict):
        return {
            key: _without_uids(value) for key, value in tree.items() if key != "tensor_unique_id"
        }
    return [_without_uids(each) for each in tree] if isinstance(tree, list) else tree


def _leaves(tree: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The values in a tree, each with its path; the last part of a path is an attribute."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves(value, f"{path}/{key}")
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from _leaves(value, f"{path}/{place}")
    else:
        yield path, tree


def test_number_of_samples() -> None:
    assert len(SAMPLES) >= 80
    assert set(LATER) <= set(SAMPLES)


@pytest.mark.parametrize("name", IMPORTED)
def test_cudnn_takes_the_imported_graph(name: str, ours: tuple[str, Path], theirs: Path) -> None:
    form, folder = ours
    if (form, name) == ("validated", _FUNCTION):
        pytest.skip("refused in test_function_on_scores_is_refused")
    for each in (theirs, folder):
        error = each / f"{name}.error"
        assert not error.exists(), error.read_text()
    mine, others = (canonical(read_calls(each / f"{name}.calls")) for each in (folder, theirs))
    if (form, name) == ("built", _FUNCTION):
        # The operations of the function are missing.
        assert len(mine) < len(others)
        return
    if name in _ORDER:
        assert mine != others
        mine, others = (sorted(map(_unnumbered, each)) for each in (mine, others))
    differ = {*_leaves(mine)} ^ {*_leaves(others)}
    allowed = DIFFERENT.get(name, set()) | DIFFERENT.get((form, name), set())
    assert {path.rpartition("/")[2] for path, _ in differ} == allowed


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LATER)
def test_later_operation_is_refused_with_its_version(
    name: str, form: str, forms: dict[str, dict[str, Path]], theirs: Path
) -> None:
    said, problem = LATER[name]
    assert said in (theirs / f"{name}.error").read_text()
    if form == "built":
        # cudnn-frontend does not build it, so there is no such JSON.
        assert name not in forms[form]
        return
    with pytest.raises(GraphError) as caught:
        import_graph(forms[form][name])
    assert caught.value.problems == (problem + _IR,)


def test_function_on_scores_is_refused(forms: dict[str, dict[str, Path]]) -> None:
    with pytest.raises(GraphError) as caught:
        import_graph(forms["validated"][_FUNCTION])
    assert caught.value.problems == (
        "node sdpa.0 (SDPA): score_mod is a Python function, which the JSON does not have",
    )


def test_sm_count_belongs_to_the_plan(forms: dict[str, dict[str, Path]]) -> None:
    assert import_graph(forms["built"]["batchnorm_sm_carveout"])[1] == ["sm_count"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"alibi_mask": True},
            "expected alibi_mask = False, got True, whose operations are unknown here",
        ),
        ({"left_bound": "8"}, "expected left_bound to be an integer, got '8'"),
        (
            {"padding_mask": True},
            "expected tensors at SEQ_LEN_Q and SEQ_LEN_KV, for padding_mask",
        ),
        ({"dropout_probability": "3DCCCCCD"}, "expected tensors at Seed and Offset, for dropout"),
        (
            {"dropout_probability": 0.1},
            "dropout_probability: expected a float as eight hexadecimal digits, got 0.1",
        ),
        ({"rotary": 1}, "the field 'rotary' is unknown"),
        (
            {"inputs": {"Q": 1, "K": 2, "V": 3, "Page_table_K": 6}},
            "inputs: the operations of port 'Page_table_K' are unknown here",
        ),
        ({"inputs": {"Q": 1, "K": 2}}, "expected a tensor at V"),
        (
            {"inputs": {"Q": [1], "K": 2, "V": 3}},
            "inputs: expected the uid of a tensor at Q, got [1]",
        ),
        (
            {"inputs": {"Q": 1, "K": 2, "V": 30}},
            "inputs: expected the uid of a tensor at V, got 30",
        ),
        (
            {"inputs": {"Q": 1, "K": 2, "V": 6}},
            "expected a tensor of rank 4 at V, got dims [1]",
        ),
    ],
)
def test_unknown_parts_of_attention_are_refused(
    change: dict[str, Any], problem: str, forms: dict[str, dict[str, Path]]
) -> None:
    document = json.loads(forms["built"]["sdpa_forward_causal"].read_text())
    document["tensors"][-1].update({"dim": [1], "stride": [1]})
    document["nodes"][0].update(change)
    with pytest.raises(GraphError) as caught:
        read_serialized(json.dumps(document).encode(), "attention")
    assert f"node 0 (SDPA): {problem}" in caught.value.problems


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"type": "GDN"}, "the arguments of its method are unknown here: call"),
        ({"inputs": {"q": "q", "cos": "k"}}, "the tensor 'cos' is unknown"),
        ({"params": {"window": 3}}, "the argument 'window' is unknown"),
        ({"params": {"attn_scale": "x"}}, "expected attn_scale to be a number, got 'x'"),
        ({"inputs": [1]}, "expected objects as inputs, outputs and params"),
        ({"outputs": {"O": ["o"]}}, "expected objects as inputs, outputs and params"),
    ],
)
def test_unknown_arguments_of_attention_are_refused(
    change: dict[str, Any], problem: str, forms: dict[str, dict[str, Path]]
) -> None:
    document = json.loads(forms["validated"]["sdpa_forward_causal"].read_text())
    document["nodes"][0].update(change)
    with pytest.raises(GraphError) as caught:
        read_serialized(json.dumps(document).encode(), "attention")
    assert problem in caught.value.problems[0]


def test_key_is_transposed_once(forms: dict[str, dict[str, Path]]) -> None:
    """cudnn-frontend transposes the key when it builds the operation graph; the JSON before has the
    dims of the caller."""
    texts = [import_graph(forms[form]["sdpa_forward_causal"])[0] for form in FORMS]
    assert all("!cudnn.tensor_desc<3x4x128x1024xbf16, stride = [524288, 131072, 1, 128]>" in text
               for text in texts)  # fmt: skip


def test_dynamic_shape_is_printed_for_cudnn_frontend(
    forms: dict[str, dict[str, Path]], tmp_path: Path
) -> None:
    path = tmp_path / "matmul.mlir"
    path.write_text(import_graph(forms["built"]["matmul_dynamic_shape"])[0])
    graph = read_graph(path, None)
    assert json.loads(graph_json_text(graph))["context"]["is_dynamic_shape_enabled"] is True
    assert "    is_dynamic_shape_enabled=True,\n" in graph_python(graph)
