"""`convoy export-triton`: what it writes, and what it does not overwrite."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from convoy.cli.main import main
from convoy_runtime.errors import ArgumentError, ArtifactError
from convoy_runtime.integrations.triton.repository import export_model


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def export(affine: Path, *options: str) -> int:
    return main(["export-triton", str(affine), str(affine.parent / "models"), *options])


def failed(affine: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The message of a failed command, which changes nothing."""
    models = affine.parent / "models"
    before = {name: (models / name).read_bytes() for name in files(models)}
    assert export(affine, *options) == 1
    assert {name: (models / name).read_bytes() for name in files(models)} == before
    return capsys.readouterr().err


def test_files(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = affine.parent / "models"
    assert export(affine) == 0
    assert files(models) == ["affine/1/model.convoy", "affine/1/model.py", "affine/config.pbtxt"]
    assert (models / "affine/1/model.convoy").read_bytes() == affine.read_bytes()
    code = ast.parse((models / "affine/1/model.py").read_text())
    assert "TritonPythonModel" in [
        name.name for node in code.body if isinstance(node, ast.ImportFrom) for name in node.names
    ]
    config = (models / "affine/config.pbtxt").read_text()
    assert config.startswith('name: "affine"\nbackend: "python"\nmax_batch_size: 0\n')
    assert capsys.readouterr().out == (
        f"{models}/affine/1: no batches: no symbol is dim 0 of all inputs and outputs\n"
    )
    modes = {path.name: path.stat().st_mode & 0o777 for path in models.rglob("*")}
    assert len(set(modes[name] for name in ("model.convoy", "model.py", "config.pbtxt"))) == 1
    assert modes["1"] == modes["affine"]


def test_versions(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(affine, "--name", "m") == 0
    assert (
        "models/m/1: exists: expected a new version (--version 2), another --name, or --force"
        in (failed(affine, capsys, "--name", "m"))
    )
    assert export(affine, "--name", "m", "--version", "7") == 0
    assert "(--version 8)" in failed(affine, capsys, "--name", "m", "--version", "7")
    assert files(affine.parent / "models/m") == [
        "1/model.convoy",
        "1/model.py",
        "7/model.convoy",
        "7/model.py",
        "config.pbtxt",
    ]


def test_weights(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = affine.parent / "new.safetensors"
    assert "new.safetensors" in failed(affine, capsys, "--weights", str(weights))
    assert not (affine.parent / "models").exists()
    weights.write_bytes(b"weights")
    assert export(affine, "--weights", str(weights)) == 0
    written = affine.parent / "models/affine/1/weights.safetensors"
    assert written.read_bytes() == b"weights"


def test_force_replaces_the_version_and_the_configuration(affine: Path) -> None:
    folder = affine.parent / "models/m"
    assert export(affine, "--name", "m") == 0
    (folder / "1/model.convoy").write_bytes(b"old")
    (folder / "1/other").write_bytes(b"old")
    assert export(affine, "--name", "m", "--force", "--instances", "3") == 0
    assert files(folder) == ["1/model.convoy", "1/model.py", "config.pbtxt"]
    assert (folder / "1/model.convoy").read_bytes() == affine.read_bytes()
    assert "  count: 3\n" in (folder / "config.pbtxt").read_text()


def test_an_edited_configuration_is_kept(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = affine.parent / "models/m/config.pbtxt"
    assert export(affine, "--name", "m") == 0
    config.write_text("edited")
    message = failed(affine, capsys, "--name", "m", "--version", "2")
    assert "config.pbtxt: differs from the configuration of this artifact" in message
    assert export(affine, "--name", "m", "--version", "2", "--keep-config") == 0
    assert config.read_text() == "edited"
    assert (config.parent / "2/model.convoy").exists()


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "-x", "a b", "a\n", "\u00e9"])
def test_names_that_triton_refuses(
    affine: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = failed(affine, capsys, f"--name={name}")
    assert "name: is not the name of a model in Triton; give another one with --name: " in message
    assert f"got {name!r}" in message
    assert not (affine.parent / "models").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--version", "0"], "version: out of range: expected 1 or more, got 0"),
        (["--instances", "0"], "instances: out of range: expected 1 or more, got 0"),
        (["--max-queue-delay", "-1"], "max_queue_delay: out of range: expected 0 or more, got -1"),
        (["--gpus", "0", "-2"], "gpus: out of range: expected 0 or more, got -2"),
        (["--gpus", "0"], "affine.convoy was compiled for cpu: expected none, got 0"),
    ],
)
def test_options_out_of_range(
    affine: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in failed(affine, capsys, *options)


def test_damaged_artifact(affine: Path) -> None:
    content = bytearray(affine.read_bytes())
    content[-100] ^= 1
    affine.write_bytes(content)
    with pytest.raises(ArtifactError, match="affine.convoy"):
        export_model(affine, affine.parent / "models")
    assert not (affine.parent / "models").exists()


def test_a_file_in_place_of_the_repository(affine: Path) -> None:
    with pytest.raises(ArgumentError, match="expected a folder, got a file"):
        export_model(affine, affine)
