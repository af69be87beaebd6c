"""What a plan was asked for, so that it can be read and asked again."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, ValidationError, model_validator

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.device_times import DeviceTimes, full_names
from smtc_lab.errors import PlannerError
from smtc_lab.metrics.result import Result
from smtc_lab.metrics.scaling.scaling import Mode
from smtc_lab.planner.interruptions import Interruptions
from smtc_lab.spec.emulation import EmulatedLink

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

BURSTABLE = frozenset({"t3"})
"""Families whose CPUs hold their speed only while credits last; chosen by name only."""


def is_wanted(family: str, families: Collection[str] | None) -> bool:
    """Return whether a plan may use an instance family."""
    return family not in BURSTABLE if families is None else family in families


class PlanSettings(Result):
    """Limits, prices and what the user knows better than the tables."""

    budget_usd_per_hour: float | None = None
    """Most that a cluster may cost in an hour, in USD; None: no limit."""

    budget_usd: float | None = None
    """Most that the whole job may cost, in USD; None: no limit."""

    deadline_s: float | None = None
    """Longest that the whole job may take, in seconds; None: no limit."""

    steps: int | None = None
    """Steps of the job; None: not given."""

    families: tuple[str, ...] | None = None
    """Instance families that may be used (``c5``, ``p4d``); None: all."""

    num_devices: int | None = 1
    """Accelerators of a cluster, all training instances together: a step does the same work on
    every candidate. None: any number."""

    mode: Mode = "weak"
    """``weak``: each device has batches as calibrated; where any number of devices may be used,
    ``steps`` are those of one, and n make an n-th of them. ``strong``: a step keeps the samples
    that were calibrated, and its devices share them alike."""

    max_trainers: int = 1
    """Most training instances of a cluster."""

    max_data_instances: int = 16
    """Most instances of a data group; 0: no data groups."""

    prices: dict[str, tuple[float, str]] = Field(default_factory=dict)
    """Prices of the user, USD per hour and their date, by instance type."""

    relative_cpu_speed: dict[str, float] = Field(default_factory=dict)
    """Speed of one vCPU by instance type or family, where the table's is not wanted."""

    device_s: dict[str, float] = Field(default_factory=dict)
    """Device time of one step in seconds by instance type, family or accelerator, where it is
    another than the calibrated one."""

    only_device_s: bool = False
    """Whether an accelerator that ``device_s`` does not name has no known time, also where an
    emulated device was calibrated, which else stands for any."""

    link: EmulatedLink | None = None
    """Network between trainers, where the catalog's is not wanted; a bandwidth between
    instances that it leaves out is still the catalog's. None: that, and NVLink inside."""

    ends_before: str | None = None
    """The moment that ``deadline_s`` was counted to, ISO 8601; None: none was given."""

    interruptions: Interruptions | None = None
    """How often spot instances are taken away; None: never."""

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        for name in ("budget_usd_per_hour", "budget_usd", "deadline_s"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise PlannerError(
                    f"{name}={value} must be a finite number above 0. Raise it, or drop it."
                )
        for name, least in (("steps", 1), ("num_devices", 1), ("max_trainers", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise PlannerError(f"{name}={value} must be at least {least}. Raise it.")
        if not 0 <= self.max_data_instances <= 1000:
            raise PlannerError(
                f"max_data_instances={self.max_data_instances} is not 0 to 1,000. Change it."
            )
        if self.num_devices is None and self.steps is None and self.mode == "weak":
            raise PlannerError(
                "num_devices=None compares clusters whose steps differ in size, but steps is "
                "not given. Give steps=, the number of optimizer steps that one device needs, "
                "or mode='strong', which keeps the samples of a step."
            )
        for name in ("budget_usd", "deadline_s"):
            if getattr(self, name) is not None and self.steps is None:
                raise PlannerError(
                    f"{name}={getattr(self, name)} is a limit of the whole job, but steps is "
                    "not given. Give steps=, the number of optimizer steps of the job."
                )
        wrong = {
            name: value
            for name, value in self.device_s.items()
            if not (math.isfinite(value) and value > 0)
        }
        if wrong:
            raise PlannerError(
                f"device_s={wrong} must be finite seconds per step above 0. Correct it."
            )
        return self


def seconds_until(moment: dt.datetime) -> float:
    """Return the seconds from now to a moment; without a zone it is this machine's time.

    Raises:
        PlannerError: It is over.
    """
    left_s = (moment.astimezone() - dt.datetime.now().astimezone()).total_seconds()
    if left_s <= 0:
        raise PlannerError(
            f"before={moment.isoformat(timespec='minutes')} is over. Give a moment to come."
        )
    return left_s


def settings_of(
    catalog: Catalog | None,
    prices: str | Mapping[str, float | tuple[float, str]],
    **values: Any,  # noqa: ANN401  pydantic checks the fields
) -> PlanSettings:
    """Return what a plan was asked for.

    Args:
        catalog: The user's own types and prices; None: those that are kept here.
        prices: ``"on-demand"``, or prices of the user, with or without their date.
        values: Fields of ``PlanSettings``; ``device_s`` may be a text, as ``DeviceTimes``
            parses it.

    Raises:
        PlannerError: A value is illegal, or a family is of no type.
        SpecError: A text of device times is none, or names no accelerator.
    """
    if isinstance(times := values.get("device_s"), str):
        values["device_s"] = DeviceTimes.parse(times).by_accelerator(catalog or Catalog.load())
        values["only_device_s"] = True
    elif times:
        values["device_s"] = full_names(times, catalog or Catalog.load())
    try:
        settings = PlanSettings(prices={**_changed(catalog), **_dated(prices)}, **values)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise PlannerError(
            f"{where}={str(detail['input'])[:80]!r} does not fit: {detail['msg']}. Correct it."
        ) from None
    _check_families(settings, catalog or Catalog.load())
    _check_devices(settings, catalog or Catalog.load())
    return settings


def _dated(
    prices: str | Mapping[str, float | tuple[float, str]],
) -> dict[str, tuple[float, str]]:
    if prices == "on-demand":
        return {}
    if isinstance(prices, str):
        raise PlannerError(
            f"prices={prices!r} is neither 'on-demand' nor prices by instance type. Write for "
            "example prices={'ml.p3.2xlarge': 0.428}."
        )
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return {
        name: price if isinstance(price, tuple) else (price, today)
        for name, price in prices.items()
    }


def _changed(catalog: Catalog | None) -> dict[str, tuple[float, str]]:
    """Return the prices of a catalog that are not those that are kept here."""
    if catalog is None:
        return {}
    kept = Catalog.load().instance_types
    return {
        name: (each.price.usd_per_hour, each.price.date)
        for name, each in catalog.instance_types.items()
        if each.price is not None and name in kept and each.price != kept[name].price
    }


def _check_families(settings: PlanSettings, catalog: Catalog) -> None:
    known = sorted({each.family for each in catalog.instance_types.values()})
    unknown = [family for family in settings.families or () if family not in known]
    if unknown:
        raise PlannerError(
            f"families has {unknown[0][:80]!r}, which no instance type has. Choose among "
            f"{', '.join(known)}."
        )


def _check_devices(settings: PlanSettings, catalog: Catalog) -> None:
    types = catalog.instance_types.values()
    accelerators = {each.accelerator for each in types if each.accelerator}
    known = accelerators | {name for each in types for name in (each.name, each.family)}
    unknown = [name for name in settings.device_s if name not in known]
    if unknown:
        raise PlannerError(
            f"device_s has {unknown[0][:80]!r}, which is no accelerator, family or instance "
            f"type. Name a family or a type, or one of {', '.join(sorted(accelerators))}."
        )
