# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes the skeleton of a new op, pass or kernel: files from tools/templates, and entries in the
lists of all ops, passes or kernels.

    python -m tools.scaffold op NAME [--family FAMILY]
    python -m tools.scaffold pass NAME --phase PHASE
    python -m tools.scaffold kernel NAME [--anchor OP]

NAME is in snake_case. The NAME of a pass is its flag, in kebab-case. The result builds, and has a
TODO at each place to fill in. The command prints the files and the remaining work, in the order of
CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

__all__ = ["FOLDERS", "ScaffoldError", "kernel", "main", "op", "pass_"]

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = Path(__file__).resolve().parent / "templates"

#: Family of tcp ops to the frontend module that converts Torch's ops to them.
FAMILIES = {
    "elementwise": "unary",
    "linear": "linear",
    "pooling": "pooling",
    "reduction": "reduction",
    "shape": "shape",
}
#: Phase to the folder of its passes; phase host has three, and this is the GPU's.
FOLDERS = {
    "normalize": "normalize",
    "group": "group",
    "cudnn": "tcp_to_cudnn",
    "linalg": "tcp_to_linalg",
    "plan": "plan",
    "host": "gpu_codegen",
    "llvm": "llvm",
}

_OP = """the row of {name} in docs/architecture.md
folds (hasFolder) in dialect/tcp/TcpFolds.cpp, a canonicalization in TcpCanonicalize.cpp
the converter in python/convoy/frontend/{module}.py
a case in test/frontend/op_cases.py, its meaning in test/frontend/tcp_reference.py, and
    CONVOY_UPDATE_GOLDEN=1 .venv/bin/pytest test/frontend/test_ops.py
the lowering in passes/tcp_to_linalg, and types without one in Unsupported.cpp
if cuDNN supports it: the steps of "Give an op to cuDNN" in CONTRIBUTING.md
a step in test/fuzz/random_*.py"""
_PASS = """the pass in passes/{folder}/{file}.cpp, its description and options in passes/Passes.td
its position in passes/pipeline/Pipeline.cpp, now the last of the phase. Passes.td has the same
    order
its libraries in passes/{folder}/CMakeLists.txt
cases in test/passes/{folder}/{flag}.mlir and {flag}-errors.mlir
the phase's paragraph in docs/architecture.md"""
_KERNEL = """the function in runtime/device/{name}.cu, its arguments in kernel_abi.h
the match and the variants in passes/kernels/{title}Kernels.cpp
reasons and variants in test/passes/kernels/attach-{file}-kernels.mlir, instructions in
    {file}-ptx.mlir
a case in test/gpu/test_graph_kernels.py, which compares every variant with PyTorch
the paragraph of kernels in docs/architecture.md"""


_SUMMARY = "writes the skeleton of a new op, pass or kernel, and lists the remaining work"


class ScaffoldError(Exception):
    """An invalid or existing name, or a list that is not found in its file."""


class _At(Template):
    """Templates with `@{name}`, and `@@` for @: C++, TableGen and MLIR use `$` and `{{`."""

    delimiter = "@"


