"""A process with the protocol of `benchmarks.runners`:
`python stub_runner.py well|wrong|short|late|raises|dies|lame [OUTPUT.npy]`."""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np


def main(behavior: str, *output: str) -> None:
    print(json.dumps({"loaded": True}), flush=True)
    sys.stdin.readline()
    if behavior == "late":
        time.sleep(60)
    if behavior == "raises":
        print(json.dumps({"failure": "RuntimeError: CUDA out of memory"}), flush=True)
        return
    if behavior == "dies":
        print("no such engine", file=sys.stderr, flush=True)
        os.abort()
    if output:
        result = np.array([[1.0, 2.0 if behavior == "wrong" else 1.0]])
        np.save(output[0], result[0] if behavior == "short" else result)
    print(json.dumps({"seconds": 1.5, "details": {"versions": {"behavior": behavior}}}), flush=True)
    for line in sys.stdin:
        if behavior == "lame":
            return
        print(json.dumps({"ms": 0.5 if int(line) == 3 else 0.25}), flush=True)


main(*sys.argv[1:])
