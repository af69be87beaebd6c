"""The trainers of an instance as forks of one process, which imports torch for all of them.

The agent starts ``python -m smtc_lab.runtime.starting.forked_trainers <descriptor> <script>
[arguments]``; the descriptor is of a file that says what each trainer is given. Decision 122.
"""

from __future__ import annotations

import json
import os
import sys

from smtc_lab.instance.forking import fork_each
from smtc_lab.instance.variables import DISTRIBUTION_VARIABLE
from smtc_lab.machine.processes import die_with_parent
from smtc_lab.runtime.starting.ahead import import_ahead, run_forked

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from typing import NoReturn


def main(descriptor: int, script: str, arguments: list[str]) -> NoReturn:
    """Fork the trainers, and end; each of them runs the script, and ends with its exit code."""
    with os.fdopen(descriptor, encoding="utf-8") as file:
        told = json.load(file)
    import_ahead(script, json.loads(os.environ.get(DISTRIBUTION_VARIABLE, "{}")))
    trainer = fork_each(told["trainers"], told["say"])
    given = {number for each in told["trainers"] for number in each["descriptors"]}
    for number in given - set(trainer["descriptors"]):
        os.close(number)
    die_with_parent()
    if os.getppid() != told["parent"]:
        os._exit(1)
    run_forked(script, arguments, environment=trainer["environment"], log=trainer["log"])


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
