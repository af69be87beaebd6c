"""Refreshing prices from a small price list, hand-made in AWS's format, over loopback."""

from __future__ import annotations

import json
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab.catalog
from smtc_lab.catalog import catalog as catalog_module
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.kept_prices import kept_prices_path
from smtc_lab.catalog.price_list import read_price_list
from smtc_lab.catalog.price_refresh import refresh
from smtc_lab.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE = Path(__file__).parents[1] / "fixtures" / "price_list.json"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep prices in a folder of the test, and the process's own catalog as it is."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    read = catalog_module._kept_catalog.__wrapped__
    monkeypatch.setattr(catalog_module, "_kept_catalog", cache(read))


@pytest.fixture
def listed() -> dict[str, Any]:
    """The sample with every priced type of the catalog, at 10 % more."""
    offer: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    for number, each in enumerate(Catalog.load().instance_types.values()):
        if each.price is not None and each.price.kind == "list":
            add(offer, f"SKU{number}", each.name, 1.1 * each.price.usd_per_hour)
    return offer


def add(offer: dict[str, Any], sku: str, name: str, usd: float) -> None:
    offer["products"][sku] = {
        "sku": sku,
        "productFamily": "ML Instance",
        "attributes": {"platoinstancetype": "Training", "usagetype": f"USE1-Train:{name}"},
    }
    dimension = {"unit": "Hrs", "pricePerUnit": {"USD": f"{usd:.10f}"}}
    offer["terms"]["OnDemand"][sku] = {
        f"{sku}.T": {"priceDimensions": {f"{sku}.T.D": dimension}}
    }


@pytest.fixture
def served() -> Iterator[dict[str, Any]]:
    """A server on loopback: what it answers with, and its address."""
    answer: dict[str, Any] = {"body": b"", "status": 200}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer["status"])
            self.send_header("Content-Length", str(answer.get("length", len(answer["body"]))))
            self.end_headers()
            self.wfile.write(answer["body"])

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # It looks that often whether it shall end, and each test waits for it.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    answer["url"] = f"http://127.0.0.1:{server.server_port}/index.json"
    yield answer
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_on_demand_training_prices_are_read() -> None:
    with SAMPLE.open("rb") as source:
        found = read_price_list(source)

    assert found.date == "2026-11-15"
    assert found.usd_per_hour == {
        "ml.c5.18xlarge": 3.672,
        "ml.p4d.24xlarge": 25.2513,
        "ml.zz9.xlarge": 1.25,
    }


def test_refreshed_prices_are_loaded_from_then_on(
    served: dict[str, Any], listed: dict[str, Any]
) -> None:
    before = Catalog.load().get("ml.g5.xlarge").price
    served["body"] = json.dumps(listed).encode()

    done = smtc_lab.catalog.refresh(served["url"])

    price = Catalog.load().get("ml.g5.xlarge").price
    assert before is not None
    assert price is not None
    assert price.usd_per_hour == pytest.approx(1.1 * before.usd_per_hour)
    assert (price.kind, price.date) == ("list", "2026-11-15")
    assert done.changed["ml.g5.xlarge"] == (before.usd_per_hour, price.usd_per_hour)
    assert (done.new, done.gone) == (("ml.zz9.xlarge",), ())


def test_a_type_that_left_the_list_keeps_its_last_price_as_historical(
    served: dict[str, Any], listed: dict[str, Any]
) -> None:
    listed["products"] = {
        sku: product
        for sku, product in listed["products"].items()
        if not product["attributes"]["usagetype"].endswith("ml.g5.xlarge")
    }
    served["body"] = json.dumps(listed).encode()

    done = refresh(served["url"])

    price = Catalog.load().get("ml.g5.xlarge").price
    assert done.gone == ("ml.g5.xlarge",)
    assert price is not None
    assert price.kind == "historical"


def test_estimated_prices_of_types_that_are_not_on_the_list_stay(
    served: dict[str, Any], listed: dict[str, Any]
) -> None:
    before = Catalog.load().get("ml.m4.xlarge").price
    served["body"] = json.dumps(listed).encode()

    refresh(served["url"])

    assert Catalog.load().get("ml.m4.xlarge").price == before


def test_a_list_of_less_than_half_of_the_prices_is_not_kept(served: dict[str, Any]) -> None:
    served["body"] = SAMPLE.read_bytes()

    with pytest.raises(CatalogError, match=r"has 2 of our types, less than half.*old prices"):
        refresh(served["url"])

    assert not kept_prices_path().exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_list_that_ends_too_early_leaves_the_old_prices(
    served: dict[str, Any], listed: dict[str, Any], share: float
) -> None:
    served["body"] = json.dumps(listed).encode()
    refresh(served["url"])
    kept = kept_prices_path().read_bytes()
    served["body"] = served["body"][: int(share * len(served["body"]))]

    with pytest.raises(CatalogError, match=r"is damaged.*old prices are kept"):
        refresh(served["url"])

    assert kept_prices_path().read_bytes() == kept


@pytest.mark.parametrize("usd", ["free", "NaN", "-1", "0"])
def test_a_price_that_is_none_leaves_the_old_prices(
    served: dict[str, Any], listed: dict[str, Any], usd: str
) -> None:
    text = json.dumps(listed).replace('"3.6720000000"', f'"{usd}"', 1)
    served["body"] = text.encode()

    with pytest.raises(CatalogError, match="is damaged"):
        refresh(served["url"])


@pytest.mark.parametrize(
    "text", ["[1]", "5", '{"products": {5: 1}}', '{"a": 1} x', '{"a": "\xff"}']
)
def test_what_is_no_price_list_is_said_to_be_damaged(served: dict[str, Any], text: str) -> None:
    served["body"] = text.encode("latin-1")

    with pytest.raises(
        CatalogError, match=r"is damaged \([^\n]+\), so the old prices are kept"
    ):
        refresh(served["url"])


def test_a_server_that_refuses_leaves_the_old_prices(served: dict[str, Any]) -> None:
    served["status"] = 503

    with pytest.raises(CatalogError, match=r"cannot be read.*503.*old prices are kept"):
        refresh(served["url"])


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"'ftp://here' is not one of http, https or file"):
        refresh("ftp://here")


def test_damaged_kept_prices_are_said_and_not_used() -> None:
    before = Catalog.load().get("ml.g5.xlarge")
    kept_prices_path().parent.mkdir(parents=True)
    kept_prices_path().write_text('{"date": 5', encoding="utf-8")

    with pytest.warns(UserWarning, match=r"cannot be read.*smtc_lab\.catalog\.refresh"):
        assert Catalog.reload().get("ml.g5.xlarge") == before


def test_where_no_folder_can_be_there_are_simply_no_kept_prices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file" / "no where"))

    assert Catalog.reload() == Catalog.load()  # a warning would be an error
