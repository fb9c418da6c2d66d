# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The parts of a batch normalization: sums over each channel after a convolution, finalization of
the sums, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .graph_text import BYTES, GraphText, Value, desc, key_of
from .operations import OperationCase

__all__ = ["statistics_cases"]

_DTYPES = ("f16", "bf16", "f32")
_LAYOUTS = ("channels_last", "channels_first")


def _convolution(window: int, mode: str = "") -> tuple[str, str]:
    """Returns the name and the attributes of a convolution that keeps the image's size."""
    pad = window // 2
    return (
        "convolution",
        (
            f"{mode}type = f32 spatial_stride = [1, 1] pre_padding = [{pad}, {pad}] "
            f"post_padding = [{pad}, {pad}] dilation = [1, 1]"
        ),
    )


def _sums() -> Iterator[OperationCase]:
    """The sums of an argument, of a convolution's result, and of a convolution with scale, bias and
    relu as prologue."""
    for where, dtype, layout, channels in product(
        ("alone", "conv", "scale_bias_relu_conv"), _DTYPES, _LAYOUTS, (64, 66, 8)
    ):
        aligned = 16 if channels * BYTES[dtype] % 16 == 0 else 1
        axes: dict[str, str | int] = {
            "beside": where,
            "dtypes": dtype,
            "layouts": layout,
            "channel_bytes": aligned,
        }
        for window in (1, 3) if where != "alone" else (0,):
            graph = GraphText(key_of("gen_stats", *axes.values(), channels, f"w{window}"), layout)
            dims, row = (32, channels, 28, 28), (1, channels, 1, 1)
            x = graph.argument(dims, dtype)
            if where.startswith("scale"):
                x = graph.apply(
                    "pointwise mul", [x, graph.argument(row, dtype)], "type = f32", dims, dtype
                )
                x = graph.apply(
                    "pointwise add", [x, graph.argument(row, dtype)], "type = f32", dims, dtype
                )
                x = graph.apply("pointwise relu_fwd", [x], "type = f32", dims, dtype)
            stored: list[Value] = []
            if window:
                head, tail = _convolution(window)
                x = graph.apply(
                    head,
                    [x, graph.argument((channels, channels, window, window), dtype)],
                    tail,
                    dims,
                    dtype,
                )
                stored = [x]
            sums = graph.apply_many(
                "gen_stats sum_sqsum", [x], "type = f32", [desc(row, "f32", layout)] * 2
            )
            yield OperationCase(graph.key, "gen_stats", axes, graph.text(*stored, *sums))


def _finalized() -> Iterator[OperationCase]:
    """The scale and bias equivalent to a normalization, from sums or running statistics."""
    modes = (("training", "moved"), ("training", "none"), ("inference", "given"))
    for (mode, running), dtype, layout, rank in product(modes, _DTYPES, _LAYOUTS, (3, 4, 5)):
        axes: dict[str, str | int] = {
            "modes": mode,
            "running_statistics": running,
            "dtypes": dtype,
            "layouts": layout,
            "ranks": rank,
        }
        for channels in (64, 65, 2048) if rank == 4 else (64,):
            graph = GraphText(key_of("bn_finalize", *axes.values(), channels), layout)
            dims = (1, channels, *(1,) * (rank - 2))
            training = ("y_sum", "y_sq_sum") if mode == "training" else ()
            names = (
                *training,
                "scale",
                "bias",
                *(() if running == "none" else ("prev_running_mean", "prev_running_var")),
            )
            given: dict[str, Value | None] = {name: graph.argument(dims, dtype) for name in names}
            given["epsilon"] = graph.scalar("1.0e-05", "f32", rank)
            outputs = ["eq_scale", "eq_bias"]
            if mode == "training":
                given |= {
                    "exp_average_factor": graph.scalar("1.0e-01", "f32", rank),
                    "accum_count": graph.scalar("25088", "i64", rank),
                }
                outputs += [
                    "saved_mean",
                    "saved_inv_std",
                    *(
                        ("updated_running_mean", "updated_running_var")
                        if running == "moved"
                        else ()
                    ),
                ]
            results = graph.named(
                f"bn_finalize {mode} type = f32",
                given,
                dict.fromkeys(outputs, desc(dims, dtype, layout)),
            )
            yield OperationCase(graph.key, "bn_finalize", axes, graph.text(*results))


def _gradients() -> Iterator[OperationCase]:
    """The gradients of scale and bias: of an argument, of dgrad's result, and of dgrad's result
    through a relu whose input is recomputed."""
    outputs = ("dscale", "dbias", "eq_dy_scale", "eq_x_scale", "eq_bias")
    for where, dtype, layout, channels in product(
        ("alone", "dgrad", "dgrad_relu_bwd"), _DTYPES, _LAYOUTS, (64, 66)
    ):
        aligned = 16 if channels * BYTES[dtype] % 16 == 0 else 1
        axes: dict[str, str | int] = {
            "beside": where,
            "dtypes": dtype,
            "layouts": layout,
            "channel_bytes": aligned,
        }
        graph = GraphText(key_of("bn_bwd_weights", *axes.values(), channels), layout)
        dims, row = (32, channels, 28, 28), (1, channels, 1, 1)
        x, dy = graph.argument(dims, dtype), graph.argument(dims, dtype)
        mean, inv_std, scale = (graph.argument(row, "f32") for _ in range(3))
        stored: list[Value] = []
        if where != "alone":
            head, tail = _convolution(1, "mode = dgrad ")
            dy = graph.apply(
                head, [dy, graph.argument((channels, channels, 1, 1), dtype)], tail, dims, dtype
            )
            if where == "dgrad_relu_bwd":
                steps = (
                    ("sub", mean),
                    ("mul", inv_std),
                    ("mul", scale),
                    ("add", graph.argument(row, "f32")),
                )
                y = x
                for i, (step, other) in enumerate(steps):
                    y = graph.apply(
                        f"pointwise {step}",
                        [y, other],
                        "type = f32",
                        dims,
                        dtype if i == 3 else "f32",
                    )
                dy = graph.apply("pointwise relu_bwd", [dy, y], "type = f32", dims, dtype)
            stored = [dy]
        given: dict[str, Value | None] = {
            "x": x,
            "dy": dy,
            "mean": mean,
            "inv_std": inv_std,
            "scale": scale,
        }
        results = graph.named(
            "bn_bwd_weights type = f32", given, dict.fromkeys(outputs, desc(row, "f32", layout))
        )
        yield OperationCase(graph.key, "bn_bwd_weights", axes, graph.text(*stored, *results))


def statistics_cases() -> list[OperationCase]:
    """Returns every graph of this family."""
    return [case for cases in (_sums(), _finalized(), _gradients()) for case in cases]
