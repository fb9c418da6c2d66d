"""Small models with the layers of well-known networks, as tests of layout propagation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from resnet import resnet18, resnet50
from torch import Tensor, nn

__all__ = ["MODELS", "build"]


def _conv(
    i: int, o: int, k: int = 3, stride: int = 1, groups: int = 1, relu: bool = True
) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(i, o, k, stride, k // 2, groups=groups, bias=False),
        nn.BatchNorm2d(o),
    ]
    return nn.Sequential(*layers, nn.ReLU()) if relu else nn.Sequential(*layers)


class _Residual(nn.Module):
    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


class _SqueezeExcite(nn.Module):
    """Uses linear layers, so that the pooled channels lose their spatial dims and get them back."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(channels, channels // 4)
        self.fc2 = nn.Linear(channels // 4, channels)

    def forward(self, x: Tensor) -> Tensor:
        scale = x.mean((2, 3))
        scale = torch.sigmoid(self.fc2(torch.relu(self.fc1(scale))))
        return x * scale[:, :, None, None]


class _Mixer(nn.Module):
    """Products over the tokens, as in MLP-Mixer and gMLP."""

    def __init__(self, tokens: int, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.mix = nn.Sequential(nn.Linear(tokens, 24), nn.GELU(), nn.Linear(24, tokens))
        self.gate = nn.Linear(tokens, tokens)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x * self.gate(x.transpose(1, 2)).transpose(1, 2)


class _DenseLayer(nn.Module):
    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.conv(torch.relu(self.norm(x)))], 1)


