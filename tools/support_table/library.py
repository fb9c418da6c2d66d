# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles graphs to native code, and runs queries without a GPU. The folder with the code and its
index can be queried on any machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tools.convoy_opt import convoy_opt

from .matrix import Case
from .operations import OperationCase
from .stubs import write_stubs

__all__ = ["ROOT", "AnyCase", "prepare", "query_offline", "refusals"]

#: A graph about which cuDNN is queried.
AnyCase = Case | OperationCase

ROOT = Path(__file__).parents[2]
_LLVM = Path("/usr/lib/llvm-22/bin")
#: Graphs per library. Compile time grows faster than linearly.
_CHUNK = 400
#: The version of cuDNN that is queried, also about descriptors that are newer than the minimum of
#: programs.
_VERSION = 91900


def _tool(name: str) -> str:
    return shutil.which(f"{name}-22") or str(_LLVM / name)


def _graphs(cases: Sequence[AnyCase]) -> str:
    """Returns the text of the graphs. The operations of groups' graphs are ordered as in the
    compiler."""
    groups = "\n".join(case.text for case in cases if case.is_group)
    texts = [case.text for case in cases if not case.is_group]
    if groups:
        ordered = convoy_opt(groups, "--cudnn-order-operations").stdout
        texts += re.findall(r"^  cudnn\.graph @.*?^  }$", ordered, re.DOTALL | re.MULTILINE)
    return "\n".join(texts)


def _name(operation: str, mode: str) -> str:
    """Returns the name of an operation in the manifest, which options and errata use."""
    names = {
        "pointwise": mode.removesuffix("_fwd"),
        "reduction": f"reduce_{mode}",
        "resample": mode,
    }
    return names.get(operation, operation)


def _types(text: str) -> dict[str, dict[str, Any]]:
    """Returns, by graph, the element types of its arguments and results, the sizes of its results,
    its operations, and the element type of its first product's operands."""
    found: dict[str, dict[str, Any]] = {}
    for name, head, body in re.findall(
        r"cudnn\.graph @(\w+)(\(.*?\{)$(.*?)^ *cudnn\.return", text, re.DOTALL | re.MULTILINE
    ):
        dtypes = sorted(set(re.findall(r"tensor_desc<[\dx]*x(\w+)", head)))
        operations = [_name(*each) for each in re.findall(r"= cudnn\.(\w+)(?: (\w+)\()?", body)]
        product = re.search(
            r"= cudnn\.(?:convolution|matmul)\(.* : \S*tensor_desc<[\dx]*x(\w+)", body
        )
        found[name] = {
            "dtypes": dtypes,
            "results": re.findall(r"tensor_desc<(\d[\dx]*)x\w+", head.rpartition("->")[2]),
            "operations": operations,
            "factors": product and product[1],
        }
    return found


def _compile(part: int, cases: Sequence[AnyCase], folder: Path) -> dict[str, Any]:
    text = _graphs(cases)
    paths = {suffix: folder / f"graphs{part}.{suffix}" for suffix in ("mlirbc", "ll", "so")}
    # As text, this module would be much larger than its source.
    passes = (
        f"--convert-cudnn-graphs-to-backend=minimum-version={_VERSION}",
        "--convert-cudnn-backend-to-llvm",
        "--emit-bytecode",
    )
    convoy_opt(text, *passes, "-o", str(paths["mlirbc"]))
    subprocess.run(
        [_tool("mlir-translate"), "--mlir-to-llvmir", paths["mlirbc"], "-o", paths["ll"]],
        check=True,
    )
    flags = ["-w", "-O0", "-shared", "-fPIC", "-fuse-ld=lld", "-Wl,--strip-all"]
    subprocess.run(
        [
            _tool("clang"),
            *flags,
            paths["ll"],
            ROOT / "runtime/support/convoy_calls.c",
            "-o",
            paths["so"],
        ],
        check=True,
    )
    paths["mlirbc"].unlink()
    paths["ll"].unlink()
    types = _types(text)
    return {
        case.key: {
            "library": paths["so"].name,
            "symbol": f"{case.key}_build",
            **types[case.key],
        }
        for case in cases
    }


def prepare(cases: Sequence[AnyCase], folder: Path) -> None:
    """Writes the libraries of graphs, `index.json` and stub libraries.

    Args:
        cases: The graphs.
        folder: Where to write them.

    Raises:
        RuntimeError: convoy-opt fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = {
        case.key: {"reduction": case.reduction}
        for case in cases
        if isinstance(case, OperationCase) and case.reduction is not None
    }
    built = [case for case in cases if case.key not in index]
    jobs = os.cpu_count() or 1
    size = min(_CHUNK, -(-len(built) // jobs)) or 1
    chunks = [built[i : i + size] for i in range(0, len(built), size)]
    with ThreadPoolExecutor(jobs + 1) as pool:
        stubs = pool.submit(
            write_stubs, folder / "stubs", _tool("clang"), ROOT / "test/runtime/cublaslt_stub.c"
        )
        parts = list(pool.map(lambda item: _compile(item[0], item[1], folder), enumerate(chunks)))
        stubs.result()
    for part in parts:
        index |= part
    (folder / "index.json").write_text(json.dumps(index, indent=0))


def query_offline(folder: Path, answers: Path) -> dict[str, Any]:
    """Queries cuDNN on this machine without a GPU, for an H200.

    Args:
        folder: The folder that `prepare` wrote.
        answers: The file to write.

    Returns:
        The answers.

    Raises:
        RuntimeError: The process fails.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'runtime'}:{ROOT}",
        "LD_LIBRARY_PATH": str(folder / "stubs"),
    }
    command = [sys.executable, "-m", "tools.support_table.query", str(folder), "-o", str(answers)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )
    if done.returncode:
        message = f"querying cuDNN failed ({done.returncode}):\n{done.stderr[-4000:]}"
        raise RuntimeError(message)
    return json.loads(answers.read_text())  # type: ignore[no-any-return]


def refusals(
    cases: Sequence[Case], table: Path | None = None, *, allow_tf32: bool = True
) -> dict[str, str]:
    """Finds the groups that a support table refuses.

    Args:
        cases: The graphs; others than those of groups are ignored.
        table: The file of the table; by default the built-in one.
        allow_tf32: Whether f32 may be rounded to TF32.

    Returns:
        The reasons by graph.

    Raises:
        RuntimeError: convoy-opt reports another error.
    """
    groups = [case for case in cases if case.is_group]
    text, first, line = [], {}, 1
    for case in groups:
        first[line] = case.key
        text.append(case.text)
        line += case.text.count("\n") + 1
    options = f"--cudnn-verify-support=allow-tf32={'true' if allow_tf32 else 'false'}" + (
        f" support-table={table}" if table else ""
    )
    done = convoy_opt(
        "\n".join(text), options, "--mlir-disable-threading", "-o", os.devnull, check=False
    )
    found = {}
    for number, message in re.findall(
        r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.MULTILINE
    ):
        if not message.startswith("is refused by the support table: "):
            raise RuntimeError(f"convoy-opt failed on a graph of the matrix: {message}")
        found[first[int(number)]] = message.removeprefix("is refused by the support table: ")
    if bool(found) != bool(done.returncode):
        raise RuntimeError(done.stderr[-4000:])
    return found
