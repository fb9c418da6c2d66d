"""Small networks modeled on well-known ones: the ops of their blocks, at a size suitable for
tests."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["NETWORKS"]


class MobileNetBlock(nn.Module):
    """MobileNetV3: depthwise separable convolutions, squeeze and excitation, hard-swish."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(inplace=True)
        )
        self.expand = nn.Sequential(nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.depthwise = nn.Sequential(
            nn.Conv2d(16, 16, 5, 1, 2, groups=16, bias=False), nn.BatchNorm2d(16), nn.SiLU()
        )
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(16, 4, 1),
            nn.ReLU(),
            nn.Conv2d(4, 16, 1),
            nn.Hardsigmoid(),
        )
        self.project = nn.Sequential(nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8))
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 5))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.depthwise(self.expand(x))
        x = x + self.project(y * self.squeeze(y))
        return self.head(x.mean([2, 3]))


class DenseNetBlock(nn.Module):
    """DenseNet: concatenation of all previous results, average pooling between stages."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, 4, 3, 1, 1, bias=False))
            for c in (3, 7, 11)
        )
        self.transition = nn.Sequential(
            nn.BatchNorm2d(15), nn.ReLU(), nn.Conv2d(15, 6, 1), nn.AvgPool2d(2, 2)
        )

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for conv in self.convs:
            features.append(conv(torch.cat(features, 1)))
        return F.log_softmax(self.transition(torch.cat(features, 1)).flatten(1), 1)


class ConvNextBlock(nn.Module):
    """ConvNeXt: layer norm and linear layers on channels-last views, layer scale."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, 4)
        self.depthwise = nn.Conv2d(8, 8, 7, padding=3, groups=8)
        self.norm = nn.LayerNorm(8, eps=1e-6)
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.full((8, 1, 1), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.depthwise(x).permute(0, 2, 3, 1)
        y = self.down(F.gelu(self.up(self.norm(y)))).permute(0, 3, 1, 2)
        return x + self.scale * y


class VisionTransformer(nn.Module):
    """ViT: patches, a class token, learned position embeddings, encoder layers of torch.nn."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.positions = nn.Parameter(torch.randn(1, 5, 16))
        layer = nn.TransformerEncoderLayer(
            16, 2, 32, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.encoder(x))[:, 0])


class UNet(nn.Module):
    """U-Net: skip connections, transposed convolution and bilinear upsampling, group norm."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding="same"), nn.GroupNorm(2, 8), nn.LeakyReLU(0.1)
        )
        self.second = nn.Sequential(
            nn.MaxPool2d(2, ceil_mode=True),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.InstanceNorm2d(16),
            nn.ELU(),
        )
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.last = nn.Conv2d(24, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        second = self.second(first)
        wide = F.interpolate(second, scale_factor=2, mode="bilinear", align_corners=False)[:, :8]
        return torch.sigmoid(self.last(torch.cat([first, self.up(second), wide], 1)))


class CausalDecoder(nn.Module):
    """A decoder layer on embedded tokens: RMS norm, rotary embeddings, grouped-query causal
    attention, SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(16)
        self.q, self.kv, self.out = (
            nn.Linear(16, 16, bias=False),
            nn.Linear(16, 16, bias=False),
            nn.Linear(16, 16, bias=False),
        )
        self.gate, self.up, self.down = nn.Linear(16, 24), nn.Linear(16, 24), nn.Linear(24, 16)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        y = self.norm(x)
        q = self._rotate(self.q(y).view(batch, length, 4, 4).transpose(1, 2))
        k, v = self.kv(y).view(batch, length, 2, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, self._rotate(k), v, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, 16))
        return x + self.down(F.silu(self.gate(x)) * self.up(x))

    def _rotate(self, x: Tensor) -> Tensor:
        angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] / 10 ** torch.arange(
            0, 4, 2, dtype=x.dtype
        )
        cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mobilenet": (MobileNetBlock, (2, 3, 9, 9)),
    "densenet": (DenseNetBlock, (1, 3, 6, 6)),
    "convnext": (ConvNextBlock, (1, 3, 8, 8)),
    "vit": (VisionTransformer, (2, 3, 8, 8)),
    "unet": (UNet, (1, 3, 8, 8)),
    "decoder": (CausalDecoder, (2, 5, 16)),
}
