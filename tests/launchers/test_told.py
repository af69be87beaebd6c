"""What an entry point is told by the local launcher, and what it is not."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.spec.channel import Channel
from smtc_lab.spec.emulation import Emulation
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run

OF_TORCHRUN = {
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "ROLE_NAME",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_WORLD_SIZE",
    "ROLE_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_ERROR_FILE",
}
HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
PRINT_ENVIRONMENT = """
    import json, os, socket, sys
    by_address = socket.getaddrinfo("algo-3", 80)[0][4][0]
    print(json.dumps({
        "environment": dict(os.environ),
        "arguments": sys.argv[1:],
        "addresses": [socket.gethostbyname("algo-3"), by_address],
    }))
"""


@pytest.fixture(scope="module")
def told(start_shared: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a script that says what it is told; who launches has credentials and no umask."""
    images = tmp_path_factory.mktemp("images")
    before = os.umask(0)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_SECRET_ACCESS_KEY", "AKIA-canary")
            patch.setenv("HF_TOKEN", "hf_canary")
            for name in OF_TORCHRUN:  # who launches was started by torchrun
                patch.setenv(name, "5")
            run = start_shared(
                PRINT_ENVIRONMENT,
                cluster=HETEROGENEOUS,
                emulation=Emulation(),
                hyperparameters={"lr": 0.1, "layers": [1, 2]},
                arguments=["--dummy", "a b", "--", "-x"],
                channels=(Channel(channel_name="train", source=str(images)),),
                environment={"EXTRA": "yes", "MASTER_PORT": "29500"},
            )
    finally:
        os.umask(before)
    return run.wait(PATIENCE_S)


def seen_by(run: Run) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(run.logs("algo-1"))
    return seen


def test_the_entry_point_sees_its_instance_hyperparameters_and_channels(told: Run) -> None:
    seen = seen_by(told)

    environment = seen["environment"]
    own = ["--dummy", "a b", "--", "-x"]
    assert seen["arguments"] == ["--layers", "[1, 2]", "--lr", "0.1", *own]
    assert json.loads(environment["SM_USER_ARGS"]) == seen["arguments"]
    assert environment["SM_CURRENT_HOST"] == "algo-1"
    assert environment["SM_CURRENT_INSTANCE_GROUP"] == "dnn_group"
    assert environment["SM_NUM_CPUS"] == "1"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["SM_HP_LR"] == "0.1"
    assert environment["EXTRA"] == "yes"
    (channel,) = told.job.channels
    assert os.path.realpath(environment["SM_CHANNEL_TRAIN"]) == channel.source


def test_a_lone_trainer_is_told_of_ranks_by_its_job_alone(told: Run) -> None:
    environment = seen_by(told)["environment"]

    assert OF_TORCHRUN & set(environment) == {"MASTER_PORT"}
    assert environment["MASTER_PORT"] == "29500"


def test_credentials_of_the_launching_process_do_not_reach_the_entry_point(told: Run) -> None:
    assert "canary" not in json.dumps(seen_by(told))
    for path in told.folder.path.rglob("*"):
        if path.is_file():
            assert b"canary" not in path.read_bytes(), path


def test_hosts_resolve_by_name_on_every_instance(told: Run) -> None:
    by_name, by_address = seen_by(told)["addresses"]

    assert by_name == by_address
    assert by_name.startswith("127.")
    assert by_name.endswith(".3")


def test_the_run_folder_is_private_whatever_the_umask(told: Run) -> None:
    assert told.folder.path.stat().st_mode & 0o077 == 0
    assert told.folder.secret_file.stat().st_mode & 0o077 == 0
