"""From cases to a folder that cuDNN can be asked about anywhere: native code that builds each
graph, and an index of it."""

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

from .matrix import Case
from .operations import OperationCase
from .stubs import write_stubs

__all__ = ["ROOT", "Asked", "ask_offline", "convoy_opt", "prepare", "refusals"]

#: What cuDNN can be asked about.
Asked = Case | OperationCase

ROOT = Path(__file__).parents[2]
_LLVM = Path("/usr/lib/llvm-22/bin")
#: Graphs in one library: the compiler takes more than twice as long for twice as many.
_CHUNK = 400
#: The cuDNN that is asked: what came after the oldest that programs run with is asked about too.
_VERSION = 91900


def _tool(name: str) -> str:
    return shutil.which(f"{name}-22") or str(_LLVM / name)


def convoy_opt(text: str, *flags: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs convoy-opt (CONVOY_OPT, else that of build/) on `text`."""
    program = os.environ.get("CONVOY_OPT", str(ROOT / "build/bin/convoy-opt"))
    done = subprocess.run(
        [program, "-", *flags], input=text, capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        message = f"convoy-opt {' '.join(flags)} failed:\n{done.stderr[-4000:]}"
        raise RuntimeError(message)
    return done


def _graphs(cases: Sequence[Asked]) -> str:
    """The graphs of `cases` as text: those of groups with their operations in the order in which
    the compiler puts them."""
    groups = "\n".join(case.text for case in cases if case.is_group)
    texts = [case.text for case in cases if not case.is_group]
    if groups:
        ordered = convoy_opt(groups, "--cudnn-order-operations").stdout
        texts += re.findall(r"^  cudnn\.graph @.*?^  }$", ordered, re.DOTALL | re.MULTILINE)
    return "\n".join(texts)


def _name(operation: str, mode: str) -> str:
    """What the manifest calls an operation: options and errata know it by that."""
    names = {
        "pointwise": mode.removesuffix("_fwd"),
        "reduction": f"reduce_{mode}",
        "resample": mode,
    }
    return names.get(operation, operation)


def _types(text: str) -> dict[str, dict[str, Any]]:
    """By graph, the element types of its arguments and results, its operations, and what its first
    product multiplies."""
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
            "operations": operations,
            "factors": product and product[1],
        }
    return found


def _compile(part: int, cases: Sequence[Asked], folder: Path) -> dict[str, Any]:
    text = _graphs(cases)
    paths = {suffix: folder / f"graphs{part}.{suffix}" for suffix in ("mlirbc", "ll", "so")}
    # Bytecode: as text, this module is larger than what it came from by far.
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


def prepare(cases: Sequence[Asked], folder: Path) -> None:
    """Writes libraries, `index.json` and stand-ins for the driver into `folder`."""
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


def ask_offline(folder: Path, answers: Path) -> dict[str, Any]:
    """What cuDNN says for the H200, on this machine."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'runtime'}:{ROOT}",
        "LD_LIBRARY_PATH": str(folder / "stubs"),
    }
    command = [sys.executable, "-m", "tools.support_table.ask", str(folder), "-o", str(answers)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )
    if done.returncode:
        message = f"asking cuDNN failed ({done.returncode}):\n{done.stderr[-4000:]}"
        raise RuntimeError(message)
    return json.loads(answers.read_text())  # type: ignore[no-any-return]


def refusals(
    cases: Sequence[Case], table: Path | None = None, *, allow_tf32: bool = True
) -> dict[str, str]:
    """The groups that the support table refuses (the built-in one, or a file), with its reason."""
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
            raise RuntimeError(f"convoy-opt refused a case of the matrix: {message}")
        found[first[int(number)]] = message.removeprefix("is refused by the support table: ")
    if bool(found) != bool(done.returncode):
        raise RuntimeError(done.stderr[-4000:])
    return found
