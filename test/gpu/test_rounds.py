"""Repeated load, run and close on a GPU do not change the memory use of device and host, or the
number of descriptors and threads.

Artifacts are stored and read like the cases of test_kernels:
`python test/gpu/test_rounds.py FOLDER` writes them, CONVOY_ROUND_CASES names the folder. The folder
may have other artifacts as well: every `*.convoy` in it is loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_kernels import ROOT, folder_of, gpu, import_compiler  # noqa: F401 (gpu is a fixture)

pytestmark = pytest.mark.gpu

MODEL, NAME = "resnet18", "resnet18.float16.convoy"
#: The rounds of one process. It does not use torch or another user of the device, whose caches
#: would count.
SCRIPT = """
import gc, os, sys
from collections import Counter
import numpy as np
import convoy_runtime
from convoy_runtime.cuda.driver.device import Device, Driver, open_driver

path, warm, rounds, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), dict(each.split("=") for each in sys.argv[4:])
options = {key: {"True": True, "False": False}.get(value, value) for key, value in options.items()}
calls, call = Counter(), Driver.call

def counted(self, name, *arguments):
    result = call(self, name, *arguments)
    calls[name] += 1
    return result

Driver.call = counted
device = Device(open_driver(), 0)

def used():
    gc.collect()
    with device.current():
        free, total = device.driver.call("cuMemGetInfo")
    rss = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return (total - free) >> 10, rss, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

def show(when, now):
    print(f"{when}: device {now[0]} KiB, host {now[1]} KiB, {now[2]} descriptors, {now[3]} threads", flush=True)

def load_run_close():
    with convoy_runtime.load(path, **options) as program:
        inputs = [np.ones(spec.shape, spec.dtype) for spec in program.inputs]
        results = program.run_numpy(*inputs)
    assert all(np.isfinite(each).all() for each in results if each.dtype.kind == "f")

show("before", used())
for number in range(warm):
    load_run_close()
    show(f"round {number}, warming up", used())
start = used()
calls.clear()
for number in range(rounds):
    load_run_close()
    show(f"round {warm + number}", used())
end = used()
for made, gone in (
    ("cuStreamCreate", "cuStreamDestroy"), ("cuEventCreate", "cuEventDestroy"), ("cuMemAlloc", "cuMemFree"),
    ("cuGraphInstantiate", "cuGraphExecDestroy"), ("cuStreamEndCapture", "cuGraphDestroy"), ("cuLinkCreate", "cuLinkDestroy"),
):
    assert calls[made] == calls[gone], (made, calls[made], calls[gone])
assert calls["cuModuleLoadData"] + calls["cuModuleLoadDataEx"] == calls["cuModuleUnload"], calls
print(*(after - before for after, before in zip(end, start)))
"""

folder = folder_of("CONVOY_ROUND_CASES")


def write(folder: Path) -> None:
    """ResNet-18 in float16 for one image of 224 x 224."""
    import_compiler()
    sys.path.insert(0, str(ROOT / "examples"))
    import resnet

    import convoy

    folder.mkdir(parents=True, exist_ok=True)
    module, inputs = getattr(resnet, MODEL)()
    convoy.compile(module.eval(), inputs, target="cuda", dtype="float16").save(folder / NAME)


@pytest.mark.parametrize("options", [(), ("poison=True",)], ids=["plain", "poisoned"])
def test_rounds_leak_nothing(folder: Path, options: tuple[str, ...], tmp_path: Path) -> None:
    """The first rounds load code into the context, which stays there; the 20 rounds after them leak
    nothing."""
    if not any(folder.glob("*.convoy")):
        write(folder)
    for path in sorted(folder.glob("*.convoy")):
        command = [
            sys.executable,
            "-c",
            SCRIPT,
            str(path),
            "3",
            "20",
            f"plan_cache={tmp_path}",
            *options,
        ]
        # The runtime need not be installed: if artifacts come from another machine, it is read from
        # the repository.
        paths = os.pathsep.join([str(ROOT / "runtime"), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=500,
            env={**os.environ, "PYTHONPATH": paths},
        )
        print(done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr
        device, host, descriptors, threads = map(int, done.stdout.splitlines()[-1].split())
        assert (max(device, 0), descriptors, threads) == (0, 0, 0), done.stdout
        assert host < 8192, done.stdout


if __name__ == "__main__":
    write(Path(sys.argv[1]))
