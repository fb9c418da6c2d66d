# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs a model once in a fresh process and prints the time of each step. Started by
`benchmarks.cold_start`.

    python -m benchmarks.first_result convoy|eager|compile FOLDER START tf32|strict

FOLDER has image.npy, and model.convoy or module.pt; the result is written there. START is the
time.perf_counter of the process start (one clock for all processes on Linux). The last line of the
output is JSON: seconds of each step, and of each part of Convoy's load.
"""

import time

BEGIN = time.perf_counter()

# The clock is read before all other imports.
import json
import sys
from pathlib import Path
from typing import Any


class Steps:
    """Seconds by step. A step begins where the previous one ends."""

    def __init__(self, start: float) -> None:
        self.seconds = {"Python": BEGIN - start}
        self._last = BEGIN

    def done(self, name: str) -> None:
        """Ends the step `name`."""
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now


def convoy(folder: Path, steps: Steps) -> dict[str, Any]:
    """Runs an artifact that contains weights and plans; stored plans are required."""
    import numpy as np

    steps.done("numpy")
    import convoy_runtime

    steps.done("convoy_runtime")
    program = convoy_runtime.load(folder / "model.convoy", plan_cache=False, strict=True)
    steps.done("load")
    (result,) = program.run_numpy(np.load(folder / "image.npy"))
    steps.done("run")
    np.save(folder / "convoy.npy", result.astype(np.float64))
    origins = [plan.origin for plan in program.plans]  # type: ignore[attr-defined]
    return {
        "load": dict(program.timings),
        "plans": {origin: origins.count(origin) for origin in dict.fromkeys(origins)},
    }


def pytorch(folder: Path, steps: Steps, *, compiled: bool, tf32: bool) -> dict[str, Any]:
    """Runs a pickled module, which is in its dtype and channels-last. Unpickling avoids
    initializing weights that would be overwritten."""
    import numpy as np
    import torch

    from benchmarks.cases import models

    models()
    steps.done("torch")
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
    with torch.no_grad():
        module = torch.load(
            folder / "module.pt", map_location="cuda", weights_only=False, mmap=True
        )
        torch.cuda.synchronize()
        steps.done("load")
        dtype = next(module.parameters()).dtype
        x = (
            torch.from_numpy(np.load(folder / "image.npy"))
            .cuda()
            .to(dtype)
            .to(memory_format=torch.channels_last)
        )
        result = (torch.compile(module) if compiled else module)(x).float().cpu().numpy()
    steps.done("run")
    np.save(folder / f"{'compile' if compiled else 'eager'}.npy", result.astype(np.float64))
    return {}


def main(name: str, folder: Path, start: float, tf32: bool) -> None:
    """Runs the model and prints the figures as JSON."""
    steps = Steps(start)
    more = (
        convoy(folder, steps)
        if name == "convoy"
        else pytorch(folder, steps, compiled=name == "compile", tf32=tf32)
    )
    print(
        json.dumps(
            {
                "steps": steps.seconds,
                "nvrtc": "libnvrtc" in Path("/proc/self/maps").read_text(),
                **more,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "tf32")
