"""The ctypes mirror equals the header, and importing the package loads only what it may."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest
from runtime_fixtures import ROOT, c_compiler

import convoy_runtime
from convoy_runtime import _abi

STRUCTS = (
    _abi.ConvoyCudnn,
    _abi.ConvoyRuntime,
    _abi.ConvoyDriver,
    _abi.ConvoyWindow,
    _abi.ConvoyRun,
    _abi.ConvoyCopy,
    _abi.ConvoyCopies,
    _abi.ConvoyGraph,
)


def test_mirror_equals_header(tmp_path: Path) -> None:
    source = [
        '#include "convoy_abi.h"',
        "#include <stddef.h>",
        "#include <stdio.h>",
        "int main(void) {",
        'printf("{");',
    ]
    expected: dict[str, int] = {"version": _abi.ABI_VERSION}
    for struct in STRUCTS:
        name = struct.__name__
        expected[name] = ctypes.sizeof(struct)
        source.append(f'printf("\\"{name}\\": %zu, ", sizeof({name}));')
        for field, *_ in struct._fields_:
            descriptor = getattr(struct, field)
            expected[f"{name}.{field}"] = descriptor.offset * 1000 + descriptor.size
            where = f"offsetof({name}, {field}) * 1000 + sizeof((({name} *)0)->{field})"
            source.append(f'printf("\\"{name}.{field}\\": %zu, ", {where});')
    source.append('printf("\\"version\\": %d}", CONVOY_ABI_VERSION); return 0; }')
    (tmp_path / "sizes.c").write_text("\n".join(source))
    subprocess.run(
        [c_compiler(), f"-I{ROOT}/runtime/abi", "sizes.c", "-o", "sizes"], cwd=tmp_path, check=True
    )
    printed = subprocess.run(
        [tmp_path / "sizes"], check=True, capture_output=True, text=True
    ).stdout
    assert json.loads(printed) == expected


def test_mirror_has_every_signature(tmp_path: Path) -> None:
    """Assigns the header's prototypes to types spelled from the mirror: a mismatch does not
    compile."""
    spelled = {
        ctypes.c_int32: "int32_t", ctypes.c_uint32: "uint32_t", ctypes.c_int64: "int64_t",
        ctypes.c_void_p: "void *",
        ctypes.POINTER(ctypes.c_void_p): "void *const *",
        ctypes.POINTER(_abi.ConvoyRuntime): "const ConvoyRuntime *",
        ctypes.POINTER(ctypes.c_int64): "const int64_t *",
        ctypes.POINTER(_abi.ConvoyRun): "ConvoyRun *",
        ctypes.POINTER(_abi.ConvoyGraph): "ConvoyGraph *",
        ctypes.c_char_p: "const char *",
        ctypes.POINTER(ctypes.c_uint64): "const uint64_t *",
    }  # fmt: skip
    lines = ['#include "convoy_abi.h"']
    for name, (result, arguments) in (_abi.ENTRIES | _abi.RUN_ENTRIES).items():
        types = ", ".join(spelled[argument] for argument in arguments) or "void"
        lines.append(f"{spelled[result]} (*check_{name})({types}) = {name};")
    (tmp_path / "types.c").write_text("\n".join(lines))
    subprocess.run(
        [c_compiler(), "-Werror", f"-I{ROOT}/runtime/abi", "-c", "types.c"],
        cwd=tmp_path,
        check=True,
    )


def test_load_imports_no_modules_of_tuning() -> None:
    code = "import sys, convoy_runtime.cuda.program.executor; print(*sys.modules)"
    imported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "convoy_runtime.cuda.plans.planner" in imported
    assert not {
        "convoy_runtime.cuda.tuning.tuner",
        "convoy_runtime.cuda.plans.build_pool",
        "concurrent.futures",
    } & set(imported)


def test_import_loads_neither_torch_nor_compiler_nor_driver() -> None:
    code = (
        "import sys, convoy_runtime;"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('torch', 'convoy', 'cuda', "
        "'torch_mlir', 'safetensors')];"
        "maps = open('/proc/self/maps').read();"
        "bad += [m for m in sys.modules if m.startswith('convoy_runtime.cuda')];"
        "assert not bad, bad; assert 'libcuda' not in maps and 'libcudnn' not in maps; "
        "print(convoy_runtime.load.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "load\n"), done.stderr


def test_options_are_imported_on_access() -> None:
    from convoy_runtime import PlanOptions
    from convoy_runtime.cuda.plans import options

    assert PlanOptions is options.PlanOptions
    with pytest.raises(AttributeError, match="module 'convoy_runtime' has no attribute 'Plans'"):
        _ = convoy_runtime.Plans
