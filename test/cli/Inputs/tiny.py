"""Small models for the tests of the command line."""

from __future__ import annotations

import torch
from torch import nn


def tiny():
    """A convolution with batch norm and ReLU, a residual, a pooling and a classifier."""
    torch.manual_seed(0)

    class Tiny(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(16)
            self.conv2 = nn.Conv2d(16, 16, 3, padding=1)
            self.fc = nn.Linear(16, 10)

        def forward(self, x):
            y = torch.relu(self.bn1(self.conv1(x)))
            y = torch.relu(self.conv2(y) + y)
            return self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(y, 1), 1))

    model = Tiny().eval()
    model.bn1.running_mean.uniform_(-0.5, 0.5)
    model.bn1.running_var.uniform_(0.5, 1.5)
    return model, (torch.randn(1, 3, 16, 16),)


def rounded():
    """A model whose input, weights and output are bfloat16, which numpy does not have."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).eval().bfloat16(), (
        torch.randn(1, 3, 8, 8).bfloat16(),
    )


def stem():
    """The first layers of a network, which cuDNN does not support and one kernel computes:
    convolution, ReLU, max pooling of an image."""
    torch.manual_seed(0)
    layers = (
        nn.Conv2d(3, 32, 7, stride=2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1),
    )
    return nn.Sequential(*layers).eval(), (torch.randn(1, 3, 32, 32),)


def unsupported():
    """Uses ops without a converter."""

    class Special(nn.Module):
        def forward(self, x):
            return torch.igamma(torch.special.airy_ai(x), x)

    return Special(), (torch.randn(4),)


def keywords():
    """Has keyword inputs, a constant among them, and nested results."""

    class Keywords(nn.Module):
        def forward(self, x, *, mask, scale):
            return {"y": x * mask * scale, "scale": scale}

    return Keywords().eval(), (torch.randn(2, 3),), {"mask": torch.ones(2, 3), "scale": 2.0}


def wrong():
    """Does not return the type that the command line expects."""
    return 3
