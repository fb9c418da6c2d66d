# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loads artifacts: checks them, and creates the Program of their target."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._archive import allocate
from ._native import MEMBER, NativeLibrary, load_native
from ._sizes import check_sizes
from .artifact import Artifact, check_host
from .cpu import CpuProgram, Lanes
from .devices import device_indices
from .errors import ArgumentError
from .manifest import Manifest
from .opening import open_file, select_point
from .program import Program, Progress
from .timings import collect, part
from .weights import aligned_tensor

if TYPE_CHECKING:
    from .cuda.plans.load_options import LoadOptions
    from .cuda.plans.options import PlanOptions
    from .dynamic.artifact import DynamicArtifact

__all__ = ["load", "load_each"]


def load(
    path: str | os.PathLike[str],
    *,
    device: str | int | None = None,
    weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    poison: bool = False,
    options: PlanOptions | None = None,
    plan_cache: str | os.PathLike[str] | bool = True,
    tune: Literal["off", "limited", "quick", "full", "exhaustive"] = "off",
    again: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    digest: str | None = None,
    point: Mapping[str, int] | None = None,
    capture_points: Sequence[Mapping[str, int]] | Literal["all"] = (),
    max_cuda_graphs: int = 64,
) -> Program:
    """Loads an artifact: maps its native code into this process and prepares to run it. An artifact
    is a program; see SECURITY.md before loading an untrusted one.

    On target "cpu" there are no plans: `options`, `plan_cache`, `tune`, `again`, `strict` and
    `progress` have no effect.

    Args:
        path: The artifact file.
        device: "cpu", "cuda", "cuda:N" or N. Default: the artifact's target, on the first GPU.
        weights: Replaces the artifact's weights; see `Program.load_weights`.
        poison: Whether to fill all temporary and output memory with NaN before each run, for tests.
        options: Restrictions on plans.
        plan_cache: Where plans are stored for the next load: a folder, True for the user's cache
            ($CONVOY_CACHE, else ~/.cache/convoy), False for nowhere.
        tune: The tuning level. Graphs with a plan of at least this level in the artifact or the
            cache are not measured. "limited" measures at most five plans of each graph, the first
            of each source of plans; "quick" measures the first plans that cuDNN offers for each
            graph, in seconds; "full" all plans, in minutes; "exhaustive" also the knobs of each
            engine, in hours. "off" measures nothing: a graph runs with the plan of the artifact or
            the cache, else with the first kernel of a small graph or cuDNN's first choice.
        again: Whether tuning also measures graphs for which the artifact or the cache has a plan.
        strict: Whether "off" fails if a graph has no measured plan.
        progress: Called once per step of planning with the name of the step, the number of finished
            steps and the number of steps.
        digest: The expected digest, "sha256:..." as printed by `convoy inspect --digest`. An
            artifact with another digest is rejected before it is used.
        point: For an artifact with dynamic sizes, the value of each symbol at one of its points:
            loads only the static program of these sizes.
        capture_points: For an artifact with dynamic sizes on a GPU, the points whose CUDA graphs
            are captured now, each with the value of every symbol; "all" for all. The first run of
            any other point captures its CUDA graph, which takes milliseconds.
        max_cuda_graphs: For an artifact with dynamic sizes on a GPU, the largest number of CUDA
            graphs that are kept. The first run of a further point waits for the last run, destroys
            the least recently used CUDA graph and captures its own.

    Returns:
        The program; `Program.timings` has the seconds of each part of the load. For an artifact
        with dynamic sizes, a `convoy_runtime.dynamic.program.DynamicProgram`.

    Raises:
        ArtifactError: The file is damaged, of another version, or does not have `digest`.
        ArgumentError: An argument has an invalid value.
        DeviceError: The device is missing or is not the artifact's target. CudnnError and PlanError
            are subclasses.
        WeightsError: `weights` do not match the artifact.
    """
    return load_each(
        path,
        [device],
        weights=weights,
        poison=poison,
        options=options,
        plan_cache=plan_cache,
        tune=tune,
        again=again,
        strict=strict,
        progress=progress,
        digest=digest,
        point=point,
        capture_points=capture_points,
        max_cuda_graphs=max_cuda_graphs,
    )[0]


