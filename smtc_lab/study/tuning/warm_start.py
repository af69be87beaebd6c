"""What earlier searches found, for one that begins warm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError, StoreError
from smtc_lab.metrics.tuning.found import best_first
from smtc_lab.spec.tuning.ranges import holds
from smtc_lab.study.tuning.book import question_of
from smtc_lab.study.tuning.tuning_run import TUNING, TuningRun, book_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.tuning.question import TuningQuestion

Known = tuple[dict[str, Any], float]
"""Hyperparameters of a trial, and its objective."""

_MOST = 2_000
"""Trials that are learnt from, at most: the best ones."""


def known_trials(question: TuningQuestion, job: TrainingJob, *, root: Path) -> list[Known]:
    """Return the trials of the parents of a search that count, the best first.

    Args:
        question: What is searched.
        job: What each trial trains.
        root: Folder of runs, beside which searches lie.

    Raises:
        SpecError: A parent cannot be learnt from; says what differs.
    """
    config = question.warm_start_config
    if config is None:
        return []
    problems: list[str] = []
    trials = []
    for name in config.parents:
        try:
            parent = TuningRun.open(name, root=root)
            problems += _differences(parent, question, job)
            if not problems:
                trials += book_of(parent).trials
        except StoreError as error:
            problems.append(str(error))
    if problems:
        raise SpecError(problems)
    ranges = question.hyperparameter_ranges
    return [
        ({name: trial.parameters[name] for name in ranges}, trial.value)
        for trial in best_first(trials, is_minimized=question.is_minimized)
        if trial.value is not None
        and all(holds(one, trial.parameters.get(name)) for name, one in ranges.items())
    ][:_MOST]


def _differences(
    parent: TuningRun, question: TuningQuestion, job: TrainingJob
) -> Iterator[str]:
    request, what = parent.request, f"The parent {parent.name!r} of the warm start"
    if request.kind != TUNING:
        yield f"{what} is a {request.kind}. Name a search of 'smtc-lab tune'."
        return
    other = question_of(request)
    for field in ("objective_metric_name", "objective_type"):
        theirs, ours = getattr(other, field), getattr(question, field)
        if theirs != ours:
            yield f"{what} has {field}={theirs!r}, not {ours!r}. Search the same, or drop it."
    theirs, ours = set(other.hyperparameter_ranges), set(question.hyperparameter_ranges)
    if theirs != ours:
        only = [
            f"{', '.join(sorted(names))} {where}"
            for names, where in ((theirs - ours, "only there"), (ours - theirs, "only here"))
            if names
        ]
        yield f"{what} searches other hyperparameters: {'; '.join(only)}. Search the same."
    config = question.warm_start_config
    if config is None or config.warm_start_type != "IdenticalDataAndAlgorithm":
        return
    script, own = Path(request.jobs[0].entry_point).name, Path(job.entry_point).name
    if script != own:
        yield f"{what} trains {script!r}, not {own!r}. Take TransferLearning, or drop it."
    changed = [
        name
        for name in sorted(theirs & ours)
        if other.hyperparameter_ranges[name] != question.hyperparameter_ranges[name]
    ]
    if changed:
        yield (
            f"{what} has another range of {', '.join(changed)}. Take TransferLearning, or give "
            "the same range."
        )
