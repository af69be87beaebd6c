"""A declared network as one line: ``inside=10Gbit/20us,between=1Gbit/100us``."""

from __future__ import annotations

import re

from smtc_lab.errors import SpecError

CATALOG = "catalog"
"""Bandwidth between instances that is to be the catalog's."""

_GBPS = {"gbit": 1.0, "mbit": 1e3, "kbit": 1e6}
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "\N{MICRO SIGN}s": 1e6}
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_BANDWIDTH = re.compile(rf"{_NUMBER}\s*({'|'.join(_GBPS)})", re.IGNORECASE)
_LATENCY = re.compile(rf"{_NUMBER}\s*({'|'.join(_PER_SECOND)})")
_EXAMPLE = "Write for example inside=10Gbit/20us,between=1Gbit/100us."


def link_values(text: str) -> dict[str, float]:
    """Return the fields of an ``EmulatedLink`` that a line gives.

    Args:
        text: ``inside=`` and ``between=``, parted by a comma: a bandwidth in Gbit, Mbit or
            kbit (of a second), or ``catalog``; behind a slash a latency in us, ms or s.

    Raises:
        SpecError: Something in it is not legal; all of it at once.
    """
    values: dict[str, float] = {}
    problems: list[str] = []
    seen: set[str] = set()
    for part in text.split(","):
        name, equals, wire = (each.strip() for each in part.partition("="))
        if not equals or name not in {"inside", "between"}:
            problems.append(
                f"{part.strip()[:40]!r} names neither the network inside= nor that between="
            )
        elif name in seen:
            problems.append(f"{name}= stands there twice")
        else:
            seen.add(name)
            problems += _read(name, wire, values)
    if problems:
        raise SpecError(
            [f"Emulation.link={text[:80]!r}: {each}. {_EXAMPLE}" for each in problems]
        )
    return values


def link_line(
    *,
    between_gbps: float | None,
    between_latency_s: float,
    inside_gbps: float | None,
    inside_latency_s: float,
) -> str:
    """Return the line that ``link_values`` reads."""
    between = f"between={_gbit(between_gbps)}/{_us(between_latency_s)}"
    if inside_gbps is None:
        return between
    return f"inside={_gbit(inside_gbps)}/{_us(inside_latency_s)},{between}"


def _read(name: str, wire: str, values: dict[str, float]) -> list[str]:
    """Add what a wire says; return what is wrong with it."""
    bandwidth, slash, latency = (each.strip() for each in wire.partition("/"))
    problems = []
    if found := _BANDWIDTH.fullmatch(bandwidth):
        values[f"{name}_gbps"] = float(found[1]) / _GBPS[found[2].lower()]
    elif bandwidth != CATALOG or name == "inside":
        problems.append(f"{name} has {bandwidth[:40]!r} where a bandwidth belongs")
    if slash and (found := _LATENCY.fullmatch(latency)):
        values[f"{name}_latency_s"] = float(found[1]) / _PER_SECOND[found[2]]
    elif slash:
        problems.append(f"{name} has {latency[:40]!r} where a latency belongs")
    return problems


def _gbit(gbps: float | None) -> str:
    return CATALOG if gbps is None else f"{gbps:.12g}Gbit"


def _us(latency_s: float) -> str:
    return f"{latency_s * 1e6:.12g}us"
