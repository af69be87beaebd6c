"""Batches from data instances, and from the trainer's own CPUs, to trainers.

Our dataloader is torch's with another iterator (decision 7). The sampler stays in the trainer:
the iterator asks a client for batches by their sample indices, the client's ledger says whom it
asks and asks again elsewhere when nobody answers, and a data worker makes the batch and sends
it back as a JSON description and raw bytes, without pickle. Data workers are forked, by the
trainer itself or on another instance: there a data server opens what the trainer sends of its
loader, once for each content, and forks them from that (149, 150). Random transforms are seeded
by the sample's place in the run, and streams are addressed by position (13), so who makes a
batch changes nothing in it. One loop receives, in the trainer's thread while it waits (11); a
trainer's own data workers write large tensors into shared memory (12); TLS needs no key but the
job's secret (14).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.dataservice.batch_types.registry import register_type as register_type
    from smtc_lab.dataservice.dataloader import DataLoader as DataLoader
    from smtc_lab.dataservice.placement import Placement as Placement
    from smtc_lab.dataservice.placement import ServerAddress as ServerAddress
    from smtc_lab.dataservice.placement import set_default as set_default
    from smtc_lab.dataservice.serving.server import DataServer as DataServer
    from smtc_lab.dataservice.source import LoaderSource as LoaderSource
    from smtc_lab.dataservice.source import source_of as source_of

_HOMES = {
    "DataLoader": "smtc_lab.dataservice.dataloader",
    "DataServer": "smtc_lab.dataservice.serving.server",
    "LoaderSource": "smtc_lab.dataservice.source",
    "Placement": "smtc_lab.dataservice.placement",
    "ServerAddress": "smtc_lab.dataservice.placement",
    "register_type": "smtc_lab.dataservice.batch_types.registry",
    "set_default": "smtc_lab.dataservice.placement",
    "source_of": "smtc_lab.dataservice.source",
}

__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    # Lazily, so that reading a placement does not import torch.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
