# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Further models to measure, of many kinds, which are not in the zoo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from benchmarks.zoo import audio, images, points, restoration
from benchmarks.zoo.model import Inputs, Last, Model, image, of_timm, of_torchvision, tokens

__all__ = ["FURTHER"]


def _of_transformers(
    name: str,
    names: tuple[str, ...],
    inputs: Callable[[int], Inputs],
    batch: int,
    config: str | None = None,
    **options: Any,
) -> Model:
    """A model of transformers.

    Args:
        name: The name of its class.
        names: The keywords of its inputs.
        inputs: As in `Model`.
        batch: The size of the batch.
        config: The class of its configuration; by default that of the same name.
        **options: The arguments of the configuration.
    """

    def create() -> nn.Module:
        import transformers

        configuration = config or f"{name.removesuffix('Model')}Config"
        model = getattr(transformers, name)(getattr(transformers, configuration)(**options))
        return Last(model, names)

    return Model(create, inputs, (batch,))


def _whisper() -> nn.Module:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(
        d_model=512, encoder_layers=6, encoder_attention_heads=8, encoder_ffn_dim=2048
    )
    return Last(WhisperEncoder(config), ("input_features",))


class _NextToken(nn.Module):
    """The log probabilities of the next token, by Qwen2 with six layers."""

    def __init__(self, width: int = 1024, words: int = 50257) -> None:
        super().__init__()
        from transformers import Qwen2Config, Qwen2Model

        self.model = Qwen2Model(
            Qwen2Config(
                hidden_size=width, num_hidden_layers=6, num_attention_heads=16,
                num_key_value_heads=2, intermediate_size=2816, vocab_size=words, use_cache=False,
            )
        )  # fmt: skip
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        last = self.model(input_ids=ids).last_hidden_state[:, -1]
        return self.head(last).float().log_softmax(-1)


class _Boxes(nn.Module):
    """RetinaNet of torchvision without the choice of boxes: their classes and corners."""

    def __init__(self) -> None:
        super().__init__()
        from torchvision.models.detection import retinanet_resnet50_fpn

        model = retinanet_resnet50_fpn(weights=None, weights_backbone=None)
        self.backbone, self.head = model.backbone, model.head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = self.head(list(self.backbone(x).values()))
        return torch.cat([found["cls_logits"], found["bbox_regression"]], -1)


class _Out(nn.Module):
    """A segmentation model of torchvision, whose result is the tensor "out"."""

    def __init__(self, name: str) -> None:
        super().__init__()
        from torchvision.models import segmentation

        self.model = getattr(segmentation, name)(weights=None, weights_backbone=None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)["out"]


def _segmentation(name: str) -> Model:
    return Model(lambda: _Out(name), image(512), (1,))


def _random(*sizes: int) -> Callable[[int], Inputs]:
    return lambda batch: (torch.randn(batch, *sizes),)


def _pair(*sizes: int) -> Callable[[int], Inputs]:
    return lambda batch: (torch.randn(batch, *sizes), torch.randn(batch, *sizes))


def _recommendation(batch: int) -> Inputs:
    return torch.randn(batch, 13), torch.randint(0, 10000, (batch, 26, 1))


_MASKED = ("input_ids", "attention_mask")
#: Models of timm to the size of their batch, with images of 224 pixels.
_TIMM = {
    "beit_base_patch16_224": 8, "cait_s24_224": 8, "coatnet_0_rw_224": 8, "convmixer_768_32": 8,
    "convnextv2_tiny": 8, "davit_tiny": 8, "dla60": 8, "dpn68": 8, "edgenext_small": 1,
    "efficientvit_b1": 1, "eva02_small_patch14_224": 8, "fasternet_t2": 8,
    "focalnet_tiny_srf": 8, "gcvit_xxtiny": 8, "ghostnet_100": 1, "gmlp_s16_224": 8,
    "hgnetv2_b2": 8, "hiera_tiny_224": 8, "hrnet_w18": 1, "inception_resnet_v2": 1,
    "levit_256": 1, "mambaout_tiny": 8, "mixer_b16_224": 8, "mixnet_l": 8, "mobileone_s1": 1,
    "mobilevitv2_100": 8, "nextvit_small": 8, "nfnet_f0": 1, "pvt_v2_b2": 8, "regnetx_032": 8,
    "repghostnet_100": 8, "repvit_m1": 1, "res2net50_26w_4s": 1, "rexnet_150": 1,
    "selecsls42b": 8, "sequencer2d_s": 1, "seresnext50_32x4d": 8, "skresnet34": 8,
    "starnet_s3": 1, "swiftformer_s": 1, "tiny_vit_11m_224": 1, "tresnet_m": 8,
    "twins_svt_small": 8, "visformer_small": 8, "volo_d1_224": 8, "xcit_small_12_p16_224": 8,
}  # fmt: skip

