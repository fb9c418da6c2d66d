"""Random models agree with PyTorch, and the fuzzer finds, reduces and prints an injected defect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from defects import RELU_IS_ABS
from models import run
from random_check import check, same_failure
from random_model import Leaf, Model, Step, script
from random_networks import random_network
from random_reduce import reduce_model
from workers import Job, Workers

_JOBS = len(os.sched_getaffinity(0))
_ROOT = Path(__file__).parents[2]


def test_random_models(tmp_path: Path) -> None:
    outcome = run(50, seed=0, jobs=_JOBS, keep=tmp_path)
    print("\n".join(outcome.summary))
    assert outcome.count == 50
    assert outcome.failures == ()


def test_seed_determines_the_model() -> None:
    first, again = random_network(7), random_network(7)
    assert first == again
    assert Model.from_json(first.to_json()) == first
    assert random_network(8) != first


def _model() -> Model:
    """A model with relu as its fourth step, weights, a shared submodule and two outputs."""
    steps = (
        Step("v0", "{m}({0})", ("x0",), "nn.Linear(5, 7)"),
        Step("v1", "torch.tanh({0}) * {1}", ("v0", "p0")),
        Step("v2", "{0}.reshape([3, 14])", ("v1",)),
        Step("v3", "torch.relu({0})", ("v2",)),
        Step("v4", "{0}.amax(1, keepdim=True)", ("v3",)),
        Step("v5", "{m}({0})", ("x0",), shares="v0"),
    )
    return Model(
        1,
        "float32",
        (Leaf("x0", (6, 5), "float32"),),
        (Leaf("p0", (7,), "float32"),),
        steps,
        ("v4", "v5", "v3"),
        "dict",
    )


@pytest.mark.parametrize(
    ("hook", "kind", "detail"),
    [
        ("defects:relu_is_abs", "wrong", "numbers: output"),
        ("defects:relu_aborts", "crash", "SIGABRT"),
        ("defects:relu_hangs", "hang", "more than 5 seconds"),
        ("defects:relu_raises", "error", "KeyError: 'relu'"),
    ],
)
def test_defect_is_found_and_reduced(hook: str, kind: str, detail: str) -> None:
    with Workers(1, timeout=5 if kind == "hang" else 60) as workers:

        def judge(model: Model) -> object:
            return workers.one(Job(1, model, ("cpu",), hook))

        verdict = judge(_model())
        assert (verdict.kind, verdict.detail[: len(detail)]) == (kind, detail)
        small, found = reduce_model(_model(), verdict, judge, seconds=20 if kind == "hang" else 60)
        assert same_failure(found, verdict)
    assert len(small.outputs) == 1
    if kind != "hang":  # each attempt takes the whole timeout
        assert [step.expression for step in small.steps] == ["torch.relu({0})"]
        assert small.weights == ()


def test_failure_is_kept_as_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = run(8, seed=0, jobs=_JOBS, keep=tmp_path, hook="defects:outputs_are_zero")
    assert outcome.failures
    assert "class M(nn.Module):" in capsys.readouterr().out
    path = outcome.failures[0]
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, "without the defect, the model is correct: " + done.stderr


def test_script_reproduces_the_defect(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    limits = check(_model(), ("cpu",)).limits
    text = script(_model(), "relu", limits)
    path.write_text(text.replace("import convoy\n", f"import convoy\n{RELU_IS_ABS}", 1))
    done = subprocess.run(
        [sys.executable, path], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    assert "AssertionError: output 0: differs by" in done.stderr, done.stderr
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, path], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_limits_are_tight() -> None:
    """The limit of a float32 model is at most a hundred times PyTorch's own error."""
    limits = check(_model(), ("cpu",)).limits
    assert all(limit is not None and limit < 1e-4 for limit in limits)
