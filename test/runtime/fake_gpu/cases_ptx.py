"""PTX that the fake driver of libcuda.c compiles: in at most as many threads as cores, only when
needed, and refused with a reason."""

from __future__ import annotations

import base64
import ctypes
import gc
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_gpu.fixtures import FAKE, TENSORS, branches_manifest, zeros
from runtime_fixtures import SCALED_RELU

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import ArtifactError, PlanError
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.plans.kernels import Kernels
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.generated_kernels import GeneratedKernels
from convoy_runtime.manifest import Call, Graph, GraphKernel, kernel_member
from convoy_runtime.opening import open_artifact
from convoy_runtime.ptx_members import pack_ptx

#: One graph for each call of branches.c.
GRAPHS = 5
Write = Callable[..., Path]


def kernel(name: str) -> bytes:
    """PTX of a kernel, of 1 KB."""
    return b".visible .entry %s(\n)\n{ \n\t// %s\n} \n" % (name.encode(), b"-" * 960)


GENERATED = b"// kernels\n" + kernel("scaled_relu")


def ptx(graph: int, variant: str) -> bytes:
    return f"// PTX that takes a while\n.visible .entry conv_{graph}_{variant}(\n".encode()


@pytest.fixture
def write(
    tmp_path: Path, compile_c: Callable[..., bytes], fake_cudnn: ctypes.CDLL
) -> Iterator[Write]:
    """Writes an artifact of branches.c whose graphs have two kernels each. The first kernel of the
    graphs in `junk` is not PTX."""

    def graph(index: int, preference: str) -> Graph:
        names = {variant: f"conv_{index}_{variant}" for variant in ("fast", "other")}
        kernels = tuple(
            GraphKernel(name, variant, grid=1, block=32, shared_bytes=0, chip="sm_80")
            for variant, name in names.items()
        )
        symbol = None if preference == "only_kernel" else "conv_build"
        operations = ("convolution", "add", "relu")
        return Graph(
            f"conv{index}",
            symbol,
            operations,
            "model.py:9",
            TENSORS,
            kernels=kernels,
            preference=preference,
        )

    def one(*, preference: str = "only_kernel", junk: tuple[int, ...] = ()) -> Path:
        manifest = branches_manifest(
            graphs=tuple(graph(index, preference) for index in range(GRAPHS)),
            calls=tuple(Call(index, "model.py:12") for index in range(GRAPHS)),
        )
        members = {
            kernel_member(f"conv_{index}_{variant}"): pack_ptx(ptx(index, variant))
            for index in range(GRAPHS)
            for variant in ("fast", "other")
        }
        members |= {
            kernel_member(f"conv_{index}_fast"): pack_ptx(b"junk that takes a while")
            for index in junk
        }
        native = compile_c(
            "fake_gpu/branches.c", *(["-Dconv_build=unused"] if preference == "only_kernel" else [])
        )
        write_artifact(
            tmp_path / "ptx.convoy", manifest, {"native.so": native, **members}, zeros(manifest)
        )
        return tmp_path / "ptx.convoy"

    gc.collect()
    before = FAKE.fake_modules()
    FAKE.fake_most_linkers()
    yield one
    gc.collect()
    assert (FAKE.fake_modules(), FAKE.fake_linkers()) == (before, 0)


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the number of cores that the process may use."""
    return lambda count: monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(count)))


def compiled(path: Path, **options: object) -> tuple[int, int]:
    """The number of kernels that a load compiles, and the maximum at a time."""
    before = FAKE.fake_links()
    with convoy_runtime.load(path, **{"plan_cache": False, **options}) as program:
        assert [report.graph for report in program.plans] == [
            f"conv{index}" for index in range(GRAPHS)
        ]
        assert {report.kernel for report in program.plans} <= {"fast", None}
    return FAKE.fake_links() - before, FAKE.fake_most_linkers()


def test_at_most_as_many_threads_as_cores(write: Write, cores: Callable[[int], None]) -> None:
    path = write()
    cores(4)
    links, most = compiled(path)
    # The first kernel of each graph, and nothing else.
    assert links == GRAPHS
    assert 2 <= most <= 4
    cores(1)
    assert compiled(path) == (GRAPHS, 1)


def test_strict_lists_every_graph(write: Write) -> None:
    others = ", ".join(f"conv{index}" for index in range(1, GRAPHS))
    expected = (
        f"model.py:9: graph conv0: no stored plan fits, nor for {others}, and "
        "strict=True allows no other"
    )
    with pytest.raises(PlanError, match=expected) as caught:
        compiled(write(), strict=True)
    assert caught.value.others == tuple(others.split(", "))


def test_nothing_is_compiled_while_plans_are_timed(
    write: Write, cores: Callable[[int], None]
) -> None:
    cores(4)
    timed = []

    def progress(what: str, done: int, count: int) -> None:
        if what.startswith("timing"):
            timed.append((FAKE.fake_links(), FAKE.fake_linkers()))

    before = FAKE.fake_links()
    links, most = compiled(write(), tune="quick", progress=progress)
    assert links == 2 * GRAPHS
    assert 2 <= most <= 4
    assert timed == [(before + 2 * GRAPHS, 0)] * GRAPHS


@pytest.mark.parametrize("tune", ["off", "quick"])
def test_stored_kernels_are_not_compiled(
    write: Write, cores: Callable[[int], None], tmp_path: Path, tune: str
) -> None:
    cores(4)
    path, cache = write(), tmp_path / "cache"
    compiled(path, plan_cache=cache, tune=tune)
    assert compiled(path, plan_cache=cache, tune=tune) == (0, 0)
    # But with another driver the chosen kernel is.
    for file in (cache / "plans").glob("*.json"):
        content = json.loads(file.read_text())
        for record in content["records"]:
            record["driver"] = 12000
        file.write_text(json.dumps(content))
    links, most = compiled(path, plan_cache=cache, tune=tune)
    assert links == GRAPHS
    assert 2 <= most <= 4


def test_unused_kernels_are_not_compiled(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    assert compiled(write(preference="plan")) == (0, 0)
    assert compiled(write(preference="kernel"), options=PlanOptions(allow_kernels=False)) == (0, 0)
    with pytest.raises(convoy_runtime.PlanError, match="no stored plan fits"):
        compiled(write(preference="kernel"), strict=True)
    assert FAKE.fake_most_linkers() == 0


@pytest.mark.parametrize("tune", ["off", "quick"])
@pytest.mark.parametrize("count", [1, 4])
def test_error_names_the_first_graph_with_bad_ptx(
    write: Write, cores: Callable[[int], None], tune: str, count: int
) -> None:
    cores(count)
    message = (
        r"kernels/conv_1_fast\.ptx\.gz: kernel conv_1_fast cannot be loaded: cuLinkAddData "
        r"failed: CUDA_ERROR_INVALID_PTX \(described\)\n"
        r"  the driver's compiler, for sm_90: ptxas application ptx input, line 1; error  "
        r" : no PTX\n"
        r"  ptxas fatal   : Ptx assembly aborted due to errors\n"
        r"  hint: the driver does not support this PTX: update it$"
    )
    with pytest.raises(ArtifactError, match=message):
        compiled(write(junk=(1, 3)), tune=tune)


def test_error_is_raised_at_its_graph(
    write: Write, cores: Callable[[int], None], tmp_path: Path
) -> None:
    cores(4)
    messages: list[str] = []
    with pytest.raises(ArtifactError, match="kernel conv_4_fast cannot be loaded"):
        compiled(
            write(junk=(4,)),
            plan_cache=tmp_path / "cache",
            tune="quick",
            progress=lambda what, done, count: messages.append(what),
        )
    assert [what for what in messages if what.startswith("plan of")] == [
        f"plan of conv{index}" for index in range(GRAPHS)
    ]
    # The plans tuned until then are stored.
    assert len(list((tmp_path / "cache" / "plans").glob("*.json"))) == GRAPHS - 1


def test_interrupt_while_kernels_are_compiled(write: Write, cores: Callable[[int], None]) -> None:
    cores(2)
    before = FAKE.fake_links()

    def interrupt(what: str, done: int, count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiled(write(), tune="quick", progress=interrupt)
    # Compilations in progress were completed, and no new ones started.
    assert FAKE.fake_linkers() == 0
    assert FAKE.fake_links() - before <= 4


def test_generated_kernels_are_loaded_on_a_thread(artifact: Callable[..., Path]) -> None:
    device, opened = Device(open_driver(), 0), open_artifact(artifact())
    with device.current(), ExitStack() as stack:
        kernels = Kernels(device, opened)
        before = FAKE.fake_modules()
        generated = GeneratedKernels(device, opened, None, stores=False)
        with generated.loading(stack, kernels) as functions:
            # Tuning waits for them before it times anything.
            kernels.wait()
            assert FAKE.fake_modules() == before + 1
            assert len(functions()) == len(opened.manifest.kernels) == 1
        assert FAKE.fake_modules() == before + 1
    assert FAKE.fake_modules() == before


def test_error_of_a_generated_kernel_is_raised_where_it_is_used(
    artifact: Callable[..., Path],
) -> None:
    device, opened = Device(open_driver(), 0), open_artifact(artifact(kernel="other"))
    with device.current(), ExitStack() as stack:
        kernels = Kernels(device, opened)
        generated = GeneratedKernels(device, opened, None, stores=False)
        with generated.loading(stack, kernels) as functions:
            kernels.wait()
            with pytest.raises(ArtifactError, match="kernel other of .* is missing"):
                functions()


@pytest.fixture
def generated(
    tmp_path: Path, compile_c: Callable[..., bytes], fake_cudnn: ctypes.CDLL
) -> Iterator[Callable[[bytes], Path]]:
    """Writes an artifact of branches.c with a generated kernel beside its graphs."""

    def one(text: bytes) -> Path:
        manifest = replace(
            branches_manifest(
                graphs=tuple(
                    Graph(f"conv{index}", "conv_build", ("convolution",), "model.py:9", TENSORS)
                    for index in range(GRAPHS)
                ),
                calls=tuple(Call(index, "model.py:12") for index in range(GRAPHS)),
            ),
            kernels=(SCALED_RELU,),
        )
        members = {"native.so": compile_c("fake_gpu/branches.c"), "kernels.ptx": text}
        path = tmp_path / "generated.convoy"
        write_artifact(path, manifest, members, zeros(manifest))
        return path

    gc.collect()
    before = FAKE.fake_modules()
    yield one
    gc.collect()
    assert FAKE.fake_modules() == before


def links(path: Path, **options: Any) -> int:
    """The number of texts that the driver's linker compiles in a load. The driver's cache, which
    `cuModuleLoadDataEx` uses, does not count."""
    before = FAKE.fake_links()
    with convoy_runtime.load(path, **options):
        return int(FAKE.fake_links() - before)


def stored_code(cache: Path) -> list[Path]:
    files = (cache / "plans").glob("*.json")
    return [path for path in files if json.loads(path.read_text())["graph"].startswith("kernels ")]


@pytest.mark.parametrize("tune", ["off", "quick"])
def test_machine_code_of_generated_kernels_is_stored(
    generated: Callable[[bytes], Path], tmp_path: Path, tune: str
) -> None:
    path, cache = generated(GENERATED), tmp_path / "cache"
    assert [links(path, plan_cache=cache, tune=tune) for _ in range(3)] == [1, 0, 0]
    (file,) = stored_code(cache)
    # Plans that are ignored have no code.
    assert links(path, plan_cache=cache, tune="quick", again=True) == 1
    # Other PTX has other code, and code that does not load is compiled anew.
    assert links(generated(GENERATED + b"// another\n"), plan_cache=cache) == 1
    content = json.loads(file.read_text())
    no_kernels = base64.b64encode(b"// no kernels").decode()
    for plan in ("", "[]", "[1]", '["no base64"]', '["anVuaw=="]', f'["{no_kernels}"]'):
        content["records"][0]["plan"] = plan
        file.write_text(json.dumps(content))
        assert [links(generated(GENERATED), plan_cache=cache) for _ in range(2)] == [1, 0]


def test_machine_code_of_generated_kernels_is_shipped(
    generated: Callable[[bytes], Path], tmp_path: Path
) -> None:
    path = generated(GENERATED)
    with convoy_runtime.load(path, plan_cache=False, tune="quick") as program:
        plans = program.plan_members()  # type: ignore[attr-defined]
    opened = open_artifact(path)
    shipped = tmp_path / "shipped.convoy"
    members = {name: bytes(content) for name, content in opened.members.items()}
    write_artifact(shipped, opened.manifest, {**members, **plans}, zeros(opened.manifest))
    assert links(shipped, plan_cache=tmp_path / "cache") == 0
    assert not stored_code(tmp_path / "cache")
    with convoy_runtime.load(shipped, plan_cache=False) as program:
        again = program.plan_members()  # type: ignore[attr-defined]
    (name,) = (name for name, content in plans.items() if b'"kernels waits-' in content)
    assert again[name] == plans[name]


def test_without_a_store_the_driver_compiles_generated_kernels(
    generated: Callable[[bytes], Path], tmp_path: Path
) -> None:
    assert links(generated(GENERATED), plan_cache=False) == 0
    assert not stored_code(tmp_path)


def test_parts_of_generated_kernels(
    generated: Callable[[bytes], Path], cores: Callable[[int], None], tmp_path: Path
) -> None:
    """Kernels of 1 KB, of which the program uses a late one."""
    text = b"// kernels\n" + b"".join(kernel(f"kernel_{index}") for index in range(200))
    path = generated(text + kernel("scaled_relu") + kernel("last"))
    cores(4)
    assert [links(path, plan_cache=tmp_path / "a") for _ in range(2)] == [4, 0]
    cores(1)
    assert [links(path, plan_cache=tmp_path / "b") for _ in range(2)] == [1, 0]
    for cache in ("a", "b"):
        cores(2)
        assert links(path, plan_cache=tmp_path / cache) == 0
    with pytest.raises(ArtifactError, match=r"kernels\.ptx: kernel scaled_relu of .* is missing"):
        links(generated(text), plan_cache=tmp_path / "c")
