"""Reads today's prices, and keeps the old ones when the new ones cannot be trusted."""

from __future__ import annotations

import re
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.kept_prices import KeptPrices, write_kept_prices
from smtc_lab.catalog.price_list import read_price_list
from smtc_lab.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.catalog.price_list import PriceList

PRICE_LIST_URL = (
    "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonSageMaker/current/"
    "us-east-1/index.json"
)
"""AWS's public price list of SageMaker in us-east-1; hundreds of megabytes, no credentials."""

_TIMEOUT_S = 60.0
_LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a refresh changed."""

    date: str
    """Date of the new price list, ``YYYY-MM-DD``."""

    source: str
    """Where it was read."""

    num_prices: int
    """Types of the catalog that it has a price of."""

    changed: Mapping[str, tuple[float | None, float]]
    """Old and new USD per hour of the types whose price changed; None: it was unknown."""

    gone: tuple[str, ...]
    """Types that had a list price and are no longer on the list; their last price is kept."""

    new: tuple[str, ...]
    """Types on the list that the catalog does not know; they are left out."""


def refresh(url: str = PRICE_LIST_URL) -> Refresh:
    """Read the public price list and keep its prices for all later sessions.

    ``Catalog.load()`` has them from then on, in this process too. Nothing changes when the
    list cannot be read, is damaged, or has less than half of the prices that are there.

    Args:
        url: Address of an offer file; ``http``, ``https`` or ``file``.

    Raises:
        CatalogError: The prices were not refreshed, and why.
    """
    before = Catalog.load()
    found = _read(url)
    known = {name: usd for name, usd in found.usd_per_hour.items() if name in before.names()}
    listed = [
        each.name
        for each in before.instance_types.values()
        if each.price is not None and each.price.kind == "list"
    ]
    if len(known) < _LEAST_SHARE * len(listed):
        raise CatalogError(
            f"The price list at {url} has {len(known)} of our types, less than half of the "
            f"{len(listed)} that are priced now, so the old prices are kept. Check the address "
            "and its region, or try again later."
        )
    write_kept_prices(KeptPrices(source=url, date=found.date, usd_per_hour=known))
    Catalog.reload()
    return Refresh(
        date=found.date,
        source=url,
        num_prices=len(known),
        changed=_changed(before, known),
        gone=tuple(name for name in listed if name not in known),
        new=tuple(sorted(set(found.usd_per_hour) - set(known))),
    )


def _read(url: str) -> PriceList:
    if not re.match(r"(https?|file)://", url):
        raise CatalogError(
            f"The address {url[:200]!r} is not one of http, https or file, so the old prices "
            "are kept. Give the address of an offer file."
        )
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:  # noqa: S310  checked above
            return read_price_list(answer)
    except OSError as error:
        raise CatalogError(
            f"The price list at {url} cannot be read ({error}), so the old prices are kept. "
            "Check the network and the address."
        ) from error
    except (ValueError, HTTPException) as error:
        raise CatalogError(
            f"The price list at {url} is damaged ({error}), so the old prices are kept. Try "
            "again later."
        ) from error


def _changed(
    before: Catalog, known: Mapping[str, float]
) -> dict[str, tuple[float | None, float]]:
    changed: dict[str, tuple[float | None, float]] = {}
    for name, usd in known.items():
        price = before.get(name).price
        old = None if price is None else price.usd_per_hour
        if old != usd:
            changed[name] = (old, usd)
    return changed
