# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A compiled model in memory: the result of `convoy.compile`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convoy.artifact import HostTensor
    from convoy_runtime import Program
    from convoy_runtime.inspection import OfflinePlans
    from convoy_runtime.manifest import Manifest

__all__ = ["CompiledModel"]


@dataclass(frozen=True)
class CompiledModel:
    """A compiled model in memory. Calling it runs the model.

    Attributes:
        manifest: The manifest of the artifact.
        members: Name to content of the other members, without weights.
        prepared: Name to prepared weight; None if compiled without weights.
        phases: Phase to the module's text at its end.
        seconds: Step of the compilation to its time.
        plans: The plans for each GPU of the option `plan_for`.
    """

    manifest: Manifest
    members: Mapping[str, bytes]
    prepared: Mapping[str, HostTensor] | None
    phases: Mapping[str, str] = field(repr=False)
    seconds: Mapping[str, float] = field(repr=False)
    plans: tuple[OfflinePlans, ...] = field(default=(), repr=False)
    _programs: list[Program] = field(default_factory=list, init=False, repr=False)

    def save(self, path: str | os.PathLike[str], *, weights: bool = True) -> None:
        """Writes the artifact atomically.

        Args:
            path: The file. A symbolic link is followed.
            weights: Whether to include the data of the weights.

        Raises:
            ArtifactWriteError: `path` cannot be written, or is not a regular file, e.g. a device or
                a FIFO. An existing file is unchanged.
        """
        from convoy.artifact import write_artifact

        write_artifact(path, self.manifest, self.members, self.prepared if weights else None)

    def load(self, **options: Any) -> Program:
        """Loads the model. Arguments and errors are those of `convoy_runtime.load`.

        Args:
            **options: The keyword arguments of `convoy_runtime.load`.

        Returns:
            The program.
        """
        import convoy_runtime

        with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
            path = Path(folder) / "model.convoy"
            self.save(path)
            return convoy_runtime.load(path, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model; the first call loads it.

        Args:
            *args: The positional arguments of the module, with arrays of any library that supports
                DLPack; or one array per input.
            **kwargs: The keyword arguments of the module.

        Returns:
            What the module returns, with arrays of the first input's library.
        """
        if not self._programs:
            self._programs.append(self.load())
        return self._programs[0](*args, **kwargs)

    def explain(self) -> str:
        """Describes the groups, their ops, and the ops outside groups with the reasons."""
        from convoy.explain import explain_manifest

        return explain_manifest(self.manifest)
