# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The errors of the runtime. Callers can distinguish invalid files, wrong arguments and unsuitable
machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "ArgumentError",
    "ArtifactError",
    "ConvoyRuntimeError",
    "ConvoyRuntimeWarning",
    "CublasError",
    "CudaError",
    "CudnnError",
    "DeviceError",
    "ExecutionError",
    "LibraryError",
    "PackageError",
    "PlanError",
    "WeightsError",
]


class ConvoyRuntimeError(Exception):
    """Base of all errors of this package. `exit_code` is the exit code of
    `python -m convoy_runtime`. Errors can be pickled, so that they cross processes."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with the message, but subclasses have keyword arguments.
        return _restored, (type(self), self.args, self.__dict__)


class ConvoyRuntimeWarning(RuntimeWarning):
    """A requested feature is not available; the program runs without it."""


class ArtifactError(ConvoyRuntimeError):
    """This runtime on this machine cannot load the artifact.

    The message is `path: member: field: problem: expected E, got G`; parts that do not apply are
    omitted.
    """

    exit_code = 3

    def __init__(
        self,
        *,
        problem: str,
        path: object = None,
        member: str | None = None,
        field: str | None = None,
        expected: str | None = None,
        got: str | None = None,
    ) -> None:
        self.path, self.member, self.field, self.expected, self.got = (
            path,
            member,
            field,
            expected,
            got,
        )
        parts = [str(part) for part in (path, member, field) if part is not None]
        super().__init__(": ".join([*parts, problem]) + _expected_got(expected, got))


class ArgumentError(ConvoyRuntimeError):
    """An argument has a wrong type, shape, dtype, device or value. The message is
    `argument: problem: expected E, got G`."""

    exit_code = 5

    def __init__(
        self, *, argument: str, problem: str, expected: str | None = None, got: str | None = None
    ) -> None:
        self.argument, self.expected, self.got = argument, expected, got
        super().__init__(f"{argument}: {problem}" + _expected_got(expected, got))


class WeightsError(ConvoyRuntimeError):
    """The weights are missing, or new ones do not match: `problems` lists every mismatch, and the
    old weights stay in use."""

    exit_code = 5

    def __init__(self, *, problem: str, problems: tuple[str, ...] = ()) -> None:
        self.problems = problems
        super().__init__("\n  ".join([problem, *problems]))


class DeviceError(ConvoyRuntimeError):
    """The machine lacks a requirement of the artifact's target: a driver, a GPU, cuDNN or a Python
    package."""

    exit_code = 4

    def __init__(self, *, problem: str, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(problem if hint is None else f"{problem}\n  hint: {hint}")


class CudaError(DeviceError):
    """A CUDA driver call failed. `name` is the name of the CUresult, e.g.
    CUDA_ERROR_OUT_OF_MEMORY; `detail` is the log of the driver's compiler."""

    def __init__(
        self, *, call: str, name: str, description: str, hint: str | None = None, detail: str = ""
    ) -> None:
        self.call, self.name, self.description, self.detail = call, name, description, detail
        log = "".join(f"\n  {line}" for line in detail.splitlines())
        super().__init__(problem=f"{call} failed: {name} ({description}){log}", hint=hint)

    @property
    def out_of_memory(self) -> bool:
        """Whether the device is out of memory."""
        return self.name == "CUDA_ERROR_OUT_OF_MEMORY"


class LibraryError(DeviceError):
    """A call of a library of NVIDIA failed.

    Attributes:
        call: The name of the function.
        status: The status that it returned.
        name: The name of the status in the library's header.
        detail: The library's own message, or an empty string.
        location: The line of the model, if known.
    """

    def __init__(
        self,
        *,
        call: str,
        status: int,
        name: str,
        detail: str = "",
        hint: str | None = None,
        location: str | None = None,
    ) -> None:
        self.call, self.status, self.name, self.detail, self.location = (
            call,
            status,
            name,
            detail,
            location,
        )
        where = f"{location}: " if location else ""
        super().__init__(
            problem=f"{where}{call} failed: {name} ({status})" + (f": {detail}" if detail else ""),
            hint=hint,
        )


class CudnnError(LibraryError):
    """A cuDNN call failed. `status` and `name` are those of the cudnnStatus_t."""


class CublasError(LibraryError):
    """A cuBLASLt call failed. `status` and `name` are those of the cublasStatus_t."""


class PlanError(DeviceError):
    """There is no execution plan for a graph, or with `strict` no stored one.

    Attributes:
        graph: The name of the graph.
        location: The line of the model.
        tried: Why each candidate was rejected.
        others: Further graphs without a stored plan.
    """

    def __init__(
        self,
        *,
        graph: str,
        location: str,
        tried: tuple[str, ...],
        hint: str | None = None,
        strict: bool = False,
        others: tuple[str, ...] = (),
    ) -> None:
        self.graph, self.location, self.tried, self.others = graph, location, tried, others
        listed = "".join(f"\n  {line}" for line in tried) or (
            "" if strict else "\n  the heuristics offered no engine"
        )
        problem = f"no execution plan, of {len(tried)} candidates"
        if strict:
            more = f", nor for {', '.join(others)}" if others else ""
            problem = f"no stored plan fits{more}, and strict=True allows no other"
        super().__init__(
            problem=f"{location}: graph {graph}: {problem}{':' if listed else ''}{listed}",
            hint=hint,
        )

    def with_others(self, others: Sequence[PlanError]) -> PlanError:
        """This error combined with `others`, all raised because of `strict`."""
        names = tuple(each.graph for each in others)
        return PlanError(
            graph=self.graph,
            location=self.location,
            tried=self.tried,
            hint=self.hint,
            strict=True,
            others=names,
        )


class ExecutionError(ConvoyRuntimeError):
    """A function of the native library failed, and no callback raised an error."""

    exit_code = 6

    def __init__(self, *, entry: str, status: int) -> None:
        self.entry, self.status = entry, status
        super().__init__(f"{entry} returned status {status}")


class PackageError(ConvoyRuntimeError, ImportError):
    """An optional package is not installed."""

    exit_code = 4

    def __init__(self, *, package: str, user: str, extra: str) -> None:
        self.package, self.user, self.extra = package, user, extra
        super().__init__(
            f"{user} needs {package}, which is not installed\n"
            f"  hint: pip install 'convoy-runtime[{extra}]'"
        )


def _restored(
    kind: type[ConvoyRuntimeError], args: tuple[Any, ...], state: Mapping[str, Any]
) -> ConvoyRuntimeError:
    """An unpickled error."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def _expected_got(expected: str | None, got: str | None) -> str:
    parts = [
        f"expected {expected}" if expected is not None else "",
        f"got {got}" if got is not None else "",
    ]
    text = ", ".join(part for part in parts if part)
    return f": {text}" if text else ""
