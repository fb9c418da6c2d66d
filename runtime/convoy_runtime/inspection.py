# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Inspects artifacts without loading them: their calls, their plans, and the plans for a GPU that
is not installed.

Modules of the `cuda` target are imported inside functions, because its packages may not be
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
    from .plan_report import PlanReport

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
    "version_text",
]


@value_type(frozen=True, slots=True)
class ShippedPlan:
    """A plan in an artifact.

    Attributes:
        gpu: The name of the GPU that it was built for.
        cudnn: The cuDNN version, e.g. 91900.
        driver: The CUDA version of the driver, e.g. 13000.
        options: The text of PlanOptions.
        report: The report; its `graph` is the name in the manifest.
    """

    gpu: str
    cudnn: int
    driver: int
    options: str
    report: PlanReport


def default_plan_cache() -> Path:
    """The default folder of the plan store."""
    from .cuda.plans.store import PlanStore

    return PlanStore.default_folder()


def merge_plans(folder: Path, sources: Sequence[Path]) -> Merged:
    """Merges plans into a store. For each graph, GPU, cuDNN and driver version, it keeps the plan
    from the highest tuning level.

    Args:
        folder: The folder of the store.
        sources: Folders of stores, or artifacts.

    Returns:
        The counts of merged plans.

    Raises:
        ArgumentError: A source is neither a folder nor an artifact.
        ArtifactError: An artifact is damaged.
        OSError: A file cannot be read or written.
    """
    from .cuda.plans.merge import merge

    return merge(folder, sources)


def restrictions(options: str) -> str:
    """The restrictions in the text of PlanOptions, e.g. `deterministic=True`; empty for the
    default."""
    from .cuda.plans.options import restrictions

    return restrictions(options)


def version_text(version: int) -> str:
    """Formats a cuDNN version, e.g. 9.19.0 for 91900."""
    from .cuda.cudnn.library import version_text

    return version_text(version)


def offline_planner(device: str, minimum: int = 0) -> OfflinePlanner:
    """Creates a planner for a GPU that is not installed.

    Args:
        device: The name of a GPU with known properties, e.g. h200, or a file of properties.
        minimum: The oldest supported cuDNN version, e.g. 90200.

    Returns:
        The planner.

    Raises:
        DeviceError: cuDNN, cuBLASLt or the properties are missing.
    """
    from .cuda.plans.offline import OfflinePlanner

    return OfflinePlanner(device, minimum)


def program_calls(artifact: Artifact) -> list[Timing]:
    """The calls of a `cuda` program in order, from the manifest. Nothing is run or measured.

    Args:
        artifact: The artifact.

    Returns:
        The calls without times; each waits for the previous one.

    Raises:
        ArtifactError: The manifest has no steps.
    """
    manifest = artifact.manifest
    if not manifest.steps and (manifest.calls or manifest.kernels):
        raise ArtifactError(
            problem="is missing, expected the calls of the program in order",
            path=artifact.path,
            field="steps",
        )
    found: list[Timing] = []
    copies = 0
    for place, step in enumerate(manifest.steps):
        after = (place - 1,) if place else ()
        if step.kind == "copy":
            # Bytes read plus bytes written.
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
    """The plans in an artifact. Nothing of the artifact is run.

    Args:
        artifact: The artifact.

    Returns:
        The plans by graph in the order of the manifest, without unreadable ones and without those
        of graphs whose fingerprint is not in the manifest.
    """
    from .cuda.plans.fingerprint import content_of, kernels_fingerprint
    from .cuda.plans.plan_file import read_file
    from .plan_report import PlanReport

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
            # Computing the fingerprint would run the build function.
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
