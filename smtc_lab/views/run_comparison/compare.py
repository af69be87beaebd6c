"""Reads the runs that are compared: a damaged one is told, and the others are compared."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import SpecError, StoreError
from smtc_lab.store.state import current_state
from smtc_lab.store.steps.thinned import read_samples_per_step, read_thinned
from smtc_lab.study.experiments.run_diff import differences_of, folder_of, told_of
from smtc_lab.views.run_comparison.comparison import (
    ComparedCurve,
    ComparedRun,
    RunComparison,
)
from smtc_lab.views.run_table.facts import METRIC, facts_of_run
from smtc_lab.views.run_table.kept_facts import KeptFacts
from smtc_lab.views.run_table.table import RunTable
from smtc_lab.views.text.format import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import StrPath
    from numpy.typing import NDArray

    from smtc_lab.launchers.run import Run
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.store.state import RunState
    from smtc_lab.store.steps.thinned import ThinnedMetric
    from smtc_lab.study.experiments.run_diff import Difference, Told
    from smtc_lab.views.run_comparison.comparison import Numbers
    from smtc_lab.views.run_table.facts import Facts

MOST_RUNS = 50
"""Runs that are compared at most."""

_MOST_DIFFERENCES = 500
_MOST_NUMBERS = 300_000
"""Of all curves together: some 2.5 MB of JSON."""

_COLUMNS = 6
_MOST_BINS = 500
_FEWEST_BINS = 20
_THREADS = 2
_SECONDS_PER_HOUR = 3600.0
_FIRST = ("hyperparameters.", "arguments.")
_ENDINGS = (".min", ".max")


def compare_runs(
    *runs: Run | StrPath | RunTable,
    root: StrPath | None = None,
    metrics: int | None = None,
) -> RunComparison:
    """Return what differs in 2 to 50 runs, what is known of each, and what they logged.

    ::

        lab.compare_runs("digits-1", "digits-2", "digits-3")
        lab.compare_runs(lab.runs().where("loss < 0.3"))

    A run that is damaged is told in its ``problem``; the others are compared.

    Args:
        runs: Runs, or their names or folders; or tables of runs, whose studies are left out.
        root: Folder of runs for names; None: the default one.
        metrics: Number of metrics whose curves are read, those first that most runs logged;
            None: all.

    Raises:
        SpecError: They are fewer than 2, or more than 50.
        StoreError: There is no such run.
    """
    given: list[tuple[Run | StrPath, StrPath | None]] = []
    for one in runs:
        if isinstance(one, RunTable):
            given += [(str(row["name"]), one.root) for row in one.rows if row["kind"] == "run"]
        else:
            given.append((one, root))
    folders = {(found := folder_of(*each)).path.resolve(): found for each in given}
    if not 2 <= len(folders) <= MOST_RUNS:
        raise SpecError(
            f"{len(folders)} different runs were given, but 2 to {MOST_RUNS} can be compared. "
            "Name others, or choose among them with lab.runs().where(...)."
        )
    return _compared(list(folders.values()), metrics)


def short_names(names: Sequence[str]) -> list[str]:
    """Return names with only those words that are not the same in all of them.

    Names of unlike numbers of words lose the words at their begin that all of them have.
    """
    words = [name.split("-") for name in names]
    differ = [len(set(found)) > 1 for found in zip(*words, strict=False)]
    if len(set(map(len, words))) == 1:
        kept = [list(compress(part, differ)) for part in words]
    else:
        first = differ.index(True) if True in differ else 0
        kept = [part[first:] for part in words]
    short = list(map("-".join, kept))
    return short if all(short) and len(set(short)) == len(names) else list(names)


def _compared(folders: Sequence[RunFolder], num_metrics: int | None) -> RunComparison:
    facts = _facts_of(folders)
    logged = [_metrics_of(one) for one in facts]
    counts: dict[str, int] = {}
    for names in logged:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    # sorted() keeps the order of those that as many runs logged; a loss first
    metrics = sorted(counts, key=lambda name: (-counts[name], "loss" not in name))
    chosen = frozenset(metrics[:num_metrics])
    wanted = [[name for name in names if name in chosen] for names in logged]
    num_curves = max(1, sum(map(len, wanted)))
    most_bins = _MOST_NUMBERS // _COLUMNS // num_curves
    read = partial(_run, most_bins=max(_FEWEST_BINS, min(_MOST_BINS, most_bins)))
    labels = short_names([folder.job_name for folder in folders])
    with ThreadPoolExecutor(_THREADS) as threads:
        found = list(threads.map(read, folders, labels, facts, wanted))
    differences, unknown = differences_of([told for _, told in found])
    differences = tuple(sorted(differences, key=_rank))
    return RunComparison(
        runs=tuple(run for run, _ in found),
        differences=differences[:_MOST_DIFFERENCES],
        num_left_out=max(0, len(differences) - _MOST_DIFFERENCES),
        unknown=unknown,
        metrics=tuple(metrics),
    )


def _rank(difference: Difference) -> bool:
    return not difference.name.startswith(_FIRST)


def _facts_of(folders: Sequence[RunFolder]) -> list[Facts]:
    """Return the facts of runs; those of ended ones are kept beside them."""
    kept = {root: KeptFacts(root) for root in {folder.path.parent for folder in folders}}
    told = []
    for folder in folders:
        facts = kept[folder.path.parent].of(folder.path)
        if facts is None:
            facts, is_final = facts_of_run(folder)
            if is_final:
                kept[folder.path.parent].keep(folder.path, facts)
        told.append(facts)
    for one in kept.values():
        one.write()
    return told


def _metrics_of(facts: Facts) -> list[str]:
    names = [name.removeprefix(METRIC) for name in facts if name.startswith(METRIC)]
    # a metric may itself be called loss.min
    return [
        name
        for name in names
        if not (name.endswith(_ENDINGS) and name.rpartition(".")[0] in names)
    ]


def _run(
    folder: RunFolder, label: str, facts: Facts, wanted: Sequence[str], *, most_bins: int
) -> tuple[ComparedRun, Told]:
    told: Told
    curves: tuple[ComparedCurve, ...] = ()
    samples, problem = None, ""
    try:
        told = told_of(folder, metrics=False)
    except StoreError as error:
        told, problem = told_of(None, metrics=False), brief(str(error))
    try:
        samples = read_samples_per_step(folder)
        state = current_state(folder)
        begin_s = state.started_s or 0.0
        usd_per_hour = facts["usd_per_hour"] if facts["evidence"] == "measured" else None
        curves = tuple(
            _curve(one, state, begin_s, _number(usd_per_hour))
            for one in read_thinned(folder, wanted, most_bins=most_bins)
        )
    except StoreError as error:
        problem = problem or brief(str(error))
    numbers = {name: _number(value) for name, value in facts.items()}
    evidence = facts["evidence"]
    run = ComparedRun(
        name=folder.job_name,
        label=label,
        problem=problem,
        evidence=evidence if evidence in {"measured", "emulated"} else None,
        samples_per_step=samples,
        numbers={name: value for name, value in numbers.items() if value is not None},
        texts={
            name: str(value)
            for name, value in facts.items()
            if value is not None and numbers[name] is None
        },
        curves=curves,
    )
    return run, told


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _curve(
    metric: ThinnedMetric, state: RunState, begin_s: float, usd_per_hour: float | None
) -> ComparedCurve:
    is_thinned = metric.num_values > len(metric.value)
    time_s = np.maximum(metric.time_s - begin_s, 0.0)
    billed_s = time_s - _waited_s(state, metric.time_s)
    return ComparedCurve(
        metric=metric.name,
        step=_told(metric.step, 12),
        time_s=_told(time_s, 9),
        usd=() if usd_per_hour is None else _told(usd_per_hour * billed_s / _SECONDS_PER_HOUR),
        value=_told(metric.value),
        low=_told(metric.low) if is_thinned else (),
        high=_told(metric.high) if is_thinned else (),
        num_values=metric.num_values,
        num_finite=metric.num_finite,
    )


def _waited_s(state: RunState, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how long a run had no instances before some times, which is not billed."""
    waited = np.zeros_like(time_s)
    for one, following in zip(state.attempts, state.attempts[1:], strict=False):
        if one.ended_s is not None:
            waited += np.clip(
                time_s - one.ended_s, 0, max(0, following.started_s - one.ended_s)
            )
    return waited


def _told(values: NDArray[np.float64], digits: int = 6) -> Numbers:
    return tuple(
        float(f"{value:.{digits}g}") if math.isfinite(value) else None
        for value in values.tolist()
    )
