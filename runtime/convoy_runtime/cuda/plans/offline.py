# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Plans for a GPU that is not installed (`cudnn.device_files` describes it)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.errors import DeviceError, PlanError
from convoy_runtime.manifest import GraphAlternatives, Manifest
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.value_types import value_type

from .alternatives import Alternatives
from .load_options import LoadOptions
from .options import PlanOptions
from .plan_file import OFFLINE
from .planner import Planner
from .store import PlanStore, Scope

__all__ = ["OfflinePlanner", "OfflinePlans"]


@value_type(frozen=True, slots=True)
class OfflinePlans:
    """The plans of a program for a GPU.

    Attributes:
        gpu: CUDA's name of the GPU.
        results: The report, or the error, of each graph that cuDNN may run, in the order of the
            manifest.
        members: The plans as members of an artifact: name to content.
    """

    gpu: str
    results: tuple[PlanReport | PlanError, ...]
    members: dict[str, bytes]


class OfflinePlanner:
    """Plans the graphs of artifacts for a GPU that a file describes.

    Engines that compile a kernel require NVIDIA's driver. Without it, cuDNN offers only the others.

    Args:
        device: The GPU, as in `device_file`.
        minimum: The oldest cuDNN to accept, e.g. 91900.

    Raises:
        DeviceError: cuDNN, cuBLASLt or the description of the GPU is missing.
    """

    def __init__(self, device: str, minimum: int = 0) -> None:
        self._cudnn = open_cudnn(minimum)
        self._cudnn.require_cublaslt()
        path = device_file(device, self._cudnn.version)
        self._device = device_properties(self._cudnn, path)
        try:
            properties = json.loads(path.read_text())
            self.scope = Scope(
                str(properties["deviceName"]), self._cudnn.version, int(properties["driverVer"])
            )
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
        """Plans each graph that cuDNN may run: with the first plan of cuDNN's heuristics that the
        options allow and that can be built on this machine, else with an alternative.

        Args:
            manifest: The program.
            native: Its native library.
            alternatives: The alternatives of its graphs, if any.
            options: Restrictions on plans.
            progress: Called before each graph with its name, the number of finished graphs and the
                number of all graphs.

        Returns:
            The plans.

        Raises:
            CudnnError: cuDNN rejects an operation graph.
        """
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
