"""The network that an emulation declares, as a launcher tells it to trainers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.placed import Placed, placed
from smtc_lab.instance.link import LinkDeclaration
from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.emulation.batch_wires import BatchWires
from smtc_lab.launchers.emulation.emulated_link import declared_link, link_facts, link_problems
from smtc_lab.launchers.local.plan import make_plan
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from pathlib import Path

CATALOG = Catalog.load()


def job(cluster: str, link: EmulatedLink | None, dilation: float = 1.0) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse(cluster),
        emulation=Emulation(link=link, time_dilation=dilation),
    )


def placing(one: TrainingJob) -> tuple[TrainingJob, Placed]:
    return one, placed(one, CATALOG)


def test_a_bandwidth_that_is_not_declared_is_the_catalogs_of_the_slowest_trainer() -> None:
    cluster = "a=ml.p4d.24xlarge:1,b=ml.p3.2xlarge:1,c=ml.m4.xlarge:1"

    declared = declared_link(link_facts(*placing(job(cluster, EmulatedLink()))))

    slowest = CATALOG.get("ml.p3.2xlarge").network_gbps
    assert slowest is not None
    assert declared is not None
    assert declared.inside is None
    assert declared.between is not None
    assert declared.between.bytes_per_s == pytest.approx(slowest * 1e9 / 8)


def test_a_slower_model_has_a_slower_network() -> None:
    link = EmulatedLink(between_gbps=8, between_latency_s=1e-4, inside_gbps=80)

    declared = declared_link(link_facts(*placing(job("a=local:2", link, 4.0))))

    assert declared is not None
    assert declared.between is not None
    assert declared.between.bytes_per_s == pytest.approx(2.5e8)
    assert declared.between.latency_s == pytest.approx(4e-4)


def test_a_network_that_nobody_knows_is_to_be_declared() -> None:
    (problem,) = link_problems(*placing(job("a=local:2", EmulatedLink())))

    assert "The catalog has no network bandwidth of local" in problem
    assert problem.endswith("Declare EmulatedLink(between_gbps=…).")
    assert link_problems(*placing(job("a=local:2", EmulatedLink(between_gbps=1)))) == []


def test_a_job_without_a_declared_network_keeps_no_fact_of_it() -> None:
    assert link_facts(*placing(job("a=local:2", None))) == {}


def test_instances_that_stand_for_others_have_the_catalogs_network() -> None:
    two = job("a=ml.p3.2xlarge:2", None, 4.0)

    declared = declared_link(link_facts(*placing(two), is_rated=True))

    assert declared is not None
    assert declared.between is not None
    assert declared.between.bytes_per_s == pytest.approx(2.5e9 / 8 / 4)
    assert declared.between.latency_s == pytest.approx(4e-4)
    assert link_facts(*placing(two)) == {}  # Ray's nodes have a network of their own


@pytest.mark.parametrize(
    "cluster", ["a=ml.p3.8xlarge:1", "a=local:2", "a=ml.p3.2xlarge:1,b=local:1"]
)
def test_no_network_is_emulated_where_nothing_crosses_one_that_is_known(cluster: str) -> None:
    assert link_facts(*placing(job(cluster, None)), is_rated=True) == {}


def script_in(folder: Path) -> str:
    script = folder / "train.py"
    script.write_text("")
    return str(script)


def wires(cluster: str, *, dilation: float = 1.0, **settings: object) -> BatchWires | None:
    asked = job(cluster, None, dilation).model_copy(update=settings)
    made = make_plan(asked, CATALOG, grace_s=1)
    return BatchWires.of_facts(made.facts)


def test_batches_come_over_the_networks_of_both_instances(tmp_path: Path) -> None:
    script = script_in(tmp_path)

    found = wires("a=ml.p3.2xlarge:1,b=ml.c5.xlarge:2", dilation=50, entry_point=script)

    assert found is not None
    assert found.trainer_bytes_per_s == pytest.approx(2.5e9 / 8 / 50)
    assert found.data_bytes_per_s == pytest.approx(1.25e9 / 8 / 50)
    # one data worker on each, which together take what either side can
    assert found.connection_bytes_per_s == pytest.approx(1.25e9 / 8 / 50)


def test_data_workers_and_trainers_share_what_an_instance_can_send(tmp_path: Path) -> None:
    script = script_in(tmp_path)

    found = wires(
        "a=ml.p3.2xlarge:4,b=ml.c5.2xlarge:1",
        dilation=50,
        entry_point=script,
        num_data_workers=4,
        distribution=Distribution(data=4),
    )

    assert found is not None
    assert found.connection_bytes_per_s == pytest.approx(2.5e9 / 8 / 50 / 16)


def test_one_connection_gets_no_more_than_one_between_instances(tmp_path: Path) -> None:
    script = script_in(tmp_path)

    found = wires(
        "a=ml.p3dn.24xlarge:1,b=ml.c5n.18xlarge:1",
        dilation=200,
        entry_point=script,
        num_data_workers=2,
    )

    assert found is not None
    assert found.connection_bytes_per_s == pytest.approx(5e9 / 8 / 200)


@pytest.mark.parametrize(
    ("cluster", "dilation"), [("a=ml.p3.2xlarge:1", 50.0), ("a=local:1,b=local:1:data", 1.0)]
)
def test_batches_that_cross_no_known_network_are_not_held_back(
    tmp_path: Path, cluster: str, dilation: float
) -> None:
    assert wires(cluster, dilation=dilation, entry_point=script_in(tmp_path)) is None


def test_only_data_instances_are_told_of_their_connections(tmp_path: Path) -> None:
    asked = job("a=ml.p3.2xlarge:1,b=ml.c5.xlarge:1", None, 50)
    made = make_plan(
        asked.model_copy(update={"entry_point": script_in(tmp_path)}),
        CATALOG,
        grace_s=1,
    )
    place = AgentPlace(
        run_folder=str(tmp_path),
        entry_point=tmp_path / "train.py",
        python="python",
        channels={},
    )

    trainer, data = (describe_instance(made, each, place).link for each in made.instances)

    assert trainer is None
    assert data is not None
    assert data.batch_bytes_per_s == pytest.approx(1.25e9 / 8 / 50)
    assert LinkDeclaration.from_values(data.to_values()) == data


@pytest.mark.parametrize("field", ["between_gbps", "inside_gbps"])
def test_a_bandwidth_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"EmulatedLink.{field}=0.0 must be above 0"):
        EmulatedLink(**{field: 0.0})