class _Tree:
    """A checkout, and the files written to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: list[str] = []

    def create(self, path: str, text: str) -> None:
        if (self.root / path).exists():
            raise ScaffoldError(f"expected a new name, but {path} exists")
        self._write(path, text)

    def append(self, path: str, text: str) -> None:
        self._write(path, (self.root / path).read_text() + text)

    def insert(self, path: str, after: str, before: str, text: str) -> None:
        """Inserts `text` at the first match of `before` that follows the first match of `after`."""
        content = (self.root / path).read_text()
        start = re.compile(after, re.MULTILINE).search(content)
        end = start and re.compile(before, re.MULTILINE).search(content, start.end())
        if end is None:
            raise ScaffoldError(f"expected /{after}/, then /{before}/ in {path}")
        self._write(path, content[: end.start()] + text + content[end.start() :])

    def require_new(self, path: str, text: str) -> None:
        if text in (self.root / path).read_text():
            raise ScaffoldError(f"expected a new name, but {path} has {text}")

    def _write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text)
        if path not in self.written:
            self.written.append(path)


def op(root: Path, name: str, family: str) -> tuple[list[str], str]:
    """Writes the skeleton of a tcp op.

    Args:
        root: The root of the checkout.
        name: The mnemonic in snake_case.
        family: A key of FAMILIES.

    Returns:
        The written files, and the remaining work as lines.

    Raises:
        ScaffoldError: The name is invalid or exists, or a list is not found.
    """
    _check(name, r"[a-z][a-z0-9]*(_[a-z0-9]+)*", "snake_case")
    tree, module = _Tree(root), FAMILIES[family]
    definitions = f"dialect/tcp/Tcp{family.title()}Ops.td"
    tree.require_new(definitions, f'"{name}"')
    names = {"name": name, "Name": _camel(name)}
    tree.insert(definitions, r"\A", r"^#endif", _fill("op.td", names))
    tree.append("dialect/tcp/TcpVerify.cpp", _fill("op_verify.cpp", names))
    tree.append("test/dialect/tcp/ops.mlir", _fill("op_ops.mlir", names))
    tree.append(f"test/dialect/tcp/invalid-{family}.mlir", _fill("op_invalid.mlir", names))
    tree.append(f"python/convoy/frontend/{module}.py", _fill("op_converter.py", names))
    return tree.written, _OP.format(name=name, module=module)


def pass_(root: Path, flag: str, phase: str) -> tuple[list[str], str]:
    """Writes the skeleton of a pass, as the last one of its phase.

    Args:
        root: The root of the checkout.
        flag: The flag in kebab-case.
        phase: A key of FOLDERS.

    Returns:
        The written files, and the remaining work as lines.

    Raises:
        ScaffoldError: The name is invalid or exists, or a list is not found.
    """
    _check(flag, r"[a-z][a-z0-9]*(-[a-z0-9]+)*", "kebab-case")
    tree, folder, name = _Tree(root), FOLDERS[phase], _camel(flag)
    names = {"flag": flag, "Name": name, "NAME": name.upper()}
    tree.require_new("passes/Passes.td", f'"{flag}"')
    tree.create(f"passes/{folder}/{name}.cpp", _fill("pass.cpp", names))
    # Before the next section, or the end of the file.
    tree.insert(
        "passes/Passes.td", rf"^//===-- {phase} -", r"^(//===--|#endif)", _fill("pass.td", names)
    )
    # The last library of the folder; the others are for one dialect or one target.
    lists = f"passes/{folder}/CMakeLists.txt"
    tree.insert(lists, r"(?s:.*)^convoy_library\(\w+", r"\s", f" {name}.cpp")
    tree.insert(
        "passes/pipeline/Pipeline.cpp",
        rf"^static void populate_{phase}\(",
        r"^\}",
        f"  pm.addPass(create{name}Pass());\n",
    )
    tree.create(f"test/passes/{folder}/{flag}.mlir", _fill("pass.mlir", names))
    tree.create(f"test/passes/{folder}/{flag}-errors.mlir", _fill("pass_errors.mlir", names))
    return tree.written, _PASS.format(folder=folder, file=name, flag=flag)


def kernel(root: Path, name: str, anchor: str) -> tuple[list[str], str]:
    """Writes the skeleton of a kernel for graphs.

    Args:
        root: The root of the checkout.
        name: The name in snake_case.
        anchor: The C++ class of the graphs' first operation, e.g. ReductionOp.

    Returns:
        The written files, and the remaining work as lines.

    Raises:
        ScaffoldError: The name is invalid or exists, or a list is not found.
    """
    _check(name, r"[a-z][a-z0-9]*(_[a-z0-9]+)*", "snake_case")
    _check(anchor, r"([A-Z][a-z0-9]*)+Op", "the name of a class, e.g. ReductionOp")
    tree, title = _Tree(root), _camel(name)
    file = name.replace("_", "-")
    names = {"name": name, "Name": title, "NAME": name.upper(), "TITLE": title.upper()}
    names |= {"file": file, "Anchor": anchor}
    folder = "passes/kernels"
    tree.require_new(f"{folder}/AttachKernels.cpp", f"{{cudnn::{anchor}::")
    tree.create(f"runtime/device/{name}.cu", _fill("kernel.cu", names))
    abi = _fill("kernel_abi.h", names)
    tree.insert("runtime/device/kernel_abi.h", r"\A", r"^\n\} // namespace", abi)
    for suffix in ("h", "cpp"):
        tree.create(f"{folder}/{title}Kernels.{suffix}", _fill(f"kernel.{suffix}", names))
    lists = f"{folder}/CMakeLists.txt"
    tree.insert(lists, r"^foreach\(part( \w+)+", r"\)", f" {name}")
    tree.insert(lists, r"^convoy_library\(ConvoyKernels", r"\s", f" {title}Kernels.cpp")
    attach = f"{folder}/AttachKernels.cpp"
    header = f'#include "{folder}/{title}Kernels.h"\n'
    content = (root / attach).read_text()
    later = [each for each in re.findall(rf'^#include "{folder}/.*\n', content, re.MULTILINE)]
    following = next((each for each in later if each > header), "\nnamespace convoy")
    tree.insert(attach, r"\A", rf"(?m:^){re.escape(following)}", header)
    row = f"    {{cudnn::{anchor}::getOperationName(), offer{title}}},\n"
    tree.insert(attach, r"^static const Offerer \w+\[\] = \{$", r"^\};", row)
    tree.create(f"test/{folder}/attach-{file}-kernels.mlir", _fill("kernel_attach.mlir", names))
    return tree.written, _KERNEL.format(name=name, title=title, file=file)


def _check(name: str, pattern: str, form: str) -> None:
    if not re.fullmatch(pattern, name):
        raise ScaffoldError(f"expected a name in {form}, but got {name}")


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.split("[-_]", name))


def _fill(template: str, names: dict[str, str]) -> str:
    text = _At((TEMPLATES / f"{template}.in").read_text()).substitute(names)
    # The column of clang-format's line continuations in macros.
    return re.sub(r"^(.*\S) *\\$", lambda line: f"{line[1]:<99}\\", text, flags=re.MULTILINE)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Runs the command. Returns 1 after an error message."""
    parser = argparse.ArgumentParser(prog="python -m tools.scaffold", description=_SUMMARY)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="op|pass|kernel")
    of_op = kinds.add_parser("op", help="an op of tcp")
    of_op.add_argument("--family", choices=FAMILIES, default="elementwise")
    of_pass = kinds.add_parser("pass", help="a pass")
    of_pass.add_argument("--phase", choices=FOLDERS, required=True)
    of_kernel = kinds.add_parser("kernel", help="a kernel for cuDNN graphs")
    of_kernel.add_argument("--anchor", default="ReductionOp", help="first operation of the graphs")
    for each in (of_op, of_pass, of_kernel):
        each.add_argument("name", metavar="NAME")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.kind == "op":
            written, remaining = op(root, chosen.name, chosen.family)
        elif chosen.kind == "pass":
            written, remaining = pass_(root, chosen.name, chosen.phase)
        else:
            written, remaining = kernel(root, chosen.name, chosen.anchor)
    except ScaffoldError as error:
        print(f"scaffold: {error}", file=sys.stderr)
        return 1
    print("written:", *written, sep="\n  ")
    print("remaining:", *remaining.splitlines(), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
