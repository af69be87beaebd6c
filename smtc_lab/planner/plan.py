"""From a calibration to the clusters that are worth paying for."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from pydantic import ValidationError

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.display import BundleDisplayed, PlanDisplayed
from smtc_lab.errors import PlannerError
from smtc_lab.metrics.result import Result
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.model.prediction import Candidate
from smtc_lab.planner.outlook import Outlook
from smtc_lab.planner.pareto import knee
from smtc_lab.planner.plan_settings import PlanSettings, seconds_until, settings_of
from smtc_lab.planner.planned_cluster import PlannedCluster
from smtc_lab.planner.run_prediction import RunPrediction, predict_run
from smtc_lab.planner.search import nearest_to_deadline, search
from smtc_lab.planner.words.told_advice import seconds
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import KEPT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.scaling.scaling import Mode
    from smtc_lab.planner.interruptions import Interruptions
    from smtc_lab.spec.emulation import EmulatedLink

SCHEMA_VERSION: Literal[1] = 1

_MOST_TRAINERS = 8


class Plan(PlanDisplayed, BundleDisplayed, Result):
    """Clusters under the limits of one plan, with what is predicted of each."""

    _bundle_view: ClassVar[str] = "smtc_lab.views.plan.bundle"

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    created: str
    """When the plan was made, ISO 8601 in UTC."""

    calibration: Calibration
    """What was measured."""

    settings: PlanSettings
    """What was asked for."""

    candidates: tuple[Candidate, ...]
    """The clusters under the limits, by rising time; at most 100, those nearest to the
    front."""

    num_fitting: int
    """Clusters under the limits, in all."""

    front: tuple[int, ...]
    """Places of the Pareto set among the candidates, fastest first."""

    refused: dict[str, int]
    """How many types or clusters were left out, by reason."""

    def __repr__(self) -> str:
        best = self.cheapest
        return (
            f"<{type(self).__name__} of {self.num_fitting} clusters; the cheapest is "
            f"{best.cluster}, {seconds(best.prediction.step_time_s)} a step, "
            f"{best.prediction.evidence}; .best.explain() tells why>"
        )

    __str__ = __repr__

    @property
    def pareto(self) -> tuple[Candidate, ...]:
        """Candidates that no other one beats in both time and cost, fastest first.

        Of the whole job where its steps are given, else of one step.
        """
        return tuple(self.candidates[place] for place in self.front)

    @property
    def fastest(self) -> Candidate:
        """The fastest of the Pareto set."""
        return self.pareto[0]

    @property
    def cheapest(self) -> Candidate:
        """The cheapest of the Pareto set."""
        return self.pareto[-1]

    @property
    def knee(self) -> Candidate:
        """The one of the Pareto set beyond which speed gets dear."""
        front = self.pareto
        points = [each.time_and_cost for each in front]
        time, cost = (np.array(values) for values in zip(*points, strict=True))
        return front[knee(time, cost)]

    @property
    def best(self) -> PlannedCluster:
        """The cheapest under the limits, to be explained and launched."""
        return PlannedCluster(self._outlook(), self.cheapest)

    def cluster(
        self,
        cluster: Cluster | str,
        *,
        num_loader_workers: int | None = None,
        num_data_workers: int | None = None,
        batch_size: int | None = None,
    ) -> PlannedCluster:
        """Return what is predicted of any cluster, under the limits or not.

        Args:
            cluster: A cluster, or the text that ``Cluster.parse`` takes.
            num_loader_workers: Data workers on each training instance; None: as many as the
                script gives its dataloader, or one for each vCPU where it leaves that open.
            num_data_workers: Data workers on each data instance; None: one for each vCPU.
            batch_size: Samples of one step of one trainer; None: as calibrated.

        Raises:
            PlannerError: The calibration says nothing of such a cluster.
            CatalogError: A type is not in the catalog.
            SpecError: The text names no legal cluster.
        """
        parsed = Cluster.parse(cluster) if isinstance(cluster, str) else cluster
        outlook = self._outlook()
        rows = outlook.clusters_of(
            parsed, num_loader_workers=num_loader_workers, num_data_workers=num_data_workers
        )
        candidate = outlook.candidates(rows, batch_size=batch_size)[0]
        return PlannedCluster(
            outlook,
            candidate.model_copy(update={"cluster": parsed}),
            num_loader_workers=num_loader_workers,
            batch_size=batch_size,
        )

    def compare_with(self, run: Run) -> RunPrediction:
        """Return what was measured of a run of this workload, beside what is predicted of it.

        It is kept in the run's folder, drawn behind the run's step times, and shown with this
        plan from then on.

        Args:
            run: A run of this machine, growing or ended.

        Raises:
            PlannerError: The run is of another workload, or of another kind of device.
        """
        return predict_run(self.calibration, run.folder)

    def planned(self, candidate: Candidate) -> PlannedCluster:
        """Return a candidate of this plan, to be explained and launched."""
        return PlannedCluster(self._outlook(), candidate)

    def to_json(self, *, indent: int | None = 1) -> str:
        """Return the plan as JSON text, which ``from_json`` reads back unchanged."""
        return self.model_dump_json(indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the plan that was written with ``to_json``.

        Raises:
            PlannerError: The text is damaged, or of another schema version.
        """
        try:
            return cls.model_validate_json(text, context=KEPT)
        except ValidationError as error:
            raise PlannerError(
                f"This is not a plan of schema version {SCHEMA_VERSION}: "
                f"{error.errors(include_url=False)[0]['msg']}. Make it again with "
                "smtc_lab.plan()."
            ) from error

    def _outlook(self) -> Outlook:
        catalog = Catalog.load().with_prices(self.settings.prices)
        return Outlook(self.calibration, self.settings, catalog)


