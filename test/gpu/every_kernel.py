"""Launches every kernel of artifacts, under compute-sanitizer. Needs a GPU, but neither torch nor
the compiler.

`python test/gpu/every_kernel.py FOLDER` runs all artifacts of FOLDER. If graphs have kernels, each
kernel is launched once by itself, on buffers of exactly the sizes of its tensors; an artifact
without graphs runs once as a whole. `every_kernel.py FILE.ptx NAME` launches one kernel of a file
on an uninitialized buffer.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def run_graphs(path: Path) -> list[str]:
    """Launches each kernel of the graphs of the artifact at `path`; returns their names."""
    from convoy_runtime.cuda.driver.device import Device, open_driver
    from convoy_runtime.cuda.driver.memory import Allocation
    from convoy_runtime.cuda.plans.kernels import Kernels
    from convoy_runtime.cuda.plans.plan import Queue
    from convoy_runtime.cuda.tuning.scratch import fill_random
    from convoy_runtime.opening import open_artifact

    artifact = open_artifact(path, any_host=True)
    driver, names = open_driver(), []
    device, queue = Device(driver, 0), Queue(driver, 0)
    with device.current():
        kernels = Kernels(device, artifact)
        for graph in artifact.manifest.graphs:
            tensors = [Allocation(device, tensor.bytes) for tensor in graph.tensors]
            for tensor, memory in zip(graph.tensors, tensors, strict=True):
                if tensor.role == "input":
                    fill_random(driver, 0, memory.pointer, memory.size, tensor.dtype)
            rejected: list[str] = []
            for kernel in kernels.offered(graph, rejected):
                kernels.plan(graph, kernel).enqueue(
                    queue, graph, [memory.pointer for memory in tensors], 0
                )
                driver.call("cuStreamSynchronize", 0)
                names.append(kernel.name)
            for reason in rejected:
                print(f"{path.name}: {graph.name}: {reason}")
        kernels.close()
    return names


def run_program(path: Path) -> list[str]:
    """Runs the artifact at `path`, which calls no graph, on random inputs; returns the names of its
    kernels."""
    import convoy_runtime

    with convoy_runtime.load(path, plan_cache=False) as program:
        random = np.random.default_rng(0)
        program.run_numpy(
            *(random.standard_normal(spec.shape).astype(spec.dtype) for spec in program.inputs)
        )
        return [kernel.name for kernel in program.manifest.kernels]


def run_ptx(path: Path, name: str) -> None:
    """Launches kernel `name` of the PTX at `path`: one block of 64 threads, with a buffer of 4096
    bytes as the argument."""
    from convoy_runtime._abi import pointer_array
    from convoy_runtime.cuda.driver.device import Device, open_driver
    from convoy_runtime.cuda.driver.memory import Allocation
    from convoy_runtime.cuda.plans.kernels import launch
    from convoy_runtime.cuda.plans.plan import Queue

    driver = open_driver()
    device = Device(driver, 0)
    with device.current():
        text = ctypes.create_string_buffer(path.read_bytes())
        function = driver.call(
            "cuModuleGetFunction",
            driver.call("cuModuleLoadData", ctypes.addressof(text)),
            name.encode(),
        )
        memory = Allocation(device, 4096)
        arguments = pointer_array([memory.pointer])
        launch(Queue(driver, 0), function, (1, 1, 1), (64, 1, 1), 0, ctypes.addressof(arguments), 1)
        driver.call("cuStreamSynchronize", 0)


def main(path: Path, name: str = "") -> int:
    """Runs the command line; returns 1 if there is no kernel."""
    sys.path.insert(0, str(ROOT / "runtime"))
    if name:
        run_ptx(path, name)
        return 0
    return run_folder(path)


def run_folder(folder: Path) -> int:
    """Launches the kernels of a folder's artifacts; returns 1 if there are none."""
    from convoy_runtime.opening import open_artifact

    count = 0
    for path in sorted(folder.glob("*.convoy")):
        graphs = open_artifact(path, any_host=True).manifest.graphs
        names = run_graphs(path) if graphs else run_program(path)
        print(f"{path.name}:", *names, flush=True)
        count += len(names)
    print(f"{count} kernels")
    return int(count == 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
