"""PTX that the nvJitLink of libnvjitlink.c compiles, and the driver if that is missing or does not
support the PTX."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_gpu.cases_ptx import GRAPHS, Write, compiled, cores, write

from convoy_runtime import ArtifactError
from convoy_runtime.cuda.driver.dependent_launch import wait_first
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.driver.nvjitlink import open_nvjitlink
from convoy_runtime.cuda.driver.ptx import PtxCompiler

__all__ = ["cores", "write"]


@pytest.fixture
def library(
    tmp_path: Path, compile_c: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> ctypes.CDLL:
    """The library, which loads use."""
    path = tmp_path / "libnvJitLink.so.13"
    path.write_bytes(compile_c("fake_gpu/libnvjitlink.c"))
    monkeypatch.setenv("CONVOY_NVJITLINK", str(path))
    loaded = ctypes.CDLL(str(path))
    loaded.fake_architecture.restype = ctypes.c_char_p
    return loaded


def test_nvjitlink_compiles_in_threads(
    write: Write, cores: Callable[[int], None], library: ctypes.CDLL
) -> None:
    path = write()
    cores(4)
    # The driver compiles nothing.
    assert compiled(path) == (0, 0)
    assert library.fake_compiled() == GRAPHS
    assert 2 <= library.fake_most() <= 4
    assert library.fake_architecture() == b"sm_90"
    assert library.fake_alive() == 0


def test_nothing_is_compiled_while_plans_are_timed(write: Write, library: ctypes.CDLL) -> None:
    timed = []

    def progress(what: str, done: int, count: int) -> None:
        if what.startswith("timing"):
            timed.append((library.fake_compiled(), library.fake_alive()))

    assert compiled(write(), tune="quick", progress=progress) == (0, 0)
    assert timed == [(2 * GRAPHS, 0)] * GRAPHS


def test_machine_code_is_stored(write: Write, library: ctypes.CDLL, tmp_path: Path) -> None:
    path, cache = write(), tmp_path / "cache"
    compiled(path, plan_cache=cache)
    assert library.fake_compiled() == GRAPHS
    assert compiled(path, plan_cache=cache) == (0, 0)
    assert library.fake_compiled() == GRAPHS


def test_driver_gives_the_reason_for_bad_ptx(write: Write, library: ctypes.CDLL) -> None:
    message = r"kernel conv_1_fast cannot be loaded: cuLinkAddData failed: CUDA_ERROR_INVALID_PTX"
    with pytest.raises(ArtifactError, match=message):
        compiled(write(junk=(1,)))
    assert library.fake_alive() == 0


def test_architecture_that_ptx_is_restricted_to(library: ctypes.CDLL) -> None:
    texts = {
        "a.ptx": b"//\n.version 8.0\n.target sm_90a\n.visible .entry a(\n",
        "b.ptx": b"//\n.version 7.0\n.target sm_80\n.visible .entry b(\n",
    }
    compiler = PtxCompiler(Device(open_driver(), 0), texts.__getitem__)
    for name, expected in (("a.ptx", b"sm_90a"), ("b.ptx", b"sm_90")):
        assert compiler.machine_code(name) == b"// code of nvJitLink\n" + wait_first(texts[name])
        assert library.fake_architecture() == expected


@pytest.mark.parametrize("content", [None, b"no library"])
def test_driver_compiles_without_the_library(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    path = tmp_path / "missing"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("CONVOY_NVJITLINK", str(path))
    links, _ = compiled(write())
    assert links == GRAPHS


def test_library_that_lacks_a_function_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVOY_NVJITLINK", "libm.so.6")
    assert open_nvjitlink(13) is None
