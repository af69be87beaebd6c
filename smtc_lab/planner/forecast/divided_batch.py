"""What a plan of strong scaling divides: the batch of the job, among its devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.study.scaling.set_ups import divided_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.clusters import Clusters
    from smtc_lab.planner.model.setup import Setup

BATCH = "batch_size"
"""Hyperparameter that is taken to hold the batch, as in a scaling study."""


def asked_by_batch(
    clusters: Clusters,
    sizes: NDArray[np.float64],
    setup_of: Callable[..., Setup],
    ask: Callable[[Setup, NDArray[np.intp]], Iterable[Any]],
) -> list[Any]:
    """Return what a model says of each cluster, which knows one batch size at a time.

    Args:
        clusters: The clusters.
        sizes: Samples of one step of one trainer of each.
        setup_of: Called with clusters and their ``batch_size``; returns their set-ups.
        ask: Called with these, and with the places of their clusters.
    """
    found: list[Any] = [None] * len(sizes)
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size)
        some = clusters if len(places) == len(sizes) else clusters.pick(places)
        said = ask(setup_of(some, batch_size=int(size)), places)
        for place, one in zip(places, said, strict=True):
            found[place] = one
    return found


def said_of_strong(calibration: Calibration, ranks: int, batch_size: int) -> list[str]:
    """Return what a reader must know of a cluster whose devices share the batch of a step."""
    whole = calibration.batch_size
    said = [
        f"The {whole:,} samples of a step are kept: {batch_size:,} on each of {ranks} devices."
    ]
    if calibration.emulated_device_s is not None:
        said.append("An emulated device takes its declared time for a batch of any size.")
    return said


def divided_values(values: Mapping[str, Any], ranks: int) -> dict[str, Any]:
    """Return hyperparameters whose batch is that of one of several devices.

    Raises:
        SpecError: They hold no batch, or one that the devices cannot share alike.
    """
    return {**values, BATCH: divided_batch(values, ranks, BATCH)}
