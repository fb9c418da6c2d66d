# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Engine configurations of an operation graph: the engine, its knobs and its notes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from convoy_runtime.errors import CudnnError
from convoy_runtime.plan_report import knob_text
from convoy_runtime.value_types import value_type

from .enums import (
    Attribute,
    BehaviorNote,
    Descriptor,
    HeurMode,
    KnobType,
    NumericalNote,
    Type,
    name_of,
)
from .library import BackendDescriptor, Cudnn

__all__ = [
    "Config",
    "EngineSupport",
    "config_of",
    "engine_configs",
    "heuristic_configs",
    "knob_values",
]

#: The number of knobs that is queried first: nearly every engine has fewer, and each takes a
#: descriptor. Then a number above the size of cudnnBackendKnobType_t in any cuDNN 9.
_KNOBS, _MAX_KNOBS = 12, 64


@value_type(frozen=True, slots=True)
class Config:
    """An engine configuration.

    Attributes:
        descriptor: The finalized descriptor.
        source: Its origin: a mode of cuDNN's heuristics, `engines`, `knobs` or `stored`.
        rank: Its position in that source.
        engine: The index of the engine.
        knobs: Pairs of type and value.
        numerical: The numbers of the engine's numerical notes.
        behavior: The numbers of the engine's behavior notes.
    """

    descriptor: BackendDescriptor
    source: str
    rank: int
    engine: int
    knobs: tuple[tuple[int, int], ...]
    numerical: tuple[int, ...]
    behavior: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.source}[{self.rank}] engine {self.engine} {{{knob_text(self.named_knobs)}}}"

    @property
    def named_knobs(self) -> dict[str, int]:
        """Knob name (cudnnBackendKnobType_t) to value."""
        return {name_of(KnobType, kind): value for kind, value in self.knobs}

    @property
    def compiles(self) -> bool:
        """Whether its plan compiles a kernel, which takes tenths of seconds."""
        return BehaviorNote.RUNTIME_COMPILATION in self.behavior

    @property
    def numerical_notes(self) -> tuple[str, ...]:
        """Names (cudnnBackendNumericalNote_t)."""
        return tuple(name_of(NumericalNote, note) for note in self.numerical)

    @property
    def behavior_notes(self) -> tuple[str, ...]:
        """Names (cudnnBackendBehaviorNote_t)."""
        return tuple(name_of(BehaviorNote, note) for note in self.behavior)


@dataclass(slots=True)
class EngineSupport:
    """The engines that support a graph. To ask one takes a millisecond, and several if it compiles
    a kernel. Most of them do not support a given graph.

    Attributes:
        skipped: The engines that need not be asked.
        asked: The engines that were asked, and whether they support the graph.
        unsuited: The engines among them that compile a kernel, or that are for other GPUs. They
            are so for all graphs with the same operations and types.
    """

    skipped: frozenset[int] = frozenset()
    asked: dict[int, bool] = field(default_factory=dict)
    unsuited: set[int] = field(default_factory=set)


def heuristic_configs(
    cudnn: Cudnn,
    operations: BackendDescriptor,
    heuristic: str,
    device: BackendDescriptor | None,
    rejected: list[str],
) -> Generator[Config, None, None]:
    """Yields the configurations of a mode of cuDNN's heuristics (A, B, FALLBACK), best first.

    Each is closed when the next one is requested. If there is none, the reason is added to
    `rejected`.
    """
    with ExitStack() as stack:
        heuristics = cudnn.create(Descriptor.ENGINEHEUR)
        stack.callback(heuristics.close)
        try:
            heuristics.set(
                Attribute.ENGINEHEUR_OPERATION_GRAPH, Type.BACKEND_DESCRIPTOR, [operations]
            )
            heuristics.set(Attribute.ENGINEHEUR_MODE, Type.HEUR_MODE, [HeurMode[heuristic]])
            if device is not None:
                heuristics.set(Attribute.ENGINEHEUR_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [device])
            heuristics.finalize()
            count = heuristics.count(Attribute.ENGINEHEUR_RESULTS, Type.BACKEND_DESCRIPTOR)
            found = (
                heuristics.get_descriptors(
                    Attribute.ENGINEHEUR_RESULTS, Descriptor.ENGINECFG, count
                )
                if count
                else []
            )
            if not found:
                # cuDNN has checked the configurations. Its last error says why none is left.
                rejected.append(f"heuristic {heuristic}: no engine: {_reasons(cudnn.last_error())}")
        except CudnnError as error:
            rejected.append(f"heuristic {heuristic}: {error.name}: {error.detail}")
            return
        for rank, descriptor in enumerate(found):
            stack.callback(descriptor.close)
            try:
                config = _describe(descriptor, heuristic, rank)
            except CudnnError as error:
                rejected.append(f"{heuristic}[{rank}]: {error.name}: {error.detail}")
                continue
            yield config


