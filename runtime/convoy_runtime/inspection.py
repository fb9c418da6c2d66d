"""What can be asked about an artifact where it is not loaded: what it calls, which plans it holds, which ones an absent GPU would get.

Nothing of the `cuda` target is imported before a question is asked, because its packages may not be installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native import MEMBER, load_native
from .artifact import Artifact
from .profile import Timing
from .value_types import value_type

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .cuda.merge import Merged
    from .cuda.offline import OfflinePlanner, OfflinePlans
    from .cuda.plan import PlanReport

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


#: Aligned as the ABI asks for.
_ADDRESS = 1 << 20


@value_type(frozen=True, slots=True)
class ShippedPlan:
    """A plan in an artifact: what it was made for (the GPU's name, versions as 91900 and 13000, the text of PlanOptions), and its report,
    whose `graph` is the manifest's name."""

    gpu: str
    cudnn: int
    driver: int
    options: str
    report: PlanReport


def default_plan_cache() -> Path:
    """The folder where plans are kept when no other is asked for."""
    from .cuda.store import PlanStore

    return PlanStore.default_folder()


def merge_plans(folder: Path, sources: Sequence[Path]) -> Merged:
    """Puts the plans of `sources`, folders of stores or artifacts, into the store in `folder`: of each graph, GPU, cuDNN and driver the one
    that most work went into. Raises ArgumentError for a source that is neither, ArtifactError, OSError."""
    from .cuda.merge import merge

    return merge(folder, sources)


def restrictions(options: str) -> str:
    """What the text of PlanOptions, which plans are kept with, restricts, as `deterministic=True`; empty for the default."""
    from .cuda.options import restrictions

    return restrictions(options)


def offline_planner(device: str, minimum: int = 0) -> OfflinePlanner:
    """A planner for `device`: the name of a GPU whose properties are known, as h200, or a file of them. `minimum` is the oldest cuDNN that
    will do, as 90000. Raises DeviceError when cuDNN, cuBLASLt or the properties are not there."""
    from .cuda.offline import OfflinePlanner

    return OfflinePlanner(device, minimum)


def program_calls(artifact: Artifact) -> list[Timing]:
    """What the program of the `cuda` target calls, one after another, in its order; nothing is measured. Raises ArtifactError."""
    from .cuda.calls import Trace
    from .cuda.streams import serial_order

    manifest = artifact.manifest
    trace = Trace(manifest)
    # Addresses are only handed on, so any will do.
    inputs, prepared, outputs = ([_ADDRESS] * len(specs) for specs in (manifest.inputs, manifest.prepared, manifest.outputs))
    trace.run(load_native(artifact.members[MEMBER], path=artifact.path), inputs, prepared, outputs, _ADDRESS)
    order = serial_order(len(trace.calls))
    return [Timing(call.kind, call.index, call.bytes, None, after=after) for call, after in zip(trace.calls, order.after, strict=True)]


def shipped_plans(artifact: Artifact) -> list[ShippedPlan]:
    """The plans that an artifact holds, by graph in the order of the manifest; those that cannot be read are left out."""
    from .cuda.fingerprint import content_of, kernels_fingerprint
    from .cuda.plan import PlanReport
    from .cuda.store import read_file

    files = [file for name, content in artifact.members.items() if name.startswith("plans/") if (file := read_file(content)) is not None]
    if not files:
        return []
    native = load_native(artifact.members[MEMBER], path=artifact.path)
    found = []
    for graph in (artifact.manifest.graphs[index] for index in sorted(artifact.manifest.called_graphs)):
        build = native.builder(graph.symbol)
        content = kernels_fingerprint(graph, artifact.members) if build is None else content_of(graph, build)
        for file in files:
            if file.graph != content:
                continue
            for record in file.records:
                try:
                    report = PlanReport.of_record(record.report, graph, str(record.report.get("origin")))
                except (TypeError, KeyError):
                    continue
                found.append(ShippedPlan(file.gpu, record.cudnn, record.driver, file.options, report))
    return found
