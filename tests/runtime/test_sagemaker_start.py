"""What a container does before this package runs in it, and what it is told."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.instance.context import process_variables
from smtc_lab.instance.description import InstanceDescription, Rendezvous, trainers_of
from smtc_lab.runtime.sagemaker import image as sagemaker_image
from smtc_lab.runtime.sagemaker import start as sagemaker_start
from smtc_lab.runtime.sagemaker.agent import InstancePlace, filled_in
from smtc_lab.store.run_folder import RunFolder

NOWHERE = dict.fromkeys(("algo-1", "algo-2"), "0.0.0.0")  # noqa: S104  as the launcher writes it
AGENT = InstanceDescription(
    run_folder="",
    host="algo-1",
    hosts=NOWHERE,
    data_hosts=("algo-2",),
    instance_groups=(("dnn", "ml.p3.2xlarge", 1), ("data", "ml.c5.9xlarge", 1)),
    trainers=trainers_of([0, 1]),
    rendezvous=Rendezvous(host="algo-1", world_size=2, group_rank=0),
    command=("python3", "-m", "smtc_lab.runtime.run_script", "code/train.py"),
    hyperparameters={"lr": 0.1, "sagemaker_submit_directory": "code"},
    channels={"train": "/opt/ml/input/data/train"},
    environment={},
    num_cpus=72,
    num_gpus=0,
    num_workers=72,
    cpu_quota_cores=0.5,
    grace_s=120.0,
)
DATA = replace(AGENT, host="algo-2", role="data", trainers=(), rendezvous=None)


PLACE = InstancePlace(
    base=Path("/opt/ml"),
    source=Path("/opt/ml/smtc_lab/source"),
    folder=RunFolder(Path("/opt/ml/smtc_lab/runs/job")),
    names={"algo-1": "algo-2", "algo-2": "algo-1"},
    addresses={"algo-1": "10.0.0.1", "algo-2": "10.0.0.2"},
    resource_config={"current_host": "algo-2", "network_interface_name": "eth7"},
)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    return tmp_path


def failure(base: Path) -> str:
    return (base / "output" / "failure").read_text(encoding="utf-8")


def test_an_image_that_is_too_old_says_so_where_sagemaker_looks(
    base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))

    assert sagemaker_start.main() == 1

    assert "but 3.11 is needed. Choose a newer image." in failure(base)
    assert capsys.readouterr().err == failure(base) + "\n"


def test_a_source_that_is_not_there_says_so(base: Path) -> None:
    assert sagemaker_start.main() == 1

    assert "source cannot be unpacked" in failure(base)


def test_what_a_container_before_has_left_is_not_run_again(base: Path) -> None:
    old = base / "smtc_lab" / "source" / "code" / "train.py"
    old.parent.mkdir(parents=True)
    old.touch()

    sagemaker_start.main()

    assert not old.exists()


def facts(**job: object) -> dict[str, Any]:
    instances = [
        {"host": "algo-1", "role": "train", "rank": 0, "num_trainers": 2},
        {"host": "algo-2", "role": "data", "rank": None},
    ]
    agents = {"algo-1": asdict(AGENT), "algo-2": asdict(DATA)}
    return {
        "entry_point": "code/train.py",
        "linger_s": 30.0,
        "job": job,
        "instances": instances,
        "agents": agents,
    }


def agent(number: int, *, address: str = "10.0.0.", **job: object) -> InstanceDescription:
    """Return what the agent of the first or second instance is told."""
    said = facts(**job)
    addresses = {"algo-1": f"{address}1", "algo-2": f"{address}2"}
    place = replace(PLACE, addresses=addresses)
    return filled_in(said, said["instances"][number], place)


def variables(told: InstanceDescription) -> dict[str, str]:
    """Return the environment of an instance's last process, as far as it is ours."""
    return told.environment | process_variables(told, (told.trainers or (None,))[-1])


def test_an_instance_gets_the_platforms_names_and_addresses() -> None:
    trainer, data = agent(0), agent(1)

    assert (trainer.host, data.host) == ("algo-2", "algo-1")
    seen = variables(trainer)
    assert seen["SMTC_DATA_HOSTS"] == '["algo-1"]'
    assert seen["SMTC_ADDRESS"] == "10.0.0.2"
    assert seen["MASTER_ADDR"] == "10.0.0.2"
    assert seen["GLOO_SOCKET_IFNAME"] == "eth7"
    assert (seen["RANK"], seen["LOCAL_RANK"], seen["WORLD_SIZE"]) == ("1", "1", "2")
    assert variables(data)["SMTC_ADDRESS"] == "10.0.0.1"
    assert trainer.command[-1] == "/opt/ml/smtc_lab/source/code/train.py"
    assert trainer.channels == {"train": "/opt/ml/input/data/train"}
    assert trainer.cpu_quota_cores is None


def test_the_job_has_the_last_word_on_the_interface() -> None:
    own = facts()
    own["agents"]["algo-1"]["environment"] = {"NCCL_SOCKET_IFNAME": "ib0"}

    assert variables(filled_in(own, own["instances"][0], PLACE))["NCCL_SOCKET_IFNAME"] == "ib0"


def test_instances_on_one_machine_talk_through_loopback() -> None:
    assert variables(agent(0, address="127.0.0."))["GLOO_SOCKET_IFNAME"] == "lo"


def test_data_workers_are_as_many_as_there_are_cores_unless_the_job_says() -> None:
    trainer, data = agent(0), agent(1)

    assert data.num_cpus < 72
    assert data.num_workers == data.num_cpus
    assert trainer.num_workers == max(1, trainer.num_cpus // 2)  # two trainers share them
    assert agent(0, num_loader_workers=5).num_workers == 72
    assert agent(1, num_loader_workers=5).num_workers == data.num_cpus


def test_a_trainer_has_time_to_save_and_a_data_instance_has_nothing_to_save() -> None:
    assert agent(0).grace_s == 110.0
    assert agent(1).grace_s == 30.0


@pytest.mark.parametrize(
    ("job", "roles", "package"),
    [
        ({"compiler_config": {}}, ["train"], "pydantic"),
        ({}, ["train", "data"], "cryptography"),
        ({}, ["train", "data"], "cloudpickle"),
        ({}, ["train", "data"], "xxhash"),
    ],
)
def test_an_image_that_lacks_a_package_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, job: dict[str, Any], roles: list[str], package: str
) -> None:
    monkeypatch.setattr(
        sagemaker_image, "find_spec", lambda name: None if name == package else object()
    )
    said = {"job": job, "instances": [{"role": role} for role in roles]}

    with pytest.raises(LauncherError, match=f"no package '{package}'.*requirements.txt"):
        sagemaker_image.refuse_lacking_image(said)


def test_an_image_needs_nothing_for_a_plain_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sagemaker_image, "find_spec", lambda _: None)

    sagemaker_image.refuse_lacking_image({"job": {}, "instances": [{"role": "train"}]})


def test_requirements_that_pip_refuses_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    path = tmp_path / "requirements.txt"
    sagemaker_image.install_requirements(path)
    path.write_text("no-such-package\n", encoding="utf-8")

    with pytest.raises(LauncherError, match=r"pip could not install.*exit code 1"):
        sagemaker_image.install_requirements(path)
