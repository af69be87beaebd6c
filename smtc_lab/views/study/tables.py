"""The rows of a study's charts, small enough to be kept in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.host_table import HOST_COLUMNS
from smtc_lab.metrics.columns import STEP, steps_of
from smtc_lab.views.run.snapshot import curve, steps_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.run.snapshot import Curve
    from smtc_lab.views.study.followed_launch import FollowedLaunch
    from smtc_lab.views.study.follower import StudyFollower

_STEPS_NUMBERS = 11_000
_HOSTS_NUMBERS = 3_500
_OWN_NUMBERS = 1_500
"""Numbers of the tables of each kind together: about 165 kB of JSON for all three."""

_STEPS_DRAWN = ("step", "time_s", "step_time_s", "data_wait_s", "device")
_HOST_DRAWN = ("time_s", "cpu", "received_per_s", "sent_per_s")
_OF_A_BIN = 3  # least, greatest and mean


def followed_tables(follower: StudyFollower) -> dict[str, Curve]:
    """Return the tables of a study, by the names that they have while it is watched.

    Of the instances, those of each set-up's newest launch: no other one is drawn.
    """
    tables = _steps_of(follower) | _hosts_of(follower)
    own = [table for table in follower.own_tables if table.num_rows]
    for table in own:
        table.cut()
        most = _most_bins(_OWN_NUMBERS, table.columns, len(own))
        tables[table.name] = curve(table.columns, table.snapshot().rows, most_bins=most)
    return tables


def recorded_tables(runs: Sequence[RunRecords]) -> dict[str, Curve]:
    """Return ``<launch>/steps`` of launches whose records are in memory."""
    most = _most_bins(_STEPS_NUMBERS, _STEPS_DRAWN, len(runs))
    return {
        f"{place}/steps": curve(_STEPS_DRAWN, rows, most_bins=most)
        for place, run in enumerate(runs)
        if (rows := _steps_in(run)).shape[1]
    }


def _steps_of(follower: StudyFollower) -> dict[str, Curve]:
    launches = [launch for launch in follower.followed if launch.follower.steps.num_rows]
    most = _most_bins(_STEPS_NUMBERS, _STEPS_DRAWN, len(launches))
    tables = {}
    for launch in launches:
        steps = launch.follower.steps
        found = steps_curve(steps, most_bins=most)
        tables[steps.table.name] = found.narrowed(_STEPS_DRAWN)
    return tables


def _hosts_of(follower: StudyFollower) -> dict[str, Curve]:
    newest: dict[int, FollowedLaunch] = {launch.set_up: launch for launch in follower.followed}
    hosts = [
        system
        for launch in newest.values()
        for system in launch.follower.hosts.values()
        if system.samples.num_rows
    ]
    most = _most_bins(_HOSTS_NUMBERS, _HOST_DRAWN, len(hosts))
    tables = {}
    for system in hosts:
        system.table.cut()
        rows = system.table.snapshot().rows
        tables[system.table.name] = curve(HOST_COLUMNS, rows, most_bins=most).narrowed(
            _HOST_DRAWN
        )
    return tables


def _most_bins(numbers: int, columns: Sequence[str], tables: int) -> int:
    return numbers // _OF_A_BIN // (len(columns) * max(1, tables))


def _steps_in(run: RunRecords) -> NDArray[np.float64]:
    """Return the steps that all ranks made, shape (5, N), columns as they are drawn."""
    steps = steps_of(run)
    device = np.full(steps.shape[1], np.nan)
    rank_time_s = steps[STEP["rank_time_s"]]
    np.divide(steps[STEP["device_time_s"]], rank_time_s, out=device, where=rank_time_s > 0)
    return np.array(
        [
            steps[STEP["step"]],
            steps[STEP["end_time_s"]] - (run.started_s or 0.0),
            steps[STEP["step_time_s"]],
            steps[STEP["data_wait_s"]],
            device,
        ]
    )
