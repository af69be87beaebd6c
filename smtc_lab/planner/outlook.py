"""What one calibration says of the catalog's clusters."""

from __future__ import annotations

import datetime as dt
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.catalog.instance_types import is_old
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import PlannerError
from smtc_lab.planner.clusters import NO_DATA_GROUP, Clusters, refuse_scripted
from smtc_lab.planner.forecast.declared_wires import declared_wires
from smtc_lab.planner.forecast.divided_batch import asked_by_batch, said_of_strong
from smtc_lab.planner.model.model import Model
from smtc_lab.planner.model.predict import Terms, predictions
from smtc_lab.planner.model.prediction import Candidate
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.offers import ACCELERATOR_LINK_GBPS, offers_of
from smtc_lab.planner.plan_settings import BURSTABLE
from smtc_lab.spec.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import Price
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.model.prediction import Prediction
    from smtc_lab.planner.plan_settings import PlanSettings
    from smtc_lab.spec.cluster import Cluster

_CERTAINTY = ("list", "user", "historical", "estimated")


class Outlook:
    """Predicts clusters of a catalog from one calibration.

    Args:
        calibration: What was measured.
        settings: What the plan was asked for.
        catalog: Instance types, with the prices that count.

    Raises:
        PlannerError: The calibration lacks what no prediction can do without.
        CatalogError: A relative CPU speed is not a number above 0.
    """

    def __init__(
        self, calibration: Calibration, settings: PlanSettings, catalog: Catalog
    ) -> None:
        self.calibration = calibration
        self.settings = settings
        self.catalog = catalog
        self.offers = offers_of(calibration, settings, catalog)
        """The instance types."""

    @functools.cached_property
    def model(self) -> Model:
        """The model with the draws behind its intervals."""
        return Model(self.calibration)

    def clusters_of(
        self,
        cluster: Cluster,
        *,
        num_loader_workers: int | None = None,
        num_data_workers: int | None = None,
    ) -> Clusters:
        """Return a cluster as rows.

        Args:
            cluster: One group that trains and at most one that prepares data.
            num_loader_workers: Data workers on each training instance; None: the script's
                own, or one for each vCPU.
            num_data_workers: Data workers on each data instance; None: one for each vCPU.

        Raises:
            PlannerError: The cluster has other groups, or nothing is known of a type, or of a
                group that runs the script.
            CatalogError: A type is not in the catalog.
            SpecError: Nothing would train.
        """
        refuse_scripted(cluster)
        role_of = roles(cluster, self.catalog)
        train = [
            g for g in cluster.instance_groups if role_of[g.instance_group_name] == "train"
        ]
        data = [g for g in cluster.instance_groups if role_of[g.instance_group_name] == "data"]
        if len(train) != 1 or len(data) > 1:
            raise PlannerError(
                f"The cluster {cluster} has {len(train)} training and {len(data)} data groups, "
                "but the model knows one training group and at most one data group. Merge "
                "groups."
            )
        rows = [self._row(group.instance_type) for group in (*train, *data)]
        if not self.offers.can_train[rows[0]]:
            accelerator = self.offers.types[rows[0]].accelerator or train[0].instance_type
            raise PlannerError(
                f"The device time on {train[0].instance_type} is not known: {accelerator} is "
                "not the device that was calibrated. Give "
                f"device_s={{{accelerator!r}: seconds per step}}, or calibrate there."
            )
        return Clusters(
            trainer=np.array(rows[:1]),
            trainers=np.array([float(train[0].instance_count)]),
            data=np.array([rows[1] if data else NO_DATA_GROUP]),
            data_instances=np.array([float(data[0].instance_count) if data else 0.0]),
            loader_workers=_workers(num_loader_workers),
            data_workers=_workers(num_data_workers),
        )

    def setup(self, clusters: Clusters, *, batch_size: int | None = None) -> Setup:
        """Return clusters as set-ups of the model."""
        offers, trainer = self.offers, clusters.trainer
        own = self.calibration.script_num_workers
        has_data = clusters.has_data
        data = np.where(has_data, clusters.data, 0)
        given_s = offers.told_device_s(trainer, self.calibration.emulated_device_s)
        device_s = None if np.isnan(given_s).all() else given_s
        return Setup(
            **clusters.machines(offers),
            loader_workers=clusters.all_loader_workers(own, offers.devices),
            devices=offers.devices[trainer],
            trainer_speed_error=offers.speed_error[trainer],
            trainer_gbps=offers.card_gbps[trainer],
            **self._wires(clusters),
            device_s=device_s,
            data_workers=clusters.data_workers,
            data_speed_error=np.where(has_data, offers.speed_error[data], 0.0),
            data_gbps=np.where(has_data, offers.card_gbps[data], math.inf),
            has_quotas=False,
            batch_size=batch_size,
        )

    def _wires(self, clusters: Clusters) -> dict[str, Any]:
        rated_gbps = self.offers.network_gbps[clusters.trainer]
        found = declared_wires(self.settings.link, rated_gbps=rated_gbps)
        link = self.settings.link
        if link is None or link.inside_gbps is None:
            found["inside_gbps"] = ACCELERATOR_LINK_GBPS
        if link is None or link.between_gbps is None:
            found["between_gbps"] = rated_gbps
        return found

    def ranks(self, clusters: Clusters) -> NDArray[np.float64]:
        """Return the trainer processes of each cluster."""
        found: NDArray[np.float64] = clusters.trainers * self.offers.devices[clusters.trainer]
        return found

    def steps(self, clusters: Clusters) -> NDArray[np.float64] | None:
        """Return the steps of the job on each cluster; None: not given."""
        steps = self.settings.steps
        if steps is None:
            return None
        ranks = self.ranks(clusters)
        is_shared = self.settings.num_devices is None and self.settings.mode == "weak"
        return np.ceil(steps / (ranks if is_shared else 1.0 + 0 * ranks))

    def batch_sizes(self, clusters: Clusters) -> NDArray[np.float64] | None:
        """Return the samples of one step of each trainer; None: as calibrated."""
        if self.settings.mode == "weak":
            return None
        return np.maximum(1.0, np.floor(self.calibration.batch_size / self.ranks(clusters)))

    def asked(
        self,
        clusters: Clusters,
        ask: Callable[[Setup, NDArray[np.intp]], Iterable[Any]],
        *,
        batch_size: int | None = None,
    ) -> list[Any]:
        """Return what a model says of each cluster; ``batch_size`` None: as the plan has it."""
        sizes = self.batch_sizes(clusters)
        if sizes is None or batch_size is not None:
            everywhere = np.arange(len(clusters.trainer))
            return list(ask(self.setup(clusters, batch_size=batch_size), everywhere))
        return asked_by_batch(clusters, sizes, self.setup, ask)

    def candidates(
        self, clusters: Clusters, *, batch_size: int | None = None
    ) -> tuple[Candidate, ...]:
        """Return what is predicted of clusters, with intervals.

        Raises:
            PlannerError: A cluster needs what was not calibrated.
        """
        usd, steps = clusters.usd_per_hour(self.offers), self.steps(clusters)
        spot = self.settings.interruptions
        terms = [
            Terms(
                usd_per_hour=None if np.isnan(usd[place]) else float(usd[place]),
                steps=None if steps is None else int(steps[place]),
                useful_fraction=1.0 if spot is None else spot.useful_fraction,
                billed_fraction=1.0 if spot is None else spot.billed_fraction,
                is_extrapolated=bool(self.offers.is_extrapolated[row]),
                cautions=self._cautions(clusters, place),
            )
            for place, row in enumerate(clusters.trainer)
        ]
        found = self.asked(
            clusters,
            lambda setup, places: predictions(self.model, setup, [terms[p] for p in places]),
            batch_size=batch_size,
        )
        return tuple(
            self._candidate(clusters, place, prediction)
            for place, prediction in enumerate(found)
        )

    def _candidate(self, clusters: Clusters, place: int, prediction: Prediction) -> Candidate:
        rows = [clusters.trainer[place], clusters.data[place]]
        prices = [self.offers.types[row].price for row in rows if row != NO_DATA_GROUP]
        known = [price for price in prices if price is not None]
        is_known = len(known) == len(prices)
        cores = self.offers.vcpus[rows[1]] if rows[1] != NO_DATA_GROUP else None
        workers = np.broadcast_to(clusters.data_workers, clusters.trainer.shape)[place]
        return Candidate(
            cluster=clusters.spec(place, self.offers.types),
            num_data_workers=None if cores is None else int(min(workers, cores)),
            distribution=self._distribution(clusters, place),
            prediction=prediction,
            price_date=min(price.date for price in known) if is_known else None,
            price_kind=_least_certain(known) if is_known else None,
            is_price_old=any(is_old(price, dt.datetime.now(dt.UTC).date()) for price in known),
        )

    def _distribution(self, clusters: Clusters, place: int) -> Distribution | None:
        ranks = int(self.ranks(clusters)[place])
        return None if ranks == 1 else Distribution(data=ranks)

    def _cautions(self, clusters: Clusters, place: int) -> tuple[str, ...]:
        offers, row = self.offers, clusters.trainer[place]
        cautions = []
        if not np.isnan(offers.device_s[row]):
            cautions.append("The device time is the user's, not measured.")
        elif offers.is_extrapolated[row]:
            cautions.append(
                "The step is computed by CPUs, and is taken to spread over all their cores."
            )
        ranks, sizes = self.ranks(clusters)[place], self.batch_sizes(clusters)
        if ranks > 1 and sizes is not None:
            cautions += said_of_strong(self.calibration, int(ranks), int(sizes[place]))
        elif ranks > 1 and self.settings.num_devices is None:
            cautions.append(
                f"A step has {ranks:.0f} times the samples of one device, and the job as many "
                "fewer steps: fit the learning rate to it."
            )
        if ranks > 1 and self.calibration.gradient_bytes is None:
            cautions.append("The time of exchanging gradients is unknown and left out.")
        rows = [row, clusters.data[place]]
        if any(
            each != NO_DATA_GROUP and offers.types[each].family in BURSTABLE for each in rows
        ):
            cautions.append("Burstable: it holds this speed only while its CPU credits last.")
        return tuple(cautions)

    def _row(self, name: str) -> int:
        found = self.catalog.get(name)
        row = self.offers.row_of[name]
        if np.isnan(self.offers.speed[row]):
            raise PlannerError(
                f"The CPU speed of {name} is not known. Give "
                f"relative_cpu_speed={{{found.family!r}: ...}}, the speed of one of its vCPUs "
                "with 1.0 for ml.p3.2xlarge."
            )
        return row


def _workers(count: int | None) -> float:
    return math.inf if count is None else float(count)


def _least_certain(prices: list[Price]) -> str:
    return max((price.kind for price in prices), key=_CERTAINTY.index)
