"""The declared network of an emulation, as a set-up of the model has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.planner.model.all_reduce import GOODPUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
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
    return {
        **_inside(link.inside_gbps, link.inside_latency_s, time_stretch),
        "between_gbps": _carried(between_gbps, time_stretch),
        "between_alpha_s": link.between_latency_s * np.asarray(time_stretch),
    }


def launched_wires(declared: LinkDeclaration | None) -> dict[str, Any]:
    """Return the same of a launch, whose network is in seconds of this machine already."""
    if declared is None:
        return {}
    fields: dict[str, Any] = {}
    if declared.inside is not None:
        fields |= _inside(_gbps(declared.inside), declared.inside.latency_s, 1.0)
    if declared.between is not None:
        fields["between_gbps"] = _carried(_gbps(declared.between), 1.0)
        fields["between_alpha_s"] = declared.between.latency_s
    return fields


def _inside(gbps: float | None, latency_s: float, time_stretch: Numbers) -> dict[str, Any]:
    if gbps is None:
        return {"inside_gbps": math.inf}
    return {
        "inside_gbps": _carried(gbps, time_stretch),
        "inside_alpha_s": latency_s * np.asarray(time_stretch),
    }


def _carried(gbps: Numbers, time_stretch: Numbers) -> NDArray[np.float64]:
    """Return the rated bandwidth that carries what is declared: gradients get all of that."""
    return np.asarray(np.asarray(gbps) / np.asarray(time_stretch) / GOODPUT)


def _gbps(wire: DeclaredWire) -> float:
    return wire.bytes_per_s / _GBIT_BYTES
