"""Run as a program: how many engine configurations the real cuDNN has for each graph, on a machine without a GPU.

    LD_LIBRARY_PATH=STUBS python engines_without_gpu.py LIBRARY < names, one build function a line

STUBS has a libcuda, an NVRTC and a cuBLASLt that do nothing: cuDNN opens them by name, and offers few engines when they are not there.
Prints JSON: the number by name, or the reason for which the graph was refused.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from convoy_runtime._abi import BUILD_GRAPH
from convoy_runtime.cuda import planner as planner_module
from convoy_runtime.cuda._cudnn import open_cudnn
from convoy_runtime.cuda.configs import heuristic_configs
from convoy_runtime.cuda.options import PlanOptions
from convoy_runtime.cuda.planner import Planner, device_properties
from convoy_runtime.errors import CudnnError

__all__ = ["main"]

H200 = Path(planner_module.__file__).parent / "devices" / "h200.json"


def main(library: str) -> None:
    native = ctypes.CDLL(library)
    cudnn = open_cudnn()
    device = device_properties(cudnn, H200)
    planner = Planner(cudnn, PlanOptions(), handle=None, device=device)
    found: dict[str, int | str] = {}
    for name in sys.stdin.read().split():
        graph = SimpleNamespace(name=name, location="", symbol=name)
        try:
            with planner.operation_graph(graph, BUILD_GRAPH((name, native))) as operations:
                rejected: list[str] = []
                for heuristic in ("A", "FALLBACK"):
                    found[name] = sum(1 for _ in heuristic_configs(cudnn, operations, heuristic, device, rejected))
                    if found[name]:
                        break
        except CudnnError as error:
            found[name] = str(error)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
