"""A cluster that a model could be trained on, and which of several is to be taken first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.instance_types import PriceKind
from smtc_lab.metrics.memory.needs import Strategy
from smtc_lab.metrics.result import Interval, Result
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECONDS = 3600


class ClusterOffer(Result):
    """A cluster and a strategy, with what a step would need and cost there."""

    instance_type: str
    """Type of all instances."""

    instance_count: int
    """Number of instances."""

    accelerator: str
    """Accelerator of the type."""

    devices: int
    """All of them; each has a trainer."""

    strategy: Strategy
    """How the model is spread."""

    data: int
    """Replicas of the model."""

    shard: int = 1
    """Devices that share the parameters of a replica."""

    pipeline: int = 1
    """Stages of a replica."""

    microbatches: int | None = None
    """Parts of a replica's batch that go through the stages; None: there are none."""

    tensor: int = 1
    """Devices that have parts of each layer."""

    batch_size: int
    """Samples that a device has at once; in a pipeline those of a replica."""

    accumulations: int = 1
    """Batches of that size one after the other before the optimizer steps."""

    peak_bytes: float
    """What the fullest device holds, as predicted."""

    usable_bytes: float
    """What each device can hold of a model."""

    step_s: Interval | None = None
    """Time of a step of the whole batch; None: unknown, as is what it costs."""

    usd_per_hour: float | None = None
    """Price of all instances; None: unknown."""

    price_kind: PriceKind | None = None
    """Where the price comes from."""

    @property
    def fits(self) -> bool:
        """Whether each device can hold its part."""
        return self.peak_bytes <= self.usable_bytes

    @property
    def free_bytes(self) -> float:
        """What the fullest device has left; below 0: what it is short of."""
        return self.usable_bytes - self.peak_bytes

    @property
    def usd_per_step(self) -> Interval | None:
        """What a step costs; None: unknown."""
        if self.step_s is None or self.usd_per_hour is None:
            return None
        return self.step_s.scaled(self.usd_per_hour / _SECONDS)

    @property
    def usd_per_1000_steps(self) -> Interval | None:
        """What 1,000 steps cost; None: unknown."""
        found = self.usd_per_step
        return None if found is None else found.scaled(1000)

    @property
    def cluster(self) -> Cluster:
        """The cluster, as ``TrainingJob`` takes it."""
        group = InstanceGroup("train", self.instance_type, self.instance_count)
        return Cluster(instance_groups=(group,))

    @property
    def distribution(self) -> Distribution | None:
        """The distribution, as ``TrainingJob`` takes it; None: there is one trainer."""
        if self.devices == 1:
            return None
        pipeline: dict[str, Any] = (
            {"microbatches": self.microbatches, "memory_weight": 1.0}
            if self.pipeline > 1
            else {}
        )
        return Distribution(
            data=self.data,
            shard=self.shard,
            pipeline=self.pipeline,
            tensor=self.tensor,
            **pipeline,
        )

    def job(self, **fields: Any) -> TrainingJob:  # noqa: ANN401  TrainingJob checks them
        """Return the job that trains so.

        Its script takes ``batch_size`` and ``accumulations`` from where it has them.

        Args:
            **fields: Fields of ``TrainingJob``: ``entry_point``, and others that win over the
                cluster and distribution.

        Raises:
            SpecError: A field is illegal.
        """
        own = {"cluster": self.cluster, "distribution": self.distribution}
        return TrainingJob(**(own | fields))

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it, with what is made of its fields."""
        cost = self.usd_per_1000_steps
        return self.model_dump(mode="json") | {
            "fits": self.fits,
            "free_bytes": self.free_bytes,
            "usd_per_1000_steps": None if cost is None else cost.model_dump(mode="json"),
        }


def by_cost(offers: Iterable[ClusterOffer]) -> tuple[ClusterOffer, ...]:
    """Return offers in the order in which ``ClusterOffers`` has them."""
    return tuple(sorted(offers, key=_rank))


def _rank(one: ClusterOffer) -> tuple[bool, bool, float, int, float, str]:
    if not one.fits:
        return True, True, -one.free_bytes, 0, 0.0, one.instance_type
    cost, hour = one.usd_per_step, one.usd_per_hour
    price = float("inf") if hour is None else hour
    worth = price if cost is None else cost.mean
    return False, cost is None, worth, order_of(one), price, one.instance_type


def cheapest_per_hour(offers: Iterable[ClusterOffer]) -> ClusterOffer | None:
    """Return what fits at the lowest known price an hour, the first of equals."""
    known = [one for one in offers if one.fits and one.usd_per_hour is not None]
    return min(known, key=lambda one: one.usd_per_hour or 0.0, default=None)


def order_of(one: ClusterOffer) -> int:
    """Return when a strategy is to be tried: AWS's order, and sharding before stages."""
    if one.strategy in {"one device", "data"}:
        return 0 if one.accumulations == 1 else 1
    return 2 + ("shard", "tensor", "pipeline").index(one.strategy)


def of_each_strategy(offers: Iterable[ClusterOffer]) -> tuple[ClusterOffer, ...]:
    """Return the first that fits of each strategy, in the order in which they are tried."""
    found: dict[tuple[int, bool], ClusterOffer] = {}
    for one in offers:
        if one.fits:
            found.setdefault((order_of(one), one.devices == 1), one)
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], not key[1])))