def engine_configs(
    cudnn: Cudnn,
    operations: BackendDescriptor,
    device: BackendDescriptor | None,
    rejected: list[str],
    *,
    precompiled: bool,
    support: EngineSupport | None = None,
) -> Iterator[Config]:
    """Yields all engines that accept the graph, with their default knobs.

    Args:
        cudnn: The library.
        operations: The operation graph.
        device: The properties of the device to plan for, if there is no handle.
        rejected: Receives unexpected errors.
        precompiled: Whether to leave out engines that compile a kernel; the others are cheap to
            try.
        support: The engines that need not be asked; receives the answers of the others.
    """
    support = support or EngineSupport()
    (count,) = operations.get(Attribute.OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, Type.INT64, 1)
    for index in range(count):
        if index in support.skipped:
            continue
        try:
            config = config_of(cudnn, operations, index, {}, device, source="engines", rank=index)
        except CudnnError as error:
            if error.name == "CUDNN_STATUS_NOT_SUPPORTED":
                support.asked[index] = False
            else:
                rejected.append(f"engines[{index}]: {error.name}: {error.detail}")
            if error.name == "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH":
                support.unsuited.add(index)
            continue
        support.asked[index] = True
        if config.compiles:
            support.unsuited.add(index)
        if not (precompiled and config.compiles):
            yield config
        config.descriptor.close()


def config_of(
    cudnn: Cudnn,
    operations: BackendDescriptor,
    engine: int,
    knobs: dict[str, int],
    device: BackendDescriptor | None,
    *,
    source: str = "stored",
    rank: int = 0,
) -> Config:
    """Returns the configuration of an engine.

    Args:
        cudnn: The library.
        operations: The operation graph.
        engine: The index of the engine.
        knobs: Knob name to value. Other knobs have their defaults.
        device: The properties of the device to plan for, if there is no handle.
        source: As in `Config`.
        rank: As in `Config`.

    Raises:
        CudnnError: cuDNN has no such engine for the graph.
        KeyError: A knob is unknown.
    """
    with ExitStack() as stack:
        chosen = _engine(cudnn, operations, engine, device)
        stack.callback(chosen.close)
        choices = []
        for name, value in knobs.items():
            choice = cudnn.create(Descriptor.KNOB_CHOICE)
            stack.callback(choice.close)
            choice.set(
                Attribute.KNOB_CHOICE_KNOB_TYPE,
                Type.KNOB_TYPE,
                [int(name) if name.isdecimal() else KnobType[name]],
            )
            choice.set(Attribute.KNOB_CHOICE_KNOB_VALUE, Type.INT64, [value])
            choices.append(choice.finalize())
        config = cudnn.create(Descriptor.ENGINECFG)
        try:
            config.set(Attribute.ENGINECFG_ENGINE, Type.BACKEND_DESCRIPTOR, [chosen])
            if choices:
                config.set(Attribute.ENGINECFG_KNOB_CHOICES, Type.BACKEND_DESCRIPTOR, choices)
            config.finalize()
            return _describe(config, source, rank)
        except CudnnError:
            config.close()
            raise


