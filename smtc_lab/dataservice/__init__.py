"""Batches from data instances, and from the trainer's own CPUs, to trainers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.dataservice.dataloader import DataLoader as DataLoader
    from smtc_lab.dataservice.placement import Placement as Placement
    from smtc_lab.dataservice.placement import ServerAddress as ServerAddress
    from smtc_lab.dataservice.placement import set_default as set_default
    from smtc_lab.dataservice.server import DataServer as DataServer
    from smtc_lab.dataservice.source import LoaderSource as LoaderSource
    from smtc_lab.dataservice.source import source_of as source_of

_HOMES = {
    "DataLoader": "smtc_lab.dataservice.dataloader",
    "DataServer": "smtc_lab.dataservice.server",
    "LoaderSource": "smtc_lab.dataservice.source",
    "Placement": "smtc_lab.dataservice.placement",
    "ServerAddress": "smtc_lab.dataservice.placement",
    "set_default": "smtc_lab.dataservice.placement",
    "source_of": "smtc_lab.dataservice.source",
}

__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    # Lazily, so that reading a placement does not import torch.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
