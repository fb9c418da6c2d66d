"""The real cuDNN has engines for everything that the support table accepts: the table promises nothing that fails where there is a GPU.

No GPU is needed: cuDNN plans for the device that a JSON file describes. It wants some libcuda; one that does nothing will do.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support_cases import Case, cases_of

ROOT = Path(__file__).parents[3]
TABLE = json.loads((ROOT / "passes/common/support_table.json").read_text())
CASES = list(cases_of(TABLE))
LLVM = Path("/usr/lib/llvm-22/bin")

#: What of libcuda has to answer: there is one device of compute capability 9.0, a context, and modules load.
DRIVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGetCount(int *v) { *v = 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = 0; return 0; }
int cuDeviceGetName(char *b, int n, int d) { strncpy(b, "NVIDIA H200", n); return 0; }
int cuDeviceTotalMem_v2(unsigned long *b, int d) { *b = 150109880320UL; return 0; }
int cuCtxGetCurrent(void **p) { *p = (void *)0x1000; return 0; }
int cuCtxGetDevice(int *p) { *p = 0; return 0; }
int cuDevicePrimaryCtxRetain(void **p, int d) { *p = (void *)0x1000; return 0; }
int cuDevicePrimaryCtxGetState(int d, unsigned *f, int *a) { *f = 0; *a = 1; return 0; }
int cuGetExportTable(void) { return 500; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  switch (a) {
  case 75: *v = 9; break;
  case 76: *v = 0; break;
  case 16: *v = 132; break;
  case 10: *v = 32; break;
  case 1: *v = 1024; break;
  case 8: *v = 49152; break;
  case 97: *v = 232448; break;
  case 81: *v = 233472; break;
  default: *v = 1;
  }
  return 0;
}
int cuGetProcAddress_v2(const char *s, void **p, int version, unsigned long flags, int *status) {
  char name[128];
  strcpy(name, s);
  *p = dlsym(RTLD_DEFAULT, name);
  if (!*p) *p = dlsym(RTLD_DEFAULT, strcat(name, "_v2"));
  if (status) *status = *p ? 0 : 1;
  return *p ? 0 : 500;
}
int cuGetProcAddress(const char *s, void **p, int version, unsigned long flags) { return cuGetProcAddress_v2(s, p, version, flags, 0); }
"""


def _cudnn_folder() -> Path:
    spec = importlib.util.find_spec("nvidia.cudnn")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the nvidia-cudnn wheel is not there")
    return Path(next(iter(spec.submodule_search_locations))) / "lib"


def _tool(name: str) -> str:
    return shutil.which(f"{name}-22") or str(LLVM / name)


def _stub(folder: Path, name: str, source: str) -> None:
    flags = ["-w", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-x", "c", "-"]
    subprocess.run([_tool("clang"), *flags, "-o", folder / name], input=source, text=True, check=True)


def _all_names(written: str) -> dict[str, str]:
    """Source of a libcuda and of an NVRTC with every name that cuDNN may look up in them; `written` is what has more to say than 0."""
    names: set[str] = set()
    for library in ("graph", "engines_runtime_compiled", "cnn", "ops", "heuristic"):
        data = (_cudnn_folder() / f"libcudnn_{library}.so.9").read_bytes()
        names.update(name.decode() for name in re.findall(rb"\0((?:cu|(?:__)?nvrtc)[A-Z][A-Za-z0-9_]{2,60})(?=\0)", data))
    assert len(names) > 100, "cuDNN's libraries were searched in vain"
    plain = sorted(names - set(re.findall(r"^int (\w+)\(", written, re.MULTILINE)))
    functions = {name: f"int {name}(void) {{ return 0; }}\n" for name in plain}
    compiler = "int nvrtcVersion(int *a, int *b) { *a = 13; *b = 0; return 0; }\n"
    compiler += "".join(text for name, text in functions.items() if "nvrtc" in name and name != "nvrtcVersion")
    driver = written + "".join(text for name, text in functions.items() if name.startswith("cu"))
    return {"libcuda.so.1": driver, "libnvrtc.so.13": compiler}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int | str]:
    """Engine configurations by case."""
    _cudnn_folder()
    folder = tmp_path_factory.mktemp("support")
    opt = os.environ.get("CONVOY_OPT", str(ROOT / "build/bin/convoy-opt"))

    def run(*flags: str, text: str) -> str:
        done = subprocess.run([opt, "-", *flags], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    converted = run("--tcp-verify-groups", "--convert-tcp-to-cudnn", text="\n".join(case.text for case in CASES))
    graph_of = dict(re.findall(r"func\.func @(\w+)\(.*?cudnn\.execute @(\w+) ", converted, re.DOTALL))
    graphs = "\n".join(re.findall(r"^  cudnn\.graph @.*?^  }$", converted, re.DOTALL | re.MULTILINE))
    backend = run("--convert-cudnn-graphs-to-backend", "--convert-cudnn-backend-to-llvm", text=graphs)
    source, library = folder / "graphs.ll", folder / "graphs.so"
    subprocess.run([_tool("mlir-translate"), "--mlir-to-llvmir", "-o", source], input=backend, text=True, check=True)
    subprocess.run([_tool("clang"), "-w", "-O0", "-shared", "-fPIC", "-fuse-ld=lld", source, "-o", library], check=True)

    sources = {**_all_names(DRIVER), "libcublasLt.so.13": (ROOT / "test/runtime/cublaslt_stub.c").read_text()}
    for name, text in sources.items():
        _stub(folder, name, text)
    names = "\n".join(f"{name}_build" for name in sorted(set(graph_of.values())))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime"), "LD_LIBRARY_PATH": str(folder)}
    command = [sys.executable, Path(__file__).with_name("engines_without_gpu.py"), library]
    done = subprocess.run(command, input=names, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {case.key: found[f"{graph_of[case.key]}_build"] for case in CASES}


def test_every_row_has_cases() -> None:
    covered = {(anchor, role) for row in TABLE["rows"] for anchor in row["anchors"] for role in row["roles"]}
    patterns = "\n".join(case.pattern for case in CASES)
    assert len(CASES) > len(covered)
    for anchor, role in covered:
        last = anchor if role == "anchor" else role.removeprefix("prologue_")
        assert re.search(rf"\b{last}\b", patterns), (anchor, role)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_cudnn_has_engines(engines: dict[str, int | str], case: Case) -> None:
    assert isinstance(engines[case.key], int), engines[case.key]
    assert engines[case.key], f"no engine for {case.pattern}"
