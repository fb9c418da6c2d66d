"""From the path of an artifact to a program that runs it: checks first, then the target's own kind
of Program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ._archive import allocate
from ._native import MEMBER, load_native
from ._sizes import check_sizes
from .artifact import open_artifact
from .cpu import CpuProgram
from .errors import ArgumentError, DeviceError
from .manifest import Manifest
from .program import Program, Progress
from .timings import collect, part

if TYPE_CHECKING:
    from .cuda.options import PlanOptions

__all__ = ["load"]


def load(
    path: str | os.PathLike[str],
    *,
    device: str | int | None = None,
    weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    poison: bool = False,
    options: PlanOptions | None = None,
    plan_cache: str | os.PathLike[str] | bool = True,
    tune: Literal["off", "quick", "full", "exhaustive"] = "off",
    again: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    digest: str | None = None,
) -> Program:
    """Loads the artifact at `path`: maps its native code into this process, and runs it. See
    SECURITY.md for files of others.

    `digest`, as `sha256:...` and as `convoy inspect --digest` prints it, is that of the one
    artifact to load; any other is refused before anything of it is used. `device` is `cpu`, `cuda`,
    `cuda:N` or N; by default the artifact's target, on the first GPU. `weights` replaces the
    weights, as `Program.load_weights` does. `poison` fills all temporary and output memory with NaN
    before each run, for tests. `options` restricts cuDNN's plans, and `plan_cache` says where they
    are kept for the next time: a folder, True for the user's cache ($CONVOY_CACHE, else
    ~/.cache/convoy), False for nowhere. `tune` measures plans on the device, unless artifact or
    cache have some that were found with as much work: `quick` the first ones that cuDNN offers for
    each graph, in seconds; `full` all there are, in minutes; `exhaustive` also every knob of each
    engine, in hours; `off` takes what artifact or cache have, else a small graph's first kernel or
    cuDNN's first choice, which `strict` refuses. With `again` tuning measures also what they have.
    On the `cpu` target there are no plans, and nothing of this does anything. `progress` hears of
    each step. `Program.timings` says where the time went. Raises ArtifactError, ArgumentError,
    DeviceError (which CudnnError and PlanError are), WeightsError.
    """
    with collect() as timings:
        artifact = open_artifact(path, digest=digest, background=True)
        if tune not in (levels := ("off", "quick", "full", "exhaustive")):
            raise ArgumentError(
                argument="tune",
                problem="unknown level",
                expected=f"one of {', '.join(levels)}",
                got=repr(tune),
            )
        target, index = _device(device, artifact.manifest.target)
        if target != artifact.manifest.target:
            made = artifact.manifest.target
            raise DeviceError(
                problem=f"{path} was compiled for {made} and cannot run on {target}",
                hint=f"compile the model with target={target!r}",
            )
        _check_memory(artifact.manifest, artifact.path)
        native = load_native(artifact.members[MEMBER], path=artifact.path)
        check_sizes(native, artifact.manifest, path=artifact.path)
        program: Program
        if target == "cuda":
            # Only here: the cpu target needs no CUDA bindings.
            with part("imports"):
                from .cuda.executor import CudaProgram

            program = CudaProgram(
                artifact,
                native,
                index=index,
                poison=poison,
                options=options,
                plan_cache=plan_cache,
                tune=tune,
                again=again,
                strict=strict,
                progress=progress,
            )
        else:
            program = CpuProgram(artifact, native, poison=poison)
        try:
            artifact.verify()
            if weights is not None:
                program.load_weights(weights)
            elif (prepared := artifact.weights()) is not None:
                program._install(prepared)
                program._has_weights = True
                del prepared
            # What the program needs of them it has; on a GPU that is nothing.
            artifact.release_weights()
        except BaseException:
            program.close()
            raise
    program.timings = timings
    return program


def _check_memory(manifest: Manifest, path: object) -> None:
    """Raises ArtifactError when this process could not allocate what a run on the host would. It is
    allocated by the runs, and not used here, which takes microseconds."""
    sizes = {"prepare_arena_bytes": manifest.prepare_arena_bytes}
    if manifest.target == "cpu":
        sizes |= {
            "arena_bytes": manifest.arena_bytes,
            "outputs": sum(spec.bytes for spec in manifest.outputs),
        }
    for field, size in sizes.items():
        allocate(size, field, path=path)


def _device(device: str | int | None, target: str) -> tuple[str, int]:
    if device is None:
        return target, 0
    kind, _, number = (f"cuda:{device}" if isinstance(device, int) else str(device)).partition(":")
    if (
        kind not in ("cpu", "cuda")
        or (number and not number.isdecimal())
        or (kind == "cpu" and number not in ("", "0"))
    ):
        raise ArgumentError(
            argument="device",
            problem="unknown name",
            expected="cpu, cuda, cuda:N or N",
            got=repr(device),
        )
    return kind, int(number or 0)