def load_each(
    path: str | os.PathLike[str],
    devices: Sequence[str | int | None] | None,
    *,
    weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    poison: bool = False,
    options: PlanOptions | None = None,
    plan_cache: str | os.PathLike[str] | bool = True,
    tune: Literal["off", "limited", "quick", "full", "exhaustive"] = "off",
    again: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    digest: str | None = None,
    point: Mapping[str, int] | None = None,
    capture_points: Sequence[Mapping[str, int]] | Literal["all"] = (),
    max_cuda_graphs: int = 64,
) -> list[Program]:
    """Loads an artifact on several devices. The file is read, and its weights are prepared, once.
    Devices are planned one after another; with a plan cache, an equal GPU uses the plans that were
    measured on the first one. The other arguments and the errors are those of `load`.

    Args:
        path: The artifact file.
        devices: The devices; None for all GPUs that are visible, or on target "cpu" for the host.

    Returns:
        The program of each device. Each has the `timings` of the whole load.
    """
    with collect() as timings:
        opened = open_file(path, digest=digest)
        if point is not None:
            opened = select_point(opened, point)
        if tune not in (levels := ("off", "limited", "quick", "full", "exhaustive")):
            raise ArgumentError(
                argument="tune",
                problem="unknown level",
                expected=f"one of {', '.join(levels)}",
                got=repr(tune),
            )
        to_capture = _points_of(opened, capture_points, max_cuda_graphs)
        target = opened.manifest.target
        indices = device_indices(path, devices, target)
        load_options: LoadOptions | None = None
        if target == "cuda":
            # Imported here, because the cpu target needs no CUDA bindings.
            with part("imports"):
                from .cuda.plans.load_options import LoadOptions
                from .cuda.plans.options import PlanOptions

            load_options = LoadOptions(
                plan_options=options or PlanOptions(),
                plan_cache=plan_cache,
                tune=tune,
                again=again,
                strict=strict,
                poison=poison,
                progress=progress,
            )
        programs: list[Program] = []
        try:
            for index in indices:
                maker = _Maker(target, index, poison, load_options)
                if isinstance(opened, Artifact):
                    program = maker.make(opened, maker.native(opened))
                else:
                    program = _dynamic_program(opened, maker, max_cuda_graphs)
                programs.append(program)
                if target == "cuda":
                    for values in to_capture:
                        program.point(**values).capture()  # type: ignore[attr-defined]
            opened.verify()
            prepared = opened.weights() if weights is None else programs[0].prepare(weights)
            if prepared is not None:
                if target == "cpu" and len(programs) > 1:
                    prepared = {name: aligned_tensor(each) for name, each in prepared.items()}
                for program in programs:
                    program.install_all(prepared)
                del prepared
            # The programs have copied the weights or do not use them.
            opened.release_weights()
        except BaseException:
            for program in programs:
                program.close()
            raise
    for program in programs:
        program.timings = timings
    return programs


@dataclass
class _Maker:
    """Makes the programs of one load."""

    target: str
    index: int
    poison: bool
    options: LoadOptions | None = None

    def native(self, artifact: Artifact) -> NativeLibrary:
        """The native library of an artifact that this machine can run."""
        check_host(artifact.manifest.host, path=artifact.path)
        _check_memory(artifact.manifest, artifact.path)
        native = load_native(artifact.members[MEMBER], path=artifact.path)
        check_sizes(native, artifact.manifest, path=artifact.path)
        return native

    def make(self, artifact: Artifact, native: NativeLibrary, shared: Any = None) -> Program:
        """Makes the program of an artifact. `shared` is what the programs of all points share."""
        if self.options is None:
            return CpuProgram(artifact, native, poison=self.poison, lanes=shared)
        with part("imports"):
            from .cuda.program.executor import CudaProgram

        return CudaProgram(artifact, native, self.options, index=self.index, shared=shared)


def _points_of(
    opened: Artifact | DynamicArtifact,
    chosen: Sequence[Mapping[str, int]] | Literal["all"],
    most: int,
) -> list[Mapping[str, int]]:
    """The points to capture of an artifact; none if its sizes are static. Raises ArgumentError if
    one does not exist, or they are more than are kept."""
    if most < 1:
        raise ArgumentError(
            argument="max_cuda_graphs", problem="out of range", expected="at least 1", got=str(most)
        )
    if isinstance(opened, Artifact):
        return []
    if isinstance(chosen, str):
        if chosen != "all":
            raise ArgumentError(
                argument="capture_points",
                problem="unknown value",
                expected="'all' or a list of points",
                got=repr(chosen),
            )
        names = [symbol.name for symbol in opened.manifest.symbols]
        chosen = [dict(zip(names, point.values, strict=True)) for point in opened.manifest.points]
    for values in chosen:
        opened.select(values)
    if len(chosen) > most:
        raise ArgumentError(
            argument="capture_points",
            problem="too many points",
            expected=f"at most max_cuda_graphs={most}",
            got=str(len(chosen)),
        )
    return list(chosen)


def _dynamic_program(opened: DynamicArtifact, maker: _Maker, most_graphs: int) -> Program:
    """The program of an artifact with dynamic sizes."""
    from .dynamic.program import DynamicProgram

    natives = [maker.native(point) for point in opened.points]
    manifests = [point.manifest for point in opened.points]
    shared: Any
    if maker.options is None:
        shared = Lanes(max(manifest.arena_bytes for manifest in manifests))
    else:
        from .cuda.program.shared import Shared

        shared = Shared(maker.index, manifests, most_graphs)
    return DynamicProgram(
        opened,
        natives,
        lambda artifact, native: maker.make(artifact, native, shared),
        poison=maker.poison,
    )


def _check_memory(manifest: Manifest, path: object) -> None:
    """Raises ArtifactError if this process cannot allocate the host memory of a run. The memory is
    not touched, so this takes microseconds."""
    sizes = {"prepare_arena_bytes": manifest.prepare_arena_bytes}
    if manifest.target == "cpu":
        sizes |= {
            "arena_bytes": manifest.arena_bytes,
            "outputs": sum(spec.bytes for spec in manifest.outputs),
        }
    for field, size in sizes.items():
        allocate(size, field, path=path)
