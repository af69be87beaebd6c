"""What the table of runs tells of a run or a study: one value for each name."""

from __future__ import annotations

import contextlib
import json
import math
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError, StoreError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.special_launch import made_by
from smtc_lab.store.identity.notes import read_notes
from smtc_lab.store.reader import read_job
from smtc_lab.store.steps.logged import read_logged
from smtc_lab.study.experiments.options import options_of
from smtc_lab.views.live.list_row import empty_row
from smtc_lab.views.run.listed import ListedRun
from smtc_lab.views.study.listed import ListedStudy
from smtc_lab.views.text.format import brief

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.views.live.list_row import Row

Value = str | int | float | bool | None
Facts = dict[str, Value]
"""Of a run or a study: the values of ``BASE``; of a run also ``param.<name>`` of its
hyperparameters and arguments, and ``metric.<name>``, with ``.min`` and ``.max``, of what it
logged. What is not known is None or not there."""

BASE = (
    "name",
    "kind",
    "state",
    "reason",
    "script",
    "cluster",
    "engine",
    "study",
    "launch",
    "made_by",
    "experiment",
    "title",
    "tags",
    "note",
    "started",
    "took_s",
    "steps",
    "step_time_s",
    "cost_usd",
    "usd_per_hour",
    "evidence",
    "compiler",
    "seed",
)
"""Names that every row has: its name; ``run`` or the kind of a study; its state and why; its
script; what tables call its cluster; the engine; of a launch the study that made it, and what
that launches with it; ``calibration`` or ``proof``, which made it; experiment, title, tags and
note that people gave it; its begin in seconds since the epoch; how long it took, and one step
behind the warm-up, in seconds; its cost so far and per hour in USD; ``measured`` or
``emulated``, as its step time is; the compiler's backend; its seed."""

PARAM, METRIC = "param.", "metric."
"""What names of parameters and of metrics begin with."""

LAUNCHES = "_launches"
"""Of a study: names and labels of its launches, as JSON; no column."""

_MOST_METRICS = 100
_MOST_PARAMS = 200


def facts_of_run(folder: RunFolder) -> tuple[Facts, bool]:
    """Return what is known of a run, and whether nothing of it will change.

    What cannot be read has the state ``Damaged``, and the reason.
    """
    listed = ListedRun(folder.path)
    listed.look({})
    listed.look_at_steps()
    facts = _of_row(listed.row)
    is_final = listed.has_ended and listed.are_steps_final
    with contextlib.suppress(SmtcLabError):  # its row says what is wrong
        job = read_job(folder)
        plan = read_plan(folder)
        facts["engine"] = brief(str(plan.get("launcher", ""))) or None
        facts["made_by"] = made_by(plan) or None
        facts["seed"] = job.seed
        facts["compiler"] = None if job.compiler_config is None else job.compiler_config.backend
        facts |= _parameters(job)
    facts |= _notes(folder)
    try:
        facts |= _metrics(folder)
    except StoreError as error:
        facts["reason"] = facts["reason"] or brief(str(error))
    return facts, is_final


def facts_of_study(path: Path, runs: Mapping[str, Row]) -> tuple[Facts, bool]:
    """Return what is known of a study, and whether nothing of it will change.

    Args:
        path: The study.
        runs: Rows of runs by name, for what its launches cost and made.
    """
    listed = ListedStudy(path)
    listed.look(runs)
    launches = [(launch.job_name, brief(launch.label)) for launch in listed.launches]
    return {**_of_row(listed.row), LAUNCHES: json.dumps(launches)}, listed.is_final


def launches_in(facts: Facts) -> list[tuple[str, str]]:
    """Return names and labels of the launches of a study."""
    with contextlib.suppress(ValueError, TypeError):
        return [(str(name), str(label)) for name, label in json.loads(str(facts[LAUNCHES]))]
    return []


def row_of(facts: Facts) -> Row:
    """Return what a study asks the row of a launch for."""
    row: Any = {
        **empty_row(str(facts["name"]), "run"),
        "state": facts["state"],
        "steps": facts["steps"],
        "usd_so_far": facts["cost_usd"],
        "usd_per_hour": facts["usd_per_hour"],
    }
    return row  # type: ignore[no-any-return]  # of checked values


def _of_row(row: Row) -> Facts:
    started_s, ended_s = row["started_s"], row["ended_s"]
    known = None not in {started_s, ended_s}
    return {
        **dict.fromkeys(BASE),
        "name": row["name"],
        "kind": row["kind"],
        "state": row["state"],
        "reason": row["reason"] or None,
        "script": row["entry_point"] or None,
        "cluster": row["cluster"] or None,
        "started": started_s,
        "took_s": (ended_s or 0.0) - (started_s or 0.0) if known else None,
        "steps": row["steps"],
        "step_time_s": row["step_time_s"],
        "cost_usd": row["usd_so_far"],
        "usd_per_hour": row["usd_per_hour"],
        "evidence": row["evidence"],
    }


def _notes(folder: RunFolder) -> Facts:
    """Return what is said of a run beside its job."""
    notes = read_notes(folder)
    return {
        "experiment": notes.experiment or None,
        "title": brief(notes.title) or None,
        "tags": ", ".join(notes.tags) or None,
        "note": brief(notes.note) or None,
        **{f"{PARAM}{brief(name)}": value for name, value in notes.parameters.items()},
    }


def _metrics(folder: RunFolder) -> Facts:
    """Return newest, least and greatest value of each metric, of the first rank that has it.

    Raises:
        StoreError: A record file is damaged.
    """
    logged = read_logged(folder)
    facts: Facts = {}
    for name in logged.names[:_MOST_METRICS]:
        one = logged[name]
        values = {"": one.last, ".min": one.least, ".max": one.greatest}
        facts |= {
            f"{METRIC}{name}{which}": value if math.isfinite(value) else None
            for which, value in values.items()
        }
    return facts


def _parameters(job: TrainingJob) -> Facts:
    """Return hyperparameters, and those arguments that are options, by name."""
    given = [*job.hyperparameters.items(), *options_of(job.arguments)[0].items()]
    return {f"{PARAM}{brief(name)}": _scalar(value) for name, value in given[:_MOST_PARAMS]}


def _scalar(value: Any) -> Value:  # noqa: ANN401  any JSON value
    if isinstance(value, str):
        return brief(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return brief(json.dumps(value))
