"""SageMaker training prices out of AWS's public price list.

Source:
    https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonSageMaker/current/<region>/index.json:
    products of the family "ML Instance" whose platoinstancetype, or component, is "Training";
    price = terms.OnDemand[sku].*.priceDimensions.*.pricePerUnit.USD.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import ijson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TRAINING_USAGE = re.compile(r"Train(?:ing)?:(ml\.[a-z0-9-]+\.[a-z0-9]+)$")


@dataclass(frozen=True, slots=True)
class PriceList:
    """Training prices of one region."""

    date: str
    """Date of publication, ``YYYY-MM-DD``."""

    usd_per_hour: Mapping[str, float]
    """On-demand price of one instance in USD per hour, by instance type."""


def read_price_list(source: IO[bytes]) -> PriceList:
    """Return the training prices of an offer file, which may have hundreds of megabytes.

    Raises:
        ValueError: The file is damaged, ends too early, or is of another format.
    """
    date: str | None = None
    types: dict[str, str] = {}
    prices: dict[str, float] = {}
    events = ijson.parse(source)
    try:
        for within, event, value in events:
            if (within, event) == ("publicationDate", "string"):
                date = dt.date.fromisoformat(value[:10]).isoformat()
            elif (within, event) == ("products", "map_key"):
                if (found := _training_type(_built(events))) is not None:
                    types[value] = found
            elif (within, event) == ("terms.OnDemand", "map_key") and value in types:
                prices[types[value]] = _usd_per_hour(types[value], _built(events))
    except ijson.JSONError as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    if date is None:
        raise ValueError("it has no publicationDate")
    return PriceList(date, prices)


def _built(events: Iterator[tuple[str, str, Any]]) -> Any:  # noqa: ANN401  whatever JSON holds
    """Return the value whose events come next."""
    builder, depth = ijson.ObjectBuilder(), 0
    for _, event, value in events:
        builder.event(event, value)
        depth += event.startswith("start_") - event.startswith("end_")
        if depth == 0:
            break
    return builder.value


def _training_type(product: Any) -> str | None:  # noqa: ANN401  whatever JSON holds
    """Return the instance type of a training product, or None: it is another product."""
    if not isinstance(product, dict) or product.get("productFamily") != "ML Instance":
        return None
    attributes = product.get("attributes")
    if not isinstance(attributes, dict):
        raise ValueError(f"product {str(product.get('sku'))[:40]!r} has no attributes")  # noqa: TRY004  damaged, not a wrong type
    component = attributes.get("platoinstancetype", attributes.get("component"))
    usage = _TRAINING_USAGE.search(str(attributes.get("usagetype", "")))
    return usage[1] if component == "Training" and usage is not None else None


def _usd_per_hour(name: str, offers: Any) -> float:  # noqa: ANN401  whatever JSON holds
    try:
        found = [
            float(dimension["pricePerUnit"]["USD"])
            for offer in offers.values()
            for dimension in offer["priceDimensions"].values()
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"the price of {name} has another form than expected") from error
    price = max(found, default=math.nan)
    if not (math.isfinite(price) and price > 0):
        raise ValueError(f"the price of {name} is {price}, which is no price")
    return price
