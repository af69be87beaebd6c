"""Prices that were refreshed, in the user's data folder."""

from __future__ import annotations

import json
import os
import threading
import warnings
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from smtc_lab.errors import CatalogError


class KeptPrices(BaseModel):
    """The last price list that was read."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    source: str
    """Where it was read."""

    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    """Date of its publication."""

    usd_per_hour: dict[str, Annotated[float, Field(gt=0)]]
    """On-demand price of one instance in USD per hour, by instance type."""


def kept_prices_path() -> Path:
    """Return where refreshed prices are kept. Nothing is created."""
    import platformdirs  # noqa: PLC0415  only this needs it

    return Path(platformdirs.user_data_dir("smtc_lab")) / "prices.json"


def read_kept_prices() -> KeptPrices | None:
    """Return the prices that were refreshed, or None: there are none, or they are damaged."""
    path = kept_prices_path()
    if not os.path.isdir(path.parent):  # noqa: PTH112  Path.is_dir raises where rights are missing
        return None  # also where there is no home folder at all
    try:
        return KeptPrices.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        warnings.warn(
            f"The refreshed prices {path} cannot be read ({reason}), so the prices that came "
            "with the package are used. Refresh them again with smtc_lab.catalog.refresh().",
            stacklevel=3,
        )
        return None


def write_kept_prices(prices: KeptPrices) -> None:
    """Keep prices, in the place of older ones, whole or not at all.

    Raises:
        CatalogError: The file cannot be written.
    """
    path = kept_prices_path()
    part = path.with_name(f".{path.name}.{threading.get_native_id()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(prices.model_dump(), indent=1), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise CatalogError(
            f"The prices cannot be kept in {path} ({error.strerror}). Make room, or correct "
            "the rights of the folder."
        ) from error
