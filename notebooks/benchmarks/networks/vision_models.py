"""Networks for images, with random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torchvision
from torch import nn

from notebooks.benchmarks.networks.synthetic import images

if TYPE_CHECKING:
    from torch.utils.data import Dataset


def vision_model(
    name: str, *, small: bool, dropout: float
) -> tuple[nn.Module, Dataset[Any], int]:
    """Return a network, its data and a batch size.

    Args:
        name: ``resnet18``, ``resnet50`` or ``vit_tiny``.
        small: Images of 96 pixels rather than 224, and half of ViT's layers.
        dropout: Probability, where the network has dropout.
    """
    if name == "vit_tiny":
        size = 96 if small else 224
        model = _vit_tiny(image_size=size, layers=6 if small else 12, dropout=dropout)
        return model, images(channels=3, size=size, classes=1000), 8
    data = images(channels=3, size=96 if small else 224, classes=1000)
    model = torchvision.models.get_model(name, weights=None)
    return model, data, 4 if name == "resnet18" else 2


def _vit_tiny(*, image_size: int, layers: int, dropout: float) -> nn.Module:
    """Return ViT-Ti/16 (Touvron et al., 2021): 192 wide, three heads."""
    model: nn.Module = torchvision.models.VisionTransformer(
        image_size=image_size,
        patch_size=16,
        num_layers=layers,
        num_heads=3,
        hidden_dim=192,
        mlp_dim=768,
        dropout=dropout,
        attention_dropout=dropout,
    )
    # torchvision starts the head at zero, so that no gradient reaches the network at first.
    nn.init.normal_(model.heads.head.weight, std=0.02)  # type: ignore[union-attr,arg-type]  # by its name in torchvision
    return model
