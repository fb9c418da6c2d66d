# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Builds cuDNN's execution plans.

The native build function of a graph makes an operation graph. A plan is made from one of its engine
configurations, or from the JSON of an earlier plan, if the options allow the engine and cuDNN
finalizes the plan.

This also works on a machine without a GPU, with a device-properties descriptor instead of a handle.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convoy_runtime._abi import ConvoyCudnn
from convoy_runtime.cuda.cudnn.configs import Config, EngineSupport, config_of, engine_configs
from convoy_runtime.cuda.cudnn.enums import Attribute, BehaviorNote, Descriptor, NumericalNote, Type
from convoy_runtime.cuda.cudnn.errata import erratum_of
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import PlanReport

from .build_jobs import Job
from .options import PlanOptions
from .plan import CudnnPlan, Plan, json_text

if TYPE_CHECKING:
    from .build_pool import BuildPool

__all__ = ["PlanBuilder", "WorkspaceTooLarge", "no_memory_for"]


class WorkspaceTooLarge(Exception):
    """The workspace of a plan exceeds a limit. The message has the limit."""


class PlanBuilder:
    """Builds the plans of one program.

    Args:
        cudnn: The library.
        options: Restrictions on engines and workspaces.
        handle: The cuDNN handle of the device to plan for; None on a machine without it.
        device: The properties of that device, if there is no handle.

    Raises:
        DeviceError: cuBLASLt is missing.
    """

    def __init__(
        self,
        cudnn: Cudnn,
        options: PlanOptions,
        *,
        handle: int | None,
        device: BackendDescriptor | None = None,
    ) -> None:
        cudnn.require_cublaslt()
        self.cudnn, self.device, self.options = cudnn, device, options
        self._handle = handle
        #: Bytes of the smallest workspace that did not fit into the device's memory.
        self._unavailable: int | None = None

    @property
    def lacks_memory(self) -> bool:
        """Whether plans were dropped because the device's memory is full. Their replacements must
        not be stored, because more memory may be available in a later load."""
        return self._unavailable is not None

    def drop_workspaces_of(self, size: int) -> None:
        """Rejects plans with a workspace of `size` bytes or more from now on, because the device
        has no memory for it."""
        self._unavailable = size

    @contextmanager
    def operation_graph(self, graph: Graph, build: Any) -> Iterator[BackendDescriptor]:
        """Yields the finalized operation graph, which is destroyed at the end of the `with`.

        Args:
            graph: The graph, for messages.
            build: Its native build function.

        Raises:
            CudnnError: cuDNN rejects the graph.
        """
        reports: list[CudnnError] = []

        def report(status: int, call: bytes, location: bytes) -> None:
            where = location.decode(errors="replace") or graph.location
            reports.append(
                self.cudnn.error(
                    status, f"graph {graph.name}: {call.decode(errors='replace')}", where
                )
            )

        callback = ConvoyCudnn.REPORT(report)
        table = self.cudnn.table(callback)
        pointer = ctypes.c_void_p()
        status = build(ctypes.byref(table), self._handle, ctypes.byref(pointer))
        if status:
            raise (
                reports[0]
                if reports
                else self.cudnn.error(status, f"graph {graph.name}: {graph.symbol}", graph.location)
            )
        descriptor = BackendDescriptor(self.cudnn, pointer.value or 0, "OPERATIONGRAPH")
        try:
            yield descriptor
        finally:
            descriptor.close()

    def config(
        self,
        operations: BackendDescriptor,
        engine: int,
        knobs: Mapping[str, int],
        *,
        source: str = "stored",
        rank: int = 0,
    ) -> Config:
        """Returns the configuration of an engine with these knobs, as `configs.config_of`."""
        return config_of(
            self.cudnn, operations, engine, dict(knobs), self.device, source=source, rank=rank
        )

    def build(self, graph: Graph, config: Config, rejected: list[str]) -> Plan | None:
        """Returns the plan of a configuration. If the options or cuDNN reject it, adds the reason
        to `rejected` and returns None."""
        if (reason := self.refusal(graph, config)) is not None:
            rejected.append(f"{config}: {reason}")
            return None
        return self._finalized(graph, config, rejected, *_from_config(config))

    def build_in_pool(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        configs: Sequence[Config],
        rejected: list[str],
        pool: BuildPool,
        progress: Callable[[str], None],
    ) -> Iterator[Plan]:
        """Yields the plans of configurations, built by the pool, or by this process if a plan
        cannot be passed between processes.

        Args:
            graph: The graph.
            operations: Its operation graph.
            configs: The configurations.
            rejected: Receives the reasons for configurations without a plan.
            pool: The pool.
            progress: Called with the state of the pool's builds.
        """
        jobs = [Job.of(graph, config) for config in configs]
        for config, built in zip(
            configs,
            pool.build(
                jobs, lambda done: progress(f"{done} of {len(jobs)} plans of {graph.name} compiled")
            ),
            strict=True,
        ):
            plan = None
            if built.not_here:
                # The descriptor is closed; cuDNN has already accepted this configuration.
                again = self.config(operations, config.engine, config.named_knobs)
                with closing(again.descriptor):
                    plan = self.build(graph, replace(config, descriptor=again.descriptor), rejected)
            elif built.error:
                rejected.append(f"{config}: {built.error}")
            else:
                plan = self._finalized(graph, config, rejected, *_from_json(built.plan))
            if plan is not None:
                yield plan

    def from_text(self, text: str) -> tuple[BackendDescriptor, int]:
        """Returns the plan of cuDNN's JSON `text`, and its workspace in bytes. Raises CudnnError,
        WorkspaceTooLarge."""
        return self._finalize(*_from_json(text))

    def text_of(self, graph: Graph, build: Any, engine: int, knobs: Mapping[str, int]) -> str:
        """Builds a plan as JSON.

        Args:
            graph: The graph, for messages.
            build: Its native build function.
            engine: The index of the engine.
            knobs: Knob name to value.

        Returns:
            cuDNN's JSON; an empty string if cuDNN cannot write the plan.

        Raises:
            CudnnError: cuDNN rejects the graph or the plan.
        """
        with ExitStack() as stack:
            operations = stack.enter_context(self.operation_graph(graph, build))
            config = self.config(operations, engine, knobs)
            stack.callback(config.descriptor.close)
            plan = self.cudnn.create(Descriptor.EXECUTION_PLAN)
            stack.callback(plan.close)
            self._set_device(plan)
            plan.set(*_from_config(config)).finalize()
            return json_text(plan)

    def any_plans(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        wanted: Callable[[Config], bool],
        support: EngineSupport | None = None,
    ) -> Iterator[Plan]:
        """Yields the plans of engines with their default knobs, without regard to the options,
        except engines with known errors.

        Args:
            graph: The graph.
            operations: Its operation graph.
            wanted: Returns whether to build a configuration.
            support: As in `engine_configs`.
        """
        unused: list[str] = []
        for config in engine_configs(
            self.cudnn, operations, self.device, unused, precompiled=False, support=support
        ):
            if erratum_of(graph, config.engine, self.cudnn.version) is None and wanted(config):
                plan = self._finalized(graph, config, unused, *_from_config(config))
                if plan is not None:
                    yield plan

    def engine_refusal(
        self, graph: Graph, engine: int, numerical: Iterable[str], behavior: Iterable[str]
    ) -> str | None:
        """Checks an engine for known errors and against the options.

        Args:
            graph: The graph.
            engine: The index of the engine.
            numerical: The names of its numerical notes.
            behavior: The names of its behavior notes.

        Returns:
            Why the engine may not run the graph, or None.
        """
        known = NumericalNote.__members__, BehaviorNote.__members__
        notes = (
            {known[0][name] for name in numerical if name in known[0]},
            {known[1][name] for name in behavior if name in known[1]},
        )
        return erratum_of(graph, engine, self.cudnn.version) or self.options.refuses(
            graph, engine, *notes
        )

    def refusal(self, graph: Graph, config: Config) -> str | None:
        """Returns why a configuration must not be built; None if it may be."""
        if (
            reason := self.engine_refusal(
                graph, config.engine, config.numerical_notes, config.behavior_notes
            )
        ) is not None:
            return reason
        try:
            # Checked before the plan is built, which may take seconds.
            self.check_workspace(
                config.descriptor.get(Attribute.ENGINECFG_WORKSPACE_SIZE, Type.INT64, 1)[0]
            )
        except CudnnError as error:
            return f"{error.name}: {error.detail}"
        except WorkspaceTooLarge as error:
            return str(error)
        return None

    def check_workspace(self, size: int) -> None:
        """Raises WorkspaceTooLarge if a workspace of `size` bytes exceeds the limit of the options
        or the memory of the device."""
        limit = self.options.max_workspace_bytes
        if limit is not None and size > limit:
            message = f"workspace of {size} bytes is over the limit of {limit}"
            raise WorkspaceTooLarge(message)
        if self._unavailable is not None and size >= self._unavailable:
            raise WorkspaceTooLarge(no_memory_for(size))

    def _finalized(
        self,
        graph: Graph,
        config: Config,
        rejected: list[str],
        attribute: Attribute,
        kind: Type,
        value: Sequence[Any] | bytes,
    ) -> Plan | None:
        """Returns the plan of `config`, made from the value of one attribute. If cuDNN rejects it,
        adds the reason to `rejected` and returns None."""
        try:
            descriptor, workspace = self._finalize(attribute, kind, value)
        except (CudnnError, WorkspaceTooLarge) as error:
            rejected.append(
                f"{config}: {error.name}: {error.detail}"
                if isinstance(error, CudnnError)
                else f"{config}: {error}"
            )
            return None
        report = PlanReport(
            graph=graph.name,
            location=graph.location,
            engine=config.engine,
            knobs=config.named_knobs,
            numerical_notes=config.numerical_notes,
            behavior_notes=config.behavior_notes,
            workspace_bytes=workspace,
            heuristic=config.source,
            rank=config.rank,
            rejected=tuple(rejected),
        )
        return CudnnPlan(report, descriptor)

    def _finalize(
        self, attribute: Attribute, kind: Type, value: Sequence[Any] | bytes
    ) -> tuple[BackendDescriptor, int]:
        """Returns a plan, made from the value of one attribute, and its workspace in bytes. Raises
        CudnnError, WorkspaceTooLarge."""
        descriptor = self.cudnn.create(Descriptor.EXECUTION_PLAN)
        try:
            self._set_device(descriptor)
            descriptor.set(attribute, kind, value).finalize()
            (workspace,) = descriptor.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
            self.check_workspace(workspace)
            return descriptor, workspace
        except BaseException:
            descriptor.close()
            raise

    def _set_device(self, plan: BackendDescriptor) -> None:
        """Sets the handle or the properties of the device that the plan is for."""
        if self._handle is not None:
            plan.set(Attribute.EXECUTION_PLAN_HANDLE, Type.HANDLE, [self._handle])
        if self.device is not None:
            plan.set(Attribute.EXECUTION_PLAN_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [self.device])


def _from_config(config: Config) -> tuple[Attribute, Type, list[Any]]:
    """Returns the attribute that makes a plan from a configuration."""
    return Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, [config.descriptor]


def _from_json(text: str) -> tuple[Attribute, Type, bytes]:
    """Returns the attribute that makes a plan from cuDNN's JSON."""
    return Attribute.EXECUTION_PLAN_JSON_REPRESENTATION, Type.CHAR, text.encode() + b"\0"


def no_memory_for(size: int) -> str:
    """Returns why a plan with a workspace of `size` bytes is dropped."""
    return f"workspace of {size} bytes cannot be allocated: the GPU's memory is full"
