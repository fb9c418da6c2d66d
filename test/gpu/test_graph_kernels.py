"""Hand-written kernels in place of cuDNN's engines, on a GPU: each is tried and compared with
PyTorch in float64.

Cases are stored and read like those of test_kernels: `python test/gpu/test_graph_kernels.py FOLDER`
writes them, CONVOY_GRAPH_KERNEL_CASES names the folder.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest
import test_kernels
import test_recurrent_layers
from test_kernels import gpu  # noqa: F401 (the fixture)

pytestmark = pytest.mark.gpu

DTYPES = ("float16", "bfloat16", "float32")
TOLERANCE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 2e-5}
#: Convolutions round float32 to TF32; products and means are computed in full.
TF32_TOLERANCE = TOLERANCE | {"float32": 5e-3}


def build(name: str):
    """The module and its inputs: a convolution or a product with its epilogue, a mean, the first
    layers of a network, or a recurrent layer."""
    import torch
    import torch.nn.functional as F
    from recurrent_cases import Recurrent
    from torch import nn

    torch.manual_seed(0)

    class More(nn.Module):
        """Repeats some channels after the module, so that its graph does not end with the cast to
        the model's type."""

        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            y = self.module(*inputs)
            return torch.cat([y, y[:, :8]], 1)

    class Residual(nn.Module):
        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.layer(x) + other)

    class Expand(nn.Module):
        """A residual with the channels of the result that needs no additional input."""

        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.layer(x) + torch.cat([x, x, x, x], 1))

    class Scaled(nn.Module):
        def __init__(self, layer: nn.Module, columns: int) -> None:
            super().__init__()
            self.layer, self.scale = layer, nn.Parameter(torch.randn(columns))

        def forward(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return other + self.scale * self.layer(x)

    class Gated(nn.Module):
        """A layer whose result is multiplied by a tensor."""

        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return other * self.layer(x)

    class Attention(nn.Module):
        def __init__(self, **options: float) -> None:
            super().__init__()
            self.options = options

        def forward(self, q, k, v, mask=None) -> torch.Tensor:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)

    class Capped(nn.Module):
        """Attention with a softcap, heads that are shared, and a causal mask or a window, as Gemma 2
        writes it. Scores are several times the softcap."""

        def __init__(self, softcap: float, window: int | None = None) -> None:
            super().__init__()
            self.softcap, self.window = softcap, window

        def forward(self, q, k, v, mask=None) -> torch.Tensor:
            _, heads, rows, depth = q.shape
            k, v = (
                each[:, :, None].expand(-1, -1, heads // each.shape[1], -1, -1).flatten(1, 2)
                for each in (k, v)
            )
            scores = q @ k.mT * (self.softcap * 2 / depth**0.5)
            scores = torch.tanh(scores / self.softcap) * self.softcap
            if self.window is not None:
                seen = torch.ones(rows, rows, dtype=torch.bool).tril().triu(1 - self.window)
                scores = scores + torch.where(seen, 0.0, -torch.inf)
            if mask is not None:
                scores = scores + mask
            return scores.softmax(-1) @ v

    class Last(nn.Module):
        """The last layer of a network, whose result is cast to float32."""

        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x)

    class Tokens(nn.Module):
        """Makes tokens of the pixels of a layer, before an activation."""

        def __init__(self, layer: nn.Module, activation: nn.Module) -> None:
            super().__init__()
            self.layer, self.activation = layer, activation

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.activation(self.layer(x).flatten(2).transpose(1, 2))

    class ChannelsLast(nn.Module):
        """A module whose input is (batch, height, width, channels) in memory."""

        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.module(x.permute(0, 3, 1, 2))

    def stem(channels: int, filters: int, taps: int, relu: nn.Module | None = None) -> nn.Module:
        conv = nn.Conv2d(channels, filters, taps, 2, taps // 2)
        return nn.Sequential(conv, relu or nn.ReLU(), nn.MaxPool2d(3, 2, 1))

    def other_stem(
        channels: int, filters: int, taps: int | tuple[int, int], pad: int, pool_pad: int
    ) -> nn.Module:
        conv, pool = nn.Conv2d(channels, filters, taps, 2, pad), nn.MaxPool2d(3, 2, pool_pad)
        pool.ceil_mode = True
        return nn.Sequential(conv, nn.ReLU(), pool)

    table = {
        "conv_3x3": (nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()), [(1, 64, 14, 14)]),
        "conv_bias": (nn.Conv2d(64, 128, 1), [(2, 64, 9, 9)]),
        "conv_alone": (nn.Conv2d(64, 64, 3, bias=False), [(1, 64, 12, 12)]),
        "conv_relu6": (nn.Sequential(nn.Conv2d(32, 96, 1), nn.ReLU6()), [(3, 32, 7, 7)]),
        "conv_residual": (Residual(nn.Conv2d(64, 256, 1)), [(1, 64, 28, 28), (1, 256, 28, 28)]),
        "conv_strided": (
            nn.Sequential(nn.Conv2d(128, 128, 3, 2, 1), nn.ReLU()),
            [(1, 128, 28, 28)],
        ),
        "conv_dilated": (
            nn.Sequential(nn.Conv2d(64, 64, 3, padding=(2, 4), dilation=(2, 4)), nn.ReLU()),
            [(1, 64, 15, 19)],
        ),
        # Channels that fill neither a step nor a tile, pixels that fill no tile.
        "conv_odd": (
            nn.Sequential(nn.Conv2d(24, 40, (5, 3), padding=(2, 1)), nn.ReLU()),
            [(2, 24, 13, 17)],
        ),
        # Long sums of few tiles, shared by groups of warps and by clusters.
        "conv_long": (
            nn.Sequential(nn.Conv2d(512, 512, 3, padding=1), nn.ReLU()),
            [(1, 512, 7, 7)],
        ),
        "conv_deep": (nn.Sequential(nn.Conv2d(2048, 512, 1), nn.ReLU()), [(1, 2048, 7, 7)]),
        "conv_deep_residual": (
            Residual(nn.Conv2d(1024, 256, 1)),
            [(1, 1024, 14, 14), (1, 256, 14, 14)],
        ),
        # For the tensor cores of sm_90a: more than 2^28 multiply-adds. The widest product, then
        # several iterations of it.
        "wgmma_3x3": (nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()), [(8, 64, 56, 56)]),
        "wgmma_relu6": (
            nn.Sequential(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU6()),
            [(36, 32, 56, 56)],
        ),
        "wgmma_residual": (
            Residual(nn.Conv2d(64, 64, 3, padding=1)),
            [(6, 64, 48, 48), (6, 64, 48, 48)],
        ),
        # Blocks for other numbers of filters.
        "wgmma_filters": (
            nn.Sequential(nn.Conv2d(64, 128, 3, padding=1), nn.ReLU()),
            [(6, 64, 56, 56)],
        ),
        # Rows and columns that no tile divides, with different taps and padding; then no padding.
        "wgmma_odd": (
            nn.Sequential(nn.Conv2d(16, 64, (3, 5), padding=(2, 1), bias=False), nn.ReLU()),
            [(2, 16, 131, 141)],
        ),
        "wgmma_5x5": (nn.Conv2d(32, 64, 5), [(3, 32, 61, 53)]),
        # One tap: filters that fill blocks have their own kernels.
        "wgmma_1x1": (nn.Sequential(nn.Conv2d(64, 256, 1), nn.ReLU()), [(8, 64, 47, 47)]),
        "wgmma_1x1_residual": (Expand(nn.Conv2d(64, 256, 1)), [(7, 64, 49, 49)]),
        "wgmma_1x1_filters": (nn.Conv2d(64, 192, 1), [(10, 64, 47, 47)]),
        # Tiles without a pixel of the image.
        "wgmma_padding": (nn.Conv2d(64, 64, 3, padding=40), [(1, 64, 24, 24)]),
        "dw_3x3": (nn.Conv2d(96, 96, 3, padding=1, groups=96), [(2, 96, 28, 28)]),
        "dw_7x7": (nn.Conv2d(192, 192, 7, padding=3, groups=192), [(8, 192, 28, 28)]),
        "dw_relu": (
            nn.Sequential(nn.Conv2d(64, 64, 5, padding=2, groups=64, bias=False), nn.ReLU()),
            [(1, 64, 14, 14)],
        ),
        "dw_relu6": (
            nn.Sequential(nn.Conv2d(144, 144, 3, 2, 1, groups=144), nn.ReLU6()),
            [(4, 144, 56, 56)],
        ),
        "dw_swish": (
            nn.Sequential(nn.Conv2d(96, 96, 3, padding=1, groups=96), nn.SiLU()),
            [(2, 96, 17, 19)],
        ),
        "dw_tanh": (
            nn.Sequential(nn.Conv2d(96, 96, 3, padding=1, groups=96), nn.GELU(approximate="tanh")),
            [(2, 96, 17, 19)],
        ),
        "dw_leaky": (
            nn.Sequential(nn.Conv2d(96, 96, 3, padding=1, groups=96), nn.LeakyReLU(0.1)),
            [(2, 96, 17, 19)],
        ),
        "dw_hardswish": (
            nn.Sequential(nn.Conv2d(96, 96, 3, 2, 1, groups=96), nn.Hardswish()),
            [(2, 96, 17, 19)],
        ),
        "dw_sigmoid": (
            nn.Sequential(nn.Conv2d(96, 96, 5, padding=2, groups=96, bias=False), nn.Sigmoid()),
            [(2, 96, 17, 19)],
        ),
        "dw_tokens": (
            Tokens(nn.Conv2d(64, 64, 3, padding=1, groups=64), nn.SiLU()),
            [(2, 64, 14, 14)],
        ),
        "gelu_dw": (
            nn.Sequential(nn.Conv2d(96, 96, 7, padding=3, groups=96), nn.GELU()),
            [(2, 96, 28, 28)],
        ),
        # As in a Mix-FFN.
        "gelu_dw_tokens": (
            Tokens(nn.Conv2d(256, 256, 3, padding=1, groups=256), nn.GELU()),
            [(2, 256, 28, 28)],
        ),
        "dw_residual": (
            Residual(nn.Conv2d(32, 32, 3, padding=1, groups=32)),
            [(2, 32, 31, 33), (2, 32, 31, 33)],
        ),
        # Channels that fill one piece, rows that no strip divides, and an uneven window.
        "dw_odd": (
            nn.Conv2d(40, 40, (3, 5), (2, 3), (2, 1), (1, 2), groups=40),
            [(3, 40, 23, 37)],
        ),
        # One strip per row, some columns of which are padding for all blocks; then windows with an
        # even number of rows.
        "dw_narrow": (nn.Conv2d(768, 768, 7, padding=3, groups=768), [(32, 768, 7, 7)]),
        "dw_even": (
            nn.Sequential(nn.Conv2d(96, 96, (4, 7), padding=(2, 3), groups=96), nn.ReLU()),
            [(32, 96, 28, 21)],
        ),
        # Windows without a row or a column of the image; then more columns between pixels.
        "dw_padding": (
            nn.Conv2d(72, 72, (2, 3), padding=(4, 5), dilation=(3, 2), groups=72),
            [(64, 72, 14, 14)],
        ),
        "dw_strided": (nn.Conv2d(96, 96, 7, 2, 3, groups=96), [(32, 96, 57, 55)]),
        # More pixels than the threads of a block.
        "dw_wide": (nn.Conv2d(16, 16, (1, 11), padding=(0, 5), groups=16), [(1, 16, 1, 5000)]),
        # Rows of the window in parts, and planes.
        "dw_long": (
            nn.Sequential(nn.Conv1d(512, 512, 75, padding=37, groups=512), nn.SiLU()),
            [(4, 512, 200)],
        ),
        "dw_dilated": (nn.Conv1d(36, 36, 31, 2, 30, dilation=2, groups=36), [(2, 36, 333)]),
        "dw_large": (nn.Conv2d(64, 64, 31, padding=15, groups=64), [(1, 64, 28, 28)]),
        "dw_video": (
            nn.Sequential(nn.Conv3d(96, 96, 3, (1, 8, 8), 1, groups=96), nn.GELU()),
            [(2, 96, 8, 56, 56)],
        ),
        "grouped_3x3": (
            nn.Sequential(nn.Conv2d(48, 48, 3, padding=1, groups=2), nn.ReLU()),
            [(3, 48, 28, 28)],
        ),
        "grouped_strided": (nn.Conv2d(120, 120, 3, 2, 1, groups=5), [(2, 120, 29, 31)]),
        # Bundles of groups, whose filters have zeros; more filters than channels.
        "grouped_narrow": (
            nn.Sequential(nn.Conv2d(128, 128, 3, padding=1, groups=32), nn.SiLU()),
            [(2, 128, 19, 17)],
        ),
        "grouped_multiplied": (nn.Conv2d(32, 96, 3, groups=32), [(2, 32, 14, 14)]),
        "grouped_twelve": (nn.Conv2d(72, 120, 3, padding=1, groups=6), [(1, 72, 9, 9)]),
        # More filters than a warp computes, and an even number of chunks.
        "grouped_wide": (nn.Conv2d(128, 256, 3, padding=1, groups=4), [(1, 128, 14, 14)]),
        "grouped_odd": (
            nn.Sequential(nn.Conv2d(24, 48, (3, 5), (2, 1), (2, 1), (1, 2), groups=3), nn.ReLU6()),
            [(3, 24, 23, 37)],
        ),
        "grouped_point": (nn.Conv2d(64, 64, 1, groups=4), [(2, 64, 15, 15)]),
        "grouped_residual": (
            Residual(nn.Conv2d(64, 64, 3, padding=1, groups=8, bias=False)),
            [(2, 64, 31, 33), (2, 64, 31, 33)],
        ),
        # An infinite number in one group of a bundle.
        "grouped_infinite": (nn.Conv2d(32, 32, 3, padding=1, groups=16), [(2, 32, 14, 14)]),
        "stem_resnet": (stem(3, 64, 7), [(1, 3, 224, 224)]),
        # Several strips per block, and a shorter last one.
        "stem_batch": (stem(3, 64, 7), [(53, 3, 80, 128)]),
        "stem_narrow": (stem(2, 32, 5), [(3, 2, 64, 96)]),
        "stem_relu6": (stem(4, 32, 3, nn.ReLU6()), [(2, 4, 32, 32)]),
        "stem_wide": (stem(3, 64, 7), [(1, 3, 16, 512)]),
        "stem_point": (stem(3, 64, 1), [(1, 3, 24, 64)]),
        "stem_last": (ChannelsLast(stem(3, 64, 7)), [(2, 224, 224, 3)]),
        "stem_last_batch": (ChannelsLast(stem(3, 64, 7)), [(53, 80, 128, 3)]),
        "stem_last_gray": (ChannelsLast(stem(1, 32, 5)), [(3, 64, 96, 1)]),
        "stem_last_two": (ChannelsLast(stem(2, 64, 3)), [(2, 64, 160, 2)]),
        "stem_last_four": (ChannelsLast(stem(4, 64, 7)), [(2, 32, 224, 4)]),
        # No padding, as in SqueezeNet 1.1; windows of the pooling that reach beyond the convolution,
        # as in GoogLeNet.
        "stem_unpadded": (other_stem(3, 64, 3, 0, 0), [(2, 3, 224, 224)]),
        "stem_ceil": (other_stem(3, 64, 7, 3, 0), [(1, 3, 224, 224)]),
        # Filters that fill no block, or several.
        "stem_few": (other_stem(3, 24, 3, 1, 1), [(2, 3, 64, 96)]),
        "stem_many": (other_stem(3, 96, 7, 0, 0), [(1, 3, 100, 76)]),
        # Sizes that are no multiple of anything, and several rows in a block.
        "stem_odd": (other_stem(3, 40, (5, 3), 1, 1), [(3, 3, 61, 83)]),
        "stem_odd_batch": (other_stem(1, 64, 5, 2, 1), [(45, 1, 67, 66)]),
        "stem_last_odd": (ChannelsLast(other_stem(3, 64, 4, 1, 0)), [(2, 57, 41, 3)]),
        "mean_resnet": (ChannelsLast(nn.AdaptiveAvgPool2d(1)), [(1, 7, 7, 2048)]),
        # Channels that fill no strip, pixels that fill no iteration; then few strips, shared by
        # clusters.
        "mean_odd": (ChannelsLast(nn.AdaptiveAvgPool2d(1)), [(3, 13, 11, 72)]),
        "mean_large": (ChannelsLast(nn.AdaptiveAvgPool2d(1)), [(1, 112, 112, 32)]),
        "mean_batch": (ChannelsLast(nn.AdaptiveAvgPool2d(1)), [(32, 7, 7, 512)]),
        "matmul_resnet": (Last(nn.Linear(2048, 1000)), [(1, 2048)]),
        "matmul_rows": (nn.Sequential(nn.Linear(512, 4096), nn.ReLU()), [(8, 512)]),
        "matmul_residual": (Residual(nn.Linear(4096, 512)), [(3, 4096), (3, 512)]),
        "matmul_relu6": (nn.Sequential(nn.Linear(768, 3072, bias=False), nn.ReLU6()), [(2, 768)]),
        # Columns that fill no strip, terms that fill no iteration of a block.
        "matmul_odd": (nn.Linear(1048, 104), [(5, 1048)]),
        "matmul_small": (nn.Linear(8, 16), [(1, 8)]),
        "gelu_rows": (nn.Sequential(nn.Linear(256, 512), nn.GELU()), [(4, 256)]),
        "matmul_scale": (Scaled(nn.Linear(512, 256), 256), [(2, 512), (2, 256)]),
        "matmul_gate": (Gated(nn.Linear(512, 256)), [(2, 512), (2, 256)]),
        # More terms than a block has threads.
        "matmul_long": (nn.Linear(25088, 256), [(1, 25088)]),
        # Many rows, for the tensor cores of sm_90a: rows, columns and terms that no tile divides,
        # one step, and every epilogue.
        "product_gelu": (nn.Sequential(nn.Linear(768, 1536), nn.GELU()), [(394, 768)]),
        "product_tanh": (
            nn.Sequential(nn.Linear(320, 640), nn.GELU(approximate="tanh")),
            [(1024, 320)],
        ),
        "product_swish": (nn.Sequential(nn.Linear(72, 200), nn.SiLU()), [(77, 72)]),
        "product_relu6": (nn.Sequential(nn.Linear(24, 40, bias=False), nn.ReLU6()), [(50, 24)]),
        "product_residual": (Residual(nn.Linear(1024, 264)), [(3001, 1024), (3001, 264)]),
        "product_scale": (Scaled(nn.Linear(384, 96), 96), [(12544, 384), (12544, 96)]),
        "product_gate": (Gated(nn.Linear(256, 688)), [(1031, 256), (1031, 688)]),
        "product_gate_swish": (
            Gated(nn.Sequential(nn.Linear(320, 1280), nn.SiLU())),
            [(1024, 320), (1024, 1280)],
        ),
        "product_wide": (nn.Linear(96, 4104), [(129, 96)]),
        "attention_long": (Attention(is_causal=True), [(2, 4, 500, 96)] * 3),
        # For the tensor cores of sm_90a: rows and columns that no tile divides, masks of one row and
        # of many, hidden columns, one step, shared heads, rows of other lengths, and a scale that
        # turns the order of scores around.
        "attention_vit": (Attention(), [(2, 3, 197, 64)] * 3),
        "attention_bert": (Attention(), [(2, 4, 384, 64)] * 3 + [(2, 1, 1, 384)]),
        "attention_causal": (Attention(is_causal=True), [(2, 4, 512, 64)] * 3),
        "attention_bias": (Attention(), [(2, 3, 320, 64)] * 3 + [(1, 3, 320, 320)]),
        "attention_bias_odd": (Attention(), [(1, 3, 133, 72)] * 3 + [(1, 3, 133, 133)]),
        "attention_bias_rows": (Attention(), [(2, 2, 130, 32)] * 3 + [(2, 1, 130, 1)]),
        "attention_hidden": (Attention(), [(2, 2, 150, 64)] * 3 + [(2, 1, 1, 150)]),
        "attention_across": (
            Attention(),
            [(2, 4, 200, 40), (2, 4, 77, 40), (2, 4, 77, 40)],
        ),
        "attention_shared": (
            Attention(is_causal=True, enable_gqa=True),
            [(2, 8, 260, 128), (2, 2, 260, 128), (2, 2, 260, 128)],
        ),
        "attention_wide": (Attention(), [(1, 4, 300, 80)] * 3),
        "attention_narrow": (
            Attention(is_causal=True),
            [(1, 4, 290, 24), (1, 4, 290, 24), (1, 4, 290, 104)],
        ),
        # Softcaps and windows: no mask, masks of one row and of many, steps that no row of a warp
        # sees.
        "attention_softcap": (Capped(3.0), [(2, 3, 197, 64)] * 3),
        "attention_softcap_row": (Capped(3.0), [(2, 4, 200, 64)] * 3 + [(2, 1, 1, 200)]),
        "attention_softcap_bias": (Capped(3.0), [(1, 3, 133, 72)] * 3 + [(1, 1, 133, 133)]),
        "attention_softcap_causal": (
            Capped(5.0, 512),
            [(2, 8, 512, 128), (2, 4, 512, 128), (2, 4, 512, 128)],
        ),
        "attention_softcap_window": (
            Capped(5.0, 100),
            [(2, 8, 500, 64), (2, 2, 500, 64), (2, 2, 500, 64)],
        ),
        "attention_windows": (Attention(), [(64, 3, 49, 32)] * 3 + [(1, 3, 49, 49)]),
        "product_alone": (nn.Linear(64, 8, bias=False), [(9, 64)]),
        # Weights in registers alone; in shared memory too; states that fill no group of columns and
        # sequences that fill no block; one block, and several steps of a sum for each warp.
        "recurrent_lstm": (Recurrent(nn.LSTM, 64, 256), [(20, 1, 64)]),
        "recurrent_lstm_wide": (Recurrent(nn.LSTM, 64, 512), [(20, 19, 64)]),
        "recurrent_lstm_odd": (
            Recurrent(nn.LSTM, 24, 104),
            [(17, 3, 24), (1, 3, 104), (1, 3, 104)],
        ),
        "recurrent_lstm_large": (Recurrent(nn.LSTM, 64, 1024), [(5, 2, 64)]),
        "recurrent_gru": (Recurrent(nn.GRU, 64, 512), [(20, 8, 64), (1, 8, 512)]),
        "recurrent_gru_odd": (Recurrent(nn.GRU, 24, 72, bias=False), [(17, 9, 24)]),
        "recurrent_tanh": (Recurrent(nn.RNN, 64, 512), [(20, 11, 64)]),
        "recurrent_relu": (
            Recurrent(nn.RNN, 24, 40, nonlinearity="relu"),
            [(17, 1, 24), (1, 1, 40)],
        ),
        # Depthwise channels of which a thread computes four, two and one; a last block with fewer.
        "dw_four": (nn.Conv2d(116, 116, 3, padding=1, groups=116), [(4, 116, 14, 14)]),
        "dw_two": (
            nn.Sequential(nn.Conv2d(58, 58, 3, 2, 1, groups=58), nn.SiLU()),
            [(2, 58, 28, 28)],
        ),
        "dw_one": (nn.Conv2d(27, 27, 5, padding=2, groups=27), [(2, 27, 13, 13)]),
        "dw_rest": (nn.Conv2d(148, 148, 3, padding=1, groups=148), [(2, 148, 15, 15)]),
        # Groups that are products of their own, with few tiles and with filters that fill none.
        "grouped_deep": (
            nn.Sequential(nn.Conv2d(256, 512, 3, padding=1, groups=2), nn.ReLU()),
            [(1, 256, 14, 14)],
        ),
        "grouped_long": (
            nn.Conv2d(96, 120, (1, 128), padding=(0, 64), groups=2),
            [(2, 96, 1, 49)],
        ),
        # Other activations after convolutions.
        "conv_swish": (nn.Sequential(nn.Conv2d(64, 128, 1), nn.SiLU()), [(2, 64, 19, 17)]),
        "conv_leaky": (
            nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.LeakyReLU(0.1)),
            [(1, 64, 14, 14)],
        ),
        "conv_sigmoid": (nn.Sequential(nn.Conv2d(64, 96, 1), nn.Sigmoid()), [(5, 64, 1, 1)]),
        "gelu_conv": (
            nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.GELU()),
            [(1, 64, 14, 14)],
        ),
        "tanh_conv": (nn.Sequential(nn.Conv2d(64, 72, 3, 2, 1), nn.Tanh()), [(2, 64, 15, 15)]),
        "wgmma_swish": (
            nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.SiLU()),
            [(8, 64, 56, 56)],
        ),
        "wgmma_1x1_swish": (nn.Sequential(nn.Conv2d(64, 256, 1), nn.SiLU()), [(8, 64, 47, 47)]),
        # Convolutions as products by the TMA: filters that no tile divides.
        "product_conv": (nn.Sequential(nn.Conv2d(96, 192, 1), nn.GELU()), [(8, 96, 28, 28)]),
        "product_conv_deep": (
            Residual(nn.Conv2d(728, 200, 1)),
            [(2, 728, 19, 19), (2, 200, 19, 19)],
        ),
        "product_conv_wide": (
            nn.Sequential(nn.Conv2d(64, 520, 1), nn.ReLU6()),
            [(3, 64, 33, 31)],
        ),
        # Over three spatial dims: strides, taps, padding and dilation that differ, more tiles than
        # multiprocessors, and windows with one element in the depth or in height and width.
        "product_conv3d": (
            nn.Sequential(nn.Conv3d(64, 64, 3, padding=1), nn.ReLU()),
            [(2, 64, 4, 14, 14)],
        ),
        "product_conv3d_strided": (
            nn.Sequential(nn.Conv3d(72, 136, (3, 2, 3), (2, 1, 2), (1, 0, 2)), nn.SiLU()),
            [(2, 72, 8, 15, 13)],
        ),
        "product_conv3d_dilated": (
            Residual(nn.Conv3d(64, 96, 3, padding=(2, 1, 3), dilation=(2, 1, 3))),
            [(1, 64, 9, 12, 14), (1, 96, 9, 12, 14)],
        ),
        "product_conv3d_large": (
            nn.Sequential(nn.Conv3d(32, 64, 3, padding=1), nn.ReLU()),
            [(4, 32, 8, 28, 28)],
        ),
        "product_conv3d_flat": (
            nn.Sequential(nn.Conv3d(64, 144, (1, 3, 3), (1, 2, 2), (0, 1, 1)), nn.ReLU()),
            [(2, 64, 4, 14, 14)],
        ),
        "product_conv3d_temporal": (
            nn.Sequential(nn.Conv3d(144, 64, (3, 1, 1), (2, 1, 1), (1, 0, 0)), nn.ReLU()),
            [(2, 144, 8, 7, 7)],
        ),
        # Groups as products of their own: channels that fill steps and tiles, or do not, and more
        # tiles than multiprocessors.
        "product_grouped": (
            nn.Sequential(nn.Conv2d(256, 128, 3, padding=1, groups=2), nn.ReLU()),
            [(4, 256, 14, 14)],
        ),
        "product_grouped_narrow": (
            nn.Sequential(nn.Conv2d(256, 256, 3, 2, 1, groups=8), nn.SiLU()),
            [(8, 256, 15, 13)],
        ),
        "product_grouped_odd": (
            Residual(nn.Conv2d(120, 312, (3, 5), (1, 2), (2, 3), (2, 1), groups=3)),
            [(3, 120, 17, 14), (3, 312, 17, 8)],
        ),
        "product_grouped_large": (
            nn.Sequential(nn.Conv2d(256, 256, 3, padding=1, groups=4), nn.ReLU()),
            [(8, 256, 28, 28)],
        ),
        "product_grouped_infinite": (
            nn.Conv2d(160, 160, 3, padding=1, groups=4),
            [(2, 160, 14, 14)],
        ),
        # Few channels: the first layers of R3D-18, MobileNet and VGG, 7x7, patches, many filters.
        "narrow_r3d": (
            nn.Sequential(nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3)), nn.ReLU()),
            [(8, 3, 16, 112, 112)],
        ),
        "narrow_swish": (
            nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.SiLU()),
            [(32, 3, 224, 224)],
        ),
        "narrow_hardswish": (
            nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.Hardswish()),
            [(8, 3, 224, 224)],
        ),
        "narrow_gelu": (
            nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.GELU()),
            [(8, 3, 225, 223)],
        ),
        "narrow_vgg": (
            nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU()),
            [(32, 3, 224, 224)],
        ),
        "narrow_7x7": (
            nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU()),
            [(32, 3, 256, 256)],
        ),
        "narrow_patches": (nn.Conv2d(3, 96, 4, 4), [(32, 3, 224, 224)]),
        "narrow_filters": (nn.Conv2d(4, 512, 3, padding=1), [(8, 4, 64, 64)]),
        "narrow_residual": (
            Residual(nn.Conv2d(3, 64, 3, padding=1)),
            [(4, 3, 63, 61), (4, 64, 63, 61)],
        ),
        # Channels that fill no four, or several; sizes, strides and padding that differ.
        "narrow_one": (nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU()), [(64, 1, 28, 28)]),
        "narrow_six": (nn.Conv2d(6, 40, (3, 5), (1, 2), (2, 1), (2, 1)), [(3, 6, 33, 47)]),
        "narrow_twelve": (nn.Conv2d(12, 200, 3, 2, 1), [(2, 12, 61, 62)]),
        "narrow_uneven": (
            nn.Conv3d(3, 48, (2, 3, 5), (2, 1, 3), (1, 0, 3), (1, 2, 1)),
            [(2, 3, 7, 19, 33)],
        ),
        # Few filters: the last layers of a decoder, of diffusion, of super-resolution and of a
        # network for masks; filters, strides and dilation that differ.
        "few_decoder": (nn.Conv2d(128, 3, 3, padding=1), [(2, 128, 64, 67)]),
        "few_diffusion": (nn.Conv2d(320, 4, 3, padding=1), [(1, 320, 32, 32)]),
        "few_resolution": (nn.Conv2d(64, 3, 9, padding=4), [(1, 64, 61, 70)]),
        "few_tanh": (nn.Sequential(nn.Conv2d(64, 3, 7, padding=3), nn.Tanh()), [(1, 64, 64, 64)]),
        "few_mask": (nn.Sequential(nn.Conv2d(24, 1, 1), nn.Sigmoid()), [(4, 24, 63, 65)]),
        "few_eight": (nn.Sequential(nn.Conv2d(40, 8, 3), nn.ReLU()), [(3, 40, 35, 33)]),
        "few_twelve": (
            Residual(nn.Conv2d(72, 12, 2, padding=1)),
            [(2, 72, 30, 31), (2, 12, 31, 32)],
        ),
        "few_volume": (nn.Conv3d(32, 3, 1), [(1, 32, 17, 18, 19)]),
        "few_uneven": (
            nn.Conv2d(48, 7, (3, 5), (2, 1), (1, 3), (1, 2)),
            [(2, 48, 63, 41)],
        ),
    }
    module, shapes = table[name]
    inputs = tuple(torch.randn(shape) for shape in shapes)
    if name.endswith("infinite"):
        # The first channel of a group, before which a step of the sum of another one may end.
        inputs[0][0, inputs[0].shape[1] // 2, 5, 5] = torch.inf
    if name == "attention_hidden":
        # The first step of the first sequence, and the end of the second one.
        inputs[3][0, :, :, :120] = -torch.inf
        inputs[3][1, :, :, 70:] = -torch.inf
    return (module if isinstance(module, (Last, Recurrent)) else More(module)).eval(), inputs


CASES = (
    "conv_3x3", "conv_bias", "conv_alone", "conv_relu6", "conv_residual", "conv_strided",
    "conv_dilated", "conv_odd", "conv_long",
    "conv_deep", "conv_deep_residual",
    "wgmma_3x3", "wgmma_residual", "wgmma_relu6", "wgmma_filters", "wgmma_odd", "wgmma_5x5",
    "wgmma_1x1", "wgmma_1x1_residual",
    "wgmma_1x1_filters", "wgmma_padding",
    "dw_3x3", "dw_7x7", "dw_relu", "dw_relu6", "dw_swish", "dw_tanh", "dw_leaky",
    "dw_hardswish", "dw_sigmoid", "dw_tokens", "dw_residual", "dw_odd", "dw_narrow",
    "dw_even", "dw_padding", "dw_strided", "dw_wide", "dw_long", "dw_dilated", "dw_large",
    "dw_video", "gelu_dw", "gelu_dw_tokens",
    "grouped_3x3", "grouped_strided", "grouped_narrow", "grouped_multiplied", "grouped_twelve",
    "grouped_wide", "grouped_odd", "grouped_point", "grouped_residual", "grouped_infinite",
    "stem_resnet", "stem_batch", "stem_narrow", "stem_relu6", "stem_wide", "stem_point",
    "stem_last", "stem_last_batch", "stem_last_gray", "stem_last_two", "stem_last_four",
    "stem_unpadded", "stem_ceil", "stem_few", "stem_many", "stem_odd", "stem_odd_batch",
    "stem_last_odd",
    "mean_resnet", "mean_odd", "mean_large", "mean_batch",
    "matmul_resnet", "matmul_rows", "matmul_residual", "matmul_relu6", "matmul_odd",
    "matmul_small", "gelu_rows", "matmul_scale", "matmul_gate", "matmul_long",
    "attention_long", "attention_vit", "attention_bert", "attention_causal", "attention_bias",
    "attention_bias_odd", "attention_bias_rows", "attention_hidden", "attention_across",
    "attention_shared", "attention_wide", "attention_narrow",
    "attention_softcap", "attention_softcap_row", "attention_softcap_bias",
    "attention_softcap_causal", "attention_softcap_window",
    "attention_windows",
    "product_gelu", "product_tanh", "product_swish", "product_relu6", "product_residual",
    "product_scale", "product_gate", "product_gate_swish", "product_wide", "product_alone",
    "recurrent_lstm", "recurrent_lstm_wide", "recurrent_lstm_odd", "recurrent_lstm_large",
    "recurrent_gru", "recurrent_gru_odd", "recurrent_tanh", "recurrent_relu",
    "dw_four", "dw_two", "dw_one", "dw_rest", "grouped_deep", "grouped_long",
    "conv_swish", "conv_leaky", "conv_sigmoid", "gelu_conv", "tanh_conv",
    "wgmma_swish", "wgmma_1x1_swish", "product_conv", "product_conv_deep", "product_conv_wide",
    "product_conv3d", "product_conv3d_strided", "product_conv3d_dilated",
    "product_conv3d_large", "product_conv3d_flat", "product_conv3d_temporal",
    "product_grouped", "product_grouped_narrow", "product_grouped_odd", "product_grouped_large",
    "product_grouped_infinite",
    "narrow_r3d", "narrow_swish", "narrow_hardswish", "narrow_gelu", "narrow_vgg", "narrow_7x7",
    "narrow_patches", "narrow_filters", "narrow_residual", "narrow_one", "narrow_six",
    "narrow_twelve", "narrow_uneven",
    "few_decoder", "few_diffusion", "few_resolution", "few_tanh", "few_mask", "few_eight",
    "few_twelve", "few_volume", "few_uneven",
)  # fmt: skip
#: cuDNN pools no bfloat16; kernels for GELU, tanh, attention, products of many rows, few channels and
#: few filters have no float32.
OWN_DTYPES = {
    "mean": ("float16", "float32"),
    "gelu": ("float16", "bfloat16"),
    "tanh": ("float16", "bfloat16"),
    "product": ("float16", "bfloat16"),
    "attention": ("float16", "bfloat16"),
    "narrow": ("float16", "bfloat16"),
    "few": ("float16", "bfloat16"),
}
PAIRS = [
    (name, dtype) for name in CASES for dtype in OWN_DTYPES.get(name.partition("_")[0], DTYPES)
]
ANCHORS = {"convolution", "matmul", "avgpool_include_padding"}
#: Their layers have a product of the inputs before them.
RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}


