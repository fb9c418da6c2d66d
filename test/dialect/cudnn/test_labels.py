"""Each constraint has one label in the op's description, in the verifier and in the name of a test
that violates it. Each op documents what it maps to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DIALECT = ROOT / "dialect/cudnn"
DEFINITIONS = "\n".join(path.read_text() for path in sorted(DIALECT.glob("*.td")))
CODE = "\n".join(path.read_text() for path in sorted(DIALECT.glob("*.cpp")))
TESTS = "\n".join(path.read_text() for path in sorted(Path(__file__).parent.glob("invalid-*.mlir")))
#: The text of each op definition, by mnemonic.
DEFINED = {
    name: body
    for name, body in re.findall(
        r'^def Cudnn_\w+ : Cudnn_ComputeOp<"(\w+)"(.*?)(?=^def |\Z)',
        DEFINITIONS,
        re.MULTILINE | re.DOTALL,
    )
} | {"tensor_desc": re.findall(r'Cudnn_Type<"TensorDesc"(.*)', DEFINITIONS, re.DOTALL)[0]}
LABELS = [
    f"{name}_{label}"
    for name, body in DEFINED.items()
    for label in re.findall(r"^ *\* \((c\d+)\) ", body, re.MULTILINE)
]


def test_labels_are_found() -> None:
    assert len(DEFINED) > 20
    assert len(LABELS) > 100


@pytest.mark.parametrize("label", LABELS)
def test_label_is_in_verifier_and_test(label: str) -> None:
    assert re.search(rf"// .*\b{label}\b", CODE) or re.search(rf"/// .*\b{label}\b", CODE), (
        f"no check has the label {label}"
    )
    assert re.search(rf"\b{label}(_\w+)?\b", TESTS), f"no test is named {label}"


@pytest.mark.parametrize("label", sorted(set(re.findall(r"\b([a-z_]+_c\d+)\b", CODE))))
def test_label_is_in_description(label: str) -> None:
    if label.rsplit("_c", 1)[0] in DEFINED:
        assert label in LABELS


@pytest.mark.parametrize("name", sorted(DEFINED.keys() - {"pointwise_relu"}))
def test_op_documents_its_mapping(name: str) -> None:
    """`pointwise_relu` is another spelling that is canonicalized to `pointwise`."""
    mapped = re.search(
        r"^ *Maps to (.*)}\];$",
        DEFINED[name].split("let arguments")[0].split("let parameters")[0],
        re.MULTILINE | re.DOTALL,
    )
    assert mapped
    assert re.search(r"`CUDNN_BACKEND_\w+_DESCRIPTOR`", mapped[1])
    assert "`CUDNN_ATTR_" in mapped[1]
