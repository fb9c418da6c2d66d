"""Runs mutants of the repository's .mlir files through convoy-opt: whole pipelines, single passes,
and the flags of their RUN lines.

A mutant may be refused. It must not end the process, exceed the limits of time or memory, or
trigger an abort in LLVM.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from case_outcome import Outcome
from convoy_opt import Failure, Tool, encode
from mutations import Pool, mutate
from seeds import PHASES, TEST, Command, Seeds, pass_flags, read_seeds

__all__ = ["run"]

_BATCH = 48
#: One of this many batches is run again, to count how many of its mutants succeed.
_SAMPLED = 25
#: Upstream functions that end the process for modules without any op of ours, with the reason.
#: Nothing else is excluded.
_UPSTREAM = {
    "mlir::linalg::GenericOp::parse": "the parser takes every element of 'iterator_types' for a string",
    "parseDstStyleOp": "the parser of linalg.transpose and its kin sets an attribute that it could not read",
    "mlir::detail::Parser::parseDenseArrayAttr": (
        "array<none: 1>: the parser looks at the width of a type before it checks that it has one"
    ),
    "mlir::getSymbolLessAffineMaps": "the verifier of tensor.expand_shape builds a map of reassociation indices unchecked",
    "mlir::vector::FromElementsOp::parse": (
        "the parser takes space for every element of the type before it looks for the elements"
    ),
    "custom op parser 'linalg.batch_matmul'": "the parser of linalg.batch_matmul takes an operand without a shape",
    "mlir::LLVM::AddressOfOp::verifySymbolUses": "it reads attributes of a global before their verifier has",
    "getInsertExtractValueElementType": "the parser of llvm.extractvalue follows positions that it did not check",
}
_OPTIONS = {
    "dtype": ("f16", "bf16", "f32", "f64", "x"),
    "alternatives": ("false",),
    "allow-tf32": ("false",),
    "cpu": ("x86-64", "x86-64-v3", "x86-64-v4", "none"),
    "chip": ("sm_80", "sm_90", "sm_90a", "sm_100", "sm_75"),
}
#: Options of single passes, including invalid values.
_PASS_OPTIONS = {
    "convoy-verify-phase": "phase", "tcp-set-dtype": "dtype", "tcp-hoist-weights": "target",
    "plan-pack-cpu-weights": "block",
    "cpu-contractions": "lanes registers",
    "convert-cudnn-graphs-to-backend": "minimum-version",
    "cudnn-attach-kernels": "remarks chip", "cudnn-describe-matmuls": "remarks", "tcp-form-groups": "allow-tf32",
    "cudnn-add-alternatives": "remarks allow-tf32",
    "gpu-map-kernels": "chip",
    "tcp-specialize-symbols": "values",
}  # fmt: skip
_PASS_VALUES = {
    "phase": (*PHASES, "none"), "dtype": ("f16", "bf16", "f32", "f64"), "target": ("cpu", "cuda",
    "none"),
    "block": ("0", "1", "16", "-1", "9223372036854775807"), "lanes": ("1", "4", "8", "16", "0",
    "-1", "3"),
    "registers": ("16", "32", "0", "-1", "1"), "minimum-version": ("91900", "90000", "0", "-1"),
    "remarks": ("true",),
    "allow-tf32": ("false", "true"), "chip": ("sm_80", "sm_90a", "sm_100", "none", ""),
    "values": ("s0=8,s1=12", "s0=8,s1=128", "batch=4,length=64", "s0=1", "s0=0", "s0=-1", "s0", "=1"),
}  # fmt: skip


def run(count: int, *, seed: int, jobs: int, keep: Path) -> Outcome:
    """Runs `count` mutants in `jobs` parallel processes; seed and compiler determine them.

    A mutant that fails is kept in the folder `keep`, with its command. $CONVOY_FUZZ_TOOLS names the
    folder of another build's convoy-opt.
    """
    began = time.monotonic()
    tool = Tool(Path(os.environ.get("CONVOY_FUZZ_TOOLS", TEST.parent / "build/bin")))
    seeds = read_seeds(tool, Random(seed), min(120, count // 20))
    pool = Pool.of([*seeds.chunks, *(text for texts in seeds.by_phase.values() for text in texts)])
    passes = pass_flags((TEST.parent / "passes/Passes.td").read_text())
    prepared = time.monotonic() - began
    keep.mkdir(parents=True, exist_ok=True)

    def batch(number: int) -> tuple[str, list[Path], int]:
        rng = Random(f"{seed}/{number}")
        kind, command = _command(rng, seeds, passes)
        size = min(_BATCH, count - number * _BATCH)
        mutants = [mutate(rng, rng.choice(command.seeds), pool) for _ in range(size)]
        found = check(tool, command.flags, mutants, keep / f"module-{seed}-{number}")
        return (
            kind,
            found,
            len(tool.results(command.flags, mutants)) if number % _SAMPLED == 0 else 0,
        )

    kinds: Counter[str] = Counter()
    failures: list[Path] = []
    through = 0
    with ThreadPoolExecutor(jobs) as workers:
        for kind, found, passed in workers.map(batch, range((count + _BATCH - 1) // _BATCH)):
            kinds[kind] += 1
            failures += found
            through += passed
    took = time.monotonic() - began
    sampled = sum(min(_BATCH, count - begin) for begin in range(0, count, _BATCH * _SAMPLED))
    shares = ", ".join(f"{kinds[kind] / sum(kinds.values()):.0%} {kind}" for kind in kinds)
    lines = (
        (
            f"modules: {count} mutants of {len(pool.texts)} modules in {took:.0f} s, "
            f"{prepared:.0f} of them for the modules; {shares}"
        ),
        (
            f"modules: of {sampled} that were looked at, {through} went through all of their "
            "passes, the others were refused"
        ),
    )
    return Outcome(count, tuple(failures), lines)


def check(tool: Tool, flags: tuple[str, ...], mutants: list[str], name: Path) -> list[Path]:
    """Runs mutants with these flags and keeps those that fail, in files whose names begin with
    `name`."""
    kept: list[Path] = []
    rest = list(mutants)
    while rest and tool.check(flags, rest) is not None:
        index = tool.first(flags, rest)
        culprit = [rest[index]]
        failure = tool.check(flags, culprit, symbols=True)
        if failure is None:
            # It needs the modules before it. The total time of many modules is not a failure.
            culprit = rest[: index + 1]
            failure = tool.check(flags, culprit, symbols=True)
        known = failure is not None and any(name in failure.output for name in _UPSTREAM)
        if (
            failure is not None
            and not known
            and not (len(culprit) > 1 and failure.how.startswith("took"))
        ):
            path = name.with_name(f"{name.name}-{len(mutants) - len(rest) + index}.mlir")
            path.write_bytes(_kept(tool, flags, culprit, failure, path))
            kept.append(path)
        rest = rest[index + 1 :]
    return kept


def _kept(
    tool: Tool, flags: tuple[str, ...], culprit: list[str], failure: Failure, path: Path
) -> bytes:
    command = shlex.join(
        [str(tool.path), str(path), *flags, *(["--split-input-file"] if len(culprit) > 1 else [])]
    )
    head = [f"convoy-opt {failure.how}", command, *failure.output.splitlines()]
    comments = "".join(f"// {re.sub(r'[^ -~]', '.', line)}\n" for line in head)
    return encode(comments) + b"\n// -----\n".join(encode(each) for each in culprit)


def _command(rng: Random, seeds: Seeds, passes: list[str]) -> tuple[str, Command]:
    """The flags, the modules, and the kind of the command for the summary."""
    match rng.choices(("pipelines", "tests' flags", "passes"), (55, 30, 15))[0]:
        case "pipelines":
            begin = rng.choices(range(len(PHASES)), (8, 2, 2, 2, 2, 2, 2, 1))[0]
            end = rng.choice((rng.randrange(begin, len(PHASES)), len(PHASES) - 2, len(PHASES) - 1))
            options = {
                "from": PHASES[begin],
                "to": PHASES[max(begin, end)],
                "target": rng.choice(("cpu", "cuda")),
            }
            for option, values in _OPTIONS.items():
                if rng.random() < 0.25:
                    options[option] = rng.choice(values)
            flag = "--convoy-pipeline=" + " ".join(
                f"{key}={value}" for key, value in options.items()
            )
            return "pipelines", Command((flag,), tuple(seeds.of(PHASES[begin], rng, _BATCH)))
        case "tests' flags":
            command = rng.choice(seeds.runs)
            others = tuple(rng.choice(seeds.chunks) for _ in range(len(command.seeds) // 4))
            return "tests' flags", Command(command.flags, (*command.seeds, *others))
        case _:
            name = rng.choice(passes)
            options = {
                option: rng.choice(_PASS_VALUES[option])
                for option in _PASS_OPTIONS.get(name, "").split()
                if rng.random() < 0.7
            }
            flag = f"--{name}" + (
                "=" + " ".join(f"{key}={value}" for key, value in options.items())
                if options
                else ""
            )
            return "passes", Command((flag,), tuple(seeds.of(rng.choice(PHASES), rng, _BATCH)))
