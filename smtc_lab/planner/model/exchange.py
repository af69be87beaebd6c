"""What ranks of a set-up cost each other: the slowest one, and the exchange of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.planner.model.all_reduce import (
    ASSUMED_ALPHA_S,
    RingLink,
    rated_beta_s,
    ring_s,
    slowest_share,
)
from smtc_lab.planner.model.buckets import (
    ExchangeTimes,
    buckets_of,
    exchange,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.planner.model.inputs import ModelInputs
    from smtc_lab.planner.model.setup import Setup


def slowest_rank(inputs: ModelInputs, setup: Setup) -> NDArray[np.float64]:
    """Return what the slowest rank takes beside one by itself, 1 where that is not known."""
    return slowest_share(inputs.step_quantiles, setup.trainers * setup.devices)


def exchange_of(
    inputs: ModelInputs, setup: Setup, device_s: NDArray[np.float64]
) -> ExchangeTimes:
    """Return what the exchange of gradients takes, and what a step waits for.

    Args:
        inputs: What the calibration tells.
        setup: The set-ups, as columns.
        device_s: Device time of a step without it, in seconds.
    """
    nothing = np.zeros(np.broadcast_shapes(device_s.shape, np.shape(setup.trainers)))
    ranks = np.asarray(setup.trainers * setup.devices)
    if inputs.gradients is None or not np.any(ranks > 1):
        return ExchangeTimes(nothing, nothing)
    link = _slowest_link(inputs, setup)
    return exchange(
        buckets_of(inputs.gradients),
        device_s,
        lambda nbytes: ring_s(nbytes, ranks, link),
    )


def _slowest_link(inputs: ModelInputs, setup: Setup) -> RingLink:
    """Return the slowest link of a ring through all devices of all instances."""
    measured = inputs.link or RingLink(ASSUMED_ALPHA_S, 0.0)
    has_inside, has_between = np.asarray(setup.devices) > 1, np.asarray(setup.trainers) > 1
    inside_s, between_s = (
        np.where(np.isinf(gbps), measured.beta_s, rated_beta_s(gbps))
        for gbps in (setup.inside_gbps, setup.between_gbps)
    )
    alpha_s = np.asarray(measured.alpha_s)
    for has_wire, declared_s in (
        (has_inside, setup.inside_alpha_s),
        (has_between, setup.between_alpha_s),
    ):
        if declared_s is not None:
            is_known = has_wire & ~np.isnan(declared_s)
            alpha_s = np.where(is_known, np.maximum(declared_s, alpha_s), alpha_s)
    beta_s = np.maximum(
        np.where(has_inside, inside_s, 0.0), np.where(has_between, between_s, 0.0)
    )
    return RingLink(alpha_s, beta_s)


def said_of_ranks(inputs: ModelInputs) -> list[str]:
    """Return what of the time that several ranks cost each other is assumed, as sentences."""
    said = []
    if inputs.gradients is not None and inputs.gradients.is_estimated:
        said.append("Which gradients are ready when is assumed, and so what of them is hidden.")
    if inputs.link is None:
        said.append(
            f"The latency of exchanging gradients is assumed ({1e6 * ASSUMED_ALPHA_S:g} µs a "
            "message). Calibrate again to measure it."
        )
    if not inputs.step_quantiles:
        said.append(
            "How far steps of one rank lie apart was not measured, so nothing is added for the "
            "slowest rank. Calibrate again."
        )
    return said
