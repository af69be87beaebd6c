"""Agents of one machine, forked from one process that has imported what their scripts will."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from smtc_lab.instance.description import InstanceDescription
from smtc_lab.instance.forking import Forker, can_be_forked, can_take_threads
from smtc_lab.instance.prepare import thread_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.store.run_folder import RunFolder


def first_of_alike(folder: RunFolder, hosts: Sequence[str]) -> InstanceDescription | None:
    """Return the first of several instances whose agents one process can fork; None: it cannot.

    They have the same script, Python and environment.
    """
    if len(hosts) < 2:
        return None
    first, *others = (_described(folder, host) for host in hosts)
    are_alike = (
        first.command[0] == sys.executable
        and can_be_forked(first)
        and all(
            one.command == first.command
            and one.environment == first.environment
            and (one.threads == first.threads or can_take_threads())
            for one in others
        )
    )
    return first if are_alike else None


def fork_agents(
    first: InstanceDescription,
    folder: RunFolder,
    lifelines: Mapping[str, int],
    *,
    environment: Mapping[str, str],
    inherited: Sequence[int],
) -> Forker:
    """Start the process that imports torch once and forks the agents (``forked_agents``).

    Args:
        first: The first instance.
        folder: The run's folder.
        lifelines: Descriptor of each agent's lifeline, by host, where it is read.
        environment: Variables of all of them.
        inherited: What they inherit besides.

    Raises:
        OSError: It cannot be started.
    """
    values = {
        "script": first.command[-1],
        "layout": first.distribution and asdict(first.distribution),
        "agents": [
            {
                "host": host,
                "lifeline": lifeline,
                "log": str(folder.logs / f"{host}.agent.log"),
                "config": str(folder.agent_file(host)),
            }
            for host, lifeline in lifelines.items()
        ],
    }

    def start(told: str, needed: list[int]) -> subprocess.Popen[bytes]:
        with (folder.logs / f"{first.host}.agent.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603  our own module, no shell
                [sys.executable, "-m", "smtc_lab.runtime.forked_agents", told],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[*lifelines.values(), *inherited, *needed],
                env={**environment, **thread_variables(first), **first.environment},
            )

    return Forker(values, start)


def _described(folder: RunFolder, host: str) -> InstanceDescription:
    text = folder.agent_file(host).read_text(encoding="utf-8")
    return InstanceDescription.from_values(json.loads(text))
