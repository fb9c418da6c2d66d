"""The modules that are mutated: every chunk of the repository's .mlir files, whole programs made
from them, and these programs at later phases."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from convoy_opt import MARKER, Tool

__all__ = ["PHASES", "TEST", "Command", "Seeds", "read_seeds", "run_lines"]

TEST = Path(__file__).resolve().parent.parent
PHASES = ("tcp", "normalize", "group", "cudnn", "linalg", "plan", "host", "llvm")
#: A pipeline can start from a chunk only if it has an op of these dialects.
_BEGINS = {
    "tcp": r"\btcp\.", "normalize": r"\btcp\.", "group": r"\btcp\.", "cudnn": r"\b(?:tcp|cudnn)\.",
    "linalg": r"\b(?:linalg|cudnn)\.",
    "plan": r"\b(?:memref|cudnn)\b", "host": r"\b(?:memref|gpu|cudnn_backend|vector)\b",
    "llvm": r"\b(?:llvm|gpu)\.",
}  # fmt: skip
#: A top-level function: arguments, results, body.
_FUNCTION = re.compile(
    r"^func\.func @\w+\(([^{}]*?)\) -> ([^{}()]+|\([^{}]*\)) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
#: Maximum length of a mutated module in characters: longer ones take more time and add no variety.
_LONGEST = 12000
#: Flags that only change how a test inspects the result.
_LOOKING = re.compile(
    r"^--?(?:verify-diagnostics(?:=\S*)?|split-input-file|o)$|^2>&1$|^/dev/null$|^-o$"
)


@dataclass(frozen=True)
class Command:
    """Flags of convoy-opt, and the seeds that are run with them."""

    flags: tuple[str, ...]
    seeds: tuple[str, ...]


@dataclass(frozen=True)
class Seeds:
    """The modules by use.

    Attributes:
        chunks: Every chunk of every file.
        runs: The RUN lines of the files, each with the chunks of its file.
        by_phase: Whole programs, by the phase that produced them.
        parts: Chunks with the dialects of a phase, which its passes usually refuse.
    """

    chunks: tuple[str, ...]
    runs: tuple[Command, ...]
    by_phase: dict[str, tuple[str, ...]]
    parts: dict[str, tuple[str, ...]]

    def of(self, phase: str, rng: Random, count: int) -> list[str]:
        """Modules that a pipeline can start from after `phase`, mostly programs."""
        whole, parts = self.by_phase[phase], self.parts[phase]
        return [rng.choice(whole if whole and rng.random() < 0.8 else parts) for _ in range(count)]


def read_seeds(tool: Tool, rng: Random, programs: int) -> Seeds:
    """Reads the repository's modules, and lowers `programs` of them to every phase for both
    targets."""
    chunks: list[str] = []
    runs: list[Command] = []
    for path in sorted(TEST.rglob("*.mlir")):
        text = path.read_text()
        mine = tuple(_chunks(text))
        chunks += mine
        runs += [Command(flags, mine) for flags in run_lines(text, path.parent)]
    whole = [program for chunk in chunks for program in _programs(chunk)]
    parts = {
        phase: tuple(_short(chunk for chunk in chunks if re.search(begins, chunk)))
        for phase, begins in _BEGINS.items()
    }
    by_phase: dict[str, list[str]] = {phase: [] for phase in PHASES}
    by_phase["tcp"] += whole
    for target in ("cpu", "cuda"):
        chosen = rng.sample(whole, min(programs, len(whole)))
        for phase in PHASES[1:]:
            flag = f"--convoy-pipeline=from=tcp to={phase} target={target}"
            by_phase[phase] += tool.results([flag], chosen)
    return Seeds(
        tuple(chunks),
        tuple(runs),
        {phase: tuple(_short(found)) for phase, found in by_phase.items()},
        parts,
    )


def _short(texts: Iterable[str]) -> Iterator[str]:
    return (text for text in texts if len(text) <= _LONGEST)


def _chunks(text: str) -> Iterator[str]:
    for chunk in re.split(rf"^{MARKER}.*$", text, flags=re.MULTILINE):
        code = "\n".join(line for line in chunk.split("\n") if not re.match(r"\s*//", line)).strip(
            "\n"
        )
        if code.strip():
            yield code


def run_lines(text: str, folder: Path) -> Iterator[tuple[str, ...]]:
    joined = re.sub(r"\\\n// RUN:", " ", text)
    for line in re.findall(r"^// RUN: (.*)$", joined, flags=re.MULTILINE):
        words = shlex.split(line.replace("%S", str(folder)))
        ends = [index for index, word in enumerate(words) if word in ("|", "&&")]
        for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(words)], strict=True):
            command_line = words[start:end]
            if "convoy-opt" in command_line:
                flags = command_line[command_line.index("convoy-opt") + 1 :]
                kept = tuple(
                    flag for flag in flags if not _LOOKING.match(flag) and flag.startswith("-")
                )
                yield kept


def _programs(chunk: str) -> Iterator[str]:
    """Each function of a chunk on tensors as a whole program: @main with named inputs and outputs.
    A chunk that is a program is returned as it is."""
    if "tcp.output" in chunk:
        yield chunk
        return
    aliases = "".join(f"{line}\n" for line in chunk.split("\n") if line.startswith(("#", "!")))
    for found in _FUNCTION.finditer(chunk):
        arguments = [part for part in re.split(r", (?=%)", found.group(1)) if part]
        results = re.split(r", (?=tensor)", found.group(2).strip("()"))
        if "tcp." not in found.group(3) or "{" in found.group(1):
            continue
        # Some arguments become weights, so that there is something to prepare.
        kinds = ["weight" if index % 2 else "input" for index in range(len(arguments))]
        marked = [
            (kind, f'{part} {{tcp.{kind} = "a{index}"}}')
            for index, (part, kind) in enumerate(zip(arguments, kinds, strict=True))
        ]
        named = ", ".join(part for _, part in sorted(marked))
        given = ", ".join(
            f'{part} {{tcp.output = "{index}"}}' for index, part in enumerate(results)
        )
        yield f"{aliases}func.func @main({named}) -> ({given}) {{\n{found.group(3)}}}"


def pass_flags(text: str) -> Sequence[str]:
    """The flags of the passes that a tablegen file declares."""
    return re.findall(r'def \w+ : \w*Pass<"([\w-]+)"', text)
