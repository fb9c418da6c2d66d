"""The normalize phase on models: results change only by rounding, transposes remain only at the
ends, prepared weights are floats."""

from __future__ import annotations

import functools
import re

import pytest
import torch
from normalize_models import MODELS, build
from tcp_reference import run_text
from torch import Tensor

from convoy.frontend import ImportedModule, import_module
from tools.convoy_opt import convoy_opt

_TORCH = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
}


def normalize(text: str, **options: str) -> str:
    pipeline = " ".join(["to=normalize", *(f"{key}={value}" for key, value in options.items())])
    done = convoy_opt(text, f"--convoy-pipeline={pipeline}", "--mlir-print-op-generic")
    # The reference interpreter reads only tcp text, where properties are attributes.
    return re.sub(r'("tcp\.\w+"\([^)]*\)) <(\{.*?\})>', r"\1 \2", done.stdout)


@functools.cache
def _imported(name: str) -> tuple[ImportedModule, Tensor, list[Tensor]]:
    """The imported model, an input, and the reference's result."""
    module, x = build(name)
    imported = import_module(module, (x,))
    return imported, x, run_text(imported.text, [x], imported.weights)


def _function(text: str, name: str) -> str:
    return next(part for part in text.split('"func.func"') if f'sym_name = "{name}"' in part)


def _main_ops(text: str, name: str) -> int:
    return _function(text, "main").count(f'"tcp.{name}"')


def prepared_weights(text: str, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The results of @prepare_weights by name, in order."""
    names = re.findall(r'tcp\.prepared = "([^"]*)"', _function(text, "prepare_weights"))
    if not names:
        return {}
    signature = re.search(r"-> (.*?), res_attrs", _function(text, "prepare_weights"))
    assert signature is not None
    dtypes = [_TORCH[element] for element in re.findall(r"x([a-z]+\d+)>", signature.group(1))]
    prepared = run_text(text, [], weights, "prepare_weights")
    assert len(names) == len(set(names)) == len(prepared) == len(dtypes)
    return {
        name: value.to(dtype) for name, value, dtype in zip(names, prepared, dtypes, strict=True)
    }


def run_both(text: str, inputs: list[Tensor], weights: dict[str, Tensor]) -> list[Tensor]:
    """The results of @main with the weights from @prepare_weights."""
    return run_text(text, inputs, prepared_weights(text, weights))


def _wide(text: str) -> str:
    return text.replace("xf32>", "xf64>")


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("name", MODELS)
def test_results_are_unchanged(name: str, target: str) -> None:
    imported, x, expected = _imported(name)
    text = normalize(imported.text, target=target)
    # In float64 throughout, so that only the order of operations can differ.
    weights = {
        key: value.double() if value.is_floating_point() else value
        for key, value in imported.weights.items()
    }
    got = run_both(_wide(text), [x.double()], weights)
    for mine, theirs in zip(got, expected, strict=True):
        # Scalars of the model (a batch norm's epsilon) are rounded to f32 in its text.
        torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=1e-6 * float(theirs.abs().max()))


@pytest.mark.parametrize("name", MODELS)
def test_transposes_remain_only_at_the_ends(name: str) -> None:
    text = normalize(_imported(name)[0].text)
    assert _main_ops(text, "transpose") == MODELS[name][2]


@pytest.mark.parametrize(
    "name", ["resnet18", "resnet50", "mobilenet", "resnext", "vgg", "unet", "conv3d"]
)
def test_batch_norms_are_folded(name: str) -> None:
    """The only op after a convolution is one bias."""
    text = normalize(_imported(name)[0].text)
    main = _function(text, "main")
    results = re.findall(r'(%\d+) = "tcp\.conv\dd"', main)
    assert results
    for result in results:
        (user,) = re.findall(rf'"tcp\.(\w+)"\([^)]*{result}[,)]', main)
        assert user == "add"
    assert not re.search(r'"tcp\.mul"\([^)]*%arg', main)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_dtype(name: str, dtype: str) -> None:
    imported, x, expected = _imported(name)
    text = normalize(imported.text, target="cuda", dtype=dtype)
    # Only weights, inputs and results are rounded here: the reference computes in float64.
    got = run_both(text, [x], imported.weights)
    tolerance = {"f16": 5e-3, "bf16": 4e-2}[dtype]
    for mine, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=tolerance * float(theirs.abs().max()))
    main = _function(text, "main")
    for op in ("conv1d", "conv2d", "conv3d", "matmul", "max_pool"):
        assert not re.search(rf'"tcp\.{op}".*xf32>', main)


def test_products_over_tokens_have_no_transposes() -> None:
    imported, _, _ = _imported("mixer")
    text = normalize(imported.text, target="cuda")
    assert (_main_ops(text, "matmul"), _main_ops(text, "transpose")) == (3, 0)


def test_projections_of_attention_are_one_product() -> None:
    """For a GPU, and in 16 bits, whose attention cuDNN supports: two products a layer."""
    module, x = build("projections")
    text = import_module(module.half(), (x.half(),)).text
    assert _main_ops(normalize(text, target="cuda"), "matmul") == 4
    assert _main_ops(normalize(text, target="cpu"), "matmul") == 8 + 4


def test_fold_in_half_precision_models() -> None:
    """A model in f16 has its batch norms folded in f32."""
    module, x = build("resnext")
    imported = import_module(module.half(), (x.half(),))
    expected = run_text(imported.text, [x.half()], imported.weights)
    text = normalize(imported.text)
    got = run_both(text, [x.half()], imported.weights)
    torch.testing.assert_close(got, expected, rtol=0, atol=5e-3 * float(expected[0].abs().max()))
    assert _main_ops(text, "mul") == 0
