"""Prices of spot instances: of a dated table, of the user, never a constant discount."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import CatalogError, PlannerError
from smtc_lab.planner.spot.prices import PriceSource, prices_of

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """type,region,az,spot,on_demand,date
ml.p3.2xlarge,us-east-1,us-east-1a,0.9,3.825,2026-10-01
ml.p3.2xlarge,us-east-1,us-east-1a,1.2,3.825,2026-11-20
ml.p3.2xlarge,us-east-1,us-east-1b,1.1,3.825,2026-11-19
ml.p3.2xlarge,us-west-2,us-west-2c,0.7,,2026-11-20
ml.c5.xlarge,us-east-1,us-east-1a,0.1,0.204,2026-11-20
ml.c5.xlarge,us-east-1,us-east-1b,0.05,0.204,2026-11-20
"""
P3 = "ml.p3.2xlarge"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_the_newest_price_of_the_cheapest_zone_counts(table: Path) -> None:
    found = prices_of([(P3, 2)], PriceSource(table=table, region="us-east-1"))

    assert found.spot_usd_per_hour == pytest.approx(2.2)
    assert found.on_demand_usd_per_hour == pytest.approx(7.65)
    assert (found.az, found.spot_date) == ("us-east-1b", "2026-11-19")
    asked = prices_of([(P3, 1)], PriceSource(table=table, az="us-east-1a"))
    assert asked.spot_usd_per_hour == 1.2


def test_what_the_table_leaves_out_is_the_catalogs(table: Path) -> None:
    found = prices_of([(P3, 1)], PriceSource(table=table))

    price = Catalog.load().get(P3).price
    assert price is not None
    assert found.az == "us-west-2c"
    assert found.on_demand_usd_per_hour == price.usd_per_hour
    assert found.on_demand_date == price.date


def test_all_instances_of_a_job_are_in_one_zone(table: Path) -> None:
    source = PriceSource(table=table, region="us-east-1")

    found = prices_of([(P3, 1), ("ml.c5.xlarge", 2)], source)

    assert found.spot_usd_per_hour == pytest.approx(1.1 + 2 * 0.05)
    with pytest.raises(PlannerError, match=r"One price is given for 2 instance types"):
        prices_of([(P3, 1), ("ml.c5.xlarge", 2)], PriceSource(spot_usd_per_hour=1.0))


def test_the_users_price_wins_over_the_table(table: Path) -> None:
    found = prices_of([(P3, 1)], PriceSource(0.5, table=table, az="us-east-1a"))

    assert (found.spot_usd_per_hour, found.spot_date) == (0.5, None)
    assert found.on_demand_usd_per_hour == 3.825
    own = prices_of([(None, 3)], PriceSource(0.5, 2.0))
    assert (own.spot_usd_per_hour, own.on_demand_usd_per_hour) == (1.5, 6.0)


def test_a_price_that_is_not_known_is_never_guessed(table: Path) -> None:
    with pytest.raises(PlannerError, match=r"spot price of ml\.p3\.2xlarge is not known"):
        prices_of([(P3, 1)], PriceSource())
    with pytest.raises(PlannerError, match=r"on-demand price is not known"):
        prices_of([(None, 1)], PriceSource(1.0))
    with pytest.raises(CatalogError, match=r"ml\.p9"):
        prices_of([("ml.p9.large", 1)], PriceSource(1.0))
    with pytest.raises(PlannerError, match=r"catalog has no price of ml\.p5e\.48xlarge"):
        prices_of([("ml.p5e.48xlarge", 1)], PriceSource(1.0))
    with pytest.raises(CatalogError, match=r"no row of 'p3\.2xlarge'; it has ml\.c5\.xlarge"):
        prices_of([("p3.2xlarge", 1)], PriceSource(table=table))
    with pytest.raises(CatalogError, match=r"no row of 'ml\.p3\.2xlarge' in eu-west-1"):
        prices_of([(P3, 1)], PriceSource(table=table, region="eu-west-1"))


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf"), 1e7])
def test_a_price_that_is_none_is_refused(usd: float) -> None:
    with pytest.raises(PlannerError, match=r"spot_usd_per_hour=\S+ is not a price"):
        prices_of([(P3, 1)], PriceSource(usd))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"no column 'type'"),
        (b"type,region,az,spot,date\n", r"no column 'on_demand'"),
        (TABLE.splitlines()[0].encode(), r"no row below their header"),
        (TABLE.encode() + b"ml.p3.2xlarge,us-east-1\n", r"Line 8 .* is too short"),
        (TABLE.replace("0.9", "cheap").encode(), r"Line 2 .* has spot='cheap'"),
        (TABLE.replace("0.9", "nan").encode(), r"Line 2 .* has spot='nan'"),
        (TABLE.replace("0.9", "-0.9").encode(), r"Line 2 .* has spot='-0\.9'"),
        (TABLE.replace("2026-10-01", "yesterday").encode(), r"date='yesterday'"),
        (TABLE.encode() + b'"', r"are no CSV"),
        (TABLE.encode() + b"\xff", r"no text in UTF-8"),
        (TABLE.encode() + b"a" * 200_000, r"are no CSV"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(text)

    with pytest.raises(PlannerError, match=message):
        prices_of([(P3, 1)], PriceSource(table=path))


def test_a_table_that_is_no_file_is_refused(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "are not read"), (tmp_path / "none", "cannot be read")):
        with pytest.raises(PlannerError, match=message):
            prices_of([(P3, 1)], PriceSource(table=path))


def test_prices_by_type_count_each_for_its_own(table: Path) -> None:
    groups = [(P3, 1), ("ml.c5.xlarge", 2), (None, 1)]
    source = PriceSource({P3: 1.0, "ml.c5.xlarge": 0.1, "local": 0.5}, {"local": 2.0})

    found = prices_of(groups, source)

    catalog = [Catalog.load().get(name).price for name in (P3, "ml.c5.xlarge")]
    usd = [0.0 if price is None else price.usd_per_hour for price in catalog]
    assert found.spot_usd_per_hour == pytest.approx(1.7)
    assert found.on_demand_usd_per_hour == pytest.approx(usd[0] + 2 * usd[1] + 2.0)
    of_table = prices_of([(P3, 1)], PriceSource({"ml.c5.xlarge": 0.1}, table=table))
    assert of_table.spot_usd_per_hour == 0.7
    with pytest.raises(PlannerError, match=r"spot_usd_per_hour=-1"):
        prices_of(groups, PriceSource({P3: -1.0}))
