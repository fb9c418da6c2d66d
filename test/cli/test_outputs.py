"""Every option that writes a file refuses an unsuitable path before any work, and leaves the path
unchanged."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_fixtures import ROOT, TINY, compile_tiny

import convoy
from convoy.cli.main import main
from convoy.cli.model_file import build_model
from convoy.errors import ArtifactWriteError
from convoy_runtime.opening import open_artifact


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outputs") / "tiny-cuda.convoy"
    compile_tiny(path, "--target", "cuda", "--dtype", "float16")
    return path


@contextmanager
def _no_compilation(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails on a compilation: paths are checked before anything is imported, loaded or compiled."""

    def fail(*_: object, **__: object) -> None:
        pytest.fail("the work began before the output was checked")

    with monkeypatch.context() as patch:
        for name in (
            "convoy.cli.compile.build_model",
            "convoy_runtime.load",
            "convoy.graphs.import_graph",
            "convoy.report.read_report",
        ):
            patch.setattr(name, fail)
        yield


def _commands(artifact: Path, folder: Path) -> dict[str, list[str]]:
    """One command for each option that writes a file; the path is the last argument."""
    graph, report = folder / "graph.json", folder / "report.json"
    graph.write_text("{}")
    report.write_text("{}")
    return {
        "compile": ["compile", f"{TINY}:tiny", "--target", "cpu", "-o"],
        "compile-to": ["compile", f"{TINY}:tiny", "--target", "cpu", "--compile-to", "tcp", "-o"],
        "tune": ["tune", str(artifact), "-o"],
        "run": ["run", str(artifact), "--output"],
        "explain-html": ["explain", str(report), "--html"],
        "explain-json": ["explain", str(report), "--json"],
        "import": ["import", str(graph), "-o"],
    }


#: Commands that write an artifact. The others write text or an array, which a device or a FIFO can
#: take (test_text_goes_to_streams).
_ARTIFACTS = ("compile", "tune")
_ALL = ("compile", "compile-to", "tune", "run", "explain-html", "explain-json", "import")


_REFUSED = [
    *((command, kind) for command in _ALL for kind in ("directory", "no folder", "loop")),
    *((command, kind) for command in _ARTIFACTS for kind in ("device", "fifo", "link to a device")),
]


@pytest.mark.parametrize(("command", "kind"), _REFUSED)
def test_output_that_is_not_a_file_is_refused(
    command: str,
    kind: str,
    artifact: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = {"device": Path("/dev/full"), "no folder": tmp_path / "no" / "y"}.get(
        kind, tmp_path / "y"
    )
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind in ("link to a device", "loop"):
        path.symlink_to("/dev/full" if kind == "link to a device" else path.name)
    before = path.lstat() if kind != "no folder" else None
    arguments = [*_commands(artifact, tmp_path)[command], str(path)]
    capsys.readouterr()
    with _no_compilation(monkeypatch):
        assert main(arguments) == 1
    assert capsys.readouterr().err.startswith(
        f"convoy: error: {path}: cannot be written: expected "
    )
    assert before is None or (path.lstat().st_mode, path.lstat().st_ino) == (
        before.st_mode,
        before.st_ino,
    )


def test_text_goes_to_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compile", f"{TINY}:tiny", "--target", "cpu", "--compile-to", "tcp", "-o"]
    for path in ("-", "/dev/stdout"):
        assert main([*arguments, path]) == 0
        assert "func.func" in capsys.readouterr().out
    assert main([*arguments, "/dev/full"]) == 1
    assert "No space left on device: '/dev/full'" in capsys.readouterr().err
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    assert main([*arguments[:4], "-o", "-"]) == 1
    assert (
        "-o -: expected a file for the artifact; standard output is only for the text of a phase"
        in capsys.readouterr().err
    )


def test_artifact_replaces_the_target_of_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "model-1.convoy", tmp_path / "model.convoy"
    link.symlink_to(target.name)
    for _ in range(2):
        compile_tiny(link, "--target", "cpu", "-q")
        assert link.is_symlink()
        assert open_artifact(target).manifest.target == "cpu"


def test_output_over_the_model_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.py"
    model.write_text(Path(TINY).read_text())
    assert main(["compile", f"{model}:tiny", "--target", "cpu", "-o", str(model)]) == 1
    assert f"-o {model}: expected another file than that of the model" in capsys.readouterr().err
    assert model.read_text() == Path(TINY).read_text()


def test_dump_phases_path_must_be_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    arguments = [
        "compile",
        f"{TINY}:tiny",
        "--target",
        "cpu",
        "-o",
        str(tmp_path / "x"),
        "--dump-phases",
    ]
    for folder in (str(file), f"{file}/below", "/dev/full"):
        with _no_compilation(monkeypatch):
            assert main([*arguments, folder]) == 1
        assert f"dump_phases {folder}: cannot be written: expected " in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/dev/full", "no/such/folder/x.convoy", "."])
def test_save_refuses_paths_that_are_not_files(path: str) -> None:
    model = convoy.compile(*build_model(f"{TINY}:tiny"), target="cpu")
    with pytest.raises(ArtifactWriteError, match=rf"^{path}: cannot be written: expected "):
        model.save(path)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_full_disk_keeps_the_old_artifact(tmp_path: Path) -> None:
    """A limit on the file size makes a write fail as a full disk does."""
    out = tmp_path / "x.convoy"
    out.write_bytes(b"old")
    code = f"""
import convoy, resource
from convoy.cli.model_file import build_model
model = convoy.compile(*build_model("{TINY}:tiny"), target="cpu")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    model.save("{out}")
except convoy.errors.ArtifactWriteError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/python:{ROOT}/runtime"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == f"{out}: cannot write the artifact: File too large\n"
    assert out.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.convoy"]


def test_closed_or_full_standard_output(artifact: Path) -> None:
    """`convoy inspect FILE | head -1`, and `>` to a full disk."""
    command = [sys.executable, "-m", "convoy", "inspect", str(artifact), "--manifest"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/python:{ROOT}/runtime"}
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False
        )
    assert (done.returncode, done.stderr) == (
        1,
        "convoy: error: standard output: No space left on device\n",
    )


def test_report_on_standard_output_is_one_document(
    artifact: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(artifact), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert main(["explain", str(artifact), "--html", "-"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("<!")
    assert out.rstrip().endswith("</html>")
