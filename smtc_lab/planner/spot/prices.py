"""What an hour costs on spot and on-demand instances: from a dated table, or the user's."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pydantic import Field

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import CatalogError, PlannerError, UnsafeFileError
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.metrics.result import Result
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMNS = ("type", "region", "az", "spot", "on_demand", "date")
"""Columns of a table of spot prices, in USD per hour of one instance."""

_LONGEST_FILE = 32 * MIB
_MOST_USD = 1e6
_SHOWN = 60


UserPrice: TypeAlias = "float | Mapping[str, float] | None"
"""Price that a user gives, in USD of one instance for one hour: of the only type, or by type,
``local`` for this machine. None, or a type that is not there: not given."""


class SpotPrices(Result):
    """What an hour of all instances costs."""

    spot_usd_per_hour: float = Field(ge=0)
    """Of spot instances, in USD per hour, all together."""

    on_demand_usd_per_hour: float = Field(ge=0)
    """Of on-demand instances, in USD per hour, all together."""

    spot_date: str | None = None
    """Day of the spot price (``YYYY-MM-DD``), the oldest of several; None: not told."""

    on_demand_date: str | None = None
    """Day of the on-demand price; None: not told."""

    az: str | None = None
    """Availability zone of the spot price; None: not told."""


class _DatedPrice(NamedTuple):
    type: str
    region: str
    az: str
    spot_usd: float
    on_demand_usd: float | None
    date: str


class PriceSource(NamedTuple):
    """Where the prices are looked up."""

    spot_usd_per_hour: UserPrice = None
    """The user's, of one instance; None: the table's."""

    on_demand_usd_per_hour: UserPrice = None
    """The user's, of one instance; None: the table's, else the catalog's."""

    table: Path | str | None = None
    """A CSV file with ``COLUMNS``; None: there is none."""

    region: str | None = None
    """Of the table; None: any."""

    az: str | None = None
    """Of the table; None: the one whose newest price is least."""

    catalog: Catalog | None = None
    """On-demand prices; None: those that are kept."""


def prices_of(groups: Sequence[tuple[str | None, int]], source: PriceSource) -> SpotPrices:
    """Return what an hour of some instances costs.

    Of spot instances it is never taken as a share of the on-demand price: the discount varies
    fourfold by type and availability zone.

    Args:
        groups: Instance type, None where prices are the user's, and how many.
        source: Where the prices are looked up.

    Raises:
        PlannerError: A price is unknown or not a number, or the table cannot be read.
        CatalogError: An instance type is not known.
    """
    _check(source)
    rows = [] if source.table is None else _read(source.table)
    given = (source.spot_usd_per_hour, source.on_demand_usd_per_hour)
    if len(groups) > 1 and any(isinstance(usd, int | float) for usd in given):
        raise PlannerError(
            f"One price is given for {len(groups)} instance types. Give one for each, by type, "
            "or a table (prices=)."
        )
    spot_usd, on_demand_usd = 0.0, 0.0
    spot_dates, dates, azs = [], [], []
    az = source.az
    for name, count in groups:
        usd, own_usd = (_of_type(each, name) for each in given)
        is_looked_up = usd is None or own_usd is None
        row = _row_of(rows, name, source._replace(az=az)) if rows and is_looked_up else None
        if usd is None and row is not None:
            usd, az = row.spot_usd, row.az  # a job is in one zone
            spot_dates.append(row.date)
            azs.append(row.az)
        if usd is None:
            raise PlannerError(
                f"The spot price of {name or 'the instances'} is not known. Give "
                "spot_usd_per_hour=, or prices=, a CSV file with the columns "
                f"{', '.join(COLUMNS)}."
            )
        spot_usd += count * usd
        usd, date = (own_usd, None) if own_usd is not None else _on_demand(name, row, source)
        on_demand_usd += count * usd
        dates += [] if date is None else [date]
    return SpotPrices(
        spot_usd_per_hour=spot_usd,
        on_demand_usd_per_hour=on_demand_usd,
        spot_date=min(spot_dates, default=None),
        on_demand_date=min(dates, default=None),
        az=azs[0] if azs else None,
    )


