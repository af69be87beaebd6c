from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.context import process_variables
from smtc_lab.instance.description import InstanceDescription
from smtc_lab.launchers import job_environment
from smtc_lab.launchers.compiler_checks import runnable_backends
from smtc_lab.launchers.compiler_environment import compiler_environment
from smtc_lab.launchers.local.run import write_run
from smtc_lab.launchers.special_launch import as_parity_launch, with_memory_limit
from smtc_lab.machine.environments import probe
from smtc_lab.machine.environments.named import add_environment
from smtc_lab.machine.environments.probe import todays_facts
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.comparison import compiler_setups
from tests.kit.environments import borrowing_venv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

XLA = TrainingCompilerConfig(backend="xla")
INDUCTOR = TrainingCompilerConfig(backend="inductor")
WITHOUT_XLA = {"torch": "2.15.0"}
FED = "a=local:1:train,b=local:1:data"


def problems(
    launcher: LocalLauncher,
    make_job: MakeJob,
    config: TrainingCompilerConfig,
    cluster: str = "here=local:1",
) -> list[str]:
    return launcher.check(make_job("", cluster=cluster, compiler_config=config))


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that makes the environment of XLA; at first there is none."""
    monkeypatch.setenv("SMTC_LAB_ENVIRONMENTS", str(tmp_path / "environments"))
    # This one's own torch_xla, where tests run with it, would do for everything.
    facts = replace(todays_facts(), packages=WITHOUT_XLA)
    for module in (probe, job_environment, compiler_setups):
        monkeypatch.setattr(module, "todays_facts", lambda: facts)

    def make(**versions: str) -> None:
        borrowing_venv(tmp_path / "venv", **versions)
        add_environment("xla", tmp_path / "venv")

    return make


def test_every_backend_runs_where_xla_has_its_environment(
    launcher: LocalLauncher, make_job: MakeJob, environment: Callable[..., None]
) -> None:
    assert runnable_backends() == ["eager", "inductor"]

    environment(torch="2.9.1", torch_xla="2.9.0")

    assert runnable_backends() == ["eager", "inductor", "xla"]
    for backend in ("eager", "inductor", "xla", "auto"):
        config = TrainingCompilerConfig(backend=backend)
        assert problems(launcher, make_job, config, FED) == []


def test_xla_on_several_trainers_is_refused_with_what_to_do(
    launcher: LocalLauncher, make_job: MakeJob, environment: Callable[..., None]
) -> None:
    environment(torch="2.9.1", torch_xla="2.9.0")

    (problem,) = problems(launcher, make_job, XLA, "here=local:2")

    assert "'xla' trains on one instance, but the cluster has 2 training instances" in problem
    assert "Use backend='inductor'" in problem
    assert problems(launcher, make_job, INDUCTOR, "here=local:2") == []


def test_xla_on_several_trainers_is_no_problem_where_the_job_may_go_on_eagerly(
    launcher: LocalLauncher, make_job: MakeJob
) -> None:
    config = TrainingCompilerConfig(backend="xla", fallback="eager")

    assert problems(launcher, make_job, config, "here=local:2") == []


def test_a_missing_torch_xla_is_refused_unless_the_job_may_fall_back(
    launcher: LocalLauncher, make_job: MakeJob, environment: Callable[..., None]
) -> None:
    assert callable(environment)

    (problem,) = problems(launcher, make_job, XLA)

    assert "'xla' cannot be used: the environment 'today' has no torch_xla" in problem
    assert "make it with 'smtc-lab environment make xla'" in problem
    assert problems(launcher, make_job, XLA.model_copy(update={"fallback": "eager"})) == []
    assert problems(launcher, make_job, XLA.model_copy(update={"enabled": False})) == []


def test_a_torch_xla_of_another_torch_is_refused(
    launcher: LocalLauncher, make_job: MakeJob, environment: Callable[..., None]
) -> None:
    environment(torch="2.9.1+cpu", torch_xla="2.8.0")

    (problem,) = problems(launcher, make_job, XLA)

    assert "torch_xla 2.8.0, which was built for another torch than its 2.9.1+cpu" in problem
    assert "Remove it with 'smtc-lab environment remove xla'" in problem


def test_a_missing_cpp_compiler_is_refused(
    launcher: LocalLauncher, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)

    (problem,) = problems(launcher, make_job, INDUCTOR)

    assert "'inductor' needs a C++ compiler, and there is no 'g++' here. Install g++" in problem


def test_settings_of_inductor_are_refused_elsewhere(
    launcher: LocalLauncher, make_job: MakeJob
) -> None:
    config = TrainingCompilerConfig(backend="eager", mode="max-autotune", dynamic=False)

    found = problems(launcher, make_job, config)

    assert [problem.partition(",")[0] for problem in found] == [
        "mode='max-autotune' is a setting of inductor",
        "dynamic=False is a setting of inductor",
    ]


def test_a_job_without_a_compiler_keeps_libraries_from_taking_the_xla_device() -> None:
    for config in (None, TrainingCompilerConfig(enabled=False, backend="xla")):
        assert compiler_environment(config) == {"USE_TORCH_XLA": "0"}


def test_xla_computes_on_the_cpu_where_there_is_no_tpu(tmp_path: Path) -> None:
    tpu = tmp_path / "accel0"
    environment = compiler_environment(XLA, tpu_devices=[str(tpu)])

    assert environment["PJRT_DEVICE"] == "CPU"
    assert "USE_TORCH_XLA" not in environment
    tpu.touch()
    assert "PJRT_DEVICE" not in compiler_environment(XLA, tpu_devices=[str(tpu)])


@pytest.fixture
def agents(tmp_path: Path) -> Callable[[LaunchPlan], list[InstanceDescription]]:
    def written(plan: LaunchPlan) -> list[InstanceDescription]:
        folder = RunFolder.create(tmp_path / "runs", str(plan.job.job_name))
        write_run(folder, plan)
        return [
            InstanceDescription.from_values(
                json.loads(folder.agent_file(item.host).read_bytes())
            )
            for item in plan.instances
        ]

    return written


def test_only_training_instances_know_of_compiler_parity_and_memory_limit(
    launcher: LocalLauncher,
    make_job: MakeJob,
    agents: Callable[[LaunchPlan], list[InstanceDescription]],
) -> None:
    plan = launcher.plan(make_job("", cluster=FED, compiler_config=INDUCTOR))

    trainer, data = agents(with_memory_limit(as_parity_launch(plan, steps=8), 2**30))

    told = {"SMTC_COMPILER", "SMTC_PARITY_STEPS"}
    seen = trainer.environment | process_variables(trainer, trainer.trainers[0])
    assert told <= set(seen)
    assert TrainingCompilerConfig.model_validate_json(seen["SMTC_COMPILER"]) == INDUCTOR
    assert seen["SMTC_PARITY_STEPS"] == "8"
    assert seen["SMTC_MAX_STEPS"] == "8"
    assert trainer.memory_limit_bytes == 2**30
    assert not told & set(data.environment | process_variables(data, None))
    assert data.environment == trainer.environment  # libraries wrap loaders alike
    assert data.memory_limit_bytes is None


def test_the_job_has_the_last_word_on_variables_of_libraries(
    make_job: MakeJob,
    launcher: LocalLauncher,
    agents: Callable[[LaunchPlan], list[InstanceDescription]],
) -> None:
    job = make_job("", cluster="here=local:1", environment={"USE_TORCH_XLA": "1"})

    (trainer,) = agents(launcher.plan(job))

    assert trainer.environment["USE_TORCH_XLA"] == "1"
    assert trainer.memory_limit_bytes is None
