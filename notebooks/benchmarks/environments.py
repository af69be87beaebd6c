"""What an environment is worth: for ``notebooks/bench_environments.ipynb``."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.compiler.rounds import measure_rounds
from notebooks.benchmarks.overhead import start_and_end_s
from smtc_lab.errors import RunFailedError
from smtc_lab.machine.environments.probe import environment_facts
from smtc_lab.machine.environments.shown_package import python_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = dict[str, Any]
"""``what`` was measured, in which ``environment`` and ``round``, its ``value`` and ``unit``."""

_ROOT = Path(__file__).parents[2]
"""Where an interpreter of another environment finds all that is here."""

_LIMIT_S = 600
_SHOWN_CHARACTERS = 2000
_RECORD = (
    "import json, sys; from pathlib import Path; "
    "from notebooks.benchmarks.overhead import step_record_cost_s; "
    "print(json.dumps(step_record_cost_s(Path(sys.argv[1]), steps=5000)))"
)
_FRESH = "notebooks.benchmarks.dataservice.fresh"


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
        order = environments if number % 2 == 0 else [*reversed(environments)]
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
        record_s = _said(name, "-c", _RECORD, scratch)
        yield "keeping one step record", 1e6 * record_s, "us"
        for peer in peers:
            wanted = json.dumps({"peer": peer, "payload": "b", "seconds": 1.5})
            row = _said(name, "-m", _FRESH, "throughput", wanted)
            yield f"data service, {peer}", row["gb_per_s"], "GB/s"


def _said(name: str, *arguments: str) -> Any:  # noqa: ANN401  whatever was printed
    """Return the JSON that an environment's interpreter prints last."""
    facts = environment_facts(name)
    ended = subprocess.run(  # noqa: S603  our own modules
        [facts.python, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT_S,
        env={**os.environ, "PYTHONPATH": python_path(_ROOT)},
    )
    if ended.returncode:
        raise RunFailedError(
            f"{arguments[:3]} failed in the environment {name!r}: "
            f"{ended.stderr[-_SHOWN_CHARACTERS:]}"
        )
    return json.loads(ended.stdout.splitlines()[-1])


def ratios(rows: Sequence[Row], what: str, environment: str, baseline: str) -> list[float]:
    """Return a value over the baseline environment's of the same round, by round."""
    of = {
        (row["environment"], row["round"]): row["value"] for row in rows if row["what"] == what
    }
    return [
        value / of[baseline, number]
        for (name, number), value in sorted(of.items(), key=lambda item: item[0][1])
        if name == environment and (baseline, number) in of
    ]
