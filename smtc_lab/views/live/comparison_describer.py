"""Describes a comparison as it is followed: where it stands, and what is seen so far."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.machine.environments.named import other_environment
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import current_state
from smtc_lab.views import format as fmt
from smtc_lab.views.code import compare_code
from smtc_lab.views.findings import told
from smtc_lab.views.live.comparison_info import ComparisonInfo, LaunchInfo, SetUpInfo
from smtc_lab.views.live.followed_launch import FollowedLaunch
from smtc_lab.views.live.predicted import predicted_step_time_s
from smtc_lab.views.words import scale_words

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.folder import LaunchedRun
    from smtc_lab.views.live.comparison_follower import ComparisonFollower


class ComparisonDescriber:
    """Makes a ``ComparisonInfo`` of what a follower has seen.

    Args:
        follower: Of the comparison.
    """

    def __init__(self, follower: ComparisonFollower) -> None:
        self._follower = follower
        jobs, request = follower.jobs, follower.run.request
        is_emulated = any(job.emulation is not None for job in jobs)
        self._begin = ComparisonInfo(
            name=follower.run.name,
            entry_point=jobs[0].entry_point,
            state="Pending",
            ended=False,
            reason="",
            elapsed_s=0.0,
            launches=len(jobs) * request.rounds,
            rounds=request.rounds,
            evidence="emulated" if is_emulated else "measured",
            scale=_scale(jobs[0]) if is_emulated else "",
            sentence="",
            is_verdict=False,
            set_ups=tuple(
                _set_up(job, price) for job, price in zip(jobs, follower.prices, strict=True)
            ),
            launched=(),
            rows=(),
            notes=(),
            code=compare_code(jobs, request.rounds),
        )
        self._latest = self._begin
        self._price_note = _price_note(follower)

    def elapsed_s(self) -> float:
        """Return seconds since the begin, or from the begin to the end."""
        state = self._follower.state
        if state.started_s is None:
            return 0.0
        until_s = time.time() if state.ended_s is None else state.ended_s
        return max(0.0, until_s - state.started_s)

    def describe(self) -> ComparisonInfo:
        """Return where the comparison stands now.

        Raises:
            StoreError: A file of a launch is damaged.
        """
        follower = self._follower
        state, comparison = follower.state, follower.comparison
        is_verdict = state.state == "Completed" and comparison is not None
        found = comparison.findings if comparison is not None and is_verdict else ()
        self._latest = replace(
            self._standing(),
            is_verdict=is_verdict,
            set_ups=tuple(
                replace(
                    set_up,
                    predicted_step_time_s=self._predicted(place),
                    python_environment=follower.environment_of(place),
                )
                for place, set_up in enumerate(self._begin.set_ups)
            ),
            launched=tuple(_launch(launch, follower) for launch in follower.launches),
            rows=follower.rows(),
            notes=tuple(filter(None, (self._price_note,))),
            findings=told(found),
        )
        return self._latest

    def describe_problem(self, problem: str) -> ComparisonInfo:
        """Return where the comparison stands when a part of it cannot be read.

        Args:
            problem: Why it cannot be read.
        """
        standing = self._standing()
        return replace(standing, notes=(problem, *standing.notes))

    def _predicted(self, set_up: int) -> Interval | None:
        """Return what was predicted of a set-up's newest launch of which something was."""
        for launch in reversed(self._follower.followed):
            if launch.set_up == set_up:
                predicted = predicted_step_time_s(launch.follower.folder)
                if predicted is not None:
                    return predicted
        return None

    def _standing(self) -> ComparisonInfo:
        """Return the latest description with what the state alone tells."""
        state = self._follower.state
        return replace(
            self._latest,
            state=state.state,
            ended=state.is_terminal,
            reason=state.reason,
            elapsed_s=self.elapsed_s(),
            launches=state.launches or self._begin.launches,
            sentence=self._sentence(),
        )

    def _sentence(self) -> str:
        """Return the verdict of what is complete, or why there is none."""
        follower, asked = self._follower, self._begin.rounds
        state, comparison = follower.state, follower.comparison
        if comparison is not None and state.state == "Completed":
            return comparison.verdict
        rounds = f"{follower.rounds} of {fmt.count(asked, 'round')}"
        if comparison is not None:
            so_far = "It ended early" if state.is_terminal else "So far"
            return f"{so_far}, after {rounds}: {comparison.verdict}"
        if state.is_terminal:
            return "There is no verdict: no round was completed."
        if not follower.launches:
            return "Too early to tell: the first launch is being started."
        newest = follower.launches[-1]
        launched = newest.launched if isinstance(newest, FollowedLaunch) else newest
        return (
            f"Too early to tell: launch {len(follower.launches)} of "
            f"{state.launches or self._begin.launches} ({launched.label}) runs, and no round "
            "is complete."
        )


def _set_up(job: TrainingJob, usd_per_hour: float | None) -> SetUpInfo:
    return SetUpInfo(
        label=job.cluster.label,
        hosts=tuple(
            (host, group.instance_group_name) for host, group in job.cluster.hosts().items()
        ),
        usd_per_hour=usd_per_hour,
        evidence="measured" if job.emulation is None else "emulated",
        python_environment=other_environment(job.python_environment),
    )


def _launch(launch: FollowedLaunch | LaunchedRun, follower: ComparisonFollower) -> LaunchInfo:
    if isinstance(launch, FollowedLaunch):
        return LaunchInfo(
            job_name=launch.launched.job_name,
            label=launch.launched.label,
            set_up=launch.set_up,
            round=launch.launched.round,
            state=launch.follower.state.state,
            steps=launch.follower.steps.num_rows,
            max_steps=launch.follower.job.max_steps,
            warm_up_steps=launch.warm_up_steps,
        )
    folder = RunFolder(follower.run.request.root / launch.job_name)
    return LaunchInfo(
        job_name=launch.job_name,
        label=launch.label,
        set_up=None,
        round=None,
        state=current_state(folder).state,
        steps=0,
        max_steps=None,
        warm_up_steps=0,
    )


def _scale(job: TrainingJob) -> str:
    """Return the scale of an emulation in words."""
    emulation = job.emulation
    if emulation is None:
        return ""
    return scale_words(emulation.cores_per_vcpu, emulation.device_step_time_s)


def _price_note(follower: ComparisonFollower) -> str:
    """Return every price with its kind and date; empty: nothing has a price."""
    types = dict.fromkeys(
        group.instance_type
        for job in follower.jobs
        for group in job.cluster.instance_groups
        if group.instance_type != LOCAL
    )
    words = []
    for name in types:
        price = follower.catalog.get(name).price
        words.append(
            f"{name} price {fmt.UNKNOWN}"
            if price is None
            # two dollar signs in one text are a formula to a notebook
            else f"{name} {price.usd_per_hour:g} USD/h {price.kind} {price.date}"
        )
    return f"Prices: {'; '.join(words)}." if words else ""