def plan(  # noqa: PLR0913  each is a limit or a price that a user may have
    calibration: Calibration,
    *,
    budget_usd_per_hour: float | None = None,
    budget_usd: float | None = None,
    deadline_s: float | None = None,
    steps: int | None = None,
    families: Sequence[str] | None = None,
    before: dt.datetime | None = None,
    num_devices: int | None = 1,
    mode: Mode = "weak",
    max_trainers: int | None = None,
    max_data_instances: int = 16,
    prices: Literal["on-demand"] | Mapping[str, float | tuple[float, str]] = "on-demand",
    catalog: Catalog | None = None,
    relative_cpu_speed: Mapping[str, float] | None = None,
    device_s: Mapping[str, float] | str | None = None,
    link: EmulatedLink | None = None,
    interruptions: Interruptions | None = None,
) -> Plan:
    """Return the clusters that are worth their money, predicted from one calibration.

    Every type of the catalog is tried, alone and with data groups of each CPU type. Nothing is
    launched, and nothing is asked of a network.

    Args:
        calibration: What ``calibrate`` measured.
        budget_usd_per_hour: Most that a cluster may cost in an hour, in USD.
        budget_usd: Most that the whole job may cost, in USD; needs ``steps``.
        deadline_s: Longest that the whole job may take, in seconds; needs ``steps``.
        steps: Optimizer steps of the job. With them the front is of whole jobs, start-up,
            compilation and end included; without, of single steps.
        families: Instance families that may be used, for example ``["p4d", "c5"]``. Burstable
            ones (``t3``) only where they are named here.
        before: When the whole job must have ended, if it is launched now; needs ``steps``.
            Without a zone it is this machine's time. The cheapest of the plan is then the
            cheapest that ends in time.
        num_devices: Accelerators of each cluster, all training instances together. One for
            each step's work to be the same everywhere; an emulated device stands for all
            accelerators of a training instance. None: any number, so that the plan
            recommends one.
        mode: ``weak``: each device has batches as calibrated; where any number of devices may
            be used, ``steps`` are those of one, and n make an n-th of them. ``strong``: the
            step keeps its samples, and the devices share them alike.
        max_trainers: Most training instances; None: 1, or 8 where any number of devices may be
            used.
        max_data_instances: Most instances of a data group.
        prices: ``"on-demand"``, or prices of your own in USD per hour by instance type, such
            as spot prices, each with its date (``YYYY-MM-DD``) or of today.
        catalog: Instance types with prices; None: those that are kept here.
        relative_cpu_speed: Speed of one vCPU by type or family, 1.0 for ml.p3.2xlarge.
        device_s: Seconds of one step on another device than the calibrated one, by
            accelerator (``NVIDIA A100``), family or type. Such candidates are marked
            ``extrapolated``. In a text, ``V100=0.03,A100=0.012``, all that are known: other
            accelerators are left out. None: as declared for the calibration.
        link: Network between trainers, where the catalog's is not wanted; an emulated job of
            the plan declares it, too.
        interruptions: How often spot instances are taken away; None: never.

    Raises:
        PlannerError: A limit is impossible, no cluster is under the limits, or the calibration
            lacks what every cluster needs.
        CatalogError: A price or CPU speed is of an unknown type, or is no number.
    """
    if before is not None:
        left_s = seconds_until(before)
        deadline_s = left_s if deadline_s is None else min(left_s, deadline_s)
    if max_trainers is None:
        max_trainers = 1 if num_devices is not None else _MOST_TRAINERS
    settings = settings_of(
        catalog,
        prices,
        budget_usd_per_hour=budget_usd_per_hour,
        budget_usd=budget_usd,
        deadline_s=deadline_s,
        steps=steps,
        families=None if families is None else tuple(families),
        num_devices=num_devices,
        mode=mode,
        max_trainers=max_trainers,
        max_data_instances=max_data_instances,
        relative_cpu_speed=dict(relative_cpu_speed or {}),
        **calibration.device_settings(device_s),
        link=link,
        interruptions=interruptions,
        ends_before=None if before is None else before.isoformat(timespec="minutes"),
    )
    catalog = (catalog or Catalog.load()).with_prices(settings.prices)
    outlook = Outlook(calibration, settings, catalog)
    found = search(outlook)
    if found.num_fitting == 0:
        reasons = "; ".join(f"{number:,} {reason}" for reason, number in found.refused.items())
        nearest = nearest_to_deadline(outlook, found)
        raise PlannerError(
            f"No cluster is under the limits: {reasons}. {nearest}Raise a limit, or name other "
            "families."
        )
    return Plan(
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        calibration=calibration,
        settings=settings,
        candidates=outlook.candidates(found.clusters),
        num_fitting=found.num_fitting,
        front=found.front,
        refused=found.refused,
    )
