"""The command line: its output, its exit codes, and its errors for bad input."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cli_fixtures import ROOT, TINY, compile_tiny
from rich.console import Console

from convoy.cli.main import main
from convoy.cli.progress import bar
from convoy_runtime.opening import open_artifact


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "tiny.convoy"
    compile_tiny(path, "--target", "cpu")
    return path


@pytest.fixture(scope="module")
def cuda_artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "tiny-cuda.convoy"
    compile_tiny(path, "--target", "cuda", "--dtype", "float16")
    return path


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["--help"],
        *(
            [each, "--help"]
            for each in (
                "compile",
                "run",
                "inspect",
                "explain",
                "tune",
                "merge",
                "export-triton",
                "bench",
                "import",
            )
        ),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert "convoy " in capsys.readouterr().out


def test_wrong_usage_is_exit_code_2() -> None:
    with pytest.raises(SystemExit) as stop:
        main(["compile"])
    assert stop.value.code == 2


def test_run_agrees_with_pytorch(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(artifact), "--check", f"{TINY}:tiny", "--top", "3"]) == 0
    out = capsys.readouterr().out
    assert "top 3" in out
    assert "largest difference from PyTorch in fp64" in out


def test_run_check_detects_a_difference(artifact: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((1, 3, 16, 16), np.float32))
    weights = tmp_path / "other.safetensors"
    from safetensors.torch import save_file

    from convoy.cli.model_file import build_model

    module, *_ = build_model(f"{TINY}:tiny")
    save_file(
        {
            name: value * 2
            for name, value in module.state_dict().items()
            if not name.endswith("num_batches_tracked")
        },
        weights,
    )
    assert main(["run", str(artifact), "--weights", str(weights), "--check", f"{TINY}:tiny"]) == 3


def test_run_reads_and_writes_npy(artifact: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((1, 3, 16, 16), np.float32))
    assert (
        main(
            [
                "run",
                str(artifact),
                "--input",
                str(tmp_path / "x.npy"),
                "--output",
                str(tmp_path / "y.npy"),
            ]
        )
        == 0
    )
    assert np.load(tmp_path / "y.npy").shape == (1, 10)


def test_bench_prints_convoy_and_peer(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["bench", str(artifact), "--peer", f"{TINY}:tiny", "--seconds", "0.05", "--json"]) == 0
    )
    figures = json.loads(capsys.readouterr().out)["median"]
    assert figures["convoy"] > 0
    assert figures["torch"] > 0


def test_bfloat16(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """numpy has no bfloat16: a file holds the bits."""
    path = tmp_path / "rounded.convoy"
    compile_tiny(path, "--target", "cpu", function="rounded")
    assert main(["run", str(path), "--check", f"{TINY}:rounded", "--top", "2"]) == 0
    printed = capsys.readouterr().out
    assert "output 0: bfloat16 [1, 8, 6, 6]" in printed
    difference = re.search(r"largest difference from PyTorch in fp64: (\S+) relative", printed)
    assert difference is not None
    assert 0 < float(difference[1]) < 1e-2
    assert main(["run", str(path), "--output", str(tmp_path / "y.npy")]) == 0
    assert np.load(tmp_path / "y.npy").dtype == np.uint16
    assert main(["bench", str(path), "--peer", f"{TINY}:rounded", "--seconds", "0.05"]) == 0


def test_more_output_files_than_outputs_is_an_error(
    artifact: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(artifact), "--top", "-1"]) == 1
    assert "--top: expected a number from 0, got -1" in capsys.readouterr().err
    assert main(["run", str(artifact), "--output", "a.npy", "--output", "b.npy"]) == 1
    assert "expected at most 1 --output files, got 2" in capsys.readouterr().err


def test_unknown_flag_prints_the_usage_of_its_command(
    artifact: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for flags, message in (
        (["--stric"], "convoy run: error: unrecognized arguments: --stric"),
        (
            ["--max-workspace", "1MB"],
            "argument --max-workspace: expected bytes, e.g. 65536, 64K, 64M or 2G, or none, got 1MB",
        ),
        (["--engines", "a"], "argument --engines: expected numbers separated by commas, got a"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["run", str(artifact), *flags])
        assert stop.value.code == 2
        printed = capsys.readouterr().err
        assert printed.startswith("usage: convoy run ")
        assert message in printed


def test_progress_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line per step, and one line every ten seconds within a step: a full tuning builds
    hundreds of plans."""
    now = [0.0]
    monkeypatch.setattr("convoy.cli.progress.time.monotonic", lambda: now[0])
    with bar("tuning", quiet=False) as progress:
        assert progress is not None
        for what, done, seconds in (
            ("plan of a", 0, 0),
            ("plan 1 of a", 0, 1),
            ("plan 9 of a", 0, 12),
            ("plan of b", 1, 13),
        ):
            now[0] = seconds
            progress(what, done, 2)
    assert (
        capsys.readouterr().err == "plan of a (1 of 2)\nplan 9 of a (1 of 2)\nplan of b (2 of 2)\n"
    )
    with bar("tuning", quiet=True) as progress:
        assert progress is None


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The progress and the remaining time; a phase that starts again resets both."""
    shown = io.StringIO()
    console = partial(Console, file=shown, force_terminal=True, width=100)
    monkeypatch.setattr("convoy.cli.progress.Console", lambda **_: console())
    with bar("tuning", quiet=False) as progress:
        assert progress is not None
        for what, done, count in (
            ("plan of a", 0, 2),
            ("plan of b", 1, 2),
            ("a in the whole program", 0, 1),
        ):
            progress(what, done, count)
    last = shown.getvalue().rpartition("a in the whole program")[2]
    assert "1/1" in last
    assert "left" in last


def test_inspect_and_explain(cuda_artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(cuda_artifact)]) == 0
    assert "target cuda" in capsys.readouterr().out
    assert main(["inspect", str(cuda_artifact), "--manifest"]) == 0
    manifest = json.loads(capsys.readouterr().out)
    assert manifest["target"] == "cuda"
    assert main(["inspect", str(cuda_artifact), "--ptx"]) == 0
    assert ".visible .entry" in capsys.readouterr().out
    assert main(["explain", str(cuda_artifact)]) == 0
    out = capsys.readouterr().out
    assert out.count("convolution") >= 2
    assert "tiny.py:" in out


def test_inspect_prints_a_graph_in_each_form(
    cuda_artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(cuda_artifact), "--manifest"]) == 0
    name = json.loads(capsys.readouterr().out)["graphs"][0]["name"]
    file = tmp_path / "tiny.mlir"
    compile_tiny(file, "--target", "cuda", "--dtype", "float16", "--compile-to", "cudnn")
    capsys.readouterr()
    for form, start in (("json", "{"), ("dot", "digraph "), ("python", '"""')):
        printed = []
        for source in (cuda_artifact, file):
            assert (
                main(["inspect", str(source), "--graph", name, "--as", form, "--run-native"]) == 0
            )
            printed.append(capsys.readouterr().out)
        assert printed[0].startswith(start)
        assert printed[0] == printed[1]
    assert main(["inspect", str(cuda_artifact), "--as", "dot", "--run-native"]) == 1
    assert f"expected --graph NAME; the file has {name}, " in capsys.readouterr().err
    assert main(["inspect", str(cuda_artifact), "--graph", name]) == 1
    assert "--graph requires --ptx, or --as: json, cudnn, dot or python" in capsys.readouterr().err


