"""The environment of an instance's processes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.description import InstanceDescription, Rendezvous, trainers_of
from smtc_lab.instance.mesh import TrainerLayout
from smtc_lab.instance.prepare import prepare_instance, process_environment
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

ALONE = InstanceDescription(
    run_folder="/runs/train-1",
    host="algo-1",
    hosts={"algo-1": "10.0.0.1"},
    instance_groups=(("dnn", "ml.p3.2xlarge", 1),),
    trainers=trainers_of([0]),
    rendezvous=Rendezvous(host="algo-1", world_size=1, group_rank=0),
    command=("python", "train.py"),
    hyperparameters={},
    channels={},
    environment={"MASTER_PORT": "29500"},
    num_cpus=2,
    num_gpus=0,
    cpu_quota_cores=None,
    grace_s=1.5,
)
LEFT_BEHIND = {
    "RANK": "5",
    "LOCAL_RANK": "5",
    "ROLE_NAME": "default",
    "LOCAL_WORLD_SIZE": "8",
    "MASTER_ADDR": "10.0.0.9",
    "MASTER_PORT": "1",
    "TORCHELASTIC_RUN_ID": "none",
}


@pytest.mark.parametrize("does", ["train", "data", "script"])
def test_what_a_platform_says_of_ranks_is_not_told_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    for name, value in LEFT_BEHIND.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_KEY", "kept")
    folder = RunFolder.create(tmp_path, "train-1")
    folder.instance("algo-1").mkdir()
    told = ALONE
    if does != "train":
        hosts = {"algo-1": "10.0.0.1", "algo-2": "10.0.0.2"}
        told = replace(ALONE, role="data", hosts=hosts, trainers=(), rendezvous=None)
        is_script = does == "script"
        served = () if is_script else ("algo-1",)
        told = replace(told, data_hosts=served, runs_script=is_script)
    prepare_instance(told, folder)

    environment = process_environment(told, folder, told.trainers[0] if told.trainers else None)

    assert LEFT_BEHIND.keys() & environment.keys() == {"MASTER_PORT"}
    assert environment["MASTER_PORT"] == "29500", "the job's own"
    assert environment["MASTER_KEY"] == "kept"


def test_a_trainer_of_a_distribution_is_told_of_its_own_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in LEFT_BEHIND.items():
        monkeypatch.setenv(name, value)
    folder = RunFolder.create(tmp_path, "train-1")
    folder.instance("algo-1").mkdir()
    told = replace(ALONE, distribution=TrainerLayout(data=1))
    prepare_instance(told, folder)

    environment = process_environment(told, folder, told.trainers[0])

    seen = [environment[name] for name in ("RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR")]
    assert seen == ["0", "1", "10.0.0.1"]
