"""How fast one vCPU of an instance type is, beside one of ml.p3.2xlarge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.catalog.instance_types import InstanceType

REFERENCE_CLOCK_GHZ = 2.7
"""Sustained clock of ml.p3.2xlarge (Broadwell), whose vCPU has speed 1.0."""

GENERATION_FACTOR: Mapping[str, float] = {
    "Haswell": 1.0,
    "Broadwell": 1.0,
    "Skylake": 1.15,
    "Cascade Lake": 1.15,
    "Zen 2": 1.15,
    "Ice Lake": 1.25,
    "Zen 3": 1.25,
    "Sapphire Rapids": 1.35,
    "Emerald Rapids": 1.35,
}
"""Work per clock of one vCPU, Broadwell 1.0. All of these are estimates.

Broadwell to Skylake: 1.15 is assumed. AWS's published PyTorch pair implies 1.30 for its
workload (1.62 in all, of which the clocks explain 1.26), so 1.15 is on the careful side. Zen 2
counts as Skylake. Later generations get half of the gain that their vendor claims, because
claims are for a single thread on chosen programs, while a vCPU is half of a busy core: Ice Lake
+18 % over Skylake, Zen 3 +19 % over Zen 2 (11 % was measured independently), Sapphire Rapids
+19 % over Ice Lake. Emerald Rapids counts as Sapphire Rapids.

Source:
    Intel's claim: https://www.anandtech.com/show/14514, 2019; AMD's claim and the measurement:
    https://www.techspot.com/article/2143-ryzen-5000-ipc-performance/, 2020; Sapphire Rapids:
    Intel Architecture Day 2021, from memory.
"""

FAMILY_GENERATION: Mapping[str, str] = {
    "c4": "Haswell",
    "m4": "Broadwell",
    "p2": "Broadwell",
    "p3": "Broadwell",
    "c5": "Skylake",
    "c5n": "Skylake",
    "m5": "Skylake",
    "p3dn": "Skylake",
    "r5": "Skylake",
    "r5d": "Skylake",
    "t3": "Skylake",
    "g4dn": "Cascade Lake",
    "p4d": "Cascade Lake",
    "p4de": "Cascade Lake",
    "g5": "Zen 2",
    "c6i": "Ice Lake",
    "m6i": "Ice Lake",
    "trn1": "Ice Lake",
    "trn1n": "Ice Lake",
    "g6": "Zen 3",
    "g6e": "Zen 3",
    "p5": "Zen 3",
    "p5e": "Zen 3",
    "c7i": "Sapphire Rapids",
    "m7i": "Sapphire Rapids",
    "p5en": "Sapphire Rapids",
    "r7i": "Sapphire Rapids",
    "trn2": "Sapphire Rapids",
    "g7e": "Emerald Rapids",
    "p6-b200": "Emerald Rapids",
    "p6-b300": "Emerald Rapids",
}
"""CPU generation of each instance family; the older one where AWS mixes two.

Source:
    AWS EC2 instance type pages, from memory, so part of the estimate.
"""


@dataclass(frozen=True, slots=True)
class CpuSpeed:
    """Speed of one vCPU with all vCPUs of its instance busy."""

    value: float
    """1.0 is a vCPU of ml.p3.2xlarge; 2.0 does the same work in half the time."""

    kind: Literal["estimated", "user"]
    """``estimated``: from clock and generation. ``user``: given by the user."""


def relative_cpu_speed(
    instance_type: InstanceType | str, overrides: Mapping[str, float]
) -> CpuSpeed:
    """Return the speed of one vCPU of an instance type, relative to ml.p3.2xlarge.

    The estimate is the sustained clock over 2.7 GHz, times ``GENERATION_FACTOR``. Burstable
    types (``t3``) are taken at full speed, which they hold only while credits last.

    Args:
        instance_type: A type, or its name in the shipped catalog.
        overrides: Speeds that the user gives, by instance type (``ml.c5.9xlarge``) or family
            (``c5``). The type wins over the family, both over the estimate.

    Raises:
        CatalogError: The type is unknown, or so is its clock or generation, and no override
            names it; or the override is not a finite number above 0.
    """
    name = instance_type if isinstance(instance_type, str) else instance_type.name
    family = name.removeprefix("ml.").partition(".")[0]
    for key in (name, family):
        if key in overrides:
            return _user_speed(key, overrides[key])
    if isinstance(instance_type, str):
        instance_type = Catalog.load().get(instance_type)
    clock_ghz = instance_type.sustained_clock_ghz
    generation = FAMILY_GENERATION.get(family)
    if clock_ghz is None or generation is None:
        raise CatalogError(
            f"The CPU speed of {name} is not known (clock {clock_ghz or 'unknown'}, generation "
            f"{generation or 'unknown'}). Give relative_cpu_speed={{{family!r}: ...}}, the "
            "speed of one of its vCPUs with 1.0 for ml.p3.2xlarge."
        )
    value = clock_ghz / REFERENCE_CLOCK_GHZ * GENERATION_FACTOR[generation]
    return CpuSpeed(value, "estimated")


def _user_speed(name: str, value: float) -> CpuSpeed:
    if not (math.isfinite(value) and value > 0):
        raise CatalogError(
            f"relative_cpu_speed of {name} is {value}, but must be a finite number above 0. "
            "Give the speed of one of its vCPUs with 1.0 for ml.p3.2xlarge."
        )
    return CpuSpeed(float(value), "user")
