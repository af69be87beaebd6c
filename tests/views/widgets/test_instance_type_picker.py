from __future__ import annotations

import json
from pathlib import Path

import ipywidgets
import pytest
import traitlets

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.views.widgets.instance_type_picker import InstanceTypePicker
from smtc_lab.views.widgets.traits.catalog import catalog_json

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_the_browser_gets_the_fields_of_a_type_that_it_shows() -> None:
    wanted = json.loads((FIXTURES / "catalog.json").read_text(encoding="utf-8"))
    names = {row["name"] for row in wanted}

    sent = [row for row in catalog_json(Catalog.load()) if row["name"] in names]

    assert sent == wanted


def test_all_types_reach_the_browser() -> None:
    sent = InstanceTypePicker().get_state()["catalog"]

    assert [row["name"] for row in sent] == list(Catalog.load().names())


def test_a_chosen_type_can_be_looked_up() -> None:
    picker = InstanceTypePicker("ml.p3.2xlarge")

    assert picker.instance_type is not None
    assert picker.instance_type.vcpus == 8


def test_this_machine_can_be_chosen_and_is_no_type() -> None:
    assert InstanceTypePicker("local").instance_type is None


def test_an_unknown_type_is_refused_and_the_old_one_stays() -> None:
    picker = InstanceTypePicker("ml.p3.2xlarge")

    with pytest.raises(traitlets.TraitError, match=r"'ml.p3.3xlarge' is not one of.*Did you"):
        picker.value = "ml.p3.3xlarge"

    assert picker.value == "ml.p3.2xlarge"


def test_a_price_of_ones_own_reaches_the_browser() -> None:
    catalog = Catalog.load().with_prices({"ml.p3.2xlarge": (1.25, "2026-01-01")})

    sent = InstanceTypePicker(catalog=catalog).get_state()["catalog"]

    (row,) = [row for row in sent if row["name"] == "ml.p3.2xlarge"]
    assert row["price"] == {"usd_per_hour": 1.25, "kind": "user", "date": "2026-01-01"}


def test_pickers_can_be_linked_and_laid_out() -> None:
    one, other = InstanceTypePicker("ml.p3.2xlarge"), InstanceTypePicker("local")

    ipywidgets.link((one, "value"), (other, "value"))
    box = ipywidgets.VBox([one, ipywidgets.HBox([other])])
    other.value = "ml.c5.xlarge"

    assert one.value == "ml.c5.xlarge"
    assert box.children[0] is one
