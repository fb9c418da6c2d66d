"""`python -m convoy_runtime`: its output, and the exit code of each kind of error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, affine_manifest, reference

from convoy.artifact import write_artifact
from convoy_runtime.__main__ import _progress, main
from convoy_runtime.manifest import ABI_VERSION, FORMAT_VERSION, Cudnn, TensorSpec
from convoy_runtime.random_arrays import random_array

X = np.array([[1, 2, 3], [-4, -5, 6]], np.float32)


def test_info(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(affine)]) == 0
    printed = capsys.readouterr().out
    assert (
        f"target cpu, format {FORMAT_VERSION}, ABI {ABI_VERSION}, produced by convoy test\n"
        in printed
    )
    assert (
        "input x: float32[2, 3]\noutput y: float32[2, 3]\n3 weights, 2 prepared, arena "
        "of 64 bytes\n"
    ) in printed
    assert re.search(
        r"member native\.so, \d+ bytes\nmember weights\.safetensors, \d+ bytes\n$", printed
    )


def test_run_from_files(affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", X)
    assert (
        main(
            [
                str(affine),
                "--run",
                "--input",
                str(tmp_path / "x.npy"),
                "--output",
                str(tmp_path / "y.npy"),
            ]
        )
        == 0
    )
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), reference(X))
    assert re.search(r"loaded in [\d.]+ s\noutput y: float32\[2, 3\]\n$", capsys.readouterr().out)


def test_bench(
    affine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convoy_runtime.replays._ROUND_SECONDS", 0.001)
    assert main([str(affine), "--bench"]) == 0
    assert re.search(
        r"[\d.]+ us a run, median of 7 rounds of \d+ \([\d.]+ to [\d.]+\)\n$",
        capsys.readouterr().out,
    )


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    _progress("plan of a", 0, 2)
    _progress("plan of b", 1, 2)
    assert capsys.readouterr().err == "\r\033[Kplan of a (1 of 2)\r\033[Kplan of b (2 of 2)\n"


def test_exit_codes(
    affine: Path,
    affine_bare: Path,
    tmp_path: Path,
    affine_so: bytes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(code: int, message: str, *arguments: str | Path) -> None:
        assert main([str(argument) for argument in arguments]) == code
        printed = capsys.readouterr().err
        assert printed.startswith("convoy_runtime: error: ")
        assert re.search(message, printed)

    fails(3, "cannot be read", tmp_path / "absent")
    fails(4, "was compiled for cpu and cannot run on cuda", affine, "--run", "--device", "cuda")
    fails(5, "was compiled without weights", affine_bare, "--run")
    fails(
        5,
        r"w\.safetensors: cannot be read",
        affine,
        "--run",
        "--weights",
        tmp_path / "w.safetensors",
    )
    fails(1, r"x\.npy: No such file or directory", affine, "--run", "--input", tmp_path / "x.npy")
    (tmp_path / "x.npy").write_bytes(b"junk")
    fails(5, r"x\.npy: is not a \.npy file", affine, "--run", "--input", tmp_path / "x.npy")
    fails(
        5,
        "--output: too many: expected 1 at most, got 2",
        affine,
        "--run",
        "--output",
        "a",
        "--output",
        "b",
    )
    path = tmp_path / "cuda"
    write_artifact(
        path,
        affine_manifest(target="cuda", cudnn=Cudnn(91900, 90000, "float16")),
        {"native.so": affine_so},
        PREPARED,
    )
    assert main([str(path)]) == 0
    assert "0 cuDNN graphs in 0 calls, 0 generated kernels" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([])


def test_as_a_process(affine: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "convoy_runtime", str(affine), "--run"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("output y: float32[2, 3]\n")


def test_interrupt(
    affine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("convoy_runtime.__main__.load", load)
    assert main([str(affine), "--run"]) == 130
    assert capsys.readouterr().err == "convoy_runtime: interrupted\n"
    with pytest.raises(KeyboardInterrupt):
        main([str(affine), "--run", "--debug"])


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16", "int64", "bool", "uint8"])
def test_random_arrays(dtype: str) -> None:
    array = random_array(TensorSpec("x", (3, 5), dtype))
    assert array.shape == (3, 5)
    assert array.dtype.name == ("uint16" if dtype == "bfloat16" else dtype)
    assert len(np.unique(array)) > 1
    if dtype == "bfloat16":
        assert np.isfinite((array.astype(np.uint32) << 16).view(np.float32)).all()
