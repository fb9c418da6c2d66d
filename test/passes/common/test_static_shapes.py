# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The passes of the phases refuse shapes with `?`, and say which pass replaces them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from convoy import _convoy

PASSES = (Path(__file__).parents[3] / "passes/Passes.td").read_text()
FLAGS = re.findall(
    r'^def \w+ : StaticShapesPass<"([\w-]+)", "::mlir::(\w+::)?(\w+)">', PASSES, re.MULTILINE
)
SUGGESTION = 'replace the symbols by numbers first: --tcp-specialize-symbols="values=batch=N"'
#: A `?` of an argument and of a result.
MODULE = """
func.func @main(%x: tensor<{0}x8x4xf32>) -> tensor<{1}x8x4xf32> {{
  %s0 = tcp.symbolic_int "batch" {{min_val = 1, max_val = 64}} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> ({0}, 8, 4)> : tensor<{0}x8x4xf32>
  %0 = tcp.tanh %x : tensor<{0}x8x4xf32> -> tensor<{0}x8x4xf32>
  return %0 : tensor<{0}x8x4xf32>
}}
"""
DYNAMIC = MODULE.format("?", "?").replace("(?, 8, 4)", "(s0, 8, 4)")
SYMBOLIC = MODULE.format("2", "2")


def _refusal(text: str, pipeline: str) -> str:
    with pytest.raises(_convoy.CompilationFailed) as caught:
        _convoy.run_pipeline(text, "module", f"builtin.module({pipeline})")
    _, diagnostics = caught.value.args
    return str(diagnostics[0][-1])


def test_all_phases_of_tcp_have_such_passes() -> None:
    found = {flag for flag, *_ in FLAGS}
    assert len(FLAGS) > 25
    assert {"convoy-complete-program", "convoy-verify-phase", "convert-tcp-to-linalg"} < found
    for section in ("normalize", "group"):
        text = re.search(rf"^//===-- {section} -.*?(?=^//===-- )", PASSES, re.MULTILINE | re.DOTALL)
        assert text
        assert not re.findall(r"^def \w+ : Pass<", text[0], re.MULTILINE)


@pytest.mark.parametrize(("flag", "_", "anchor"), FLAGS, ids=[flag for flag, *_ in FLAGS])
def test_pass_refuses_dynamic_shapes(flag: str, _: str, anchor: str) -> None:
    pipeline = flag if anchor == "ModuleOp" else f"func.func({flag})"
    message = _refusal(DYNAMIC, pipeline)
    assert message.startswith("'func.func' op expects static shapes, but got 'tensor<?x8x4xf32>'; ")
    assert message.endswith(SUGGESTION)
    message = _refusal(SYMBOLIC, pipeline)
    assert message.startswith(
        "'tcp.symbolic_int' op expects static shapes, but it is about symbols; "
    )
    assert message.endswith(SUGGESTION)


@pytest.mark.parametrize("phase", ["tcp", "normalize", "group", "cudnn", "linalg"])
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_pipeline_refuses_dynamic_shapes(phase: str, target: str) -> None:
    pipeline = f"convoy-pipeline{{from={phase} target={target}}}"
    assert "expects static shapes, but got 'tensor<?x8x4xf32>'" in _refusal(DYNAMIC, pipeline)


def test_pass_refuses_a_result() -> None:
    result = """
    func.func @main(%x: tensor<2xf32>) {
      %0 = tcp.reshape %x : tensor<2xf32> -> tensor<?xf32>
      return
    }
    """
    message = _refusal(result, "func.func(tcp-channels-last)")
    assert message.startswith("'tcp.reshape' op expects static shapes, but got 'tensor<?xf32>'; ")
    assert message.endswith('--tcp-specialize-symbols="values=NAME=N"')
