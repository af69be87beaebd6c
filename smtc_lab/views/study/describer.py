"""Describes a study as it is followed: where it stands, and what is seen so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.launchers.engines import is_billed
from smtc_lab.machine.environments.named import other_environment
from smtc_lab.metrics.result import evidence_of
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import current_state, lasted_s
from smtc_lab.views.live.foretold import kept_foretold
from smtc_lab.views.run.predicted import predicted_step_time_s
from smtc_lab.views.study.followed_launch import FollowedLaunch
from smtc_lab.views.study.info import ComparisonInfo, LaunchInfo, SetUpInfo
from smtc_lab.views.study.money import launch_cost_of, steps_cost_so_far
from smtc_lab.views.study.pictured import part_use, pictured_groups
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.emulated import of_jobs, of_run
from smtc_lab.views.text.findings import told

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.folder import LaunchedRun
    from smtc_lab.views.live.foretold import Foretold
    from smtc_lab.views.study.follower import StudyFollower
    from smtc_lab.views.study.info import LaunchCostPart
    from smtc_lab.views.study.own import StudyOwn


class StudyDescriber:
    """Makes a ``ComparisonInfo`` of what a follower has seen.

    Args:
        kind: What is said of its kind alone.
        follower: Of the study.
    """

    def __init__(self, kind: StudyOwn, follower: StudyFollower) -> None:
        self._kind = kind
        self._follower = follower
        jobs, request = follower.jobs, follower.run.request
        self._begin = ComparisonInfo(
            name=follower.run.name,
            entry_point=jobs[0].entry_point,
            state="Pending",
            ended=False,
            reason="",
            elapsed_s=0.0,
            launches=follower.num_launches,
            rounds=request.rounds,
            evidence=evidence_of(*jobs),
            scale=_scale(follower),
            sentence="",
            is_verdict=False,
            set_ups=tuple(
                _set_up(job, price, follower.catalog)
                for job, price in zip(jobs, follower.prices, strict=True)
            ),
            launched=(),
            rows=(),
            notes=(),
            code=kind.code(request),
        )
        self._latest = self._begin
        self._price_note = _price_note(follower)
        self._foretold: tuple[Foretold | None, ...] = ()
        self._kept: str | None = None

    def elapsed_s(self) -> float:
        """Return seconds since the begin, or from the begin to the end."""
        state = self._follower.state
        return lasted_s(state.started_s, state.ended_s) or 0.0

    def describe(self) -> ComparisonInfo:
        """Return where the study stands now.

        Raises:
            StoreError: A file of a launch is damaged.
        """
        follower = self._follower
        estimates = follower.estimates()
        # what started it writes it at once, but behind its begin
        self._foretold = self._foretold or kept_foretold(follower.run.folder)
        self._latest = replace(
            self._standing(),
            is_verdict=self._kind.is_verdict(follower),
            scale=_scale(follower),
            set_ups=tuple(
                replace(
                    set_up,
                    predicted_step_time_s=self._predicted(place),
                    python_environment=follower.environment_of(place),
                    use=part_use(set_up.groups, estimates[place]),
                    step_time_s=_mean_of(estimates[place].step_time_s),
                    step_time_interval_s=estimates[place].step_time_s,
                    foretold=self._foretold_of(place),
                )
                for place, set_up in enumerate(self._begin.set_ups)
            ),
            launched=tuple(_launch(launch, follower) for launch in follower.launches),
            rows=self._kind.rows(follower),
            notes=tuple(
                filter(
                    None,
                    (
                        follower.state.note,
                        *self._kind.notes(follower),
                        self._price_note,
                        self._new_files(),
                    ),
                )
            ),
            findings=told(self._kind.findings(follower)),
            steps_cost=tuple(
                part
                for place, set_up in enumerate(self._begin.set_ups)
                for part in steps_cost_so_far(
                    place, set_up.groups, estimates[place], follower.catalog
                )
            ),
            launch_cost=self._launch_cost(),
            sections=self._kind.sections(follower),
            is_billed=self._is_billed(),
        )
        return self._latest

    def describe_problem(self, problem: str) -> ComparisonInfo:
        """Return where the study stands when a part of it cannot be read.

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
        foretold = self._foretold_of(set_up)
        return None if foretold is None else foretold.step_time_s

    def _foretold_of(self, set_up: int) -> Foretold | None:
        # a folder that somebody changed may tell of fewer
        return self._foretold[set_up] if set_up < len(self._foretold) else None

    def _is_billed(self) -> bool | None:
        """Return whether somebody is billed for the newest launch; None: nobody knows."""
        newest = self._follower.followed[-1:]
        return is_billed(str(newest[0].follower.plan.get("launcher", ""))) if newest else None

    def _new_files(self) -> str:
        """Return where the launches' new files are, once there will be no other one."""
        if self._kept is None and self._follower.state.is_terminal:
            self._kept = self._follower.run.new_files
        return self._kept or ""

    def _launch_cost(self) -> tuple[LaunchCostPart, ...]:
        """Return what a launch costs by cause, of the rounds that are complete."""
        comparison = self._follower.comparison
        clusters = (
            {} if comparison is None else {each.name: each for each in comparison.clusters}
        )
        return tuple(
            part
            for place, set_up in enumerate(self._begin.set_ups)
            if set_up.label in clusters
            for part in launch_cost_of(place, clusters[set_up.label])
        )

    def _standing(self) -> ComparisonInfo:
        """Return the latest description with what the state alone tells."""
        state = self._follower.state
        return replace(
            self._latest,
            state=state.state,
            ended=state.is_terminal,
            reason=state.reason,
            elapsed_s=self.elapsed_s(),
            launches=self._follower.num_launches,
            sentence=self._kind.sentence(self._follower),
        )


def _scale(follower: StudyFollower) -> str:
    """Return how it is emulated: as its first launch was, or as its jobs will be."""
    if not follower.followed or evidence_of(*follower.jobs) == "measured":
        return of_jobs(follower.jobs)
    return of_run(*(each.follower.job for each in follower.followed))


def _set_up(job: TrainingJob, usd_per_hour: float | None, catalog: Catalog) -> SetUpInfo:
    return SetUpInfo(
        label=job.cluster.label,
        hosts=tuple(
            (host, group.instance_group_name) for host, group in job.cluster.hosts().items()
        ),
        usd_per_hour=usd_per_hour,
        evidence=evidence_of(job),
        python_environment=other_environment(job.python_environment),
        groups=pictured_groups(job, catalog),
    )


def _mean_of(interval: Interval | None) -> float | None:
    return None if interval is None else interval.mean


def _launch(launch: FollowedLaunch | LaunchedRun, follower: StudyFollower) -> LaunchInfo:
    if isinstance(launch, FollowedLaunch):
        return LaunchInfo(
            job_name=launch.launched.job_name,
            label=launch.launched.label,
            set_up=launch.set_up,
            round=launch.launched.round,
            state=launch.follower.state.word,
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
        state=current_state(folder).word,
        steps=0,
        max_steps=None,
        warm_up_steps=0,
    )


def _price_note(follower: StudyFollower) -> str:
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
