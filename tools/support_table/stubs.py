# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Stubs of the libraries that cuDNN opens by name, with which it plans without a GPU."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import tempfile
from pathlib import Path

__all__ = ["write_stubs"]

#: The functions of libcuda whose results matter: there is one device of compute capability 9.0, and
#: a context.
_DRIVER = r"""
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
int cuGetProcAddress(const char *s, void **p, int version, unsigned long flags) {
  return cuGetProcAddress_v2(s, p, version, flags, 0);
}
"""


def _cudnn_folder() -> Path:
    spec = importlib.util.find_spec("nvidia.cudnn")
    if spec is None or not spec.submodule_search_locations:
        message = (
            "the nvidia-cudnn wheel is not installed: pip install nvidia-cudnn-cu13==9.19.0.56"
        )
        raise ModuleNotFoundError(message)
    return Path(next(iter(spec.submodule_search_locations))) / "lib"


def _sources(cublaslt: Path) -> dict[str, str]:
    """Returns the sources of libcuda and NVRTC with every function that cuDNN may look up, and of
    cuBLASLt."""
    names: set[str] = set()
    for library in ("graph", "engines_runtime_compiled", "cnn", "ops", "heuristic"):
        data = (_cudnn_folder() / f"libcudnn_{library}.so.9").read_bytes()
        names.update(
            name.decode()
            for name in re.findall(rb"\0((?:cu|(?:__)?nvrtc)[A-Z][A-Za-z0-9_]{2,60})(?=\0)", data)
        )
    if len(names) < 100:
        message = (
            f"expected the names of libcuda's functions in cuDNN's libraries, but got {len(names)}"
        )
        raise RuntimeError(message)
    plain = sorted(names - set(re.findall(r"^int (\w+)\(", _DRIVER, re.MULTILINE)))
    functions = {name: f"int {name}(void) {{ return 0; }}\n" for name in plain}
    compiler = "int nvrtcVersion(int *a, int *b) { *a = 13; *b = 0; return 0; }\n"
    compiler += "".join(
        text for name, text in functions.items() if "nvrtc" in name and name != "nvrtcVersion"
    )
    driver = _DRIVER + "".join(text for name, text in functions.items() if name.startswith("cu"))
    return {
        "libcuda.so.1": driver,
        "libnvrtc.so.13": compiler,
        "libcublasLt.so.13": cublaslt.read_text(),
    }


@functools.cache
def _compiled(clang: str, cublaslt: Path) -> dict[str, bytes]:
    """Returns the libraries by name. Cached, because reading cuDNN's libraries takes seconds."""
    libraries = {}
    for name, source in _sources(cublaslt).items():
        flags = ["-w", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-x", "c", "-"]
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([clang, *flags, "-o", file.name], input=source, text=True, check=True)
            libraries[name] = Path(file.name).read_bytes()
    return libraries


def write_stubs(folder: Path, clang: str, cublaslt: Path) -> None:
    """Compiles the stub libraries.

    Args:
        folder: Where to write them.
        clang: The C compiler.
        cublaslt: The source of the cuBLASLt stub.

    Raises:
        ModuleNotFoundError: The nvidia-cudnn wheel is not installed.
        RuntimeError: The names of libcuda's functions are not in cuDNN's libraries.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, library in _compiled(clang, cublaslt).items():
        (folder / name).write_bytes(library)
