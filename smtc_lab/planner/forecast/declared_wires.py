"""The declared network of an emulation, as a set-up of the model has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.planner.model.all_reduce import GOODPUT

if TYPE_CHECKING:
    from smtc_lab.instance.link import LinkDeclaration
    from smtc_lab.planner.model.setup import Numbers
    from smtc_lab.spec.emulation import EmulatedLink

_GBIT_BYTES = 1e9 / 8


def declared_wires(
    link: EmulatedLink | None, *, rated_gbps: Numbers, time_stretch: Numbers = 1.0
) -> dict[str, Any]:
    """Return the fields of a ``Setup`` that a declared network gives; empty: none is declared.

    Args:
        link: What is declared.
        rated_gbps: Bandwidth between instances that the catalog has, in Gbit/s, where the
            declaration leaves it out; NaN: unknown.
        time_stretch: How many times slower than declared the scale model runs.
    """
    if link is None:
        return {}
    between_gbps = rated_gbps if link.between_gbps is None else link.between_gbps
    inside, stretch = link.inside_gbps, np.asarray(time_stretch)
    fields = _between(
        np.asarray(between_gbps) * _GBIT_BYTES / stretch, link.between_latency_s * stretch
    )
    if inside is not None:
        fields |= _inside(inside * _GBIT_BYTES / stretch, link.inside_latency_s * stretch)
    return fields


def launched_wires(declared: LinkDeclaration | None) -> dict[str, Any]:
    """Return the same of a launch, whose network is in seconds of this machine already."""
    fields: dict[str, Any] = {}
    if declared is not None and declared.between is not None:
        fields |= _between(declared.between.bytes_per_s, declared.between.latency_s)
    if declared is not None and declared.inside is not None:
        fields |= _inside(declared.inside.bytes_per_s, declared.inside.latency_s)
    return fields


def _between(bytes_per_s: Numbers, latency_s: Numbers) -> dict[str, Any]:
    return {"between_gbps": _carrying(bytes_per_s), "between_alpha_s": latency_s}


def _inside(bytes_per_s: Numbers, latency_s: Numbers) -> dict[str, Any]:
    return {"inside_gbps": _carrying(bytes_per_s), "inside_alpha_s": latency_s}


def _carrying(bytes_per_s: Numbers) -> Numbers:
    """Return the rated bandwidth in Gbit/s that carries so many bytes of gradients."""
    return bytes_per_s / _GBIT_BYTES / GOODPUT
