"""Starts what a browser asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import SpecError
from smtc_lab.launchers.run import launch
from smtc_lab.study.comparison.comparison_run import launch_comparison
from smtc_lab.study.scaling.scale import launch_scaling
from smtc_lab.study.tuning.tuner import launch_tuning
from smtc_lab.views.code.set_ups import placed
from smtc_lab.views.code.typed_job import typed_job
from smtc_lab.views.forecast.forecasting import keep_forecast
from smtc_lab.views.tuning.asked import asked_question

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob


def start(asked: object, root_dir: Path) -> str:
    """Start a run or a study that goes on without the server, and return its name.

    Args:
        asked: What a browser sent.
        root_dir: Folder from which relative paths of jobs count.

    Raises:
        SmtcLabError: It cannot be started; says why.
    """
    match asked:
        case {"kind": "run", "job": dict(job)}:
            return launch(_job(job, root_dir), detach=True).job_name
        case {"kind": "comparison", "jobs": list(jobs), "rounds": int(rounds)}:
            found = [_job(job, root_dir) for job in jobs]
            started = launch_comparison(found, rounds=rounds, detach=True)
            keep_forecast(started.folder, jobs, catalog=Catalog.load(), folder=root_dir)
            return started.name
        case {
            "kind": "scaling",
            "jobs": list(jobs),
            "rounds": int(rounds),
            "devices": list(devices),
        } if all(type(count) is int for count in devices):
            found = [_job(job, root_dir) for job in jobs]
            return launch_scaling(found, devices=devices, rounds=rounds, detach=True).name
        case {"kind": "tuning", "jobs": [dict(job), *_], "question": dict(question)}:
            asked = asked_question(question)
            return launch_tuning(_job(job, root_dir), asked, detach=True).name
    raise SpecError(
        "Only a run {kind: 'run', job}, a comparison {kind: 'comparison', jobs, rounds}, a "
        "scaling study {kind: 'scaling', jobs, rounds, devices} or a search "
        "{kind: 'tuning', jobs, question} can be started, and "
        f"{str(asked)[:200]!r} is none of them. Load the page again."
    )


def _job(values: object, root_dir: Path) -> TrainingJob:
    """Return a job that a browser sent, its paths counted from the server's folder."""
    return placed(typed_job(values), root_dir)
