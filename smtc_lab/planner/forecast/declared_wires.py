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
    fields = _between(np.asarray(between_gbps) * _GBIT_BYTES, link.between_latency_s)
    if inside is not None:
        fields |= _inside(inside * _GBIT_BYTES, link.inside_latency_s)
    return fields


def launched_wires(
    declared: LinkDeclaration | None, *, dilation: float = 1.0
) -> dict[str, Any]:
    """Return the same of a launch, whose network is in seconds of this machine.

    Args:
        declared: Its network; None: none is.
        dilation: Time dilation of the launch.
    """
    fields: dict[str, Any] = {}
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
    return bytes_per_s / _GBIT_BYTES / GOODPUT
