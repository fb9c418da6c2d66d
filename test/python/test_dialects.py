"""convoy.dialects: each op of the dialects' tests can be parsed, inspected and printed with its
class, and the compiler verifies modules built with the classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch_mlir import ir
from torch_mlir.dialects import func

from convoy import dialects, passes
from convoy.dialects import cudnn, cudnn_backend, tcp
from convoy.errors import CompileError

DIALECTS = {"tcp": tcp, "cudnn": cudnn, "cudnn_backend": cudnn_backend}
FILES = [
    path
    for path in sorted((Path(__file__).parents[1] / "dialect").glob("*/*.mlir"))
    if path.stem.startswith(("ops", "seed"))
]


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with ir.Context() as made, ir.Location.file("model.py", 7, 3, made):
        made.allow_unregistered_dialects = True
        yield made


def _walk(op: ir.Operation) -> Iterator[ir.OpView]:
    for region in op.regions:
        for block in region:
            for inner in block:
                yield inner
                yield from _walk(inner.operation)


def _modules(path: Path, context: ir.Context) -> Iterator[ir.Module]:
    for part in re.split(r"^// -----$", path.read_text(), flags=re.MULTILINE):
        yield dialects.parse(part, context)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_ops_have_classes(path: Path, context: ir.Context) -> None:
    seen = 0
    for module in _modules(path, context):
        for op in _walk(module.operation):
            dialect = op.operation.name.partition(".")[0]
            if dialect not in DIALECTS:
                continue
            seen += 1
            assert type(op).__module__ == f"convoy.dialects.{dialect}", op.operation.name
            for name, member in vars(type(op)).items():
                if isinstance(member, property):
                    getattr(op, name)
    assert seen


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_text_round_trip(path: Path, context: ir.Context) -> None:
    for module in _modules(path, context):
        assert str(passes.run(module, "builtin.module()")) == str(module)


def test_every_op_is_in_the_tests_of_its_dialect(context: ir.Context) -> None:
    """So that the tests above cover every class."""
    seen = {
        op.operation.name
        for path in FILES
        for module in _modules(path, context)
        for op in _walk(module.operation)
    }
    made = {
        each.OPERATION_NAME
        for module in DIALECTS.values()
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, ir.OpView)
    }
    assert made - seen == set()


def _function(kind: ir.Type, result: ir.Type) -> tuple[ir.Module, ir.Block]:
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        block = func.FuncOp("main", ([kind], [result])).add_entry_block()
    return module, block


def test_attributes_have_their_types(context: ir.Context) -> None:
    kind = ir.RankedTensorType.get([1, 8, 6, 6], ir.F32Type.get())
    half = ir.RankedTensorType.get([1, 8, 3, 3], ir.F32Type.get())
    module, block = _function(kind, half)
    with ir.InsertionPoint(block):
        x = tcp.ClampOp(block.arguments[0], min_float=0).output
        pooled = tcp.MaxPoolOp(
            half, x, kernel=[2, 2], stride=[2, 2], pad=[0] * 4, dilation=[1, 1], channels_last=False
        )
        func.ReturnOp([tcp.tanh(pooled.output)])
    dialects.verify(module)
    assert "{min_float = 0.000000e+00 : f32}" in str(module)
    assert list(pooled.kernel) == [2, 2]
    assert "channels_last" not in pooled.attributes


def test_verify_raises_the_diagnostics_of_the_compiler(context: ir.Context) -> None:
    kind = ir.RankedTensorType.get([4], ir.IntegerType.get_signless(64))
    module, block = _function(kind, kind)
    with ir.InsertionPoint(block):
        func.ReturnOp([tcp.tanh(block.arguments[0])])
    with pytest.raises(CompileError) as caught:
        dialects.verify(module)
    (diagnostic,) = caught.value.diagnostics
    assert caught.value.phase == "verify"
    assert diagnostic.location == "model.py:7:3"
    assert diagnostic.message.startswith(
        "'tcp.tanh' op operand #0 must be ranked tensor of floating-point values"
    )


def _graph(mode: int) -> ir.Module:
    """A cudnn graph of one pointwise operation."""
    kind = ir.Type.parse("!cudnn.tensor_desc<1x8x4x4xf16, NHWC>")
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        graph = cudnn.GraphOp("relu", ir.TypeAttr.get(ir.FunctionType.get([kind], [kind])))
    block = ir.Block.create_at_start(graph.body, [kind])
    with ir.InsertionPoint(block):
        y = cudnn.PointwiseOp([block.arguments[0]], mode, ir.F32Type.get(), results=[kind])
        cudnn.ReturnOp([y.result])
    return module


def test_graphs_run_through_passes(context: ir.Context) -> None:
    module = _graph(cudnn.PointwiseMode.ReluFwd)
    dialects.verify(module)
    lowered = passes.run(module, "builtin.module(convert-cudnn-graphs-to-backend)")
    (function,) = lowered.body.operations
    assert isinstance(function, cudnn_backend.FuncOp)
    made = [op for op in _walk(function.operation) if isinstance(op, cudnn_backend.CreateOp)]
    assert str(made[0].descriptor.type) == "!cudnn_backend.descriptor<tensor>"
    assert len(made) == 5  # two tensors, the pointwise, its operation, the graph
    assert isinstance(module.body.operations[0], cudnn.GraphOp)


def test_enums_print_as_the_dialect_does(context: ir.Context) -> None:
    with pytest.raises(CompileError, match="cudnn.pointwise"):
        dialects.verify(_graph(cudnn.PointwiseMode.Add))
    module = _graph(cudnn.PointwiseMode.TanhFwd)
    pointwise = module.body.operations[0].body.blocks[0].operations[0]
    assert str(pointwise.mode) == "#cudnn<pointwise_mode tanh_fwd>"


def test_attributes_of_a_result_can_be_removed(context: ir.Context) -> None:
    kind = ir.RankedTensorType.get([4], ir.F32Type.get())
    module, block = _function(kind, kind)
    with ir.InsertionPoint(block):
        func.ReturnOp([tcp.clamp(block.arguments[0], min_float=0, max_float=6)])
    after = passes.run(module, "builtin.module(func.func(canonicalize))")
    clamp = after.body.operations[0].body.blocks[0].operations[0]
    assert sorted(clamp.attributes) == ["max_float", "min_float"]
    del clamp.max_float
    assert "max_float" not in str(after)
    dialects.verify(after)


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("builtin.module(no-such-pass)", "'no-such-pass' does not refer to a registered pass"),
        ("builtin.module(convoy-pipeline{from=tcp to=nowhere})", "nowhere"),
    ],
)
def test_invalid_pipeline(context: ir.Context, pipeline: str, message: str) -> None:
    with pytest.raises(CompileError, match=message) as caught:
        passes.run(ir.Module.create(), pipeline)
    assert caught.value.phase == "pipeline"


def test_failed_pass_has_a_location(context: ir.Context) -> None:
    kind = ir.RankedTensorType.get([4], ir.IntegerType.get_signless(64))
    module, block = _function(kind, kind)
    with ir.InsertionPoint(block):
        func.ReturnOp([tcp.tanh(block.arguments[0])])
    with pytest.raises(CompileError, match="model.py:7:3: error: 'tcp.tanh' op operand #0"):
        passes.run(module, "builtin.module(canonicalize)")


def test_invalid_text(context: ir.Context) -> None:
    with pytest.raises(CompileError, match="module:1:1: error: custom op 'nonsense' is unknown"):
        dialects.parse("nonsense here", context)
