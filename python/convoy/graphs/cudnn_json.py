"""A graph as the JSON that cuDNN itself writes into its log when it finalizes one, everything that
was left to defaults filled in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from convoy.errors import ConvoyError
from convoy.graphs.source import graph_library

__all__ = ["cudnn_json_text"]

_LOGGED = re.compile(r"apiLog: type=json; val=(.*);$", re.MULTILINE)


def cudnn_json_text(path: Path, name: str | None, *, run_native: bool = False) -> str:
    """The JSON of the graph `name` of an artifact or a `.mlir` file, from the cuDNN of this
    machine. `run_native` lets native code of an artifact run, in another process. Raises
    ConvoyError with cuDNN's own words when it refuses the graph, or when there is no cuDNN."""
    library, symbol, _ = graph_library(path, name, run_native=run_native)
    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        native, log = Path(folder) / "native.so", Path(folder) / "cudnn.log"
        native.write_bytes(library)
        variables = {
            "CUDNN_LOGLEVEL_DBG": "3",
            "CUDNN_LOGINFO_DBG": "1",
            "CUDNN_LOGDEST_DBG": str(log),
        }
        # The child finds the packages where this process has.
        variables["PYTHONPATH"] = os.pathsep.join(each or "." for each in sys.path)
        program = [sys.executable, "-m", "convoy_runtime.cuda.cudnn.graph_log", str(native), symbol]
        done = subprocess.run(
            program, env=os.environ | variables, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ConvoyError(
                done.stderr.strip() or f"cuDNN ended the process with {done.returncode}"
            )
        logged = _LOGGED.findall(log.read_text(errors="replace"))
    if not logged:
        message = "this cuDNN writes no graphs into its log; 9.19 does"
        raise ConvoyError(message)
    return json.dumps(json.loads(logged[-1]), indent=2)
