"""All rounds of all models, one process on each core, as far as the time allows."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.compiler.one_round import Row, measure_round
from notebooks.benchmarks.harness.fresh import measured
from smtc_lab.errors import RunFailedError
from smtc_lab.machine.environments.named import ENVIRONMENTS_VARIABLE, environments_root
from smtc_lab.machine.home import HOME_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def measure_rounds(  # noqa: PLR0913  options by name, all with a default
    models: Sequence[str],
    *,
    set_ups: Sequence[str],
    repeats: int = 3,
    steps: int = 10,
    size: str = "small",
    budget_s: float = 1400.0,
    cores: Sequence[int | None] | None = None,
    kept_in: Path | None = None,
    python_environment: str | None = None,
    say: Callable[[str], None] = print,
) -> Iterator[Row]:
    """Yield what each launch showed.

    Each round measures each set-up of each model once, in a process of its own, pinned to one
    core with one thread. What cannot be done in time is left out, and said. The compilers'
    cache is empty in the first round.

    Args:
        models: Names of models.
        set_ups: Names of set-ups, the baseline first.
        repeats: Rounds, at least 1.
        steps: Steady steps of each launch.
        size: ``small`` or ``full``.
        budget_s: Seconds after which no further round begins.
        cores: Cores that work side by side; None: all that this process may use. ``[None]``:
            one process at a time, with all cores and as many threads, for a GPU.
        kept_in: Folder that keeps rows and the compilers' cache, so that a later call goes on
            with the rounds that are left; None: nothing is kept.
        python_environment: Environment of every launch; None: today's, and XLA's for XLA, with
            eager once more in it.
        say: Gets a sentence for whatever is left out.
    """
    free: SimpleQueue[int | None] = SimpleQueue()
    allowed = [*(sorted(os.sched_getaffinity(0)) if cores is None else cores)]
    for core in allowed:
        free.put(core)
    ends_s = time.monotonic() + budget_s
    with _folder(kept_in) as folder, ThreadPoolExecutor(len(allowed)) as pool:
        kept = folder / "rows.jsonl"

        def rows_of(model: str, number: int) -> list[Row]:
            if time.monotonic() > ends_s:
                say(f"{model}, round {number}: left out, the time is over.")
                return []
            core = free.get()
            try:
                return _in_process(
                    say,
                    home=str(folder / "home"),
                    core=core,
                    model=model,
                    set_ups=list(set_ups),
                    number=number,
                    steps=steps,
                    size=size,
                    python_environment=python_environment,
                )
            finally:
                free.put(core)

        yield from (known := _read(kept))
        done = {(row.model, row.round) for row in known}
        tasks = [(model, number) for number in range(repeats) for model in models]
        for rows in pool.map(lambda task: rows_of(*task), [t for t in tasks if t not in done]):
            with kept.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
            yield from rows


def _folder(kept_in: Path | None) -> AbstractContextManager[Path]:
    if kept_in is None:
        return _temporary_folder()
    kept_in.mkdir(parents=True, exist_ok=True)
    return nullcontext(kept_in)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _read(kept: Path) -> list[Row]:
    if not kept.is_file():
        return []
    return [Row(**json.loads(line)) for line in kept.read_text(encoding="utf-8").splitlines()]


def _in_process(say: Callable[[str], None], *, home: str, **arguments: Any) -> list[Row]:  # noqa: ANN401  what _main takes
    """Return the rows of one round, measured in a process that is pinned to a core."""
    words = ("-m", __name__, json.dumps(arguments))
    variables = {
        HOME_VARIABLE: home,
        ENVIRONMENTS_VARIABLE: str(environments_root()),  # else they would lie below home
    }
    try:
        result = measured(arguments["model"], *words, environment=variables, limit_s=None)
    except RunFailedError as error:
        say(str(error))
        return []
    for sentence in result["warnings"]:
        say(sentence)
    return [Row(**row) for row in result["rows"]]


def _main(text: str) -> Iterator[str]:
    arguments = json.loads(text)
    core = arguments.pop("core")
    if core is not None:
        os.sched_setaffinity(0, {core})
    with tempfile.TemporaryDirectory() as folder:
        try:
            rows, warnings = measure_round(
                arguments.pop("model"),
                folder=Path(folder),
                environment={} if core is None else _ONE_THREAD,
                **arguments,
            )
        except RunFailedError as error:
            rows, warnings = [], [str(error)]
    yield json.dumps({"rows": [asdict(row) for row in rows], "warnings": warnings})


if __name__ == "__main__":
    sys.stdout.writelines(_main(sys.argv[1]))
