"""`python/convoy/_convoy.pyi` matches the built extension."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

import convoy
from convoy.phases import phase_names

STUB = Path(convoy.__file__).parent / "_convoy.pyi"


@pytest.fixture(scope="module")
def extension() -> ModuleType:
    from convoy import _convoy

    return _convoy


def _stubbed() -> dict[str, ast.stmt]:
    names: dict[str, ast.stmt] = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = node
    return names


def _signature(text: str) -> str:
    """A function's signature without the modules of its types, in one spelling."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)

    class Short(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.Name:
            return ast.Name(node.attr)

    assert function.returns is not None
    Short().visit(function)
    return f"{function.name}({ast.unparse(function.args)}) -> {ast.unparse(function.returns)}"


def test_names_equal_those_of_the_module(extension: ModuleType) -> None:
    assert sorted(_stubbed()) == sorted(name for name in dir(extension) if name[:2] != "__")


def test_signatures_equal_those_of_the_module(extension: ModuleType) -> None:
    functions = [node for node in _stubbed().values() if isinstance(node, ast.FunctionDef)]
    assert len(functions) >= 9
    for node in functions:
        [(built, _, defaults)] = getattr(extension, node.name).__nb_signature__
        for index, value in enumerate(each for each in defaults or () if each is None):
            built = built.replace(f"\\{index}", repr(value))
        assert _signature(f"{built}: ...") == _signature(ast.unparse(node))


def test_failure_has_a_phase_and_diagnostics(extension: ModuleType) -> None:
    with pytest.raises(extension.CompilationFailed) as caught:
        extension.run_phases("nonsense", "m.mlir", "tcp", "normalize", [])
    phase, [(severity, file, line, column, message), *_] = caught.value.args
    assert isinstance(phase, str)
    assert (severity, file, line, column) == ("error", "m.mlir", 1, 1)
    assert message


def test_phases_are_torch_and_those_of_the_pipeline(extension: ModuleType) -> None:
    assert phase_names() == ("torch", *(name for name, _ in extension.phases()))
    assert phase_names()[:2] == ("torch", "tcp")
    assert phase_names()[-1] == "llvm"


def test_oldest_cudnn_equals_that_of_the_runtime(extension: ModuleType) -> None:
    from convoy_runtime.cuda.cudnn import loading

    assert extension.MINIMUM_CUDNN == loading.MINIMUM
