"""Declared times of a step on an accelerator: one for all, or one for each kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from smtc_lab.catalog.roles import training_groups
from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.cluster import Cluster

_REMEDY = "Write seconds of a step, 0.03, or for each accelerator V100=0.03,A100=0.012."


@dataclass(frozen=True, kw_only=True)
class DeviceTimes:
    """Seconds of one step on the real accelerator."""

    of_all: float | None = None
    """On whatever the cluster has; None: each kind has its own."""

    of_each: Mapping[str, float] = field(default_factory=dict)
    """By the accelerator's name, with or without its maker."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the times of ``0.03``, or of ``V100=0.03,A100=0.012``.

        Raises:
            SpecError: The text is neither.
        """
        if "=" not in text:
            return cls(of_all=_seconds(text, text))
        pairs = [part.partition("=") for part in text.split(",")]
        return cls(of_each={name.strip(): _seconds(value, text) for name, _, value in pairs})

    @property
    def slowest_s(self) -> float:
        """The longest of them."""
        return max(self.of_each.values()) if self.of_all is None else self.of_all

    def by_accelerator(self, catalog: Catalog) -> dict[str, float]:
        """Return the time of each accelerator that has one, by its full name.

        Raises:
            SpecError: A name is that of no accelerator.
        """
        there = sorted({str(each.accelerator) for each in catalog.instance_types.values()})
        there.remove("None")
        if self.of_all is not None:
            return dict.fromkeys(there, self.of_all)
        found = {}
        for name, seconds in self.of_each.items():
            meant = [each for each in there if _is_called(each, name)]
            if not meant:
                raise SpecError(
                    f"device_time names {name[:80]!r}, which is no accelerator. Name one of "
                    f"{', '.join(there)}."
                )
            found[meant[0]] = seconds
        return found

    def on_each(self, clusters: Sequence[Cluster], catalog: Catalog) -> list[float | None]:
        """Return the time of each cluster, as ``on`` does.

        Raises:
            CatalogError: An instance type is not in the catalog.
            SpecError: The time of an accelerator is missing, or one is given that no cluster
                has; all reasons at once.
        """
        problems, found = [], []
        if unused := self.unused(clusters, catalog):
            problems.append(
                f"--device-time names {', '.join(unused)}, but no cluster has such an "
                "accelerator. Drop it, or correct its name."
            )
        for cluster in clusters:
            try:
                found.append(self.on(cluster, catalog))
            except SpecError as error:
                problems += error.problems
        if problems:
            raise SpecError(problems)
        return found

    def on(self, cluster: Cluster, catalog: Catalog) -> float | None:
        """Return the time of a cluster; None: it trains on no accelerator.

        Where several kinds train together, the slowest one decides.

        Raises:
            CatalogError: An instance type is not in the catalog.
            SpecError: The time of an accelerator is missing.
        """
        if self.of_all is not None:
            return self.of_all
        trains = {
            name
            for group in training_groups(cluster, catalog)
            if group.instance_type != LOCAL
            if (name := catalog.get(group.instance_type).accelerator) is not None
        }
        return max((self._of(name, cluster) for name in trains), default=None)

    def _of(self, accelerator: str, cluster: Cluster) -> float:
        for name, seconds in self.of_each.items():
            if _is_called(accelerator, name):
                return seconds
        known = ", ".join(self.of_each)
        raise SpecError(
            f"{cluster.label} trains on {accelerator}, but device times are given for {known}. "
            f"Add {accelerator.rsplit(maxsplit=1)[-1]}=SECONDS."
        )

    def unused(self, clusters: Collection[Cluster], catalog: Catalog) -> list[str]:
        """Return the names that no cluster has an accelerator of.

        Raises:
            CatalogError: An instance type is not in the catalog.
        """
        types = {group.instance_type for each in clusters for group in each.instance_groups}
        there = {catalog.get(name).accelerator for name in types - {LOCAL}} - {None}
        return [
            name
            for name in self.of_each
            if not any(_is_called(str(accelerator), name) for accelerator in there)
        ]


def full_names(times: Mapping[str, float], catalog: Catalog) -> dict[str, float]:
    """Return times by name, ``V100`` as ``NVIDIA V100``; other names stay as they are.

    Args:
        times: By accelerator, instance family or instance type.
        catalog: Knows the accelerators.
    """
    there = {each.accelerator for each in catalog.instance_types.values() if each.accelerator}
    return {
        next((each for each in there if _is_called(each, name)), name): seconds
        for name, seconds in times.items()
    }


def _is_called(accelerator: str, name: str) -> bool:
    """Return whether ``V100`` or ``NVIDIA V100`` is meant by a name."""
    full = accelerator.casefold()
    return name.casefold() in {full, full.partition(" ")[2]}


def _seconds(value: str, text: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise SpecError(f"device_time={text[:80]!r} is no time above 0. {_REMEDY}")
    return seconds
