"""The network that an emulation declares, as a launcher tells it to trainers."""

from __future__ import annotations

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.launchers.emulation.emulated_link import declared_link, link_facts, link_problems
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob

CATALOG = Catalog.load()


def job(cluster: str, link: EmulatedLink | None, dilation: float = 1.0) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse(cluster),
        emulation=Emulation(link=link, time_dilation=dilation),
    )


def test_a_bandwidth_that_is_not_declared_is_the_catalogs_of_the_slowest_trainer() -> None:
    cluster = "a=ml.p4d.24xlarge:1,b=ml.p3.2xlarge:1,c=ml.m4.xlarge:1"

    declared = declared_link(link_facts(job(cluster, EmulatedLink()), CATALOG))

    slowest = CATALOG.get("ml.p3.2xlarge").network_gbps
    assert slowest is not None
    assert declared is not None
    assert declared.inside is None
    assert declared.between is not None
    assert declared.between.bytes_per_s == pytest.approx(slowest * 1e9 / 8)


def test_a_slower_model_has_a_slower_network() -> None:
    link = EmulatedLink(between_gbps=8, between_latency_s=1e-4, inside_gbps=80)

    declared = declared_link(link_facts(job("a=local:2", link, 4.0), CATALOG))

    assert declared is not None
    assert declared.between is not None
    assert declared.between.bytes_per_s == pytest.approx(2.5e8)
    assert declared.between.latency_s == pytest.approx(4e-4)


def test_a_network_that_nobody_knows_is_to_be_declared() -> None:
    (problem,) = link_problems(job("a=local:2", EmulatedLink()), CATALOG)

    assert "The catalog has no network bandwidth of local" in problem
    assert problem.endswith("Declare EmulatedLink(between_gbps=…).")
    assert link_problems(job("a=local:2", EmulatedLink(between_gbps=1)), CATALOG) == []


def test_a_job_without_a_declared_network_keeps_no_fact_of_it() -> None:
    assert link_facts(job("a=local:2", None), CATALOG) == {}


@pytest.mark.parametrize("field", ["between_gbps", "inside_gbps"])
def test_a_bandwidth_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"EmulatedLink.{field}=0.0 must be above 0"):
        EmulatedLink(**{field: 0.0})
