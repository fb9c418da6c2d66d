"""`convoy run --check`: the reference and the limits."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import numpy as np
import pytest
import torch

import convoy
from convoy.cli.differences import compare_tensor, rounding
from convoy.cli.main import main
from convoy.cli.reference import Times, same_threads, times_ms
from convoy.errors import CompileError
from convoy.phases import lower

ROOT = Path(__file__).resolve().parents[2]
MODELS = f"{ROOT}/test/cli/Inputs/checked.py"


def _run(model: str, tmp_path: Path, *options: str, peer: str | None = None) -> int:
    path = tmp_path / "x.convoy"
    assert (
        main(["compile", f"{MODELS}:{model}", "--target", "cpu", "-q", "-o", str(path), *options])
        == 0
    )
    return main(["run", str(path), "--check", f"{MODELS}:{peer or model}"])


@pytest.mark.parametrize(
    "model", ["nested", "structured", "named", "integers", "infinities", "cancels", "spectrum"]
)
def test_correct_result(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(model, tmp_path) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    figures = re.search(
        (
            r"from PyTorch in fp64: (\S+) relative.*, at most (\S+)\n  PyTorch in float32 "
            r"differs by (\S+); "
        ),
        out,
    )
    assert figures is not None, out
    assert float(figures[1]) <= float(figures[2])
    assert re.search(
        r"^time: .* ms.* on cpu, \d+ threads, PyTorch .* ms.* on the CPU, \d+ threads \(.*x\)$",
        out,
        re.MULTILINE,
    )


def test_limit_depends_on_pytorch_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cancellation costs float32 more than 1e-4, which is too tight as a limit for all models."""
    assert _run("cancels", tmp_path) == 0
    found = re.search(r"PyTorch in float32 differs by (\S+);", capsys.readouterr().out)
    assert found is not None
    assert float(found[1]) > 1e-4


@pytest.mark.parametrize(
    ("model", "peer"), [("nested", "nested_wrong"), ("integers", "integers_wrong")]
)
def test_wrong_result(
    model: str, peer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(model, tmp_path, peer=peer) == 3
    assert "differs: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "peer", "message"),
    [
        ("named", "integers", "expected a model that returns a, b, like the artifact, got n, p, x"),
        ("nested", "cancels", "expected a model with 2 inputs, like the artifact, got 1"),
    ],
)
def test_model_with_another_signature(
    model: str, peer: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(model, tmp_path, peer=peer) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("layers", tmp_path, "--dtype", dtype) == 0
    assert f"PyTorch in {dtype} differs by " in capsys.readouterr().out


_NAN, _INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("got", "peer", "precise", "agrees"),
    [
        ([1.0, _NAN, _INF], [1.0, _NAN, _INF], [1.0, _NAN, _INF], True),
        ([1.0, 2.0], [1.0, _NAN], [1.0, _NAN], False),
        ([1.0, _NAN], [1.0, 2.0], [1.0, 2.0], False),
        ([1.0, _INF], [1.0, 2.0], [1.0, 2.0], False),
        ([1.0, -_INF], [1.0, _INF], [1.0, _INF], False),
        # PyTorch overflows in its type: infinity is correct, and so is the value in float64.
        ([1.0, _INF], [1.0, _INF], [1.0, 2.0], True),
        ([1.0, 2.0], [1.0, _INF], [1.0, 2.0], True),
        ([1.0, 9.0], [1.0, _INF], [1.0, 2.0], False),
        ([1.0, 2.0, 3.0], [1.0, 2.0], [1.0, 2.0], False),
        ([1.0, 2.1], [1.0, 2.02], [1.0, 2.0], True),
        ([1.0, 2.2], [1.0, 2.02], [1.0, 2.0], False),
        ([], [], [], True),
    ],
)
def test_agreement_of_floats(
    got: list[float], peer: list[float], precise: list[float], agrees: bool
) -> None:
    arrays = (
        np.array(each, dtype)
        for each, dtype in ((got, np.float32), (peer, np.float64), (precise, np.float64))
    )
    assert compare_tensor("0", *arrays, "float32").agrees is agrees


@pytest.mark.parametrize(("got", "agrees"), [([1, 2], True), ([1, 3], True), ([1, 4], False)])
def test_integers_are_exact(got: list[int], agrees: bool) -> None:
    """If float64 rounds to another integer than PyTorch's own type, both are correct."""
    assert (
        compare_tensor("0", np.array(got), np.array([1, 2]), np.array([1, 3]), "float32").agrees
        is agrees
    )


def test_tf32_is_rounded_as_tensor_cores_do() -> None:
    x = torch.tensor([[1.0 + 2.0**-10, 1.0 + 2.0**-11, 1.0 + 3 * 2.0**-11, 1.0 + 2.0**-12]])
    with rounding("tf32"):
        rounded = torch.cat([x[:, i : i + 1] @ torch.ones(1, 1) for i in range(4)], 1)
    assert rounded.tolist() == [[1.0 + 2.0**-10, 1.0, 1.0 + 2.0**-9, 1.0]]


def test_times_are_medians_after_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = 0.0, 0
    monkeypatch.setattr("convoy.cli.reference.time.perf_counter", lambda: now)

    def action() -> None:
        nonlocal now, calls
        calls += 1
        # The warm-up is slow, and later one call of a hundred is fast.
        now += 2**-4 if calls == 1 else 2**-10 if calls % 100 == 0 else 2**-9

    found = times_ms({"a": action}, seconds=1)["a"]
    assert calls > 500
    assert (found.least, found.median) == (1e3 * 2**-10, 1e3 * 2**-9)
    assert "the machine is busy" not in str(Times(2.0, 1.0))
    assert str(Times(77.0, 0.25)) == "77.00 ms (the fastest 0.25: the machine is busy)"


def test_convoy_and_pytorch_use_the_same_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    monkeypatch.setenv("CONVOY_NUM_THREADS", "3")
    with same_threads() as threads:
        assert threads == torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


def test_reproducer_is_readable_only_by_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    options = convoy.CompileOptions(target="cpu")
    with pytest.raises(CompileError) as caught:
        lower("module { foo }", "x", from_phase="tcp", to_phase="normalize", options=options)
    (file,) = tmp_path.iterdir()
    assert caught.value.reproducer == str(file)
    assert f"  reproducer: {file}" in str(caught.value)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().startswith(
        '// convoy-opt %s --convoy-pipeline="from=tcp to=tcp target=cpu '
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(CompileError) as caught:
        lower("module { foo }", "x", from_phase="tcp", to_phase="normalize", options=options)
    assert caught.value.reproducer is None
