from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
import traitlets

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.roles import roles
from smtc_lab.spec.cluster import Cluster
from smtc_lab.views.text import format as fmt
from smtc_lab.views.widgets.cluster_designer import ClusterDesigner, checked_cluster

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = json.loads((FIXTURES / "clusters.json").read_text(encoding="utf-8"))
PRICES = json.loads((FIXTURES / "prices.json").read_text(encoding="utf-8"))
LEGAL = [case for case in CASES if not case["problems"]]
REFUSED = [case for case in CASES if case["problems"]]


def titles(cases: list[dict[str, Any]]) -> list[str]:
    return [case["title"] for case in cases]


@pytest.mark.parametrize("case", LEGAL, ids=titles(LEGAL))
def test_a_legal_cluster_has_the_price_and_roles_that_the_browser_shows(
    case: dict[str, Any],
) -> None:
    designer = ClusterDesigner()

    designer.value = case["value"]

    assert designer.problems == []
    assert designer.cluster.model_dump(mode="json") == case["value"]
    assert designer.usd_per_hour == case["usd_per_hour"]
    assert designer.price_notes == case["price_notes"]
    assert list(roles(designer.cluster, designer.catalog).values()) == case["roles"]


@pytest.mark.parametrize("case", REFUSED, ids=titles(REFUSED))
def test_a_refused_cluster_has_the_problems_that_the_browser_shows(
    case: dict[str, Any],
) -> None:
    assert checked_cluster(case["value"], Catalog.load()) == (None, case["problems"])


@pytest.mark.parametrize("case", PRICES, ids=lambda case: case["text"])
def test_prices_are_written_as_the_browser_writes_them(case: dict[str, Any]) -> None:
    assert fmt.price_digits(case["usd"]) == case["text"]


def test_a_refused_value_keeps_the_last_good_cluster() -> None:
    designer = ClusterDesigner(Cluster.parse("a=ml.c5.9xlarge:2"))

    designer.value = {"instance_groups": []}

    assert designer.cluster == Cluster.parse("a=ml.c5.9xlarge:2")
    assert designer.usd_per_hour is None
    assert "ml.c5.9xlarge" in designer.code
    (problem,) = designer.problems
    assert problem.startswith("A cluster has 0 instance groups, but needs 1 to 5. Add a group")


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"instance_groups": "x"},
        {"instance_groups": [1]},
        {"instance_groups": [{}], "other": {"a": [None]}},
        {"instance_groups": [{"instance_group_name": 1, "instance_type": None}]},
    ],
)
def test_whatever_a_browser_sends_is_a_problem_and_no_error(value: dict[str, Any]) -> None:
    designer = ClusterDesigner()

    designer.set_state({"value": value})

    assert designer.problems
    assert designer.cluster == ClusterDesigner().cluster


def test_an_unknown_type_names_the_nearest_ones() -> None:
    designer = ClusterDesigner()

    designer.cluster = Cluster.parse("a=ml.p3.3xlarge:1")

    (problem,) = designer.problems
    assert "Did you mean ml.p3." in problem


def test_a_cluster_that_is_assigned_is_what_the_browser_gets() -> None:
    designer = ClusterDesigner()
    cluster = Cluster.parse("fed@dnn=ml.p3.2xlarge:1,data=ml.c5.9xlarge:2:data")

    designer.cluster = cluster

    assert Cluster.model_validate(designer.get_state()["value"]) == cluster


def test_an_observer_sees_the_cluster_that_belongs_to_the_value() -> None:
    designer = ClusterDesigner()
    seen = []
    designer.observe(lambda _: seen.append(designer.cluster.num_instances), "value")

    designer.cluster = Cluster.parse("a=ml.c5.9xlarge:7")

    assert seen == [7]


def test_problems_and_price_cannot_be_written() -> None:
    designer = ClusterDesigner()

    with pytest.raises(traitlets.TraitError, match="read-only"):
        designer.usd_per_hour = 0.0


def test_a_price_of_ones_own_changes_the_total() -> None:
    designer = ClusterDesigner(Cluster.parse("a=ml.p3.2xlarge:2"))

    designer.catalog = designer.catalog.with_prices({"ml.p3.2xlarge": (1.25, "2026-01-01")})

    assert designer.usd_per_hour == 2.5
    assert designer.price_notes == ["ml.p3.2xlarge $1.25/h user 2026-01-01"]


def test_designers_can_be_linked_and_laid_out() -> None:
    one, other = ClusterDesigner(), ClusterDesigner()

    ipywidgets.link((one, "value"), (other, "value"))
    box = ipywidgets.HBox([one, other])
    one.cluster = Cluster.parse("x=ml.c5.xlarge:1")

    assert other.cluster == one.cluster
    assert box.children == (one, other)
