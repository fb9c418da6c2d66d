"""Builds graphs with the recording libcudnn.so.9, as a separate program, and writes the calls to
FOLDER/NAME.calls.

    LD_LIBRARY_PATH=SHIM:REAL python record_graphs.py ours LIBRARY FOLDER
        stdin: names, one per line; the build functions are NAME_build
    LD_LIBRARY_PATH=SHIM:REAL python record_graphs.py frontend DEVICE FOLDER
        stdin: JSON {name: Python program that defines build(**options)}
    LD_LIBRARY_PATH=SHIM:REAL:CUBLASLT python record_graphs.py plans DEVICE FOLDER
        stdin: as for frontend

Names of finalized graphs are appended to FOLDER/finalized, in order; FOLDER/NAME.error has the
error of each other graph. `frontend` also writes the JSON that cudnn-frontend prints for the graph:
FOLDER/NAME.validated.json before it builds the operation graph, FOLDER/NAME.json after. `plans` also writes FOLDER/NAME.bin, the bytes of the graph with a plan.
Without a cuBLASLt, cuDNN ends the process when it plans.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

__all__ = ["main"]


def _shim() -> ctypes.CDLL:
    """The recording library. It is the first on the search path, so the whole process uses this
    copy."""
    return ctypes.CDLL(
        str(Path(os.environ["LD_LIBRARY_PATH"].split(os.pathsep)[0]) / "libcudnn.so.9"),
        mode=os.RTLD_GLOBAL | os.RTLD_NOW,
    )


def _finalized(folder: Path, name: str) -> None:
    with (folder / "finalized").open("a") as file:
        file.write(f"{name}\n")


def _ours(shim: ctypes.CDLL, library: str, folder: Path) -> None:
    from convoy_runtime._abi import BUILD_GRAPH, ConvoyCudnn
    from convoy_runtime.cuda.cudnn.library import Cudnn

    cudnn = Cudnn(shim, "the recording cuDNN")
    native = ctypes.CDLL(library)
    for name in sys.stdin.read().split():
        errors: list[str] = []
        report = ConvoyCudnn.REPORT(
            lambda status, call, location, errors=errors: errors.append(
                str(cudnn.error(status, call.decode()))
            )
        )
        table = cudnn.table(report)
        result = ctypes.c_void_p()
        shim.recorder_begin(str(folder / f"{name}.calls").encode())
        status = BUILD_GRAPH((f"{name}_build", native))(
            ctypes.byref(table), None, ctypes.byref(result)
        )
        shim.recorder_end()
        if status:
            (folder / f"{name}.error").write_text("\n".join(errors))
        else:
            cudnn.call("cudnnBackendDestroyDescriptor", result)
            _finalized(folder, name)


def _plans(shim: ctypes.CDLL, device: str, folder: Path) -> None:
    import cudnn

    options = {"device_property": cudnn.create_device_properties(Path(device).read_text())}
    for name, program in json.load(sys.stdin).items():
        space = {"__name__": name}
        exec(compile(program, name, "exec"), space)
        graph = space["build"](**options)
        graph.build_operation_graph()
        # The methods of the Python graph need a GPU; those of the underlying C++ graph plan for the
        # described device.
        lowered = graph._lowered_graph
        lowered.create_execution_plans([cudnn.heur_mode.A])
        lowered.build_plan_at_index(0)
        (folder / f"{name}.bin").write_bytes(lowered.serialize(as_bytes=True))


def _frontend(shim: ctypes.CDLL, device: str, folder: Path) -> None:
    import cudnn

    # Without sm_version, attention queries a GPU for what the properties already have.
    options = {
        "device_property": cudnn.create_device_properties(Path(device).read_text()),
        "sm_version": 90,
    }
    for name, program in json.load(sys.stdin).items():
        space = {"__name__": name}
        exec(compile(program, name, "exec"), space)
        shim.recorder_begin(str(folder / f"{name}.calls").encode())
        try:
            graph = space["build"](**options)
            graph.validate()
            (folder / f"{name}.validated.json").write_text(str(graph))
            graph.build_operation_graph()
            # Makes the calls of attention, for which cudnn-frontend has kernels, too.
            graph.key()
            (folder / f"{name}.json").write_text(str(graph))
            _finalized(folder, name)
        except Exception as error:
            (folder / f"{name}.error").write_text(f"{type(error).__name__}: {error}")
        shim.recorder_end()


def main(builder: str, what: str, folder: str) -> None:
    {"ours": _ours, "frontend": _frontend, "plans": _plans}[builder](_shim(), what, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
