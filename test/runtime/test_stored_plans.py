"""Plans from the real cuDNN that are stored, restored and rebuilt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime._native import load_native
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.errata import Erratum
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.cuda.plans.fingerprint import content_of, fingerprint, fingerprint_of
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.plans.store import PlanStore, Scope

H200 = device_file("h200", 91900)


@pytest.fixture
def cached(
    cudnn: Cudnn, cublaslt: None, compile_c: Callable[..., bytes], tmp_path: Path
) -> Callable[..., Any]:
    """Like `plan`, with a cache in a temporary folder."""

    def run(
        *flags: str, gpu: str = "here", version: int = 91900, driver: int = 13000, **options: Any
    ) -> Any:
        store = PlanStore(tmp_path / "cache", Scope(gpu, version, driver))
        planner = Planner(
            cudnn,
            LoadOptions(plan_options=PlanOptions(**options)),
            handle=None,
            device=device_properties(cudnn, H200),
            store=store,
        )
        return planner.plan(
            conv_graph(), load_native(compile_c("conv.c", *flags)).builder("conv_build")
        ).report

    return run


def test_plan_is_restored_for_the_same_graph_options_and_gpu(cached: Callable[..., Any]) -> None:
    made = cached()
    assert made.origin == "heuristics"
    restored = cached()
    assert restored == replace(made, origin="stored plan")
    assert "(A[0], stored plan)" in str(restored)
    assert cached("-DDTYPE=9").origin == "heuristics"
    assert cached(deterministic=True).origin == "heuristics"
    assert cached(gpu="elsewhere").origin == "heuristics"
    assert cached().origin == "stored plan"


def test_engine_and_knobs_are_reused_after_an_upgrade(
    cached: Callable[..., Any], tmp_path: Path
) -> None:
    made = cached(version=91800)
    rebuilt = cached()
    assert (rebuilt.origin, rebuilt.engine, rebuilt.knobs) == (
        "stored engine and knobs",
        made.engine,
        made.knobs,
    )
    assert rebuilt.workspace_bytes == made.workspace_bytes
    # The rebuilt plan is stored: the next load compiles nothing.
    for _ in range(2):
        assert cached() == replace(rebuilt, origin="stored plan made of engine and knobs")
    assert cached(driver=12080).origin == "stored engine and knobs"
    # All records are kept, because the older library may be used again.
    assert cached(version=91800) == replace(made, origin="stored plan")
    (file,) = (tmp_path / "cache" / "plans").iterdir()
    content = json.loads(file.read_text())
    assert {(each["cudnn"], each["driver"]) for each in content["records"]} == {
        (91800, 13000),
        (91900, 13000),
        (91900, 12080),
    }
    (old,) = (each for each in content["records"] if each["cudnn"] == 91800)
    old["report"]["engine"] = 4711
    file.write_text(json.dumps({**content, "records": [old]}))
    again = cached()
    assert again.origin == "heuristics"
    assert any(line.startswith("stored plan: ") for line in again.rejected)


@pytest.mark.parametrize(
    ("field", "value"), [("gpu", "elsewhere"), ("graph", "another"), ("options", "others")]
)
def test_file_contents_must_match_the_name(
    cached: Callable[..., Any], tmp_path: Path, field: str, value: str
) -> None:
    cached()
    (file,) = (tmp_path / "cache" / "plans").iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}))
    assert cached().origin == "heuristics"
    # Its contents now match the name.
    assert cached().origin == "stored plan"


def test_plan_that_cannot_be_restored_is_rebuilt(
    cached: Callable[..., Any], tmp_path: Path
) -> None:
    made = cached()
    (file,) = (tmp_path / "cache" / "plans").iterdir()
    whole = file.read_text()
    for damage in ("", "[]", whole[: len(whole) // 2]):
        file.write_text(damage)
        assert cached() == made
    content = json.loads(whole)
    (record,) = content["records"]
    file.write_text(json.dumps({**content, "records": [{**record, "report": {}}]}))
    again = cached()
    assert again.origin == "heuristics"
    assert again.rejected[0].startswith("stored plan: ")
    assert json.loads(file.read_text())["records"] == [
        {**record, "report": {**record["report"], "rejected": [*again.rejected]}}
    ]


def test_plan_that_cudnn_refuses_is_rebuilt_from_engine_and_knobs(
    cached: Callable[..., Any], tmp_path: Path
) -> None:
    """One that no heuristic would choose. The next record is used only if it cannot be built
    either."""
    made = cached()
    (file,) = (tmp_path / "cache" / "plans").iterdir()
    content = json.loads(file.read_text())
    (record,) = content["records"]
    best = {**record, "plan": '{"cudnnVersion": 1}', "level": "full"}
    best["report"] = {**record["report"], "rank": 7}
    file.write_text(json.dumps({**content, "records": [best]}))
    rebuilt = cached()
    assert (rebuilt.origin, rebuilt.engine, rebuilt.knobs, rebuilt.rank) == (
        "stored engine and knobs",
        made.engine,
        made.knobs,
        7,
    )
    assert rebuilt.rejected[0].startswith(
        "stored plan: cudnnBackendFinalize (EXECUTION_PLAN) failed: "
    )
    best["report"]["engine"] = 4711
    file.write_text(json.dumps({**content, "records": [best, record]}))
    again = cached()
    assert (again.origin, again.rank) == ("stored plan", 0)
    assert [line.partition(":")[0] for line in again.rejected] == ["stored plan", "stored plan"]


def test_options_apply_to_stored_plans(cached: Callable[..., Any], tmp_path: Path) -> None:
    """It was stored by a version that did not have the engine's notes or its known error."""
    made = cached(deterministic=True)
    (file,) = (tmp_path / "cache" / "plans").iterdir()
    content = json.loads(file.read_text())
    content["records"][0]["report"]["numerical_notes"].append("NONDETERMINISTIC")
    file.write_text(json.dumps(content))
    again = cached(deterministic=True)
    assert (again.origin, again.engine) == ("heuristics", made.engine)
    assert again.rejected == (
        f"stored plan: engine {made.engine} of conv_bias_relu is not deterministic",
    )