#: Name to model.
FURTHER: Mapping[str, Model] = {
    **{name: of_timm(name, batches=(batch,)) for name, batch in _TIMM.items()},
    "crossvit_15_240": of_timm("crossvit_15_240", 240, (8,)),
    "cs3darknet_l": of_timm("cs3darknet_l", 256, (8,)),
    "halonet26t": of_timm("halonet26t", 256, (8,)),
    "inception_v4": of_timm("inception_v4", 299, (1,)),
    "googlenet": of_torchvision("googlenet", batches=(1,), init_weights=False, aux_logits=False),
    "maxvit_t": of_torchvision("maxvit_t", batches=(8,)),
    "swin_v2_t": of_torchvision("swin_v2_t", inputs=image(256), batches=(8,)),
    "deeplabv3_resnet50": _segmentation("deeplabv3_resnet50"),
    "fcn_resnet50": _segmentation("fcn_resnet50"),
    "retinanet": Model(_Boxes, image(512), (1,)),
    "lraspp_mobilenet_v3_large": _segmentation("lraspp_mobilenet_v3_large"),
    "mvit_v2_s": of_torchvision("video.mvit_v2_s", inputs=_random(3, 16, 224, 224), batches=(1,)),
    "r2plus1d_18": of_torchvision(
        "video.r2plus1d_18", inputs=_random(3, 8, 112, 112), batches=(1,)
    ),
    "s3d": of_torchvision("video.s3d", inputs=_random(3, 16, 224, 224), batches=(1,)),
    "roberta": _of_transformers("RobertaModel", _MASKED, tokens(128, masked=True), 1),
    "opt": _of_transformers(
        "OPTModel", _MASKED, tokens(256, masked=True), 2,
        hidden_size=768, num_hidden_layers=6, ffn_dim=3072, num_attention_heads=12,
        word_embed_proj_dim=768, use_cache=False,
    ),
    "bloom": _of_transformers(
        "BloomModel", _MASKED, tokens(256, masked=True), 4,
        hidden_size=768, n_layer=6, n_head=12, vocab_size=50000, use_cache=False,
    ),
    "gpt_neox": _of_transformers(
        "GPTNeoXModel", ("input_ids",), tokens(512, masked=False), 4,
        hidden_size=768, num_hidden_layers=6, num_attention_heads=12, intermediate_size=3072,
        use_cache=False,
    ),
    "next_token": Model(_NextToken, tokens(128, masked=False), (8,)),
    "dpt": _of_transformers(
        "DPTForDepthEstimation", ("pixel_values",), image(384), 1, "DPTConfig", num_hidden_layers=12
    ),
    "swin2sr": _of_transformers(
        "Swin2SRForImageSuperResolution", ("pixel_values",), image(64), 1, "Swin2SRConfig",
        embed_dim=60, depths=[6, 6], num_heads=[6, 6], upscale=2,
    ),
    "mobilevit": _of_transformers("MobileViTModel", ("pixel_values",), image(256), 8),
    "patchtst": _of_transformers(
        "PatchTSTModel", ("past_values",), _random(512, 7), 32,
        num_input_channels=7, context_length=512, patch_length=16, patch_stride=8, d_model=128,
        num_hidden_layers=3, num_attention_heads=16,
    ),
    "modernbert": _of_transformers("ModernBertModel", _MASKED, tokens(512, masked=True), 8),
    "t5_encoder": _of_transformers(
        "T5EncoderModel", _MASKED, tokens(256, masked=True), 8, "T5Config",
        d_model=768, d_ff=3072, num_layers=12, num_heads=12,
    ),
    "deberta_v2": _of_transformers(
        "DebertaV2Model", _MASKED, tokens(128, masked=True), 8,
        hidden_size=768, num_hidden_layers=6, num_attention_heads=12, intermediate_size=3072,
        relative_attention=True, position_buckets=256, pos_att_type=["p2c", "c2p"],
        share_att_key=True, vocab_size=32000,
    ),
    "llama": _of_transformers(
        "LlamaModel", ("input_ids",), tokens(512, masked=False), 4,
        hidden_size=1024, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4,
        intermediate_size=2816, vocab_size=32000, use_cache=False,
    ),
    "hubert": _of_transformers(
        "HubertModel", ("input_values",), _random(32000), 4, num_hidden_layers=6
    ),
    "whisper_encoder": Model(_whisper, _random(80, 3000), (1,)),
    "clip_vision": _of_transformers("CLIPVisionModel", ("pixel_values",), image(), 16),
    "sam_encoder": _of_transformers(
        "SamVisionModel", ("pixel_values",), image(512), 1,
        image_size=512, num_hidden_layers=6, global_attn_indexes=[2, 5],
    ),
    "segformer": _of_transformers("SegformerModel", ("pixel_values",), image(512), 1),
    "transformer": Model(points.EncoderDecoder, _pair(128, 512), (8,)),
    "conformer": Model(audio.Conformer, _random(800, 80), (8,)),
    "deep_speech": Model(audio.DeepSpeech, _random(1, 160, 200), (8,)),
    "hifi_gan": Model(audio.HifiGan, _random(80, 100), (1,)),
    "quartznet": Model(audio.QuartzNet, _random(64, 400), (4,)),
    "dcgan": Model(images.Dcgan, _random(100, 1, 1), (32,)),
    "cyclegan": Model(restoration.CycleGan, image(256), (1,)),
    "nafnet": Model(restoration.NafNet, image(256), (1,)),
    "srgan": Model(restoration.Srgan, image(96), (1,)),
    "edsr": Model(images.Edsr, image(128), (1,)),
    "esrgan": Model(images.Esrgan, image(128), (1,)),
    "modulated_convs": Model(images.ModulatedConvs, _random(512), (4,)),
    "volume_unet": Model(images.VolumeUNet, _random(1, 64, 64, 64), (1,)),
    "dlrm": Model(points.Dlrm, _recommendation, (512,)),
    "nerf": Model(points.Nerf, _pair(3), (4096,)),
    "pointnet": Model(points.PointNet, _random(3, 2048), (8,)),
}  # fmt: skip
