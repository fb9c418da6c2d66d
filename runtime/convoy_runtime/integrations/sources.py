# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which artifact and weights a server runs, by path and digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from convoy_runtime._files import read_regular
from convoy_runtime._safetensors import HostTensor, read_safetensors
from convoy_runtime.artifact import ALGORITHM, check_form
from convoy_runtime.errors import ArgumentError, WeightsError
from convoy_runtime.loader import load
from convoy_runtime.opening import open_file
from convoy_runtime.program import Program

from .batches import AUTOMATIC

__all__ = ["Source", "read_source"]


@dataclass(frozen=True)
class Source:
    """A model: an artifact, and weights that replace its own.

    Attributes:
        artifact: The path of the artifact.
        digest: Its digest, `sha256:...`, as `convoy inspect --digest` prints it; empty if not
            checked.
        weights: The path of a .safetensors file; empty for the artifact's own weights.
        weights_digest: The SHA-256 of that file, `sha256:...`; empty if not checked.
        batch_symbol: The symbol along which requests run together; see `Batches.of`.
        batch_wait_timeout_s: The longest time in seconds for which a request waits for others
            before it is queued. While a call runs, requests that have arrived wait in any case.
        load_options: Keyword arguments of `convoy_runtime.load`.
    """

    artifact: str
    digest: str = ""
    weights: str = ""
    weights_digest: str = ""
    batch_symbol: str | None = AUTOMATIC
    batch_wait_timeout_s: float = 0.0
    load_options: Mapping[str, Any] = field(default_factory=dict)

    def has_program_of(self, other: Source) -> bool:
        """Whether both are known to be the same artifact, loaded in the same way."""
        return self.digest == other.digest != "" and self.load_options == other.load_options

    def has_weights_of(self, other: Source) -> bool:
        """Whether both are known to have the same weights, if they have the same artifact."""
        if not self.weights and not other.weights:
            return True
        return self.weights_digest == other.weights_digest != ""

    def load(self) -> Program:
        """Loads the artifact with the weights.

        Returns:
            The program.

        Raises:
            ArtifactError: The artifact is damaged or has another digest.
            WeightsError: The weights cannot be read, do not match or have another digest.
            DeviceError: The device is missing.
        """
        weights = self.read_weights() if self.weights else None
        digest = self.digest or None
        return load(self.artifact, digest=digest, weights=weights, **self.load_options)

    def read_weights(self) -> Mapping[str, HostTensor]:
        """Reads the file of weights once, and checks the digest of what was read.

        Returns:
            Name to tensor.

        Raises:
            WeightsError: The file cannot be read, or has another digest.
            ArtifactError: The file is damaged.
        """
        return self._read_weights()[0]

    def pinned(self) -> Source:
        """This source with the digests of its files as they are now. Files with given digests are
        checked.

        Raises:
            ArtifactError: The artifact is damaged or has another digest.
            WeightsError: The weights cannot be read, or have another digest.
        """
        opened = open_file(self.artifact, digest=self.digest or None)
        opened.verify()
        weights_digest = self._read_weights()[1] if self.weights else ""
        return replace(self, digest=opened.digest, weights_digest=weights_digest)

    def _read_weights(self) -> tuple[Mapping[str, HostTensor], str]:
        try:
            content = read_regular(self.weights)
        except OSError as error:
            problem = f"{self.weights}: cannot be read: {error.strerror or error}"
            raise WeightsError(problem=problem) from error
        found = ALGORITHM + hashlib.sha256(content).hexdigest()
        if self.weights_digest not in ("", found):
            raise WeightsError(
                problem=f"{self.weights}: does not match the given digest: another file, or a "
                f"modified one: expected {self.weights_digest}, got {found}"
            )
        return read_safetensors(content, path=Path(self.weights)), found

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, as JSON values. The inverse of `read_source`."""
        return asdict(self)


def read_source(config: object) -> Source:
    """Reads the fields of a `Source` from JSON values.

    Args:
        config: A mapping with at least `artifact`.

    Returns:
        The source.

    Raises:
        ArgumentError: The value is not such a mapping, or a digest is malformed.
    """
    names = [each.name for each in fields(Source)]
    if not isinstance(config, Mapping) or "artifact" not in config:
        raise ArgumentError(
            argument="user_config",
            problem="names no artifact",
            expected="a mapping with the key artifact",
            got=repr(config),
        )
    if unknown := [str(name) for name in config if name not in names]:
        raise ArgumentError(
            argument="user_config",
            problem="unknown keys",
            expected=", ".join(names),
            got=", ".join(unknown),
        )
    for name in ("digest", "weights_digest"):
        if config.get(name):
            check_form(config[name])
    given = {
        name: os.fspath(value) if isinstance(value, os.PathLike) else value
        for name, value in config.items()
        if value is not None or name == "batch_symbol"
    }
    return Source(**given)
