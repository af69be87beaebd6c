from __future__ import annotations

import datetime as dt
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog, parse_price
from smtc_lab.errors import CatalogError
from smtc_lab.spec.cluster import Cluster

TODAY = dt.date(2026, 11, 3)
CATALOG = Catalog.load()


def test_the_catalog_holds_every_legal_training_type() -> None:
    assert len(CATALOG.names()) == 145
    assert all(name.startswith("ml.") for name in CATALOG.names())


def test_the_catalog_is_read_once() -> None:
    assert Catalog.load() is CATALOG


def test_the_catalog_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CATALOG.instance_types["ml.new.xlarge"] = CATALOG.get("ml.c5.9xlarge")  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        CATALOG.get("ml.c5.9xlarge").vcpus = 1  # type: ignore[misc]


def test_a_cpu_type_is_read_with_all_its_columns() -> None:
    c5 = CATALOG.get("ml.c5.9xlarge")

    assert (c5.family, c5.vcpus, c5.physical_cores, c5.threads_per_core) == ("c5", 36, 18, 2)
    assert (c5.cpu_vendor, c5.sustained_clock_ghz, c5.arch) == ("Intel", 3.4, "x86_64")
    assert c5.memory_gib == 72.0
    assert c5.accelerator is None
    assert c5.accelerator_memory_gib is None
    assert not c5.has_accelerator
    assert c5.price is not None
    assert (c5.price.usd_per_hour, c5.price.kind, c5.price.date) == (
        1.836,
        "list",
        "2026-09-27",
    )


@pytest.mark.parametrize(
    ("name", "count"), [("ml.p3.2xlarge", 1), ("ml.p4d.24xlarge", 8), ("ml.trn1.32xlarge", 16)]
)
def test_gpus_and_trainium_chips_are_accelerators(name: str, count: int) -> None:
    assert CATALOG.get(name).has_accelerator
    assert CATALOG.get(name).accelerator_count == count


def test_what_aws_does_not_say_is_none() -> None:
    gb200 = CATALOG.get("ml.p6e-gb200.36xlarge")

    assert gb200.sustained_clock_ghz is None
    assert gb200.physical_cores is None
    assert gb200.price is None


def test_every_row_is_sane() -> None:
    for name in CATALOG.names():
        row = CATALOG.get(name)
        assert row.name == name
        assert row.vcpus > 0
        assert row.memory_gib > 0
        assert (row.accelerator is None) == (not row.has_accelerator)
        if row.price is not None:
            assert row.price.usd_per_hour > 0
            assert row.price.kind in {"list", "historical", "estimated"}
            assert row.price.date.startswith("20")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ml.p3.2xlage", "ml.p3.2xlarge"),
        ("p4d.24xlarge", "ml.p4d.24xlarge"),
        ("ml.c5.9xl", "ml.c5.9xlarge"),
    ],
)
def test_an_unknown_type_names_the_nearest_ones(name: str, nearest: str) -> None:
    with pytest.raises(CatalogError) as refused:
        CATALOG.get(name)

    assert f"Instance type {name!r} is not one of the 145" in str(refused.value)
    assert f"Did you mean {nearest}" in str(refused.value)


def test_a_type_without_a_neighbour_says_what_to_write() -> None:
    with pytest.raises(CatalogError, match=r"'xxx.*Write for example 'ml.c5.9xlarge'"):
        CATALOG.get("x" * 10_000)


def test_local_is_not_in_the_catalog() -> None:
    with pytest.raises(CatalogError, match=r"'local' is this machine.*Give an instance type"):
        CATALOG.get("local")


def test_the_price_of_a_cluster_counts_every_instance() -> None:
    cluster = Cluster.parse("dnn_group=ml.p4d.24xlarge:1,data_group=ml.c5.18xlarge:2")

    assert CATALOG.usd_per_hour(cluster) == pytest.approx(25.2513 + 2 * 3.672)


