# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that prepare a model of the zoo for one CPU runner. Each takes the module, its inputs
and the number of threads, and returns a function that runs the model once, with tensors or arrays
as results, in the order of the model's results."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["RUNNERS"]

Run = Callable[[], Any]


def _convoy(module: nn.Module, inputs: tuple[Tensor, ...], threads: int) -> Run:
    os.environ["CONVOY_NUM_THREADS"] = str(threads)
    import convoy

    model = convoy.compile(module, inputs, target="cpu")
    return lambda: model(*inputs)


def _eager(module: nn.Module, inputs: tuple[Tensor, ...], threads: int) -> Run:
    torch.set_num_threads(threads)

    @torch.inference_mode()
    def run() -> Any:
        return module(*inputs)

    return run


def _inductor(module: nn.Module, inputs: tuple[Tensor, ...], threads: int) -> Run:
    return _eager(torch.compile(module, options={"freezing": True}), inputs, threads)  # type: ignore[arg-type]


def _onnx(module: nn.Module, inputs: tuple[Tensor, ...], folder: str) -> Path:
    path = Path(folder) / "model.onnx"
    torch.onnx.export(module, inputs, path, dynamo=True, verbose=False)
    return path


def _onnxruntime(module: nn.Module, inputs: tuple[Tensor, ...], threads: int) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    with tempfile.TemporaryDirectory() as folder:
        session = onnxruntime.InferenceSession(
            _onnx(module, inputs, folder), options, providers=["CPUExecutionProvider"]
        )
    names = [each.name for each in session.get_inputs()]
    feeds = {name: x.numpy() for name, x in zip(names, inputs, strict=True)}
    return lambda: session.run(None, feeds)


def _openvino(module: nn.Module, inputs: tuple[Tensor, ...], threads: int) -> Run:
    import openvino

    with tempfile.TemporaryDirectory() as folder:
        model = openvino.Core().read_model(_onnx(module, inputs, folder))
        # On CPUs with bfloat16 OpenVINO computes in it by default.
        compiled = openvino.Core().compile_model(
            model,
            "CPU",
            {
                "INFERENCE_NUM_THREADS": threads,
                "INFERENCE_PRECISION_HINT": "f32",
                "PERFORMANCE_HINT": "LATENCY",
            },
        )
    request = compiled.create_infer_request()
    arrays = [x.numpy() for x in inputs]
    return lambda: list(request.infer(arrays, share_inputs=True).values())


#: Name to the function that prepares a runner.
RUNNERS: dict[str, Callable[[nn.Module, tuple[Tensor, ...], int], Run]] = {
    "convoy": _convoy,
    "eager": _eager,
    "compile": _inductor,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
}