def knob_values(
    cudnn: Cudnn, operations: BackendDescriptor, engine: int, device: BackendDescriptor | None
) -> dict[str, range]:
    """Returns the values of each knob of an engine: knob name to values. Not every combination
    makes a plan. Raises CudnnError."""
    chosen = _engine(cudnn, operations, engine, device)
    try:
        found = {}
        for info in chosen.get_descriptors(
            Attribute.ENGINE_KNOB_INFO, Descriptor.KNOB_INFO, _MAX_KNOBS
        ):
            (kind,) = info.get(Attribute.KNOB_INFO_TYPE, Type.KNOB_TYPE, 1)
            limits = (
                Attribute.KNOB_INFO_MINIMUM_VALUE,
                Attribute.KNOB_INFO_MAXIMUM_VALUE,
                Attribute.KNOB_INFO_STRIDE,
            )
            low, high, step = (info.get(limit, Type.INT64, 1)[0] for limit in limits)
            found[name_of(KnobType, kind)] = range(low, high + 1, max(1, step))
        return found
    finally:
        chosen.close()


def _engine(
    cudnn: Cudnn, operations: BackendDescriptor, index: int, device: BackendDescriptor | None
) -> BackendDescriptor:
    """Returns the finalized engine of this index. Raises CudnnError if cuDNN has no such engine for
    the graph."""
    engine = cudnn.create(Descriptor.ENGINE)
    try:
        engine.set(Attribute.ENGINE_OPERATION_GRAPH, Type.BACKEND_DESCRIPTOR, [operations])
        engine.set(Attribute.ENGINE_GLOBAL_INDEX, Type.INT64, [index])
        if device is not None:
            engine.set(Attribute.ENGINE_DEVICEPROP, Type.BACKEND_DESCRIPTOR, [device])
        return engine.finalize()
    except CudnnError:
        engine.close()
        raise


def _describe(descriptor: BackendDescriptor, source: str, rank: int) -> Config:
    (engine,) = descriptor.get_descriptors(Attribute.ENGINECFG_ENGINE, Descriptor.ENGINE, 1)
    (index,) = engine.get(Attribute.ENGINE_GLOBAL_INDEX, Type.INT64, 1)
    numerical = engine.get(Attribute.ENGINE_NUMERICAL_NOTE, Type.NUMERICAL_NOTE)
    behavior = engine.get(Attribute.ENGINE_BEHAVIOR_NOTE, Type.BEHAVIOR_NOTE)
    knobs = []
    # A configuration reports 0 as its number of knobs, so a fixed number is queried.
    choices = descriptor.get_descriptors(
        Attribute.ENGINECFG_KNOB_CHOICES, Descriptor.KNOB_CHOICE, _KNOBS
    )
    if len(choices) == _KNOBS:
        choices = descriptor.get_descriptors(
            Attribute.ENGINECFG_KNOB_CHOICES, Descriptor.KNOB_CHOICE, _MAX_KNOBS
        )
    for choice in choices:
        (kind,) = choice.get(Attribute.KNOB_CHOICE_KNOB_TYPE, Type.KNOB_TYPE, 1)
        (value,) = choice.get(Attribute.KNOB_CHOICE_KNOB_VALUE, Type.INT64, 1)
        knobs.append((kind, value))
    return Config(
        descriptor,
        source,
        rank,
        index,
        tuple(sorted(knobs)),
        tuple(sorted(numerical)),
        tuple(sorted(behavior)),
    )


def _reasons(text: str) -> str:
    """Returns the distinct innermost reasons in cuDNN's text, which has one block per engine with
    the innermost warning first."""
    lines = (
        next((line for line in block.splitlines() if "Reason:" in line), "")
        for block in text.split("\n\n")
    )
    return (
        "; ".join(dict.fromkeys(line.removeprefix("Warning: ").strip() for line in lines if line))
        or "no reason given"
    )
