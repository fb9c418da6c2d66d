# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The models of the zoo, by name. Weights are random from a fixed seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.zoo import networks

__all__ = ["MODELS", "Model", "Row", "narrowed"]

Inputs = tuple[Tensor, ...]


@dataclass(frozen=True)
class Model:
    """A model of the zoo.

    Attributes:
        module: Creates the module, in evaluation mode, in float32.
        inputs: Creates the inputs of a batch; floats are float32.
        batches: The sizes of batches that are measured.
    """

    module: Callable[[], nn.Module]
    inputs: Callable[[int], Inputs]
    batches: tuple[int, ...] = (1, 32)

    def build(self, batch: int) -> tuple[nn.Module, Inputs]:
        """Creates the module and its inputs from seed 0."""
        torch.manual_seed(0)
        module = self.module().eval()
        for parameter in module.parameters():
            # Classifiers of torchvision begin with zeros, whose results could not be compared.
            if not parameter.any():
                nn.init.normal_(parameter, std=0.02)
        return module, self.inputs(batch)


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


#: The memory format of images and volumes, by rank.
_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def narrowed(module: nn.Module, inputs: Inputs, dtype: str) -> tuple[nn.Module, Inputs]:
    """A module and its inputs as all runners of a row get them: in its dtype, channels-last.

    Args:
        module: The module, which is converted in place.
        inputs: Its inputs. Integers keep their dtype.
        dtype: The name of the dtype.
    """
    to = getattr(torch, dtype)
    ranks = {each.dim() for each in module.parameters()}
    module = module.to(to).to(memory_format=_FORMATS[5 if 5 in ranks else 4])
    floats = (each.to(to) if each.is_floating_point() else each for each in inputs)
    return module, tuple(
        each.to(memory_format=_FORMATS[each.dim()]) if each.dim() in _FORMATS else each
        for each in floats
    )


def _image(size: int = 224) -> Callable[[int], Inputs]:
    return lambda batch: (torch.rand(batch, 3, size, size),)


def _vision(name: str, batches: tuple[int, ...] = (1, 32)) -> Model:
    def create() -> nn.Module:
        from torchvision import models

        module: nn.Module = getattr(models, name)(weights=None)
        return module

    return Model(create, _image(), batches)


def _timm(name: str, size: int = 224) -> Model:
    def create() -> nn.Module:
        import timm

        module: nn.Module = timm.create_model(name, pretrained=False)
        return module

    return Model(create, _image(size))


def _video(batch: int) -> Inputs:
    return (torch.rand(batch, 3, 8, 112, 112),)


def _r3d() -> nn.Module:
    from torchvision.models.video import r3d_18

    return r3d_18(weights=None)


class _Last(nn.Module):
    """A model of transformers with positional inputs and a tensor as its result."""

    def __init__(self, model: nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs: Tensor) -> Tensor:
        result: Tensor = self.model(**dict(zip(self.names, inputs, strict=True)))[0]
        return result


def _bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    return _Last(BertModel(BertConfig()), ("input_ids", "attention_mask"))


def _wav2vec2() -> nn.Module:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    return _Last(Wav2Vec2Model(Wav2Vec2Config()), ("input_values",))


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2Model

    return _Last(GPT2Model(GPT2Config(use_cache=False)), ("input_ids",))


def _tokens(length: int, *, masked: bool) -> Callable[[int], Inputs]:
    def inputs(batch: int) -> Inputs:
        ids = torch.randint(0, 30000, (batch, length))
        lengths = torch.randint(length // 2, length + 1, (batch, 1))
        mask = (torch.arange(length) < lengths).long()
        return (ids, mask) if masked else (ids,)

    return inputs


def _diffusion(batch: int) -> Inputs:
    return torch.randn(batch, 4, 64, 64), torch.randn(batch, 77, 768)


#: Name to model, in the order of the table.
MODELS: Mapping[str, Model] = {
    "alexnet": _vision("alexnet"),
    "vgg19_bn": _vision("vgg19_bn"),
    "resnet18": _vision("resnet18"),
    "resnet50": _vision("resnet50"),
    "resnext50_32x4d": _vision("resnext50_32x4d"),
    "densenet201": _vision("densenet201"),
    "squeezenet1_1": _vision("squeezenet1_1"),
    "mobilenet_v2": _vision("mobilenet_v2"),
    "mobilenet_v3_large": _vision("mobilenet_v3_large"),
    "efficientnet_b0": _vision("efficientnet_b0"),
    "regnet_y_1_6gf": _vision("regnet_y_1_6gf"),
    "convnext_tiny": _vision("convnext_tiny"),
    "vit_b_16": _vision("vit_b_16"),
    "swin_t": _vision("swin_t"),
    "bert_base_128": Model(_bert, _tokens(128, masked=True)),
    "bert_base_384": Model(_bert, _tokens(384, masked=True), (1, 8)),
    "gpt2_512": Model(_gpt2, _tokens(512, masked=False), (1, 8)),
    "diffusion": Model(networks.DiffusionBlocks, _diffusion, (1, 8)),
    "decoder": Model(networks.Decoder, lambda batch: (torch.randn(batch, 4, 32, 32),), (1, 8)),
    "unet_bilinear": Model(lambda: networks.UNet(bilinear=True), _image(256), (1, 8)),
    "unet_transposed": Model(lambda: networks.UNet(bilinear=False), _image(256), (1, 8)),
    "yolo_body": Model(networks.YoloBody, _image(640), (1, 8)),
    "r3d_18": Model(_r3d, _video, (1, 8)),
    "wavenet": Model(networks.WaveNet, lambda batch: (torch.randn(batch, 1, 4000),)),
    "lstm": Model(networks.Recurrent, lambda batch: (torch.randn(batch, 128, 256),)),
    # What the models above lack: groups of many channels and long windows, channels that are no
    # multiple of 8, average pools of small windows, and convolutions with other activations.
    "resnest50d": _timm("resnest50d"),
    "wav2vec2": Model(_wav2vec2, lambda batch: (torch.randn(batch, 16000),), (1, 8)),
    "shufflenet_v2_x1_0": _vision("shufflenet_v2_x1_0"),
    "poolformer_s12": _timm("poolformer_s12"),
    "efficientformer_l1": _timm("efficientformer_l1"),
    "tf_efficientnetv2_s": _timm("tf_efficientnetv2_s"),
    "cspdarknet53": _timm("cspdarknet53", 256),
    "xception41": _timm("xception41", 299),
}
