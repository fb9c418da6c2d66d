"""The graphs of cudnn-frontend's samples, built with its Python package: their operations, shapes and
types, without the code around them.

A function `NAME(g)` takes an empty graph and adds one sample. `build(NAME, **options)` returns it;
`SAMPLES` has all names. Types that are not given are float16 for inputs and outputs, and float32
between operations and for arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any

__all__ = ["SAMPLES", "build"]

Make = Callable[["Sample"], None]

#: Name to the function that adds the sample, and the graph's types and flags.
SAMPLES: dict[str, tuple[Make, dict[str, Any]]] = {}


def sample(**options: Any) -> Callable[[Make], Make]:
    """Registers a sample. `io`, `between` and `compute` are names of cudnn.data_type."""

    def register(make: Make) -> Make:
        SAMPLES[make.__name__] = (make, options)
        return make

    return register


def build(name: str, **options: Any) -> Any:
    """Returns the graph of a sample."""
    import cudnn

    make, own = SAMPLES[name]
    flags = dict(own)
    types = {
        "io_data_type": flags.pop("io", "HALF"),
        "intermediate_data_type": flags.pop("between", "FLOAT"),
        "compute_data_type": flags.pop("compute", "FLOAT"),
    }
    types = {key: getattr(cudnn.data_type, value) for key, value in types.items()}
    graph = cudnn.pygraph(**types, **flags, **options)
    make(Sample(graph))
    return graph


class Sample:
    """A graph and short names for its tensors."""

    def __init__(self, graph: Any) -> None:
        import cudnn

        self.g, self.cudnn = graph, cudnn

    def type(self, name: str) -> Any:
        """An enumerator of cudnn.data_type."""
        return getattr(self.cudnn.data_type, name)

    def add(
        self,
        *dims: int,
        type: str | None = None,
        order: str = "row",
        stride: Sequence[int] | None = None,
        **more: Any,
    ) -> Any:
        """Adds an input. `order` is row (the last dim is contiguous), nhwc (dim 1 is) or column (the
        last but one is)."""
        if type is not None:
            more["data_type"] = self.type(type)
        return self.g.tensor(dim=list(dims), stride=strides(dims, order, stride), **more)

    def scalar(self, rank: int = 4, type: str = "FLOAT") -> Any:
        """Adds a number that the host passes."""
        return self.add(*[1] * rank, type=type, is_pass_by_value=True)

    def out(self, tensor: Any, *dims: int, type: str | None = None, order: str = "row") -> Any:
        """Makes a tensor an output, of these dims if there are any."""
        tensor.set_output(True)
        return self.virtual(tensor, *dims, type=type, order=order)

    def virtual(self, tensor: Any, *dims: int, type: str | None = None, order: str = "row") -> Any:
        """Sets the dims and the type of a result."""
        if dims:
            tensor.set_dim(list(dims)).set_stride(strides(dims, order))
        if type is not None:
            tensor.set_data_type(self.type(type))
        return tensor


def strides(
    dims: Sequence[int], order: str = "row", given: Sequence[int] | None = None
) -> list[int]:
    """Strides of packed memory."""
    if given is not None:
        return list(given)
    rank = len(dims)
    places = {
        "row": list(range(rank)),
        "nhwc": [0, *range(2, rank), 1],
        "column": [*range(rank - 2), rank - 1, rank - 2],
    }[order]
    return [prod(dims[each] for each in places[places.index(dim) + 1 :]) for dim in range(rank)]


# Convolutions.


def _images(s: Sample, n: int, c: int, h: int, w: int, k: int, r: int, **more: Any) -> Any:
    x = s.add(n, c, h, w, order="nhwc", name="image", **more)
    return x, s.add(k, c, r, r, order="nhwc", name="filter", **more)


def _conv(s: Sample, x: Any, w: Any, padding: int = 1) -> Any:
    return s.g.conv_fprop(x, w, padding=[padding] * 2, stride=[1, 1], dilation=[1, 1])


@sample()
def conv_fprop(s: Sample) -> None:
    s.out(_conv(s, *_images(s, 16, 128, 64, 64, 256, 1), padding=0))


@sample(is_dynamic_shape_enabled=True)
def conv_fprop_dynamic_shape(s: Sample) -> None:
    x, w = _images(s, 8, 32, 16, 16, 32, 2)
    y = s.g.conv_fprop(
        x, w, pre_padding=[1, 1], post_padding=[0, 0], stride=[1, 1], dilation=[1, 1]
    )
    s.out(s.g.relu(s.virtual(y, type="HALF")))


def _csbr(s: Sample, *shape: int) -> None:
    x, w = _images(s, *shape, 3)
    channels = shape[4]
    scale, bias = (s.add(1, channels, 1, 1, order="nhwc") for _ in range(2))
    s.out(s.g.relu(s.g.add(s.g.mul(_conv(s, x, w), scale), bias)))


@sample()
def conv_scale_bias_relu(s: Sample) -> None:
    _csbr(s, 4, 64, 16, 16, 32)


@sample(is_dynamic_shape_enabled=True)
def conv_scale_bias_relu_dynamic_shape(s: Sample) -> None:
    _csbr(s, 8, 32, 16, 16, 64)


@sample()
def scale_bias_relu_conv_genstats(s: Sample) -> None:
    x, w = _images(s, 4, 64, 16, 16, 32, 3)
    scale, bias = (s.add(1, 64, 1, 1, order="nhwc") for _ in range(2))
    y = _conv(s, s.g.relu(s.g.add(s.g.mul(x, scale), bias)), w)
    s.out(y, type="HALF")
    for each in s.g.genstats(y):
        s.out(each, type="FLOAT")


@sample()
def conv_bias_relu_nchw(s: Sample) -> None:
    x, w, bias = s.add(8, 32, 16, 16), s.add(32, 32, 3, 3), s.add(1, 32, 1, 1)
    s.out(s.g.relu(s.g.add(_conv(s, x, w), bias)))


@sample()
def conv_fprop_large(s: Sample) -> None:
    s.out(_conv(s, *_images(s, 25600, 128, 40, 40, 128, 3)))


@sample()
def conv_concatenate(s: Sample) -> None:
    x, w = _images(s, 16, 128, 64, 64, 256, 1)
    y = s.virtual(_conv(s, x, w, padding=0), type="HALF")
    other = s.add(8, 256, 64, 64, order="nhwc", type="HALF")
    whole = s.g.concatenate(inputs=[y, other], axis=0, in_place_index=1)
    s.out(whole, 24, 256, 64, 64, order="nhwc")


@sample(io="INT8", between="INT32", compute="INT32")
def conv_int8(s: Sample) -> None:
    y = _conv(s, *_images(s, 4, 64, 16, 16, 32, 3))
    s.out(s.g.identity(y), type="INT32")


@sample()
def conv_fp8(s: Sample) -> None:
    y = _conv(s, *_images(s, 16, 128, 64, 64, 256, 1, type="FP8_E4M3"), padding=0)
    one = [s.add(1, 1, 1, 1, type="FLOAT") for _ in range(3)]
    descaled = s.g.mul(s.g.mul(y, one[0]), one[1])
    s.out(s.g.mul(descaled, one[2]), type="FP8_E4M3")
    amax = s.g.reduction(descaled, mode=s.cudnn.reduction_mode.AMAX)
    s.out(amax, 1, 1, 1, 1, type="FLOAT")


def _dgrad(s: Sample) -> Any:
    dy = s.add(4, 64, 16, 16, order="nhwc")
    w = s.add(64, 32, 3, 3, order="nhwc")
    dx = s.g.conv_dgrad(dy, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    return s.virtual(dx, 4, 32, 16, 16, order="nhwc")


@sample()
def conv_dgrad(s: Sample) -> None:
    s.out(_dgrad(s))


@sample()
def conv_dgrad_drelu(s: Sample) -> None:
    s.out(s.g.relu_backward(_dgrad(s), s.add(4, 32, 16, 16, order="nhwc")))


@sample(between="HALF")
def conv_wgrad(s: Sample) -> None:
    x, dy = (s.add(4, 64, 16, 16, order="nhwc") for _ in range(2))
    dw = s.g.conv_wgrad(x, dy, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    s.out(dw, 64, 64, 3, 3, order="nhwc")


@sample(between="HALF")
def scale_bias_relu_wgrad(s: Sample) -> None:
    x, dy = (s.add(4, 64, 16, 16, order="nhwc") for _ in range(2))
    scale, bias = (s.add(1, 64, 1, 1, order="nhwc") for _ in range(2))
    activated = s.g.relu(s.g.add(s.g.mul(x, scale), bias))
    dw = s.g.conv_wgrad(activated, dy, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    s.out(dw, 64, 64, 3, 3, order="nhwc")


# Matrix products.


@sample(io="BFLOAT16")
def matmul(s: Sample) -> None:
    a, b = s.add(16, 32, 128), s.add(16, 128, 64)
    s.out(s.g.matmul(a, b), type="FLOAT")


@sample(io="BFLOAT16", is_dynamic_shape_enabled=True)
def matmul_dynamic_shape(s: Sample) -> None:
    a, b = s.add(16, 32, 128), s.add(16, 128, 64)
    s.out(s.g.matmul(a, b), type="FLOAT")


@sample(io="BFLOAT16", is_override_shape_enabled=True)
def matmul_override_shape(s: Sample) -> None:
    a, b = s.add(16, 64, 64), s.add(16, 64, 64)
    s.out(s.g.matmul(a, b), type="BFLOAT16")


@sample(io="BFLOAT16")
def abs_matmul(s: Sample) -> None:
    a, b = s.add(16, 32, 128), s.add(16, 128, 64)
    s.out(s.g.matmul(s.virtual(s.g.abs(a), type="BFLOAT16"), b), type="FLOAT")


@sample(io="BFLOAT16")
def bias_matmul(s: Sample) -> None:
    a, b, bias = s.add(16, 32, 128), s.add(16, 128, 64), s.add(1, 32, 128)
    s.out(s.g.matmul(s.virtual(s.g.add(a, bias), type="BFLOAT16"), b), type="FLOAT")


@sample(io="BFLOAT16")
def matmul_scale_bias_relu(s: Sample) -> None:
    a, b = s.add(16, 32, 128), s.add(16, 128, 64)
    scale, bias = s.add(16, 32, 64), s.add(16, 32, 64)
    product = s.g.matmul(a, b)
    s.out(s.g.relu(s.g.add(s.g.mul(product, scale), bias)), type="BFLOAT16")


@sample(io="INT8", between="INT32", compute="INT32")
def matmul_int8(s: Sample) -> None:
    a, b = s.add(16, 32, 128), s.add(16, 128, 64, order="column")
    bias = s.add(16, 32, 64, type="FLOAT")
    total = s.g.add(s.g.matmul(a, b), bias, compute_data_type=s.type("FLOAT"))
    s.out(total, type="FLOAT")


@sample()
def matmul_fp8(s: Sample) -> None:
    a = s.add(16, 64, 64, type="FP8_E4M3")
    b = s.add(16, 64, 64, type="FP8_E4M3", order="column")
    one = [s.add(1, 1, 1, type="FLOAT") for _ in range(2)]
    s.out(s.g.mul(s.g.mul(s.g.matmul(a, b), one[0]), one[1]), type="BFLOAT16")


@sample()
def matmul_mixed_precision(s: Sample) -> None:
    a, b = s.add(16, 32, 64, type="INT8"), s.add(16, 64, 32, type="BFLOAT16")
    cast = s.virtual(s.g.identity(a), type="BFLOAT16")
    s.out(s.g.matmul(cast, b), type="BFLOAT16")


def _mxfp8(s: Sample, batch: int, m: int, n: int, k: int, block: int, kind: str, scale: str) -> Any:
    a, b = s.add(batch, m, k, type=kind), s.add(batch, k, n, type=kind, order="column")
    rows, columns = (128 * ceil(each / 128) for each in (m, n))
    depth = 4 * ceil(ceil(k / block) / 4)
    reordered = {"type": scale, "reordering_type": s.cudnn.tensor_reordering.F8_128x4}
    scale_a = s.add(batch, rows, depth, **reordered)
    scale_b = s.add(batch, depth, columns, order="column", **reordered)
    return s.g.matmul(
        s.g.block_scale_dequantize(a, scale_a, block_size=[1, block]),
        s.g.block_scale_dequantize(b, scale_b, block_size=[block, 1]),
    )


@sample(io="FLOAT")
def matmul_mxfp8(s: Sample) -> None:
    s.out(_mxfp8(s, 1, 128, 128, 128, 32, "FP8_E4M3", "FP8_E8M0"), type="BFLOAT16")


@sample(io="FLOAT")
def matmul_mxfp8_odd(s: Sample) -> None:
    s.out(_mxfp8(s, 3, 137, 272, 160, 32, "FP8_E5M2", "FP8_E8M0"), type="HALF")


@sample(io="FLOAT")
def matmul_nvfp4(s: Sample) -> None:
    s.out(_mxfp8(s, 1, 128, 128, 64, 16, "FP4_E2M1", "FP8_E4M3"), type="HALF")


@sample(io="FLOAT")
def matmul_mxfp8_quantize(s: Sample) -> None:
    product = s.virtual(_mxfp8(s, 1, 128, 128, 128, 32, "FP8_E4M3", "FP8_E8M0"), type="FLOAT")
    y, scale = s.g.block_scale_quantize(product, block_size=32, axis=2)
    s.out(y, type="FP8_E4M3")
    s.out(scale, type="FP8_E8M0").set_reordering_type(s.cudnn.tensor_reordering.F8_128x4)


@sample(io="FLOAT")
def matmul_mxfp8_swiglu(s: Sample) -> None:
    gate = _mxfp8(s, 1, 128, 128, 128, 32, "FP8_E4M3", "FP8_E8M0")
    other = _mxfp8(s, 1, 128, 128, 128, 32, "FP8_E4M3", "FP8_E8M0")
    s.out(s.g.mul(s.g.swish(gate), other), type="BFLOAT16")


@sample(io="FLOAT", is_override_shape_enabled=True)
def matmul_mxfp8_override_shape(s: Sample) -> None:
    s.out(_mxfp8(s, 1, 128, 128, 128, 32, "FP8_E4M3", "FP8_E8M0"), type="BFLOAT16")


def _general(s: Sample, kinds: Sequence[str], scales: str, between: str, *blocks: int) -> None:
    m = n = k = 512
    a_m, a_k, b_k, b_n = blocks
    a, b = s.add(2, m, k, type=kinds[0]), s.add(2, k, n, type=kinds[1], order="column")
    scale_a = s.add(2, -(-m // a_m), -(-k // a_k), type=scales)
    scale_b = s.add(2, -(-k // b_k), -(-n // b_n), type=scales, order="column")
    left = s.virtual(s.g.block_scale_dequantize(a, scale_a, block_size=[a_m, a_k]), type=between)
    right = s.virtual(s.g.block_scale_dequantize(b, scale_b, block_size=[b_k, b_n]), type=between)
    s.out(s.g.matmul(left, right), type="HALF")


@sample()
def matmul_scaled_tiles(s: Sample) -> None:
    _general(s, ("HALF", "HALF"), "HALF", "HALF", 1, 128, 128, 128)


@sample()
def matmul_scaled_int4(s: Sample) -> None:
    _general(s, ("INT4", "HALF"), "FLOAT", "HALF", 1, 128, 128, 1)


@sample()
def matmul_scaled_odd_tiles(s: Sample) -> None:
    _general(s, ("BFLOAT16", "BFLOAT16"), "FLOAT", "BFLOAT16", 47, 32, 32, 17)


@sample(between="HALF", compute="HALF")
def moe_grouped_matmul_int4(s: Sample) -> None:
    token = s.add(1, 2048, 512)
    weight = s.add(3, 512, 256, type="INT4", order="column")
    scale, offset = s.add(3, 4, 256, order="column"), s.add(6, 1, 1, type="INT32")
    wide = s.virtual(s.g.block_scale_dequantize(weight, scale, block_size=[128, 1]), type="HALF")
    y = s.g.moe_grouped_matmul(
        token, wide, offset, mode=s.cudnn.moe_grouped_matmul_mode.NONE, top_k=2
    )
    s.out(y, type="HALF")


@sample(io="BFLOAT16")
def moe_grouped_matmul_backward(s: Sample) -> None:
    dy, token = s.add(1, 2000, 248), s.add(1, 2000, 520)
    offset = s.add(36, 1, 1, type="INT32")
    s.out(s.g.moe_grouped_matmul_bwd(dy, token, offset), 36, 520, 248, type="BFLOAT16")


# Operations that move data, and pointwise operations.


@sample(io="HALF")
def boolean_fusion(s: Sample) -> None:
    x, bound = s.add(4, 8, 16), s.add(4, 8, 16, type="FLOAT")
    mask = s.add(4, 8, 16, type="BOOLEAN")
    above = s.virtual(s.g.cmp_gt(x, bound), type="BOOLEAN")
    s.out(s.g.logical_and(above, mask, compute_data_type=s.type("BOOLEAN")), type="BOOLEAN")


@sample(io="FLOAT")
def concatenate(s: Sample) -> None:
    x, other = (s.add(2, 4, 8, 8, order="nhwc") for _ in range(2))
    whole = s.g.concatenate(inputs=[x, other], axis=1)
    s.out(whole, 2, 8, 8, 8, order="nhwc", type="FLOAT")


@sample(io="FLOAT")
def reshape(s: Sample) -> None:
    x = s.add(3, 4, 5, stride=(20, 1, 4))
    y = s.g.reshape(x, reshape_mode=s.cudnn.reshape_mode.LOGICAL)
    s.out(y, 6, 10, type="FLOAT")


@sample(io="FLOAT")
def reshape_relu(s: Sample) -> None:
    y = s.g.reshape(s.add(2, 8), reshape_mode=s.cudnn.reshape_mode.LOGICAL)
    s.out(s.g.relu(s.virtual(y, 4, 4)), type="FLOAT")


@sample(io="FLOAT")
def slice_with_step(s: Sample) -> None:
    window = [slice(1, 3), slice(4, 12, 2), slice(0, 8)]
    s.out(s.g.slice(s.add(4, 16, 8), window), type="FLOAT")


@sample()
def slice_matmul(s: Sample) -> None:
    window = [slice(1, 9), slice(3, 19), slice(0, 64)]
    a = s.virtual(s.g.slice(s.add(11, 23, 64), window), type="HALF")
    s.out(s.g.relu(s.virtual(s.g.matmul(a, s.add(8, 64, 32)), type="FLOAT")))


@sample(io="FLOAT")
def transpose(s: Sample) -> None:
    s.out(s.g.transpose(s.add(2, 3, 4), permutation=[2, 0, 1]), type="FLOAT")


@sample(io="FLOAT")
def transpose_add(s: Sample) -> None:
    moved = s.g.transpose(s.add(2, 2, 4), permutation=[2, 0, 1])
    s.out(s.g.add(moved, s.add(4, 2, 2)), type="FLOAT")


@sample(io="FLOAT")
def reduction(s: Sample) -> None:
    y = s.g.reduction(s.add(8, 64, 56, 56, order="nhwc"), mode=s.cudnn.reduction_mode.ADD)
    s.out(y, 1, 64, 1, 1, order="nhwc")


@sample(io="HALF")
def fused_scalar(s: Sample) -> None:
    s.out(s.g.add(s.add(8, 64, 64), s.scalar(3)), type="HALF")


@sample(io="FLOAT")
def amax_and_conversion(s: Sample) -> None:
    x = s.add(8, 64, 56, 56, order="nhwc")
    amax = s.g.reduction(x, mode=s.cudnn.reduction_mode.AMAX)
    s.out(amax, 1, 1, 1, 1, type="FLOAT")
    s.out(s.g.mul(x, s.add(1, 1, 1, 1)), type="FP8_E4M3")


# Normalizations.


def _affine(s: Sample, *dims: int, count: int = 2, order: str = "nhwc") -> list[Any]:
    return [s.add(*dims, type="FLOAT", order=order) for _ in range(count)]


def _phase(s: Sample, training: bool) -> Any:
    phase = s.cudnn.norm_forward_phase
    return phase.TRAINING if training else phase.INFERENCE


@sample()
def batchnorm_add_relu(s: Sample) -> None:
    x, z = (s.add(4, 32, 16, 16, order="nhwc") for _ in range(2))
    mean, var, scale, bias = _affine(s, 1, 32, 1, 1, count=4)
    peers = _affine(s, 2, 128, 1, 1)
    y, *stats = s.g.batchnorm(
        input=x, scale=scale, bias=bias, in_running_mean=mean, in_running_var=var,
        epsilon=s.scalar(), momentum=s.scalar(), peer_stats=peers,
    )  # fmt: skip
    s.out(s.g.relu(s.g.add(y, z)))
    for each in stats:
        s.out(each, type="FLOAT")


@sample(sm_count=16)
def batchnorm_sm_carveout(s: Sample) -> None:
    batchnorm_add_relu(s)


@sample()
def batchnorm_backward_add_relu(s: Sample) -> None:
    dy, x = (s.add(4, 32, 16, 16, order="nhwc") for _ in range(2))
    mask = s.add(4, 32, 16, 16, order="nhwc", type="BOOLEAN")
    mean, inv_variance, scale = _affine(s, 1, 32, 1, 1, count=3)
    masked = s.g.mul(dy, mask)
    s.out(masked)
    dx, *gradients = s.g.batchnorm_backward(
        grad=masked, input=x, scale=scale, mean=mean, inv_variance=inv_variance
    )
    s.out(dx)
    for each in gradients:
        s.out(each, type="FLOAT")


@sample()
def batchnorm_inference_drelu_backward(s: Sample) -> None:
    dy, x = (s.add(4, 32, 16, 16, order="nhwc") for _ in range(2))
    mean, inv_variance, scale, bias = _affine(s, 1, 32, 1, 1, count=4)
    y = s.g.batchnorm_inference(
        input=x, mean=mean, inv_variance=inv_variance, scale=scale, bias=bias
    )
    active = s.g.relu_backward(dy, y)
    dx, *gradients = s.g.batchnorm_backward(
        grad=active, input=x, scale=scale, mean=mean, inv_variance=inv_variance
    )
    s.out(dx)
    for each in gradients:
        s.out(each, type="FLOAT")


def _layernorm(
    s: Sample,
    *,
    training: bool = True,
    type: str = "BFLOAT16",
) -> tuple[Any, ...]:
    x = s.add(4096, 128, 1, 1, order="nhwc", type=type)
    scale, bias = _affine(s, 1, 128, 1, 1)
    y, *stats = s.g.layernorm(
        norm_forward_phase=_phase(s, training), input=x, scale=scale, bias=bias,
        epsilon=s.scalar(),
    )  # fmt: skip
    for each in stats if training else ():
        s.out(each, type="FLOAT")
    return y, scale


@sample(io="BFLOAT16")
def layernorm_training(s: Sample) -> None:
    s.out(_layernorm(s)[0])


@sample(io="BFLOAT16")
def layernorm_inference(s: Sample) -> None:
    s.out(_layernorm(s, training=False)[0])


@sample(io="BFLOAT16", is_dynamic_shape_enabled=True)
def layernorm_training_dynamic_shape(s: Sample) -> None:
    s.out(_layernorm(s)[0])


@sample(io="BFLOAT16", is_dynamic_shape_enabled=True)
def layernorm_inference_dynamic_shape(s: Sample) -> None:
    s.out(_layernorm(s, training=False)[0])


@sample(io="BFLOAT16")
def layernorm_zero_centered_gamma(s: Sample) -> None:
    x = s.add(4096, 128, 1, 1, order="nhwc")
    scale, bias = _affine(s, 1, 128, 1, 1)
    moved = s.virtual(s.g.add(scale, s.scalar()), type="FLOAT")
    y, *stats = s.g.layernorm(
        norm_forward_phase=_phase(s, training=True), input=x, scale=moved, bias=bias,
        epsilon=s.scalar(),
    )  # fmt: skip
    s.out(y)
    for each in stats:
        s.out(each, type="FLOAT")


@sample(io="BFLOAT16")
def layernorm_backward(s: Sample) -> None:
    dy, x = (s.add(4096, 128, 1, 1, order="nhwc") for _ in range(2))
    (scale,) = _affine(s, 1, 128, 1, 1, count=1)
    mean, inv_variance = _affine(s, 4096, 1, 1, 1)
    dx, *gradients = s.g.layernorm_backward(
        grad=dy, input=x, scale=scale, mean=mean, inv_variance=inv_variance
    )
    s.out(dx)
    for each in gradients:
        s.out(each, type="FLOAT")


@sample(io="FLOAT")
def layernorm_clamped_relu_bitmask(s: Sample) -> None:
    y, _ = _layernorm(s, type="FLOAT")
    clipped = s.out(s.g.relu(y, lower_clip=-0.1, upper_clip=0.1))
    above = s.virtual(s.g.cmp_gt(clipped, s.scalar()), type="BOOLEAN")
    below = s.virtual(s.g.cmp_lt(clipped, s.scalar()), type="BOOLEAN")
    mask = s.g.logical_and(above, below, compute_data_type=s.type("BOOLEAN"))
    s.out(mask, type="BOOLEAN")


@sample(io="FLOAT")
def clamped_drelu_bitmask_layernorm_backward(s: Sample) -> None:
    dy, x = (s.add(4096, 128, 1, 1, order="nhwc") for _ in range(2))
    mask = s.add(4096, 128, 1, 1, order="nhwc", type="BOOLEAN")
    (scale,) = _affine(s, 1, 128, 1, 1, count=1)
    mean, inv_variance = _affine(s, 4096, 1, 1, 1)
    dx, *gradients = s.g.layernorm_backward(
        grad=s.g.mul(dy, mask), input=x, scale=scale, mean=mean, inv_variance=inv_variance
    )
    s.out(dx)
    for each in gradients:
        s.out(each, type="FLOAT")


@sample()
def layernorm_mxfp8(s: Sample) -> None:
    x = s.add(4, 1024, 128, 1, stride=(131072, 128, 1, 128))
    scale, bias = (s.add(1, 1, 128, 1, type="FLOAT", stride=(128, 128, 1, 128)) for _ in range(2))
    y, *stats = s.g.layernorm(
        norm_forward_phase=_phase(s, training=True), input=x, scale=scale, bias=bias,
        epsilon=s.scalar(),
    )  # fmt: skip
    for each in stats:
        s.out(each, type="FLOAT")
    flat = s.virtual(s.g.reshape(y), 4096, 128)
    for axis in (1, 0):
        narrow, blocks = s.g.block_scale_quantize(flat, block_size=32, axis=axis, transpose=False)
        s.out(narrow, type="FP8_E5M2")
        s.out(blocks, type="FP8_E8M0")


@sample()
def layernorm_inference_mxfp8(s: Sample) -> None:
    y, _ = _layernorm(s, training=False, type="HALF")
    narrow, blocks = s.g.block_scale_quantize(y, block_size=32, axis=1)
    s.out(narrow, type="FP8_E5M2")
    s.out(blocks, type="FP8_E8M0")


def _rmsnorm(s: Sample, *, training: bool = True) -> Any:
    x = s.add(4096, 128, 1, 1, order="nhwc")
    (scale,) = _affine(s, 1, 128, 1, 1, count=1)
    y, inv_variance = s.g.rmsnorm(
        norm_forward_phase=_phase(s, training), input=x, scale=scale, epsilon=s.scalar()
    )
    if training:
        s.out(inv_variance, type="FLOAT")
    return y


@sample()
def rmsnorm_training(s: Sample) -> None:
    s.out(_rmsnorm(s))


@sample()
def rmsnorm_inference(s: Sample) -> None:
    s.out(_rmsnorm(s, training=False))


@sample()
def rmsnorm_backward(s: Sample) -> None:
    dy, x = (s.add(4096, 128, 1, 1, order="nhwc") for _ in range(2))
    (scale,) = _affine(s, 1, 128, 1, 1, count=1)
    (inv_variance,) = _affine(s, 4096, 1, 1, 1, count=1)
    dx, dscale, _ = s.g.rmsnorm_backward(
        grad=dy, input=x, scale=scale, inv_variance=inv_variance, has_dbias=False
    )
    s.out(dx)
    s.out(dscale, type="FLOAT")


@sample()
def rmsnorm_training_mxfp8(s: Sample) -> None:
    narrow, blocks = s.g.block_scale_quantize(_rmsnorm(s), block_size=32, axis=1)
    s.out(narrow, type="FP8_E5M2")
    s.out(blocks, type="FP8_E8M0")


@sample()
def rmsnorm_inference_nvfp4(s: Sample) -> None:
    y = _rmsnorm(s, training=False)
    narrow, blocks = s.g.block_scale_quantize(y, block_size=16, axis=1)
    s.out(narrow, type="FP4_E2M1")
    s.out(blocks, type="FP8_E4M3")


def _adalayernorm(s: Sample, *, training: bool) -> None:
    x = s.add(4, 1024, 128, type="BFLOAT16")
    scale, bias = (s.add(4, 1, 128, type="FLOAT") for _ in range(2))
    y, *stats = s.g.adalayernorm(
        norm_forward_phase=_phase(s, training), input=x, scale=scale, bias=bias,
        epsilon=s.scalar(3),
    )  # fmt: skip
    s.out(y)
    for each in stats if training else ():
        s.out(each, type="FLOAT")


@sample(io="BFLOAT16", is_dynamic_shape_enabled=True)
def adalayernorm_training_dynamic_shape(s: Sample) -> None:
    _adalayernorm(s, training=True)


@sample(io="BFLOAT16", is_dynamic_shape_enabled=True)
def adalayernorm_inference_dynamic_shape(s: Sample) -> None:
    _adalayernorm(s, training=False)


@sample(io="BFLOAT16")
def adalayernorm_backward(s: Sample) -> None:
    dy, x = (s.add(4, 1024, 128) for _ in range(2))
    scale = s.add(4, 1, 128, type="FLOAT")
    mean, inv_variance = (s.add(4, 1024, 1, type="FLOAT") for _ in range(2))
    dx, *gradients = s.g.adalayernorm_backward(
        grad=dy, input=x, scale=scale, mean=mean, inv_variance=inv_variance
    )
    s.out(dx)
    for each in gradients:
        s.out(each, type="FLOAT")


@sample()
def instancenorm_training(s: Sample) -> None:
    x = s.add(4, 32, 16, 16, order="nhwc")
    scale, bias = _affine(s, 1, 32, 1, 1)
    y, *stats = s.g.instancenorm(
        norm_forward_phase=_phase(s, training=True), input=x, scale=scale, bias=bias,
        epsilon=s.scalar(),
    )  # fmt: skip
    s.out(y)
    for each in stats:
        s.out(each, type="FLOAT")


# Attention.


def _qkv(s: Sample, *, grouped: int = 1) -> tuple[Any, Any, Any]:
    q = s.add(3, 4, 1024, 128, name="q")
    k, v = (s.add(3, 4 // grouped, 1024, 128, name=each) for each in "kv")
    return q, k, v


def _sdpa(
    s: Sample, *, stats: bool = True, dims: Sequence[int] = (3, 4, 1024, 128), **more: Any
) -> None:
    given = more.pop("qkv", None) or _qkv(s)
    o, kept = s.g.sdpa(
        q=given[0], k=given[1], v=given[2], attn_scale=0.123, generate_stats=stats, **more
    )
    s.out(o, *dims)
    if stats:
        s.out(kept, type="FLOAT")


def _top_left(s: Sample) -> dict[str, Any]:
    return {
        "diagonal_alignment": s.cudnn.diagonal_alignment.TOP_LEFT,
        "diagonal_band_right_bound": 0,
    }


@sample(io="BFLOAT16")
def sdpa_forward(s: Sample) -> None:
    _sdpa(s)


@sample(io="BFLOAT16")
def sdpa_forward_causal(s: Sample) -> None:
    _sdpa(s, **_top_left(s))


@sample(io="BFLOAT16")
def sdpa_forward_bottom_right_window(s: Sample) -> None:
    _sdpa(
        s,
        diagonal_alignment=s.cudnn.diagonal_alignment.BOTTOM_RIGHT,
        diagonal_band_right_bound=0,
        diagonal_band_left_bound=128,
    )


@sample(io="BFLOAT16")
def sdpa_forward_grouped_padded(s: Sample) -> None:
    lengths = [s.add(3, 1, 1, 1, type="INT32") for _ in range(2)]
    _sdpa(
        s, qkv=_qkv(s, grouped=2), use_padding_mask=True,
        seq_len_q=lengths[0], seq_len_kv=lengths[1], **_top_left(s),
    )  # fmt: skip


@sample(io="BFLOAT16")
def sdpa_forward_bias(s: Sample) -> None:
    _sdpa(s, bias=s.add(1, 4, 1024, 1024), **_top_left(s))


@sample(io="BFLOAT16")
def sdpa_forward_dropout(s: Sample) -> None:
    seed, offset = (s.add(1, 1, 1, 1, type="INT32") for _ in range(2))
    _sdpa(s, dropout=(0.1, seed, offset), **_top_left(s))


@sample(io="BFLOAT16")
def sdpa_forward_custom_dropout(s: Sample) -> None:
    _sdpa(s, dropout=(s.add(1, 1, 1024, 1024), s.scalar()))


@sample(io="BFLOAT16", is_dynamic_shape_enabled=True)
def sdpa_forward_dynamic_shape(s: Sample) -> None:
    _sdpa(s, **_top_left(s))


@sample(io="HALF")
def sdpa_forward_paged(s: Sample) -> None:
    lengths = [s.add(3, 1, 1, 1, type="INT32") for _ in range(2)]
    q = s.add(3, 4, 1024, 128)
    k, v = (s.add(48, 4, 64, 128) for _ in range(2))
    tables = [s.add(3, 1, 16, 1, type="INT32") for _ in range(2)]
    _sdpa(
        s, stats=False, qkv=(q, k, v), use_padding_mask=True, seq_len_q=lengths[0],
        seq_len_kv=lengths[1], paged_attention_k_table=tables[0],
        paged_attention_v_table=tables[1], paged_attention_max_seq_len_kv=1024,
    )  # fmt: skip


@sample(io="BFLOAT16")
def sdpa_forward_sink(s: Sample) -> None:
    _sdpa(s, sink_token=s.add(1, 4, 1, 1, type="FLOAT"), **_top_left(s))


@sample(io="BFLOAT16")
def sdpa_forward_flexible(s: Sample) -> None:
    def causal(graph: Any, scores: Any) -> Any:
        row, column = (graph.gen_index(input=scores, axis=axis) for axis in (2, 3))
        for each in (row, column):
            s.virtual(each, type="INT32")
        kept = graph.cmp_ge(input=row, comparison=column)
        s.virtual(kept, type="BOOLEAN")
        return graph.binary_select(input0=scores, input1=low, mask=kept)

    low = s.scalar()
    _sdpa(s, score_mod=causal)


def _sdpa_backward(s: Sample, **more: Any) -> None:
    q, k, v = _qkv(s)
    o, do = (s.add(3, 4, 1024, 128) for _ in range(2))
    stats = s.add(3, 4, 1024, 1, type="FLOAT")
    found = s.g.sdpa_backward(q=q, k=k, v=v, o=o, dO=do, stats=stats, attn_scale=0.123, **more)
    for each in found:
        s.out(each, 3, 4, 1024, 128)


@sample(io="BFLOAT16")
def sdpa_backward(s: Sample) -> None:
    _sdpa_backward(s)


@sample(io="BFLOAT16")
def sdpa_backward_causal(s: Sample) -> None:
    _sdpa_backward(s, **_top_left(s))


@sample(io="FP8_E4M3")
def sdpa_fp8_forward(s: Sample) -> None:
    q, k, v = _qkv(s)
    one = [s.add(1, 1, 1, 1, type="FLOAT") for _ in range(6)]
    o, stats, *amax = s.g.sdpa_fp8(
        q=q, k=k, v=v, descale_q=one[0], descale_k=one[1], descale_v=one[2], descale_s=one[3],
        scale_s=one[4], scale_o=one[5], generate_stats=True, attn_scale=0.123,
    )  # fmt: skip
    s.out(o, 3, 4, 1024, 128, type="FP8_E4M3")
    s.out(stats, type="FLOAT")
    for each in amax:
        s.out(each, 1, 1, 1, 1, type="FLOAT")