def test_no_alternatives_flag(
    cuda_artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plain.convoy"
    compile_tiny(path, "--target", "cuda", "--dtype", "float16", "--no-alternatives")
    opened = open_artifact(cuda_artifact)
    with_them, plain = opened.manifest, open_artifact(path).manifest
    assert len(plain.graphs) == len(plain.called_graphs)
    assert plain.called_graphs == with_them.called_graphs
    assert [graph for graph in with_them.graphs if graph.alternatives]
    assert "alternatives.json" in with_them.files
    assert "alternatives.json" not in plain.files
    # Graphs of steps are not in the manifest.
    assert [replace(graph, alternatives=()) for graph in with_them.graphs] == list(plain.graphs)
    assert {step.graph for each in opened.alternatives().alternatives for step in each.steps} >= {
        len(with_them.graphs) + index for index in range(len(opened.alternatives().graphs))
    }
    capsys.readouterr()
    assert main(["explain", str(cuda_artifact)]) == 0
    assert (
        "      or conv2d | residual+bias+relu, if tuning finds it faster\n"
        in capsys.readouterr().out
    )


def test_inspect_as_refuses_a_cpu_artifact(
    artifact: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(artifact), "--as", "dot", "--run-native"]) == 1
    assert "the file has no cuDNN graph" in capsys.readouterr().err


