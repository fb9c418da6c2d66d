# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes an artifact as a model of a Triton model repository."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from convoy_runtime._files import open_regular, write_whole
from convoy_runtime.artifact import Artifact
from convoy_runtime.errors import ArgumentError
from convoy_runtime.opening import open_file
from convoy_runtime.output_files import checked_folder

from .config import model_config
from .served import ServedModel, served_model
from .text import format_message

__all__ = ["ARTIFACT", "CONFIG", "WEIGHTS", "export_model"]

#: The files of a model. Those of a version are in a folder of its number.
CONFIG = "config.pbtxt"
ARTIFACT = "model.convoy"
WEIGHTS = "weights.safetensors"
_MODEL = "model.py"
#: Names that are a folder of the repository and one part of the URLs of Triton's HTTP interface.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_MODEL_TEXT = '''\
"""Runs model.convoy beside this file. Written by `convoy export-triton`."""

from convoy_runtime.integrations.triton.model import TritonPythonModel

__all__ = ["TritonPythonModel"]
'''


def export_model(
    path: str | os.PathLike[str],
    repository: str | os.PathLike[str],
    *,
    name: str | None = None,
    version: int = 1,
    weights: str | os.PathLike[str] | None = None,
    instances: int = 1,
    gpus: Sequence[int] = (),
    max_queue_delay: int = 0,
    force: bool = False,
    keep_config: bool = False,
) -> tuple[Path, ServedModel]:
    """Writes `NAME/config.pbtxt`, and `NAME/VERSION/` with the artifact, its model.py and weights.

    A version appears as a whole. Servers that have loaded a version are not affected until they
    load the model again.

    Args:
        path: The artifact.
        repository: The model repository; created if necessary.
        name: The name of the model; by default that of the file without its suffix.
        version: The number of the version, from 1 on.
        weights: A .safetensors file that replaces the weights of the artifact; see
            `Program.load_weights`. It is checked when Triton loads the model.
        instances: The number of processes that run the model, on each GPU if its target is `cuda`.
        gpus: The indices of GPUs, for an artifact of target `cuda`; all if none are given.
        max_queue_delay: How long a request may wait for others of its batch, in microseconds.
        force: Whether to replace the version, and the configuration if it differs.
        keep_config: Whether to keep an existing configuration, which may have been edited. The
            model checks it when Triton loads it.

    Returns:
        The folder of the version, and the description of the model.

    Raises:
        ArgumentError: An argument has an invalid value, Triton cannot serve the artifact, the
            version exists, or config.pbtxt is another than that of the artifact and these
            arguments.
        ArtifactError: The artifact is damaged or of another version.
        OSError: `weights` cannot be read, or a file cannot be written.
    """
    name = _checked_name(Path(path).stem if name is None else name)
    for what, value, least in (
        ("version", version, 1),
        ("instances", instances, 1),
        ("max_queue_delay", max_queue_delay, 0),
        *(("gpus", gpu, 0) for gpu in gpus),
    ):
        if value < least:
            raise ArgumentError(
                argument=what, problem="out of range", expected=f"{least} or more", got=str(value)
            )
    opened = open_file(path)
    opened.verify()
    target = opened.manifest.target
    if gpus and target != "cuda":
        raise ArgumentError(
            argument="gpus",
            problem=f"{path} was compiled for {target}",
            expected="none",
            got=", ".join(map(str, gpus)),
        )
    if isinstance(opened, Artifact):
        model = served_model(opened.manifest.inputs, opened.manifest.outputs)
    else:
        manifest = opened.manifest
        names = [symbol.name for symbol in manifest.symbols]
        points = [dict(zip(names, point.values, strict=True)) for point in manifest.points]
        model = served_model(manifest.inputs, manifest.outputs, manifest.symbols, points)
    config = format_message(
        model_config(
            model,
            name,
            target,
            instances=instances,
            gpus=gpus,
            max_queue_delay=max_queue_delay,
        )
    ).encode()
    if weights is not None:
        os.close(open_regular(weights))
    folder = checked_folder(repository) / name
    checked_folder(folder)
    existing = (folder / CONFIG).read_bytes() if (folder / CONFIG).exists() else None
    if not force:
        _check_free(folder, version)
    if existing not in (None, config) and not force and not keep_config:
        raise ArgumentError(
            argument=str(folder / CONFIG),
            problem="differs from the configuration of this artifact: it was edited, or its "
            "versions have other inputs, outputs, points or options",
            expected="the same configuration, another --name, --keep-config, or --force to "
            "replace it",
        )
    folder.mkdir(parents=True, exist_ok=True)
    copied = {ARTIFACT: Path(path)} | ({} if weights is None else {WEIGHTS: Path(weights)})
    _write_version(folder / str(version), copied)
    if existing is None or (existing != config and not keep_config):
        write_whole(folder / CONFIG, [config])
    return folder / str(version), model


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ArgumentError(
            argument="name",
            problem="is not the name of a model in Triton; give another one with --name",
            expected="letters of ASCII, digits, '_', '-' and '.', not beginning with '-' or '.'",
            got=repr(name),
        )
    return name


def _check_free(folder: Path, version: int) -> None:
    """Raises ArgumentError if the version exists."""
    if os.path.lexists(folder / str(version)):
        used = [int(each.name) for each in folder.iterdir() if each.name.isdecimal()]
        raise ArgumentError(
            argument=str(folder / str(version)),
            problem="exists",
            expected=f"a new version (--version {max(used) + 1}), another --name, or --force",
        )


def _write_version(target: Path, copied: Mapping[str, Path]) -> None:
    """Writes the files of a version into a temporary folder, which Triton ignores because its name
    is not a number, and renames it."""
    with tempfile.TemporaryDirectory(prefix=".version-", dir=target.parent) as temporary:
        new, old = Path(temporary, "new"), Path(temporary, "old")
        new.mkdir()
        (new / _MODEL).write_text(_MODEL_TEXT)
        for name, source in copied.items():
            shutil.copyfile(source, new / name)
        if os.path.lexists(target):
            target.rename(old)
        new.rename(target)
