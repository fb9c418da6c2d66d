"""Programs for cudnn-frontend that build the graphs of operation_graphs, if its Python API can
express them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

__all__ = ["PROGRAMS"]

X, C, NC, PEER = (
    "32x64x28x28xf16, NHWC",
    "1x64x1x1xf32, NHWC",
    "32x64x1x1xf32, NHWC",
    "2x256x1x1xf32, NHWC",
)
ROWS, WEIGHT, STATS, IMAGE_WEIGHT = "4x128x1024xf16", "1x1x1024xf16", "4x128x1xf32", "4x1x1024xf16"
E3, E4 = "1x1x1xf32", "1x1x1x1xf32"
_TYPES = {
    "f32": "FLOAT",
    "f16": "HALF",
    "bf16": "BFLOAT16",
    "i64": "INT64",
    "i32": "INT32",
    "ui8": "UINT8",
}
_TYPES |= {"f8E4M3FN": "FP8_E4M3", "f4E2M1FN": "FP4_E2M1"}


def _described(kind: str) -> tuple[list[int], list[int], str]:
    """Dims, strides and type in the text of a descriptor."""
    shape, _, layout = kind.partition(", ")
    *sizes, dtype = shape.split("x")
    dims = [int(size) for size in sizes]
    if layout.startswith("stride"):
        return (
            dims,
            [int(each) for each in layout.removeprefix("stride = [").removesuffix("]").split(",")],
            dtype,
        )
    order = [0, *range(2, len(dims)), 1] if layout.endswith("C") else list(range(len(dims)))
    strides = [
        prod(dims[each] for each in order[order.index(dim) + 1 :]) for dim in range(len(dims))
    ]
    return dims, strides, dtype


def _program(call: str, arguments: Mapping[str, str], results: Mapping[str, str]) -> str:
    """`call` returns the results in order; scalar arguments are passed by value."""
    lines = []
    for name, kind in arguments.items():
        dims, strides, dtype = _described(kind)
        by_value = ", is_pass_by_value=True" if kind in (E3, E4) else ""
        lines.append(
            f"{name} = g.tensor(name={name!r}, dim={dims}, stride={strides}, "
            f"data_type=D.{_TYPES[dtype]}{by_value})"
        )
    lines.append(
        f"{', '.join(f'r_{name}' for name in results)}{',' if call.startswith('[') else ''} "
        f"= {call}"
    )
    for name, kind in results.items():
        dims, strides, dtype = _described(kind)
        lines.append(
            f"r_{name}.set_output(True).set_dim({dims}).set_stride({strides}).set_data_type(D.{_TYPES[dtype]})"
        )
    head = [
        "import cudnn",
        "D, PHASE = cudnn.data_type, cudnn.norm_forward_phase",
        "def build(**options):",
    ]
    kinds = "io_data_type=D.HALF, intermediate_data_type=D.FLOAT, compute_data_type=D.FLOAT"
    body = [f"g = cudnn.pygraph({kinds}, **options)", *lines, "return g"]
    return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n"


def _norms() -> dict[str, str]:
    affine, inference, training = (
        "scale=scale, bias=bias",
        "norm_forward_phase=PHASE.INFERENCE",
        "norm_forward_phase=PHASE.TRAINING",
    )
    image, rows = (
        {"x": X, "scale": C, "bias": C, "epsilon": E4},
        {"x": ROWS, "scale": WEIGHT, "bias": WEIGHT, "epsilon": E3},
    )
    adaptive = rows | {"scale": IMAGE_WEIGHT, "bias": IMAGE_WEIGHT}
    running = {"momentum": E4, "mean": C, "var": C}
    moved = "in_running_mean=mean, in_running_var=var, epsilon=epsilon, momentum=momentum"
    five = {"y": X, "mean": C, "inv_variance": C, "next_mean": C, "next_var": C}
    saved = {"mean": STATS, "inv_variance": STATS}
    gradients = {"dx": ROWS, "dscale": WEIGHT, "dbias": WEIGHT}
    given = {"dy": ROWS, "x": ROWS, "mean": STATS, "inv_variance": STATS, "scale": WEIGHT}
    given_image = {"dy": X, "x": X, "mean": C, "inv_variance": C, "scale": C}
    backward = "grad=dy, input=x, scale=scale, mean=mean, inv_variance=inv_variance"
    dropped = "[g.{}({}, input=x, {}, epsilon=epsilon)[0]]"
    kept = "g.{}({}, input=x, {}, epsilon=epsilon)"
    return {
        "batch_norm_inference": _program(
            f"[g.batchnorm_inference(input=x, mean=mean, inv_variance=inv_variance, {affine})]",
            {"x": X, "mean": C, "inv_variance": C, "scale": C, "bias": C}, {"y": X},
        ),
        "batch_norm_training": _program(f"g.batchnorm(input=x, {affine}, {moved})",
        image | running, five),
        "batch_norm_peers": _program(
            f"g.batchnorm(input=x, {affine}, {moved}, peer_stats=[peer, other])",
            image | running | {"peer": PEER, "other": PEER}, five
        ),
        "instance_norm_inference": _program(dropped.format("instancenorm", inference, affine),
        image, {"y": X}),
        "instance_norm_training": _program(kept.format("instancenorm", training, affine), image,
        {"y": X, "mean": NC, "inv_variance": NC}),
        "layer_norm_inference": _program(dropped.format("layernorm", inference, affine), rows,
        {"y": ROWS}),
        "layer_norm_training": _program(kept.format("layernorm", training, affine), rows,
        {"y": ROWS} | saved),
        "rms_norm_inference": _program(
            dropped.format("rmsnorm", inference, "scale=scale"), {"x": ROWS, "scale": WEIGHT,
            "epsilon": E3}, {"y": ROWS}
        ),
        "rms_norm_training": _program(
            kept.format("rmsnorm", training, "scale=scale"), {"x": ROWS, "scale": WEIGHT,
            "epsilon": E3}, {"y": ROWS, "inv_variance": STATS}
        ),
        "ada_layer_norm_inference": _program(dropped.format("adalayernorm", inference, affine),
        adaptive, {"y": ROWS}),
        "ada_layer_norm_training": _program(kept.format("adalayernorm", training, affine),
        adaptive, {"y": ROWS} | saved),
        "batch_norm_backward": _program(f"g.batchnorm_backward({backward})", given_image, {"dx": X,
        "dscale": C, "dbias": C}),
        "instance_norm_backward": _program(
            f"g.instancenorm_backward({backward})",
            given_image | {"mean": NC, "inv_variance": NC}, {"dx": X, "dscale": C, "dbias": C},
        ),
        "layer_norm_backward": _program(f"g.layernorm_backward({backward})", given, gradients),
        "rms_norm_backward": _program(
            ("g.rmsnorm_backward(grad=dy, input=x, scale=scale, " "inv_variance=inv_variance, has_dbias=False)[:2]"),
            {key: given[key] for key in ("dy", "x", "inv_variance", "scale")}, {"dx": ROWS,
            "dscale": WEIGHT},
        ),
        "ada_layer_norm_backward": _program(
            f"g.adalayernorm_backward({backward})",
            given | {"scale": IMAGE_WEIGHT}, {"dx": ROWS, "dscale": IMAGE_WEIGHT,
            "dbias": IMAGE_WEIGHT},
        ),
        "gen_stats": _program("g.genstats(input=y, compute_data_type=D.FLOAT)", {"y": X},
        {"sum": C, "sq_sum": C}),
    }  # fmt: skip


def _others() -> dict[str, str]:
    a, b, y = "8x32x16x16xf16, NHWC", "8x64x16x16xf16, NHWC", "8x96x16x16xf16, NHWC"
    return {
        "concat": _program("[g.concatenate(inputs=[a, b], axis=1)]", {"a": a, "b": b}, {"y": y}),
        "concat_in_place": _program(
            "[g.concatenate(inputs=[a, b], axis=1, in_place_index=1)]", {"a": a, "b": b}, {"y": y}
        ),
        "reshape": _program(
            "[g.reshape(input=x)]", {"x": "8x16x128x64xf16"}, {"y": "128x128x64xf16"}
        ),
        "block_scale_quantize_rows": _program(
            "g.block_scale_quantize(input=x, block_size=16, axis=2)",
            {"x": "2x4x96x192xbf16"},
            {"y": "2x4x96x192xf4E2M1FN", "scale": "2x4x6x192xf8E4M3FN"},
        ),
        "moe": _program(
            (
                "[g.moe_grouped_matmul(token=token, weight=weight, "
                "first_token_offset=offset, mode=cudnn.moe_grouped_matmul_mode.NONE)]"
            ),
            {
                "token": "1x512x128xbf16",
                "weight": "8x128x256xbf16, stride = [32768, 1, 128]",
                "offset": "8x1x1xi32",
            },
            {"y": "1x512x256xbf16"},
        ),
    }


def _attention() -> dict[str, str]:
    call = "[g.sdpa(q=q, k=k, v=v, {}implementation=cudnn.attention_implementation.UNIFIED)[0]]"
    stats = (
        "g.sdpa(q=q, k=k, v=v, generate_stats=True, "
        "implementation=cudnn.attention_implementation.UNIFIED)"
    )
    padding = "generate_stats=False, use_padding_mask=True, seq_len_q=seq_q, seq_len_kv=seq_kv, "
    tables = "paged_attention_k_table=table_k, paged_attention_v_table=table_v, "
    lengths = {"seq_q": "2x1x1x1xi32", "seq_kv": "2x1x1x1xi32"}
    grouped, deep = (
        {"q": "2x16x1024x64xf16", "k": "2x4x512x64xf16", "v": "2x4x512x128xf16"},
        "2x16x1024x128xf16",
    )
    return {
        **{
            f"sdpa_{depth}": _program(
                call.format("attn_scale=scale, generate_stats=False, "),
                dict.fromkeys(("q", "k", "v"), f"2x16x1024x{depth}xf16") | {"scale": E4},
                {"o": f"2x16x1024x{depth}xf16"},
            )
            for depth in (64, 128)
        },
        "sdpa_grouped_stats": _program(stats, grouped, {"o": deep, "stats": "2x16x1024x1xf32"}),
        "sdpa_padded": _program(call.format(padding), grouped | lengths, {"o": deep}),
        "sdpa_paged": _program(
            call.format(padding + tables),
            {"q": "2x16x1024x64xf16", "k": "64x4x64x64xf16", "v": "64x4x64x64xf16"}
            | {"table_k": "2x1x8x1xi32", "table_v": "2x1x8x1xi32"} | lengths,
            {"o": "2x16x1024x64xf16"},
        ),
        "sdpa_block_mask": _program(
            call.format("generate_stats=False, block_mask=mask, "),
            grouped | {"mask": "2x16x8x1xui8"}, {"o": deep}
        ),
    }  # fmt: skip


PROGRAMS = _norms() | _others() | _attention()