@pytest.mark.parametrize("name", ["local", "ml.p6e-gb200.36xlarge"])
def test_an_unknown_price_makes_the_cost_unknown_and_not_zero(name: str) -> None:
    cluster = Cluster.parse(f"a={name},b=ml.c5.9xlarge")

    assert CATALOG.usd_per_hour(cluster) is None


def test_the_price_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"ml\.c5\.7xlarge"):
        CATALOG.usd_per_hour(Cluster.parse("a=ml.c5.7xlarge"))


def test_the_published_prices_of_2022_can_be_chosen() -> None:
    then = CATALOG.with_prices(PUBLISHED_2022_PRICES)
    cluster = Cluster.parse("dnn_group=ml.p4d.24xlarge,data_group=ml.c5.18xlarge:2")

    assert then.usd_per_hour(cluster) == pytest.approx(45.032)
    price = then.get("ml.p4d.24xlarge").price
    assert price is not None
    assert (price.kind, price.date) == ("user", "2022-10-27")


def test_a_users_price_leaves_the_shipped_catalog_alone() -> None:
    CATALOG.with_prices({"ml.c5.9xlarge": (0, "2026-01-02")})

    price = CATALOG.get("ml.c5.9xlarge").price
    assert price is not None
    assert price.kind == "list"


def test_a_price_of_zero_is_a_price() -> None:
    mine = CATALOG.with_prices({"ml.c5.9xlarge": (0, "2026-01-02")})

    assert mine.usd_per_hour(Cluster.parse("a=ml.c5.9xlarge:3")) == 0.0


def test_a_price_of_an_unknown_type_names_the_nearest_ones() -> None:
    with pytest.raises(CatalogError, match=r"Did you mean ml.c5.9xlarge"):
        CATALOG.with_prices({"ml.c5.9xlarg": (1.0, "2026-01-02")})


@pytest.mark.parametrize("usd", [-0.01, float("nan"), float("inf"), "3", None, True])
def test_a_price_is_a_finite_number_of_at_least_zero(usd: float) -> None:
    with pytest.raises(CatalogError, match=r"Price of ml.c5.9xlarge is .* finite number.*Give"):
        CATALOG.with_prices({"ml.c5.9xlarge": (usd, "2026-01-02")})


@pytest.mark.parametrize(
    "date", ["", "2026", "2026-02-30", "20260102", "2026-W01-1", "2/1/2026", None]
)
def test_a_price_has_a_day(date: str) -> None:
    with pytest.raises(CatalogError, match=r"has the date .* not a day.*Write for example"):
        CATALOG.with_prices({"ml.c5.9xlarge": (1.0, date)})


def test_a_price_is_parsed_from_a_command_line() -> None:
    parsed = parse_price("ml.p4d.24xlarge=37.688@2022-10-27", TODAY)

    assert parsed == ("ml.p4d.24xlarge", 37.688, "2022-10-27")


def test_a_price_without_a_date_is_of_today() -> None:
    assert parse_price(" ml.c5.9xlarge=2 ", TODAY) == ("ml.c5.9xlarge", 2.0, "2026-11-03")


@pytest.mark.parametrize(
    "text", ["", "ml.c5.9xlarge", "=1", "a=", "a=1@", "a=1@b@c", "a=1 000"]
)
def test_a_text_of_another_form_says_what_to_write(text: str) -> None:
    with pytest.raises(CatalogError, match=r"not of the form TYPE=USD\[@DATE\]. Write"):
        parse_price(text, TODAY)


@pytest.mark.parametrize("price", ["-1", "nan", "inf", "3,50", "three", "1e999"])
def test_a_parsed_price_is_a_number(price: str) -> None:
    with pytest.raises(CatalogError, match=rf"Price of a is {price}, but must be a finite"):
        parse_price(f"a={price}", TODAY)


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        _, usd_per_hour, date = parse_price(text, TODAY)
    except CatalogError as error:
        assert str(error)  # noqa: PT017  most texts are refused, some are not
    else:
        assert usd_per_hour >= 0
        assert dt.date.fromisoformat(date)
