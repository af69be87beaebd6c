"""Several agents on one machine as forks of one process, which imports torch for all of them.

A launcher starts ``python -m smtc_lab.runtime.forked_agents <descriptor>``; the descriptor is
of a file that says what each agent is given. Each agent forks its entry points, which begin
with torch imported. Decision 126.
"""

from __future__ import annotations

import json
import os
import sys

from smtc_lab.instance.forking import be_called, fork_each, print_to
from smtc_lab.machine.processes import die_with_parent
from smtc_lab.runtime import agent as agent_of_one
from smtc_lab.runtime.starting.ahead import import_ahead

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from typing import Any, NoReturn


def main(descriptor: int) -> NoReturn:
    """Fork the agents, and end; each of them ends with its exit code."""
    with os.fdopen(descriptor, encoding="utf-8") as file:
        told = json.load(file)
    die_with_parent()
    if os.getppid() != told["parent"]:
        os._exit(1)
    own = sys.path[0]
    import_ahead(told["script"], told["layout"] or {})
    sys.path[0] = own  # beside the script only that looks
    agent = fork_each(told["agents"], told["say"])
    _run(agent, [each["lifeline"] for each in told["agents"]])


def _run(agent: dict[str, Any], lifelines: list[int]) -> NoReturn:
    """Be an agent, with its lifeline as standard input."""
    code = 1
    try:
        os.dup2(agent["lifeline"], 0)
        for number in lifelines:
            os.close(number)
        print_to(agent["log"])
        be_called(f"agent {agent['host']}")
        code = agent_of_one.main(agent["config"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)


if __name__ == "__main__":
    main(int(sys.argv[1]))
