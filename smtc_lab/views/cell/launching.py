"""Starts what the options of ``%%smtc`` describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.run import launch
from smtc_lab.neutral_text import neutral
from smtc_lab.rules.before_launch import launch_cautions
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.study.comparison.duration import least_time_on_this_machine
from smtc_lab.study.options.compared_jobs import checks_parity
from smtc_lab.study.options.job_options import counts_in
from smtc_lab.study.options.option_words import in_options
from smtc_lab.study.scaling.scale import launch_scaling
from smtc_lab.views.progress import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.scaling.scaling import Scaling
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.comparison.compare import ComparisonOutcome
    from smtc_lab.study.scaling.scale import ScalingRun
    from smtc_lab.views.kinds import Thing

    Options = dict[str, Any]

_LAST_LINES = 20


def start(
    jobs: Sequence[TrainingJob],
    catalog: Catalog,
    options: Options,
    *,
    keep: Callable[[object], None],
) -> Thing | ComparisonOutcome | Scaling:
    """Start one run, or a study of several; with ``--wait``, wait for its end.

    Args:
        jobs: What to run, the baseline first.
        catalog: Types and prices.
        options: What was typed.
        keep: Called with what will be returned; of a run that is waited for, before the wait,
            so that a failed one is at hand.

    Raises:
        SpecError: A job cannot run here; nothing was started.
        LauncherError: It could not be started.
        RunFailedError: It was waited for, and failed.
    """
    for caution in launch_cautions(jobs, catalog):
        print(neutral(f"Caution: {in_options(caution)}"))  # noqa: T201  standard error is red in a notebook
    if options["devices"] is not None:
        scaled = _scaled(jobs, catalog, options)
        keep(scaled)
        return scaled
    if len(jobs) == 1:
        run = launch(jobs[0], detach=_detach(options), catalog=catalog)
        keep(run)
        if options["wait"]:
            run.wait()
            lines = run.logs().splitlines()[-_LAST_LINES:]
            said = neutral("\n".join(lines))
            print(said)  # noqa: T201  what the script printed belongs under its cell
        return run
    outcome = _compared(jobs, catalog, options)
    keep(outcome)
    return outcome


def _compared(
    jobs: Sequence[TrainingJob], catalog: Catalog, options: Options
) -> ComparisonRun | ComparisonOutcome:
    _tell_least_time(jobs, catalog, options)
    run = launch_comparison(
        jobs,
        rounds=options["rounds"],
        within=options["within"],
        parity=checks_parity(options),
        detach=_detach(options),
        catalog=catalog,
    )
    if not options["wait"]:
        return run
    with ProgressLine() as progress:
        return run.wait(progress=progress.show)


def _scaled(
    jobs: Sequence[TrainingJob], catalog: Catalog, options: Options
) -> ScalingRun | Scaling:
    run = launch_scaling(
        jobs,
        devices=counts_in(options["devices"]),
        rounds=options["rounds"],
        within=options["within"],
        detach=_detach(options),
        catalog=catalog,
    )
    _tell_least_time(run.request.jobs, catalog, options)
    if not options["wait"]:
        return run
    with ProgressLine() as progress:
        return run.wait(progress=progress.show)


def _tell_least_time(jobs: Sequence[TrainingJob], catalog: Catalog, options: Options) -> None:
    if took := least_time_on_this_machine(jobs, catalog, rounds=options["rounds"]):
        print(neutral(took))  # noqa: T201  standard error is red in a notebook


def _detach(options: Options) -> bool | None:
    return False if options["no_detach"] else None
