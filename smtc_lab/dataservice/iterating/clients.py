"""Makes the client that asks for a loader's batches."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.dataservice.client.client import Client
from smtc_lab.dataservice.client.settings import ClientSettings
from smtc_lab.dataservice.recipe.asking import asker_here
from smtc_lab.dataservice.source import source_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.recipe.packing import Recipe


def client_of(
    loader: Any,  # noqa: ANN401  a dataloader of ours, which imports this
    recipe: Recipe | None,
    num_local_workers: int,
    tell_kept: Callable[[str], None],
) -> Client:
    """Return a client, connected.

    Args:
        loader: Whose batches it asks for.
        recipe: What data servers are sent; None: there are none for it.
        num_local_workers: Data workers of the trainer itself.
        tell_kept: Tells why the trainer itself prepares its batches after all.
    """
    source = source_of(loader)
    if loader.is_auto:
        source = dataclasses.replace(source, num_workers=None)
    return Client(
        ClientSettings(
            recipe=recipe,
            asker=asker_here,
            tell_kept=tell_kept,
            source=source,
            servers=() if recipe is None else loader.servers,
            secret=loader.secret,
            num_local_workers=num_local_workers,
            own_workers=max(1, num_local_workers or loader.num_workers),
            is_auto=loader.is_auto,
            most_local_workers=max(loader.most_local_workers, num_local_workers),
            are_vcpus=loader.are_vcpus and not loader.is_auto,
            keeps_local_workers=loader.persistent_workers,
            credits_per_link=loader.fixed_credits,
            tls=loader.tls,
            allow_pickle=loader.allow_pickle,
            is_pinned=loader.pin_memory and torch.accelerator.is_available(),
            journal=loader.journal,
            record=loader.record,
            notify=loader.notify,
        )
    )
