"""Types that travel with what was asked for."""

from __future__ import annotations

import json

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_types import catalog_with, own_types
from smtc_lab.errors import CatalogError
from smtc_lab.spec.cluster import Cluster

CLUSTER = Cluster.parse("a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:2,c=local:1")


def test_only_types_that_differ_and_are_used_travel() -> None:
    catalog = Catalog.load().with_prices(
        {"ml.p3.2xlarge": (1.5, "2024-01-02"), "ml.m5.xlarge": (1.0, "2024-01-02")}
    )

    told = json.loads(json.dumps(own_types(catalog, [CLUSTER])))

    assert [one["name"] for one in told] == ["ml.p3.2xlarge"]
    read = catalog_with(told)
    assert read.get("ml.p3.2xlarge") == catalog.get("ml.p3.2xlarge")
    assert read.get("ml.m5.xlarge") == Catalog.load().get("ml.m5.xlarge")
    assert own_types(Catalog.load(), [CLUSTER]) == []


def test_damaged_types_are_told() -> None:
    with pytest.raises(CatalogError, match=r"\[\{'name': 'x'\}\].*cannot be read"):
        catalog_with([{"name": "x"}])
