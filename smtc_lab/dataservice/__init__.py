"""Batches from data instances, and from the trainer's own CPUs, to trainers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.dataservice.dataloader import DataLoader
    from smtc_lab.dataservice.placement import Placement, ServerAddress, set_default
    from smtc_lab.dataservice.server import DataServer
    from smtc_lab.dataservice.source import LoaderSource, source_of

__all__ = [
    "DataLoader",
    "DataServer",
    "LoaderSource",
    "Placement",
    "ServerAddress",
    "set_default",
    "source_of",
]

_OWNERS = {
    "DataLoader": "dataloader",
    "DataServer": "server",
    "LoaderSource": "source",
    "Placement": "placement",
    "ServerAddress": "placement",
    "set_default": "placement",
    "source_of": "source",
}


def __getattr__(name: str) -> object:
    # Lazily, so that reading a placement does not import torch.
    if name not in _OWNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OWNERS[name]}"), name)
