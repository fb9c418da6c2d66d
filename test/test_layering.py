"""Data flows one way through the folders: includes and imports only go up the list in
docs/architecture.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A file may include headers of its own folder and of folders above it. passes/Passes.h is available
# to all folders from passes/common on.
ORDER = [
    "dialect/common", "dialect/tcp", "dialect/cudnn", "dialect/cudnn_backend",
    "passes/common", "passes/fusion", "passes/normalize", "passes/group", "passes/tcp_to_cudnn",
    "passes/tcp_to_linalg", "passes/plan", "passes/kernels",
    "passes/cudnn_to_backend", "passes/gpu_codegen", "passes/cpu_codegen", "passes/llvm", "passes/emit", "passes/pipeline", "passes/tools", "python/bindings",
]  # fmt: skip
PHASES = ORDER[ORDER.index("passes/normalize") : ORDER.index("passes/pipeline")]
INCLUDE = re.compile(r'^#include "((?:dialect|passes|python|runtime)/[^"]+)"', re.MULTILINE)
#: The runtime headers that generated code must agree with, and the folder that includes each.
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
    assert len(edges) > 20, "the scan found too few edges"
    bad = []
    for name, included in edges:
        if included.startswith("runtime/"):
            if RUNTIME_HEADERS.get(included) != _folder(name):
                bad.append(f"{name} includes {included}")
            continue
        if included in ("passes/Passes.h", "passes/Passes.h.inc", "passes/Phases.def"):
            continue
        above = _folder(included)
        # The declarations of the passes are available to all folders from passes/common on.
        here = "passes/common" if name == "passes/Passes.h" else _folder(name)
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
    """The files of one include cycle; empty if there is none."""
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
    """X.cpp counts as X.h: files that X.cpp includes must not include X.h."""
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


def test_packages_of_a_server_are_imported_by_its_integration_only() -> None:
    runtime = ROOT / "runtime" / "convoy_runtime"
    users = {
        (str(path.relative_to(runtime).parent), package)
        for path in sorted(runtime.rglob("*.py"))
        for name in _imports(path)
        if (package := name.partition(".")[0])
        in ("ray", "starlette", "triton_python_backend_utils", "tritonclient")
    }
    assert users == {
        ("integrations/ray", "ray"),
        ("integrations/ray", "starlette"),
        ("integrations/triton", "triton_python_backend_utils"),
    }


# The packages of convoy_runtime.cuda. Each imports only from those before it, and from the modules
# of convoy_runtime outside cuda.
CUDA_PACKAGES = ["driver", "cudnn", "cublaslt", "plans", "graphs", "tuning", "program"]
# The modules outside cuda that import from it: inside functions, or for types only, so that the cpu
# target imports nothing of CUDA.
USERS_OF_CUDA = {"", "devices", "inspection", "loader", "load_flags"}


def _runtime_files() -> dict[str, Path]:
    """The modules of convoy_runtime, by their names in it: `cuda.plans.store`; the package itself
    is ``."""
    top = ROOT / "runtime" / "convoy_runtime"
    return {
        ".".join(path.relative_to(top).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip("."): path
        for path in sorted(top.rglob("*.py"))
    }


def _import_nodes(node: ast.AST, *, lazy: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The import statements below `node`, each with whether it is lazy: in a function, or under
    `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, lazy
        typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _import_nodes(child, lazy=lazy or typing or function)


def _runtime_imports(name: str, path: Path, modules: set[str]) -> Iterator[tuple[str, bool]]:
    """The modules of convoy_runtime that one of its modules imports, each with whether that is
    lazy."""
    package = name.split(".") if name else []
    if path.name != "__init__.py":
        package = package[:-1]
    for node, lazy in _import_nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = ["convoy_runtime", *package[: len(package) + 1 - node.level], *base]
            named = [".".join([*base, alias.name]) for alias in node.names]
        else:
            assert isinstance(node, ast.Import)
            base, named = [], [alias.name for alias in node.names]
        for full in named:
            if full.partition(".")[0] == "convoy_runtime":
                inner = full.partition(".")[2]
                yield inner if inner in modules else ".".join(base[1:]), lazy


def _runtime_edges() -> list[tuple[str, str, bool]]:
    """Importing module, imported module, and whether the import is lazy."""
    files = _runtime_files()
    return [
        (name, imported, lazy)
        for name, path in files.items()
        for imported, lazy in _runtime_imports(name, path, set(files))
    ]


def _cuda_package(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == "cuda" and len(parts) > 1 else None


def test_cuda_has_only_the_listed_packages() -> None:
    """No module is next to the packages, and the order has every package."""
    found = {_cuda_package(name) for name in _runtime_files()} - {None}
    assert found == set(CUDA_PACKAGES)


def test_cuda_packages_import_only_those_before_them() -> None:
    """This includes lazy imports."""
    edges = [
        (name, imported)
        for name, imported, _ in _runtime_edges()
        if _cuda_package(name) and _cuda_package(imported)
    ]
    assert len(edges) > 100, "the scan found too few edges"
    bad = [
        f"{name} imports {imported}"
        for name, imported in edges
        if CUDA_PACKAGES.index(_cuda_package(imported) or "")
        > CUDA_PACKAGES.index(_cuda_package(name) or "")
    ]
    assert not bad, "\n".join(bad)


def test_runtime_modules_import_cuda_lazily_or_not_at_all() -> None:
    bad = [
        f"{name or 'convoy_runtime'} imports {imported}"
        for name, imported, lazy in _runtime_edges()
        if not name.startswith("cuda")
        and imported.startswith("cuda")
        and not (lazy and name in USERS_OF_CUDA)
    ]
    assert not bad, "\n".join(bad)


def test_cuda_imports_no_module_that_uses_it() -> None:
    bad = [
        f"{name} imports {imported or 'convoy_runtime'}"
        for name, imported, _ in _runtime_edges()
        if name.startswith("cuda") and imported in USERS_OF_CUDA | {"__main__", "cpu"}
    ]
    assert not bad, "\n".join(bad)


def test_runtime_imports_have_no_cycle() -> None:
    """Lazy imports count as well."""
    graph: dict[str, set[str]] = defaultdict(set)
    for name, imported, _ in _runtime_edges():
        graph[name].add(imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(f"a cycle: {' -> '.join(error.args[1])}") from None


def test_compiler_uses_the_runtime_for_data_and_loading_only() -> None:
    """python/convoy may use the artifact format and the loader, but nothing of
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


#: Written by tools.write_enums.
GENERATED = {
    "runtime/convoy_runtime/cuda/cudnn/enums.py",
    "runtime/convoy_runtime/attribute_types.py",
}


def test_sources_name_their_license() -> None:
    """The first line of every source that ships is its SPDX identifier."""
    missing = [
        str(path.relative_to(ROOT))
        for folder in ("dialect", "passes", "python", "runtime", "tools", "benchmarks", "examples")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".cpp", ".h", ".td", ".cu", ".c", ".py", ".pyi")
        and str(path.relative_to(ROOT)) not in GENERATED
        and path.parent != ROOT / "python/convoy/dialects"
        and path.read_text()
        and "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
        not in re.sub(r"\A#!.*\n", "", path.read_text()).partition("\n")[0]
    ]
    assert not missing
