"""From a job and a market to what each policy costs and when it ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import PlannerError
from smtc_lab.launchers.run import Run
from smtc_lab.planner.explanation import steps_of
from smtc_lab.planner.planned_candidate import PlannedCandidate
from smtc_lab.planner.spot.futures import Futures
from smtc_lab.planner.spot.lifetimes import given_lifetimes
from smtc_lab.planner.spot.measured import scale_of
from smtc_lab.planner.spot.of_run import instances_of, newest_run_of, times_of
from smtc_lab.planner.spot.played import SpotTerms
from smtc_lab.planner.spot.prices import PriceSource, prices_of
from smtc_lab.planner.spot.result import SpotForecast
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from pathlib import Path

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.planner.spot.lifetimes import Given
    from smtc_lab.planner.spot.prices import UserPrice

    _Groups = tuple[tuple[str | None, int], ...]

_MOST_S = 1e9
_MOST_FUTURES = 1_000_000
_MOST_INSTANCES = 10_000


def spot_forecast(  # noqa: PLR0913  what a job, its market and its prices are
    work: float | PlannedCandidate | Run | TrainingJob,
    *,
    work_s: float | None = None,
    save_s: float | None = None,
    restart_s: float | None = None,
    lifetimes: Given | None = None,
    deadline_s: float | None = None,
    save_every_s: float | Literal["auto", "own"] = "auto",
    instance_type: str | None = None,
    instances: int = 1,
    spot_usd_per_hour: UserPrice = None,
    on_demand_usd_per_hour: UserPrice = None,
    prices: Path | str | None = None,
    region: str | None = None,
    az: str | None = None,
    catalog: Catalog | None = None,
    futures: int = 10_000,
    seed: int = 0,
    root: StrPath | None = None,
) -> SpotForecast:
    """Return what a job on spot instances will cost and when it will end.

    Nothing is launched. The same futures of the market are played under each policy: on-demand
    instances alone; spot instances alone, as SageMaker waits for them; spot instances until
    on-demand ones can only just keep the deadline; and uniform progress, which spreads waiting
    over the whole time. The last two need a deadline, which they always keep where on-demand
    instances alone do.

    Args:
        work: Time of the steps without interruptions, in seconds; or a cluster of a plan, whose
            predicted step time, steps, start-up and instances are then taken; or a run that was
            completed, whose measured steps, saves, starts and instances are taken, interrupted
            or not; or a job, whose newest completed run is taken. Of a run the seconds are
            those of this machine, of an emulation's steps those of the cluster: where
            ``lifetimes`` is a market they are brought to the time scale of that.
        work_s: Time of the steps of a job that no run has completed, in seconds; the instances
            are then those of the job. None: as ``work`` tells.
        save_s: For how long a save holds the training up, in seconds, above 0. None: as the run
            measured it.
        restart_s: From an instance that is there to the next step, in seconds: start-up,
            reading the checkpoint. None: start-up and compiling as the plan measured them, or
            as the run did.
        lifetimes: For how long instances can be had: a mean in seconds, without memory;
            ``{"mean_time_between_s": 3600, "variation": 1.8, "mean_wait_s": 600}`` with the
            standard deviation over the mean (0.1 to 10; 1.5 to 2.6 in published traces) and
            the mean time without any; the market of a job (None: of the one that is the work);
            or the path of a trace,
            ``{"metadata": {"gap_seconds": …}, "data": [instances at each tick]}``. Without a
            trace a future begins with instances.
        deadline_s: When the job must have ended, in seconds from its begin.
        save_every_s: Work between two saves, in seconds; ``"auto"``: what is cheapest;
            ``"own"``: as the run did.
        instance_type: Of whose prices are looked up; for a run of this machine, too.
        instances: How many, all of which one interruption stops.
        spot_usd_per_hour: Spot price of one instance, or prices by instance type; None: that of
            ``prices``.
        on_demand_usd_per_hour: On-demand price of one instance, or by type; None: that of
            ``prices``, else of the catalog.
        prices: CSV file with the columns type, region, az, spot, on_demand and date.
        region: Which rows of it count; None: all.
        az: Which rows of it count; None: of the zone that is cheapest by its newest price.
        catalog: On-demand prices; None: those that are kept.
        futures: How many are played, 10 to 1,000,000.
        seed: Seed of everything random.
        root: Folder of runs in which those of a job are looked for; None: the default one.

    Raises:
        PlannerError: A number is out of its range, a price is unknown, or a file cannot be
            read.
        CatalogError: An instance type is not known.
    """
    groups: _Groups = ((instance_type, instances),)
    if isinstance(work, TrainingJob):
        lifetimes = work.market if lifetimes is None else lifetimes
        if work_s is None:
            work = newest_run_of(work, root=root)
        else:
            groups, work = instances_of(work), work_s
    if lifetimes is None:
        raise PlannerError(
            "lifetimes is not given. Give for how long instances last in the mean, in seconds, "
            "a trace, or a job with a market."
        )
    given = _GivenTimes(work, save_s, restart_s, save_every_s, groups)
    given = given.known(scale_of(lifetimes))
    work, save_s, restart_s, every_s = given.numbers()
    _check(
        work_s=(work, 0, _MOST_S),
        save_s=(save_s, 0, _MOST_S),
        restart_s=(restart_s, -1e-9, _MOST_S),
        deadline_s=(_MOST_S if deadline_s is None else deadline_s, 0, _MOST_S),
        save_every_s=(1.0 if every_s is None else every_s, 0, _MOST_S),
        instances=(instances, 0, _MOST_INSTANCES),
        futures=(futures, 9, _MOST_FUTURES),
        seed=(seed, -1, 2**63),
    )
    source = PriceSource(spot_usd_per_hour, on_demand_usd_per_hour, prices, region, az, catalog)
    count = sum(number for _, number in given.groups)
    lives, trace = given_lifetimes(lifetimes, instances=count)
    terms = SpotTerms(
        work_s=float(work),
        save_s=float(save_s),
        restart_s=float(restart_s),
        deadline_s=None if deadline_s is None else float(deadline_s),
    )
    usd = prices_of(given.groups, source)
    every_s = None if every_s is None else float(every_s)
    return SpotForecast(
        work_s=terms.work_s,
        save_s=terms.save_s,
        restart_s=terms.restart_s,
        deadline_s=terms.deadline_s,
        instances=given.groups,
        prices=usd,
        lifetimes=lives,
        futures=futures,
        seed=seed,
        policies=Futures(terms, usd, lives, trace, count, seed).forecast(futures, every_s),
    )


@dataclass(frozen=True)
class _GivenTimes:
    """What is known of the times of a job, and its instances."""

    work: float | PlannedCandidate | Run
    save_s: float | None
    restart_s: float | None
    save_every_s: float | Literal["auto", "own"]
    groups: _Groups

    def known(self, scale: float) -> _GivenTimes:
        """Return them with what a plan or a run adds, whose seconds have this scale."""
        if isinstance(self.work, PlannedCandidate):
            return self._of_plan(self.work)
        return self._of_run(self.work, scale) if isinstance(self.work, Run) else self

    def numbers(self) -> tuple[float, float, float, float | None]:
        """Return work, save, restart, and work between two saves, None: what is cheapest.

        Raises:
            PlannerError: One is not known.
        """
        if isinstance(self.work, PlannedCandidate | Run):  # ``known`` has them
            raise TypeError(self.work)
        if self.save_s is None:
            raise PlannerError(
                "save_s is not given. Give the seconds for which a save holds the training up, "
                "or as work a run that saved by session.checkpoint()."
            )
        if self.restart_s is None:
            raise PlannerError(
                "restart_s is not given. Give the seconds from an instance that is there to "
                "the next step, or as work a cluster of a plan, or a run."
            )
        if self.save_every_s == "own":
            raise PlannerError(
                "save_every_s='own' is how often a run saved, but no run that saved twice by "
                "session.checkpoint() is given as work. Give seconds, or 'auto'."
            )
        every_s = None if self.save_every_s == "auto" else self.save_every_s
        return self.work, self.save_s, self.restart_s, every_s

    def _of_plan(self, planned: PlannedCandidate) -> _GivenTimes:
        steps, calibration = steps_of(planned), planned.outlook.calibration
        if steps is None:
            raise PlannerError(
                "The plan has no steps, so the work of its job is unknown. Give steps= to "
                "plan()."
            )
        if (given := self.groups[0][0]) is not None:
            raise PlannerError(
                f"instance_type={given!r} is given beside a cluster of a plan, which has its "
                "own. Drop it."
            )
        restart_s = self.restart_s
        if restart_s is None and calibration.startup_s is not None:
            compile_s = 0.0 if calibration.compile_s is None else calibration.compile_s.mean
            restart_s = calibration.startup_s.mean + compile_s
        return replace(
            self,
            work=steps * planned.prediction.step_time_s.mean,
            restart_s=restart_s,
            groups=tuple(
                (group.instance_type, group.instance_count)
                for group in planned.candidate.cluster.instance_groups
            ),
        )

    def _of_run(self, run: Run, scale: float) -> _GivenTimes:
        times, instance_type = times_of(run), self.groups[0][0]
        save_s, restart_s, every_s = self.save_s, self.restart_s, self.save_every_s
        if save_s is None and times.save_s is not None:
            save_s = scale * times.save_s
        if every_s == "own" and times.save_every_s is not None:
            every_s = scale * times.save_every_s
        return replace(
            self,
            work=scale * times.work_s,
            save_s=save_s,
            restart_s=scale * times.restart_s if restart_s is None else restart_s,
            save_every_s=every_s,
            groups=tuple((name or instance_type, count) for name, count in times.instances),
        )


def _check(**values: tuple[object, float, float]) -> None:
    """Refuse what is not a number above its lower end, or is beyond its upper one."""
    for name, (value, above, most) in values.items():
        number = math.nan  # of what is none
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = value
        if not above < number <= most:
            least = "at least 0" if above < 0 else f"above {above:g}"
            raise PlannerError(
                f"{name}={value!r} is not a number {least} and of at most {most:,.10g}. "
                "Correct it."
            )
