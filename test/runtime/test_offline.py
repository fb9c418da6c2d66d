"""Offline plans, made without the GPU: their place in an artifact, and their use on a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runtime_fixtures import affine_manifest, conv_graph

from convoy_runtime import DeviceError, PlanError
from convoy_runtime._native import NativeLibrary, load_native
from convoy_runtime.cuda.cudnn import device_files
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.offline import OfflinePlans
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.plans.store import PlanStore, Scope
from convoy_runtime.inspection import offline_planner
from convoy_runtime.manifest import Call
from convoy_runtime.manifest import Cudnn as CudnnVersions

H200 = device_file("h200", 91900)
MANIFEST = affine_manifest(
    target="cuda",
    graphs=(conv_graph(),),
    calls=(Call(0, ""),),
    cudnn=CudnnVersions(91900, 90000, "float16"),
)


@pytest.fixture
def native(compile_c: Callable[..., bytes]) -> NativeLibrary:
    return load_native(compile_c("conv.c"))


@pytest.fixture
def plans(cudnn: Cudnn, cublaslt: None, native: NativeLibrary) -> OfflinePlans:
    return offline_planner("h200").plan(MANIFEST, native)


@pytest.fixture
def here(
    cudnn: Cudnn, plans: OfflinePlans, native: NativeLibrary, tmp_path: Path
) -> Callable[..., Any]:
    """The report of the plan on a GPU with this name, driver and cuDNN, with the offline plans and
    the contents of a folder."""

    def plan(
        gpu: str = "NVIDIA H200",
        driver: int = 13000,
        members: Any = None,
        strict: bool = False,
        **options: Any,
    ) -> Any:
        store = PlanStore(
            tmp_path / "store",
            Scope(gpu, cudnn.version, driver),
            plans.members if members is None else members,
        )
        device = device_properties(cudnn, H200)
        planner = Planner(
            cudnn,
            LoadOptions(plan_options=PlanOptions(**options), strict=strict),
            handle=None,
            device=device,
            store=store,
        )
        return planner.plan(conv_graph(), native.builder("conv_build")).report

    return plan


def test_each_graph_has_a_plan(plans: OfflinePlans) -> None:
    (report,) = plans.results
    assert not isinstance(report, PlanError)
    assert (report.origin, report.tuned, report.heuristic) == ("offline", "offline", "A")
    ((name, content),) = plans.members.items()
    assert name.startswith("plans/")
    (record,) = json.loads(content)["records"]
    assert (record["cudnn"], record["driver"], record["level"]) == (91900, 13000, "offline")
    assert record["plan"].startswith("{")
    assert plans.gpu == "NVIDIA H200"


def test_model_without_tf32_is_planned_without_it(
    cudnn: Cudnn, cublaslt: None, compile_c: Callable[..., bytes]
) -> None:
    native = load_native(compile_c("conv.c", "-DDTYPE=0"))
    manifest = replace(
        MANIFEST,
        graphs=(conv_graph("float32"),),
        cudnn=CudnnVersions(91900, 90000, "float32", allow_tf32=False),
    )
    ((_, content),) = (found := offline_planner("h200").plan(manifest, native)).members.items()
    assert "allow_tf32=False" in json.loads(content)["options"]
    (report,) = found.results
    assert not isinstance(report, PlanError)
    assert "TENSOR_CORE" not in report.numerical_notes


def test_gpu_starts_with_the_offline_plan(here: Callable[..., Any], plans: OfflinePlans) -> None:
    (made,) = plans.results
    assert here() == replace(made, origin="offline plan in the artifact")
    assert here(strict=True).origin == "offline plan in the artifact"


def test_other_driver_rebuilds_it(here: Callable[..., Any], plans: OfflinePlans) -> None:
    (made,) = plans.results
    assert not isinstance(made, PlanError)
    found = here(driver=13010)
    assert (found.origin, found.engine, found.knobs) == (
        "offline engine and knobs in the artifact",
        made.engine,
        made.knobs,
    )


def test_other_gpu_refuses_it(here: Callable[..., Any]) -> None:
    found = here(gpu="NVIDIA A100")
    assert found.origin == "heuristics"
    assert (
        found.rejected[0]
        == "plan in the artifact: expected one for NVIDIA A100, got one for NVIDIA H200"
    )
    with pytest.raises(PlanError, match="expected one for NVIDIA L4, got one for NVIDIA H200"):
        here(gpu="NVIDIA L4", strict=True)


def test_other_cudnn_refuses_it(here: Callable[..., Any], plans: OfflinePlans) -> None:
    ((name, content),) = plans.members.items()
    file = json.loads(content)
    file["records"][0]["cudnn"] = 91800
    found = here(members={name: json.dumps(file).encode()})
    assert found.origin == "heuristics"
    assert found.rejected[0] == (
        "offline plan in the artifact: expected one made with cuDNN 9.19.0, got one made "
        "with 9.18.0"
    )


def test_other_options_refuse_it(here: Callable[..., Any]) -> None:
    found = here(deterministic=True)
    assert found.origin == "heuristics"
    assert found.rejected[0] == (
        "plan in the artifact: expected one made with deterministic=True, got one made "
        "with deterministic=False"
    )


def test_equal_options_in_another_form_are_refused(
    here: Callable[..., Any], plans: OfflinePlans
) -> None:
    """In the form of an older version, which may have a different meaning."""
    ((name, content),) = plans.members.items()
    file = json.loads(content) | {"options": "PlanOptions(allow_tf32=True)"}
    found = here(members={name: json.dumps(file).encode()})
    assert found.origin == "heuristics"
    expected = (
        "plan in the artifact: expected one made with PlanOptions(), got one made with "
        "PlanOptions(allow_tf32=True)"
    )
    assert found.rejected[0] == expected


def test_measured_plan_takes_precedence(
    here: Callable[..., Any], plans: OfflinePlans, tmp_path: Path
) -> None:
    ((name, content),) = plans.members.items()
    file = json.loads(content)
    (record,) = file["records"]
    record["level"], record["report"]["tuned"] = "quick", "quick"
    (tmp_path / "store" / "plans").mkdir(parents=True)
    (tmp_path / "store" / name).write_text(json.dumps(file))
    found = here()
    assert (found.origin, found.tuned) == ("stored plan", "quick")


def test_tuning_does_not_reuse_it(cudnn: Cudnn, plans: OfflinePlans, native: NativeLibrary) -> None:
    store = PlanStore(None, Scope("NVIDIA H200", cudnn.version, 13000), plans.members)
    planner = Planner(
        cudnn, LoadOptions(), handle=None, device=device_properties(cudnn, H200), store=store
    )
    build = native.builder("conv_build")
    assert planner.stored.find(conv_graph(), build, []) is not None
    assert planner.stored.find(conv_graph(), build, [], ("quick", "full")) is None


def test_plans_of_other_versions_stay_in_the_artifact(plans: OfflinePlans) -> None:
    """Tuning with another cuDNN or driver adds a record; with the same ones it replaces the
    record."""
    ((name, content),) = plans.members.items()
    file = json.loads(content)
    (record,) = file["records"]
    rest = file["graph"], file["options"], "quick", "{}", record["report"]

    def levels(driver: int) -> list[tuple[int, str]]:
        written, member = PlanStore(
            None, Scope("NVIDIA H200", 91900, driver), plans.members
        ).member(*rest)
        assert written == name
        return [(each["driver"], each["level"]) for each in json.loads(member)["records"]]

    assert levels(13010) == [(13010, "quick"), (13000, "offline")]
    assert levels(13000) == [(13000, "quick")]


def test_device_file_of_a_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("a1-cudnn9.18.json", "a1-cudnn9.20.json", "b2-cudnn9.19.json", "readme.txt"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setattr(device_files, "_FOLDER", tmp_path)
    assert device_file("a1", 91900).name == "a1-cudnn9.18.json"
    assert device_file("a1", 92000).name == "a1-cudnn9.20.json"
    assert device_file("b2", 91000).name == "b2-cudnn9.19.json"
    assert device_file(str(tmp_path / "readme.txt"), 91900) == tmp_path / "readme.txt"
    with pytest.raises(DeviceError, match="device properties: expected a1, b2 or a file, got c3"):
        device_file("c3", 91900)


def test_device_file_that_cudnn_refuses(cudnn: Cudnn, cublaslt: None, tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    path.write_text('{"deviceVer": "none"}')
    with pytest.raises(
        DeviceError,
        match=r"device properties: cuDNN 9.+ rejects .*gpu\.json: (.|\n)*hint: the format of",
    ):
        offline_planner(str(path))
    device = json.loads(H200.read_text())
    del device["deviceName"]
    path.write_text(json.dumps(device))
    with pytest.raises(DeviceError, match=r"device properties: .*gpu\.json"):
        offline_planner(str(path))
