"""Data flows one way through the folders: includes and imports only go up the list of
docs/architecture.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A file may include its own folder's headers and those of folders above it; passes/Passes.h is
# everyone's from passes/common on.
ORDER = [
    "dialect/common", "dialect/tcp", "dialect/cudnn", "dialect/cudnn_backend",
    "passes/common", "passes/normalize", "passes/group", "passes/tcp_to_cudnn",
    "passes/tcp_to_linalg", "passes/plan", "passes/kernels",
    "passes/cudnn_to_backend", "passes/gpu_codegen", "passes/cpu_codegen", "passes/llvm", "passes/emit", "passes/pipeline", "passes/tools", "python/bindings",
]  # fmt: skip
PHASES = ORDER[ORDER.index("passes/normalize") : ORDER.index("passes/pipeline")]
INCLUDE = re.compile(r'^#include "((?:dialect|passes|python|runtime)/[^"]+)"', re.MULTILINE)
#: The headers of the runtime that generated code has to agree with, and the folder that includes
#: each.
RUNTIME_HEADERS = {
    "runtime/abi/convoy_abi.h": "passes/llvm",
    "runtime/support/convoy_calls.h": "passes/llvm",
    "runtime/device/kernel_abi.h": "passes/kernels",
}


def _folder(path: str) -> str | None:
    return next((each for each in ORDER if path.startswith(each + "/")), None)


def _include_edges() -> Iterator[tuple[str, str]]:
    for top in ("dialect", "passes", "python/bindings"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".cpp", ".h", ".td"):
                name = str(path.relative_to(ROOT))
                for included in INCLUDE.findall(path.read_text()):
                    yield name, included


def test_includes_go_up() -> None:
    edges = list(_include_edges())
    assert len(edges) > 20, "the scan found too little to mean anything"
    bad = []
    for name, included in edges:
        if included.startswith("runtime/"):
            if RUNTIME_HEADERS.get(included) != _folder(name):
                bad.append(f"{name} includes {included}")
            continue
        if included in ("passes/Passes.h", "passes/Passes.h.inc", "passes/Phases.def"):
            continue
        above, here = _folder(included), _folder(name)
        if above is None or here is None:
            bad.append(f"{name} or {included} is in no folder of ORDER")
            continue
        if above == here:
            continue
        sideways = above in PHASES and here in PHASES
        if ORDER.index(above) > ORDER.index(here) or sideways:
            bad.append(f"{name} includes {included}")
    assert not bad, "\n".join(bad)


def _cycle(edges: dict[str, set[str]]) -> list[str]:
    """The files of one cycle of includes; none where there is no cycle."""
    done: set[str] = set()

    def visit(name: str, stack: list[str]) -> list[str]:
        if name in stack:
            return stack[stack.index(name) :]
        if name in done:
            return []
        for other in sorted(edges.get(name, ())):
            if found := visit(other, [*stack, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(edges) if (found := visit(name, []))), [])


def test_no_cycle_of_includes() -> None:
    """X.cpp counts as X.h: what a header's implementation needs, the header may not be part of."""
    edges: dict[str, set[str]] = {}
    for name, included in _include_edges():
        one, other = (str(Path(each).with_suffix("")) for each in (name, included))
        if one != other:
            edges.setdefault(one, set()).add(other)
    assert _cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert not _cycle(edges)


def test_order_has_every_folder() -> None:
    folders = {str(path.parent.relative_to(ROOT)) for path in (ROOT / "passes").rglob("*.cpp")} | {
        str(path.parent.relative_to(ROOT)) for path in (ROOT / "dialect").rglob("*.td")
    }
    assert sorted(folder for folder in folders if _folder(f"{folder}/x") is None) == []


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_runtime_imports_no_compiler() -> None:
    forbidden = {"convoy", "torch", "torch_mlir", "mlir", "rich", "safetensors"}
    files = sorted((ROOT / "runtime" / "convoy_runtime").rglob("*.py"))
    assert files
    bad = [
        f"{path}: {name}"
        for path in files
        for name in _imports(path)
        if name.partition(".")[0] in forbidden
    ]
    assert not bad, "\n".join(bad)


def test_compiler_uses_the_runtime_for_data_and_loading_only() -> None:
    """python/convoy may use the artifact's format and the loader; nothing of
    convoy_runtime.cuda."""
    files = sorted((ROOT / "python" / "convoy").rglob("*.py"))
    bad = [
        f"{path}: {name}"
        for path in files
        for name in _imports(path)
        if name.startswith("convoy_runtime.cuda")
    ]
    assert not bad, "\n".join(bad)


def test_import_convoy_loads_no_torch() -> None:
    code = (
        "import sys, convoy; print(sorted({'torch', 'torch_mlir', 'convoy._convoy', "
        "'convoy_runtime'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'runtime'}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "[]"
