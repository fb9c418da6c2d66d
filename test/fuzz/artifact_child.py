"""The process that opens and runs mutants of artifacts, one after another:
`python artifact_child.py JOB`, where JOB is a pickled `Job`.

Before each mutant it writes the mutant's index and the time to a file that the parent has mapped,
so that the parent can tell which mutant ended the process.
"""

from __future__ import annotations

import mmap
import os
import pickle
import resource
import struct
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "runtime")]

import numpy as np  # noqa: E402
from artifact_mutations import Mutant, Sample, mutant  # noqa: E402
from guarded import aligned_empty, check_canaries  # noqa: E402

import convoy_runtime  # noqa: E402
from convoy_runtime import cpu, weights  # noqa: E402
from convoy_runtime import opening as reader  # noqa: E402
from convoy_runtime._safetensors import HostTensor, read_safetensors  # noqa: E402
from convoy_runtime.errors import ConvoyRuntimeError  # noqa: E402

__all__ = ["PROGRESS", "Job"]

#: The index of the running mutant, and its start by the monotonic clock.
PROGRESS = struct.Struct("<qd")
_MEMORY = 8 << 30


@dataclass(frozen=True)
class Job:
    """Mutants `begin` to `end` (exclusive) of `samples`; failures go to the folder `keep`."""

    samples: list[Sample]
    seed: int
    begin: int
    end: int
    progress: Path
    keep: Path


def main(path: str) -> None:
    """Runs a job."""
    job: Job = pickle.loads(Path(path).read_bytes())
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cpu.aligned_empty = weights.aligned_empty = aligned_empty  # type: ignore[attr-defined]
    reader.read_safetensors = _guarded_safetensors  # type: ignore[attr-defined]
    counts: dict[str, int] = {}
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm", prefix="convoy-fuzz-") as folder,
        job.progress.open("r+b") as file,
    ):
        progress = mmap.mmap(file.fileno(), PROGRESS.size)
        expected = {}
        for sample in job.samples:
            target = Path(folder) / "sample.convoy"
            target.write_bytes(sample.content)
            expected[sample.name] = _run(sample, target, poison=False)
        target = Path(folder) / "mutant.convoy"
        for index in range(job.begin, job.end):
            PROGRESS.pack_into(progress, 0, index, time.monotonic())
            each = mutant(Random(f"{job.seed}/{index}"), index, job.samples)
            outcome = _outcome(each, target, expected[each.sample.name], poison=index % 3 == 0)
            counts[outcome] = counts.get(outcome, 0) + 1
            if outcome not in ("refused", "same", "other"):
                keep(job, index, each, outcome)
        PROGRESS.pack_into(progress, 0, job.end, time.monotonic())
    print(
        " ".join(
            f"{key}={value}" for key, value in counts.items() if key in ("refused", "same", "other")
        )
    )
    sys.stdout.flush()
    # Threads of native libraries may still exist.
    os._exit(0)


def keep(job: Job, index: int, found: Mutant, outcome: str) -> Path:
    """Writes a mutant that failed, and next to it the command that reproduces the failure."""
    path = job.keep / f"artifact-{job.seed}-{index}.convoy"
    path.write_bytes(found.content)
    text = f"{outcome}\n{found.sample.name}: {found.change}\nmutant {index} of seed {job.seed}\n"
    command = "opening.open_artifact" if found.sample.target == "cuda" else "load"
    path.with_suffix(".txt").write_text(
        f"{text}python -c 'import convoy_runtime as c; c.{command}({str(path)!r})'\n"
    )
    return path


def _outcome(each: Mutant, target: Path, expected: list[np.ndarray], *, poison: bool) -> str:
    """`refused`, `same`, `other` if a rehashed artifact may give another result, or the failure."""
    target.write_bytes(each.content)
    try:
        got = _run(each.sample, target, poison=poison)
    except ConvoyRuntimeError:
        return "refused" if check_canaries() else "wrote outside its memory"
    except Exception as error:
        check_canaries()
        return f"raised {type(error).__module__}.{type(error).__qualname__}: {error}"[:600]
    if not check_canaries():
        return "wrote outside its memory"
    if len(got) == len(expected) and all(_equal(a, b) for a, b in zip(got, expected, strict=True)):
        return "same"
    return "other" if each.remade else "gave another result"


def _equal(got: np.ndarray, expected: np.ndarray) -> bool:
    return (
        got.dtype == expected.dtype
        and got.shape == expected.shape
        and got.tobytes() == expected.tobytes()
    )


def _run(sample: Sample, path: Path, *, poison: bool) -> list[np.ndarray]:
    """The results of a CPU program; of a GPU program, everything that is readable without a GPU."""
    if sample.target == "cuda":
        artifact = reader.open_artifact(path, any_host=True)
        artifact.alternatives()
        found = {**(artifact.weights() or {}), **artifact.constants()}
        manifest = np.frombuffer(artifact.manifest.to_json().encode(), np.uint8)
        return [manifest, *(found[name].array for name in sorted(found))]
    given = None
    if sample.weights:
        source = path.with_name("weights.safetensors")
        source.write_bytes(sample.weights)
        given = source
    with convoy_runtime.load(path, weights=given, poison=poison) as program:
        return [array.copy() for array in program.run_numpy(*_inputs(sample))]


_given: dict[str, list[np.ndarray]] = {}


def _inputs(sample: Sample) -> list[np.ndarray]:
    """Inputs for the sample, independent of the mutant."""
    if sample.name not in _given:
        import json

        specs = json.loads(sample.members()["manifest.json"])["inputs"]
        arrays = []
        for number, spec in enumerate(specs):
            array = aligned_empty(tuple(spec["shape"]), spec["dtype"])
            array[...] = (
                np.random.default_rng(number).integers(-4, 5, spec["shape"]).astype(array.dtype)
            )
            arrays.append(array)
        check_canaries()
        _given[sample.name] = arrays
    return _given[sample.name]


def _guarded_safetensors(
    buffer: memoryview | bytes, *, path: object, member: str | None = None
) -> dict[str, HostTensor]:
    """Like `read_safetensors`, with each tensor in separate memory."""
    tensors = {}
    for name, tensor in read_safetensors(buffer, path=path, member=member).items():
        copy = aligned_empty(tensor.array.shape, tensor.dtype)
        copy[...] = tensor.array
        tensors[name] = HostTensor(tensor.dtype, copy)
    return tensors


if __name__ == "__main__":
    main(sys.argv[1])
