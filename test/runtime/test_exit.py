# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Results of GPU programs that libraries still have when the interpreter ends. The memory is the
host's, which DLPack calls device 1."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from runtime_fixtures import ROOT

_SCRIPT = """
import atexit, builtins
import numpy as np
import torch
from convoy_runtime.cuda.driver import memory

memory.CUDA = 1
numbers = np.arange(4, dtype=np.float32)

class Spec:
    shape, dtype, all_strides = (4,), "float32", (1,)

class Owner:
    pass

def result():
    return memory.DeviceArray(Spec, numbers.ctypes.data, 0, numbers, lambda stream: None)

"""
_KEPT = {
    # The cycle collector frees it after the modules are cleared.
    "in a cycle": """
owner = Owner()
owner.tensor, owner.cycle = torch.from_dlpack(result()), owner
torch.kept = owner
""",
    "by a module": "builtins.kept = torch.from_dlpack(result())",
    "by a module, as a capsule": "builtins.kept = result().__dlpack__()",
    "in a cycle, as a capsule": """
owner = Owner()
owner.capsule, owner.cycle = result().__dlpack__(), owner
torch.kept = owner
""",
    "exported at the end": """
@atexit.register
def export():
    builtins.kept = torch.from_dlpack(result())
    builtins.unused = result().__dlpack__()

memory._leave_exported()
""",
}


@pytest.mark.parametrize("kept", _KEPT)
def test_the_interpreter_ends(kept: str) -> None:
    script = _SCRIPT + _KEPT[kept] + "\nprint(torch.from_dlpack(result()).sum().item())"
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "runtime")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "6.0\n", "")