def _on_demand(
    name: str | None, row: _DatedPrice | None, source: PriceSource
) -> tuple[float, str | None]:
    """Return the on-demand price of one instance, and its day."""
    if row is not None and row.on_demand_usd is not None:
        return row.on_demand_usd, row.date
    if name is None:
        raise PlannerError(
            "The on-demand price is not known: there is no instance type. Give "
            "on_demand_usd_per_hour=, or instance_type=."
        )
    price = (source.catalog or Catalog.load()).get(name).price
    if price is None:
        raise PlannerError(f"The catalog has no price of {name}. Give on_demand_usd_per_hour=.")
    return price.usd_per_hour, price.date


def _check(source: PriceSource) -> None:
    for name in ("spot_usd_per_hour", "on_demand_usd_per_hour"):
        given = getattr(source, name)
        for usd in given.values() if isinstance(given, Mapping) else [given]:
            if usd is not None and not 0 <= usd <= _MOST_USD:
                raise PlannerError(
                    f"{name}={usd} is not a price in USD of one instance for one hour, 0 to "
                    f"{_MOST_USD:,.0f}. Correct it."
                )


def _of_type(given: UserPrice, name: str | None) -> float | None:
    """Return the price that a user gives of one type, None: this machine."""
    return given.get(name or LOCAL) if isinstance(given, Mapping) else given


def _row_of(rows: Sequence[_DatedPrice], name: str | None, source: PriceSource) -> _DatedPrice:
    """Return the newest price of a type in the zone that is asked for, or the cheapest one."""
    found = [
        row
        for row in rows
        if row.type == name
        and source.region in (None, row.region)
        and source.az in (None, row.az)
    ]
    if not found:
        where = " ".join(filter(None, (source.region, source.az)))
        types = ", ".join(sorted({row.type for row in rows})[:8])
        raise CatalogError(
            f"The table of prices has no row of {str(name)[:_SHOWN]!r}"
            f"{f' in {where[:_SHOWN]}' if where else ''}; it has {types[:200]}. Name one of "
            "its types with instance_type=, and a region and zone that it has."
        )
    newest: dict[str, _DatedPrice] = {}
    for row in found:
        if row.az not in newest or newest[row.az].date < row.date:
            newest[row.az] = row
    return min(newest.values(), key=lambda row: (row.spot_usd, row.az))


def _read(path: Path | str) -> list[_DatedPrice]:
    path = Path(path)
    try:
        real = path.resolve(strict=True)  # a link is the user's own
        text = read_beneath(real.parent, real, most_bytes=_LONGEST_FILE).decode("utf-8-sig")
    except UnsafeFileError as error:
        raise PlannerError(f"The prices {path} are not read: {error}") from error
    except UnicodeDecodeError as error:
        raise PlannerError(f"The prices {path} are no text in UTF-8. Save it so.") from error
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PlannerError(
            f"The prices {path} cannot be read ({reason}). Check the path."
        ) from error
    try:
        rows = list(_rows(text, path))
    except csv.Error as error:
        raise PlannerError(f"The prices {path} are no CSV ({error}). Correct it.") from error
    if not rows:
        raise PlannerError(f"The prices {path} have no row below their header. Add one.")
    return rows


def _rows(text: str, path: Path) -> Iterator[_DatedPrice]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise PlannerError(
            f"The prices {path} have no column {missing[0]!r}. Begin with a line that names "
            f"{','.join(COLUMNS)}."
        )
    for values in reader:
        if any(values[name] is None for name in COLUMNS):
            raise PlannerError(
                f"Line {reader.line_num} of the prices {path} is too short. Complete it."
            )
        where = f"Line {reader.line_num} of the prices {path}"
        on_demand = values["on_demand"].strip()
        yield _DatedPrice(
            type=values["type"].strip(),
            region=values["region"].strip(),
            az=values["az"].strip(),
            spot_usd=_usd(values["spot"], where, "spot"),
            on_demand_usd=_usd(on_demand, where, "on_demand") if on_demand else None,
            date=_date(values["date"].strip(), where),
        )


def _usd(text: str, where: str, name: str) -> float:
    try:
        usd = float(text)
    except ValueError:
        usd = math.nan
    if not 0 <= usd <= _MOST_USD:
        raise PlannerError(
            f"{where} has {name}={text[:_SHOWN]!r}, but a price is a number of USD per hour, "
            f"0 to {_MOST_USD:,.0f}. Correct it."
        )
    return usd


def _date(text: str, where: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise PlannerError(
            f"{where} has date={text[:_SHOWN]!r}, which is not a day of the form YYYY-MM-DD. "
            "Write for example 2026-11-20."
        ) from None
