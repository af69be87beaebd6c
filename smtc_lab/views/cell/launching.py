"""Starts what the options of ``%%smtc`` describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.launchers.run import launch
from smtc_lab.neutral_text import neutral
from smtc_lab.rules.before_launch import launch_cautions
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.study.comparison.duration import least_time_on_this_machine
from smtc_lab.study.scaling.scale import launch_scaling
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.progress import ProgressLine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.scaling.scaling import Scaling
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.comparison.compare import ComparisonOutcome
    from smtc_lab.study.scaling.scale import ScalingRun
    from smtc_lab.views.kinds import Thing

_LAST_LINES = 20


def start(
    jobs: Sequence[TrainingJob],
    options: argparse.Namespace,
    *,
    keep: Callable[[object], None],
) -> Thing | ComparisonOutcome | Scaling:
    """Start one run, or a study of several; with ``--wait``, wait for its end.

    Args:
        jobs: What to run, the baseline first.
        options: What was typed.
        keep: Called with what will be returned; of a run that is waited for, before the wait,
            so that a failed one is at hand.

    Raises:
        SpecError: A job cannot run here; nothing was started.
        LauncherError: It could not be started.
        RunFailedError: It was waited for, and failed.
    """
    for caution in launch_cautions(jobs, Catalog.load()):
        print(neutral(f"Caution: {caution}"))  # noqa: T201  standard error is red in a notebook
    if options.devices is not None:
        scaled = _scaled(jobs, options)
        keep(scaled)
        return scaled
    if len(jobs) == 1:
        run = launch(jobs[0], detach=_detach(options))
        keep(run)
        if options.wait:
            run.wait()
            lines = run.logs().splitlines()[-_LAST_LINES:]
            said = neutral("\n".join(lines))
            print(said)  # noqa: T201  what the script printed belongs under its cell
        return run
    outcome = _compared(jobs, options)
    keep(outcome)
    return outcome


def _compared(
    jobs: Sequence[TrainingJob], options: argparse.Namespace
) -> ComparisonRun | ComparisonOutcome:
    _tell_least_time(jobs, options)
    run = launch_comparison(
        jobs,
        rounds=options.rounds,
        within=options.within,
        parity=bool(options.compiler) and not options.no_parity,
        detach=_detach(options),
    )
    if not options.wait:
        return run
    with ProgressLine() as progress:
        return run.wait(progress=progress.show)


def _scaled(jobs: Sequence[TrainingJob], options: argparse.Namespace) -> ScalingRun | Scaling:
    try:
        devices = [int(part) for part in options.devices.split(",")]
    except ValueError:
        raise CellError(
            f"--devices {options.devices[:80]!r} are no whole numbers. Write for example 1,2,4."
        ) from None
    run = launch_scaling(
        jobs,
        devices=devices,
        rounds=options.rounds,
        within=options.within,
        detach=_detach(options),
    )
    _tell_least_time(run.request.jobs, options)
    if not options.wait:
        return run
    with ProgressLine() as progress:
        return run.wait(progress=progress.show)


def _tell_least_time(jobs: Sequence[TrainingJob], options: argparse.Namespace) -> None:
    if took := least_time_on_this_machine(jobs, Catalog.load(), rounds=options.rounds):
        print(neutral(took))  # noqa: T201  standard error is red in a notebook


def _detach(options: argparse.Namespace) -> bool | None:
    return False if options.no_detach else None
