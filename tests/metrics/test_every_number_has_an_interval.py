"""Every number of a comparison has an interval, or is one that needs none, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.spec.emulation import Emulation
from tests.kit.records import interleaved_runs

EMULATION = Emulation(time_dilation=20.0, cores_per_vcpu=0.045, device_step_time_s=0.04)
CREATED = "2026-11-23T00:00:00+00:00"

EXACT = {
    "schema_version": "a version",
    "usd_per_hour": "a price",
    "usd_per_vcpu_hour": "a price",
    "instance_count": "what was asked for",
    "vcpus": "what the catalog says",
    "cpu_quota_cores": "what was asked for",
    "launches": "a count",
    "steps": "a count",
    "times_the_samples": "a ratio of counts",
    "warm_up_steps": "a count",
    "emulation": "what was asked for",
    "num_instances": "a count",
    "cpu_delivered_over_s": "how long was looked",
}
"""Numbers without an interval, and what they are."""


def test_the_schema_has_no_other_plain_number() -> None:
    schema = Comparison.model_json_schema(mode="serialization")
    plain = set(_plain_numbers(schema["$defs"], "ClusterResult"))
    plain |= set(_plain_numbers(schema["$defs"], "PairResult"))
    plain |= set(_plain_numbers(schema["$defs"], "GroupResult"))

    assert plain - set(EXACT) == {
        "usd_per_job",
        "startup_s",
        "data_wait_fraction",
        "cpu_delivered_fraction",
        "saving_per_job_fraction",
    }, "a new number: give it an interval, or say in EXACT why it needs none"


def test_every_plain_number_of_three_launches_has_its_interval() -> None:
    runs = interleaved_runs(emulation=EMULATION, device_time_s=0.04)
    comparison = compare_runs(runs, catalog=Catalog.load(), created=CREATED, machine={})

    for cluster in comparison.clusters:
        known = {
            name: value
            for name in ("usd_per_job", "startup_s", "data_wait_fraction")
            if (value := getattr(cluster, name)) is not None
        }
        known |= {
            f"utilization.cpu.{group}": value
            for group, value in cluster.utilization.cpu.items()
            if value is not None
        }
        assert cluster.bill is not None
        known |= {
            f"bill.{name}": value for name, value in cluster.bill if isinstance(value, float)
        }
        if cluster.utilization.device is not None:
            known["utilization.device"] = cluster.utilization.device
        if cluster.cpu_delivered is not None and cluster.cpu_delivered_fraction is not None:
            known["cpu_delivered_fraction"] = cluster.cpu_delivered_fraction
        assert set(known) == set(cluster.intervals)
        for name, value in known.items():
            interval = cluster.intervals[name]
            assert interval.spread == "launches", name
            assert interval.mean == pytest.approx(value), name
            assert interval.low <= value <= interval.high, name
    (pair,) = comparison.pairs
    assert (pair.saving_per_job is None) == (pair.saving_per_job_fraction is None)


def _plain_numbers(defs: dict[str, Any], name: str) -> list[str]:
    return [
        field
        for field, told in defs[name]["properties"].items()
        if {"number", "integer"} & set(_types(told))
    ]


def _types(told: dict[str, Any]) -> list[str]:
    found = [told["type"]] if "type" in told else []
    for inner in (*told.get("anyOf", ()), *told.get("prefixItems", ())):
        found += _types(inner)
    if isinstance(told.get("items"), dict):
        found += _types(told["items"])
    return found
