"""Ops that torch.export decomposes or renames: torch-dialect files have them, and exported modules
do not. Each is written to a file by torch-mlir's importer, read back, and compared with the op
itself in float64."""

from __future__ import annotations

import math
import operator
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from tcp_reference import run_text
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from convoy.frontend import import_mlir
from convoy.frontend._registry import CONVERTERS

aten = torch.ops.aten


def _x(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


_INTS = torch.tensor([[3, -4, 5], [0, 7, -2]])
_BOOLS = torch.tensor([[True, False, True], [False, False, True]])
_C3 = torch.tensor([1.0, 2.0, 0.5])

_BAGS = (torch.tensor([1, 3, 0, 2, 1]), torch.tensor([0, 2, 2]))
FORMS: list[tuple[Any, tuple[Any, ...]]] = [
    (aten.embedding_bag.default, (_x(4, 3), *_BAGS)),
    (
        aten._embedding_bag.default,
        (_x(4, 3), _BAGS[0], torch.tensor([0, 2, 5]), False, 1, False, None, True, 1),
    ),
    (aten._embedding_bag_forward_only.default, (_x(4, 3), *_BAGS, False, 2)),
    (aten._adaptive_avg_pool2d.default, (_x(1, 2, 4, 6), [2, 3])),
    (aten._adaptive_avg_pool3d.default, (_x(1, 2, 4, 6, 2), [2, 3, 1])),
    (
        aten._convolution.default,
        (
            _x(1, 2, 5, 5),
            _x(3, 2, 3, 3),
            _C3,
            [1, 2],
            [1, 0],
            [1, 1],
            False,
            [0, 0],
            1,
            False,
            False,
            True,
            True,
        ),
    ),
    (
        aten.convolution.default,
        (_x(1, 2, 5, 5), _x(3, 2, 3, 3), None, [1], [1], [1], False, [0], 1),
    ),
    (aten.convolution.default, (_x(1, 4, 5), _x(4, 1, 3), _x(4), [2], [1], [1], True, [1], 4)),
    (aten.conv3d.padding, (_x(1, 2, 4, 4, 4), _x(3, 2, 2, 3, 1), None, [1, 1, 1], "same")),
    (aten._softmax.default, (_x(2, 3), -1, False)),
    (aten.any.dims, (_x(2, 3, 4) > 1, [0, 2])),
    (aten.argsort.default, (_x(2, 5), 1, True)),
    (aten.fmod.Scalar, (torch.tensor([7, -7, 2]), -3)),
    (aten.i0.default, (_x(2, 3),)),
    (aten.nextafter.default, (_x(2, 3).exp2(), _x(2, 3))),
    (aten.special_modified_bessel_i0.default, (_x(2, 3),)),
    (aten.special_modified_bessel_i1.default, (_x(2, 3),)),
    (aten.special_xlog1py.other_scalar, (_x(2, 3), 2.0)),
    (aten.special_xlog1py.self_scalar, (0.5, _x(2, 3).abs())),
    (aten.xlogy.Scalar_Other, (_x(2, 3), 2.0)),
    (aten._log_softmax.default, (_x(2, 3), 0, False)),
    (aten.log_softmax.int, (torch.tensor(2.0), 0)),
    (aten.batch_norm.default, (_x(2, 3, 4), _C3, None, _C3, _C3, False, 0.1, 1e-5, False)),
    (aten.native_batch_norm.default, (_x(2, 3, 4), None, _C3, _C3, _C3, False, 0.1, 1e-5)),
    (aten.native_layer_norm.default, (_x(2, 3), [3], _C3, None, 1e-5)),
    (aten.native_group_norm.default, (_x(2, 3, 4), _C3, _C3, 2, 3, 4, 3, 1e-5)),
    (aten._upsample_bicubic2d_aa.default, (_x(1, 2, 6, 5), [3, 4], False)),
    (aten._upsample_bilinear2d_aa.default, (_x(1, 2, 6, 5), [3, 4], False, 0.5)),
    (aten.rrelu_with_noise.default, (_x(2, 3), _x(2, 3))),
    (aten.grid_sampler_2d.default, (_x(1, 2, 3, 4), _x(1, 2, 3, 2), 0, 0, True)),
    (aten.grid_sampler_3d.default, (_x(1, 2, 3, 4, 2), _x(1, 2, 3, 2, 3), 0, 1, True)),
    (aten._upsample_nearest_exact1d.default, (_x(1, 2, 3), [6])),
    (aten._upsample_nearest_exact1d.vec, (_x(1, 2, 3), [6], None)),
    (aten._upsample_nearest_exact2d.default, (_x(1, 2, 3, 2), [6, 2])),
    (aten._upsample_nearest_exact3d.default, (_x(1, 2, 3, 2, 2), [6, 2, 4])),
    (aten._upsample_nearest_exact3d.vec, (_x(1, 2, 3, 2, 2), [6, 2, 4], None)),
    (aten.upsample_nearest1d.default, (_x(1, 2, 3), [6])),
    (aten.upsample_nearest2d.default, (_x(1, 2, 4, 2), [2, 4])),
    (aten.upsample_nearest3d.default, (_x(1, 2, 3, 2, 2), [6, 2, 4])),
    (aten.upsample_linear1d.default, (_x(1, 2, 3), [5], False)),
    (aten.upsample_bilinear2d.default, (_x(1, 2, 3, 4), [5, 6], True)),
    (aten.upsample_bicubic2d.default, (_x(1, 2, 3, 4), [5, 6], False, 1.8, None)),
    (aten.upsample_trilinear3d.default, (_x(1, 2, 3, 4, 2), [5, 6, 3], False)),
    (aten.bitwise_and.Scalar, (_BOOLS, True)),
    (aten.bitwise_or.Scalar, (_BOOLS, False)),
    (aten.bitwise_xor.Scalar, (_BOOLS, True)),
    (aten.bitwise_xor.Tensor, (_BOOLS, ~_BOOLS[:1])),
    (aten.logical_or.default, (_INTS, _BOOLS)),
    (aten.broadcast_to.default, (_C3, [2, 3])),
    (aten.expand_as.default, (_C3, _x(2, 3))),
    (aten.chunk.default, (_x(2, 5), 2, 1)),
    (aten.clamp_max.Tensor, (_x(2, 3), _C3)),
    (aten.clamp_min.Tensor, (_x(2, 3), _C3)),
    (aten.constant_pad_nd.default, (_x(2, 3), [1, 2], 0.5)),
    (aten.contiguous.default, (_x(2, 3),)),
    (aten.lift_fresh.default, (_x(2, 3),)),
    (aten.lift_fresh_copy.default, (_x(2, 3),)),
    (aten.dropout.default, (_x(2, 3), 0.5, False)),
    (aten.native_dropout.default, (_x(2, 3), 0.5, False)),
    (aten.div.Scalar_mode, (_x(2, 3), 0.3, {"rounding_mode": "trunc"})),
    (aten.div.Scalar_mode, (_x(2, 3), 0.3, {"rounding_mode": None})),
    (aten.floor_divide.default, (_x(2, 3), _C3)),
    (aten.fill.Scalar, (_x(2, 3), 2)),
    (aten.flatten.using_ints, (_x(2, 3, 4), 1, 2)),
    (aten.unflatten.int, (_x(2, 6), 1, [2, 3])),
    (aten.hardshrink.default, (_x(2, 3), 0.5)),
    (aten.softshrink.default, (_x(2, 3), 0.5)),
    (aten.lerp.Tensor, (_x(2, 3), _C3, _C3)),
    (aten.mT.default, (_x(2, 3, 4),)),
    (aten.numpy_T.default, (_x(2, 3),)),
    (aten.masked_fill.Tensor, (_x(2, 3), _BOOLS, torch.tensor(-math.inf))),
    (aten.max_pool2d_with_indices.default, (_x(1, 2, 5, 5), [2, 2], [2, 2], [0, 0], [1, 1], True)),
    (aten.max_pool3d_with_indices.default, (_x(1, 2, 5, 5, 4), [2, 2, 2])),
    (aten.narrow.default, (_x(2, 5), -1, 1, 3)),
    (aten.norm.ScalarOpt_dim, (_x(2, 3), 2, [1], True)),
    (aten.norm.ScalarOpt_dim, (_x(2, 3), None, [0])),
    (aten.reflection_pad1d.default, (_x(1, 2, 4), [1, 2])),
    (aten.reflection_pad2d.default, (_x(1, 2, 4, 3), [1, 2, 0, 3])),
    (aten.reflection_pad3d.default, (_x(1, 2, 4, 3, 3), [1, 2, 0, 2, 1, 1])),
    (aten.replication_pad1d.default, (_x(1, 2, 4), [1, 2])),
    (aten.replication_pad2d.default, (_x(1, 2, 4, 3), [1, 2, 0, 3])),
    (aten.replication_pad3d.default, (_x(1, 2, 4, 3, 3), [1, 2, 0, 2, 1, 1])),
    (aten.reshape.default, (_x(2, 6), [3, -1])),
    (aten.reshape_as.default, (_x(2, 6), _x(3, 4))),
    (aten.view_as.default, (_x(2, 6), _x(3, 4))),
    (aten.sgn.default, (_x(2, 3),)),
    (aten.std.default, (_x(2, 3), False)),
    (aten.std.dim, (_x(2, 3), [1], True, True)),
    (aten.var.default, (_x(2, 3),)),
    (aten.var_mean.default, (_x(2, 3), True)),
    (aten.var_mean.correction, (_x(2, 3), [1])),
    (aten.to.dtype, (_x(2, 3), torch.float16)),
    (aten.to.other, (_INTS, _x(1))),
    (aten.where.Scalar, (_BOOLS, 2.0, 3)),
    (aten.bitwise_and.Scalar_Tensor, (6, _INTS)),
    (aten.bitwise_or.Scalar_Tensor, (6, _INTS)),
    (aten.bitwise_xor.Scalar_Tensor, (6, _INTS)),
    (aten.bitwise_left_shift.Tensor, (_INTS, _INTS)),
    (aten.bitwise_left_shift.Tensor_Scalar, (_INTS, 3)),
    (aten.bitwise_right_shift.Tensor, (_INTS, _INTS)),
    (aten.bitwise_right_shift.Tensor_Scalar, (_INTS, 1)),
    (aten.bitwise_right_shift.Scalar_Tensor, (-100, _INTS)),
    (aten.bucketize.Scalar, (1.5, _x(5).sort()[0])),
    (aten.searchsorted.Scalar, (_x(5).sort()[0], 0.5, {"right": True})),
    (aten.copy.default, (_x(2, 3), torch.tensor([3, 4, 5]))),
    (aten.narrow_copy.default, (_x(2, 6), 1, -3, 2)),
    (aten.permute_copy.default, (_x(2, 3, 4), [2, 0, -2])),
    (aten.unbind_copy.int, (_x(2, 3), -1)),
    (aten.view_copy.default, (_x(2, 6), [3, 4])),
]


def _split(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional arguments, and the keywords, which are a dictionary at the end."""
    return (arguments[:-1], arguments[-1]) if isinstance(arguments[-1], dict) else (arguments, {})


def _import(op: Any, arguments: tuple[Any, ...], folder: Path) -> Any:
    """A graph of one op, printed by torch-mlir's importer and read back."""
    graph = torch.fx.Graph()
    mode = FakeTensorMode()
    nodes, fakes = [], []
    arguments, keywords = _split(arguments)
    for argument in arguments:
        if isinstance(argument, Tensor):
            fake = mode.from_tensor(argument)
            node = graph.placeholder(f"x{len(nodes)}")
            node.meta["val"] = fake
            nodes.append(node)
            fakes.append(fake)
        else:
            nodes.append(argument)
            fakes.append(argument)
    result = graph.call_function(op, tuple(nodes), keywords)
    with mode:
        result.meta["val"] = op(*fakes, **keywords)
    outputs = [result]
    if isinstance(result.meta["val"], (tuple, list)):
        outputs = []
        used = (
            len(result.meta["val"])
            if isinstance(result.meta["val"], list) or "var_mean" in str(op)
            else 1
        )
        for index in range(used):
            item = graph.call_function(operator.getitem, (result, index))
            item.meta["val"] = result.meta["val"][index]
            outputs.append(item)
    graph.output(tuple(outputs))
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    importer.import_stateless_graph(graph, func_name="main")
    path = folder / "form.mlir"
    path.write_text(importer.module.operation.get_asm())
    return import_mlir(path)


@pytest.mark.parametrize(
    ("op", "arguments"), FORMS, ids=[f"{op}{index}" for index, (op, _) in enumerate(FORMS)]
)
def test_form(op: Any, arguments: tuple[Any, ...], tmp_path: Path) -> None:
    imported = _import(op, arguments, tmp_path)
    tensors = [argument for argument in arguments if isinstance(argument, Tensor)]
    got = run_text(imported.text, tensors, imported.weights)
    arguments, keywords = _split(arguments)
    wide = [
        argument.double()
        if isinstance(argument, Tensor) and argument.dtype.is_floating_point
        else argument
        for argument in arguments
    ]
    expected = op(*wide, **keywords)
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    for mine, theirs in zip(got, expected[: len(got)], strict=True):
        tolerance = 1e-3 if theirs.dtype == torch.float16 else 1e-6
        torch.testing.assert_close(
            mine, theirs.to(mine.dtype), rtol=0, atol=tolerance, equal_nan=True
        )


# Converters that always refuse (their messages are in test_errors.py) or that emit nothing.
_MAKE_NOTHING = {
    "aten._assert_tensor_metadata",  # emits nothing; the cases to_* cover it
    "aten._native_batch_norm_legit",
    "aten._native_batch_norm_legit.no_stats",
}


def test_every_converter_is_tested() -> None:
    here = {str(op).removesuffix(".default") for op, _ in FORMS}
    in_cases = set(
        re.findall(
            r"(?m)(?<=[ :])(?:aten|prims?|convoy)\.[\w.]+",
            Path(__file__).with_name("golden.txt").read_text(),
        )
    )
    assert sorted(CONVERTERS.keys() - here - in_cases - _MAKE_NOTHING) == []
