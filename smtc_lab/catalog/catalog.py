"""All instance types with their prices, by name."""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import difflib
import math
import re
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from smtc_lab.catalog.instance_types import InstanceType, Price
from smtc_lab.catalog.kept_prices import read_kept_prices
from smtc_lab.errors import CatalogError
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.spec.cluster import Cluster

NO_PRICE_HERE = "this machine has no price"
"""What stands for the price of the type ``local``."""

PUBLISHED_2022_PRICES: Mapping[str, tuple[float, str]] = MappingProxyType(
    {"ml.p4d.24xlarge": (37.688, "2022-10-27")}
)
"""Prices of AWS's published comparison that have changed since, for ``Catalog.with_prices``.

The other types of that comparison still cost the same: ml.p3.2xlarge 3.825, ml.c5.18xlarge
3.672, ml.c5.9xlarge 1.836 USD per hour.

Source:
    AWS Machine Learning blog, "Improve price performance of your model training using Amazon
    SageMaker heterogeneous clusters", 2022-10-27.
"""


@dataclasses.dataclass(frozen=True)
class Catalog:
    """Every legal SageMaker training instance type, with on-demand prices in us-east-1."""

    instance_types: Mapping[str, InstanceType]
    """The types by name. Cannot be written to."""

    @classmethod
    def load(cls) -> Catalog:
        """Return the catalog, with refreshed prices where there are some. It is read once."""
        return _kept_catalog()

    @classmethod
    def reload(cls) -> Catalog:
        """Return the catalog as it is kept now, and let ``load`` return it from now on."""
        _kept_catalog.cache_clear()
        return _kept_catalog()

    def names(self) -> tuple[str, ...]:
        """Return the names of all instance types, in the order of the price list."""
        return tuple(self.instance_types)

    def get(self, name: str) -> InstanceType:
        """Return the instance type of that name.

        Raises:
            CatalogError: The catalog has no such type. The message names the nearest ones.
        """
        found = self.instance_types.get(name)
        if found is not None:
            return found
        if name == LOCAL:
            raise CatalogError(
                f"Instance type {name!r} is this machine, which the catalog knows nothing of. "
                "Give an instance type such as 'ml.c5.9xlarge' where its size or price matters."
            )
        nearest = difflib.get_close_matches(name[:64], self.instance_types, n=3, cutoff=0.6)
        remedy = (
            f"Did you mean {', or '.join(nearest)}?"
            if nearest
            else "Write for example 'ml.c5.9xlarge', or 'local' for this machine."
        )
        raise CatalogError(
            f"Instance type {name[:80]!r} is not one of the {len(self.instance_types)} "
            f"SageMaker training types. {remedy}"
        )

    def with_prices(self, prices: Mapping[str, tuple[float, str]]) -> Catalog:
        """Return a catalog in which some prices are the user's.

        Args:
            prices: USD per hour of one instance and the price's date (``YYYY-MM-DD``), by
                instance type. ``PUBLISHED_2022_PRICES`` is one such mapping.

        Raises:
            CatalogError: A type is unknown, a price is not a finite number of at least 0, or
                a date is not a date.
        """
        return self.with_types(
            dataclasses.replace(self.get(name), price=_user_price(name, usd, date))
            for name, (usd, date) in prices.items()
        )

    def with_types(self, types: Iterable[InstanceType]) -> Catalog:
        """Return a catalog in which some types are these, and no others of their names."""
        changed = {each.name: each for each in types}
        return Catalog(MappingProxyType({**self.instance_types, **changed}))

    def usd_per_hour(self, cluster: Cluster) -> float | None:
        """Return the price of a cluster in USD per hour, all instances together.

        Returns:
            None when a price is unknown. Type ``local`` has no price.

        Raises:
            CatalogError: A group has an instance type that is not in the catalog.
        """
        total_usd = 0.0
        for group in cluster.instance_groups:
            price = (
                None if group.instance_type == LOCAL else self.get(group.instance_type).price
            )
            if price is None:
                return None
            total_usd += price.usd_per_hour * group.instance_count
        return total_usd


def parse_price(text: str, today: dt.date) -> tuple[str, float, str]:
    """Return the price that a command line names: type, USD per hour, date.

    Args:
        text: ``TYPE=USD[@DATE]``, for example ``ml.p4d.24xlarge=37.688@2022-10-27``.
        today: The date of a price that is given without one.

    Raises:
        CatalogError: The text does not have this form, or its price or date is illegal.
            Whether the type exists is for ``Catalog.with_prices`` to say.
    """
    match = re.fullmatch(r"([^=@\s]+)=([^=@\s_]+)(?:@([^=@\s]+))?", text.strip())
    if match is None:
        raise CatalogError(
            f"Price {text[:80]!r} is not of the form TYPE=USD[@DATE]. Write for example "
            "'ml.p4d.24xlarge=37.688@2022-10-27'."
        )
    name, usd_text, date = match[1], match[2], match[3] or today.isoformat()
    try:
        usd = float(usd_text)
    except ValueError:
        usd = math.nan
    price = _user_price(name, usd, date, shown=usd_text)
    return name, price.usd_per_hour, price.date


def _user_price(name: str, usd: object, date: str, *, shown: str | None = None) -> Price:
    if (
        not isinstance(usd, int | float)
        or isinstance(usd, bool)
        or not (math.isfinite(usd) and usd >= 0)
    ):
        raise CatalogError(
            f"Price of {name[:80]} is {(shown or repr(usd))[:80]}, but must be a finite number "
            "of USD per hour, at least 0. Give the price of one instance for one hour."
        )
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date):
            raise ValueError(date)  # noqa: TRY301  one message for both ways to be wrong
        dt.date.fromisoformat(date)
    except (TypeError, ValueError):
        raise CatalogError(
            f"Price of {name[:80]} has the date {str(date)[:80]!r}, which is not a day of the "
            "form YYYY-MM-DD. Write for example 2022-10-27."
        ) from None
    return Price(usd_per_hour=float(usd), kind="user", date=date)


@cache
def _kept_catalog() -> Catalog:
    shipped, kept = _shipped_catalog(), read_kept_prices()
    if kept is None:
        return shipped
    rows = {
        name: dataclasses.replace(
            each, price=_refreshed(each.price, kept.usd_per_hour.get(name), kept.date)
        )
        for name, each in shipped.instance_types.items()
    }
    return Catalog(MappingProxyType(rows))


def _refreshed(shipped: Price | None, usd: float | None, date: str) -> Price | None:
    """Return the price of a type of which a newer list says something, or nothing."""
    if usd is not None:
        newer = Price(usd_per_hour=usd, kind="list", date=date)
        return newer if shipped is None or shipped.date <= date else shipped
    if shipped is not None and shipped.kind == "list" and shipped.date <= date:
        return dataclasses.replace(shipped, kind="historical")  # it has left the list
    return shipped


def _shipped_catalog() -> Catalog:
    source = resources.files("smtc_lab.catalog").joinpath("instance_types.csv")
    check = TypeAdapter(InstanceType).validate_python
    lines = source.read_text(encoding="utf-8").splitlines()
    rows = [check(_values(row)) for row in csv.DictReader(lines)]
    return Catalog(MappingProxyType({row.name: row for row in rows}))


def _values(row: dict[str, str]) -> dict[str, object]:
    values: dict[str, object] = {name: text or None for name, text in row.items()}
    price = {
        "usd_per_hour": values["usd_per_hour"],
        "kind": values["price_kind"],
        "date": values["price_date"],
    }
    return {**values, "price": price if row["usd_per_hour"] else None}
