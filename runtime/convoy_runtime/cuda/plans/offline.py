"""Plans for a GPU that this machine does not have (`cudnn.device_files` describes it)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.library import open_cudnn
from convoy_runtime.errors import DeviceError, PlanError
from convoy_runtime.manifest import GraphAlternatives, Manifest
from convoy_runtime.value_types import value_type

from .alternatives import Alternatives
from .load_options import LoadOptions
from .options import PlanOptions
from .plan import PlanReport
from .planner import Planner
from .store import OFFLINE, PlanStore, Scope

__all__ = ["OfflinePlanner", "OfflinePlans"]


@value_type(frozen=True, slots=True)
class OfflinePlans:
    """What was planned: `results` has a report, or why there is no plan, for each graph of the
    manifest that cuDNN may run, in its order; `members` the plans as members of an artifact by
    name; `gpu` is the name that the GPU has for CUDA."""

    gpu: str
    results: tuple[PlanReport | PlanError, ...]
    members: dict[str, bytes]


class OfflinePlanner:
    """Plans the graphs of artifacts for `device`, which is what `device_file` takes. Raises
    DeviceError when cuDNN, cuBLASLt or the GPU's properties are not there.

    Engines that compile a kernel need NVIDIA's driver even so; without it only the others are
    offered.
    """

    def __init__(self, device: str, minimum: int = 0) -> None:
        self._cudnn = open_cudnn(minimum)
        self._cudnn.require_cublaslt()
        path = device_file(device, self._cudnn.version)
        self._device = device_properties(self._cudnn, path)
        try:
            said = json.loads(path.read_text())
            self.scope = Scope(str(said["deviceName"]), self._cudnn.version, int(said["driverVer"]))
        except (ValueError, KeyError, TypeError) as error:
            problem = f"device properties: {path}: expected an object with deviceName and driverVer"
            raise DeviceError(problem=problem) from error

    def plan(
        self,
        manifest: Manifest,
        native: NativeLibrary,
        alternatives: GraphAlternatives | None = None,
        options: PlanOptions | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> OfflinePlans:
        """A plan for each graph that cuDNN may run: the first one of cuDNN's heuristics that the
        options allow and that can be built here, or else one of its `alternatives`, which a
        manifest need not have. Raises CudnnError when cuDNN refuses a graph itself."""
        store = PlanStore(None, self.scope)
        chosen = LoadOptions(plan_options=options or PlanOptions()).for_model(manifest)
        with closing(
            Alternatives(manifest, native, lambda: alternatives or GraphAlternatives())
        ) as offered:
            planner = Planner(
                self._cudnn,
                chosen,
                handle=None,
                device=self._device,
                store=store,
                alternatives=offered,
            )
            results: list[PlanReport | PlanError] = []
            members: dict[str, bytes] = {}
            called = manifest.called_graphs
            for done, graph in enumerate(manifest.graphs[index] for index in called):
                if progress is not None:
                    progress(graph.name, done, len(called))
                if graph.symbol is None:
                    continue  # its kernels run on any GPU
                build = native.builder(graph.symbol)
                try:
                    found = planner.plan(graph, build)
                except PlanError as error:
                    results.append(error)
                    continue
                plan = replace(found, report=replace(found.report, origin="offline", tuned=OFFLINE))
                member = planner.stored.member(graph, build, plan)
                plan.close()
                results.append(plan.report)
                if member is not None:
                    members[member[0]] = member[1]
        return OfflinePlans(self.scope.gpu, tuple(results), members)
