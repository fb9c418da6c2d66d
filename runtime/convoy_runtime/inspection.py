"""What can be asked about an artifact where it is not loaded: what it calls, which plans it holds,
which ones an absent GPU would get.

Nothing of the `cuda` target is imported before a question is asked, because its packages may not be
installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .artifact import Artifact
from .errors import ArtifactError
from .profile import Timing
from .value_types import value_type

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .cuda.plans.merge import Merged
    from .cuda.plans.offline import OfflinePlanner, OfflinePlans
    from .cuda.plans.plan import PlanReport

__all__ = [
    "OfflinePlanner",
    "OfflinePlans",
    "PlanReport",
    "ShippedPlan",
    "default_plan_cache",
    "merge_plans",
    "offline_planner",
    "program_calls",
    "restrictions",
    "shipped_plans",
]


@value_type(frozen=True, slots=True)
class ShippedPlan:
    """A plan in an artifact: what it was made for (the GPU's name, versions as 91900 and 13000, the
    text of PlanOptions), and its report, whose `graph` is the manifest's name."""

    gpu: str
    cudnn: int
    driver: int
    options: str
    report: PlanReport


def default_plan_cache() -> Path:
    """The folder where plans are kept when no other is asked for."""
    from .cuda.plans.store import PlanStore

    return PlanStore.default_folder()


def merge_plans(folder: Path, sources: Sequence[Path]) -> Merged:
    """Puts the plans of `sources`, folders of stores or artifacts, into the store in `folder`: of
    each graph, GPU, cuDNN and driver the one that most work went into. Raises ArgumentError for a
    source that is neither, ArtifactError, OSError."""
    from .cuda.plans.merge import merge

    return merge(folder, sources)


def restrictions(options: str) -> str:
    """What the text of PlanOptions, which plans are kept with, restricts, as `deterministic=True`;
    empty for the default."""
    from .cuda.plans.options import restrictions

    return restrictions(options)


def offline_planner(device: str, minimum: int = 0) -> OfflinePlanner:
    """A planner for `device`: the name of a GPU whose properties are known, as h200, or a file of
    them. `minimum` is the oldest cuDNN that will do, e.g. 90200. Raises DeviceError when cuDNN,
    cuBLASLt or the properties are not there."""
    from .cuda.plans.offline import OfflinePlanner

    return OfflinePlanner(device, minimum)


def program_calls(artifact: Artifact) -> list[Timing]:
    """What the program of the `cuda` target calls, one after another, in its order, as the manifest
    says; nothing is run or measured. Raises ArtifactError where the manifest does not say it."""
    manifest = artifact.manifest
    if not manifest.steps and (manifest.calls or manifest.kernels):
        raise ArtifactError(
            problem="is missing, expected the calls of the program in their order",
            path=artifact.path,
            field="steps",
        )
    found: list[Timing] = []
    copies = 0
    for place, step in enumerate(manifest.steps):
        after = (place - 1,) if place else ()
        if step.kind == "copy":
            # What it reads, and what it writes.
            found.append(Timing("copy", copies, 2 * step.number, None, after=after))
            copies += 1
        else:
            found.append(
                Timing(
                    "graph" if step.kind == "call" else "kernel", step.number, 0, None, after=after
                )
            )
    return found


def shipped_plans(artifact: Artifact) -> list[ShippedPlan]:
    """The plans that an artifact holds, by graph in the order of the manifest; those that cannot be
    read are left out, and those of graphs whose fingerprint the manifest does not have. Nothing of
    the artifact is run."""
    from .cuda.plans.fingerprint import content_of, kernels_fingerprint
    from .cuda.plans.plan import PlanReport
    from .cuda.plans.plan_file import read_file

    files = [
        file
        for name, content in artifact.members.items()
        if name.startswith("plans/")
        if (file := read_file(content)) is not None
    ]
    if not files:
        return []
    found = []
    for graph in (
        artifact.manifest.graphs[index] for index in sorted(artifact.manifest.called_graphs)
    ):
        if graph.symbol is not None and graph.fingerprint is None:
            # Only its build function knows, and nothing of the artifact is run here.
            continue
        content = (
            kernels_fingerprint(graph, artifact.members)
            if graph.symbol is None
            else content_of(graph, None)
        )
        for file in files:
            if file.graph != content:
                continue
            for record in file.records:
                try:
                    report = PlanReport.of_record(
                        record.report, graph, str(record.report.get("origin"))
                    )
                except (TypeError, KeyError):
                    continue
                found.append(
                    ShippedPlan(file.gpu, record.cudnn, record.driver, file.options, report)
                )
    return found
