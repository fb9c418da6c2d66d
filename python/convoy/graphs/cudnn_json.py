# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints a graph as the JSON that cuDNN logs when it finalizes the graph, which includes
defaults."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from convoy.errors import ConvoyError
from convoy.graphs.source import Point, graph_library

__all__ = ["cudnn_json_text"]

_LOGGED = re.compile(r"apiLog: type=json; val=(.*);$", re.MULTILINE)


def cudnn_json_text(
    path: Path, name: str | None, *, run_native: bool = False, point: Point = None
) -> str:
    """Prints a graph with the installed cuDNN.

    Args:
        path: An artifact, or a `.mlir` file.
        name: The graph. None for the only one.
        run_native: Whether native code of an artifact may run, in another process.
        point: The point of an artifact with dynamic sizes.

    Returns:
        cuDNN's JSON.

    Raises:
        ConvoyError: cuDNN is missing or rejects the graph; has cuDNN's message.
    """
    library, symbol, _ = graph_library(path, name, run_native=run_native, point=point)
    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        native, log = Path(folder) / "native.so", Path(folder) / "cudnn.log"
        native.write_bytes(library)
        variables = {
            "CUDNN_LOGLEVEL_DBG": "3",
            "CUDNN_LOGINFO_DBG": "1",
            "CUDNN_LOGDEST_DBG": str(log),
        }
        # The child uses this process's search path.
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
        message = "this version of cuDNN does not log graphs; 9.19 does"
        raise ConvoyError(message)
    return json.dumps(json.loads(logged[-1]), indent=2)
