"""The network of an emulation, as a set-up of the model has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.launchers.emulation.batch_wires import BatchWires
from smtc_lab.launchers.emulation.emulated_link import BYTES_PER_GBIT, declared_link
from smtc_lab.planner.model.all_reduce import GOODPUT
from smtc_lab.spec.emulation import EmulatedLink

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from smtc_lab.planner.model.setup import Numbers
    from smtc_lab.planner.offers import TypeTable


def wires_of(
    link: EmulatedLink | None,
    table: TypeTable,
    rows: tuple[NDArray[np.intp], NDArray[np.intp]],
    *,
    is_emulated: bool,
) -> dict[str, Any]:
    """Return the fields of a ``Setup`` that networks between instances give.

    Args:
        link: What is declared, which counts first.
        table: The instance types.
        rows: Rows of the training and of the data instances' type, shape (K,) each.
        is_emulated: Whether this machine stands for the instances; else its own network is
            there.
    """
    rated_gbps = table.network_gbps[rows[0]]
    declared = declared_wires(link, rated_gbps=rated_gbps)
    if not is_emulated:
        return declared
    cards = (table.card_gbps[each] for each in rows)
    return rated_wires(*cards, rated_gbps=rated_gbps) | declared


def declared_wires(link: EmulatedLink | None, *, rated_gbps: Numbers) -> dict[str, Any]:
    """Return the fields of a ``Setup`` that a declared network gives; empty: none is declared.

    Args:
        link: What is declared.
        rated_gbps: Bandwidth between instances that the catalog has, in Gbit/s, where the
            declaration leaves it out; NaN: unknown.
    """
    if link is None:
        return {}
    between_gbps = rated_gbps if link.between_gbps is None else link.between_gbps
    inside = link.inside_gbps
    fields = _between(np.asarray(between_gbps) * BYTES_PER_GBIT, link.between_latency_s)
    if inside is not None:
        fields |= _inside(inside * BYTES_PER_GBIT, link.inside_latency_s)
    return fields


def rated_wires(
    trainer_gbps: Numbers, data_gbps: Numbers, *, rated_gbps: Numbers
) -> dict[str, Any]:
    """Return the same where nothing is declared, and the catalog's networks are emulated.

    Args:
        trainer_gbps: Bandwidth of one card of a training instance in Gbit/s; NaN: unknown,
            here and below.
        data_gbps: The same of a data instance.
        rated_gbps: Bandwidth between instances that exchange gradients.
    """
    is_known = ~np.isnan(np.asarray(rated_gbps))
    trainer_gbps, data_gbps = (
        np.where(np.isnan(gbps), np.inf, gbps) for gbps in (trainer_gbps, data_gbps)
    )
    return {
        "trainer_gbps": trainer_gbps,
        "data_gbps": data_gbps,
        "between_gbps": np.where(is_known, _carrying(rated_gbps * BYTES_PER_GBIT), np.inf),
        "between_alpha_s": np.where(is_known, EmulatedLink().between_latency_s, np.nan),
    }


def launched_wires(facts: Mapping[str, Any], *, dilation: float = 1.0) -> dict[str, Any]:
    """Return the same of a launch, whose network is in seconds of this machine.

    Args:
        facts: Those of its plan.
        dilation: Time dilation of the launch.
    """
    declared, batches = declared_link(facts), BatchWires.of_facts(facts)
    fields: dict[str, Any] = {}
    if batches is not None:
        for name, rate in (
            ("trainer_gbps", batches.trainer_bytes_per_s),
            ("data_gbps", batches.data_bytes_per_s),
        ):
            fields[name] = np.inf if rate is None else rate * dilation / BYTES_PER_GBIT
    if declared is not None and (wire := declared.between) is not None:
        fields |= _between(wire.bytes_per_s * dilation, wire.latency_s / dilation)
    if declared is not None and (wire := declared.inside) is not None:
        fields |= _inside(wire.bytes_per_s * dilation, wire.latency_s / dilation)
    return fields


def _between(bytes_per_s: Numbers, latency_s: Numbers) -> dict[str, Any]:
    return {"between_gbps": _carrying(bytes_per_s), "between_alpha_s": latency_s}


def _inside(bytes_per_s: Numbers, latency_s: Numbers) -> dict[str, Any]:
    return {"inside_gbps": _carrying(bytes_per_s), "inside_alpha_s": latency_s}


def _carrying(bytes_per_s: Numbers) -> Numbers:
    """Return the rated bandwidth in Gbit/s that carries so many bytes of gradients."""
    return bytes_per_s / BYTES_PER_GBIT / GOODPUT
