# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Captures a program as one CUDA graph, in one of several forms.

Calls run one after another, or concurrently if they do not depend on each other. The memset nodes
that some plans begin with stay in place, or are replaced by one memset at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from convoy_runtime._native import MEMBER, NativeLibrary
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.errors import ArtifactError
from convoy_runtime.manifest import MANIFEST, Manifest, Step
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

from .arena_gaps import ArenaGaps
from .arrangement import Arrangement, Branches
from .calls import Calls, Trace, TracedCall
from .capture import Captured
from .dependencies import CLEARED_BYTES, Enqueue, capture_in_order, clearing_calls
from .streams import Order, Range, Workspaces, serial_order, workspaces_of

__all__ = ["SERIAL", "Arguments", "Form", "ProgramCapture"]

#: The fewest memset nodes that are worth replacing by one.
_MIN_CLEARED: Final = 2


@value_type(frozen=True, slots=True)
class Form:
    """The form of a captured program.

    Attributes:
        branches: The calls that may run concurrently.
        clear_once: Whether one memset at the start replaces those at the start of plans.
    """

    branches: Branches = "none"
    clear_once: bool = False

    def __str__(self) -> str:
        branches = {
            "none": "calls one after another",
            "small": "small calls side by side",
            "all": "calls side by side",
        }[self.branches]
        return f"{branches}, cleared once" if self.clear_once else branches


SERIAL: Final = Form()


@value_type(frozen=True, slots=True)
class Arguments:
    """The pointer arguments of `convoy_main`.

    Attributes:
        inputs: The pointer of each input, in the order of the manifest.
        prepared: The pointer of each prepared weight.
        outputs: The pointer of each output.
        arena: The pointer of the arena.
    """

    inputs: list[int]
    prepared: list[int]
    outputs: list[int]
    arena: int


