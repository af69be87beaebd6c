"""What an instance is told, from a launcher to its processes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.context import InstanceContext, process_variables
from smtc_lab.instance.description import (
    InstanceDescription,
    Measure,
    Rendezvous,
    Trainer,
    trainers_of,
)
from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.instance.mesh import TrainerLayout

TRAINERS = InstanceDescription(
    run_folder="/runs/train-1",
    host="algo-2",
    role="train",
    hosts={"algo-1": "127.0.0.1", "algo-2": "127.0.0.2", "algo-3": "127.0.0.3"},
    data_hosts=("algo-3",),
    instance_groups=(("dnn", "ml.p3.16xlarge", 2), ("data", "ml.c5.9xlarge", 1)),
    trainers=trainers_of([2, 3]),
    rendezvous=Rendezvous(host="algo-1", world_size=4, group_rank=1),
    command=("python", "train.py"),
    hyperparameters={"lr": 0.5},
    channels={"train": "/data"},
    environment={"LIBRARY": "1"},
    num_cpus=5,
    num_gpus=2,
    cpu_quota_cores=4.5,
    num_workers=2,
    num_loader_workers=3,
    seed=7,
    max_steps=10,
    device_step_time_s=0.04,
    link=LinkDeclaration(inside=None, between=DeclaredWire(latency_s=1e-4, bytes_per_s=1.25e8)),
    compiler='{"backend": "inductor"}',
    measure=Measure(what="resident", seconds=2.5, batch_size=8),
    memory_limit_bytes=2**30,
    grace_s=1.5,
)


def test_a_description_comes_back_from_its_file_as_it_was() -> None:
    devices = replace(TRAINERS, trainers=(Trainer(rank=0, local_rank=0, devices=(0, 1)),))

    for told in (TRAINERS, devices, replace(TRAINERS, trainers=(), rendezvous=None)):
        assert InstanceDescription.from_values(json.loads(told.to_json())) == told


def test_trainers_are_told_where_they_stand_as_torchrun_would() -> None:
    first, second = (process_variables(TRAINERS, trainer) for trainer in TRAINERS.trainers)

    common = {
        "GROUP_RANK": "1",
        "WORLD_SIZE": "4",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "7777",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    assert common.items() <= first.items()
    assert common.items() <= second.items()
    assert (first["RANK"], first["LOCAL_RANK"]) == ("2", "0")
    assert (second["RANK"], second["LOCAL_RANK"]) == ("3", "1")
    assert "CUDA_VISIBLE_DEVICES" not in first


def test_a_process_reads_what_was_written_for_it() -> None:
    context = InstanceContext.from_environment(
        {**process_variables(TRAINERS, TRAINERS.trainers[1]), "SM_CURRENT_HOST": "algo-2"}
    )

    assert (context.role, context.host, context.address) == ("train", "algo-2", "127.0.0.2")
    assert (context.rank, context.world_size, context.seed) == (3, 4, 7)
    assert context.data_servers == {"algo-3": "127.0.0.3"}
    assert (context.num_workers, context.num_loader_workers) == (2, 3)
    assert (context.max_steps, context.device_step_time_s) == (10, 0.04)
    assert context.compiler is not None
    assert context.compiler.backend == "inductor"
    assert context.measure == TRAINERS.measure
    assert context.checkpoint_folder == "rank3"


def test_the_only_trainer_of_an_instance_has_its_checkpoints_for_itself() -> None:
    alone = replace(TRAINERS, trainers=trainers_of([1]))

    context = InstanceContext.from_environment(process_variables(alone, alone.trainers[0]))

    assert context.checkpoint_folder == ""
    assert (alone.threads, TRAINERS.threads, replace(TRAINERS, num_cpus=1).threads) == (5, 2, 1)


def test_a_trainer_sees_the_devices_that_it_is_given() -> None:
    trainer = Trainer(rank=2, local_rank=0, devices=(0, 2))
    told = replace(TRAINERS, trainers=(trainer,))

    assert process_variables(told, trainer)["CUDA_VISIBLE_DEVICES"] == "0,2"


def test_a_data_instance_has_no_rank() -> None:
    told = replace(TRAINERS, role="data", trainers=(), rendezvous=None)

    variables = process_variables(told, None)

    assert not {"RANK", "WORLD_SIZE", "MASTER_ADDR", "SMTC_LONE_TRAINER"} & set(variables)
    assert InstanceContext.from_environment(variables).role == "data"


def test_a_lone_trainer_and_its_data_instances_are_told_of_no_rank() -> None:
    (trainer,) = trainers_of([0], devices=[3])
    told = replace(
        TRAINERS,
        hosts={"algo-2": "127.0.0.2", "algo-3": "127.0.0.3"},
        trainers=(trainer,),
        rendezvous=Rendezvous(host="algo-2", world_size=1, group_rank=0),
    )
    data = replace(told, host="algo-3", role="data", trainers=(), rendezvous=None)

    for one in (process_variables(told, trainer), process_variables(data, None)):
        ours = {name for name in one if name.startswith("SMTC_")}
        assert "SMTC_LONE_TRAINER" in ours
        others = {"CUDA_VISIBLE_DEVICES", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}
        assert one.keys() - ours <= others
    assert process_variables(told, trainer)["CUDA_VISIBLE_DEVICES"] == "3"


def test_who_says_how_a_job_is_spread_has_it_told_to_one_trainer_as_well() -> None:
    (trainer,) = trainers_of([0])
    told = replace(
        TRAINERS,
        hosts={"algo-2": "127.0.0.2"},
        data_hosts=(),
        trainers=(trainer,),
        rendezvous=Rendezvous(host="algo-2", world_size=1, group_rank=0),
        distribution=TrainerLayout(data=1),
    )

    variables = process_variables(told, trainer)

    assert "SMTC_LONE_TRAINER" not in variables
    assert (variables["RANK"], variables["WORLD_SIZE"]) == ("0", "1")
    assert variables["TORCHELASTIC_RUN_ID"] == "train-1"


def test_trainers_without_a_rendezvous_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'algo-2' has 2 trainers, but no rendezvous.*Give"):
        replace(TRAINERS, rendezvous=None)


def test_what_another_version_has_written_is_refused() -> None:
    values = json.loads(replace(TRAINERS, package_version="0.0.1").to_json())

    with pytest.raises(EntryPointError, match=r"but 0\.0\.1 launched it\. Install the same"):
        InstanceDescription.from_values({**values, "of_that_version": 1})


@pytest.mark.parametrize(
    "damage",
    [{"trainers": [{"rang": 1}]}, {"rendezvous": None}, {"command": None}, {"surprise": 1}],
)
def test_a_damaged_description_says_so(damage: dict[str, object]) -> None:
    values = {**json.loads(TRAINERS.to_json()), **damage}

    with pytest.raises(
        EntryPointError, match=r"'algo-2' was told is damaged \(.*Launch the job"
    ):
        InstanceDescription.from_values(values)
