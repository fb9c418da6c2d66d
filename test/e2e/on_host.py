"""Runs generated kernels without a GPU: each becomes a function of the numbers of its block and its
thread, which loops call in the place of the launch. So the code of a kernel is tested, and what it
computes for each block. Threads run one after another, so kernels whose threads cooperate, through
shared memory or shuffles, are refused.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import convoy
from convoy.compiler import compile_imported

if TYPE_CHECKING:
    from collections.abc import Callable

    from convoy.compiler import CompiledModel
    from convoy.frontend import ImportedModule

_FUNCTION = re.compile(r"gpu\.func @(\w+)\((.*)\) kernel attributes \{.*\} \{")
_LAUNCH = re.compile(
    r"cudnn_backend\.launch_kernel %\w+, kernel = (\d+) "
    r"grid \[(\d+), 1, 1\] block \[(\d+), 1, 1\] shared 0\((.*)\) : (.*)"
)


def _flat(memref: str) -> str:
    """The type of a memref with one dim, e.g. `memref<6xf32>` for `memref<2x3xf32>`."""
    *sizes, element = re.fullmatch(r"memref<([^,]*)>", memref)[1].split("x")
    count = 1
    for size in sizes:
        count *= int(size)
    return f"memref<{count}x{element}>"


def _function(lines: list[str]) -> list[str]:
    """A kernel as a function with two more arguments."""
    name, arguments = _FUNCTION.search(lines[0]).groups()
    arguments = re.sub(r" \{llvm\.noalias\}", "", arguments)
    text = "\n".join(lines[1:])
    assert not re.search(r"gpu\.(barrier|shuffle)", text), "threads of a kernel cooperate"
    text = re.sub(r"(%\w+) = gpu\.block_id +x", r"\1 = arith.addi %block, %zero : index", text)
    text = re.sub(r"(%\w+) = gpu\.thread_id +x", r"\1 = arith.addi %thread, %zero : index", text)
    text = text.replace("gpu.return", "return")
    return [
        f"func.func private @{name}({arguments}, %block: index, %thread: index) "
        'attributes {tcp.target = "cpu"} {',
        "%zero = arith.constant 0 : index",
        *text.splitlines(),
    ]


def _calls(launch: re.Match[str], names: list[str], number: int) -> list[str]:
    """Loops over the blocks and threads of a launch."""
    kernel, blocks, threads, operands, types = launch.groups()
    operands, types = operands.split(", "), types.split(", ")
    text, flat = [], []
    for index, (operand, memref) in enumerate(zip(operands, types, strict=True)):
        flat.append(f"%flat{number}_{index}")
        size = re.fullmatch(r"memref<(\d+)x\w+>", _flat(memref))[1]
        text.append(
            f"{flat[-1]} = memref.reinterpret_cast {operand} to offset: [0], sizes: [{size}], "
            f"strides: [1] : {memref} to {_flat(memref)}"
        )
    bounds = {"zero": 0, "one": 1, "blocks": blocks, "threads": threads}
    text += [f"%{key}{number} = arith.constant {value} : index" for key, value in bounds.items()]
    signature = ", ".join([*map(_flat, types), "index", "index"])
    arguments = ", ".join([*flat, f"%block{number}", f"%thread{number}"])
    return [
        *text,
        f"scf.for %block{number} = %zero{number} to %blocks{number} step %one{number} {{",
        f"scf.for %thread{number} = %zero{number} to %threads{number} step %one{number} {{",
        f"func.call @{names[int(kernel)]}({arguments}) : ({signature}) -> ()",
        "}",
        "}",
    ]


def _without(text: str, key: str) -> str:
    """The text without the entry `key = [...]` of a dictionary."""
    if (start := text.find(f"{key} = [")) < 0:
        return text
    depth, end = 0, text.index("[", start)
    while True:
        depth += {"[": 1, "]": -1}.get(text[end], 0)
        end += 1
        if depth == 0:
            break
    return text[:start] + text[end:].removeprefix(", ")


def on_host(
    imported: ImportedModule, model: CompiledModel, convoy_opt: Callable[..., str]
) -> CompiledModel:
    """Compiles a program for the CPU, kernels included.

    Args:
        imported: The model from the frontend.
        model: The same compiled for `cuda`, without graphs of cuDNN.
        convoy_opt: Runs convoy-opt.

    Returns:
        The program that calls the kernels on the CPU.
    """
    text = convoy_opt(model.phases["host"])  # without locations
    assert not re.search(r"cudnn_backend\.(execute_graph|copy)", text), "only kernels can run"
    names = re.findall(r"gpu\.func @(\w+)\(", text)
    head, _, kernels = text.partition("  gpu.module @kernels")
    # Programs for the CPU write outputs to memory of their own, not to the arena.
    for key in (
        "kernels",
        "live",
        "gap_offsets",
        "gap_bytes",
        "output_offsets",
        "outside",
        "steps",
    ):
        head = _without(head, key)
    lines: list[str] = []
    for number, line in enumerate(head.splitlines()):
        launch = _LAUNCH.search(line)
        lines += _calls(launch, names, number) if launch else [line]
    head = "\n".join(lines).replace('"cuda"', '"cpu"')
    head = re.sub(r"(func\.func @main\()%\w+: !llvm\.ptr, ", r"\1", head)
    head = re.sub(r"(func\.func @main\(.*\)) -> i32", r"\1", head)
    head = re.sub(r"return %\w+ : i32", "return", head)
    body, functions = kernels.splitlines()[1:], []
    starts = [index for index, line in enumerate(body) if "gpu.func @" in line]
    for first, last in zip(starts, [*starts[1:], len(body)], strict=True):
        end = max(index for index in range(first, last) if body[index] == "    }")
        functions += _function(body[first : end + 1])
    text = "\n".join([head, *functions, "}"])
    options = convoy.CompileOptions(target="cpu")
    return compile_imported(replace(imported, text=text), options, phase="host")