def _check_steps(manifest: Manifest, calls: Sequence[TracedCall]) -> None:
    """Raises ArtifactError if the steps in the manifest differ from the calls of the program."""
    kinds = {"graph": "call", "kernel": "kernel", "copy": "copy"}
    # The bytes of a copy are those that it reads plus those that it writes.
    steps = tuple(
        Step(kinds[call.kind], call.bytes // 2 if call.kind == "copy" else call.index)
        for call in calls
    )
    if manifest.steps not in ((), steps):
        problem = f"differs from the calls of convoy_main in {MEMBER}"
        raise ArtifactError(
            problem=problem,
            member=MANIFEST,
            field="steps",
            expected=_steps(steps),
            got=_steps(manifest.steps),
        )


def _steps(steps: Sequence[Step]) -> str:
    text = ", ".join(f"{step.kind} {step.number}" for step in steps)
    return text if len(text) <= 80 else f"{text[:77]}..."


class ProgramCapture:
    """Captures a program on its static buffers.

    Args:
        manifest: The program.
        native: Its native library.
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle.
        kernels: The functions of the manifest's kernels.
        arguments: The static buffers.

    Attributes:
        calls: The calls of the program in order.

    Raises:
        ArtifactError: The calls of the program differ from the manifest.
        ExecutionError: `convoy_main` fails.
    """

    def __init__(
        self,
        manifest: Manifest,
        native: NativeLibrary,
        device: Device,
        queue: Queue,
        kernels: Sequence[Any],
        arguments: Arguments,
    ) -> None:
        self._manifest, self._native, self._device, self._queue, self._kernels = (
            manifest,
            native,
            device,
            queue,
            kernels,
        )
        self._arguments = arguments
        trace = Trace(manifest)
        self._run(trace)
        self._graphs = trace.graphs
        self.calls = trace.calls
        _check_steps(manifest, trace.calls)
        self._arrangement = Arrangement(
            trace.accesses,
            ArenaGaps(manifest, arguments.arena),
            device.attribute("MULTIPROCESSOR_COUNT"),
        )
        #: The code of plans that have run, and whose modules are therefore loaded.
        self._warm: WeakSet[object] = WeakSet()
        self._has_run = False
        #: Whether a plan begins by clearing a part of its workspace, by its code.
        self._clears: WeakKeyDictionary[object, bool] = WeakKeyDictionary()

    def default(self, plans: Mapping[int, Plan]) -> Form:
        """Returns the form for plans that were never measured together: small calls run
        concurrently, and memset nodes are replaced if possible."""
        branches: Branches = "none" if self.order(plans, Form("small")).serial else "small"
        return Form(branches, clear_once=bool(self._clearing(plans, self._sizes(plans))))

    def forms(self, plans: Mapping[int, Plan]) -> list[Form]:
        """Returns the forms that differ on these plans, SERIAL first."""
        found = [SERIAL]
        orders = [self.order(plans, SERIAL)]
        for form in (Form("small"), Form("all")):
            if (order := self.order(plans, form)) not in orders:
                orders.append(order)
                found.append(form)
        if self._clearing(plans, self._sizes(plans)):
            found += [replace(form, clear_once=True) for form in found]
        return found

    def workspace_bytes(self, plans: Mapping[int, Plan], form: Form) -> int:
        """Returns the size of the workspaces in this form. Raises CudaError."""
        return self._arranged(plans, form)[1].size

    @part("first run")
    def first_run(self, plans: Mapping[int, Plan], form: Form, memory: Allocation) -> None:
        """Runs the program once, unless it has run with all of these plans. After that, `capture`
        runs nothing.

        Args:
            plans: Graph index to plan.
            form: The form.
            memory: At least `workspace_bytes`.

        Raises:
            CudaError: The driver fails.
        """
        _, layout = self._arranged(plans, form)
        self._warm_up(plans, layout.at(memory.pointer))

    @part("first run")
    def capture(
        self,
        plans: Mapping[int, Plan],
        form: Form,
        memory: Allocation | None = None,
        first: Callable[[], None] | None = None,
    ) -> Captured:
        """Captures the program.

        Args:
            plans: Graph index to plan.
            form: The form.
            memory: At least `workspace_bytes`, kept as long as the graph. Default: an allocation of
                this size.
            first: Enqueues what all calls wait for.

        Returns:
            The captured graph.

        Raises:
            CudaError: The driver fails, e.g. because the device has no memory for the workspaces.
        """
        order, layout = self._arranged(plans, form)
        if memory is None:
            memory = Allocation(self._device, layout.size)
        spans, cleared = (
            layout.at(memory.pointer),
            (memory.pointer, memory.pointer + layout.own_bytes),
        )
        self._warm_up(plans, spans)
        return capture_in_order(
            self._queue,
            order,
            spans,
            self._enqueue(plans, spans),
            own=layout.own,
            cleared=cleared,
            memory=memory,
            first=first,
        )

    def order(self, plans: Mapping[int, Plan], form: Form) -> Order:
        """Returns the order of the calls with these plans in this form."""
        return self._arranged(plans, form)[0]

    def _arranged(self, plans: Mapping[int, Plan], form: Form) -> tuple[Order, Workspaces]:
        """Returns the order of the calls, and their workspaces."""
        sizes = self._sizes(plans)
        own = self._clearing(plans, sizes) if form.clear_once else []
        return self._arrangement.arrange(form.branches, sizes, own)

    def _clearing(self, plans: Mapping[int, Plan], sizes: Sequence[int]) -> list[int]:
        """Returns the calls that begin by clearing a part of their workspaces, limited to
        workspaces that one memset can clear."""
        # Replacing one memset by another gains nothing.
        if sum(size > 0 for size in sizes) < _MIN_CLEARED:
            return []
        code = {
            call: plans[graph].code
            for call, (graph, size) in enumerate(zip(self._graphs, sizes, strict=True))
            if graph is not None and size
        }
        if not all(each in self._clears for each in code.values()):
            clearing = set(self._find_clearing(plans, sizes))
            self._clears.update((each, call in clearing) for call, each in code.items())
        found = [call for call, each in code.items() if self._clears[each]]
        found.sort(key=lambda call: sizes[call])
        order = serial_order(len(sizes))
        while workspaces_of(sizes, order, found).own_bytes > CLEARED_BYTES:
            found.pop()
        return sorted(found) if len(found) >= _MIN_CLEARED else []

    def _find_clearing(self, plans: Mapping[int, Plan], sizes: Sequence[int]) -> list[int]:
        """Returns the calls that begin by clearing a part of their workspaces, from a capture."""
        layout = workspaces_of(sizes, serial_order(len(sizes)))
        memory = Allocation(self._device, layout.size)
        spans = layout.at(memory.pointer)
        self._warm_up(plans, spans)
        return clearing_calls(
            self._queue.driver, self._queue.stream, spans, self._enqueue(plans, spans)
        )

    def _warm_up(self, plans: Mapping[int, Plan], spans: Sequence[Range]) -> None:
        """Runs the program once, unless it has run with all of these plans. The first run of a plan
        may load code, which is not allowed in a capture."""
        if self._has_run and all(plan.code in self._warm for plan in plans.values()):
            return
        self._enqueue(plans, spans)(None)
        self._queue.driver.call("cuStreamSynchronize", self._queue.stream)
        self._warm.update(plan.code for plan in plans.values())
        self._has_run = True

    def _sizes(self, plans: Mapping[int, Plan]) -> list[int]:
        return [
            0 if graph is None else plans[graph].report.workspace_bytes for graph in self._graphs
        ]

    def _enqueue(self, plans: Mapping[int, Plan], spans: Sequence[Range]) -> Enqueue:
        """Returns a function that enqueues the program with the workspaces at `spans`."""
        workspaces = [begin for begin, _ in spans]
        return lambda hook: self._run(
            Calls(self._manifest, self._queue, plans, self._kernels, workspaces, hook)
        )

    def _run(self, table: Trace | Calls) -> None:
        arguments = self._arguments
        table.run(
            self._native, arguments.inputs, arguments.prepared, arguments.outputs, arguments.arena
        )
