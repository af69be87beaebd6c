from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.context import InstanceContext
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from pathlib import Path


def test_outside_a_job_a_process_is_a_single_trainer() -> None:
    context = InstanceContext.from_environment({})

    assert (context.role, context.host) == ("train", "localhost")
    assert (context.rank, context.world_size, context.seed) == (0, 1, 0)
    assert context.data_servers == {}
    assert context.max_steps is context.device_step_time_s is context.run_folder is None
    assert context.secret is None
    context.say_ready()


def test_in_a_job_it_is_what_the_launcher_described(tmp_path: Path) -> None:
    context = InstanceContext.from_environment(
        {
            "SMTC_ROLE": "data",
            "SM_CURRENT_HOST": "algo-2",
            "RANK": "1",
            "WORLD_SIZE": "2",
            "SMTC_SEED": "7",
            "SMTC_ADDRESS": "127.1.1.2",
            "SMTC_HOSTS": json.dumps({"algo-1": "127.1.1.1", "algo-2": "127.1.1.2"}),
            "SMTC_DATA_HOSTS": json.dumps(["algo-2"]),
            "SMTC_NUM_WORKERS": "3",
            "SMTC_NUM_LOADER_WORKERS": "0",
            "SMTC_MAX_STEPS": "10",
            "SMTC_DEVICE_STEP_TIME_S": "0.04",
            "SMTC_RUN_ID": str(tmp_path),
        }
    )

    assert (context.role, context.host, context.address) == ("data", "algo-2", "127.1.1.2")
    assert (context.rank, context.world_size, context.seed) == (1, 2, 7)
    assert context.data_servers == {"algo-2": "127.1.1.2"}
    assert (context.num_workers, context.num_loader_workers) == (3, 0)
    assert (context.max_steps, context.device_step_time_s) == (10, 0.04)
    assert context.run_folder is not None
    assert context.secret is None
    (tmp_path / "secret").write_bytes(b"s" * 32)
    assert context.secret == b"s" * 32


def test_what_a_script_says_of_ranks_makes_none_of_a_lone_trainer() -> None:
    own = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}

    lone = InstanceContext.from_environment({**own, "SMTC_LONE_TRAINER": str(os.getpid())})
    started = InstanceContext.from_environment({**own, "SMTC_LONE_TRAINER": str(os.getppid())})

    assert (lone.rank, lone.world_size, lone.local_world_size) == (0, 1, 1)
    assert (started.rank, started.world_size, started.local_world_size) == (1, 2, 2)
    assert (lone.has_lone_trainer, started.has_lone_trainer) == (True, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RANK", "first"),
        ("SMTC_SEED", "1.5"),
        ("SMTC_HOSTS", "{"),
        ("SMTC_DATA_HOSTS", '["algo-9"]'),
        ("SMTC_DEVICE_STEP_TIME_S", "soon"),
    ],
)
def test_a_damaged_environment_says_what_to_unset(name: str, value: str) -> None:
    with pytest.raises(EntryPointError, match=r"damaged \(.*Unset the variables.*SMTC_"):
        InstanceContext.from_environment({name: value})


def test_the_agent_hears_that_work_begins_and_is_done() -> None:
    ready, ready_write = os.pipe()
    context = InstanceContext.from_environment({"SMTC_READY_FD": str(ready_write)})

    context.say_ready()
    assert os.read(ready, 64) == b"ready\n"
    context.say_done()
    assert os.read(ready, 64) == b"done\n"

    os.close(ready)
    context.say_ready()  # the agent may be gone
    os.close(ready_write)
    context.say_ready()  # the script may have closed what it did not know


def test_settings_of_the_compiler_count_only_while_it_is_enabled() -> None:
    def compiler(**variables: str) -> object:
        return InstanceContext.from_environment(variables).compiler

    on = compiler(SMTC_COMPILER='{"backend": "inductor"}')

    assert getattr(on, "backend", None) == "inductor"
    assert compiler(SMTC_COMPILER='{"enabled": false, "backend": "inductor"}') is None
    assert compiler() is None


def test_a_parity_launch_takes_its_steps_and_has_settings_to_record_by() -> None:
    context = InstanceContext.from_environment(
        {"SMTC_PARITY_STEPS": "8", "SMTC_MAX_STEPS": "500"}
    )

    assert (context.parity_steps, context.max_steps) == (8, 8)
    assert context.compiler is not None
    assert (context.compiler.backend, context.compiler.fused_optimizer) == ("eager", False)


def test_a_job_may_turn_off_the_measuring_of_communication_and_ask_for_norms() -> None:
    wanted = {"MEASURE_COMMUNICATION": "0", "GRADIENT_NOISE_SCALE": "1"}
    job = TrainingJob(
        entry_point="train.py", cluster=Cluster.parse("here=local"), environment=wanted
    )

    context = InstanceContext.from_environment(job.environment)

    assert not context.measures_communication
    assert context.measures_noise
    assert InstanceContext.from_environment({}).measures_communication
