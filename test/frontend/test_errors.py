"""What the frontend refuses, with which messages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor, nn
from torch._higher_order_ops.map import map as higher_order_map
from torch._higher_order_ops.while_loop import while_loop

from convoy.errors import (
    ExportError,
    FrontendError,
    InputError,
    MlirSyntaxError,
    SourceLine,
    UnsupportedOpsError,
)
from convoy.frontend import import_mlir, import_module


class _Unsupported(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.special.airy_ai(x)
        z = self._more(y + 1)
        return torch.special.zeta(z, z), torch.special.airy_ai(x + 2)

    def _more(self, x: Tensor) -> Tensor:
        return torch.special.airy_ai(x) * 2


def _line(marker: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if marker in line)


def test_every_unsupported_op_is_listed_once_with_its_lines() -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(_Unsupported().eval(), (torch.randn(2, 3),))
    by_op = {op.op: op for op in caught.value.ops}
    assert set(by_op) == {"aten.special_zeta", "aten.special_airy_ai"}
    here = str(Path(__file__))
    last = _line("torch.special.zeta(z, z)")
    assert sorted(by_op["aten.special_airy_ai"].lines) == [
        SourceLine(here, _line("y = torch.special.airy_ai(x)")),
        SourceLine(here, last),
        SourceLine(here, _line("torch.special.airy_ai(x) * 2")),
    ]
    assert by_op["aten.special_zeta"].lines == (SourceLine(here, last),)
    text = str(caught.value).splitlines()
    assert text[0] == "4 operations of the model are not supported:"
    assert "  aten.special_airy_ai (3 times): it has no conversion to tcp" in text
    assert "  aten.special_zeta (once): it has no conversion to tcp" in text
    assert f"    {here}:{last}" in text


def _reason(function: object, *inputs: Tensor) -> str:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(function).eval(), inputs)
    assert len(caught.value.ops) == 1, caught.value
    return f"{caught.value.ops[0].op}: {caught.value.ops[0].reason}"


_X = torch.randn(1, 2, 4, 4)
_I = torch.arange(16).reshape(1, 1, 4, 4)
_SQUARE = torch.ones(2, 2)
_W, _B = torch.ones(3, 4), torch.ones(3)
_QUANTIZED = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
_NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (
            lambda x: F.adaptive_max_pool2d(x, 3, return_indices=True)[1],
            (_X,),
            (
                "output 0: expected output sizes that divide the input's, got use of the indices "
                "of maxima of windows of different sizes"
            ),
        ),
        (
            lambda x: F.dropout(x, 0.5, True),
            (_X,),
            (
                "aten.native_dropout: expected dropout in evaluation mode, got train=True: a "
                "compiled model has no random numbers; call module.eval(), and where forward "
                "passes training=True, pass self.training"
            ),
        ),
        (
            lambda x: torch.ops.aten.threshold_backward(x.long(), x, 0.5),
            (_X,),
            "aten.threshold_backward: expected a gradient and a tensor of one dtype, got "
            "int64 and float32, for which the result type of torch.export differs from PyTorch's",
        ),
        (
            lambda x: torch.full_like(x, 300, dtype=torch.int8) + 1,
            (_X,),
            "aten.full_like: expected a number in the range of int8, got 300",
        ),
        (
            lambda x: x.half().masked_fill(x > 0, -1e9),
            (_X,),
            "aten.masked_fill.Scalar: expected a number in the range of float16, got -1000000000.0",
        ),
        (
            lambda x: x.nonzero(),
            (_X,),
            "aten.nonzero: it has no conversion to tcp: the shape of its result depends on the values "
            "of a tensor, and shapes are static; expected an op whose shapes depend on shapes only, "
            "such as torch.where",
        ),
        (
            lambda x: F.max_pool2d(x, 2),
            (_I,),
            "aten.max_pool2d: expected a floating-point tensor in tcp.max_pool, got int64",
        ),
        (
            lambda x: x.double().fmod(3),
            (_X,),
            "aten.fmod.Scalar: expected integers or a float type of at most 32 bits, got float64",
        ),
        (
            lambda x: torch.nextafter(x.double(), x.double()),
            (_X,),
            "aten.nextafter: expected float32 tensors, got float64",
        ),
        (
            lambda x: F.rrelu(x, training=True),
            (_X,),
            "aten.rrelu_with_noise_functional: expected rrelu in evaluation mode, got training=True: "
            "a compiled model has no random numbers; call module.eval()",
        ),
        (
            lambda x: torch.polygamma(21, x),
            (_X,),
            "aten.polygamma: expected an order n from 0 to 20, got 21",
        ),
        (
            lambda x: x.long().round(decimals=-1),
            (_X,),
            "aten.round.decimals: expected a floating-point tensor for negative decimals, got -1",
        ),
        (
            lambda x: x[x > 0],
            (_X,),
            "aten.index.Tensor: it has no conversion to tcp: the shape of its result depends on the "
            "values of a tensor, and shapes are static; expected an op whose shapes depend on shapes "
            "only, such as torch.where",
        ),
        (
            lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
            (_X,),
            (
                "aten.scaled_dot_product_attention: expected attention without dropout, got "
                "dropout_p=0.5"
            ),
        ),
        (
            lambda x: torch.rnn_tanh(
                x[0], x[0, :1, :, :3], [_W, _W[:, :3], _B, _B], True, 1, 0.5, True, False, False
            )[0],
            (_X,),
            "aten.rnn_tanh.input: expected a network without dropout, or eval(), got dropout of 0.5",
        ),
        (
            lambda x: torch.fft.rfft(x, 4099).abs(),
            (_X,),
            "aten._fft_r2c: expected a size whose prime factors are at most 4096, got a factor of 4099",
        ),
        (
            lambda x: F.interpolate(x.to(torch.uint8), size=(5, 5), mode="bilinear"),
            (_X,),
            (
                "aten.upsample_bilinear2d.vec: expected a floating-point tensor, got uint8; "
                "resize x.float() and round the result"
            ),
        ),
    ],
)
def test_unsupported_form_of_an_op(
    function: object, inputs: tuple[Tensor, ...], message: str
) -> None:
    assert _reason(function, *inputs) == message


def _trains() -> nn.Module:
    """A module in evaluation mode except for one submodule."""
    module = nn.Sequential(nn.BatchNorm1d(4)).eval()
    module[0].train()
    return module


@pytest.mark.parametrize(
    ("module", "inputs", "message"),
    [
        (
            nn.Linear(2, 2),
            (torch.ones(1, 2),),
            (
                "expected a module in evaluation mode, got one in training mode; call "
                "module.eval() first"
            ),
        ),
        (lambda x: x, (torch.ones(1),), "expected a torch.nn.Module, got function"),
        (nn.ReLU().eval(), torch.ones(1), "expected the example inputs as a tuple, got Tensor"),
        (
            Function(lambda x, y: x).eval(),
            (torch.ones(1), {"a": [torch.ones(1), 2j]}),
            "input [1]['a'][1]: expected a tensor, a number, a string, a bool or None, got 'complex'",
        ),
        (
            Function(lambda x: x).eval(),
            (np.ones(1),),
            "input [0]: expected a tensor, a number, a string, a bool or None, got 'ndarray'",
        ),
        (
            Function(lambda x: x).eval(),
            (torch.ones(2).to_sparse(),),
            "input [0]: expected a dense tensor, got one of layout torch.sparse_coo",
        ),
        (
            Function(lambda x: x).eval(),
            (_QUANTIZED,),
            "input [0]: expected a dense tensor, got a quantized one; call dequantize()",
        ),
        (
            Function(lambda x: x).eval(),
            (_NESTED,),
            "input [0]: expected a dense tensor, got a nested one; pad it",
        ),
        (
            Function(lambda x: x).eval(),
            (torch.ones(2).to(torch.complex64),),
            "input [0]: expected a real tensor, got complex64; pass torch.view_as_real(x), and call "
            "torch.view_as_complex in the model",
        ),
        (
            Function(lambda x: torch.polar(x, x)).eval(),
            (torch.ones(2),),
            "output 0: expected a real tensor, got complex64, at ",
        ),
        (
            nn.Linear(2, 2, device="meta").eval(),
            (torch.ones(1, 2),),
            "weight 'weight': expected data, got a tensor on the meta device",
        ),
        (
            nn.LazyLinear(2).eval(),
            (torch.ones(1, 2),),
            "weight 'weight': expected data, got an uninitialized one; run the module once",
        ),
        (
            torch.jit.trace(nn.ReLU().eval(), torch.ones(1)),
            (torch.ones(1),),
            "expected a module of Python code, got one of TorchScript; compile the module that",
        ),
        (
            nn.Sequential(torch.jit.script(nn.ReLU())).eval(),
            (torch.ones(1),),
            "module '0': expected a module of Python code, got one of TorchScript; compile the",
        ),
        (
            nn.Sequential(torch.ao.nn.quantized.dynamic.Linear(2, 2)).eval(),
            (torch.ones(1, 2),),
            "module '0': expected a module of dense tensors, got Linear of "
            "torch.ao.nn.quantized.dynamic.modules.linear, whose weights are quantized",
        ),
        (
            Function(lambda x: ()).eval(),
            (torch.ones(1),),
            "expected a model that returns tensors, got one without results",
        ),
        (
            Function(lambda x: None).eval(),
            (torch.ones(1),),
            "expected a model that returns tensors, got one without results",
        ),
        (
            _trains(),
            (torch.ones(2, 4),),
            (
                "expected a module in evaluation mode, got '0' (BatchNorm1d) in training "
                "mode; call eval() on it"
            ),
        ),
        (
            Function(lambda x: {"a": {"b": x + 1}, "a.b": x}).eval(),
            (torch.ones(1),),
            (
                "expected distinct names of outputs, got 2 with the name 'a.b': output['a']['b'] "
                "and output['a.b']; rename a key"
            ),
        ),
        (
            Function(lambda x: {1: x + 1, "1": x}).eval(),
            (torch.ones(1),),
            (
                "expected distinct names of outputs, got 2 with the name '1': output[1] and "
                "output['1']; rename a key"
            ),
        ),
        (
            Function(lambda x: x.add_(1) * 2).eval(),
            (torch.ones(1),),
            "expected a model without in-place writes, got one that writes to",
        ),
        (
            nn.ReLU().eval(),
            (torch.ones(1, dtype=torch.uint16),),
            (
                "input [0]: expected a dtype of float64, float32, float16, bfloat16, "
                "int64, int32, int16, int8, uint8, bool, got uint16"
            ),
        ),
    ],
)
def test_unsupported_input(module: nn.Module, inputs: tuple[Tensor, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        import_module(module, inputs)
    assert str(caught.value).startswith(message)


def test_weight_of_a_dtype_that_tcp_lacks() -> None:
    module = Function(lambda x: x).eval()
    module.register_buffer("table", torch.ones(2, dtype=torch.uint16))
    module.function = lambda x: x + module.table
    with pytest.raises(InputError, match=r"^weight 'table': expected a dtype of .*, got uint16$"):
        import_module(module, (torch.ones(2),))


def test_write_is_refused_with_its_line() -> None:
    def forward(x: Tensor) -> Tensor:
        x[0].zero_()  # the write
        return x + 1

    with pytest.raises(InputError) as caught:
        import_module(Function(forward).eval(), (torch.ones(2),))
    place = f"{__file__}:{_line('# the write')}"
    assert str(caught.value).endswith(
        f"one that writes to 'inputs_0', at {place}; return the value instead"
    )


def _while(x: Tensor) -> tuple[Tensor, Tensor]:
    start = (torch.tensor(0), x)
    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), start)  # while_loop


def _map(x: Tensor) -> Tensor:
    return higher_order_map(lambda row: row + 1, x.new_zeros(10_000, 1))  # map_impl


@torch.library.custom_op("convoy_test::grow", mutates_args=("x",))
def _grow(x: Tensor) -> None:
    x.add_(1)


def _writes(x: Tensor) -> Tensor:
    y = x * 2
    _grow(y)  # convoy_test.grow
    return y


@pytest.mark.parametrize(
    ("function", "op", "reason"),
    [
        (_while, "while_loop", "the number of its steps depends on the values of a tensor"),
        (_map, "map_impl", "it is unrolled; expected at least one step, and at most 20000 ops"),
        (_writes, "convoy_test.grow", "it writes to its arguments"),
    ],
)
def test_higher_order_op_is_refused(function: object, op: str, reason: str) -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(function).eval(), (torch.ones(2, 3),))
    (found,) = caught.value.ops
    assert found.op == op
    assert found.reason.startswith(reason)
    assert found.lines == (SourceLine(__file__, _line(f"# {op}")),)


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: x[x > 0].repeat(2).sum(), "aten.repeat"),
        (lambda x: x[x > 0].kthvalue(1)[0], "aten.kthvalue"),
        (lambda x: x[0].reshape(3)[x[x > 0].shape[0]], "aten.select.int"),
        (lambda x: F.pad(x[:, x[0] > 0], (1, 1), "replicate").sum(), "aten.pad"),
        (lambda x: F.conv1d(x[:, x[0] > 0], torch.ones(1, 2, 1)).sum(), "aten.conv1d"),
        (lambda x: x[x[:, 0] > 0].reshape(3, -1).sum(), "aten.view"),
    ],
)
def test_rows_of_a_mask_that_are_not_computed_by_themselves(function: object, op: str) -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(function).eval(), (torch.ones(2, 3),))
    (found,) = caught.value.ops
    assert found.op == op
    assert found.reason.startswith(
        "a size of its operands is the number of elements that aten.index.Tensor finds"
    )
    assert found.lines[0].file == __file__


def _reversed(x: Tensor) -> Tensor:
    found = x[x > 0]
    places = torch.arange(found.shape[0] - 1, -1, -1)  # arange
    return found[places].sum()


def test_size_that_is_computed_from_a_number_of_elements_is_refused() -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(_reversed).eval(), (torch.ones(4),))
    (found,) = caught.value.ops
    assert found.op == "aten.arange.start_step"
    assert "the shape of its result depends on the values of a tensor" in found.reason
    assert found.lines == (SourceLine(__file__, _line("# arange")),)


def _indefinite(x: Tensor) -> Tensor:
    return torch.linalg.ldl_factor(x)[0]  # ldl


def test_linear_algebra_without_a_loop_over_columns_is_refused() -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(_indefinite).eval(), (torch.eye(3),))
    (found,) = caught.value.ops
    assert found.op == "aten.linalg_ldl_factor_ex"
    assert "it is linear algebra beyond products of matrices" in found.reason
    assert found.lines == (SourceLine(__file__, _line("# ldl")),)


def test_circular_padding_beyond_what_a_crop_leaves_is_refused() -> None:
    function = Function(lambda x: F.pad(x, (-1, 3), "circular"))  # wrap
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(function.eval(), (torch.ones(1, 2, 3),))
    (found,) = caught.value.ops
    assert found.reason == (
        "expected a circular padding of at most the 2 elements that are left of dim 2, got 3"
    )
    assert found.lines == (SourceLine(__file__, _line("# wrap")),)


def test_error_of_torch_mlir_has_op_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise NotImplementedError("not this one\nnor that")

    monkeypatch.setattr(
        "torch_mlir.extras.fx_importer.GraphNodeImporter._import_torch_op_overload", fail
    )
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(lambda x: torch.relu(x)).eval(), (torch.ones(2),))  # relu
    (found,) = caught.value.ops
    assert (found.op, found.reason) == (
        "aten.relu.default",
        "torch-mlir cannot import it: NotImplementedError: not this one",
    )
    assert found.lines == (SourceLine(__file__, _line("# relu")),)
    assert isinstance(caught.value.__cause__, NotImplementedError)


@torch.library.custom_op("convoy_test::twice", mutates_args=())
def _twice(x: Tensor) -> Tensor:
    return x * 2


@torch.library.custom_op("convoy_test::known", mutates_args=())
def _known(x: Tensor) -> Tensor:
    return torch.from_numpy(x.numpy() * 2)


@_known.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


class _Linked:
    def __init__(self, a: Tensor) -> None:
        self.a, self.own = a, self


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: x[:1] if x.sum().item() > 2 else x,  # data
            "{place}the model has control flow or shapes that depend on the values of a tensor; "
            "expected dependence on the shapes of the inputs only: torch.where selects by values, "
            "and those of a buffer with persistent=False are known; "
            "the values are those of aten.item at {place}",
        ),
        (
            lambda x: x + 1 if x[x > 0].shape[0] > 2 else x,  # data
            "{place}the model has control flow or shapes that depend on the values of a tensor; "
            "expected dependence on the shapes of the inputs only: torch.where selects by values, "
            "and those of a buffer with persistent=False are known; "
            "the values are those of aten.index.Tensor at {place}",
        ),
        (
            lambda x: x * len({x.long().sum().item()}),
            "{place}the model has a set or a dict with a number that depends on the values of a "
            "tensor or on a dynamic size; expected numbers that depend on static shapes only, or on "
            "a buffer with persistent=False, whose values are known",
        ),  # data
        (
            lambda x: nn.utils.rnn.pack_sequence([x, x[:1]]).batch_sizes.sum(),
            "{place}the batch sizes of a PackedSequence depend on the values of the lengths; "
            "expected recurrent networks and pad_packed_sequence as their uses, got "
            "batch_sizes.sum",
        ),  # data
        (
            lambda x: _twice(x),
            "{place}There was no fake impl registered for <CustomOpDef(convoy_test::twice)>.",
        ),  # data
        (
            lambda x: _SQUARE.to_sparse() @ x,
            "{place}aten.to_sparse: Cannot access storage of SparseTensorImpl",
        ),  # data
        (
            lambda x: torch.from_numpy(x.numpy()),
            "{place}it reads the values of a tensor while the model is exported, where only "
            "shapes are known; expected a model that computes it after the compiled part, or "
            "uses ops, such as torch.stack in place of numpy.stack",
        ),  # data
        (lambda x: x @ torch.ones(7, 7), "{place}"),  # data
        (
            lambda x: setattr(x.clone(), "data", x),
            "{place}the model assigns to the data of a tensor, which torch.export does not record; "
            "expected tensor.copy_(value), or the value under another name",
        ),  # data
        (
            lambda x: F.ctc_loss(x[:, None], *torch.ones(3, 1, 1).long()),
            "{place}aten._ctc_loss.Tensor: it reads the values of a tensor while the model is exported, "
            "where only shapes are known; expected a model that computes it after the compiled part",
        ),  # data
        (
            lambda x: torch.nested.to_padded_tensor(torch.nested.nested_tensor([x[0], x[1]]), 0.0),
            "{place}the model makes a nested tensor, whose rows differ in length; expected dense "
            "tensors: pad the rows and mask what is padded",
        ),
        (
            lambda x: _Linked(x + 1),
            (
                "expected tensors in tuples, lists, dicts, named tuples and attributes of objects, "
                "got _Linked; torch.export.register_dataclass(_Linked) registers it"
            ),
        ),
    ],
)
def test_error_of_torch_export_is_one_sentence(
    function: Callable[..., object], message: str
) -> None:
    with pytest.raises(ExportError) as caught:
        import_module(Function(function).eval(), (torch.ones(2, 3),))
    place = f"{__file__}:{function.__code__.co_firstlineno}"
    expected = message.replace("{place}", f"{place}: ", 1).replace("{place}", place)
    assert str(caught.value).startswith(f"torch.export cannot export the module: {expected}")
    assert "\n\n" not in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("function", "op", "reason"),
    [
        (lambda x: _known(x), "convoy_test.known", ": it is an op of another library"),
        (
            lambda x: torch.view_as_complex(x.reshape(1, 3, 2)).acosh().abs(),
            "aten.acosh",
            " for complex numbers; expected real tensors",
        ),
        (lambda x: torch.geqrf(x)[0], "aten.geqrf", ": it is linear algebra"),
        (lambda x: x + torch.randn(3), "aten.randn", ": it makes random numbers"),
        (lambda x: x.bernoulli(), "aten.rand", ": it makes random numbers"),
    ],
)
def test_op_without_conversion(function: object, op: str, reason: str) -> None:
    text = _reason(function, torch.ones(2, 3))
    expected = f"{op}: it has no conversion to tcp{reason}"
    assert text.startswith(expected) if reason else text == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (
            lambda x: x.roll(x.long().sum().item()),
            "aten.roll: it takes a number that is read from a tensor, and no form of it takes a tensor "
            "there; expected a constant, or an op on the tensor itself, such as torch.where or an "
            "index",
        ),
        (
            lambda x: (x, x.sum().item()),
            "output: the model returns a number that is read from a tensor; expected the tensor, "
            "without item()",
        ),
        (
            lambda x: x[: int(x.sum().item())],
            "aten.slice.Tensor: it has no conversion to tcp: the shape of its result depends on the "
            "values of a tensor, and shapes are static; expected an op whose shapes depend on shapes "
            "only, such as torch.where",
        ),
        (
            lambda x: F.avg_pool1d(x[:, x.long().sum().item() :], 2),
            "aten.avg_pool1d: a size of its operands is the number of elements that aten.slice.Tensor finds, "
            "and it does more than to compute each of them by itself; expected an op along other dims, "
            "a sum, a mean or a maximum, or torch.where in place of aten.slice.Tensor",
        ),
        (
            lambda x: x[x.long().sum().item() :],
            "aten.slice.Tensor: it has no conversion to tcp: the shape of its result depends on the "
            "values of a tensor, and shapes are static; expected an op whose shapes depend on shapes "
            "only, such as torch.where",
        ),
    ],
)
def test_number_of_a_tensor_without_a_form(function: object, expected: str) -> None:
    assert _reason(function, torch.ones(2, 3)) == expected


def test_data_dependent_control_flow_is_refused_with_its_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """torch.export writes the graph so far to standard error, which is dropped; what the model
    writes is kept."""

    def branch(x: Tensor) -> Tensor:
        print("from the model", file=sys.stderr)
        return x[:1] if x.sum() > 0 else x  # the branch

    with pytest.raises(
        ExportError,
        match=rf"torch.export cannot export the module: .*test_errors.py:{_line('# the branch')}: ",
    ):
        import_module(Function(branch).eval(), (torch.ones(2),))
    assert set(capfd.readouterr().err.split("\n")) == {"from the model", ""}


def test_narrow_module_that_is_not_exported_has_a_hint() -> None:
    """A model that branches on values in float16 alone."""

    class Checked(torch.nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            y = super().forward(x)
            return y[:1] if y.dtype == torch.float16 and not y.isfinite().all() else y

    with pytest.raises(ExportError, match=r"compile it in float32 with dtype='float16'"):
        import_module(Checked(3, 3).half().eval(), (torch.ones(2, 3, dtype=torch.float16),))
    import_module(Checked(3, 3).eval(), (torch.ones(2, 3),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module { foo }", r".*bad\.mlir:1:10: custom op 'foo' is unknown.*"),
        ("module {}", r".*bad\.mlir: expected one func\.func with a body, got 0"),
        (
            (
                "func.func @main(%x: !torch.int) -> !torch.int {\n  cf.br ^bb1\n^bb1:\n  "
                "return %x : !torch.int\n}"
            ),
            r".*bad\.mlir: expected a function of one block, got 2",
        ),
        (None, r".*bad\.mlir: cannot read the file: .*"),
    ],
)
def test_bad_file(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "bad.mlir"
    if text is not None:
        path.write_text(text)
    with pytest.raises(MlirSyntaxError, match=message):
        import_mlir(path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "dense_resource<gone> : tensor<2xf32>",
            "expected the data of resource 'gone' in the file, got none",
        ),
        ("dense_resource<short> : tensor<2xf32>", "expected 8 bytes of data in 'short', got 4"),
    ],
)
def test_bad_literal(tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main() -> !torch.vtensor<[2],f32> {\n  %0 = "
        f"torch.vtensor.literal({body}) : !torch.vtensor<[2],f32>\n"
        "  return %0 : !torch.vtensor<[2],f32>\n}\n"
        '{-#\n  dialect_resources: { builtin: { short: "0x040000000000803F" } }\n#-}\n'
    )
    with pytest.raises(UnsupportedOpsError) as caught:
        import_mlir(path)
    assert [(op.op, op.reason) for op in caught.value.ops] == [("vtensor.literal", message)]
    assert caught.value.ops[0].lines == (SourceLine(str(path), 2),)


def test_dynamic_shape_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "dynamic.mlir"
    kind = "!torch.vtensor<[?,3],f32>"
    path.write_text(
        f"func.func @main(%x: {kind}) -> {kind} {{\n  %0 = torch.aten.relu %x : {kind} -> "
        f"{kind}\n  return %0 : {kind}\n}}\n"
    )
    with pytest.raises(FrontendError, match=r"^input 'x': expected a static shape, got \[\?,3\]$"):
        import_mlir(path)
