"""Instances of a plan, and the ranks of their trainers."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.placed import Placed, placed
from smtc_lab.follow.run_follower import rank_files
from smtc_lab.instance.plan import InstancePlan, log_ranks, planned_ranks
from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.planning import Slot, instance_plans
from smtc_lab.launchers.supervision.gang import Exit, outcome
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = "big=local:1:train,data=local:1:data,small=local:2:train"


def planned(script: Path, **values: Any) -> LaunchPlan:
    """Return the plan of a job whose instances have three trainers, none, two and two."""
    job = TrainingJob(entry_point=str(script), cluster=Cluster.parse(CLUSTER), **values)

    many = {"big": 3, "data": 0, "small": 2}
    where = Placed(
        groups=tuple(
            replace(each, num_trainers=many[each.group.instance_group_name])
            for each in placed(job, Catalog.load()).groups
        )
    )

    def slot_of(host: str, each: Any) -> Slot:
        del each
        return Slot(address=f"127.0.0.{host[-1]}", num_cpus=6)

    return LaunchPlan(
        launcher="local",
        job=job,
        instances=instance_plans(job, where, slot_of),
        usd_per_hour=None,
        price_notes=(),
        facts={"grace_s": 1.0},
    )


def test_ranks_are_counted_through_the_instances_of_a_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path / "train.py")

    assert [list(item.ranks) for item in plan.instances] == [[0, 1, 2], [], [3, 4], [5, 6]]
    assert plan.num_trainers == 7
    assert [item.num_workers for item in plan.instances] == [2, 6, 3, 3]
    asked = planned(tmp_path / "train.py", num_loader_workers=4)
    assert [item.num_workers for item in asked.instances] == [4, 6, 4, 4]


def test_trainers_know_their_number_on_the_instance_and_the_instance_its_own(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path / "train.py")
    place = AgentPlace(
        run_folder="", entry_point=tmp_path / "train.py", python="python", channels={}
    )

    told = [describe_instance(plan, item, place) for item in plan.instances]

    assert [[trainer.local_rank for trainer in each.trainers] for each in told] == [
        [0, 1, 2],
        [],
        [0, 1],
        [0, 1],
    ]
    found = [each.rendezvous for each in told]
    assert found[1] is None
    assert [each.group_rank for each in found if each] == [0, 1, 2]
    assert {(each.host, each.world_size) for each in found if each} == {("algo-1", 7)}


def test_an_instance_of_a_plan_reads_back_and_an_old_one_has_one_trainer(
    tmp_path: Path,
) -> None:
    (item, *_) = planned(tmp_path / "train.py").instances
    old = asdict(replace(item, rank=4))
    del old["num_trainers"]

    assert InstancePlan(**asdict(item)) == item
    assert list(InstancePlan(**old).ranks) == list(planned_ranks(old)) == [4]
    assert list(planned_ranks({"host": "algo-2"})) == []


def test_a_follower_looks_for_the_records_of_every_trainer(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    instances = [asdict(item) for item in planned(tmp_path / "train.py").instances[:3]]

    assert [path.name for path in rank_files(folder, {"instances": instances})] == [
        "algo-1-rank0.sqlite",
        "algo-1-rank1.sqlite",
        "algo-1-rank2.sqlite",
        "algo-3-rank3.sqlite",
        "algo-3-rank4.sqlite",
    ]
    old = {"instances": [{"host": "algo-1", "rank": 0}, {"host": "algo-2", "rank": None}]}
    assert [path.name for path in rank_files(folder, old)] == ["algo-1-rank0.sqlite"]


def test_logs_are_called_by_rank_only_where_there_are_several() -> None:
    assert log_ranks(range(3, 5)) == (3, 4)
    assert log_ranks(range(3, 4)) == log_ranks(()) == (None,)


def test_a_job_fails_with_the_first_trainer_and_names_it() -> None:
    ended = outcome(
        {"algo-1": Exit(exit_code=3, rank=2)}, {"algo-1": "train"}, {"algo-1": "big"}
    )

    assert ended is not None
    assert (ended.state, ended.host, ended.rank) == ("Failed", "algo-1", 2)
    assert ended.reason == "The entry point on algo-1 (big), rank 2, exited with code 3."
