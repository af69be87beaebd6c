"""What a run consists of on disk before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.job_environment import (
    interpreter_variables,
    job_environment,
)
from smtc_lab.launchers.local.own_folder import own_folder
from smtc_lab.launchers.plan_file import write_plan
from smtc_lab.machine.environments.named import TODAY
from smtc_lab.machine.environments.shown_package import show_package
from smtc_lab.store.environment_file import write_environment

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.machine.environments.probe import EnvironmentFacts
    from smtc_lab.store.run_folder import RunFolder


def write_run(folder: RunFolder, plan: LaunchPlan) -> None:
    """Write what the supervisor and the agents of this machine read."""
    write_plan(folder, plan)
    channels = {
        channel.channel_name: str(Path(channel.source).resolve())
        for channel in plan.job.channels
    }
    environment = plan.environment or job_environment(plan.job)
    write_environment(folder, environment)
    place = AgentPlace(
        run_folder=str(folder.path),
        entry_point=Path(plan.job.entry_point).resolve(),
        python=environment.python,
        channels=channels,
        environment=_variables(folder, plan, environment),
        working_folder=own_folder(folder, plan.job),
        is_shared=True,
    )
    for instance in plan.instances:
        folder.instance(instance.host).mkdir(parents=True, mode=0o700)
        told = describe_instance(plan, instance, place).to_json()
        folder.agent_file(instance.host).write_text(told, encoding="utf-8")


def _variables(
    folder: RunFolder, plan: LaunchPlan, environment: EnvironmentFacts
) -> dict[str, str]:
    """Return what the interpreter must be told, and show this package to others than ours."""
    if environment.name == TODAY:
        return {}
    path = folder.shown_package
    show_package(path)
    return interpreter_variables(environment, path, plan.job.environment)