class _Shuffle(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        return x.reshape(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


class _Chunked(nn.Module):
    """Half of the channels go through a branch, as in ShuffleNet v2."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.branch = _conv(channels // 2, channels // 2)
        self.shuffle = _Shuffle()

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, 1)
        return self.shuffle(torch.cat([a, self.branch(b)], 1))


class _Inception(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.a = _conv(channels, 4, 1)
        self.b = nn.Sequential(_conv(channels, 4, 1), _conv(4, 8))
        self.c = nn.Sequential(
            nn.AvgPool2d(3, 1, 1, count_include_pad=False), _conv(channels, 4, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.a(x), self.b(x), self.c(x), nn.functional.max_pool2d(x, 3, 1, 1)], 1)


class _ConvNeXtBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.dw = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.up, self.down = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.dw(x).permute(0, 2, 3, 1))
        return x + self.down(nn.functional.gelu(self.up(y))).permute(0, 3, 1, 2)


class _UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.top, self.bottom = _conv(3, 8), _conv(8, 16, stride=2)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        top = self.top(x)
        return torch.sigmoid(self.head(torch.cat([top, self.up(self.bottom(top))], 1)))


class _ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.position = nn.Parameter(torch.randn(1, 16, 16))
        self.norm = nn.LayerNorm(16)
        self.qkv, self.out, self.head = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, t, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
        return self.head(x.mean(1))


class _RMSNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.norm = nn.Linear(8, 16), nn.RMSNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.fc(x))


def _head(channels: int) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]


def _mobilenet() -> nn.Module:
    block = _Residual(_conv(8, 16, 1), _conv(16, 16, groups=16), _conv(16, 8, 1, relu=False))
    return nn.Sequential(
        _conv(3, 8, stride=2), block, nn.ReLU6(), _SqueezeExcite(8), nn.Hardswish(), *_head(8)
    )


def _vgg() -> nn.Module:
    features = [
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
    ]
    return nn.Sequential(
        *features, nn.Flatten(), nn.Dropout(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10)
    )


def _resnext() -> nn.Module:
    block = _Residual(_conv(8, 16, 1), _conv(16, 16, groups=4), _conv(16, 8, 1, relu=False))
    return nn.Sequential(_conv(3, 8, 7, 2), nn.MaxPool2d(3, 2, 1), block, nn.ReLU(), *_head(8))


def _conv3d() -> nn.Module:
    layers = [
        nn.Conv3d(3, 8, 3),
        nn.BatchNorm3d(8),
        nn.MaxPool3d(2),
        nn.Flatten(),
        nn.Linear(216, 4),
    ]
    return nn.Sequential(*layers)


def _conv_transpose() -> nn.Module:
    grouped = nn.ConvTranspose2d(4, 6, 3, (2, 3), (1, 2), (1, 0), groups=2)
    return nn.Sequential(grouped, nn.BatchNorm2d(6), nn.ConvTranspose2d(6, 4, 2, 1, 1))


_IMAGE = (2, 3, 16, 16)


# name: module, shape of the input, number of transposes in @main after normalization
class _Projections(nn.Module):
    """Attention whose query, key and value are three products, the last two with fewer heads."""

    def __init__(self, width: int, heads: int, key_heads: int, bias: bool) -> None:
        super().__init__()
        self.size = width // heads
        key_width = key_heads * self.size
        self.q = nn.Linear(width, width, bias=bias)
        self.k, self.v = (nn.Linear(width, key_width, bias=bias) for _ in range(2))
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            part(x).unflatten(-1, (-1, self.size)).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])
        return x + self.out(y.transpose(1, 2).flatten(2))


MODELS: dict[str, tuple[Callable[[], nn.Module], Sequence[int], int]] = {
    "resnet18": (lambda: resnet18()[0], (1, 3, 64, 64), 1),
    "resnet50": (lambda: resnet50()[0], (2, 3, 32, 32), 1),
    "mobilenet": (_mobilenet, _IMAGE, 1),
    "vgg": (_vgg, _IMAGE, 1),
    "densenet": (
        lambda: nn.Sequential(
            _conv(3, 8), _DenseLayer(8, 4), _DenseLayer(12, 4), nn.AvgPool2d(2), *_head(16)
        ),
        _IMAGE,
        1,
    ),
    "resnext": (_resnext, _IMAGE, 1),
    "inception": (
        lambda: nn.Sequential(
            _conv(3, 8), _Inception(8), nn.MaxPool2d(3, 2, ceil_mode=True), *_head(24)
        ),
        _IMAGE,
        1,
    ),
    "projections": (
        lambda: nn.Sequential(
            _Projections(64, 4, 4, bias=True), _Projections(64, 4, 2, bias=False)
        ),
        (2, 24, 64),
        8,
    ),
    # The shuffle itself is a transpose.
    "shufflenet": (
        lambda: nn.Sequential(_conv(3, 8), _Chunked(8), _Chunked(8), *_head(8)),
        _IMAGE,
        3,
    ),
    "convnext": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 4, 4), _ConvNeXtBlock(8), _ConvNeXtBlock(8), *_head(8)
        ),
        _IMAGE,
        1,
    ),
    # At both ends: the result is an image.
    "unet": (_UNet, _IMAGE, 2),
    # One for the image, q, k and v each, and the heads.
    "vit": (_ViT, _IMAGE, 5),
    # On a CPU: to the tokens' products, to their residual, and back.
    "mixer": (lambda: _Mixer(10, 32), (2, 10, 32), 3),
    "group_norm": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.ReLU(), *_head(8)),
        _IMAGE,
        1,
    ),
    "conv1d": (
        lambda: nn.Sequential(
            nn.Conv1d(3, 8, 3), nn.BatchNorm1d(8), nn.ReLU(), nn.AvgPool1d(2), nn.Conv1d(8, 4, 3)
        ),
        (2, 3, 16),
        2,
    ),
    "conv3d": (_conv3d, (1, 3, 8, 8, 8), 1),
    "conv_transpose": (_conv_transpose, (2, 4, 5, 6), 2),
    "mlp": (
        lambda: nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4)),
        (3, 8),
        0,
    ),
    "rms_norm": (_RMSNorm, (3, 8), 0),
}


def build(name: str) -> tuple[nn.Module, Tensor]:
    """The model in evaluation mode with random statistics, and an input."""
    make, shape, _ = MODELS[name]
    torch.manual_seed(0)
    module = make().eval()
    for layer in module.modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm) and not name.startswith("resnet"):
            for tensor in (layer.weight.data, layer.running_var):
                tensor.uniform_(0.5, 2)
            for tensor in (layer.bias.data, layer.running_mean):
                tensor.uniform_(-1, 1)
    return module, torch.randn(*shape)