def test_no_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bare.convoy"
    compile_tiny(out, "--target", "cpu", "--no-weights")
    assert main(["run", str(out)]) == 1
    assert "load_weights" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nothing.py:f", "no such file"),
        (TINY, "expected FILE.py:FUNCTION"),
        (f"{TINY}:missing", "expected a function missing, found"),
        (
            f"{TINY}:wrong",
            "expected (module, (tensor, ...)) or (module, (tensor, ...), {name: tensor}), got int",
        ),
    ],
)
def test_bad_model_names(
    model: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", model, "--target", "cpu", "-o", str(tmp_path / "x.convoy")]) == 1
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("damage", ["truncate", "flip", "foreign"])
def test_damaged_artifacts(
    damage: str, artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray(artifact.read_bytes())
    if damage == "truncate":
        content = content[: len(content) // 2]
    elif damage == "flip":
        content[len(content) // 2] ^= 0xFF
    else:
        content = bytearray(b"not a zip at all")
    path = tmp_path / "damaged.convoy"
    path.write_bytes(content)
    assert main(["run", str(path)]) == 1
    err = capsys.readouterr().err
    assert str(path) in err
    assert "Traceback" not in err


def module(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m convoy` with these arguments."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/python:{ROOT}/runtime"}
    return subprocess.run(
        [sys.executable, "-m", "convoy", *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = module("run", str(tmp_path / "missing.convoy"), "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_python_module_is_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m convoy` has the output and exit codes of `convoy`."""
    for arguments in (
        ["--version"],
        ["tune", "--help"],
        ["compile"],
        ["run", str(tmp_path / "missing.convoy")],
    ):
        try:
            code: object = main(arguments)
        except SystemExit as stop:
            code = stop.code
        command, done = capsys.readouterr(), module(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (code, command.out, command.err)


@pytest.mark.parametrize(
    "command",
    [["-m", "convoy"], ["-c", "import sys; from convoy.cli.main import main; sys.exit(main())"]],
)
def test_interrupt_during_the_first_imports(command: list[str], tmp_path: Path) -> None:
    """Sends a real SIGINT; the import of numpy takes long enough."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy/__init__.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}/python:{ROOT}/runtime"}
    for more, code, last in (
        ([], 130, "convoy: interrupted"),
        (["--debug"], -signal.SIGINT, "KeyboardInterrupt"),
    ):
        line = [sys.executable, *command, "run", "model.convoy", *more]
        done = subprocess.run(line, capture_output=True, text=True, env=environment)
        *before, said = done.stderr.splitlines()
        assert (done.returncode, done.stdout, said) == (code, "", last)
        assert bool(before) == bool(more)


def test_cuda_artifact_without_a_gpu_is_an_error(
    cuda_artifact: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from convoy.options import default_target

    if default_target() == "cuda":
        pytest.skip("this machine has a GPU")
    assert main(["run", str(cuda_artifact)]) == 1
    err = capsys.readouterr().err
    assert "libcuda" in err
    assert "Traceback" not in err
