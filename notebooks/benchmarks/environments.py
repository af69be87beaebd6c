"""What an environment is worth: for ``notebooks/bench_environments.ipynb``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.compiler.rounds import measure_rounds
from notebooks.benchmarks.dataservice.rounds import measured as delivery
from notebooks.benchmarks.harness import rounds
from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.overhead import start_and_end_s
from smtc_lab.machine.environments.probe import environment_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = dict[str, Any]
"""``what`` was measured, in which ``environment`` and ``round``, its ``value`` and ``unit``."""

_RECORD = (
    "import json, sys; from pathlib import Path; "
    "from notebooks.benchmarks.overhead import step_record_cost_s; "
    "print(json.dumps(step_record_cost_s(Path(sys.argv[1]), steps=5000)))"
)


def measured_rounds(  # noqa: PLR0913  options by name
    environments: Sequence[str],
    *,
    repeats: int,
    peers: Sequence[str],
    models: Sequence[str],
    set_ups: Sequence[str],
    steps: int,
) -> Iterator[Row]:
    """Yield what was measured; in each round everything once in each environment, in turns.

    Args:
        environments: Names of environments, the one to compare with first.
        repeats: Rounds.
        peers: Ways of delivering batches of 38.5 MB.
        models: Networks to train.
        set_ups: Compilers to train them under.
        steps: Steady steps of each training.

    Raises:
        RunFailedError: A measurement failed.
        PythonEnvironmentError: An environment is not there.
    """
    for number in range(repeats):
        order = rounds.in_turns(environments, number)
        for name in order:
            for what, value, unit in _measured(name, peers):
                yield _row(what, name, number, value, unit)
        for name in order:
            for row in measure_rounds(
                models,
                set_ups=set_ups,
                repeats=1,
                steps=steps,
                cores=[0],
                python_environment=name,
            ):
                what = f"{row.model}, {row.set_up.partition(' in ')[0]}"
                yield _row(what, name, number, 1000 * row.step_cpu_s, "ms of CPU time a step")


def _row(what: str, name: str, number: int, value: float, unit: str) -> Row:
    return {
        "what": what,
        "environment": name,
        "round": number,
        "value": value,
        "unit": unit,
        "torch": environment_facts(name).torch,
    }


def _measured(name: str, peers: Sequence[str]) -> Iterator[tuple[str, float, str]]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        yield (
            "start of three instances",
            start_and_end_s(folder, python_environment=name)[0],
            "s",
        )
        python = environment_facts(name).python
        record_s = measured("a step record", "-c", _RECORD, scratch, python=python)
        yield "keeping one step record", 1e6 * record_s, "us"
        for peer in peers:
            wanted = {"peer": peer, "payload": "b", "seconds": 1.5}
            row = delivery("throughput", wanted, python=python)
            yield f"data service, {peer}", row["gb_per_s"], "GB/s"


def ratios(rows: Sequence[Row], what: str, environment: str, baseline: str) -> list[float]:
    """Return a value over the baseline environment's of the same round, by round."""
    mine, theirs = (
        {
            row["round"]: row["value"]
            for row in rows
            if (row["what"], row["environment"]) == (what, name)
        }
        for name in (environment, baseline)
    )
    return [ratio for _, ratio in sorted(rounds.ratios(mine, theirs).items())]