#: Compiles one case, and stores its inputs and expected outputs with it.
write = partial(test_kernels.write, table=None, of=build)
folder = test_kernels.folder_of("CONVOY_GRAPH_KERNEL_CASES")


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_every_kernel_is_correct(name: str, dtype: str, folder: Path) -> None:
    import convoy_runtime

    path = folder / f"{name}.{dtype}.convoy"
    if not path.exists():
        write(name, dtype, folder)
    with convoy_runtime.load(path, tune="quick", plan_cache=False) as program:
        called = [program.manifest.graphs[index] for index in program.manifest.called_graphs]
        anchors = RECURRENT if name.startswith("recurrent") else ANCHORS
        (graph,) = [graph for graph in called if anchors & set(graph.ops)]
        (report,) = [plan for plan in program.plans if plan.graph == graph.name]
        print(
            name,
            dtype,
            *(
                f"{each.name} {each.microseconds:.2f} us"
                for each in report.trials
                if each.microseconds
            ),
            sep=", ",
        )
        tried = {trial.kernel: trial.reason for trial in report.trials if trial.kernel is not None}
        assert tried == dict.fromkeys(kernel.variant for kernel in graph.kernels)
        assert tried, "the case must have kernels"
        assert (
            any(variant.startswith(("wgmma", "tma")) for variant in tried)
            or not name.startswith(("wgmma", "product", "attention"))
            or name == "attention_windows"
        ), "it is one for sm_90a's tensor cores"
    # Without tuning, a small convolution or product runs on its first kernel, with poisoned memory;
    # compared with PyTorch. Tuning has compared all others with it.
    if name.startswith("recurrent"):
        tolerance = test_recurrent_layers.TOLERANCE
    elif name.startswith(("conv", "wgmma", "stem", "grouped", "narrow")):
        tolerance = TF32_TOLERANCE
    else:
        tolerance = TOLERANCE
    test_kernels.run(folder, name, dtype, tolerance)


if __name__ == "__main__":
    test_kernels.write_all(Path(sys.argv[1]), PAIRS, write)
