# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The models of the zoo, by name. Weights are random from a fixed seed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from benchmarks.zoo import networks
from benchmarks.zoo.further import FURTHER
from benchmarks.zoo.model import Inputs, Last, Model, image, of_timm, of_torchvision, tokens

__all__ = ["MODELS", "ZOO", "Row"]


@dataclass(frozen=True, order=True)
class Row:
    """One row of the table: a model, a dtype and the size of the batch."""

    name: str
    dtype: str
    batch: int

    @property
    def key(self) -> str:
        """The name of its artifact, without a suffix."""
        return f"{self.name}-{self.dtype}-{self.batch}"

    @classmethod
    def of(cls, path: Path) -> Row:
        """The row of an artifact.

        Raises:
            ValueError: The file has another name.
        """
        found = re.fullmatch(r"([\w-]+)-(float16|bfloat16)-(\d+)", path.stem)
        if found is None or found[1] not in MODELS:
            msg = f"expected MODEL-DTYPE-BATCH.convoy with a model of the zoo, got {path.name}"
            raise ValueError(msg)
        return cls(found[1], found[2], int(found[3]))


def _video(batch: int) -> Inputs:
    return (torch.rand(batch, 3, 8, 112, 112),)


def _r3d() -> nn.Module:
    from torchvision.models.video import r3d_18

    return r3d_18(weights=None)


def _bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    return Last(BertModel(BertConfig()), ("input_ids", "attention_mask"))


def _wav2vec2() -> nn.Module:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    return Last(Wav2Vec2Model(Wav2Vec2Config()), ("input_values",))


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2Model

    return Last(GPT2Model(GPT2Config(use_cache=False)), ("input_ids",))


def _diffusion(batch: int) -> Inputs:
    return torch.randn(batch, 4, 64, 64), torch.randn(batch, 77, 768)


#: Name to model, in the order of the table.
ZOO: Mapping[str, Model] = {
    "alexnet": of_torchvision("alexnet"),
    "vgg19_bn": of_torchvision("vgg19_bn"),
    "resnet18": of_torchvision("resnet18"),
    "resnet50": of_torchvision("resnet50"),
    "resnext50_32x4d": of_torchvision("resnext50_32x4d"),
    "densenet201": of_torchvision("densenet201"),
    "squeezenet1_1": of_torchvision("squeezenet1_1"),
    "mobilenet_v2": of_torchvision("mobilenet_v2"),
    "mobilenet_v3_large": of_torchvision("mobilenet_v3_large"),
    "efficientnet_b0": of_torchvision("efficientnet_b0"),
    "regnet_y_1_6gf": of_torchvision("regnet_y_1_6gf"),
    "convnext_tiny": of_torchvision("convnext_tiny"),
    "vit_b_16": of_torchvision("vit_b_16"),
    "swin_t": of_torchvision("swin_t"),
    "bert_base_128": Model(_bert, tokens(128, masked=True)),
    "bert_base_384": Model(_bert, tokens(384, masked=True), (1, 8)),
    "gpt2_512": Model(_gpt2, tokens(512, masked=False), (1, 8)),
    "diffusion": Model(networks.DiffusionBlocks, _diffusion, (1, 8)),
    "decoder": Model(networks.Decoder, lambda batch: (torch.randn(batch, 4, 32, 32),), (1, 8)),
    "unet_bilinear": Model(lambda: networks.UNet(bilinear=True), image(256), (1, 8)),
    "unet_transposed": Model(lambda: networks.UNet(bilinear=False), image(256), (1, 8)),
    "yolo_body": Model(networks.YoloBody, image(640), (1, 8)),
    "r3d_18": Model(_r3d, _video, (1, 8)),
    "wavenet": Model(networks.WaveNet, lambda batch: (torch.randn(batch, 1, 4000),)),
    "lstm": Model(networks.Recurrent, lambda batch: (torch.randn(batch, 128, 256),)),
    # What the models above lack: groups of many channels and long windows, channels that are no
    # multiple of 8, average pools of small windows, and convolutions with other activations.
    "resnest50d": of_timm("resnest50d"),
    "wav2vec2": Model(_wav2vec2, lambda batch: (torch.randn(batch, 16000),), (1, 8)),
    "shufflenet_v2_x1_0": of_torchvision("shufflenet_v2_x1_0"),
    "poolformer_s12": of_timm("poolformer_s12"),
    "efficientformer_l1": of_timm("efficientformer_l1"),
    "tf_efficientnetv2_s": of_timm("tf_efficientnetv2_s"),
    "cspdarknet53": of_timm("cspdarknet53", 256),
    "xception41": of_timm("xception41", 299),
}
#: All models that can be built and measured.
MODELS: Mapping[str, Model] = {**ZOO, **FURTHER}
