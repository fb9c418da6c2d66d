"""The command line on a machine with a GPU: tune, run, and their output."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_gpu.fixtures import FAKE

import convoy_runtime
from convoy.artifact import write_artifact
from convoy.cli.main import main as convoy
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.cuda.plans.options import PlanOptions, restrictions
from convoy_runtime.opening import open_artifact


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_cudnn: ctypes.CDLL) -> Path:
    """An empty user cache, on a machine where cuDNN offers several engines."""
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    fake_cudnn.fake_offer(6)
    return tmp_path / "cache"


def test_a_first_session(
    conv: Path, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Untuned, strict, tuned, strict again; and the origin of the plans each time."""
    monkeypatch.setattr("convoy_runtime.replays._ROUND_SECONDS", 0.001)
    assert convoy(["run", str(conv), "--no-plan-cache"]) == 0
    assert capsys.readouterr().out == (
        "plans of 1 graphs: 1 heuristics\n"
        f"  1 of them not measured on this GPU: `convoy tune {conv}` measures plans and adds "
        "the fastest to the artifact\n"
        "output y: float16 [1, 64, 56, 56]\n"
    )
    assert not cache.exists()
    assert convoy(["run", str(conv), "--strict"]) == 1
    expected = (
        "model.py:9: graph conv: no stored plan fits, and strict=True allows no "
        "other\n  hint: `convoy tune` adds plans for this GPU"
    )
    assert expected in capsys.readouterr().err
    assert convoy(["tune", str(conv)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == [
        "graph",
        "calls",
        "runs",
        "on",
        "us",
        "untuned",
        "us",
        "measured",
        "from",
    ]
    assert re.fullmatch(r"conv +1 +engine 41 +2\.1[23] +2\.1[23] +5 +tuning *", printed[1])
    assert (
        printed[2]
        == "sum of all graph calls, each measured alone: 2.1 us, untuned 2.1 us; calls one after another"
    )
    assert re.fullmatch(r"1 of 1 graphs measured in [\d.]+ s", printed[3])
    assert re.fullmatch(r"  of this: \w.* [\d.]+ s", printed[4])
    assert printed[5:] == [
        f"{conv}: plans for cuda:0 (Fake GPU 0)",
        f"  new digest {open_artifact(conv).digest}",
    ]
    for command in ("run", "bench"):
        seconds = ["--seconds", "0.01"] if command == "bench" else []
        assert convoy([command, str(conv), "--strict", "--no-plan-cache", *seconds]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith("plans of 1 graphs: 1 plan in the artifact\n")
    # The last two are of bench: whole calls, and replays without copies.
    number = r"[\d.]+"
    replay = (
        rf"replay +{number} ms  without copies \({number} to {number}, host time "
        rf"{number} us\)"
    )
    times = rf"\nconvoy +{number} ms, the fastest {number}\n{replay}\n$"
    assert re.search(times, printed)
    assert convoy(["bench", str(conv), "--no-plan-cache", "--seconds", "0.01", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert 0 < figures["replay"] < figures["median"]["convoy"]


def test_run_plans_lists_choices_and_reasons(
    conv: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convoy(["run", str(conv), "--plans", "--exclude-engines", "41"]) == 0
    assert capsys.readouterr().out.startswith(
        "conv: engine 42 (A[2]) {} [TENSOR_CORE] workspace 512 bytes\n"
        "  not A[0] engine 40 {}: CUDNN_STATUS_NOT_SUPPORTED: as told\n"
        "  not A[1] engine 41 {}: is an excluded engine\n"
    )


def test_plans_of_a_tuned_artifact_are_listed(
    conv: Path, cache: Path, capsys: pytest.CaptureFixture[str], fake_cudnn: ctypes.CDLL
) -> None:
    """Each plan has its engine, knobs, notes, workspace, and its time or why it was dropped."""
    fake_cudnn.fake_offer(6)
    listed = (
        r"conv: engine 41 \(A\[1\], {}\) {{}} \[TENSOR_CORE\] workspace 512 bytes\n"
        r"  \* +2\.1\d us  engine 41 {{}} \[TENSOR_CORE\] workspace 512 bytes\n"
        r"    +6\.1\d us  engine 42 {{}} \[TENSOR_CORE\] workspace 512 bytes\n"
        r"         dropped  engine 43 {{}} \[TENSOR_CORE\] workspace 512 bytes: output 0 differs .*\n"
        r"         dropped  engine 44 {{}} \[TENSOR_CORE\] workspace 512 bytes: writes after tensor 4\n"
        r"         dropped  engine 45 {{}} \[TENSOR_CORE\] workspace 512 bytes: "
        r"CUDNN_STATUS_EXECUTION_FAILED: as told\n"
        r"  not A\[0\] engine 40 {{}}: CUDNN_STATUS_NOT_SUPPORTED: as told\n"
    )
    for command, origin in (
        ("tune", "tuning"),
        ("run", "plan in the artifact"),
        ("bench", "plan in the artifact"),
    ):
        flags = ["--seconds", "0.01"] if command == "bench" else []
        assert convoy([command, str(conv), "--plans", "--no-plan-cache", *flags]) == 0
        assert re.match(listed.format(origin), capsys.readouterr().out)


def test_every_plan_option_is_a_flag(
    conv: Path, cache: Path, capsys: pytest.CaptureFixture[str], fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_exact(42)
    try:
        for flags, option in (
            (["--no-tf32"], "allow_tf32=False"),
            (["--no-tensor-cores"], "allow_tensor_cores=False"),
            (["--deterministic"], "deterministic=True"),
            (["--no-winograd"], "allow_winograd=False"),
            (["--no-fft"], "allow_fft=False"),
            (["--no-reduced-precision-reduction"], "allow_reduced_precision_reduction=False"),
            (["--no-runtime-compilation"], "allow_runtime_compilation=False"),
            (
                ["--require-numerical-notes", "tensor_core"],
                "require_numerical_notes=('TENSOR_CORE',)",
            ),
            (
                ["--exclude-numerical-notes", "winograd,FFT"],
                "exclude_numerical_notes=('FFT', 'WINOGRAD')",
            ),
            (
                ["--exclude-behavior-notes", "runtime_compilation"],
                "exclude_behavior_notes=('RUNTIME_COMPILATION',)",
            ),
            (["--max-workspace", "1M"], "max_workspace_bytes=1048576"),
            (["--max-workspace", "none"], "max_workspace_bytes=None"),
            (["--heuristics", "B,FALLBACK"], "heuristics=('B', 'FALLBACK')"),
            (["--engines", "42,41"], "engines=(41, 42)"),
            (["--exclude-engines", "40"], "exclude_engines=(40,)"),
            (["--forward-engines", "41"], "forward_engines=(41,)"),
            (["--exclude-forward-engines", "40"], "exclude_forward_engines=(40,)"),
            (["--dgrad-engines", "7"], "dgrad_engines=(7,)"),
            (["--exclude-dgrad-engines", "41"], "exclude_dgrad_engines=(41,)"),
            (["--wgrad-engines", "7"], "wgrad_engines=(7,)"),
            (["--exclude-wgrad-engines", "41"], "exclude_wgrad_engines=(41,)"),
            (["--no-kernels"], "allow_kernels=False"),
            (["--no-cublaslt"], "allow_cublaslt=False"),
        ):
            assert convoy(["tune", str(conv), *flags, "--no-plan-cache"]) == 0
            assert capsys.readouterr().out.endswith(
                f"  used by loads with the same restrictions: {option}\n"
            )
            assert convoy(["run", str(conv), *flags, "--strict", "--no-plan-cache"]) == 0
            assert "plans of 1 graphs: 1 plan in the artifact\n" in capsys.readouterr().out
    finally:
        fake_cudnn.fake_exact(0)
    assert convoy(["run", str(conv), "--heuristics", "C"]) == 1
    assert (
        "heuristics: unknown mode: expected a subset of ['INSTANT', 'B', 'FALLBACK', 'A'], got ('C',)"
        in capsys.readouterr().err
    )


def test_plan_cache_flag(
    conv: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Like a timing cache: after tuning one artifact, an equal one needs no tuning."""
    folder, other = tmp_path / "plans", tmp_path / "other"
    other.write_bytes(conv.read_bytes())
    assert convoy(["tune", str(conv), "--plan-cache", str(folder), "-q"]) == 0
    assert list(folder.rglob("*.json"))
    assert not cache.exists()
    assert convoy(["run", str(other), "--strict", "--plan-cache", str(folder)]) == 0
    assert "plans of 1 graphs: 1 stored plan\n" in capsys.readouterr().out
    assert convoy(["tune", str(other), "--plan-cache", str(folder)]) == 0
    assert re.search(
        r"^0 of 1 graphs measured in [\d.]+ s, 1 already had a plan of this level$",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    assert convoy(["tune", str(other), "--plan-cache", str(conv)]) == 1
    assert (
        f"--plan-cache {conv}: cannot be written: expected a folder, got a file"
        in capsys.readouterr().err
    )


def test_retuning_replaces_plans(
    conv: Path, cache: Path, capsys: pytest.CaptureFixture[str], fake_cudnn: ctypes.CDLL
) -> None:
    """Plans in artifact and cache are measured again and replaced; plans for other versions are
    kept."""
    fake_cudnn.fake_offer(2)
    assert convoy(["tune", str(conv), "--level", "full", "-q"]) == 0
    (file,) = (path for path in cache.rglob("*.json") if b'"engine"' in path.read_bytes())
    kept = json.loads(file.read_text())
    file.write_text(
        json.dumps({**kept, "records": [*kept["records"], {**kept["records"][0], "cudnn": 91800}]})
    )
    fake_cudnn.fake_offer(6)
    for flags, measured in (([], 0), (["--again"], 1), ([], 0)):
        assert convoy(["tune", str(conv), *flags]) == 0
        printed = capsys.readouterr().out
        assert f"\n{measured} of 1 graphs measured in " in printed
    assert re.search(r"^conv +1 +engine 41 .* 5 +stored plan$", printed, re.MULTILINE)
    assert [(each["cudnn"], each["level"]) for each in json.loads(file.read_text())["records"]] == [
        (91900, "quick"),
        (91800, "full"),
    ]


def test_plans_for_other_options(
    conv: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convoy(["tune", str(conv), "--deterministic", "--max-workspace", "64M"]) == 0
    expected = (
        "  used by loads with the same restrictions: deterministic=True, "
        "max_workspace_bytes=67108864\n"
    )
    assert capsys.readouterr().out.endswith(expected)
    assert convoy(["run", str(conv), "--strict", "--no-plan-cache"]) == 1
    ours, theirs = (
        "deterministic=False, max_workspace_bytes=536870912",
        "deterministic=True, max_workspace_bytes=67108864",
    )
    assert (
        f"plan in the artifact: expected one made with {ours}, got one made with {theirs}"
        in capsys.readouterr().err
    )
    assert (
        convoy(
            [
                "run",
                str(conv),
                "--strict",
                "--no-plan-cache",
                "--deterministic",
                "--max-workspace",
                "65536K",
            ]
        )
        == 0
    )


def test_plans_for_another_gpu(
    conv: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convoy(["tune", str(conv), "--no-plan-cache", "-q"]) == 0
    artifact, other = open_artifact(conv), tmp_path / "other"
    members = {
        name: bytes(content) for name, content in artifact.members.items() if name != WEIGHTS
    }
    for name in [name for name in members if name.startswith("plans/")]:
        # File names depend on the GPU's name.
        members[f"plans/L4-{name.removeprefix('plans/')}"] = members.pop(name).replace(
            b"Fake GPU 0", b"NVIDIA L4"
        )
    write_artifact(other, artifact.manifest, members, artifact.weights())
    assert convoy(["run", str(other), "--no-plan-cache"]) == 0
    assert capsys.readouterr().out.startswith(
        "plans of 1 graphs: 1 heuristics\n"
        "  1 rejected: plan in the artifact: expected one for Fake GPU 0, got one "
        "for NVIDIA L4\n"
        "  1 of them not measured on this GPU: "
    )


def test_unwritable_cache_is_a_warning(conv: Path, tmp_path: Path, cache: Path) -> None:
    """Prints a warning without a source line, and continues."""
    place = tmp_path / "file"
    place.touch()
    command = [
        sys.executable,
        "-m",
        "convoy",
        "run",
        str(conv),
        "--plan-cache",
        str(place / "below"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (
        0,
        f"convoy: warning: cuDNN plans are not stored: {place / 'below'}: Not a directory\n",
    )


def test_restrictions_lists_changed_options() -> None:
    assert restrictions(repr(PlanOptions())) == ""
    assert (
        restrictions(repr(PlanOptions(engines=(1, 2), allow_fft=False)))
        == "allow_fft=False, engines=(1, 2)"
    )
    assert (
        restrictions(repr(PlanOptions(allow_fft=False)), repr(PlanOptions(engines=(3,))))
        == "allow_fft=False, engines=None"
    )
    for text in ("of another time", "3"):
        assert restrictions(text) == text


@pytest.mark.parametrize("kept", [True, False])
def test_interrupt_while_tuning(
    kept: bool,
    conv: Path,
    cache: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Prints what remains to be done, and leaves the artifact unchanged."""
    before = conv.read_bytes()

    def load(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(convoy_runtime, "load", load)
    assert convoy(["tune", str(conv), *([] if kept else ["--no-plan-cache"])]) == 130
    left = f"the plans so far are stored in {cache}, and the same command continues from there"
    expected = left if kept else "no plans are stored, because of --no-plan-cache"
    assert (
        capsys.readouterr().err == f"convoy: {conv} is unchanged; {expected}\nconvoy: interrupted\n"
    )
    assert conv.read_bytes() == before


@pytest.mark.parametrize("at", [1, 2, 40])
@pytest.mark.usefixtures("cache")
def test_interrupt_during_a_run(
    at: int, conv: Path, monkeypatch: pytest.MonkeyPatch, fake_cudnn: ctypes.CDLL
) -> None:
    """Nothing is closed before the run ends."""
    before, left = FAKE.fake_early(), [at]
    launch = Captured.launch

    def interrupted(self: Captured, stream: int) -> None:
        launch(self, stream)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(Captured, "launch", interrupted)
    assert convoy(["tune", str(conv), "-q"]) == 130
    gc.collect()
    assert FAKE.fake_early() == before
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)