def test_unwritable_store(cached: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.warns(
        RuntimeWarning, match="cuDNN plans are not stored: .*cache: (Not a directory|File exists)"
    ):
        assert cached().origin == "heuristics"


def test_fingerprints(compile_c: Callable[..., bytes]) -> None:
    def of(*flags: str) -> str | None:
        return fingerprint(load_native(compile_c("conv.c", *flags)).builder("conv_build"))

    assert of() == of("-DCALL=1")
    assert len({of(), of("-DDTYPE=0"), of("-DDTYPE=9"), of("-DSTRIDE=2")}) == 4


def test_fingerprint_of_the_manifest_is_used(compile_c: Callable[..., bytes]) -> None:
    """If the manifest has none, the build function is run."""
    build = load_native(compile_c("conv.c")).builder("conv_build")
    assert fingerprint_of(conv_graph(), build) == fingerprint(build)
    known = replace(conv_graph(), fingerprint="0" * 64)
    assert fingerprint_of(known, pytest.fail) == "0" * 64
    assert content_of(replace(known, alternatives=("a | b",)), pytest.fail) == f"{'0' * 64} [a | b]"


def test_location_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "a"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    assert PlanStore.default_folder() == tmp_path / "a"
    monkeypatch.delenv("CONVOY_CACHE")
    assert PlanStore.default_folder() == tmp_path / "b" / "convoy"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert PlanStore.default_folder() == tmp_path / ".cache" / "convoy"


def test_stored_plan_of_an_engine_with_a_known_error(
    cached: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cached()
    rule = Erratum(frozenset({"convolution"}), "float16", first.engine, 90000, 99999, "is wrong")
    monkeypatch.setattr("convoy_runtime.cuda.cudnn.errata.ERRATA", (rule,))
    second = cached()
    assert (second.origin, second.rejected[0]) == (
        "heuristics",
        f"stored plan: engine {first.engine} of conv_bias_relu is wrong",
    )
