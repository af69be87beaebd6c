from __future__ import annotations

from statistics import median

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.published_batches import published_batches, published_batches_like


def test_every_published_row_is_there_and_some_batches_shrink() -> None:
    growth = [row.growth for row in published_batches() if row.framework == "PyTorch 1.13.1"]

    assert len(published_batches()) == 74
    assert len(growth) == 37
    assert round(median(growth), 2) == 1.97
    assert sum(ratio < 1 for ratio in growth) == 2


def test_every_instance_type_is_in_the_catalog() -> None:
    known = Catalog.load().instance_types

    assert {row.instance_type for row in published_batches()} <= set(known)


def test_a_model_is_found_by_the_begin_of_its_name() -> None:
    found = {row.model for row in published_batches_like("google/BERT-base")}

    assert "bert-base-uncased" in found
    assert "albert-base-v2" not in found
    assert published_batches_like("mamba") == ()
